"""Read the values of JSON at a path such as `$.items[*].name`, as many as fit. Pure."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Final

from keyhole.outputs.output import Output
from keyhole.outputs.output_text import OutputText
from keyhole.outputs.records import items_of, json_opening
from keyhole.passages.gaps import Span, gap_line, merge_spans
from keyhole.records import Selection
from keyhole.text.lazy_pattern import lazy_pattern
from keyhole.text.measure import Measure, fits
from keyhole.text.parse_json import parse_json

MAX_VALUES: Final = 2_000
"""Values at a path that are read: a result of the largest size shows some hundreds."""
ANY: Final = "*"

_STEP = lazy_pattern(r"\.([\w-]+|\*)|\[(\d+|\*)\]|\[\"([^\"\\]*)\"\]|\['([^'\\]*)'\]")


def parse_path(query: str) -> tuple[str, ...] | None:
    """Return the keys and numbers of a path such as `$.items[*].name`, None for a question in words."""
    query = query.strip()
    steps = list(_STEP.finditer(query, 1)) if query.startswith("$") else []
    if not steps or "".join(["$", *(step[0] for step in steps)]) != query:
        return None
    return tuple(next(filter(None, step.groups()), "") for step in steps)


def select_path(text: str, path: Sequence[str], max_chars: int, measure: Measure) -> Selection | None:
    """Return the values of JSON at a path, the first ones that fit; None if the text has none.

    A value of an object is shown with its key.
    """
    opening = json_opening(text)
    try:
        parse_json(text[opening:])
        found = list(islice(_find(text, opening, path), MAX_VALUES))
    except (ValueError, RecursionError):
        return None
    shown, gap = OutputText(Output(text, "json"), 0, max_chars), len(gap_line(len(text), len(text)))

    def is_too_long(count: int) -> bool:
        spans = merge_spans(found[:count], gap)
        is_long = sum(end - start for start, end in spans) > max_chars
        return is_long or not fits(shown.passages(spans), max_chars, measure)

    spans = merge_spans(found[: bisect_left(range(1, len(found) + 1), True, key=is_too_long)], gap)
    if not spans:
        return None
    scores = (0.0,) * len(spans)
    return Selection("passages", len(text), tuple(spans), scores, shown.passages(spans), matched=True)


def _find(text: str, opening: int, path: Sequence[str]) -> Iterator[Span]:
    """Yield the places of the values at a path below the array or object that opens at an offset."""
    if text[opening] not in "[{":
        return
    for item in items_of(text, opening):
        if path[0] not in (ANY, str(item.key)):
            continue
        if len(path) == 1:
            yield item.start, item.end
        else:
            yield from _find(text, item.value, path[1:])
