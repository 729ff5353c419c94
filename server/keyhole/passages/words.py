"""Text to stems, in any script. No scores here."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

import snowballstemmer

# Marks belong to their letter: without them Hindi, Thai and Arabic words fall apart.
_WORD = re.compile(r"[^\W_](?:[^\W_]|[̀-ͯ؀-ۿऀ-ॿঀ-෿฀-๿]|['’](?=\w))*")
_UNSPACED = re.compile(r"[぀-ヿ㐀-鿿豈-﫿฀-๿]+")
_STOP = frozenset(
    [
        "a",
        "an",
        "and",
        "are",
        "as",
        "at",
        "be",
        "by",
        "can",
        "did",
        "do",
        "does",
        "for",
        "from",
        "had",
        "has",
        "have",
        "how",
        "i",
        "in",
        "is",
        "it",
        "its",
        "of",
        "on",
        "or",
        "that",
        "the",
        "this",
        "to",
        "was",
        "were",
        "what",
        "when",
        "where",
        "which",
        "who",
        "why",
        "will",
        "with",
        "would",
        "you",
        "your",
    ]
)
_stemmer = snowballstemmer.stemmer("english")


@dataclass(frozen=True, slots=True)
class Query:
    """A query's terms: what the reader wrote, and the stem it is matched by."""

    terms: tuple[tuple[str, str], ...]

    @classmethod
    def of(cls, query: str) -> Query:
        """The distinct terms in order; stop words are dropped unless nothing else is there."""
        pairs = [(word, stem) for word, stem in words(query)]
        kept = [pair for pair in pairs if pair[0] not in _STOP] or pairs
        return cls(tuple({stem: (word, stem) for word, stem in reversed(kept)}.values())[::-1])


def words(text: str) -> Iterator[tuple[str, str]]:
    """`(folded word, stem)` for each word; scripts without spaces give overlapping pairs of characters."""
    for match in _WORD.finditer(text):
        word = fold(match[0])
        if _UNSPACED.fullmatch(word) and len(word) > 1:
            for index in range(len(word) - 1):
                yield word[index : index + 2], word[index : index + 2]
        else:
            yield word, stem(word)


@lru_cache(maxsize=65_536)
def stem(word: str) -> str:
    """The Snowball stem of a folded word."""
    return str(_stemmer.stemWord(word))


def fold(word: str) -> str:
    """Case and Latin accents folded; other scripts' marks kept."""
    lowered = word.casefold().replace("’", "'").removesuffix("'s")
    if lowered.isascii():
        return lowered
    decomposed = unicodedata.normalize("NFKD", lowered)
    return unicodedata.normalize("NFC", re.sub("[̀-ͯ]", "", decomposed))


def search_terms(text: str) -> list[str]:
    """The distinct stems of a text, as the store's index keeps them."""
    return list(dict.fromkeys(stem for _, stem in words(text)))
