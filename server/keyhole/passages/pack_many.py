"""Passages of several texts under one room: which are shown, breadth first, each text of words once. Words nothing.

Every good text gets its best passage before any gets its second; then the best go first, whosever they are. A passage
that is mostly shown already is left out, and it is told whose it repeats.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from keyhole.passages.near_duplicates import runs
from keyhole.passages.pack import gap_line
from keyhole.passages.split import sentence_ends
from keyhole.records import Passage, Ranked
from keyhole.text.measure import Measure, fit_forward, serialized_size

SHARE_CAP: Final = 2
"""No text takes more than twice its even share while others still have something to show."""
GOOD_SHARE: Final = 0.6
"""A text whose best passage has less than this share of the best score of all is shown last, if room is left."""
FLOOR: Final = 0.05
"""A passage with less than this share of the best score of all is not shown, however much room there is."""
REPEATED: Final = 0.8
"""A passage is shown already when this share of its runs of words is: an edited word breaks four runs of fifty."""
LOOKED_AT: Final = 40
"""Bytes of room for each passage of a text that is looked at: passages take 60 or more (see across.py), and some repeat
others. Of a page of megabytes thousands hold a word of the question, and each look costs as much as a taken one."""
SMALLEST: Final = 80
"""Bytes. Less room than this is not filled with the beginning of a passage: half a sentence answers nothing."""


@dataclass(frozen=True, slots=True)
class Packed:
    """For each text its passages in reading order, those that touch joined, and the texts whose passages it repeats."""

    chosen: tuple[tuple[Passage, ...], ...]
    repeats: tuple[tuple[int, ...], ...]
    spent: int
    """Of the room."""


@dataclass(slots=True)
class _Taken:
    """What one text has got so far."""

    passages: list[Passage] = field(default_factory=list)
    spent: int = 0
    repeats: dict[int, None] = field(default_factory=dict)


class Packing:
    """The passages of some texts, prepared to be packed into one room after another."""

    def __init__(
        self, texts: Sequence[str], ranked: Ranked, measure: Measure = serialized_size, best: float | None = None
    ) -> None:
        """`best`: the score that others are measured by, where the best passages are not among these."""
        self.measure = measure
        self._texts = texts
        self._ranked = ranked
        self._runs: dict[tuple[int, int], frozenset[str]] = {}
        self._sizes: dict[tuple[int, int], int] = {}
        self._gaps = [measure("\n" + gap_line(len(text), len(text))) for text in texts]
        if best is None:
            best = max((passages[0].score for passages in ranked if passages), default=0.0)
        self._good = [bool(passages) and passages[0].score >= GOOD_SHARE * best for passages in ranked]
        self._least = FLOOR * best if best > 0 else float("-inf")
        # No ratio tells good from bad where a scorer gives negative scores: then all are good.
        self._good = self._good if best > 0 else [bool(passages) for passages in ranked]

    def pack(self, room: int, opening: Sequence[int] | None = None) -> Packed:
        """As much as the room holds. `opening`: what the words around each text cost, once it shows anything."""
        turn = _Turn(self, room, opening or [0] * len(self._texts))
        good = [number for number, is_good in enumerate(self._good) if is_good]
        for number in good:
            turn.take_first(number)
        waiting = turn.take_all(self._by_score(good, room), SHARE_CAP * room // max(1, len(good)))
        turn.take_all(iter(waiting), room)
        poor = [number for number, passages in enumerate(self._ranked) if passages and not self._good[number]]
        turn.take_all(self._by_score(poor, room), room)
        chosen = tuple(_joined(taken.passages) for taken in turn.taken)
        return Packed(chosen, tuple(tuple(taken.repeats) for taken in turn.taken), room - turn.left)

    def _by_score(self, numbers: Sequence[int], room: int) -> Iterator[tuple[int, int]]:
        places = [
            (number, place)
            for number in numbers
            for place, passage in enumerate(self._ranked[number][: max(0, room) // LOOKED_AT])
            if passage.score >= self._least
        ]
        return iter(sorted(places, key=lambda at: (-self.passage(at).score, at[0])))

    def passage(self, at: tuple[int, int]) -> Passage:
        """The passage at a place: the number of its text, and its rank there."""
        return self._ranked[at[0]][at[1]]

    def text(self, at: tuple[int, int]) -> str:
        """Its words."""
        passage = self.passage(at)
        return self._texts[at[0]][passage.start : passage.end]

    def gap(self, at: tuple[int, int]) -> int:
        """The most that the gap line before it costs."""
        return self._gaps[at[0]] + self.measure(self.passage(at).label)

    def last_gap(self, number: int) -> int:
        """The most that the gap line after the last passage costs."""
        return self._gaps[number]

    def size(self, at: tuple[int, int]) -> int:
        """What its words cost."""
        if at not in self._sizes:
            self._sizes[at] = self.measure(self.text(at))
        return self._sizes[at]

    def runs(self, at: tuple[int, int]) -> frozenset[str]:
        """Its runs of words."""
        if at not in self._runs:
            self._runs[at] = frozenset(runs(self.text(at)))
        return self._runs[at]


class _Turn:
    """One packing under way."""

    def __init__(self, packing: Packing, room: int, opening: Sequence[int]) -> None:
        self._packing = packing
        self._opening = opening
        self.left = room
        self._seen: dict[str, int] = {}
        self._done: set[tuple[int, int]] = set()
        self.taken = [_Taken() for _ in opening]

    def take_first(self, number: int) -> None:
        """A good text's best passage that is not shown already, if it is good itself."""
        for place, passage in enumerate(self._packing._ranked[number][: max(0, self.left) // LOOKED_AT]):
            if passage.score < GOOD_SHARE * self._packing.passage((number, 0)).score:
                return
            if not self._is_repeated((number, place)):
                self._take((number, place), self.left)
                return

    def take_all(self, places: Iterator[tuple[int, int]], cap: int) -> list[tuple[int, int]]:
        """Passages one after the other while they fit; returns those that only their text's cap kept out."""
        waiting = []
        for at in places:
            if self.left < SMALLEST:
                break
            if at in self._done or self._is_repeated(at):
                continue
            if self.taken[at[0]].spent + self._cost(at) > cap:
                waiting.append(at)
                continue
            self._take(at, cap - self.taken[at[0]].spent)
        return waiting

    def _take(self, at: tuple[int, int], room: int) -> None:
        """The passage, or its first sentences where it does not fit."""
        room, cost, passage = min(room, self.left), self._cost(at), self._packing.passage(at)
        if cost > room:
            around = cost - self._packing.size(at)
            end = self._first_sentences(at, room - around)
            if end == passage.start:
                return
            cost = around + self._packing.measure(self._packing.text(at)[: end - passage.start])
            passage = replace(passage, end=end)
        taken = self.taken[at[0]]
        taken.passages.append(passage)
        taken.spent += cost
        self.left -= cost
        self._done.add(at)
        for run in self._packing.runs(at):
            self._seen.setdefault(run, at[0])

    def _cost(self, at: tuple[int, int]) -> int:
        taken, passage = self.taken[at[0]], self._packing.passage(at)
        first = 0 if taken.passages else self._opening[at[0]] + self._packing.last_gap(at[0])
        follows = any(other.end == passage.start for other in taken.passages)
        return first + self._packing.size(at) + (0 if follows else self._packing.gap(at))

    def _first_sentences(self, at: tuple[int, int], room: int) -> int:
        passage, text = self._packing.passage(at), self._packing._texts[at[0]]
        best = passage.start
        if room >= SMALLEST:
            for end in sentence_ends(text, passage.start, passage.end):
                if self._packing.measure(text[passage.start : end]) > room:
                    break
                best = end
        if best - passage.start < SMALLEST:  # a lone heading, half a line
            best = passage.start
        if best == passage.start and not any(taken.passages for taken in self.taken):
            best = min(passage.end, fit_forward(text, passage.start, room, self._packing.measure))
        return best

    def _is_repeated(self, at: tuple[int, int]) -> bool:
        own = self._packing.runs(at)
        whose = Counter(self._seen[run] for run in own if run in self._seen)
        if not own or whose.total() < REPEATED * len(own):
            return not own
        first = min(whose, key=lambda number: (-whose[number], number))
        if first != at[0]:
            self.taken[at[0]].repeats.setdefault(first)
        self._done.add(at)
        return True


def _joined(passages: Sequence[Passage]) -> tuple[Passage, ...]:
    joined: list[Passage] = []
    for passage in sorted(passages, key=lambda passage: passage.start):
        if joined and joined[-1].end == passage.start:
            last = joined[-1]
            joined[-1] = replace(
                last, end=passage.end, score=max(last.score, passage.score), held=max(last.held, passage.held)
            )
        else:
            joined.append(passage)
    return tuple(joined)
