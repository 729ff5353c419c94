"""Interpret the head of a response: its status, its redirect and the headers that are stored in a Page."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Final, TypedDict

from keyhole.errors import Code, KeyholeError
from keyhole.fetch.host_limits import parse_retry_after

if TYPE_CHECKING:
    from keyhole.fetch.exchange import Headers, Response

REDIRECTS: Final = frozenset({301, 302, 303, 307, 308})

_CODES: Final = {
    401: Code.LOGIN_REQUIRED, 403: Code.FORBIDDEN, 404: Code.NOT_FOUND, 407: Code.LOGIN_REQUIRED, 410: Code.NOT_FOUND,
    429: Code.RATE_LIMITED,
}  # fmt: skip
"""The error code by status. Other statuses from 500 on are `server_error`, all others `http_status`."""

MAX_HEADER: Final = 1_000
"""Characters stored of a header's value. Real values have about 100; longer values may slow a parser down."""
MAX_LINK: Final = 8_000
"""Characters stored of the Link header, which is long if it lists preloads."""


def raise_for_status(status: int, headers: Mapping[str, str], now: float) -> None:
    """Raise KeyholeError for a status other than 2xx.

    The code is rate_limited, login_required, forbidden, not_found, server_error, or http_status for all others.

    `now`: seconds since the epoch, to which a date in Retry-After is compared.
    """
    if 200 <= status < 300:
        return
    if status in {429, 503} and (wait := parse_retry_after(headers.get("retry-after", ""), now)) is not None:
        message = f"HTTP {status}; Retry-After {wait} s"
        raise KeyholeError(Code.RATE_LIMITED, message, status=status, retry_after=wait)
    code = _CODES.get(status, Code.SERVER_ERROR if 500 <= status < 600 else Code.HTTP_STATUS)
    raise KeyholeError(code, f"HTTP {status}", status=status)


def redirect_location(response: Response) -> str:
    """Return the location of a redirect, or "" for any other response.

    Raises KeyholeError (protocol_error) for several different locations, of which each client may choose another.
    """
    if response.status_code not in REDIRECTS:
        return ""
    locations = set(response.headers.get_list("location"))
    if len(locations) > 1:
        raise KeyholeError(Code.PROTOCOL_ERROR, "the response has several Location headers")
    return locations.pop() if locations else ""


class PageHeaders(TypedDict):
    """The headers that a Page stores, by field name."""

    content_type: str
    etag: str
    last_modified: str
    link: str


def page_headers(headers: Headers) -> PageHeaders:
    """Return the headers that a Page stores, by field name."""
    return {
        # The last of several values, as the Fetch standard reads Content-Type.
        "content_type": next(reversed(headers.get_list("content-type")), "")[:MAX_HEADER],
        "etag": _drop_if_long(headers.get("etag", "")),
        "last_modified": _drop_if_long(headers.get("last-modified", "")),
        "link": headers.get("link", "")[:MAX_LINK],
    }


def _drop_if_long(value: str) -> str:
    """Return the value, or "" if it is too long: a validator must be sent back unchanged, so it is not truncated."""
    return value if len(value) <= MAX_HEADER else ""
