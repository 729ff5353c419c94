"""Render what a model reads: pages, windows, quotes, the status of a search, and errors.

The lines outside the boundary are Keyhole's; the text between the boundary lines is the page's and untrusted. The
boundary carries a mark that a page cannot know (see `boundary_mark`). There is no clock and no random value: the same
page and arguments give the same bytes.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import re
from collections.abc import Sequence

from keyhole.errors import KeyholeError
from keyhole.records import Answer, Artifact, Fault, Part, Quote, Selection, Window
from keyhole.render.header import header_facts
from keyhole.text.escape import plain_line
from keyhole.text.measure import clip

MAX_TITLE = 160
"""Bytes of a title shown. Search engines show about 60 characters."""
MAX_URL = 300
"""Bytes of a URL shown. The full URL is in `_meta` if it fits."""
MAX_MESSAGE = 300
"""Bytes of an error's message; some messages contain text of servers or host names."""
MAX_TERMS = 12
"""Terms named at most, for each of the found and the absent ones."""
END = "[end]"
"""The last line of every result except errors. A result that ends otherwise was truncated on its way."""
WEAK = "Weak match: the page may not contain the answer."
WEAK_BRIEFLY = "Weak match."

UNSTORED = "store_unavailable"
"""The warning for a text that could not be stored. Only for such a text is no recovery offered."""

NOTICES = {
    "paywalled": "Only a preview: the page says that the rest is for subscribers.",
    "login_required": "The site led to a login: this is what it shows without one.",
    "not_found": "The page says that what was asked for is not there; this is what it shows instead.",
    "home_page": "The address led to the site's first page: what was asked for may be gone.",
}
"""The line for each notice of an artifact. A notice that is not in this table is already such a line."""

WARNINGS = {
    "store_unavailable": "nothing was stored, so what is left out cannot be read on.",
    "kept_in_memory": "the store on the disk fails; texts are kept in memory for an hour, at most 64.",
    "store_replaced": "the store was damaged and a new one was begun; pages read before must be fetched again.",
}
"""What each warning of the store means for the caller. The codes are stable."""


def warning_line(code: str, *, brief: bool = False) -> str:
    """Return the line for a warning code, "" for no warning. `brief`: only the code, which programs match on."""
    meaning = f": {WARNINGS.get(code, 'the store has a problem.')}"
    return f"Warning {code}{'.' if brief and code != UNSTORED else meaning}" if code else ""


def boundary_mark(secret: bytes, id: str) -> str:
    """Return eight characters that only this installation can compute for the text with this id."""
    digest = hmac.new(secret, b"boundary:" + id.encode("utf-8", "surrogatepass"), hashlib.sha256).digest()
    return base64.b32encode(digest[:5]).decode("ascii").lower()


def read_call(id: str, window: Window | None) -> str:
    """Return the exact call that reads `window`, or ""."""
    return f'read_artifact(id="{id}", offset={window.start}, limit={window.end - window.start})' if window else ""


def page_answer(
    artifact: Artifact,
    selection: Selection,
    *,
    mark: str,
    next_window: Window | None,
    has_query: bool,
    warning: str,
    brief: bool,
    extras: Sequence[str] = (),
) -> Answer:
    """Return a page, or the passages of it that were selected.

    `brief`: leave out the title and most of the header, for small budgets; caveats stay. `warning`: the store's warning
    code, `UNSTORED` if the text is not stored. `extras`: further lines for the header.
    """
    call = read_call(artifact.id, next_window)
    id = f'id="{artifact.id}"' if warning != UNSTORED else ""
    warned = warning_line(warning, brief=brief)
    terms = _terms(selection) if has_query else ""
    status = _join(_status(selection, has_query), id)
    head = [*_source_lines(artifact), *extras, status, *([terms] if terms else []), *caveats(artifact, warned)]
    head += [hidden] if (hidden := _hidden_line(artifact)) else []
    if brief:
        head = [_join(_brief_status(selection, has_query), *_brief_caveats(artifact), *extras, warned)]
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


def window_answer(
    part: Part, window: Window, *, mark: str, next_window: Window | None, brief: bool, warning: str = ""
) -> Answer:
    """Return a range of a stored text; `part` contains at least that range."""
    artifact = part.artifact
    call = read_call(artifact.id, next_window)
    status = f"Characters {window.start}:{window.end} of {window.total}."
    if window.start == window.end:
        status = f"Nothing there: the text has {window.total} characters."
    elif next_window is None:
        status += " End of text."
    head = [*_source_lines(artifact), _join(status, f'id="{artifact.id}"'), *caveats(artifact, warning_line(warning))]
    if brief:
        head = [_join(status, *_brief_caveats(artifact), warning_line(warning, brief=True))]
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


def quote_answer(
    artifact: Artifact,
    quote: Quote,
    window: Window,
    *,
    mark: str,
    next_window: Window | None,
    brief: bool,
    warning: str = "",
) -> Answer:
    """Return the place of a quote with the text around it."""
    how = "exactly" if quote.exact else "apart from spaces, case and punctuation"
    status = f"The quote stands {how} at {quote.start}:{quote.end}; shown are characters {window.start}:{window.end}."
    warned = warning_line(warning, brief=brief)
    head = [*_source_lines(artifact), _join(status, f'id="{artifact.id}"'), *([warned] if warned else [])]
    if brief:
        head = [_join(status, warned)]
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


