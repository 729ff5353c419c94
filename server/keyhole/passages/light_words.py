"""Light words by language: words of questions that hardly tell which passage answers.

They are the words of instructions ("explain", "provide examples"), and frequent verbs, adverbs and pronouns. Some are
rare on a page, so their IDF alone would give them much weight. Nouns that name a subject somewhere are not listed.
"""

from __future__ import annotations

from functools import cache
from typing import Final

from keyhole.passages.query import stem_word

LIGHT_FACTOR: Final = 0.5
"""Weight of a light word, relative to other words as rare. It is above 0, because a page may be about examples."""

LIGHT_WORDS: Final[dict[str, str]] = {
    "en": """
        able above accept across actually add after again against allow almost already although always among
        another answer anyone anything apart apply around ask away back bad become before begin behave behind
        below best better big bring brought call cannot case cause certain chance change choose clarify come
        common complete consider contain correct create current deal decide default depend describe detail
        different difficult directly discuss document easy either elaborate else end enough entire especially
        even ever every everybody everyone everything exactly example except exist expect explain explanation
        fact find first follow found four full further general get give go good got great guide half hand happen
        hard help high however idea important include information inside instead introduce involve keep kept
        know large last late later least leave less let like list little longer look lot low made main make
        manage manual matter maybe mean mention mind necessary need never new next nobody normal nothing now
        number obtain occur once one open order ordinary others otherwise outline overview page paragraph part
        particular people perform perhaps person place please possible prefer prevent probably problem proper
        provide purpose put question quite rather real really reason receive recommend regard regular relate
        remain require result right run say second section see seem seen sense set several show shown simple
        simply since single situation small somebody someone something sometimes soon specific specify start
        state still stop summarize summary suppose sure take taken talk tell term test text thing think though
        three through throw time today together too toward try turn two understand unless until use user usual
        value various want way well whether while whole wish within without wonder work worth write wrong yes
        yet
    """,
    "de": """
        ab abschnitt alle allein also andere angabe angeben antwort auflisten aufzählen bedeuten beide beim
        beispiel bekannt bekommen beschreibe besser bestimmt bitte bleiben bleibt brauche braucht bringen da
        dabei dafür damit danach dann daran darauf darf davon dazu denn derselben deshalb desselben details doch
        dokument dort drei dürfen eben eigentlich einfach einige einmal erkläre erläutere erst erwähnt etwa
        etwas fall fast finden folgende frage ganz gar geben gegen gehen geht gehört gemacht genau gerade
        geschieht gib gibt gleich groß gut halten handbuch hier hinter hinzu ich immer information ja jede jetzt
        kein kleine kommen kommt lassen leicht letzte lässt machen macht mehr mein mich mir muß möchte möglich
        müsste neben nehmen nenne neu nichts nie niemand notwendig nun nutzen nächste ob oben oft ohne passieren
        passiert rest sagen sagt schon sehen sehr seit selbst setzen sicher sollen sollte sonst statt stehen
        stellen text tun unser unten verschiedene verwenden vielleicht vor wegen weil weiter wenig wenn werde
        wichtig wieder will wirklich wissen wollen wollte womit während wäre würde zeige zeit zuerst zurück
        zusammen zusammenfassen zwei zwischen überblick
    """,
    "fr": """
        afin ainsi alors aperçu après assez aucun aujourd autre avant bien bon cas cause cela celui certains
        chaque chose citer comme contre demander depuis dernier deux devient devoir devrait dire dit document
        doit doivent donc donner décrire décris décrivez déjà détail développer encore entre exemple expliquer
        faire fait falloir faut fois grand gros guide ici information jamais jour lequel liste ma manuel
        mentionner mes mettre mieux moi moins mon montrer même nos notre nouveau nouvelle page parce parfois
        partie passer permet permettre peu peut peuvent peux plus plusieurs plutôt possible pouvez pouvoir
        premier prendre presque problème propre préciser puis quelque question rien répondre réponse résumer
        savoir section sera seul si signifie sinon soit souvent suis suivant surtout tel temps texte toujours
        tous tout trop trouve très utilise venir vers veuillez veux voici voir vos votre voudrais vouloir vrai
    """,
    "es": """
        además ahora algo alguien algún antes apartado aquí aunque bien bueno cada capítulo casi caso cierto
        conseguir contra conviene cosa cualquier dar debe decir dejar deme dentro describa desde después
        detallar dice documento dos durante dé ejemplo ella ellos encontrar entonces enumerar explica explique
        favor gran grande hace hacia haga hasta hay hecho hizo indicar información ir lado lista luego lugar
        manual mayor me mejor mencionar menos menudo mi mientras mis misma modo mostrar mucho muestre nada nadie
        necesario necesita ningún nos nosotros nuestro nuevo nunca ocurre otra otras otro otros parte pasa poco
        poder podría posible pregunta primer primero problema propio puede pues página querer quiero respuesta
        resumen saber sea sección según si siempre significa sino solo también tampoco tan tanto tener texto
        tiempo tiene toda tras tres tu usa usar uso utilizar veces ver vez
    """,
    "it": """
        alcuni allora altri altro anche ancora bene caso certo ciascuno cose dato descrivere descrivi dettagli
        deve dice dire documento dopo due durante ecco elencare esempi fa fare fornire già gran informazioni
        invece lavoro loro mai manuale meglio meno mentre mio modo molti mostrare niente nuovo ogni oppure ora
        pagina parte piccolo poi possibile posso potere prima problema proprio può qualche qualcosa qualsiasi
        quello questo sarà sempre senza sezione significa solo spesso spiega spiegazione stesso tanto tempo
        testo trovare tutti usare uso vedere verso viene volta vuole
    """,
    "pt": """
        agora ainda algo algum alguns alguém antes apenas aqui assim bem bom cada caso certo coisa dar depois
        descreva desde detalhes deve diz documento dois durante enquanto entre então exemplo explicar explique
        faz feito forneça grande haver informações isso já lado listar lugar maior mais manual melhor menos
        mesmo meu minha modo mostrar muito nada necessário nenhum nosso novo nunca outra parte pode possível
        precisa primeiro problema próprio página qualquer quer saber secção sempre seção si significa só também
        tanto tempo texto toda tudo usar uso ver vez você
    """,
    "ru": """
        важно вас ваш весь вместо вообще вопрос вот все всегда всего всех вы дать делать документ должен должна
        другая если еще здесь знать значит иметь иначе информация использовать используют каждая которых кроме
        либо лучше любой мне много может можно мой мы надо нас наш него некоторые необходимо несколько нет
        ничего новая нужен нужна объясните обычно один одна однако описать опишите ответ ответьте очень перед
        перечислите подробно пожалуйста покажите показать после потом почти поясните приведите пример происходит
        просто раз разве раздел расскажите рассказать руководство сам свои сделать себя сейчас скажите сказано
        следует случае собственный список сразу стоит страница такие там текст тем теперь то того тоже только
        тот три тут уже хотеть хочется хочу часто чаще чего человек через чтобы этого
    """,
}
"""One form of each word, without the function words of languages.py."""


@cache
def light_stems(language: str) -> frozenset[str]:
    """Return the stems of a language's light words; empty for a language without a list."""
    return frozenset(stem_word(word, language) for word in LIGHT_WORDS.get(language, "").split())
