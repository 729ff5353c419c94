"""Merge the sources of the store and of the web into one list that contains each page once."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import zip_longest
from typing import Final

from keyhole.errors import Code, KeyholeError
from keyhole.records import Source
from keyhole.store.base import SearchWord
from keyhole.text.letters import lower
from keyhole.websearch.merge import page_key

MAX_NAMED: Final = 12
"""Words of a long question that an error names; the others are counted."""


def deduplicate(sources: Iterable[Source]) -> tuple[Source, ...]:
    """Return one source for each page, in the position of its first: the source with the freshest text, if any."""
    pages: dict[str, Source] = {}
    for source in sources:
        page = page_key(source.url) or source.url
        pages[page] = _fresher(pages[page], source) if page in pages else source
    return tuple(pages.values())


def interleave(web: Sequence[Source], stored: Sequence[Source]) -> tuple[Source, ...]:
    """Return the sources of both lists in turn, beginning with the web's. A page in both lists becomes one source."""
    pairs = zip_longest(web, stored)
    return deduplicate(source for pair in pairs for source in pair if source is not None)


def _fresher(first: Source, second: Source) -> Source:
    """Return the source with the fresher text, or else the first, with the snippet and date that either of them has."""
    fresher = second if _fetched_at(second) > _fetched_at(first) else first
    return replace(fresher, snippet=first.snippet or second.snippet, date=fresher.date or first.date or second.date)


def _fetched_at(source: Source) -> float:
    return source.artifact.fetched_at if source.artifact else float("-inf")


def nothing_stored_error(words: Sequence[SearchWord], is_stored: Sequence[bool], question: str = "") -> KeyholeError:
    """Return the error for a search of the store without results. It names the words that no stored page contains.

    `question`: where character pairs of unspaced scripts are looked up, for the runs that are named instead.
    """
    from keyhole.passages.gram_runs import join_grams  # only this error needs the tables of scripts
    from keyhole.passages.words import HANGUL, UNSPACED

    states = {_name(word): int(stored) for word, stored in zip(words, is_stored, strict=True)}
    grams = {word: states[word] for word in states if UNSPACED.match(word) or (HANGUL.match(word) and len(word) == 2)}
    runs = [run for run, state in join_grams(grams, lower(question)) if not state]
    spaced = [word for word, stored in states.items() if not (stored or word in grams or HANGUL.match(word))]
    absent = [*spaced, *runs]
    named = ", ".join(absent[:MAX_NAMED]) + (f" and {len(absent) - MAX_NAMED} more" if len(absent) > MAX_NAMED else "")
    if not any(is_stored):
        message = f"no stored page contains a word of the question: {named or 'it has none'}"
        return KeyholeError(Code.NO_RESULTS, message)
    never = f"; no stored page at all contains: {named}" if absent else ""
    message = f"no stored page that the filters allow contains a word of the question{never}"
    return KeyholeError(Code.NO_RESULTS, message)


def _name(word: SearchWord) -> str:
    """Return the word as the question spells it: the last of its forms."""
    return word if isinstance(word, str) else word[-1]
