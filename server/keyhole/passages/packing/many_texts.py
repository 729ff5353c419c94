"""Pack the passages of several texts into one size limit, best first and without repetition.

Each of the best texts gets its best passage before any text gets its second; after that the best passages of all texts
come first. A weak text gets no space. A passage that mostly repeats a packed one is omitted, and the text that it
repeats is recorded.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from keyhole.passages.blocks import CodeBlock, find_code_blocks
from keyhole.passages.gaps import gap_line
from keyhole.passages.near_duplicates import shingles
from keyhole.passages.packing.fences import add_fences, blocks_in, fences_of
from keyhole.passages.split import sentence_ends
from keyhole.records import Passage, Ranked
from keyhole.text.measure import Measure, fit_forward, serialized_size

GOOD_SHARE: Final = 0.8
"""A text whose best passage has at least this share of the best score of all gets a passage before any gets two."""
WEAK_SHARE: Final = 0.5
"""A text whose best passage has less than this share of the best score of all gets no space. Between 0.3 and 0.5 as
many answers are found as with every text (benchmarks/search/search.py). No text is read on for less, either."""
MIN_SCORE_SHARE: Final = 0.2
"""A passage with less than this share of the best score of all is never packed. With 0.1, results are a tenth longer
and contain as many answers; with 0.3, one answer in a hundred is lost."""
REPEATED_SHARE: Final = 0.8
"""A passage is a repetition if this share of its shingles is packed: one edited word breaks four shingles of fifty."""
BYTES_PER_CANDIDATE: Final = 40
"""Bytes of the size limit for each passage of a text that is examined: passages have 60 or more
(benchmarks/ranking/across.py), and some are repetitions. A page of megabytes may have thousands of matching passages,
and examining one costs as much as packing it."""
TEMPLATE_DIGITS: Final = 0.1
"""A passage with fewer digits than this share of its characters, which repeats another of its text except for numbers,
is a repetition: a page that is generated from a template. Passages with more are data."""
MIN_PART_BYTES: Final = 80
"""Minimum bytes for a truncated passage: half a sentence answers nothing."""

_DIGITS = re.compile(r"\d+")
_LAST_HEADING = re.compile(r"^#{1,6} [^\n]*\s*\Z", re.MULTILINE)

PassagePlace = tuple[int, int]
"""The number of a text, and the rank of a passage in it."""


@dataclass(frozen=True, slots=True)
class PackedPassages:
    """The passages that fit a size limit."""

    passages: tuple[tuple[Passage, ...], ...]
    """For each text, in reading order; adjacent passages are joined."""
    repeats: tuple[tuple[int, ...], ...]
    """For each text, the numbers of the texts whose passages it repeats."""
    size: int
    """The part of the size limit that is used."""
    left: int | None
    """The text with the best passage that does not fit; None if no such passage has `WEAK_SHARE` of the best score."""


@dataclass(slots=True)
class _PackedText:
    """The passages of one text that are packed so far."""

    passages: list[Passage] = field(default_factory=list)
    size: int = 0
    repeats: dict[int, None] = field(default_factory=dict)
    blocks: set[CodeBlock] = field(default_factory=set)
    """The code blocks whose fences are counted in `size`."""


class Packer:
    """Packs the ranked passages of several texts; one packer serves several size limits."""

    def __init__(
        self,
        texts: Sequence[str],
        ranked: Ranked,
        measure: Measure = serialized_size,
        best_scores: Sequence[float] | None = None,
    ) -> None:
        """`best_scores`: the score by which each text is compared with the others; by default its best in `ranked`."""
        self.measure = measure
        self.texts = texts
        self.ranked = ranked
        self.code = [
            find_code_blocks(text) if any_ranked else [] for text, any_ranked in zip(texts, ranked, strict=True)
        ]
        self._shingles: dict[PassagePlace, frozenset[str]] = {}
        self._templates: dict[PassagePlace, frozenset[str]] = {}
        self._sizes: dict[PassagePlace, int] = {}
        self.last_gap_sizes = [measure("\n" + gap_line(len(text), len(text))) for text in texts]
        """The largest size of the gap line after each text's last passage."""
        self._best_scores = best_scores or [passages[0].score if passages else 0.0 for passages in ranked]
        best = max(self._best_scores, default=0.0)
        # A scorer may give negative scores, and then no share of the best score separates good texts from poor ones.
        self._min_score = MIN_SCORE_SHARE * best if best > 0 else float("-inf")
        self._good = self._list_texts(GOOD_SHARE * best if best > 0 else float("-inf"))
        self.weak_score = WEAK_SHARE * best if best > 0 else float("-inf")
        self._shown = self._list_texts(self.weak_score)

    def _list_texts(self, min_score: float) -> list[int]:
        """Return the texts whose best passage has at least a score."""
        scores = enumerate(self._best_scores)
        return [number for number, score in scores if self.ranked[number] and score >= min_score]

    def pack(self, max_size: int, header_sizes: Sequence[int] | None = None) -> PackedPassages:
        """Pack as many passages as fit `max_size`. Each text with passages also takes its size in `header_sizes`."""
        packing = _Packing(self, max_size, header_sizes or [0] * len(self.texts))
        for number in self._good:
            packing.add_best(number)
        packing.add_all(self._best_first(max_size))
        passages = tuple(
            _with_fences(code, _join_adjacent(packed.passages))
            for code, packed in zip(self.code, packing.packed, strict=True)
        )
        repeats = tuple(tuple(packed.repeats) for packed in packing.packed)
        left = packing.unpacked
        is_worth = left is not None and self.passage(left).score >= self.weak_score
        return PackedPassages(passages, repeats, max_size - packing.left, left[0] if left and is_worth else None)

    def candidates(self, number: int, max_size: int) -> Sequence[Passage]:
        """Return the best passages of a text that are examined for a size limit."""
        return self.ranked[number][: max(0, max_size) // BYTES_PER_CANDIDATE]

    def _best_first(self, max_size: int) -> list[PassagePlace]:
        places = [
            (number, rank)
            for number in self._shown
            for rank, passage in enumerate(self.candidates(number, max_size))
            if passage.score >= self._min_score
        ]
        return sorted(places, key=lambda at: (-self.passage(at).score, at[0]))

    def passage(self, at: PassagePlace) -> Passage:
        """Return the passage at a place."""
        return self.ranked[at[0]][at[1]]

    def text(self, at: PassagePlace) -> str:
        """Return the text of a passage."""
        passage = self.passage(at)
        return self.texts[at[0]][passage.start : passage.end]

    def gap_size(self, at: PassagePlace) -> int:
        """Return the largest size of the gap line before a passage."""
        return self.last_gap_sizes[at[0]] + self.measure(self.passage(at).label)

    def blocks(self, at: PassagePlace) -> Sequence[CodeBlock]:
        """Return the code blocks of which a passage has a part."""
        passage = self.passage(at)
        return blocks_in(self.code[at[0]], passage.start, passage.end)

    def fences_size(self, at: PassagePlace, block: CodeBlock) -> int:
        """Return the largest size of a code block's fences with their gap lines."""
        text = self.texts[at[0]]
        return sum(self.last_gap_sizes[at[0]] + self.measure(text[start:end]) for start, end in fences_of(block))

    def size(self, at: PassagePlace) -> int:
        """Return the size of a passage's text."""
        if at not in self._sizes:
            self._sizes[at] = self.measure(self.text(at))
        return self._sizes[at]

    def shingles(self, at: PassagePlace) -> frozenset[str]:
        """Return the shingles of a passage."""
        if at not in self._shingles:
            self._shingles[at] = frozenset(shingles(self.text(at)))
        return self._shingles[at]

    def template(self, at: PassagePlace) -> frozenset[str]:
        """Return the shingles of a passage with 0 for each number; nothing if the passage is data or code."""
        if at not in self._templates:
            text = self.text(at)
            is_data = sum(map(str.isdigit, text)) > TEMPLATE_DIGITS * len(text)
            own = () if is_data or self.blocks(at) else self.shingles(at)
            self._templates[at] = frozenset(_DIGITS.sub("0", shingle) for shingle in own)
        return self._templates[at]


class _Packing:
    """The state while passages are packed into one size limit."""

    def __init__(self, packer: Packer, max_size: int, header_sizes: Sequence[int]) -> None:
        self._packer = packer
        self._header_sizes = header_sizes
        self.left = max_size
        self._text_by_shingle: dict[str, int] = {}
        self._known_templates: dict[int, set[str]] = {}
        self._done: set[PassagePlace] = set()
        self.unpacked: PassagePlace | None = None
        """The best passage that is not packed as a whole."""
        self.packed = [_PackedText() for _ in header_sizes]

    def add_best(self, number: int) -> None:
        """Add a text's best passage that is not a repetition, if it is nearly as good as its best passage."""
        best = self._packer.passage((number, 0))
        for rank, passage in enumerate(self._packer.candidates(number, self.left)):
            if passage.score < GOOD_SHARE * best.score:
                return
            if not self._is_repetition((number, rank)):
                self._add((number, rank))
                return

    def add_all(self, places: Sequence[PassagePlace]) -> None:
        """Add passages while they fit."""
        for at in places:
            if self.left < MIN_PART_BYTES and self.unpacked:
                break
            if at not in self._done and not self._is_repetition(at):
                self._add(at)

    def _add(self, at: PassagePlace) -> None:
        """Add a passage, or its first sentences if it does not fit."""
        size, passage = self._full_size(at), self._packer.passage(at)
        if size > self.left:
            self.unpacked = self.unpacked or at
            if passage.score < self._packer.weak_score:
                return  # a part of it is worth nothing
            overhead = size - self._packer.size(at)
            end = self._truncated_end(at, self.left - overhead)
            if end == passage.start:
                return
            size = overhead + self._packer.measure(self._packer.text(at)[: end - passage.start])
            passage = replace(passage, end=end)
        packed = self.packed[at[0]]
        packed.passages.append(passage)
        packed.blocks.update(self._packer.blocks(at))
        packed.size += size
        self.left -= size
        self._done.add(at)
        for shingle in self._packer.shingles(at):
            self._text_by_shingle.setdefault(shingle, at[0])
        self._known_templates.setdefault(at[0], set()).update(self._packer.template(at))

    def _full_size(self, at: PassagePlace) -> int:
        """Return the size of a passage with its gap line and fences, and with the text's header if it is its first."""
        packed, passage = self.packed[at[0]], self._packer.passage(at)
        header = 0 if packed.passages else self._header_sizes[at[0]] + self._packer.last_gap_sizes[at[0]]
        is_adjacent = any(other.start <= passage.start <= other.end for other in packed.passages)
        blocks = [block for block in self._packer.blocks(at) if block not in packed.blocks]
        fences = sum(self._packer.fences_size(at, block) for block in blocks)
        return header + self._packer.size(at) + fences + (0 if is_adjacent else self._packer.gap_size(at))

    def _truncated_end(self, at: PassagePlace, max_size: int) -> int:
        """Return the end of the first sentences that fit; the passage's start if they are too short to show."""
        passage, text = self._packer.passage(at), self._packer.texts[at[0]]
        best = passage.start
        if max_size >= MIN_PART_BYTES:
            for end in sentence_ends(text, passage.start, passage.end):
                if self._packer.measure(text[passage.start : end]) > max_size:
                    break
                best = end
            while heading := _LAST_HEADING.search(text, passage.start, best):
                best = heading.start()
        if best - passage.start < MIN_PART_BYTES:  # half a line
            best = passage.start
        if best == passage.start and not any(packed.passages for packed in self.packed):
            best = min(passage.end, fit_forward(text, passage.start, max_size, self._packer.measure))
        return best

    def _is_repetition(self, at: PassagePlace) -> bool:
        """Return whether a passage mostly repeats packed ones, and record the text that it repeats most."""
        own, packed = self._packer.shingles(at), self.packed[at[0]]
        if not packed.passages and packed.repeats and self._packer.passage(at).score < self._packer.weak_score:
            return True  # what is left of a text whose best passages others show
        template, known = self._packer.template(at), self._known_templates.get(at[0])
        covered = max((each.coverage for each in packed.passages), default=0.0)
        is_no_better = self._packer.passage(at).coverage <= covered
        if template and known and is_no_better and len(template & known) >= REPEATED_SHARE * len(template):
            self._done.add(at)
            return True
        sources = Counter(self._text_by_shingle[shingle] for shingle in own if shingle in self._text_by_shingle)
        if not own or sources.total() < REPEATED_SHARE * len(own):
            return not own
        source = min(sources, key=lambda number: (-sources[number], number))
        if source != at[0]:
            packed.repeats.setdefault(source)
        self._done.add(at)
        return True


def _join_adjacent(passages: Sequence[Passage]) -> tuple[Passage, ...]:
    joined: list[Passage] = []
    for passage in sorted(passages, key=lambda passage: passage.start):
        if joined and joined[-1].end >= passage.start:
            last = joined[-1]
            score, coverage = max(last.score, passage.score), max(last.coverage, passage.coverage)
            joined[-1] = replace(last, end=max(last.end, passage.end), score=score, coverage=coverage)
        else:
            joined.append(passage)
    return tuple(joined)


def _with_fences(code: Sequence[CodeBlock], passages: Sequence[Passage]) -> tuple[Passage, ...]:
    """Return the passages, which are in order, with both fences of each code block of which they show a part.

    A line that opens a block has the label of the code below it.
    """
    fenced: list[Passage] = []
    for start, end in reversed(add_fences(code, [(passage.start, passage.end) for passage in passages])):
        inside = [passage for passage in passages if start <= passage.start and passage.end <= end]
        if inside:
            best = max(inside, key=lambda passage: passage.score)
            fenced.append(replace(best, start=start, end=end, label=inside[0].label))
        else:
            label = "" if any(block.closing == start for block in code) else fenced[-1].label if fenced else ""
            fenced.append(Passage(start, end, 0.0, label))
    return tuple(reversed(fenced))
