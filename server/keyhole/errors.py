"""The exception `KeyholeError` and its error codes.

The table `RULES` states for each code whether a retry may succeed, and the next step. docs/reference/errors.md
shows this table, and a test compares the two. render/answer.py turns errors into text.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from types import MappingProxyType


class Code(StrEnum):
    """Error codes. They are stable and begin the error's text, so that an agent can match them."""

    INVALID_ARGUMENT = "invalid_argument"
    INVALID_URL = "invalid_url"
    SCHEME_NOT_ALLOWED = "scheme_not_allowed"
    BLOCKED_ADDRESS = "blocked_address"
    DOMAIN_NOT_ALLOWED = "domain_not_allowed"
    ROBOTS_DISALLOWED = "robots_disallowed"
    URL_NOT_KNOWN = "url_not_known"
    DNS_FAILURE = "dns_failure"
    CONNECT_FAILURE = "connect_failure"
    TLS_FAILURE = "tls_failure"
    PROTOCOL_ERROR = "protocol_error"
    TIMEOUT = "timeout"
    TOO_MANY_REDIRECTS = "too_many_redirects"
    TOO_LARGE = "too_large"
    DECOMPRESSION_BOMB = "decompression_bomb"
    UNSUPPORTED_ENCODING = "unsupported_encoding"
    HTTP_STATUS = "http_status"
    FORBIDDEN = "forbidden"
    SERVER_ERROR = "server_error"
    RATE_LIMITED = "rate_limited"
    LOGIN_REQUIRED = "login_required"
    CONSENT_REQUIRED = "consent_required"
    PAYWALLED = "paywalled"
    NOT_FOUND = "not_found"
    BOT_CHALLENGE = "bot_challenge"
    EMPTY_DOCUMENT = "empty_document"
    JAVASCRIPT_REQUIRED = "javascript_required"
    UNSUPPORTED_MEDIA = "unsupported_media"
    ENCRYPTED_DOCUMENT = "encrypted_document"
    EXTRACTION_FAILED = "extraction_failed"
    EXTRACTION_PENDING = "extraction_pending"
    UNKNOWN_ARTIFACT = "unknown_artifact"
    EXPIRED_ARTIFACT = "expired_artifact"
    DAMAGED_ARTIFACT = "damaged_artifact"
    STORE_UNAVAILABLE = "store_unavailable"
    QUOTE_NOT_FOUND = "quote_not_found"
    NO_RESULTS = "no_results"
    OVER_BUDGET = "over_budget"
    NOT_RESTORED = "not_restored"
    KEY_REFUSED = "key_refused"
    ENGINE_UNAVAILABLE = "engine_unavailable"
    SERVER_UNAVAILABLE = "server_unavailable"
    SERVER_FAULT = "server_fault"
    AUTHORIZATION_REQUIRED = "authorization_required"
    INTERNAL_ERROR = "internal_error"


@dataclass(frozen=True, slots=True)
class Rule:
    """The advice for one code. `retry`: True if the same call may succeed later. `next_step`: what to do next."""

    retry: bool
    next_step: str


