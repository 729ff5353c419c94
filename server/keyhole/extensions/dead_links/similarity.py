"""Compare a dead address with addresses that exist, by name, folder and title, and define the port of their finders."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from enum import StrEnum
from math import log
from typing import Final, Protocol

from keyhole.extensions.dead_links.address_words import (
    ENGLISH,
    AddressWords,
    are_synonyms,
    is_variant,
    language_place,
    read_address,
    stem_words,
    without_index,
)

MAX_NEAR: Final = 3
"""Addresses that are named at most."""
STRONG: Final = 0.8
"""Score of an address that is nearly always the right one: the same name, and the same folder but for the version."""
GOOD: Final = 0.65
"""Score of an address that is the right one in nine of ten cases, by `benchmarks.dead_links` after two lists."""
LEAST: Final = 0.34
"""Score below which an address is not named: it shares no more than its folder."""
LEAST_RELATED: Final = 0.1
"""Score below which a page is not even read for its links."""
LEAST_OF_BEST: Final = 0.6
"""Share of the best score below which an address is not named."""
NAME, FOLDER = 0.65, 0.35
"""The weights of the similarities of name and folder."""
SAME_NAME: Final = 0.1
"""Added for equal names, so that another name with the same words never comes first."""
EXISTS: Final = 0.05
"""Added for an address that answered, so that it comes before versions that are only named."""
SYNONYM: Final = 0.55
"""Similarity of names that are usual for pages of the same kind."""
SPELLING: Final = 0.9
"""Weight of names that are spelt alike, which tells less than equal words."""
SAME_RUNS: Final = 0.8
"""Share of equal runs of letters from which a comparison letter by letter, which takes longer, is left out."""
MAX_MISSPELT: Final = 2
"""Letters by which the length of a misspelt name differs."""
MAX_SPELT: Final = 60
"""Characters of a name whose letters are compared one by one, which takes time by the square of them."""
FRACTION_OF_TITLE: Final = 0.8
"""Weight of words that are found only in the title."""


class CandidateSource(StrEnum):
    """Where an address comes from. No word of a site is in it, because it stands beside Keyhole's own sentences."""

    ANSWERED = "it answered"
    PAGE = "named by a page of the site"
    SITEMAP = "named by the sitemap"
    INVENTORY = "named by objects.inv"
    LLMS = "named by llms.txt"
    READ = "read before"
    READ_PAGE = "named by a page that was read"
    BRANCH = "named by the tree of the branch"
    DEFAULT_BRANCH = "named by the tree of the default branch"
    PYPI = "named by PyPI"
    NPM = "named by npm"
    PACKAGE = "named by the list of the package's files"
    ARCHIVE = "named by the Internet Archive"


class NearRelation(StrEnum):
    """The relation of an address to the dead address."""

    VERSION = "another version"
    SAME = "the same name"
    FOLDER = "the same name in another folder"
    SIMILAR = "a similar name"
    LIST = "lists pages of the site"
    COPY = "a copy"


@dataclass(frozen=True, slots=True)
class CandidateUrl:
    """An address that a list names, or that answered."""

    url: str
    title: str
    source: CandidateSource

    @property
    def exists(self) -> bool:
        """Return True if the address was requested and answered, not only named by a list."""
        return self.source is CandidateSource.ANSWERED


@dataclass(frozen=True, slots=True)
class Near:
    """An address near a dead one, with its score from 0 to 1.15 and the reason why it is named."""

    url: str
    relation: NearRelation
    source: CandidateSource
    score: float = 0.0

    @property
    def why(self) -> str:
        """Return the reason why the address is named."""
        return f"{self.relation}, {self.source}"


def rank_candidates(url: str, candidates: Collection[CandidateUrl]) -> list[Near]:
    """Return the candidates near a dead address, best first."""
    dead = read_address(url)
    words = _Words(candidates)
    scored = [(each, score) for each in candidates if (score := words.score(dead, each)) >= LEAST_RELATED]
    scored.sort(key=lambda pair: (-pair[1], _older(pair[0].url), len(pair[0].url), pair[0].url))
    return [Near(each.url, _relation(dead, read_address(each.url)), each.source, score) for each, score in scored]


def choose_near(ranked: Sequence[Near], languages: Sequence[str] = (ENGLISH,)) -> tuple[Near, ...]:
    """Return the addresses to name: at most MAX_NEAR of the best, and each page in one version only.

    `languages`: the reader's, the first one first. A page in another language comes after all others.
    """
    least = max(LEAST, ranked[0].score * LEAST_OF_BEST) if ranked else 0.0
    best: dict[tuple[str, ...], Near] = {}
    for each in sorted(ranked, key=lambda each: language_place(each.url, languages)):
        if each.score >= least:
            best.setdefault(_page_key(each.url), each)
    places = {each.url: number for number, each in enumerate(ranked)}

    def order(each: Near) -> tuple[bool, int]:
        return language_place(each.url, languages) == len(languages), places[each.url]

    return tuple(sorted(best.values(), key=order)[:MAX_NEAR])


