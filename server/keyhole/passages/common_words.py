"""Common words by language: content words that say little about the subject of a question.

A page may answer a question without them, and every page has some of them. So the judgement whether a page contains
the answer gives them a low weight; ranking does not use them.
"""

from __future__ import annotations

from functools import cache
from typing import Final

from keyhole.passages.query import stem_word

COMMON_WORDS: Final[dict[str, str]] = {
    "en": """
        able above accept accord achieve across act active actually add additional affect after again against age ago
        agree aim allow almost alone along already also although always among amount another answer anyone anything
        appear apply approach area around arrive ask aspect associate attempt available average avoid away back bad base
        basic become before began begin behind believe below benefit best better big body both briefly bring build built
        call came cannot capable carry case category cause center central century certain chance change character choose
        city class clear close collect come common company compare complete concept concern condition conduct consider
        contain content context continue contribute control correct cost country couple course create current date day
        decide decision define definition degree demonstrate depend describe design despite detail determine develop
        differ different difficult direct discover discuss document done early easy effect either elaborate else
        encounter end enough ensure enter entire especially establish estimate even event ever every everyone everything
        everywhere evidence exact example exist expect experience explain express extent face fact factor fail fall
        famous far feature feel felt field figure final find first five focus follow form former found four friend full
        function further future gave general get give given go goal going gone good got great greater group grow half
        hand happen hard head hear held help high highly history hold home however human idea identify impact
        implication important improve include increase indicate individual influence information initial insight instead
        intend interest introduce involve issue item itself join just keep key kind knew know known lack language large
        largest last late later lead learn least leave led left less let level lie life like likely limit line list
        little live local locate long longer look lose lost lot low lower made main mainly maintain major make man
        manage mark material matter maximum mean measure meet member mention method middle minimum modern moment month
        mostly move multiple must need never new next normal note now number numerous object obtain occur offer often
        old once one open operate opinion opposite option order organization origin original originally originate
        outcome outline outside overall overview page paper part particular party pass past pay people per percent
        perform perhaps period person phrase place plan play point policy popular position possible potential power
        practice present prevent previous primary principle prior probably problem procedure process produce product
        program project propose provide public purpose put quality question quickly quite range rate rather reach read
        real really reason receive recent recommend record reduce refer reference reflect regard region relate relation
        relative release relevant remain remove report represent require research respect response responsible rest
        result return reveal right rise role rule run said saw say second section see seem seen select sense serve
        service set setting seven several shape share short show side significance significant similar simple simply
        since single situation six size small society someone something sometimes soon source speak special specific
        spend spread stage stand standard start state status stay step still stop story strategy structure study style
        subject succeed success such suggest suggested summarize support suppose sure system take taken talk task teach
        technique tell ten tend term test text thank theme theory therefore thing think third though thought three
        through throughout thus time title today together told too took top topic total toward tool try turn two typical
        understand unit until upon usage use used useful user usual value variety various version view want watch way
        week well went whatever whether while white whole whose wide win wish within without word work world worse worst
        would write written wrong year yes yet young
    """,
    "de": """
        ab allein allgemein andere anfang ansicht anzahl arbeit art aufgabe außer bedeuten bedeutung beginn beginnen
        beide beispiel bekannt bekommen beschreiben besonders bestehen bestimmt bezeichnen bieten bitte bleiben brauchen
        bringen ende entstehen enthalten entwickeln erhalten erklären erreichen erst erste ersten etwa etwas fall finden
        folgen form frage frau führen funktion ganz geben gegen gehen gehören gemeinsam genau genug gerade geschehen
        gibt gleich grund gruppe groß größte größten gut halten haupt häufig heute ihrem ihren ihrer immer innerhalb
        jahr jahre jahren jahrhundert jede jeder jedes jeweils kommen lage lang lange lassen laut leben letzte letzten
        lässt liegen machen mal mann mehr mein mensch menschen mindestens möglich muss müssen nach nennen nennt neu neue
        neuen nie nutzen oft ohne ort passieren person rolle sagen sehen seinem seinen seiner seit seite sogar sollen
        sollte stadt stehen stelle stellen teil tun umgang ursprünglich verfügbar verhindern verschieden verwenden viel
        vor vorher wahr weg weise weit weitere wenig weniger wenn wert wichtig wird wissen wollen womit wort zahl zeigen
        zeit ziel zuerst zusammen zwei zweck zwischen können
    """,
    "fr": """
        afin ainsi ajouter aller an ancien année ans appeler apprendre après arriver aspect assez aucun aujourd aussi
        autre autres avant base beaucoup besoin bien but car cas cause celle celui certain chaque chez chose comme
        commencer comprendre concerner condition conséquence considérer consister contenir contre créer date début
        décider décrire demander depuis dernier dernière désigner déterminer devenir devoir dire différent différente
        différentes donner duquel durant effet élément encore endroit ensemble entre époque état étape événement exemple
        existe exister expliquer façon faire fait falloir faut fin fois fonction forme former général grand grande
        groupe histoire homme hui ici importance important jamais jour jusqu laisser lequel laquelle lieu lié long
        lorsque lui manière même mettre mieux mode moins moment mois monde montrer mot moyen nature nécessaire nombre
        nom nommer nouveau nouvelle objet objectif ordre origine partie partir pays pendant penser période permet
        permettre personne petit peut plus plusieurs point porter pouvoir première premier prendre présence présent
        presque principal principale problème produire propre proposer provoquer quelles quels raison recevoir rendre
        rester résultat rôle sans savoir second selon semble servir seul seulement si siècle situation situer sorte
        souvent suivre sujet temps tenir terme texte tous tout toute toutes très trois trouver type utiliser utilisé
        vers vie ville voir vouloir
    """,
    "es": """
        además ahora algo alguien algún alguna algunas alguno algunos allí alto ambos anterior antes año años aparecer
        apoyo aquí área así aspecto aunque bajo base bien buen bueno cada cambio cantidad caso causa cerca cierto ciudad
        clase comenzar condición conocer conocido considerar consiste contener contra cosa creación crear cuenta cuerpo
        dar dato debe deber debido decidir decir dejar dentro desarrollar desde después día diferente dio donde durante
        efecto ejemplo él ella ellos embargo empezar encontrar encuentra entonces época explicar etapa evento existe
        existir falta fecha fin final forma función general gente gran grande grupo hace hacer hacia hasta hecho
        historia hizo hombre hoy idea importante incluir inicio lado largo llamar llegar llevar lugar manera mayor medio
        mejor menos mes mientras mismo modo momento mucho mundo nada nadie necesario necesita necesitar nivel ningún
        nuevo número nunca objetivo obtener ocurrir ofrecer origen otra otras otro otros país parte partir pasar periodo
        pero persona personas poco poder porque posible presente primer primera primero principal problema proceso
        producir propio propósito puede punto puso quedar querer razón recibir resultado saber sea según segundo seguir
        ser si siempre siglo significa sistema situación sólo solo suceder tal también tan tanto tener término tiempo
        tiene tienen tipo toda todas todo todos tomar total trabajo tras tres usar uso utilizar valor vamos varios ver
        vez vida
    """,
    "pt": """
        ainda além algo alguém algum alguma ano anos antes apenas aquele área aspecto assim até base bem cada caso causa
        cerca cidade coisa começar conhecer considerar conter contra criar dado dar data deve dever depois desde dia
        diferente dizer durante ela ele eles encontrar enquanto então entre época esse está este etapa evento exemplo
        existe existir explicar faz fazer fim final forma função geral grande grupo hoje homem importante incluir início
        isso já lado lugar maior maneira mais melhor menos mês mesmo modo momento muito mundo nada necessário nível nome
        novo número nunca objetivo obter ocorrer onde origem outra outro outros país palavra parte partir passar pessoa
        pessoas poder pode ponto possível pouco precisa precisar primeira primeiro principal problema processo produzir
        próprio quase quer querer razão receber resultado saber segundo seguir sempre século significa sistema situação
        só sobre tal também tanto tempo tipo toda todas todo todos três último único usar uso utilizar valor vários ver
        vez vida
    """,
    "it": """
        alcuni altra altre altri altro ancora anno anni anche area arrivare avere base bene caso causa certo città
        cominciare contenere contro cosa creare dare data deve dire diverso dopo dove dovere durante effetto elemento
        epoca esempio esistere evento fare fase fatto fine forma funzione generale giorno grande gruppo importante
        iniziare inizio invece lato luogo maggior maggiore mai meglio meno mese mezzo modo molti molto momento mondo
        motivo necessario nessuno nome nuovo numero oggi ogni ora origine ottenere paese parola parte passare periodo
        persona persone più poco poi posto potere prendere presente prima primo principale problema processo produrre
        proprio può punto quasi quello questa queste questi questo ragione ricevere risultato ruolo sapere scopo se
        secolo secondo sempre senza servire sistema situazione solo sotto spiegare stesso tale tanto tempo tipo trovare
        tutta tutte tutti tutto ultimo usare uso utilizzare valore vari vedere venire verso vita volere volta
    """,
    "ru": """
        будет быть вам вас век века весь вид включать во вот время все всё всегда всего всех вы где главный год года
        году годы город группа да давать дать два день для долго должен другие других другой его есть ещё жизнь
        закончиться зависеть значение значит из или именно иметь имеет имя использовать история каждый как количество
        конец который кроме лет ли либо лучше люди людей мало между менее место месяц метод мир много может можно мой мы
        надо назвать название называть найти находиться находится начало начать начаться него необходимо несколько нет
        никогда новый нужно область образ образом объяснить один одно около они определить основной особенно после
        последний потом поэтому первая первый перед период писать под получить пока помощь понять почти появиться
        правило пример причина произойти происходить против работа работать развитие различный раз роль самый свой свою
        себя сделать сейчас система сказать следующий случай слово случае со собой создать способ среди стать стал стала
        страна существовать сюда такой также там тип того только том тот три уже узнать условие хотеть хороший цель
        человек через часть часто число чтобы эпоха является
    """,
}
"""Frequent verbs, adjectives and general nouns by language, without the function words of languages.py."""


@cache
def common_stems(language: str) -> frozenset[str]:
    """Return the stems of a language's common words; empty for a language without a list."""
    return frozenset(stem_word(word, language) for word in COMMON_WORDS.get(language, "").split())
