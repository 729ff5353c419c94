"""The ports to the network: fetching pages, and sending requests to the operator's APIs."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field, replace
from typing import Final, Protocol

from keyhole.fetch.permission import ANY, Permission
from keyhole.records import Page

# Validators: ETag and Last-Modified of stored pages, for conditional requests.
#
# Untrusted sites supply them and requests repeat them, so only short values in the forms of RFC 9110 are accepted. They
# are sent only to the URL that supplied them: after a redirect to another URL they would describe another page.

NOT_MODIFIED: Final = 304
MAX_ETAG: Final = 200
"""Characters. Real ETags have up to about 70 (a hash and a size); longer ones could track the client."""

# RFC 9110, 8.8.3: quoted, without control characters and spaces. Only ASCII is accepted.
_ETAG: Final = re.compile(r'(?:W/)?"[!#-~]*"')
# RFC 9110, 5.6.7: the only date format that servers may generate.
_DATE: Final = re.compile(r"[A-Z][a-z]{2}, [0-9]{2} [A-Z][a-z]{2} [0-9]{4} [0-9]{2}:[0-9]{2}:[0-9]{2} GMT")


@dataclass(frozen=True, slots=True)
class Validators:
    """The validators of the final URL of an earlier fetch: an ETag, a date, or both."""

    url: str
    etag: str = ""
    last_modified: str = ""

    def request_headers(self, url: str) -> dict[str, str]:
        """Return the headers of a conditional request for `url`; {} if the validators are for another URL."""
        if url != self.url:
            return {}
        conditions = {"If-None-Match": self.etag, "If-Modified-Since": self.last_modified}
        return {name: value for name, value in conditions.items() if value}


def sanitize_etag(value: str) -> str:
    """Return an ETag that is safe to send back, otherwise ""."""
    return value if len(value) <= MAX_ETAG and _ETAG.fullmatch(value) else ""


def sanitize_last_modified(value: str) -> str:
    """Return a Last-Modified date that is safe to send back, otherwise ""."""
    return value if _DATE.fullmatch(value) else ""


# Ports: fetching pages, and sending requests to APIs.


@dataclass(frozen=True, slots=True)
class FetchOptions:
    """Options of one fetch, in addition to the operator's settings."""

    permission: Permission
    """What the request may reach, until when, and with which credential. Every hop is checked."""
    validators: Validators | None = None
    """Validators of the stored text, which make the request conditional."""
    is_api: bool = False
    """True for a request to a documented API of a site, to which robots.txt may not apply (KEYHOLE_ROBOTS=pages)."""
    part: tuple[int, int] | None = None
    """The byte range `[start, end)` to request of a file: the page then has status 206. None for the whole file."""

    @property
    def deadline(self) -> float:
        """The time of the event loop's clock at which the request ends, or 0. If a site's `Retry-After` ends before
        it, the fetcher waits and requests the page again."""
        return self.permission.deadline

    def until(self, deadline: float) -> FetchOptions:
        """Return the options with an earlier deadline."""
        return replace(self, permission=self.permission.until(deadline))

    @property
    def part_headers(self) -> dict[str, str]:
        """The headers that request the part. A compressed response would count other bytes."""
        if self.part is None:
            return {}
        return {"Range": f"bytes={self.part[0]}-{self.part[1] - 1}", "Accept-Encoding": "identity"}


AllowsDocument = Callable[[str], Awaitable[bool]]
"""Returns whether a rendered page may load a document: itself after a redirect, or a frame."""


DEFAULT_OPTIONS = FetchOptions(ANY)
"""Options of an unconditional fetch from any site, with the deadline of the settings."""


@dataclass(frozen=True, slots=True)
class ApiCall:
    """A request to an API that the operator configured. Redirects are not followed, since requests contain keys."""

    url: str = field(repr=False)
    """Hidden from the repr, because some APIs take their key in the query."""
    headers: tuple[tuple[str, str], ...] = field(default=(), repr=False)
    body: bytes | None = None
    """JSON to POST, or None for a GET request."""


@dataclass(frozen=True, slots=True)
class ApiReply:
    """The response of an API, of any status: the body of an error explains more than its status."""

    status: int
    body: bytes
    content_type: str = ""
    retry_after: int | None = None
    """Seconds to wait, from the Retry-After header."""


class Api(Protocol):
    """The port to APIs that the operator configured. They may have private addresses."""

    async def send(self, call: ApiCall) -> ApiReply:
        """Send one request and return the response.

        Raises KeyholeError: connection failures, timeout, protocol_error, too_large.
        """
        ...


class Renderer(Protocol):
    """The port to a browser that runs the scripts of a page."""

    async def render(self, page: Page, options: FetchOptions, allows: AllowsDocument) -> Page:
        """Return the page as a browser shows it once its scripts ran: HTML without hidden text, without validators.

        Raises KeyholeError: javascript_required if no browser can be started or it shows nothing in time, and the
        errors of a fetch.
        """
        ...

    async def aclose(self) -> None:
        """End all browsers."""
        ...


class Fetcher(Protocol):
    """The port to web pages: HttpFetcher implements it, and tests use fakes."""

    async def fetch(self, url: str, options: FetchOptions) -> Page:
        """Fetch a page and follow its redirects as far as the permission goes. Raises KeyholeError for every failure.

        With validators, the page may have status 304 and no body: the stored text is still current.
        """
        ...

    async def aclose(self) -> None:
        """Close all connections."""
        ...
