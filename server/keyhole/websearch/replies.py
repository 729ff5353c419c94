"""Decode the replies of search APIs, and raise a KeyholeError with a specific code for each kind of refusal. Pure.

Replies are untrusted. Their words only decide which of a few reasons an error names; no error repeats them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Final
from urllib.parse import quote, quote_plus

from keyhole.errors import Code, KeyholeError
from keyhole.fetch.base import ApiReply
from keyhole.text.challenges import CHALLENGE_WIDGETS, find_challenge_in_error
from keyhole.text.parse_json import parse_json

MAX_DEPTH: Final = 4
"""Levels of JSON searched for an error message. The deepest known message, in Brave's `errors[0].meta`, has three."""

_QUOTA_STATUSES: Final = frozenset({402, 432, 433})
"""402 Payment Required (Exa); 432 and 433 are Tavily's plan limit and pay-as-you-go limit."""
_TIMEOUT_STATUSES: Final = frozenset({408, 504, 522, 524})
"""Timeouts of servers and gateways; 522 and 524 are Cloudflare's."""
_QUOTA = re.compile(
    r"quota|(?:not enough|no more|insufficient|out of) credits?|(?:usage|daily|monthly|plan) limit|limit reached"
    r"|budget exceeded|payment required"
)
_RATE_LIMIT = re.compile(r"rate.?limit|too many requests|too busy|throttl|excessive requests|slow down|maxlag")
_KEY = re.compile(
    r"unauthori[sz]ed|access denied|^forbidden"
    r"|(?:api.?key|subscription|access token).{0,40}(?:invalid|missing|not found|incorrect|expired|revoked|disabled)"
    r"|(?:invalid|missing|incorrect|expired|wrong|unknown).{0,40}(?:api.?key|access token)"
)
_REASONS: Final = (
    (re.compile(r"maintenance|upgrad|scheduled"), "maintenance"),
    (re.compile(r"unavailable|overload|try again|temporar"), "unavailable for now"),
    (re.compile(r"not found|no such|unknown|does not exist"), "something requested does not exist"),
    (
        re.compile(r"invalid|malformed|bad request|required|missing|unsupported|not supported"),
        "the request is not accepted",
    ),
    (re.compile(r"forbidden|denied|not allowed|permission|blocked"), "the request is not allowed"),
    (re.compile(r"internal|exception|unexpected|upstream|backend|gateway"), "a fault of the server"),
)
"""The reason that an error names, by the words of a reply. The first row that matches counts."""
_MESSAGE_KEYS: Final = ("code", "tag", "error", "errors", "detail", "details", "message", "msg", "info")
"""Keys under which APIs put error messages."""


def decode_reply(reply: ApiReply, engine: str, *, has_key: bool = False) -> Any:
    """Return the JSON of a reply. Raises KeyholeError for a refusal. `has_key`: True if the request had an API key."""
    body = reply.body
    answer, is_json = _parse_json(body)
    is_ok = 200 <= reply.status < 300
    if is_ok and is_json and not (isinstance(answer, dict) and (answer.get("error") or answer.get("errors"))):
        return answer
    if not is_json and (system := _find_challenge(reply, body)):
        raise KeyholeError(Code.BOT_CHALLENGE, f"{engine} lets only browsers in ({system})", status=reply.status)
    if is_ok and not is_json:
        kind = "a web page" if _is_html(reply, body) else "something else"
        raise KeyholeError(Code.ENGINE_UNAVAILABLE, f"{engine} answers with {kind} instead of JSON")
    # An HTML page with status 403 comes from a gateway, which does not check the key.
    about_key = has_key and (is_json or reply.status == 401)
    raise refusal_error(engine, _error_message(answer), reply.status, reply.retry_after, may_concern_key=about_key)


def refusal_error(
    engine: str, message: str, status: int = 200, retry_after: int | None = None, *, may_concern_key: bool = True
) -> KeyholeError:
    """Return the error for a refusal. `may_concern_key`: True if the refusal may be about the API key."""
    facts = {"status": status}
    wait = {} if retry_after is None else {"retry_after": retry_after}
    words = message.lower().replace("_", " ")
    if status in _QUOTA_STATUSES or _QUOTA.search(words):
        return KeyholeError(Code.RATE_LIMITED, f"the quota at {engine} is used up", **facts, **wait)
    if status == 429 or (status == 503 and wait) or _RATE_LIMIT.search(words):
        return KeyholeError(Code.RATE_LIMITED, f"{engine} asks to slow down", **facts, **wait)
    if may_concern_key and (status == 401 or (status == 403 and not words) or _KEY.search(words)):
        return KeyholeError(Code.KEY_REFUSED, f"{engine} does not accept the key", **facts)
    if status in _TIMEOUT_STATUSES:
        return KeyholeError(Code.TIMEOUT, f"{engine} did not answer in time", **facts)
    outcome = f"{engine} answers HTTP {status}" if not 200 <= status < 300 else f"{engine} refuses"
    reason = next((f": {reason}" for pattern, reason in _REASONS if pattern.search(words)), "")
    return KeyholeError(Code.ENGINE_UNAVAILABLE, outcome + reason, **facts)


@contextmanager
def expect_shape(engine: str) -> Iterator[None]:
    """Raise KeyholeError (engine_unavailable) if the `with` block fails at an answer of an undocumented form."""
    try:
        yield
    except (ValueError, KeyError, TypeError, AttributeError, IndexError) as error:
        raise KeyholeError(Code.ENGINE_UNAVAILABLE, f"the answer of {engine} has an unexpected form") from error


def remove_key(body: bytes, key: str) -> bytes:
    """Remove the key, plain and URL-encoded, from a body: some servers repeat what they received."""
    for form in (key, quote(key, safe=""), quote_plus(key)) if key else ():
        body = body.replace(form.encode(), b"")
    return body


def _parse_json(body: bytes) -> tuple[Any, bool]:
    """Return the parsed JSON, and True if the body is JSON."""
    try:
        return parse_json(body), True
    except ValueError:
        return None, False


def _is_html(reply: ApiReply, body: bytes) -> bool:
    return "html" in reply.content_type.lower() or body.lstrip()[:1] == b"<"


def _find_challenge(reply: ApiReply, body: bytes) -> str:
    """Return the name of the bot protection that sent this page, or "".

    The error pages of gateways (500, 502, 504) contain the same marks and are skipped.
    """
    if not _is_html(reply, body) or (reply.status >= 500 and reply.status != 503):
        return ""
    head = body[:65_536].lower()
    has_widget = any(widget.encode() in head for widget in CHALLENGE_WIDGETS)
    return find_challenge_in_error(body) or ("captcha" if has_widget else "")


def _error_message(answer: Any, depth: int = MAX_DEPTH) -> str:
    """Return the error messages in an answer, at most 300 characters."""
    if isinstance(answer, str):
        return answer[:300]
    if isinstance(answer, list):
        return _error_message(answer[0], depth - 1) if answer and depth else ""
    if not isinstance(answer, dict) or not depth:
        return ""
    messages = (_error_message(answer[name], depth - 1) for name in _MESSAGE_KEYS if name in answer)
    return " ".join(message for message in messages if message)[:300]