def error_answer(error: KeyholeError, warning: str = "") -> Answer:
    """Return an error: its code first, then what happened, the next step, and whether a retry helps."""
    rule = error.rule
    url = error.facts.get("url")
    message = plain_line(error.message, MAX_MESSAGE).rstrip(".")
    stop = "" if message.endswith("?") else "."
    step = f'Fetch again: web_fetch(url="{clip(str(url), MAX_URL)}").' if url else rule.next_step
    retry = " The same call may succeed later." if rule.retry else ""
    text = _join(f"{error.code}: {message}{stop} {step}{retry}", warning_line(warning))
    facts = {"code": str(error.code), "retryable": rule.retry, **error.facts, **warning_fact(warning)}
    return Answer(text, facts, is_error=True)


def rerank_note(faults: Sequence[Fault]) -> str:
    """Return which scorers failed and which order is used instead, "" if none failed."""
    sentences = []
    for fault in faults:
        partly = fault.missing < fault.asked
        where = f" for {fault.missing} of {fault.asked} passages" if partly else ""
        sentences.append(f"{fault.scorer}: {fault.what}{where}; {fault.instead}{' for these' if partly else ''}.")
    return _join(*sentences)


def title_line(title: str) -> str:
    """Return a page's title as one line that forms no Markdown of its own."""
    return plain_line(title, MAX_TITLE)


def caveats(artifact: Artifact, warning: str) -> list[str]:
    """Return the caveats of a text: it is truncated, it is a placeholder, the store has a problem."""
    cut = "Partial: the rest of the page was never received or could not be read." if artifact.cut else ""
    return [line for line in (cut, NOTICES.get(artifact.notice, artifact.notice), warning) if line]


def enclose(body: str, mark: str) -> str:
    """Return a page's text between two boundary lines that the page cannot forge."""
    return f"--- untrusted text {mark} ---\n{body}\n--- end {mark} ---"


def warning_fact(warning: str) -> dict[str, object]:
    """Return the store's warning code for programs."""
    return {"warning": warning} if warning else {}


def _status(selection: Selection, has_query: bool) -> str:
    amount = f"{selection.shown:,} of {selection.total:,} characters"
    if selection.strategy == "whole":
        return f"Whole text, {selection.total:,} characters."
    if selection.strategy == "passages":
        count = len(selection.spans)
        noun = "passage" if count == 1 else "passages"
        return f"{count or 'No other'} {noun} for the query, {amount}; […start:end] is left out."
    if has_query:
        return f"Nothing matches the query; head and tail instead, {amount}."
    return f"Head and tail, {amount}; query= would select the passages that answer it."


def _brief_status(selection: Selection, has_query: bool) -> str:
    amount = f"{selection.shown} of {selection.total} characters."
    if selection.strategy in ("whole", "passages"):
        return _join(amount, WEAK_BRIEFLY if has_query and selection.weak else "")
    return _join("Nothing matches the query." if has_query else "", amount)


def _terms(selection: Selection) -> str:
    """Return each word of the query with its count in the whole text, and whether the match is weak."""
    counts = [f"{clip(term.term, 40)} {term.count}" for term in selection.terms if term.count][:MAX_TERMS]
    absent = [clip(term.term, 40) for term in selection.terms if not term.count][:MAX_TERMS]
    return _join(
        f"In the whole text: {', '.join(counts)}." if counts else "",
        f"Not in the text: {', '.join(absent)}." if absent else "",
        WEAK if selection.weak else "",
    )


def _source_lines(artifact: Artifact) -> list[str]:
    # "Title:" stands before the title, so that no title begins a line, where it could pass for a line of Keyhole's.
    title = title_line(artifact.title)
    return [*([f"Title: {title}"] if title else []), clip(artifact.url, MAX_URL)]


def _hidden_line(artifact: Artifact) -> str:
    """Return how many parts and characters of the page were left out because no reader of it sees them."""
    kinds = (("hidden", "hidden part"), ("invisible", "invisible character"))
    counts = [(int(count), noun) for name, noun in kinds if (count := artifact.note(name))]
    parts = ", ".join(f"{count:,} {noun}{'s' if count > 1 else ''}" for count, noun in counts)
    return f"Left out: {parts}." if parts else ""


def _brief_caveats(artifact: Artifact) -> list[str]:
    """Return each caveat up to its first colon or semicolon."""
    return [re.split("[:;]", line)[0].rstrip(".") + "." for line in caveats(artifact, "")]


def _framed(head: Sequence[str], body: str, mark: str, call: str, brief: bool) -> str:
    """Return all lines in order. A brief result has its next call once, at the end: no client truncates it."""
    continuation = [f"Next: {call}"] if call else []
    return "\n".join([*head, *([] if brief else continuation), enclose(body, mark), *continuation, END])


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
