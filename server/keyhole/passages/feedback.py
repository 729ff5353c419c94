"""Rank in a second round, by words and section titles that the best windows of the first round contain."""

from __future__ import annotations

import re
from typing import Final

from keyhole.passages.index import Index
from keyhole.passages.languages import FUNCTION_WORDS
from keyhole.passages.rank import WindowScores, rarity
from keyhole.passages.words import WORD
from keyhole.text.letters import is_inside_word

FEEDBACK_SHARE: Final = 0.5
"""The window with the most feedback words gains this share of the first round's best score."""

FEEDBACK_WINDOWS: Final = 5
"""Windows from which feedback words are taken: words of the best windows that are not in the query."""

FEEDBACK_WORDS: Final = 30
"""Feedback words: those in the most and the best windows."""

NAME_FACTOR: Final = 1.5
"""Weight of capitalised words and numbers: names lead from one place of a page to another. With 1, six of 277 reading
tasks are lost at 2,000 characters and one is won."""

MIN_WORD_CHARS: Final = 4

LINK_SHARE: Final = 0.3
"""A section whose title occurs in the best windows gains this share of the best score."""

LINK_WINDOWS: Final = 3
LINK_DECAY: Final = 0.6
"""The gain goes to the section's first windows and decays by this factor: a section begins with what defines it."""

MIN_TITLE_CHARS: Final = 4
MAX_TITLES: Final = 5_000

_TITLE_NOTE = re.compile(r"(?<!\s)\s*+\([^()]*+\)\s*+$")


def add_feedback(scored: WindowScores, share: float = FEEDBACK_SHARE) -> WindowScores:
    """Add the stages `feedback` and `links` to the scores, and return them.

    `share`: the gain of the window with the most feedback words, relative to the best score.
    """
    if scored.stages:
        first = scored.scores
        best = scored.best(FEEDBACK_WINDOWS)
        if best:
            scored.stages.append(("feedback", _raise_by_words(scored, first, best, share)))
            scored.stages.append(("links", _raise_linked_sections(scored, first, best)))
    return scored


def _raise_by_words(scored: WindowScores, first: list[float], best: list[int], share: float) -> list[float]:
    """Raise windows that share rare words with the best windows (pseudo-relevance feedback).

    The window that gains most gains `share` of the best score. A word that is in only one window is omitted.
    """
    index = scored.index
    gains: dict[int, float] = {}
    for word, weight in _weigh_words(scored, first, best):
        windows = index.windows_with(word, scored.query.folded)
        if len(windows) > 1:
            value = weight * rarity(len(windows), index.size) ** 2
            for window in windows:
                gains[window] = gains.get(window, 0.0) + value
    result = list(first)
    top = share * max(first)
    largest = max(gains.values(), default=0.0)
    for window, value in gains.items():
        result[window] += top * value / largest
    return result


def _weigh_words(scored: WindowScores, first: list[float], best: list[int]) -> list[tuple[str, float]]:
    """Return the `FEEDBACK_WORDS` words that are in the most and the best of the windows `best`, with their weights.

    Words of the query are left out.
    """
    index = scored.index
    text = index.searchable_text(scored.query.folded)
    function_words = FUNCTION_WORDS.get(scored.query.language, frozenset())
    needles = tuple(term.needle for term in scored.query.terms)
    weights: dict[str, float] = {}
    for window in best:
        relative = first[window] / first[best[0]]
        factors = {
            match[0]: NAME_FACTOR if index.text[match.start()].isupper() or match[0].isdigit() else 1.0
            for match in WORD.finditer(text, index.starts[window], index.end(window))
        }
        for word, factor in factors.items():
            if len(word) >= MIN_WORD_CHARS and word not in function_words and not word.startswith(needles):
                weights[word] = weights.get(word, 0.0) + relative * factor
    return sorted(weights.items(), key=lambda item: (-item[1], item[0]))[:FEEDBACK_WORDS]


def _raise_linked_sections(scored: WindowScores, first: list[float], best: list[int]) -> list[float]:
    """Raise the first windows of sections whose title occurs in a best window (multi-hop questions)."""
    index = scored.index
    text = index.searchable_text(scored.query.folded)
    result = list(scored.scores)
    gains: dict[int, float] = {}
    titles = _section_titles(index, text)
    for window in best if titles else ():
        passage = text[index.starts[window] : index.end(window)]
        relative = first[window] / first[best[0]]
        for title, begin, end in titles:
            if not begin <= window < end and _has_words(passage, title):
                for step in range(min(LINK_WINDOWS, end - begin)):
                    value = relative * LINK_DECAY**step
                    gains[begin + step] = max(value, gains.get(begin + step, 0.0))
    for window, value in gains.items():
        result[window] += LINK_SHARE * first[best[0]] * value
    return result


def _section_titles(index: Index, text: str) -> list[tuple[str, int, int]]:
    """Return each heading's title with the first window of its section and the window after the last."""
    titles: list[tuple[str, int, int]] = []
    for heading in index.layout.headings[:MAX_TITLES]:
        title = _TITLE_NOTE.sub("", text[heading.start : heading.end].strip("# \t\r\n"))
        if len(title) >= MIN_TITLE_CHARS:
            titles.append((title, heading.first, heading.last))
    return titles


def _has_words(passage: str, title: str) -> bool:
    """Return whether the title occurs in the passage as whole words."""
    offset = passage.find(title)
    if offset < 0:
        return False
    return not (is_inside_word(passage, offset) or is_inside_word(passage, offset + len(title)))
