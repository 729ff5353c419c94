"""Compare the words of two texts as multisets."""

from __future__ import annotations

import html
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from benchmarks.extraction.peers.scores import extract_visible_text

MAX_RUN: Final = 16
"""Words that one word of the other text may be divided into."""
_INVISIBLE = re.compile(r"[\u00ad\u180e\u200b-\u200f\u202a-\u202e\u2060-\u2064\u2066-\u2069\ufe00-\ufe0f\ufeff]")
_WORD = re.compile(
    # Languages that write no spaces between words are compared by character.
    r"[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]"
    r"|[^\W_\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff]+"
)
_REST_LINE = re.compile(r"^# \[rest: .*\]$", re.MULTILINE)
"""A line that Keyhole adds above a part of the rest, with words that the page may not have there."""


def split_words(text: str) -> list[str]:
    """Return the words of a text, in lower case and without invisible characters."""
    return _WORD.findall(_INVISIBLE.sub("", text).casefold())


def split_markdown_words(markdown: str) -> list[str]:
    """Return the words that Markdown shows, without addresses and without the lines above parts of the rest."""
    return split_words(html.unescape(extract_visible_text(_REST_LINE.sub("", markdown))))


def list_missing(visible: Sequence[str], found: Sequence[str]) -> list[str]:
    """Return the visible words that `found` does not contain, as often as they are missing.

    The same characters may be divided into words in another way: spaces between elements are a matter of style. So a
    missing word also counts as found if it consists of consecutive words that are found too often, and missing words
    that follow each other if they form such a word.
    """
    missing, surplus = Counter(visible) - Counter(found), Counter(found) - Counter(visible)
    for word, run in _find_runs(found, missing, surplus):
        _settle(missing, [word], surplus, run)
    for word, run in _find_runs(visible, surplus, missing):
        _settle(surplus, [word], missing, run)
    return list(missing.elements())


def _settle(one: Counter[str], words: Iterable[str], other: Counter[str], others: Iterable[str]) -> None:
    """Remove the words from both counts if both have all of them."""
    wanted, offered = Counter(words), Counter(others)
    while wanted <= one and offered <= other:
        one -= wanted
        other -= offered


def _find_runs(words: Sequence[str], whole: Counter[str], parts: Counter[str]) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Yield each word of `whole` that consecutive words form, all of which are in `parts`, with these words."""
    runs: dict[str, set[tuple[str, ...]]] = defaultdict(set)
    for start, first in enumerate(words):
        if first not in parts:
            continue
        for end in range(start + 2, start + MAX_RUN + 1):
            run = tuple(words[start:end])
            if run[-1] not in parts:
                break
            if (joined := "".join(run)) in whole:
                runs[joined].add(run)
    for joined in sorted(runs):
        for run in sorted(runs[joined]):
            yield joined, run
