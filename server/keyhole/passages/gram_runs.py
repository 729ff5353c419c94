"""Join the character pairs of a question in unspaced scripts to the runs that a text has or lacks. Pure.

Texts are searched for pairs, because no dictionary tells where their words end. A pair may be no word, so a reader is
told the longest runs of the question instead.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Mapping
from itertools import chain, groupby

from keyhole.passages.words import HAN

_KATAKANA = re.compile("[\u30a1-\u30fa\u30fc-\u30ff]{2,}")
"""A word in katakana. A text lacks it if it lacks any of its pairs."""
_INFLECTION = re.compile(f"(?<={HAN.pattern}{{2}})[\u3041-\u309f]+$")
"""The ending of a Japanese word that is written in Han."""
_HIRAGANA = re.compile("[\u3041-\u309f]+")
_BEFORE_VOWEL, _AFTER_CONSONANT = "เแโใไ", "ะาำๅๆ"
"""Thai vowels that begin a syllable, and letters that never do."""


def join_grams(states: Mapping[str, int], question: str) -> Iterator[tuple[str, int]]:
    """Yield the runs of a question's grams with their state. `question`: spelt as the grams are.

    Each gram has a state: 0 if all texts lack it, more if a text has it. A character has the greatest state of the
    grams around it, because a gram across the border of two words is often in no text. Each run is yielded once. Runs
    that are no words, such as single characters and endings, are left out.
    """
    yield from dict.fromkeys(
        chain.from_iterable(_runs(states, question, size) for size in sorted(set(map(len, states))))
    )


def _runs(states: Mapping[str, int], question: str, size: int) -> Iterator[tuple[str, int]]:
    places = [place for place in range(len(question) - size + 1) if question[place : place + size] in states]
    for _, numbered in groupby(enumerate(places), lambda each: each[1] - each[0]):
        begins = [place for _, place in numbered]
        text = question[begins[0] : begins[-1] + size]
        found = [states[question[place : place + size]] for place in begins]
        around = [max(found[max(0, place - size + 1) : place + 1]) for place in range(len(text))]
        for word in _KATAKANA.finditer(text):
            inner = found[word.start() : word.end() - size + 1] or [around[word.start()]]
            around[word.start() : word.end()] = [min(inner)] * len(word.group())
        for state, same in groupby(range(len(text)), around.__getitem__):
            first, *others = same
            run = _trim(text, first, (others or [first])[-1] + 1)
            if len(run) >= size or run == text:
                yield run, state


def _trim(text: str, start: int, end: int) -> str:
    """Return a run without the parts of neighbouring words: marks, half syllables and Japanese endings."""
    while start < end and (unicodedata.category(text[start])[0] == "M" or text[start] in _AFTER_CONSONANT):
        start += 1
    while end < len(text) and (unicodedata.category(text[end])[0] == "M" or text[end] in _AFTER_CONSONANT):
        end += 1
    while start < end < len(text) and text[end - 1] in _BEFORE_VOWEL:
        end -= 1
    run = _INFLECTION.sub("", text[start:end])
    leading = _HIRAGANA.match(run)
    if leading and start and leading.end() < len(run):
        return run[leading.end() :]
    return "" if leading and leading.end() == len(run) and len(run) < (3 if run == text else len(text)) else run
