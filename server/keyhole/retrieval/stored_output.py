"""Answer a query from a stored output.

Where its words hardly match, the lines that every reader looks for are shown too. Of an output that is too large for
memory, an excerpt is read.
"""

from __future__ import annotations

import time
from dataclasses import replace
from functools import cache, partial
from typing import TYPE_CHECKING, Final

from keyhole.errors import Code, KeyholeError
from keyhole.passages.excerpt import Excerpt, ExcerptChooser, make_excerpt, query_needles
from keyhole.passages.gaps import next_gap
from keyhole.render.answer import Form, Style, each_form, page_answer
from keyhole.render.fit import fit
from keyhole.retrieval.next_call import range_arguments
from keyhole.text.output_facts import LARGE_CHARS, OutputFacts, is_output, output_kind

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from keyhole.outputs.output import Output
    from keyhole.records import Answer, Artifact, ArtifactPart, Selection, Window
    from keyhole.retrieval.call import Call
    from keyhole.store.base import Store
    from keyhole.text.measure import Measure

READ_CHARS: Final = 1_000_000
"""Characters that are read at a time: 20 ms from the SQLite store."""
IMPORTANT_CHARS: Final = 2_500
"""Characters shown of an output that the words of a query hardly match. With 1,500, one of five such questions about
outputs of conversations that the important lines answer is lost (`python -m benchmarks.compaction`)."""
LEFT_SHARE: Final = 0.4
"""Share of the time of a call that is left when examining the text ends: ranking the excerpt takes a second of it."""


def large_part(store: Store, id: str) -> ArtifactPart | None:
    """Return a stored output that is too large to be ranked as a whole, without its text; None for any other text."""
    part = store.part(id, 0, 0)
    return part if part.total > LARGE_CHARS and is_output(part.artifact.url) else None


def large_answer(store: Store, secret: bytes, call: Call, part: ArtifactPart, query: str) -> Answer:
    """Return the answer with the passages of a large output for a query."""
    from keyhole.outputs.excerpt import read_excerpt

    excerpt, examined = choose_excerpt(store, part, query, call.deadline - call.seconds * LEFT_SHARE)
    note = "" if examined == part.total else f"Only the first {examined:,} characters were searched in time."
    warning = store.warning()
    output = read_excerpt(excerpt, query, OutputFacts(kind=output_kind(part.artifact.url)))

    def render(form: Form, space: int) -> Answer:
        selection = select_lines(output, query, space, call.budget.measure)
        gap = next_gap(selection.total, selection.spans, selection.scores)
        following = range_arguments(call, _next_window(store, call, part, gap)) if gap else None
        style = Style(secret, form, warning)
        return page_answer(part.artifact, selection, style, following=following, has_query=True, note=note)

    return fit(call.budget, *each_form(render))


def find_large(store: Store, call: Call, part: ArtifactPart, quote: str, context: int) -> tuple[int, int]:
    """Return the offset and the length of the range of a large output with a quote and the characters around it.

    A quote that differs from the text, in white space for example, is only found in the stretches with its rare words.

    Raises KeyholeError (quote_not_found).
    """
    chooser, before, examined = ExcerptChooser(query_needles(quote)), "", 0
    for position, piece in _pieces(store, part, call.deadline - call.seconds * LEFT_SHARE):
        if (found := (before + piece).find(quote)) >= 0:
            start = position - len(before) + found
            return _around(start, start + len(quote), context)
        before, examined = piece[-len(quote) :], position + len(piece)
        chooser.add(piece)
    excerpt = make_excerpt(chooser.choose(), part.total, partial(_read, store, part.artifact.id))
    if place := find_in_excerpt(excerpt, quote):
        return _around(*place, context)
    where = "the text contains" if examined == part.total else f"the first {examined:,} characters contain"
    raise KeyholeError(Code.QUOTE_NOT_FOUND, f"{where} neither this quote nor most of its words")


