"""Render the answers that a model reads: pages, windows, quotes and errors. The sources of a search: sources.py.

The text between the boundary lines is the page's and untrusted; all other lines are Keyhole's, and quote what a page
wrote. The boundary lines contain a mark that a page cannot know (see `boundary_mark`). No clock and no random value is
used, so the same page and arguments give the same bytes.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Literal
from urllib.parse import urljoin

from keyhole.errors import Code, KeyholeError
from keyhole.records import (
    FOLLOWED,
    NEAR,
    REFRESH,
    SITE_FAULT,
    UNDIGESTED,
    Answer,
    Artifact,
    ArtifactPart,
    Fault,
    Repeat,
    Selection,
    Window,
)
from keyhole.render.boundary import END, NextArguments, enclose, read_call
from keyhole.render.header import changes_line, header_facts, source_line, title_and_url
from keyhole.render.repeats import repeats_line
from keyhole.render.rest import characters_of, end_lines, main_size
from keyhole.text.escape import has_gap_lines, plain_line
from keyhole.text.escape_url import escape_url
from keyhole.text.measure import clip, serialized_size
from keyhole.text.output_facts import is_output
from keyhole.text.refresh import read_refresh

MAX_MESSAGE = 300
"""Bytes of an error's message. Some messages contain text from servers, or host names."""
MAX_CALL_URL = 2_000
"""Bytes of a URL in a call that fetches it. The call must name the whole URL; longer URLs are data."""
MAX_TERMS = 8
"""Terms of the query listed as found, and as absent, at most."""
MAX_BRIEF_TERMS = 3
"""The same in a brief answer."""
WEAK = "Weak match: the page may not contain the answer."
WEAK_OUTPUT = "Weak match: failures and other important lines are shown too."
WEAK_BRIEFLY = "Weak match."
NEAR_STEP = "Addresses near it, the likeliest first:"
"""The next step for a dead address, before the lines of the addresses near it."""
SENDS_ON = "The page sends its reader on to:"
"""The line before the address to which a page sends its reader."""
NAMED_PART = "The part that the address names begins at {}."
NO_NAMED_PART = "The page has no part with the name that the address gives."
WAS_SENT = "The requested page only sends its reader here."
SITE_SAYS = "The site says:"
"""The words before the site's own reason for an error."""
OWN_GAP_LINES = "Nothing is left out: lines like […1:2] are the text's own."
"""The note on a range that is shown as it is stored, with lines that look like gap lines."""

UNSTORED = "store_unavailable"
"""The warning code for a text that could not be stored. Its result has no id and no call that reads on."""

_FIRST_LINK = re.compile(r"\]\(([^()\s]++)\)")

NOTICES = {
    "paywalled": "Only a preview: the page says that the rest is for subscribers.",
    "login_required": "The site led to a login: this is what it shows without one.",
    "not_found": "The page says that the requested content does not exist; this is what it shows instead.",
    "hidden_page": "The page hides this text until its scripts run; it is shown as it was sent.",
    "garbled_text": "Many characters have the wrong codes in the PDF file: this text cannot be trusted.",
    "glued_text": "The PDF file lacks the spaces between many words: a search for a word may not find it.",
    "only_embeds": "The page shows another document, which is not read here: fetch the address of the first link.",
    "home_page": "The address led to the site's first page: the requested page may be gone.",
    UNDIGESTED: f"Warning {Code.EXTRACTION_FAILED}: the page could not be read; this is the undigested text.",
}
"""The line for each notice of an artifact. A notice that is not a key of this table is itself a line."""

WARNINGS = {
    "store_unavailable": "nothing was stored, so text that is left out cannot be read.",
    "kept_in_memory": "the store on disk fails; up to 64 MB of texts are kept in memory, for an hour.",
    "store_replaced": "the store was damaged and replaced by a new one; pages read before must be fetched again.",
}
"""The meaning for the caller of each warning code of the store. The codes are stable."""


Form = Literal["full", "plain", "brief"]
"""How much an answer says around its text. "plain": no author, site, date or changes. "brief", for small budgets: no
title, address or advice. Caveats are shown always."""


@dataclass(frozen=True, slots=True)
class Style:
    """The style of an answer: the secret of its boundary, its form, and the warning that it shows."""

    secret: bytes
    form: Form = "full"
    warning: str = ""
    """The store's warning code, or `UNSTORED` if the text is not stored."""

    @property
    def brief(self) -> bool:
        """Return True for the shortest form."""
        return self.form == "brief"


