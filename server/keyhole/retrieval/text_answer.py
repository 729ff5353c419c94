"""Return the answer for one text within the budget of a call: its passages for a query, a range, or a quote."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from keyhole.records import Answer, Artifact, ArtifactPart
from keyhole.render.answer import (
    NAMED_PART,
    NO_NAMED_PART,
    Form,
    Style,
    each_form,
    join_sentences,
    page_answer,
    quote_answer,
    window_answer,
)
from keyhole.render.fit import fit
from keyhole.render.quotes import locate_quote
from keyhole.retrieval.call import Call
from keyhole.retrieval.instrumentation import add_amount, stage
from keyhole.retrieval.next_call import arguments_after, arguments_after_window, reading_end
from keyhole.retrieval.session import repeats_of
from keyhole.text.page_structure import PAGES, parse_page_starts
from keyhole.text.sections import SECTION, find_section, is_name

QUOTE_CONTEXT: Final = 300
"""Characters shown before and after a found quote."""


@dataclass(frozen=True, slots=True)
class Asked:
    """The question of a call about a text, and the preferences of the reranker."""

    query: str | None
    """None for the head and tail of the text."""
    skip: int = 0
    """Passages of an earlier result of the same query that are left out."""
    preferred: tuple[int, ...] = ()
    """The numbers of the windows that the reranker puts first."""
    note: str = ""
    """The note on the reranker's faults."""
    fragment: str = ""
    """What the requested address has after `#`, which may name a part of the page."""


def answer_passages(
    call: Call, artifact: Artifact, asked: Asked, secret: bytes, warning: str, *, is_stored: bool
) -> Answer:
    """Return the passages of a text for the query, or its head and tail without one."""
    from keyhole.passages import select
    from keyhole.retrieval.stored_output import add_important_lines, reader_of, select_json

    budget, query = call.budget, asked.query
    read = reader_of(artifact, query, budget.english_chars)
    shown = call.shown(artifact.id) if is_stored else ()
    before = [(each.start, each.end) for each in shown if not each.is_same]
    # The same call with a larger budget asks for the passages that the first one left out.
    skipped = [(each.start, each.end) for each in shown if each.is_same]
    pages = parse_page_starts(artifact.note(PAGES))
    place, place_note = _named_place(artifact, asked)

    def render(form: Form, space: int) -> Answer:
        with stage("rank"):
            selection = select_json(artifact, query or "", space, budget.measure) or select(
                artifact.text, query, space,
                main_end=artifact.main_end, pages=pages, measure=budget.measure, preferred=asked.preferred,
                shown_before=before, answered_before=skipped, skip=asked.skip, place=place,
            )  # fmt: skip
            if read and query and not asked.skip:
                selection = add_important_lines(selection, read, query, space, budget.measure)
        with stage("render"):
            return page_answer(
                artifact,
                selection,
                Style(secret, form, warning),
                following=arguments_after(call, artifact, selection, query or "") if is_stored else None,
                has_query=bool(query),
                note=join_sentences(place_note, asked.note),
                repeats=repeats_of(selection.repeated, shown),
            )

    return count_saved(fit(budget, *each_form(render)), artifact)


def _named_place(artifact: Artifact, asked: Asked) -> tuple[int, str]:
    """Return the offset of the part that the requested address names, -1 for none, and a note on it."""
    if asked.skip or not is_name(asked.fragment):
        return -1, ""
    from keyhole.passages import index_text

    pages = parse_page_starts(artifact.note(PAGES))
    with stage("rank"):
        headings = index_text(artifact.text, artifact.main_end, pages).layout.headings
        lines = [(heading.start, heading.end) for heading in headings]
        place = find_section(artifact.text, asked.fragment, artifact.note(SECTION), lines, pages)
    return place, NAMED_PART.format(place) if place >= 0 else NO_NAMED_PART


def answer_window(
    call: Call, part: ArtifactPart, offset: int, limit: int | None, secret: bytes, warning: str
) -> Answer:
    """Return a range of a stored text. `part`: what may be shown of it, and the window of the next call."""
    from keyhole.passages.reading import read_window

    budget, most = call.budget, call.budget.window_size
    base, total = part.start, reading_end(part.artifact, offset, part.total)
    text = part.artifact.text[: total - base]

    def render(form: Form, space: int) -> Answer:
        window = read_window(text, offset, limit, min(space, most), budget.measure, base=base, total=total)
        following = arguments_after_window(call, part.artifact, window, base)
        return window_answer(part, window, Style(secret, form, warning), following=following)

    return fit(budget, *each_form(render), wanted=most)


def answer_quote(call: Call, artifact: Artifact, text: str, secret: bytes, warning: str) -> Answer:
    """Return a quote, or else the passage nearest to it, and the text around it.

    Raises KeyholeError: quote_not_found if no passage is near.
    """
    from keyhole.passages.reading import quote_window

    budget = call.budget
    with stage("rank"):
        span, details, status = locate_quote(artifact, text)

    def render(form: Form, space: int) -> Answer:
        window = quote_window(artifact.text, span, QUOTE_CONTEXT, max(1, space), budget.measure)
        following = arguments_after_window(call, artifact, window)
        style = Style(secret, form, warning)
        return quote_answer(
            artifact, window, style,
            status=status(window, brief=style.brief), details=details, following=following,
        )  # fmt: skip

    return fit(budget, *each_form(render))


def count_saved(answer: Answer, *artifacts: Artifact) -> Answer:
    """Add to the metric how many characters of the texts the answer leaves out, and return the answer."""
    add_amount("characters_saved", max(0, sum(len(artifact.main) for artifact in artifacts) - len(answer.text)))
    return answer