def _around(start: int, end: int, context: int) -> tuple[int, int]:
    """Return the offset and the length of a range with `context` characters on each side."""
    first = max(0, start - context)
    return first, end + context - first


def choose_excerpt(store: Store, part: ArtifactPart, words: str, until: float) -> tuple[Excerpt, int]:
    """Return the excerpt of a stored output for some words, and the number of characters that were examined.

    `until`: the time by time.monotonic() at which examining ends.
    """
    chooser, examined = ExcerptChooser(query_needles(words)), 0
    for position, piece in _pieces(store, part, until):
        chooser.add(piece)
        examined = position + len(piece)
    return make_excerpt(chooser.choose(), part.total, partial(_read, store, part.artifact.id)), examined


def _pieces(store: Store, part: ArtifactPart, until: float) -> Iterator[tuple[int, str]]:
    """Yield the pieces of a stored output with their offsets: the first one, and others until a time."""
    for position in range(0, part.total, READ_CHARS):
        if position and time.monotonic() >= until:
            return
        yield position, _read(store, part.artifact.id, position, position + READ_CHARS)


def _read(store: Store, id: str, start: int, end: int) -> str:
    return store.part(id, start, end).artifact.text


def reader_of(artifact: Artifact, query: str | None, budget: int) -> Callable[[], Output] | None:
    """Return a function that reads an output once, for a query and `budget` characters; None for a page."""
    if not is_output(artifact.url):
        return None
    from keyhole.outputs.bound import read_stored  # imported late: a page needs no reader of outputs

    return cache(partial(read_stored, artifact.text, query, budget, OutputFacts(kind=output_kind(artifact.url))))


def select_json(artifact: Artifact, query: str, max_chars: int, measure: Measure) -> Selection | None:
    """Return the values of a stored output at a path such as `$.items[*].name`, None for another query or output."""
    if not query.lstrip().startswith("$") or output_kind(artifact.url) != "json":
        return None
    from keyhole.outputs.json_path import parse_path, select_path

    path = parse_path(query)
    return select_path(artifact.text, path, max_chars, measure) if path else None


def add_important_lines(
    selection: Selection, read: Callable[[], Output], query: str, max_chars: int, measure: Measure
) -> Selection:
    """Return the passages of an output for a query, with its important lines if the words of the query hardly match.

    For example, "which test failed" is answered although no line has the word "test". `read`: reads the output.
    """
    if selection.strategy == "whole" or (selection.matched and not selection.weak):
        return selection
    chosen = select_lines(read(), query, min(max_chars, IMPORTANT_CHARS), measure)
    return replace(chosen, terms=selection.terms, weak=True)


def select_lines(output: Output, query: str, max_chars: int, measure: Measure) -> Selection:
    """Select the lines of an output that answer a query, and those that every reader looks for.

    The offsets of an excerpt's lines are those of the whole text.
    """
    from keyhole.outputs.select import select_output
    from keyhole.records import Selection

    shown = select_output(output, query, max_chars, measure=measure)
    scores = (0.0,) * len(shown.spans)
    return Selection(
        "passages", shown.total, shown.spans, scores, shown.text, matched=shown.matched, weak=not shown.matched
    )


def _next_window(store: Store, call: Call, part: ArtifactPart, gap: tuple[int, int]) -> Window:
    """Return the window of an omitted range that the next call will show."""
    start, end = gap
    text = _read(store, part.artifact.id, start, min(end, start + call.next_budget.window_size))
    return call.next_window(text, start, end, base=start, total=part.total)


def find_in_excerpt(excerpt: Excerpt, quote: str) -> tuple[int, int] | None:
    """Return the offsets of a quote in the whole text, None if the excerpt does not contain it."""
    from keyhole.passages.quotes import find_quote

    offset = 0
    for start, end in excerpt.spans:
        if found := find_quote(excerpt.text[offset : offset + end - start], quote):
            return start + found.start, start + found.end
        offset += end - start
    return None
