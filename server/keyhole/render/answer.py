"""Records and errors as text for a model or a person. Nothing else words, and nothing here decides.

Everything above a boundary line is ours; everything between the boundaries is the page's and untrusted. The
boundary carries a mark that a page cannot know (see `mark`). No clocks and no random values: the same page
and arguments give the same bytes.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import re
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from keyhole.errors import KeyholeError
from keyhole.records import Answer, Artifact, EngineReport, Part, Quote, Selection, Window
from keyhole.render.header import header_facts
from keyhole.text.escape import plain_line
from keyhole.text.measure import clip

if TYPE_CHECKING:
    from keyhole.records import Fault

MAX_TITLE = 160
"""Bytes of a title shown: search engines show about 60 characters; this keeps any sensible one."""
MAX_URL = 300
"""Bytes of a URL shown; the full one is in `_meta` when it fits."""
MAX_MESSAGE = 300
"""Bytes of what happened, in an error: servers and names have a say in some."""
MAX_TERMS = 12
"""Terms named at most, of the found and of the absent."""
END = "[end]"
"""The last line of every result but an error: one that ends otherwise was cut on its way."""
WEAK = "Weak match: the page may not contain the answer."
WEAK_BRIEFLY = "Weak match."
UNRANKED = "The pages are too long to rank in time: read them by their ids, with a query."

UNSTORED = "store_unavailable"
"""The warning of a text that could not be kept anywhere: of it alone no recovery is offered."""

NOTICES = {
    "paywalled": "Only a preview: the page says that the rest is for subscribers.",
    "login_required": "The site led to a login: this is what it shows without one.",
    "not_found": "The page says that what was asked for is not there; this is what it shows instead.",
    "home_page": "The address led to the site's first page: what was asked for may be gone.",
}
"""A line for each notice that an artifact may have; one that is not here is a line of ours already."""

WARNINGS = {
    "store_unavailable": "nothing was stored, so what is left out cannot be read on.",
    "kept_in_memory": "the store on the disk fails; texts are kept in memory for an hour, at most 64.",
    "store_replaced": "the store was damaged and a new one was begun; pages read before must be fetched again.",
}
"""What each code of a store that is not well means for the caller. The codes are stable."""


def warned(code: str, *, brief: bool = False) -> str:
    """The line of a store that is not well, "" for one that is. `brief`: the code, which is what programs match on."""
    told = f": {WARNINGS.get(code, 'the store is not well.')}"
    return f"Warning {code}{'.' if brief and code != UNSTORED else told}" if code else ""


def mark(secret: bytes, id: str) -> str:
    """Eight characters that only this installation can make for this text."""
    digest = hmac.new(secret, b"boundary:" + id.encode("utf-8", "surrogatepass"), hashlib.sha256).digest()
    return base64.b32encode(digest[:5]).decode("ascii").lower()


def read_call(id: str, window: Window | None) -> str:
    """The exact call that reads on, or "" where nothing is left out."""
    return f'read_artifact(id="{id}", offset={window.start}, limit={window.end - window.start})' if window else ""


def page(
    artifact: Artifact,
    selection: Selection,
    *,
    mark: str,
    next_window: Window | None,
    asked: bool,
    warning: str,
    brief: bool,
    extras: Sequence[str] = (),
) -> Answer:
    """A fetched page, or the passages of a stored one. `brief`: for budgets that have no room for a title. `warning`:
    the code of what is wrong with the store, `UNSTORED` where the text is in none.

    What the text is not (whole, or the page itself, or an answer) is told within any budget.
    """
    call = read_call(artifact.id, next_window)
    stored = warning != UNSTORED
    kept = f'id="{artifact.id}"' if stored else ""
    told = warned(warning, brief=brief)
    status = _join(_shown(selection, asked), kept)
    terms = _terms(selection) if asked else ""
    head = [*_source_lines(artifact), *extras, status, *([terms] if terms else []), *notes(artifact, told)]
    head += [left_out] if (left_out := _left_out(artifact)) else []
    if brief:
        head = [_join(_shown_briefly(selection, asked), *_brief_notes(artifact), *extras, told)]
    return Answer(
        _framed(head, selection.text, mark, call, brief),
        {
            **_facts(artifact, warning),
            **header_facts(artifact),
            "total_chars": selection.total,
            "shown_chars": selection.shown,
            "strategy": selection.strategy,
            "weak": selection.weak,
            "spans": [[*span, score] for span, score in zip(selection.spans, selection.scores, strict=True)],
            **_next_fact(next_window),
        },
        shown=tuple((artifact.id, *span) for span in selection.spans),
    )


def reading(
    part: Part, window: Window, *, mark: str, next_window: Window | None, brief: bool, warning: str = ""
) -> Answer:
    """A range of a stored text, of which the part holds at least that."""
    artifact = part.artifact
    call = read_call(artifact.id, next_window)
    status = f"Characters {window.start}:{window.end} of {window.total}."
    if window.start == window.end:
        status = f"Nothing there: the text has {window.total} characters."
    elif next_window is None:
        status += " End of text."
    head = [*_source_lines(artifact), _join(status, f'id="{artifact.id}"'), *notes(artifact, warned(warning))]
    if brief:
        head = [_join(status, *_brief_notes(artifact), warned(warning, brief=True))]
    return Answer(
        _framed(head, artifact.text[window.start - part.start : window.end - part.start], mark, call, brief),
        {
            **_facts(artifact, warning),
            "total_chars": window.total,
            "shown_chars": window.end - window.start,
            "strategy": "window",
            "spans": [[window.start, window.end, 0.0]],
            **_next_fact(next_window),
        },
        shown=((artifact.id, window.start, window.end),),
    )


def quotation(
    artifact: Artifact,
    quote: Quote,
    window: Window,
    *,
    mark: str,
    next_window: Window | None,
    brief: bool,
    warning: str = "",
) -> Answer:
    """Where a quote stands, with what is around it."""
    how = "exactly" if quote.exact else "apart from spaces, case and punctuation"
    status = f"The quote stands {how} at {quote.start}:{quote.end}; shown are characters {window.start}:{window.end}."
    told = warned(warning, brief=brief)
    head = [*_source_lines(artifact), _join(status, f'id="{artifact.id}"'), *([told] if told else [])]
    if brief:
        head = [_join(status, told)]
    return Answer(
        _framed(head, artifact.text[window.start : window.end], mark, read_call(artifact.id, next_window), brief),
        {
            **_facts(artifact, warning),
            "total_chars": window.total,
            "shown_chars": window.end - window.start,
            "strategy": "quote",
            "spans": [[quote.start, quote.end, 1.0 if quote.exact else 0.0]],
            "exact": quote.exact,
            **_next_fact(next_window),
        },
        shown=((artifact.id, window.start, window.end),),
    )


def search_status(
    shown: int,
    total: int,
    reports: Sequence[EngineReport],
    late: int,
    scope: str,
    stored: int = 0,
    opinions: str = "",
    brief: bool = False,
    characters: int = 0,
) -> str:
    """How many sources there are, how many of them the store gave, how many `characters` of pages are shown, and what
    went wrong on the way, in one line.

    `brief`: without the reasons and remarks of engines, which could leave no room for the evidence.
    """
    where = "stored artifacts" if scope == "stored" else "the web"
    left_out = f", {total - shown} not shown: the budget is small" if shown < total else ""
    sources = f"{total} source{'s' if total != 1 else ''}"
    found = f"{stored} of {sources} from the store" if scope == "both" else f"{sources} from {where}"
    if brief:
        reports = [replace(report, fault=report.fault.partition(" (")[0], note="") for report in reports]
    length = f"{characters:,} characters shown." if characters and not brief else ""
    return _join(
        f"{found}{left_out}.", length, _engines(reports), f"{late} not read in time." if late else "", opinions
    )


def _engines(reports: Sequence[EngineReport]) -> str:
    """Which engines failed, what others left out, and which filters nobody applied."""
    failed = [f"{report.name}: {plain_line(report.fault, MAX_URL)}" for report in reports if report.fault]
    told = f"{len(reports) - len(failed)} of {len(reports)} engines; {'; '.join(failed)}." if failed else ""
    notes = [f"{report.name}: {plain_line(report.note, MAX_URL)}." for report in reports if report.note]
    unapplied: dict[str, list[str]] = {}
    for report in reports:
        for name in report.unapplied:
            unapplied.setdefault(name, []).append(report.name)
    newsless = ", ".join(unapplied.pop("news", []))
    together: dict[str, list[str]] = {}
    for name, engines in unapplied.items():
        together.setdefault(", ".join(engines), []).append(name)
    notes += [f"{', '.join(names)} not applied by {by}." for by, names in together.items()]
    notes += [f"No news by {newsless}: web pages instead."] if newsless else []
    return _join(told, *notes)


def second_opinion(faults: Sequence[Fault]) -> str:
    """What went wrong with a second opinion, and which order stands instead; nothing where all is well."""
    told = []
    for fault in faults:
        some = fault.missing < fault.asked
        where = f" for {fault.missing} of {fault.asked} passages" if some else ""
        told.append(f"{fault.scorer}: {fault.what}{where}; {fault.instead}{' for these' if some else ''}.")
    return _join(*told)


def failure(error: KeyholeError, warning: str = "") -> Answer:
    """A named failure: the code first, what happened, the next step, and whether a retry helps."""
    rule = error.rule
    url = error.facts.get("url")
    message = plain_line(error.message, MAX_MESSAGE).rstrip(".")
    stop = "" if message.endswith("?") else "."
    step = f'Fetch again: web_fetch(url="{clip(str(url), MAX_URL)}").' if url else rule.next_step
    retry = " The same call may succeed later." if rule.retry else ""
    text = _join(f"{error.code}: {message}{stop} {step}{retry}", warned(warning))
    facts = {"code": str(error.code), "retryable": rule.retry, **error.facts, **warning_fact(warning)}
    return Answer(text, facts, is_error=True)


def _shown(selection: Selection, asked: bool) -> str:
    amount = f"{selection.shown:,} of {selection.total:,} characters"
    if selection.strategy == "whole":
        return f"Whole text, {selection.total:,} characters."
    if selection.strategy == "passages":
        count = len(selection.spans)
        noun = "passage" if count == 1 else "passages"
        return f"{count or 'No other'} {noun} for the query, {amount}; […start:end] is left out."
    if asked:
        return f"Nothing matches the query; head and tail instead, {amount}."
    return f"Head and tail, {amount}; query= would select the passages that answer it."


def _shown_briefly(selection: Selection, asked: bool) -> str:
    amount = f"{selection.shown} of {selection.total} characters."
    if selection.strategy in ("whole", "passages"):
        return _join(amount, WEAK_BRIEFLY if asked and selection.weak else "")
    return _join("Nothing matches the query." if asked else "", amount)


def _terms(selection: Selection) -> str:
    """Each word of the query with its count in the whole text, and whether that is enough to trust."""
    counts = [f"{clip(term.term, 40)} {term.count}" for term in selection.terms if term.count][:MAX_TERMS]
    absent = [clip(term.term, 40) for term in selection.terms if not term.count][:MAX_TERMS]
    return _join(
        f"In the whole text: {', '.join(counts)}." if counts else "",
        f"Not in the text: {', '.join(absent)}." if absent else "",
        WEAK if selection.weak else "",
    )


def _source_lines(artifact: Artifact) -> list[str]:
    # Named, so that no title stands at the beginning of a line, where it could pass for one of ours.
    title = title_line(artifact.title)
    return [*([f"Title: {title}"] if title else []), clip(artifact.url, MAX_URL)]


def title_line(title: str) -> str:
    """A page's title as one line that forms no Markdown of its own."""
    return plain_line(title, MAX_TITLE)


