"""Texts that are nearly the same: sketches of them, and groups by these. Pure; decides nothing about what is shown.

A sketch keeps the hashes of a text's runs of four words that are below a bound, so that the same run is kept or left
out in every text alike: how much of one text stands in another can then be told from sketches (Broder, "On the
resemblance and containment of documents", 1997; the bound by fraction as in FracMinHash, Irber et al., 2022).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final
from zlib import crc32

from keyhole.passages.words import UNSPACED, WORD, lower
from keyhole.records import Sketch

RUN: Final = 4
"""Words of a run: three are shared by chance in texts on one subject, five break at every second edited word."""
KEPT_HASHES: Final = 400
"""Runs kept of a text, about: the share of one text in another is then off by some two in a hundred."""
CONTAINED: Final = 0.75
"""Of the shorter text, the share that must stand in the longer: a syndicated article is cut and retitled by its sites,
yet different pages of one site share a fifth at most (benchmarks/README.md)."""
LONGER: Final = 2.0
"""And the longer may have this many times the runs. Furniture that extraction left doubles a short article at the most;
a text in one much longer is a quotation, and what is around it may be the answer."""
MAX_SKETCHED: Final = 300_000
"""Characters of a text that are compared, the first; those after count for its size alone. Copies of a text are alike
from the beginning, and of forty stored books each would take half a second."""

_HASHES: Final = 1 << 32
"""A sketch of level n keeps the hashes below this, shifted right by n."""


def sketch(text: str) -> Sketch:
    """A small value that stands for the text in comparisons."""
    hashes = {crc32(run.encode("utf-8", "surrogatepass")) for run in runs(text[:MAX_SKETCHED])}
    level = max(0, (len(hashes) // KEPT_HASHES).bit_length())
    return Sketch(_below(hashes, level), level, len(hashes) * max(len(text), MAX_SKETCHED) // MAX_SKETCHED)


def groups(sketches: Sequence[Sketch]) -> tuple[tuple[int, ...], ...]:
    """The numbers of texts that are nearly the same, together; each group by its first, in the order given.

    A text is compared with the first of each group alone, so that no chain of small differences joins unlike texts.
    """
    found: list[list[int]] = []
    at_level: dict[tuple[int, int], frozenset[int]] = {}

    def kept(number: int, level: int) -> frozenset[int]:
        if (number, level) not in at_level:
            at_level[number, level] = _below(sketches[number].kept, level)
        return at_level[number, level]

    for number, own in enumerate(sketches):
        for group in found:
            first = sketches[group[0]]
            level = max(own.level, first.level)
            if _sizes_agree(own.size, first.size) and _contained(kept(number, level), kept(group[0], level)):
                group.append(number)
                break
        else:
            found.append([number])
    return tuple(map(tuple, found))


def runs(text: str) -> list[str]:
    """Every run of words, without case and punctuation; of scripts without spaces, of characters."""
    words = WORD.findall(lower(text))
    if not text.isascii() and UNSPACED.search(text):
        words = [piece for word in words for piece in (word if UNSPACED.search(word) else (word,))]
    if len(words) < RUN:
        return [" ".join(words)] if words else []
    return [" ".join(run) for run in zip(*(words[start:] for start in range(RUN)), strict=False)]


def _sizes_agree(one: int, other: int) -> bool:
    return 0 < max(one, other) <= LONGER * min(one, other)


def _contained(one: frozenset[int], other: frozenset[int]) -> bool:
    return len(one & other) >= CONTAINED * min(len(one), len(other)) > 0


def _below(hashes: Iterable[int], level: int) -> frozenset[int]:
    bound = _HASHES >> level
    return frozenset(value for value in hashes if value < bound)