def each_form(render: Callable[[Form, int], Answer]) -> list[Callable[[int], Answer]]:
    """Return the functions that render an answer in each form, the longest first."""
    forms: tuple[Form, ...] = ("full", "plain", "brief")
    return [partial(render, form) for form in forms]


def warning_line(code: str, *, brief: bool = False) -> str:
    """Return the line for a warning code, or "" for no warning. `brief`: only its first part."""
    meaning = WARNINGS.get(code, "the store has a problem.")
    return f"Warning {code}: {re.split('[,;.]', meaning)[0] + '.' if brief else meaning}" if code else ""


def page_answer(
    artifact: Artifact,
    selection: Selection,
    style: Style,
    *,
    following: NextArguments | None,
    has_query: bool,
    note: str = "",
    repeats: Sequence[Repeat] = (),
) -> Answer:
    """Return a page, or the passages of it that were selected.

    `note`: faults of the ranking. `repeats`: passages left out because an earlier call of the session showed them.
    """
    is_main = selection.total == artifact.main_end
    is_named = "skip" in (following or {})
    status = _status(selection, has_query=has_query, is_main=is_main, brief=style.brief, names_skip=not is_named)
    weak = WEAK_BRIEFLY if style.brief else WEAK_OUTPUT if is_output(artifact.url) else WEAK
    match = _match_sentences(selection, weak, brief=style.brief) if has_query else ""
    repeated = repeats_line(repeats, others=bool(selection.spans))
    has_end = not following and style.warning != UNSTORED and not style.brief
    changes = changes_line(artifact) if style.form == "full" else ""
    head = [source_line(artifact, style.form), changes]
    own = OWN_GAP_LINES if selection.strategy == "whole" and has_gap_lines(selection.text) else ""
    near = artifact.note(NEAR) if style.form == "full" else ""
    near = f"{NEAR_STEP}\n{enclose(near, style.secret)}" if near else ""
    sent = read_refresh(artifact.note(REFRESH)) if not style.brief else None
    on = f"{SENDS_ON}\n{enclose(escape_url(sent.target), style.secret)}" if sent else ""
    here = WAS_SENT if artifact.note(FOLLOWED) and not style.brief else ""
    fault = artifact.note(SITE_FAULT) if style.form == "full" else ""
    fault = f"Read as HTML: {fault}." if fault else ""
    lines = _head(
        artifact, style, head, join_sentences(status, match), [here, on, near, fault, note, repeated, own], following
    )
    after = end_lines(artifact, is_main=is_main) if has_end else ""
    return Answer(
        _frame(lines, selection.text, style, read_call(artifact.id, following), after),
        _facts(artifact, style, following),
        shown=tuple((artifact.id, *span) for span in selection.spans),
        details={
            **_details(artifact, len(artifact.text)),
            **header_facts(artifact),
            "shown_chars": selection.shown,
            "strategy": selection.strategy,
            "weak": selection.weak,
            "spans": [[*span, score] for span, score in zip(selection.spans, selection.scores, strict=True)],
        },
        lacks_text=bool(selection.total and not selection.spans and not repeats),
    )


def window_answer(part: ArtifactPart, window: Window, style: Style, *, following: NextArguments | None) -> Answer:
    """Return the answer that shows `window`, a range of a stored text. `part` contains at least this range."""
    artifact = part.artifact
    is_main = window.total < part.total
    status = f"Characters {window.start}:{window.end} of {'the main part, 0:' if is_main else ''}{window.total}."
    if window.start == window.end:
        status = f"Nothing there: the text has {window.total} characters."
    elif following is None:
        status += f" End of {'the main part' if is_main else 'text'}."
    after = end_lines(artifact, is_main=is_main) if not (following or style.brief) else ""
    body = artifact.text[window.start - part.start : window.end - part.start]
    notes = [OWN_GAP_LINES] if has_gap_lines(body) else []
    lines = _head(artifact, style, [title_and_url(artifact, style.form)], status, notes, following)
    return Answer(
        _frame(lines, body, style, read_call(artifact.id, following), after),
        _facts(artifact, style, following),
        shown=((artifact.id, window.start, window.end),),
        details={
            **_details(artifact, part.total),
            "shown_chars": window.end - window.start,
            "strategy": "window",
            "spans": [[window.start, window.end, 0.0]],
        },
        lacks_text=window.start == window.end < window.total,
    )


