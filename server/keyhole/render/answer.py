"""Render the answers that a model reads: pages, windows, quotes and errors. The sources of a search: sources.py.

The text between the boundary lines is the page's and untrusted; all other lines are Keyhole's. The boundary lines
contain a mark that a page cannot know (see `boundary_mark`). No clock and no random value is used, so the same page
and arguments give the same bytes.
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
from keyhole.render.rest import characters_of, describe_place, rest_line, size_facts
from keyhole.text.escape import plain_line
from keyhole.text.measure import clip

MAX_TITLE = 160
"""Bytes of a title that are shown. Search engines show about 60 characters."""
MAX_URL = 300
"""Bytes of a URL that are shown. The full URL is in `_meta` if it fits."""
MAX_MESSAGE = 300
"""Bytes of an error's message. Some messages contain text from servers, or host names."""
MAX_TERMS = 12
"""Terms of the query listed as found, and as absent, at most."""
END = "[end]"
"""The last line of every result except errors. A result without it was truncated after Keyhole sent it."""
WEAK = "Weak match: the page may not contain the answer."
WEAK_BRIEFLY = "Weak match."

UNSTORED = "store_unavailable"
"""The warning code for a text that could not be stored. Its result has no id and no call that reads on."""

NOTICES = {
    "paywalled": "Only a preview: the page says that the rest is for subscribers.",
    "login_required": "The site led to a login: this is what it shows without one.",
    "not_found": "The page says that the requested content does not exist; this is what it shows instead.",
    "hidden_page": "The page hides this text until its scripts run; it is shown as it was sent.",
    "home_page": "The address led to the site's first page: the requested page may be gone.",
}
"""The line for each notice of an artifact. A notice that is not a key of this table is itself a line."""

WARNINGS = {
    "store_unavailable": "nothing was stored, so text that is left out cannot be read.",
    "kept_in_memory": "the store on disk fails; up to 64 texts are kept in memory, for an hour.",
    "store_replaced": "the store was damaged and replaced by a new one; pages read before must be fetched again.",
}
"""The meaning for the caller of each warning code of the store. The codes are stable."""


def warning_line(code: str, *, brief: bool = False) -> str:
    """Return the line for a warning code, or "" for no warning. `brief`: only the code, unless it is `UNSTORED`."""
    meaning = f": {WARNINGS.get(code, 'the store has a problem.')}"
    return f"Warning {code}{'.' if brief and code != UNSTORED else meaning}" if code else ""


def boundary_mark(secret: bytes, id: str) -> str:
    """Return the boundary mark for the text with this id: eight characters that nobody can compute without `secret`."""
    digest = hmac.new(secret, b"boundary:" + id.encode("utf-8", "surrogatepass"), hashlib.sha256).digest()
    return base64.b32encode(digest[:5]).decode("ascii").lower()


def read_call(id: str, window: Window | None) -> str:
    """Return the read_artifact call for `window`, or "" without a window."""
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

    `brief`: leave out the title and most of the header, for small budgets; caveats are shown always. `warning`: the
    store's warning code, or `UNSTORED` if the text is not stored. `extras`: further lines for the header.
    """
    call = read_call(artifact.id, next_window)
    id = f'id="{artifact.id}"' if warning != UNSTORED else ""
    warned = warning_line(warning, brief=brief)
    is_main = selection.total == artifact.main_end
    terms = _terms(selection, is_main) if has_query else ""
    status = join_sentences(_status(selection, has_query, is_main), id)
    head = [*_source_lines(artifact), *extras, status, *([terms] if terms else []), *caveats(artifact, warned)]
    after = rest_line(artifact) if is_main and id and not (next_window or brief) else ""
    if brief:
        head = [
            join_sentences(_brief_status(selection, has_query, is_main), *_brief_caveats(artifact), *extras, warned)
        ]
    return Answer(
        _frame(head, selection.text, mark, call, brief, after),
        {
            **_facts(artifact, warning),
            **header_facts(artifact),
            **size_facts(artifact, len(artifact.text)),
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
    """Return the answer that shows `window`, a range of a stored text. `part` contains at least this range."""
    artifact = part.artifact
    call = read_call(artifact.id, next_window)
    is_main = window.total < part.total
    status = f"Characters {window.start}:{window.end} of {'the main part, 0:' if is_main else ''}{window.total}."
    if window.start == window.end:
        status = f"Nothing there: the text has {window.total} characters."
    elif next_window is None:
        status += f" End of {'the main part' if is_main else 'text'}."
    after = rest_line(artifact) if is_main and not (next_window or brief) else ""
    head = [
        *_source_lines(artifact),
        join_sentences(status, f'id="{artifact.id}"'),
        *caveats(artifact, warning_line(warning)),
    ]
    if brief:
        head = [join_sentences(status, *_brief_caveats(artifact), warning_line(warning, brief=True))]
    return Answer(
        _frame(head, artifact.text[window.start - part.start : window.end - part.start], mark, call, brief, after),
        {
            **_facts(artifact, warning),
            **size_facts(artifact, part.total),
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
    """Return the answer that shows a quote, its offsets and the text around it."""
    how = "exactly" if quote.exact else "apart from spaces, case and punctuation"
    place = f"{quote.start}:{quote.end}{describe_place(artifact, quote.start)}"
    status = f"The quote matches {how} at {place}; characters {window.start}:{window.end} are shown."
    warned = warning_line(warning, brief=brief)
    head = [*_source_lines(artifact), join_sentences(status, f'id="{artifact.id}"'), *([warned] if warned else [])]
    if brief:
        head = [join_sentences(status, warned)]
    return Answer(
        _frame(head, artifact.text[window.start : window.end], mark, read_call(artifact.id, next_window), brief),
        {
            **_facts(artifact, warning),
            **size_facts(artifact, len(artifact.text)),
            "shown_chars": window.end - window.start,
            "strategy": "quote",
            "spans": [[quote.start, quote.end, 1.0 if quote.exact else 0.0]],
            "exact": quote.exact,
            **_next_fact(next_window),
        },
        shown=((artifact.id, window.start, window.end),),
    )


def error_answer(error: KeyholeError, warning: str = "") -> Answer:
    """Return the answer for an error: its code, its message, the next step, and whether a retry may succeed."""
    rule = error.rule
    url = error.facts.get("url")
    message = plain_line(error.message, MAX_MESSAGE).rstrip(".")
    stop = "" if message.endswith("?") else "."
    step = f'Fetch again: web_fetch(url="{clip(str(url), MAX_URL)}").' if url else rule.next_step
    retry = " The same call may succeed later." if rule.retry else ""
    text = join_sentences(f"{error.code}: {message}{stop} {step}{retry}", warning_line(warning))
    facts = {"code": str(error.code), "retryable": rule.retry, **error.facts, **warning_fact(warning)}
    return Answer(text, facts, is_error=True)


def rerank_note(faults: Sequence[Fault]) -> str:
    """Return a note on the scorers that failed and the order used instead, or "" if none failed."""
    sentences = []
    for fault in faults:
        partly = fault.missing < fault.requested
        where = f" for {fault.missing} of {fault.requested} passages" if partly else ""
        sentences.append(f"{fault.scorer}: {fault.reason}{where}; {fault.instead}{' for these' if partly else ''}.")
    return join_sentences(*sentences)


def title_line(title: str) -> str:
    """Return a page's title as one line of plain text in which Markdown is escaped."""
    return plain_line(title, MAX_TITLE)


