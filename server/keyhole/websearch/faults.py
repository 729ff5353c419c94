"""What an API's refusal means: one named failure for each. Pure; nobody's text is passed on at length, and no key ever.

An answer is data of others: of its words only whether they speak of keys, quotas or haste is understood, and a short
phrase is shown where nothing is.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Final
from urllib.parse import quote, quote_plus

from keyhole.errors import Code, KeyholeError
from keyhole.fetch.base import ApiReply
from keyhole.text.challenges import CHALLENGE_WIDGETS, challenge_in_error
from keyhole.text.clean import clean

MAX_REASON: Final = 100
"""Characters of an engine's own words that an error shows: a phrase for the operator, too short to instruct a model."""
MAX_DEPTH: Final = 4
"""Levels that a complaint may lie deep; the deepest known, Brave's `errors[0].meta`, lies three."""

_SPENT: Final = frozenset({402, 432, 433})
"""Payment Required (Exa), and Tavily's own for a plan and a pay-as-you-go limit."""
_LATE: Final = frozenset({408, 504, 522, 524})
"""Statuses of servers and of Cloudflare for one behind them that was too slow."""
_QUOTA = re.compile(
    r"quota|(?:not enough|no more|insufficient|out of) credits?|(?:usage|daily|monthly|plan) limit|limit reached"
    r"|budget exceeded|payment required"
)
_HASTE = re.compile(r"rate.?limit|too many requests|too busy|throttl|excessive requests|slow down|maxlag")
_KEY = re.compile(
    r"unauthori[sz]ed|access denied|^forbidden"
    r"|(?:api.?key|subscription|access token).{0,40}(?:invalid|missing|not found|incorrect|expired|revoked|disabled)"
    r"|(?:invalid|missing|incorrect|expired|wrong|unknown).{0,40}(?:api.?key|access token)"
)
_SECRET_LIKE = re.compile(r"[\w+/=%.~-]{16,}")
"""Long runs without a space: keys, ids and addresses of others, none of which an agent needs."""
_NAMES: Final = ("code", "tag", "error", "errors", "detail", "details", "message", "msg", "info")
"""Where APIs say what is wrong."""


def understood(reply: ApiReply, engine: str, key: str = "") -> Any:
    """The JSON of an answer, without the key should it be in there. Raises KeyholeError for a refusal."""
    body = without_key(reply.body, key)
    answer, is_json = _decoded(body)
    well = 200 <= reply.status < 300
    if well and is_json and not (isinstance(answer, dict) and (answer.get("error") or answer.get("errors"))):
        return answer
    if not is_json and (system := _challenge(reply, body)):
        raise KeyholeError(Code.BOT_CHALLENGE, f"{engine} lets only browsers in ({system})", status=reply.status)
    if well and not is_json:
        what = "a web page" if _is_html(reply, body) else "something else"
        raise KeyholeError(Code.ENGINE_UNAVAILABLE, f"{engine} answers with {what} where JSON was due")
    # A page of HTML that forbids is some gateway's, which knows of no keys.
    keyed = bool(key) and (is_json or reply.status == 401)
    raise refusal(engine, _complaint(answer), reply.status, reply.retry_after, keyed=keyed)


def refusal(
    engine: str, complaint: str, status: int = 200, retry_after: int | None = None, *, keyed: bool = True
) -> KeyholeError:
    """What an engine's words and status mean. `keyed`: whether it was given a key that it may not like."""
    facts = {"status": status}
    wait = {} if retry_after is None else {"retry_after": retry_after}
    words = complaint.lower().replace("_", " ")
    if status in _SPENT or _QUOTA.search(words):
        return KeyholeError(Code.RATE_LIMITED, f"the quota at {engine} is used up", **facts, **wait)
    if status == 429 or (status == 503 and wait) or _HASTE.search(words):
        return KeyholeError(Code.RATE_LIMITED, f"{engine} asks to slow down", **facts, **wait)
    if keyed and (status == 401 or (status == 403 and not words) or _KEY.search(words)):
        return KeyholeError(Code.KEY_REFUSED, f"{engine} does not accept the key", **facts)
    if status in _LATE:
        return KeyholeError(Code.TIMEOUT, f"{engine} did not answer in time", **facts)
    told = f"{engine} answers HTTP {status}" if not 200 <= status < 300 else f"{engine} refuses"
    reason = _phrase(complaint)
    return KeyholeError(Code.ENGINE_UNAVAILABLE, told + (f": {reason}" if reason else ""), **facts)


@contextmanager
def shaped(engine: str) -> Iterator[None]:
    """Name an answer whose JSON is not of the engine's shape."""
    try:
        yield
    except (ValueError, KeyError, TypeError, AttributeError, IndexError, RecursionError) as error:
        raise KeyholeError(Code.ENGINE_UNAVAILABLE, f"the answer of {engine} is not of its form") from error


def without_key(body: bytes, key: str) -> bytes:
    """The body without the key, as it is and as it stands in URLs: some servers repeat what they were sent."""
    for form in (key, quote(key, safe=""), quote_plus(key)) if key else ():
        body = body.replace(form.encode(), b"")
    return body


def _decoded(body: bytes) -> tuple[Any, bool]:
    try:
        return json.loads(body), True
    except (ValueError, RecursionError):
        return None, False


def _is_html(reply: ApiReply, body: bytes) -> bool:
    return "html" in reply.content_type.lower() or body.lstrip()[:1] == b"<"


def _challenge(reply: ApiReply, body: bytes) -> str:
    """What stands between us and the engine, or "". Gateways' own errors (500, 502, 504) have the same marks."""
    if not _is_html(reply, body) or (reply.status >= 500 and reply.status != 503):
        return ""
    head = body[:65_536].lower()
    return challenge_in_error(body) or ("captcha" if any(w.encode() in head for w in CHALLENGE_WIDGETS) else "")


def _complaint(answer: Any, depth: int = MAX_DEPTH) -> str:
    """The words with which an answer says what is wrong, bounded."""
    if isinstance(answer, str):
        return answer[:300]
    if isinstance(answer, list):
        return _complaint(answer[0], depth - 1) if answer and depth else ""
    if not isinstance(answer, dict) or not depth:
        return ""
    found = (_complaint(answer[name], depth - 1) for name in _NAMES if name in answer)
    return " ".join(part for part in found if part)[:300]


def _phrase(complaint: str) -> str:
    text = " ".join(clean(_SECRET_LIKE.sub("…", complaint)).split())
    return text[:MAX_REASON].rstrip()
