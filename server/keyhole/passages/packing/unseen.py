"""Pack passages for a reader who was shown some of them before."""

from __future__ import annotations

from collections.abc import Sequence

from keyhole.passages.gaps import Span, merge_spans
from keyhole.passages.packing.many_texts import PackedPassages, Packer
from keyhole.passages.repeats import MIN_SAVED_BYTES, ShownSpans, repeats_line_size
from keyhole.records import Passage, Ranked
from keyhole.text.measure import Measure


class UnseenPacker:
    """Packs all passages, and separately only those that the reader has not seen."""

    def __init__(
        self, texts: Sequence[str], ranked: Ranked, shown_before: Sequence[ShownSpans], measure: Measure
    ) -> None:
        self._texts = texts
        self._measure = measure
        self.all_passages = Packer(texts, ranked, measure)
        seen, unseen = [], []
        for passages, shown in zip(ranked, shown_before, strict=True):
            seen.append(tuple(each for each in passages if shown.covers(each.start, each.end)))
            unseen.append(tuple(each for each in passages if not shown.covers(each.start, each.end)))
        self._seen = tuple(seen)
        # A text keeps the score of its best passage even if that was shown before, so its other passages are shown.
        scores = [passages[0].score if passages else 0.0 for passages in ranked]
        self.unseen_passages = Packer(texts, tuple(unseen), measure, scores) if any(seen) else self.all_passages

    def find_repeated(self, packed: PackedPassages) -> tuple[tuple[Span, ...], ...]:
        """Return the packed spans of each text that were shown before; no spans if omitting them saves too little."""
        repeated = tuple(
            tuple(merge_spans(span for passage in passages for span in _intersect(passage, seen)))
            for passages, seen in zip(packed.passages, self._seen, strict=True)
        )
        saved = sum(
            self._measure(text[start:end])
            for text, spans in zip(self._texts, repeated, strict=True)
            for start, end in spans
        )
        spans = [span for text_spans in repeated for span in text_spans]
        return repeated if saved >= MIN_SAVED_BYTES + repeats_line_size(spans) else ((),) * len(self._texts)


def _intersect(passage: Passage, others: Sequence[Passage]) -> list[Span]:
    """Return the parts of a passage, which may be several joined passages, that the others cover."""
    return [
        (max(passage.start, other.start), min(passage.end, other.end))
        for other in others
        if other.start < passage.end and other.end > passage.start
    ]