RULES: Mapping[Code, Rule] = MappingProxyType(
    {
        Code.INVALID_ARGUMENT: Rule(False, "Correct the named argument and call again."),
        Code.INVALID_URL: Rule(
            False, "Give one absolute URL, such as https://example.org/page; search(query=…) finds one."
        ),
        Code.SCHEME_NOT_ALLOWED: Rule(
            False, "Give the http or https address of the page; other schemes are not fetched."
        ),
        Code.BLOCKED_ADDRESS: Rule(
            False,
            "Give a public address and a web port; the operator can allow one host:port with KEYHOLE_ALLOW_PRIVATE.",
        ),
        Code.DOMAIN_NOT_ALLOWED: Rule(
            False, "Use a page of another site, or drop sites= if you gave it; the operator sets the allowed domains."
        ),
        Code.ROBOTS_DISALLOWED: Rule(
            False,
            "Use search(query=…) for another page, or search(query=…, sites=…, fetch=false) for snippets of this site; "
            "KEYHOLE_ROBOTS=off if its owner agrees.",
        ),
        Code.URL_NOT_KNOWN: Rule(
            False,
            "Copy a URL exactly from a search result or a fetched page, or use search(query=…) to find it. The "
            "operator can add it to KEYHOLE_KNOWN_URLS.",
        ),
        Code.DNS_FAILURE: Rule(True, "If the network is up, check the spelling; search(query=…) finds the right site."),
        Code.CONNECT_FAILURE: Rule(True, "The site is down or unreachable; use search(query=…) for another source."),
        Code.TLS_FAILURE: Rule(
            False, "The site's certificate is not valid; use search(query=…) for the same content elsewhere."
        ),
        Code.PROTOCOL_ERROR: Rule(True, "The server's response is broken; call once more, then use another source."),
        Code.TIMEOUT: Rule(True, "The site or engine is slow; call once more, then use another source."),
        Code.TOO_MANY_REDIRECTS: Rule(
            False,
            "Give the page's plain address, without session or tracking parameters; this one redirects in a loop.",
        ),
        Code.TOO_LARGE: Rule(
            False,
            "Fetch one chapter or the HTML version; the operator can raise KEYHOLE_MAX_BYTES.",
        ),
        Code.DECOMPRESSION_BOMB: Rule(False, "Do not fetch it again: it is built to exhaust the memory of its reader."),
        Code.UNSUPPORTED_ENCODING: Rule(
            False, "The server ignored Keyhole's Accept-Encoding; use search(query=…) for the same content elsewhere."
        ),
        Code.HTTP_STATUS: Rule(False, "Check the URL against the page that links to it, or use another source."),
        Code.FORBIDDEN: Rule(
            False, "The site refuses this request and will again; fetch its API or feed, or use another source."
        ),
        Code.SERVER_ERROR: Rule(True, "The site has a fault; call again in a few minutes, or use another source."),
        Code.RATE_LIMITED: Rule(
            True, "Wait before you call this site or engine again, and read other sources meanwhile."
        ),
        Code.LOGIN_REQUIRED: Rule(
            False, "Keyhole has no account; use search(query=…) for a public page with the same content."
        ),
        Code.CONSENT_REQUIRED: Rule(
            False, "Keyhole does not answer consent dialogs; fetch the site's feed or API, or use another source."
        ),
        Code.PAYWALLED: Rule(
            False,
            "The text is for subscribers; use search(query=…) for a free version, such as a preprint or another "
            "report.",
        ),
        Code.NOT_FOUND: Rule(
            False,
            "Do not try this URL again; use search(query=…) for where the page went, or fetch the page that links"
            " to it.",
        ),
        Code.BOT_CHALLENGE: Rule(
            False, "The site lets only browsers in; fetch its API or feed, or use another source."
        ),
        Code.EMPTY_DOCUMENT: Rule(
            False, "There is nothing to read here; look for another version of it, or use another source."
        ),
        Code.JAVASCRIPT_REQUIRED: Rule(
            False,
            "Fetch the site's API, feed or print version, or use another source; KEYHOLE_RENDER lets a browser render "
            "such pages.",
        ),
        Code.UNSUPPORTED_MEDIA: Rule(
            False, "Fetch the page that links to this file, or an HTML or text version of it."
        ),
        Code.ENCRYPTED_DOCUMENT: Rule(False, "Keyhole has no password for it; look for an open copy."),
        Code.EXTRACTION_FAILED: Rule(
            False, "The file is damaged or its form is unknown; look for another copy or an HTML version."
        ),
        Code.EXTRACTION_PENDING: Rule(
            True, "Call again: the page was fetched, and the server reads it meanwhile, if it is not too busy."
        ),
        Code.UNKNOWN_ARTIFACT: Rule(
            False, "Copy the id exactly from a web_fetch or search result, or call web_fetch(url=…)."
        ),
        Code.EXPIRED_ARTIFACT: Rule(
            False, "Call web_fetch(url=…) with the page's URL; its text gets a new id if the page changed."
        ),
        Code.DAMAGED_ARTIFACT: Rule(False, "Call web_fetch(url=…) with the page's URL; the text is stored anew."),
        Code.STORE_UNAVAILABLE: Rule(True, "Call again with the same id; if it fails again, call web_fetch(url=…)."),
        Code.QUOTE_NOT_FOUND: Rule(
            False, "Do not cite it from this page; read_artifact(id=…, query=…) shows what the page says about it."
        ),
        Code.NO_RESULTS: Rule(False, "Use fewer or more general words, or drop sites=, freshness= or another filter."),
        Code.OVER_BUDGET: Rule(
            False, "Raise the budget, keep fewer of the last turns, or shorten the system's text or the last message."
        ),
        Code.NOT_RESTORED: Rule(
            False,
            "Restore with the store that compacted the conversation, or in part (--partial): the rest keeps its stubs.",
        ),
        Code.KEY_REFUSED: Rule(
            False,
            "Fetch a known URL with web_fetch(url=…); this engine works again once the operator corrects its key.",
        ),
        Code.ENGINE_UNAVAILABLE: Rule(
            True, 'Meanwhile fetch a known URL with web_fetch(url=…), or search stored pages with scope="stored".'
        ),
        Code.SERVER_UNAVAILABLE: Rule(
            True,
            "Call again in some seconds: the proxy restarts the server; if it fails again, tell the operator, since "
            "the server's messages are on stderr.",
        ),
        Code.SERVER_FAULT: Rule(
            False, "Call with arguments that ask for less, or use another tool; the server's answer cannot be relayed."
        ),
        Code.AUTHORIZATION_REQUIRED: Rule(
            False,
            "Give keyhole proxy a valid token with --header 'Authorization: Bearer …', or start it with --http, so "
            "that a client that can sign in does so.",
        ),
        Code.INTERNAL_ERROR: Rule(
            True, "Call once more; if it fails again, tell the operator: the server's log on stderr has details."
        ),
    }
)


class KeyholeError(Exception):
    """A failed call. `message`: one sentence about the failure. `facts`: values for programs, returned in `_meta`.

    `near`: for a dead address, the real addresses near it, each with why it is named. `body`: the beginning of an error
    response or an image, with its media type, until a worker has read it. `reason`: the site's own words for the
    failure, one line.
    """

    def __init__(self, code: Code, message: str, **facts: str | int | float) -> None:
        super().__init__(code, message)
        self.code = code
        self.message = message
        self.facts = facts
        self.near: tuple[tuple[str, str], ...] = ()
        self.body = b"", ""
        self.reason = ""

    def without_frames(self) -> KeyholeError:
        """Return a copy that may be kept. A raised failure holds the frames that it passed, with all their values.

        If a value leads back to the failure, all values stay in memory until a garbage collection.
        """
        return self.with_near(self.near)

    def with_near(self, near: Iterable[tuple[str, str]]) -> KeyholeError:
        """Return the same failure with addresses near the dead one."""
        error = KeyholeError(self.code, self.message, **self.facts)
        error.near, error.reason = tuple(near), self.reason
        return error

    @property
    def rule(self) -> Rule:
        """Return the advice for this code."""
        return RULES[self.code]
