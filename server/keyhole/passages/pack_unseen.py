"""Packing for a reader who was shown some of it before: that is left out and named, and its room goes to the rest."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from keyhole.passages.pack import Span
from keyhole.passages.pack_many import Packed, Packing
from keyhole.passages.repeats import LEAST_SAVED, Before, room_to_name
from keyhole.records import Passage, Ranked
from keyhole.text.measure import Measure, serialized_size

Stretches = tuple[tuple[Span, ...], ...]
"""Of each text, in reading order."""
NOTHING: Final[tuple[Span, ...]] = ()


class Sparing:
    """Some texts and their passages, of which `before` was shown: packed for anybody, and for this reader."""

    def __init__(
        self, texts: Sequence[str], ranked: Ranked, before: Sequence[Before], measure: Measure = serialized_size
    ) -> None:
        self._texts = texts
        self._measure = measure
        self.whole = Packing(texts, ranked, measure)
        pairs = list(zip(ranked, before, strict=True))
        self._again = tuple(tuple(each for each in passages if _known(each, known)) for passages, known in pairs)
        rest = tuple(tuple(each for each in passages if not _known(each, known)) for passages, known in pairs)
        best = max((passages[0].score for passages in ranked if passages), default=0.0)
        self.rest = Packing(texts, rest, measure, best) if any(self._again) else self.whole

    def left_out(self, packed: Packed) -> Stretches:
        """What of a packing for anybody was shown before; nothing where leaving it out saves little."""
        stretches = tuple(
            _joined([span for passage in chosen for span in _within(passage, again)])
            for chosen, again in zip(packed.chosen, self._again, strict=True)
        )
        saved = sum(
            self._measure(text[start:end])
            for text, spans in zip(self._texts, stretches, strict=True)
            for start, end in spans
        )
        spans = [span for some in stretches for span in some]
        return stretches if saved >= LEAST_SAVED + room_to_name(spans) else (NOTHING,) * len(self._texts)


def _known(passage: Passage, before: Before) -> bool:
    return before.covers(passage.start, passage.end)


def _within(chosen: Passage, again: Sequence[Passage]) -> list[Span]:
    """What of a chosen passage, which may be several joined, stands in these."""
    return [
        (max(chosen.start, each.start), min(chosen.end, each.end))
        for each in again
        if each.start < chosen.end and each.end > chosen.start
    ]


def _joined(spans: Sequence[Span]) -> tuple[Span, ...]:
    joined: list[Span] = []
    for start, end in sorted(spans):
        if joined and joined[-1][1] >= start:
            joined[-1] = (joined[-1][0], max(end, joined[-1][1]))
        else:
            joined.append((start, end))
    return tuple(joined)
