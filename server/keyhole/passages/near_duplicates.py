"""Detect texts that are nearly the same by sketches of their shingles. Pure.

A shingle is a run of four words. A sketch contains the shingle hashes below a bound, so the sketches of two texts
contain the same part of their common shingles. So sketches suffice to estimate how much of one text the other contains
(Broder, "On the resemblance and containment of documents", 1997; the bound as in FracMinHash, Irber et al., 2022).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final
from zlib import crc32

from keyhole.passages.words import UNSPACED, WORD
from keyhole.records import Sketch
from keyhole.text.letters import lower

SHINGLE_WORDS: Final = 4
"""Words of a shingle: three occur by chance in texts on one subject, five break at every second edited word."""
SKETCH_HASHES: Final = 400
"""Approximate number of hashes in a sketch: the error of the estimated containment is then about 2 %."""
MIN_CONTAINMENT: Final = 0.75
"""Share of the shorter text that the longer must contain: sites cut and retitle a syndicated article, and different
pages of one site share at most a fifth (benchmarks/README.md)."""
MAX_SIZE_RATIO: Final = 2.0
"""Maximum shingles of the longer text, relative to the shorter. Boilerplate that extraction missed at most doubles a
short article. A much longer text only quotes the shorter one, and the answer may be elsewhere in it."""
MAX_SKETCHED_CHARS: Final = 300_000
"""Characters compared, from the beginning; the rest counts only for the size. Copies agree from the beginning, and
forty stored books would take half a second each."""

_HASHES: Final = 1 << 32
"""A sketch of level n contains the hashes below this number shifted right by n."""


def sketch(text: str) -> Sketch:
    """Return the sketch of a text, for `group_duplicates`."""
    hashes = {crc32(shingle.encode("utf-8", "surrogatepass")) for shingle in shingles(text[:MAX_SKETCHED_CHARS])}
    level = max(0, (len(hashes) // SKETCH_HASHES).bit_length())
    return Sketch(_below(hashes, level), level, len(hashes) * max(len(text), MAX_SKETCHED_CHARS) // MAX_SKETCHED_CHARS)


def group_duplicates(sketches: Sequence[Sketch]) -> tuple[tuple[int, ...], ...]:
    """Group the positions of texts that are nearly the same, in the order of their first texts.

    A text is compared with the first text of each group only, so that no chain of small differences joins unlike texts.
    """
    groups: list[list[int]] = []
    at_level: dict[tuple[int, int], frozenset[int]] = {}

    def hashes(number: int, level: int) -> frozenset[int]:
        if (number, level) not in at_level:
            at_level[number, level] = _below(sketches[number].hashes, level)
        return at_level[number, level]

    for number, own in enumerate(sketches):
        for group in groups:
            first = sketches[group[0]]
            level = max(own.level, first.level)
            if _have_similar_sizes(own.size, first.size) and _is_contained(
                hashes(number, level), hashes(group[0], level)
            ):
                group.append(number)
                break
        else:
            groups.append([number])
    return tuple(map(tuple, groups))


def shingles(text: str) -> list[str]:
    """Return every run of `SHINGLE_WORDS` lower-case words, or of characters in scripts without spaces."""
    words = WORD.findall(lower(text))
    if not text.isascii() and UNSPACED.search(text):
        words = [piece for word in words for piece in (word if UNSPACED.search(word) else (word,))]
    if len(words) < SHINGLE_WORDS:
        return [" ".join(words)] if words else []
    return [" ".join(run) for run in zip(*(words[start:] for start in range(SHINGLE_WORDS)), strict=False)]


def _have_similar_sizes(one: int, other: int) -> bool:
    return 0 < max(one, other) <= MAX_SIZE_RATIO * min(one, other)


def _is_contained(one: frozenset[int], other: frozenset[int]) -> bool:
    return len(one & other) >= MIN_CONTAINMENT * min(len(one), len(other)) > 0


def _below(hashes: Iterable[int], level: int) -> frozenset[int]:
    bound = _HASHES >> level
    return frozenset(value for value in hashes if value < bound)
