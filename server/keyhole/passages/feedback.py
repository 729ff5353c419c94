"""A second round: what the best windows of the first name, looked for in the rest of the page."""

from __future__ import annotations

import math
import re
from typing import Final

from keyhole.passages.find import Index
from keyhole.passages.languages import FUNCTION_WORDS
from keyhole.passages.rank import Scored, by_score
from keyhole.passages.words import WORD

FEEDBACK_SHARE: Final = 0.6
"""The best window for the second round's words gets this much of the first round's best score."""

FEEDBACK_WINDOWS: Final = 5
"""Windows that words are taken from."""

FEEDBACK_WORDS: Final = 20
"""Words taken from them."""

COUNTED_WORDS: Final = 30
"""Candidates looked for in the page: those in most and best windows."""

NAME_FACTOR: Final = 1.5
"""For words written with a capital, and numbers: names lead from one place to the next."""

MIN_WORD_CHARS: Final = 4

BROAD_SHARE: Final = 1.0
BROAD_WINDOWS: Final = 10
BROAD_WORDS: Final = 40
BROAD_COUNTED: Final = 60
"""The same for a second opinion (order.py): more trust in more words of more windows, for a question worded so
unlike its answer that the first round found only its surroundings."""

LINK_SHARE: Final = 0.3
"""A section whose title the best windows mention gains this much of the best score."""

LINK_WINDOWS: Final = 3
LINK_DECAY: Final = 0.6
"""Its first windows, fading: what a thing is, is said first."""

MIN_TITLE_CHARS: Final = 4
MAX_TITLES: Final = 5_000

_TITLE_NOTE = re.compile(r"\s*\([^()]*\)\s*$")


def with_feedback(scored: Scored) -> Scored:
    """Add both kinds of second round to a scored page."""
    if scored.stages:
        first = scored.scores
        best = scored.best(FEEDBACK_WINDOWS)
        if best:
            scored.stages.append(("feedback", _feedback(scored, first, best)))
            scored.stages.append(("links", _links(scored, first, best)))
    return scored


def broad_feedback(scored: Scored) -> list[float]:
    """The first round's scores with a second round that looks wider and weighs more."""
    first = first_round(scored)
    best = [window for window in by_score(first)[:BROAD_WINDOWS] if first[window] > 0]
    return _gain(first, _rare_words(scored, first, best, BROAD_WORDS, BROAD_COUNTED), BROAD_SHARE)


def first_round(scored: Scored) -> list[float]:
    """The scores before any second round."""
    return next(scores for name, scores in scored.stages if name == "form")


def _feedback(scored: Scored, first: list[float], best: list[int]) -> list[float]:
    """Raise windows that share rare words with the best ones (pseudo-relevance feedback)."""
    return _gain(first, _rare_words(scored, first, best, FEEDBACK_WORDS, COUNTED_WORDS), FEEDBACK_SHARE)


def _gain(first: list[float], words: list[tuple[float, list[int]]], share: float) -> list[float]:
    """Raise the windows of the words; the most raised gains this share of the best score."""
    gained: dict[int, float] = {}
    for value, windows in words:
        for window in windows:
            gained[window] = gained.get(window, 0.0) + value
    result = list(first)
    top = share * max(first)
    most = max(gained.values(), default=0.0)
    for window, value in gained.items():
        result[window] += top * value / most
    return result


def _rare_words(
    scored: Scored, first: list[float], best: list[int], count: int, counted: int
) -> list[tuple[float, list[int]]]:
    """The `count` words that most distinguish the best windows: their value, and the windows they are in.

    A word found in one window only leads nowhere else, and is left out. `counted` words are looked for.
    """
    index = scored.index
    text = index.searched(scored.query.folded)
    weights = _words_of(scored, first, best, text)
    common = sorted(weights.items(), key=lambda item: (-item[1], item[0]))[:counted]
    valued: list[tuple[float, str, float, list[int]]] = []
    for word, weight in common:
        windows = index.windows_with(word, scored.query.folded)
        if len(windows) > 1:
            rarity = math.log(1 + (index.size - len(windows) + 0.5) / (len(windows) + 0.5))
            valued.append((-weight * rarity, word, rarity, windows))
    valued.sort()
    return [(-value * rarity, windows) for value, _, rarity, windows in valued[:count]]


def _words_of(scored: Scored, first: list[float], best: list[int], text: str) -> dict[str, float]:
    """The words of the best windows that were not asked for, weighed by their windows' scores."""
    index = scored.index
    function_words = FUNCTION_WORDS.get(scored.query.language, frozenset())
    asked = tuple(term.needle for term in scored.query.terms)
    weights: dict[str, float] = {}
    for window in best:
        relative = first[window] / first[best[0]]
        seen: set[str] = set()
        for found in WORD.finditer(text, index.starts[window], index.end(window)):
            word = found.group()
            if len(word) < MIN_WORD_CHARS or word in seen or word in function_words:
                continue
            seen.add(word)
            if not word.startswith(asked):
                name = index.text[found.start()].isupper() or word.isdigit()
                gain = relative * (NAME_FACTOR if name else 1.0)
                weights[word] = weights.get(word, 0.0) + gain
    return weights


def _links(scored: Scored, first: list[float], best: list[int]) -> list[float]:
    """Raise the opening of sections whose title a best window mentions (multi-hop questions)."""
    index = scored.index
    text = index.searched(scored.query.folded)
    result = list(scored.scores)
    gained: dict[int, float] = {}
    titles = _titles(index, text)
    for window in best if titles else ():
        passage = text[index.starts[window] : index.end(window)]
        relative = first[window] / first[best[0]]
        for title, begin, end in titles:
            if not begin <= window < end and _mentions(passage, title):
                for step in range(min(LINK_WINDOWS, end - begin)):
                    value = relative * LINK_DECAY**step
                    gained[begin + step] = max(value, gained.get(begin + step, 0.0))
    for window, value in gained.items():
        result[window] += LINK_SHARE * first[best[0]] * value
    return result


def _titles(index: Index, text: str) -> list[tuple[str, int, int]]:
    titles: list[tuple[str, int, int]] = []
    for heading in index.layout.headings[:MAX_TITLES]:
        title = _TITLE_NOTE.sub("", text[heading.start : heading.end].strip("# \t\r\n"))
        if len(title) >= MIN_TITLE_CHARS:
            titles.append((title, heading.first, heading.last))
    return titles


def _mentions(passage: str, title: str) -> bool:
    """Whether the title stands in the passage as whole words."""
    offset = passage.find(title)
    if offset < 0:
        return False
    after = offset + len(title)
    return not ((offset and passage[offset - 1].isalnum()) or passage[after : after + 1].isalnum())