def caveats(artifact: Artifact, warning: str) -> list[str]:
    """Return the lines that warn of a truncated text, of a placeholder and of a problem with the store."""
    cut = "Partial: the rest of the page was never received or could not be read." if artifact.cut else ""
    return [line for line in (cut, NOTICES.get(artifact.notice, artifact.notice), warning) if line]


def enclose(body: str, mark: str) -> str:
    """Return a page's text between two boundary lines that the page cannot forge."""
    return f"--- untrusted text {mark} ---\n{body}\n--- end {mark} ---"


def warning_fact(warning: str) -> dict[str, object]:
    """Return the fact that gives programs the store's warning code; no fact without a warning."""
    return {"warning": warning} if warning else {}


def _status(selection: Selection, has_query: bool, is_main: bool) -> str:
    """Return how much of the text is shown, and how it was chosen. `is_main`: only the main part was considered."""
    amount = f"{selection.shown:,} of {characters_of(selection.total, is_main=is_main)}"
    if selection.strategy == "whole":
        return f"Whole {'main part' if is_main else 'text'}, {selection.total:,} characters."
    if selection.strategy == "passages":
        count = len(selection.spans)
        noun = "passage" if count == 1 else "passages"
        return f"{count or 'No other'} {noun} for the query, {amount}; […start:end] is left out."
    if has_query:
        return f"Nothing matches the query; head and tail instead, {amount}."
    return f"Head and tail, {amount}; query= would select the passages that answer it."


def _brief_status(selection: Selection, has_query: bool, is_main: bool) -> str:
    amount = f"{selection.shown} of {selection.total} characters{' of the main part' if is_main else ''}."
    if selection.strategy in ("whole", "passages"):
        return join_sentences(amount, WEAK_BRIEFLY if has_query and selection.weak else "")
    return join_sentences("Nothing matches the query." if has_query else "", amount)


def _terms(selection: Selection, is_main: bool) -> str:
    """Return the count of each term of the query in the ranked text, and whether the match is weak."""
    whole, text = ("main part", "main part") if is_main else ("whole text", "text")
    counts = [f"{clip(term.term, 40)} {term.count}" for term in selection.terms if term.count][:MAX_TERMS]
    absent = [clip(term.term, 40) for term in selection.terms if not term.count][:MAX_TERMS]
    return join_sentences(
        f"In the {whole}: {', '.join(counts)}." if counts else "",
        f"Not in the {text}: {', '.join(absent)}." if absent else "",
        WEAK if selection.weak else "",
    )


def _source_lines(artifact: Artifact) -> list[str]:
    # The title follows "Title:", because at the beginning of a line it could imitate a line of Keyhole.
    title = title_line(artifact.title)
    return [*([f"Title: {title}"] if title else []), clip(artifact.url, MAX_URL)]


def _brief_caveats(artifact: Artifact) -> list[str]:
    """Return each caveat up to its first colon or semicolon."""
    return [re.split("[:;]", line)[0].rstrip(".") + "." for line in caveats(artifact, "")]


def _frame(head: Sequence[str], body: str, mark: str, call: str, brief: bool, after: str = "") -> str:
    """Return all lines in order. The next call stands above and below the text, because clients truncate long results;
    in a brief result only below. `after`: a line that stands only below."""
    continuation = [f"Next: {call}"] if call else []
    below = [*continuation, *([after] if after else []), END]
    return "\n".join([*head, *([] if brief else continuation), enclose(body, mark), *below])


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


def join_sentences(*sentences: str) -> str:
    """Return the sentences that are not empty, on one line."""
    return " ".join(sentence for sentence in sentences if sentence)
