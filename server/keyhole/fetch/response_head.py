"""What the head of a response says: a failure's name, where a redirect leads, what is kept. Pure; reads no bodies."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Final

from keyhole.errors import Code, KeyholeError
from keyhole.fetch.host_limits import retry_after

if TYPE_CHECKING:
    from keyhole.fetch.exchange import Headers, Response

REDIRECTS: Final = frozenset({301, 302, 303, 307, 308})
PARTIAL_CONTENT: Final = 206

MAX_HEADER: Final = 1_000
"""Characters kept of a header's value. Real ones have 100; longer ones are there to be parsed slowly."""
MAX_LINK: Final = 8_000
"""Characters of the Link header that are kept; those of preloads may be long."""


def raise_for_status(status: int, headers: Mapping[str, str], now: float) -> None:
    """Name a status that is not a success: rate_limited, login_required or http_status. `now`: for dates."""
    if 200 <= status < 300:
        return
    if status in {429, 503} and (wait := retry_after(headers.get("retry-after", ""), now)) is not None:
        message = f"HTTP {status}; Retry-After {wait} s"
        raise KeyholeError(Code.RATE_LIMITED, message, status=status, retry_after=wait)
    if status == 429:
        raise KeyholeError(Code.RATE_LIMITED, "HTTP 429", status=status)
    if status in {401, 407}:
        raise KeyholeError(Code.LOGIN_REQUIRED, f"HTTP {status}", status=status)
    raise KeyholeError(Code.HTTP_STATUS, f"HTTP {status}", status=status)


def location(response: Response) -> str:
    """Where a redirect leads, or nothing. Two places are an attempt to have two readers go two ways."""
    if response.status_code not in REDIRECTS:
        return ""
    places = set(response.headers.get_list("location"))
    if len(places) > 1:
        raise KeyholeError(Code.PROTOCOL_ERROR, "the response names several locations")
    return places.pop() if places else ""


def kept_headers(headers: Headers) -> dict[str, str]:
    """The headers that a page keeps, by the names of its fields."""
    return {
        # The last of several, as the Fetch standard takes a Content-Type.
        "content_type": next(reversed(headers.get_list("content-type")), "")[:MAX_HEADER],
        "etag": _whole(headers.get("etag", "")),
        "last_modified": _whole(headers.get("last-modified", "")),
        "link": headers.get("link", "")[:MAX_LINK],
    }


def _whole(value: str) -> str:
    """A value that is sent back as it came: one that is too long is none."""
    return value if len(value) <= MAX_HEADER else ""
