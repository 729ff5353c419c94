"""Split an address into the words of its page, its folder and its version, so that addresses can be compared."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Final
from urllib.parse import unquote

from snowballstemmer import stemmer

_EXTENSION = re.compile(r"\.(x?html?|mdx?|markdown|rst|adoc|txt|php|aspx?|jsp|[a-z]{1,4}[0-9]?)$", re.IGNORECASE)
_PAGE_EXTENSION = re.compile(r"\.(x?html?|mdx?|markdown|rst|adoc|php|aspx?|jsp)$", re.IGNORECASE)
_WORD = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])|[0-9]+|[^\W\d_a-zA-Z]+")
_VERSION = re.compile(
    r"(?:[a-z]{2,20}[-_]v?(?=\d+\.)|(?:latest|release|version|v|r)[-_]?v?)?"
    r"\d{1,4}(?:[._]\d{1,4}|\.x){0,3}(?:[-.]?(?:x|rc|beta|alpha|dev)\d*)?",
    re.IGNORECASE,
)
_VERSION_NAMES: Final = frozenset({
    "latest", "stable", "current", "master", "main", "dev", "devel", "development", "develop", "next", "head", "trunk",
    "edge", "nightly", "canary", "unstable", "snapshot", "lts",
})  # fmt: skip
_LANGUAGE = re.compile(
    r"(?:ar|bg|cs|da|de|el|en|es|fa|fi|fr|he|hi|hu|id|it|ja|ko|nb|nl|pl|pt|ro|ru|sk|sv|th|tr|uk|vi|zh)"
    r"(?:[-_][a-z]{2,4})?",
    re.IGNORECASE,
)
"""The languages in which sites offer documentation. Other pairs of letters are names, such as `db` or `js`."""
ENGLISH: Final = "en"
"""The language of addresses that name none: most sites leave out the language that they are written in first."""
_INDEX_NAMES: Final = frozenset({"index", "default", "home", "readme"})
_STEM = stemmer("english")

_SYNONYMS: Final = (
    "getting-started quickstart quick-start tutorial intro introduction first-steps start begin overview usage guide",
    "install installation installing setup",
    "config configuration configure configuring settings options setting",
    "changelog changes history news releases release-notes whatsnew whats-new release",
    "api reference ref modules apidoc",
    "auth authentication authenticate login",
    "cli commandline command-line commands command",
    "db database databases", "func function functions", "faq questions", "contribute contributing development hacking",
    "examples example samples recipes cookbook howto", "error errors exception exceptions", "test testing tests",
    "deploy deployment deploying", "param parameter parameters argument arguments", "async asyncio asynchronous",
    "middleware middlewares plugin plugins extension extensions", "doc docs documentation manual",
)  # fmt: skip
"""Names that web sites give to pages of the same kind."""


@dataclass(frozen=True, slots=True)
class AddressWords:
    """The parts of an address, in lower case."""

    name: str
    """The last segment of the path without its extension, "" for the first page of a site."""
    words: tuple[str, ...]
    """The stems of the words of the name."""
    folder: tuple[str, ...]
    """The other segments without versions and languages."""
    variants: tuple[str, ...]
    """The versions and languages."""
    letters: frozenset[str]
    """The runs of three letters of the name, without separators."""
    place_letters: frozenset[str]
    """The same of the last folder and the name together."""

    @property
    def place(self) -> tuple[str, ...]:
        """Return folder and name, which are the same in other versions of the page."""
        return (*self.folder, self.name)


@lru_cache(maxsize=40_000)
def read_address(url: str) -> AddressWords:
    """Return the parts of an absolute address."""
    path = url.split("://", 1)[-1].partition("/")[2].partition("#")[0]
    path, _, query = path.partition("?")
    segments = [unquote(segment) for segment in path.split("/") if segment]
    if segments and _EXTENSION.sub("", segments[-1]).lower() in _INDEX_NAMES:
        segments.pop()
    if query and segments:
        segments[-1] += f" {unquote(query)}"
    variants = tuple(segment.lower() for segment in segments if is_variant(segment))
    kept = [segment for segment in segments if not is_variant(segment)]
    name = _PAGE_EXTENSION.sub("", kept[-1]) if kept else ""
    folder = tuple(_join(segment) for segment in kept[:-1])
    return AddressWords(
        _join(name), stem_words(name), folder, variants,
        _letter_runs(_join(name)), _letter_runs("".join(folder[-1:]) + _join(name)),
    )  # fmt: skip


def is_variant(segment: str) -> bool:
    """Return True for a segment that names a version or a language."""
    return segment.lower() in _VERSION_NAMES or bool(_VERSION.fullmatch(segment) or _LANGUAGE.fullmatch(segment))


def language_of(url: str) -> str:
    """Return the language that a folder or the host of an address names, in two letters; English if none does."""
    host, _, path = url.split("://", 1)[-1].partition("/")
    labels = host.split(".")
    named = [*path.partition("?")[0].split("/"), *(labels[:1] if len(labels) > 2 else ())]
    return next((each[:2].lower() for each in named if _LANGUAGE.fullmatch(each)), ENGLISH)


def language_place(url: str, languages: Sequence[str]) -> int:
    """Return the place of an address's language among the wanted ones, their number for any other language."""
    language = language_of(url)
    return languages.index(language) if language in languages else len(languages)


@lru_cache(maxsize=40_000)
def stem_words(text: str) -> tuple[str, ...]:
    """Return the stems of the words of a text; `camelCase` and `snake_case` are divided."""
    return tuple(_stem(word.lower()) for word in _WORD.findall(text))


def _join(text: str) -> str:
    return re.sub(r"[\s_+.%-]+", "-", text.lower()).strip("-")


def shared_length(one: Sequence[object], other: Sequence[object]) -> int:
    """Return how many items, or characters, two sequences have in common at their beginning."""
    pairs = zip(one, other, strict=False)
    return next((place for place, (mine, theirs) in enumerate(pairs) if mine != theirs), min(len(one), len(other)))


def without_index(url: str) -> str:
    """Return an address without the name of the first page of a folder and without the slash at its end."""
    return url.removesuffix("index.html").rstrip("/")


def _letter_runs(name: str) -> frozenset[str]:
    text = f" {name.replace('-', '')} "
    return frozenset(text[start : start + 3] for start in range(len(text) - 2))


@lru_cache(maxsize=40_000)
def _stem(word: str) -> str:
    stem: str = _STEM.stemWord(word)
    return stem


def _group_synonyms() -> dict[str, frozenset[int]]:
    groups: dict[str, set[int]] = {}
    for number, names in enumerate(_SYNONYMS):
        for name in names.split():
            groups.setdefault(name, set()).add(number)
    return {name: frozenset(numbers) for name, numbers in groups.items()}


_GROUPS: Final = _group_synonyms()


def are_synonyms(name: str, other: str) -> bool:
    """Return True if two names are usual for pages of the same kind, such as `quickstart` and `getting-started`."""
    return bool(_GROUPS.get(name, frozenset()) & _GROUPS.get(other, frozenset()))
