"""Sources of the store and of the web as one list, each page once; and why the store had none. Pure; ranks nothing."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import zip_longest
from typing import Final

from keyhole.errors import Code, KeyholeError
from keyhole.records import Source
from keyhole.store.base import Word
from keyhole.websearch.canonical import page_key

MAX_NAMED: Final = 12
"""Words that an error names: of a long question the first say enough."""


def each_once(sources: Iterable[Source]) -> tuple[Source, ...]:
    """One source for each page, where its first stood: the one with the fresher text, or with any text at all."""
    pages: dict[str, Source] = {}
    for source in sources:
        page = page_key(source.url) or source.url
        pages[page] = _fresher(pages[page], source) if page in pages else source
    return tuple(pages.values())


def joined(web: Sequence[Source], stored: Sequence[Source]) -> tuple[Source, ...]:
    """Both lists in turn, the web's first; a page of both is one source."""
    turns = zip_longest(web, stored)
    return each_once(source for turn in turns for source in turn if source is not None)


def _fresher(first: Source, second: Source) -> Source:
    """The first where both are as fresh; the engine's snippet stays, and so does its date."""
    kept = second if _fetched_at(second) > _fetched_at(first) else first
    return replace(kept, snippet=first.snippet or second.snippet, date=kept.date or first.date or second.date)


def _fetched_at(source: Source) -> float:
    return source.artifact.fetched_at if source.artifact else float("-inf")


def nothing_stored(words: Sequence[Word], held: Sequence[bool]) -> KeyholeError:
    """Why no stored page was found, in the words of the question that none of them holds."""
    absent = [_name(word) for word, known in zip(words, held, strict=True) if not known]
    named = ", ".join(absent[:MAX_NAMED]) + (f" and {len(absent) - MAX_NAMED} more" if len(absent) > MAX_NAMED else "")
    if len(absent) == len(words):
        return KeyholeError(Code.NO_RESULTS, f"no stored page holds a word of the question: {named or 'it has none'}")
    none = f"; none at all holds: {named}" if absent else ""
    return KeyholeError(Code.NO_RESULTS, f"no stored page that the filters let through holds a word of it{none}")


def _name(word: Word) -> str:
    """The word as it was asked, which stands last among its forms."""
    return word if isinstance(word, str) else word[-1]