def _page_key(url: str) -> tuple[str, ...]:
    """Return a key that is equal for the addresses of one page in all its versions and languages."""
    return tuple(segment for segment in without_index(url).split("/") if not is_variant(segment))


def _older(url: str) -> tuple[int, ...]:
    """Return a key that sorts newer versions first."""
    return tuple(-int(number) for each in read_address(url).variants for number in re.findall(r"\d+", each))


class _Words:
    """The words of all candidates. Rare words weigh more."""

    def __init__(self, candidates: Collection[CandidateUrl]) -> None:
        self._total = len(candidates) + 1
        self._counts = Counter(word for each in candidates for word in set(read_address(each.url).words))

    def _weight(self, words: Iterable[str]) -> float:
        return sum(log(1 + self._total / (1 + self._counts[word])) for word in set(words))

    def similarity(self, dead: AddressWords, candidate: CandidateUrl) -> float:
        """Return the similarity of the words of name and title, from 0 to 1."""
        address = read_address(candidate.url)
        theirs, titled = set(address.words), set(stem_words(candidate.title))
        both = self._weight(theirs & set(dead.words))
        only_titled = self._weight(titled & set(dead.words) - theirs)
        # A folder of the dead address may be part of the name of the page: functions/json is functions-json.html.
        around = {word for segment in dead.folder for word in stem_words(segment)}
        own = self._weight(dead.words) or 1.0
        extra = self._weight(theirs - set(dead.words) - around)
        found = both + FRACTION_OF_TITLE * only_titled
        return found / (own + extra * (0.5 if only_titled else 1.0))

    def score(self, dead: AddressWords, candidate: CandidateUrl) -> float:
        """Return how near a candidate is, from 0 to 1.15."""
        address = read_address(candidate.url)
        same = dead.name == address.name
        name = max(
            float(same),
            self.similarity(dead, candidate),
            SPELLING * _spelling(dead, address),
            SYNONYM * are_synonyms(dead.name, address.name),
        )
        if name < LEAST_RELATED:
            return 0.0
        near = NAME * name + FOLDER * name * _folder_similarity(dead, address)
        return near + SAME_NAME * same + EXISTS * candidate.exists


def _spelling(dead: AddressWords, other: AddressWords) -> float:
    """Return the share of runs of letters that two names have in common, or one name and the other with its folder."""
    pairs = ((dead.letters, other.letters), (dead.place_letters, other.letters), (dead.letters, other.place_letters))
    shared = max(2 * len(mine & theirs) / (len(mine) + len(theirs) or 1) for mine, theirs in pairs)
    is_close = dead.name[:1] == other.name[:1] and abs(len(dead.name) - len(other.name)) <= MAX_MISSPELT
    is_close = is_close and len(dead.name) <= MAX_SPELT
    if shared >= SAME_RUNS or not is_close:
        return shared
    # Two letters that changed places break half of the runs of a short name.
    return max(shared, SequenceMatcher(None, dead.name, other.name, autojunk=False).ratio())


def _folder_similarity(dead: AddressWords, other: AddressWords) -> float:
    mine = [word for segment in dead.folder for word in stem_words(segment)]
    theirs = [word for segment in other.folder for word in stem_words(segment)]
    variants = len(set(dead.variants) & set(other.variants)) / max(len(set(dead.variants) | set(other.variants)), 1)
    shared = SequenceMatcher(None, mine, theirs, autojunk=False).ratio() if mine or theirs else 1.0
    return 0.8 * shared + 0.2 * (variants if dead.variants or other.variants else 1.0)


def _relation(dead: AddressWords, other: AddressWords) -> NearRelation:
    if dead.place == other.place:
        return NearRelation.VERSION if dead.variants != other.variants else NearRelation.SAME
    return NearRelation.FOLDER if dead.name == other.name else NearRelation.SIMILAR


# Finders: each knows the lists in which a kind of site names its pages, and reads them.


@dataclass(frozen=True, slots=True)
class Reply:
    """The reply to a request of a finder. `url` and `body` are empty if there was no reply."""

    request: str
    url: str = ""
    """The final address, after redirects."""
    body: bytes = b""

    @property
    def found(self) -> bool:
        """Return True if the list exists."""
        return bool(self.url)


@dataclass(frozen=True, slots=True)
class ListRequest:
    """A request that was made, whether it was answered, and at which address."""

    request: str
    url: str
    found: bool


@dataclass(frozen=True, slots=True)
class State:
    """What a search has found so far. `ranked`: the candidates near the address, best first."""

    candidates: Sequence[CandidateUrl]
    requested: Sequence[ListRequest]
    ranked: Sequence[Near]

    @property
    def best(self) -> float:
        """Return the score of the best candidate."""
        return self.ranked[0].score if self.ranked else 0.0


class Finder(Protocol):
    """Finds addresses near one dead address. Pure: the caller makes the requests, one at a time."""

    def next_request(self, state: State) -> str:
        """Return the address of the next list to request, or "" if no further list can help."""
        ...

    def read(self, reply: Reply) -> tuple[CandidateUrl, ...]:
        """Return the candidates that a list names."""
        ...