def quote_answer(
    artifact: Artifact,
    window: Window,
    style: Style,
    *,
    status: str,
    details: Mapping[str, object],
    following: NextArguments | None,
) -> Answer:
    """Return the answer that shows a quote and the text around it. `status`, `details`: its places (quotes.py)."""
    body = artifact.text[window.start : window.end]
    notes = [OWN_GAP_LINES] if has_gap_lines(body) else []
    lines = _head(artifact, style, [title_and_url(artifact, style.form)], status, notes, following)
    return Answer(
        _frame(lines, body, style, read_call(artifact.id, following)),
        _facts(artifact, style, following),
        shown=((artifact.id, window.start, window.end),),
        details={
            **_details(artifact, len(artifact.text)),
            "shown_chars": window.end - window.start,
            "strategy": "quote",
            **details,
        },
        lacks_text=window.start == window.end,
    )


def error_answer(error: KeyholeError, warning: str = "", secret: bytes = b"") -> Answer:
    """Return the answer for an error: its code, its message, the next step, and whether a retry may succeed.

    The site's reason and the addresses near a dead one are a stranger's. They stand between boundary lines, for which
    `secret` is needed.
    """
    rule = error.rule
    url = escape_url(str(error.facts.get("url", "")))
    message = plain_line(error.message, MAX_MESSAGE).rstrip(".")
    stop = "" if message.endswith("?") else "."
    can_fetch = url and serialized_size(url) <= MAX_CALL_URL
    verb = "Call" if error.code is Code.INVALID_URL else "Fetch again:"
    fetch = "Run the command again." if is_output(url) else f'{verb} web_fetch(url="{url}").'
    refresh = read_refresh(str(error.facts.get("refresh", "")))
    step = NEAR_STEP if error.near else SENDS_ON if refresh else fetch if can_fetch else rule.next_step
    retry = " The same call may succeed later." if rule.retry and not refresh else ""
    reason = [SITE_SAYS, "\n", enclose(error.reason, secret), "\n"] if error.reason else []
    text = join_sentences(f"{error.code}: {message}{stop} {''.join(reason)}{step}{retry}", warning_line(warning))
    facts = {"code": str(error.code), "retryable": rule.retry, **error.facts, **warning_fact(warning)}
    near = [{"url": url, "why": why} for url, why in error.near]
    said = {"reason": error.reason} if error.reason else {}
    details: dict[str, object] = {**said, **({"near": near} if near else {})}
    named = near_lines(error.near) or ([escape_url(refresh.target)] if refresh else [])
    block = [enclose("\n".join(named), secret)] if named else []
    return Answer("\n".join([text, *block]), facts, is_error=True, details=details)


def near_lines(near: Iterable[tuple[str, str]]) -> list[str]:
    """Return a line for each address near a dead one."""
    return [f"- {escape_url(url)} ({why})" for url, why in near]


def rerank_note(faults: Sequence[Fault]) -> str:
    """Return a note on the scorers that failed and the order used instead, or "" if none failed."""
    return join_sentences(*(f"{fault.scorer}: {fault.reason}; {fault.instead}." for fault in faults))


def caveats(artifact: Artifact, *, brief: bool = False) -> list[str]:
    """Return the lines that warn of a truncated text and of a placeholder. `brief`: to the first colon or semicolon."""
    part = "output was not stored" if is_output(artifact.url) else "page was never received or could not be read"
    cut = f"Partial: the rest of the {part}." if artifact.cut else ""
    lines = [line for line in (cut, _notice_line(artifact)) if line]
    return [re.split("[:;]", line)[0].rstrip(".") + "." for line in lines] if brief else lines


def _notice_line(artifact: Artifact) -> str:
    """Return the line for an artifact's notice. It names the address of a document that is the page's only content."""
    line = NOTICES.get(artifact.notice, artifact.notice)
    link = _FIRST_LINK.search(artifact.text) if artifact.notice == "only_embeds" else None
    url = escape_url(urljoin(artifact.url, link[1])) if link else ""
    can_fetch = url and serialized_size(url) <= MAX_CALL_URL
    return f'{line.partition(":")[0]}: web_fetch(url="{url}").' if can_fetch else line


def warning_fact(warning: str) -> dict[str, object]:
    """Return the fact that gives programs the store's warning code; no fact without a warning."""
    return {"warning": warning} if warning else {}


