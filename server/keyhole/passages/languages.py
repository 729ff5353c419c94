"""Function words, language detection and stemmers by language."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, lru_cache
from typing import Final

import snowballstemmer

UNKNOWN: Final = "xx"
"""An unrecognised language. It has no function words and no stemmer, so words match by prefix only."""

VIETNAMESE: Final = "vi"
"""Vietnamese is neither folded nor stemmed: it is written in syllables whose accents distinguish words."""

SNOWBALL: Final[dict[str, str]] = {
    "ar": "arabic", "cs": "czech", "da": "danish", "de": "german", "el": "greek",
    "en": "english", "es": "spanish", "fa": "persian", "fi": "finnish", "fr": "french",
    "hi": "hindi", "hu": "hungarian", "id": "indonesian", "it": "italian", "nl": "dutch",
    "no": "norwegian", "pl": "polish", "pt": "portuguese", "ro": "romanian",
    "ru": "russian", "sv": "swedish", "tr": "turkish",
}  # fmt: skip
"""The name of each language's stemmer in snowballstemmer."""

GUESS_SAMPLE_CHARS: Final = 3_000
"""Characters read at the start and in the middle of a page to guess its language: about 400 words each, of which a
third are function words."""

GUESS_QUERY_WEIGHT: Final = 3
"""Weight of the query's function words: the query decides for a page that mixes languages."""

GUESS_MIN_SHARE: Final = 0.02
"""Minimum share of function words among the sampled words that identifies a language."""

STEM_CACHE_WORDS: Final = 50_000
"""Cached stems (about 8 MB); a page has a few thousand different words."""


def _words(block: str) -> frozenset[str]:
    return frozenset(block.split())


FUNCTION_WORDS: Final[dict[str, frozenset[str]]] = {
    "en": _words(
        """
        a an the of in on at to for by with from and or but not is are was were be
        been being am do does did done have has had having can could will would
        shall should may might must it its it's this that these those there here he
        she they them his her their theirs him i me my you your we our us as if then
        than so such also into onto about over under up down out off no nor only own
        same very just s t d ll m re ve what which who whom whose when where why how
        many much long often old far some any all each both few more most other name
        named called type kind sort besides between during according
        """
    ),
    "de": _words(
        """
        der die das den dem des ein eine einer eines einem einen und oder aber nicht
        ist sind war waren sein wird werden wurde wurden hat haben hatte hatten kann
        können in im an am auf zu zum zur von vom mit für bei nach aus als wie was
        wer wen wem wessen wann wo woher wohin warum wieso weshalb welche welcher
        welches welchem welchen wieviel viele viel es er sie ihr ihre seine sich
        auch nur noch durch über unter um dass so man dies diese dieser dieses heißt
        hieß nannte genannt
        """
    ),
    "fr": _words(
        """
        le la les l un une des de du d au aux et ou mais ne pas est sont était
        étaient être été a ont avait avoir fut furent que qu qui quoi quel quelle
        quels quelles quand où comment combien pourquoi dont dans en sur sous par
        pour avec sans ce cet cette ces se s son sa ses leur leurs il elle ils elles
        on nous vous je y n à lors appelle nomme nommé
        """
    ),
    "es": _words(
        """
        el la los las un una unos unas de del al a en y o u pero no es son era eran
        fue fueron ser estar está están estaba ha han había haber que qué quién
        quiénes cuál cuáles cuándo dónde cómo cuánto cuánta cuántos cuántas por para
        con sin sobre entre se su sus lo le les este esta estos estas ese esa como
        más muy ya qual llama llamaba nombre tipo
        """
    ),
    "it": _words(
        """
        il lo la i gli le un uno una di del dello della dei degli delle a al allo
        alla ai agli alle da dal dalla in nel nella nei nelle su sul sulla con per
        tra fra e o ma non è sono era erano essere stato stata ha hanno aveva che
        chi cosa quale quali quando dove come quanto quanta quanti quante perché si
        suo sua suoi sue
        """
    ),
    "pt": _words(
        """
        o a os as um uma uns umas de do da dos das em no na nos nas ao à aos às por
        pelo pela para com sem e ou mas não é são era eram foi foram ser ter tem têm
        tinha que quem qual quais quando onde como quanto quanta quantos quantas
        porque se seu sua seus suas
        """
    ),
    "nl": _words(
        """
        de het een van in op aan te voor met door uit en of maar niet is zijn was
        waren wordt worden werd werden heeft hebben had hadden wat wie welk welke
        wanneer waar hoe hoeveel waarom dat die dit deze er om bij naar over haar
        hun
        """
    ),
    "sv": _words(
        """
        en ett den det de av i på till för med från och eller men inte är var vara
        blev har hade som vad vem vilken vilket vilka när hur många mycket varför om
        att sin sitt sina
        """
    ),
    "da": _words(
        """
        en et den det de af i på til for med fra og eller men ikke er var være blev
        har havde som hvad hvem hvilken hvilket hvilke hvornår hvor hvordan mange
        meget hvorfor om at sin sit sine
        """
    ),
    "ro": _words(
        """
        un o al a ai ale de la în din pe cu pentru prin și si sau dar nu este sunt
        era erau fi fost au avea ce cine care când unde cum cât câtă câți câte se
        său sa săi sale lui ei lor cel cea cei cele
        """
    ),
    "tr": _words(
        """
        bir ve veya ama ile için de da mi mı mu mü ne kim kimin hangi hangisi nerede
        nereye nereden nasıl neden niçin kaç kadar zaman bu şu o olan olarak oldu
        olmuştur nedir kimdir olduğu gibi en çok daha
        """
    ),
    "vi": _words(
        """
        là của và các những một được trong cho với từ đến tại ở có không này đó ai
        gì nào đâu khi bao nhiêu thế sao như về vào ra bị bởi đã sẽ đang người cái
        """
    ),
    "pl": _words(
        """
        i w na z do o od po za przez dla jest są był była było były być nie to ten
        ta te co kto kogo który która które kiedy gdzie jak ile dlaczego czy się
        jego jej ich
        """
    ),
    "ru": _words(
        """
        и в во на с со к ко о об от до по за из у для при не ни но а или что кто
        кого кому чем кем который которая которое которые какой какая какое какие
        каком какую каким каких когда где куда откуда как сколько почему зачем чей
        это этот эта эти был была было были быть есть является он она они его её их
        ли же бы так называется называют
        """
    ),
    "uk": _words(
        """
        і й в у на з до о від по за із для при не але або що хто кого який яка яке
        які коли де куди як скільки чому це цей був була було були є він вона вони
        його її їх чи
        """
    ),
    "el": _words(
        """
        ο η το οι τα του της των τον την τους τις ένα ένας μια και ή αλλά δεν να θα
        είναι ήταν σε στο στη στην στον στα στις στους από με για ως που πού ποιος
        ποια ποιο ποιοι ποιες ποιον ποιαν ποιων τι πότε πως πώς πόσο πόσα πόσες
        πόσοι γιατί αυτό αυτή
        """
    ),
    "ar": _words(
        """
        في من على إلى الى عن مع و أو او هو هي هم كان كانت يكون تكون ما ماذا متى أين
        اين كيف كم لماذا هل أي اي التي الذي الذين هذا هذه ذلك تلك أن ان لا لم لن قد
        تم بين كل بعد قبل عند
        """
    ),
    "fa": _words(
        """
        در از به با که را و یا این آن است بود شد شده می برای تا چه چی کی کجا چگونه
        چند چرا کدام آیا هر بر یک
        """
    ),
    "hi": _words(
        """
        का के की को में से पर और या है हैं था थे थी हो होता होती होते ने भी यह ये वह
        वे इस उस एक क्या कौन किस किसने किसे किसके किसकी कब कहाँ कहां कैसे कितना
        कितनी कितने क्यों जो जिस कर करने किया गया गई गए लिए द्वारा तक ही नहीं कौनसा
        कौनसी
        """
    ),
    "fi": _words(
        """
        ja tai mutta ei on ovat oli olivat ollut olla että joka jotka mikä mitkä
        mitä kuka ketkä kenen milloin koska missä mistä mihin miten kuinka paljon
        monta miksi se ne hän he tämä nämä myös kun jos sekä
        """
    ),
    "no": _words(
        """
        en et ei den det de av i på til for med fra og eller men ikke er var ble har
        hadde som hva hvem hvilken hvilket hvilke når hvor hvordan mange mye hvorfor
        om at sin sitt sine
        """
    ),
    "hu": _words(
        """
        a az egy és vagy de nem van volt vannak voltak lesz hogy ki kik mi mit mely
        melyik mikor hol hova honnan hogyan mennyi hány miért ez azt ezt is meg csak
        """
    ),
    "cs": _words(
        """
        a i v ve na s se z ze do o od po za pro je jsou byl byla bylo být není to
        ten ta co kdo který která které kdy kde jak kolik proč jeho její jejich
        """
    ),
    "id": _words(
        """
        yang dan di ke dari untuk dengan pada adalah ini itu tidak atau oleh dalam
        sebagai apa siapa kapan mana dimana bagaimana berapa mengapa akan telah ada
        """
    ),
}
"""Function and question words by language, in lower case and with accents."""