def _left_out(artifact: Artifact) -> str:
    """What the page has and no reader of it sees, counted."""
    kinds = (("hidden", "hidden part"), ("invisible", "invisible character"))
    counts = [(int(count), noun) for name, noun in kinds if (count := artifact.note(name))]
    told = ", ".join(f"{count:,} {noun}{'s' if count > 1 else ''}" for count, noun in counts)
    return f"Left out: {told}." if told else ""


def notes(artifact: Artifact, warning: str) -> list[str]:
    """What the text is not: whole, or the page itself."""
    cut = "Partial: the rest of the page was never received or could not be read." if artifact.cut else ""
    return [note for note in (cut, NOTICES.get(artifact.notice, artifact.notice), warning) if note]


def _brief_notes(artifact: Artifact) -> list[str]:
    """Each note up to its first colon or semicolon."""
    return [re.split("[:;]", note)[0].rstrip(".") + "." for note in notes(artifact, "")]


def _framed(head: Sequence[str], body: str, sign: str, call: str, brief: bool) -> str:
    """All lines in order. No client cuts a brief result, so its next call stands once, at its end."""
    following = [f"Next: {call}"] if call else []
    return "\n".join([*head, *([] if brief else following), boundary(body, sign), *following, END])


def boundary(body: str, sign: str) -> str:
    """A page's text between two lines that it cannot forge."""
    return f"--- untrusted text {sign} ---\n{body}\n--- end {sign} ---"


def warning_fact(warning: str) -> dict[str, object]:
    """The code of a store that is not well, for programs."""
    return {"warning": warning} if warning else {}


def _facts(artifact: Artifact, warning: str) -> dict[str, object]:
    return {
        "artifact_id": None if warning == UNSTORED else artifact.id,
        **warning_fact(warning),
        "url": artifact.url,
        "media_type": artifact.media_type,
        **({"notice": artifact.notice} if artifact.notice else {}),
    }


def _next_fact(window: Window | None) -> dict[str, object]:
    return {"next": {"offset": window.start, "limit": window.end - window.start} if window else None}


def _join(*sentences: str) -> str:
    return " ".join(sentence for sentence in sentences if sentence)