def join_sentences(*sentences: str) -> str:
    """Return the sentences that are not empty, on one line."""
    return " ".join(sentence for sentence in sentences if sentence)


def _status(selection: Selection, *, has_query: bool, is_main: bool, brief: bool, names_skip: bool) -> str:
    """Return how much of the text is shown, and how it was chosen.

    `is_main`: only the main part was considered. `names_skip`: give the number that shows the passages that match less.
    """
    amount = f"{selection.shown:,} of {characters_of(selection.total, is_main=is_main)}"
    if selection.strategy == "whole":
        return f"Whole {'main part' if is_main else 'text'}, {selection.total:,} characters."
    if selection.strategy == "passages":
        shown = len(selection.spans)
        skip = f" (skip={selection.skip})" if selection.skip and names_skip else ""
        more = f"; {selection.more:,} weaker one{'s' * (selection.more > 1)} left{skip}" if selection.more else ""
        best = f" (best: no. {selection.best})" if selection.best > 1 else ""
        copies = f"; {selection.copies:,} repeat{'s' * (selection.copies > 1)} left out" if selection.copies else ""
        return f"{shown or 'No other'} passage{'' if shown == 1 else 's'}{best}, {amount}{copies}{more}."
    if has_query:
        return f"Nothing matches the query{'.' if brief else ': head and tail instead,'} {amount}."
    advice = "" if brief else " With a query, you get the passages that answer it."
    return f"Head and tail, {amount}.{advice}"


def _match_sentences(selection: Selection, weak: str, *, brief: bool) -> str:
    """Return the sentences on how well the passages match the query: a weak match, and its words that the text lacks.

    The words that the text has are counted only for a weak match: elsewhere the passages show them. `weak`: the
    sentence for a weak match.
    """
    if selection.page_language:
        weak = f"The page is in {selection.page_language}; repeat the query in {selection.page_language}."
    most = MAX_BRIEF_TERMS if brief else MAX_TERMS
    absent = [clip(term.term, 40) for term in selection.terms if not term.count][:most]
    in_rest = [clip(term.term, 40) for term in selection.terms if term.in_rest][:most]
    found = [term for term in selection.terms if term.count and not term.in_rest]
    counts = [f"{clip(term.term, 40)} {term.count:,}" for term in found][:MAX_TERMS]
    return join_sentences(
        weak if selection.weak or selection.page_language else "",
        f"Found: {', '.join(counts)}." if counts and selection.weak and not brief else "",
        f"Only in the rest: {', '.join(in_rest)}." if in_rest else "",
        f"Absent: {', '.join(absent)}." if absent else "",
    )


def _head(
    artifact: Artifact,
    style: Style,
    head: Sequence[str],
    status: str,
    notes: Sequence[str],
    following: NextArguments | None,
) -> list[str]:
    """Return the lines above the text. `head`: lines that a brief answer does not have, the source first.

    The id stands in the next call, or else here.
    """
    notes = [*caveats(artifact, brief=style.brief), *notes, warning_line(style.warning, brief=style.brief)]
    if style.brief:
        return [join_sentences(status, *notes)]
    id = "" if following or style.warning == UNSTORED else f'id="{artifact.id}"'
    source, *others = head
    return [line for line in (source, join_sentences(status, id), *others, *notes) if line]


def _frame(head: Sequence[str], body: str, style: Style, call: str, after: str = "") -> str:
    """Return all lines in order. `after`: a line between the text and the next call."""
    below = [line for line in (after, call and f"Next: {call}", END) if line]
    return "\n".join([*head, enclose(body, style.secret), *below])


def _facts(artifact: Artifact, style: Style, following: NextArguments | None) -> dict[str, object]:
    """Return the facts that a program needs to read on. It knows the query and the limits of the next call."""
    known = ("query", "max_chars", "max_tokens")
    arguments = {name: value for name, value in following.items() if name not in known} if following else None
    return {
        "artifact_id": None if style.warning == UNSTORED else artifact.id,
        "next": arguments,
        **({"notice": artifact.notice} if artifact.notice in NOTICES else {}),
        **warning_fact(style.warning),
    }


def _details(artifact: Artifact, total: int) -> dict[str, object]:
    """Return what `--json` says about the whole text, of `total` characters."""
    about = {"url": artifact.url, "title": artifact.title, "media_type": artifact.media_type}
    return {**about, "total_chars": total, **main_size(artifact)}