def _languages_by_word() -> dict[str, tuple[str, ...]]:
    table: dict[str, tuple[str, ...]] = {}
    for language, words in FUNCTION_WORDS.items():
        for word in words:
            table[word] = (*table.get(word, ()), language)
    return table


_LANGUAGES_BY_WORD: Final = _languages_by_word()


def count_function_words(words: list[str]) -> dict[str, int]:
    """Count the words that are function words of each language."""
    counts = dict.fromkeys(FUNCTION_WORDS, 0)
    for word in words:
        for language in _LANGUAGES_BY_WORD.get(word, ()):
            counts[language] += 1
    return counts


def guess_language(page: dict[str, int], page_words: int, query_words: list[str]) -> str:
    """Return the language with the most function words in page and query, or `UNKNOWN`; of equals, the first listed.

    `page`: the page's function words by language.
    """
    query = count_function_words(query_words)
    best, most = UNKNOWN, 0
    for language in FUNCTION_WORDS:
        count = page[language] + GUESS_QUERY_WEIGHT * query[language]
        if count > most:
            best, most = language, count
    enough = max(2.0, GUESS_MIN_SHARE * (page_words + len(query_words)))
    # Two function words in the query are enough, even if the page is a list of names and numbers.
    return best if most >= enough or query.get(best, 0) >= 2 else UNKNOWN


@cache
def _stemmer(language: str) -> Callable[[str], str] | None:
    name = SNOWBALL.get(language)
    if name is None or name not in snowballstemmer.algorithms():
        return None
    stem: Callable[[str], str] = snowballstemmer.stemmer(name).stemWord
    return stem


@lru_cache(maxsize=STEM_CACHE_WORDS)
def snowball_stem(language: str, word: str) -> str:
    """Return the Snowball stem of a lower-case word, or the word itself if the language has no stemmer."""
    stem = _stemmer(language)
    return word if stem is None else stem(word)
