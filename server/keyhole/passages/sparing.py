"""Packing for a reader who was shown some of it before: that is left out and named, and its room goes to the rest."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from keyhole.measure import serialized_size
from keyhole.passages.again import LEAST_SAVED, Before, room_to_name
from keyhole.passages.pack import Span
from keyhole.passages.packing import Packed, Packing
from keyhole.records import Ranked

Stretches = tuple[tuple[Span, ...], ...]
"""Of each text, in reading order."""
NOTHING: Final[tuple[Span, ...]] = ()


class Sparing:
    """Some texts and their passages, of which `before` was shown."""

    def __init__(self, texts: Sequence[str], ranked: Ranked, before: Sequence[Before]) -> None:
        self._texts = texts
        self._whole = Packing(texts, ranked)
        self._again = tuple(
            tuple((each.start, each.end) for each in passages if known.covers(each.start, each.end))
            for passages, known in zip(ranked, before, strict=True)
        )
        rest = tuple(
            tuple(each for each in passages if not known.covers(each.start, each.end))
            for passages, known in zip(ranked, before, strict=True)
        )
        best = max((passages[0].score for passages in ranked if passages), default=0.0)
        self._rest = Packing(texts, rest, best) if any(self._again) else self._whole

    def pack(self, room: int, opening: Sequence[int]) -> tuple[Packed, Stretches]:
        """As much as the room holds, and what of it is left out because it was shown before."""
        packed = self._whole.pack(room, opening)
        nothing = (NOTHING,) * len(self._texts)
        if self._rest is self._whole:
            return packed, nothing
        left_out = tuple(
            _joined([span for passage in chosen for span in _within(passage.start, passage.end, again)])
            for chosen, again in zip(packed.chosen, self._again, strict=True)
        )
        stretches = [span for spans in left_out for span in spans]
        pieces = [text[start:end] for text, spans in zip(self._texts, left_out, strict=True) for start, end in spans]
        if sum(map(serialized_size, pieces)) < LEAST_SAVED + room_to_name(stretches):
            return packed, nothing
        return self._rest.pack(room - room_to_name(stretches), opening), left_out


def _within(start: int, end: int, spans: Sequence[Span]) -> list[Span]:
    """What of the spans lies in a stretch."""
    return [(max(start, first), min(end, last)) for first, last in spans if first < end and last > start]


def _joined(spans: Sequence[Span]) -> tuple[Span, ...]:
    joined: list[Span] = []
    for start, end in sorted(spans):
        if joined and joined[-1][1] >= start:
            joined[-1] = (joined[-1][0], max(end, joined[-1][1]))
        else:
            joined.append((start, end))
    return tuple(joined)
