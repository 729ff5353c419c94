"""The exception `KeyholeError` and its error codes.

The table `RULES` states for each code whether a retry may succeed, and the next step. docs/reference/errors.md
shows this table, and a test compares the two. render/answer.py turns errors into text.
"""

from __future__ import annotations

from collections.abc import Mapping
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
    UNKNOWN_ARTIFACT = "unknown_artifact"
    EXPIRED_ARTIFACT = "expired_artifact"
    DAMAGED_ARTIFACT = "damaged_artifact"
    STORE_UNAVAILABLE = "store_unavailable"
    QUOTE_NOT_FOUND = "quote_not_found"
    NO_RESULTS = "no_results"
    KEY_REFUSED = "key_refused"
    ENGINE_UNAVAILABLE = "engine_unavailable"
    INTERNAL_ERROR = "internal_error"


@dataclass(frozen=True, slots=True)
class Rule:
    """The advice for one code. `retry`: True if the same call may succeed later. `next_step`: what to do next."""

    retry: bool
    next_step: str


RULES: Mapping[Code, Rule] = MappingProxyType(
    {
        Code.INVALID_ARGUMENT: Rule(False, "Call again with the argument as described."),
        Code.INVALID_URL: Rule(False, "Give one absolute http:// or https:// URL."),
        Code.SCHEME_NOT_ALLOWED: Rule(False, "Only http and https are fetched."),
        Code.BLOCKED_ADDRESS: Rule(
            False,
            "Only public addresses, names and web ports are fetched; "
            "the operator can allow one host:port with KEYHOLE_ALLOW_PRIVATE.",
        ),
        Code.DOMAIN_NOT_ALLOWED: Rule(False, "Use a source on another site; the operator sets the lists of domains."),
        Code.ROBOTS_DISALLOWED: Rule(
            False, "Use another source; the operator can set KEYHOLE_ROBOTS=off where the site's owner agrees."
        ),
        Code.URL_NOT_KNOWN: Rule(
            False,
            "Copy a URL exactly from a search result or a fetched page, or search for one. "
            "The operator can add it to KEYHOLE_KNOWN_URLS.",
        ),
        Code.DNS_FAILURE: Rule(True, "Check the host name; search for the right site if unsure."),
        Code.CONNECT_FAILURE: Rule(True, "The site is down or unreachable; use another source."),
        Code.TLS_FAILURE: Rule(False, "The site's certificate is not valid; use another source."),
        Code.PROTOCOL_ERROR: Rule(True, "Try again, or use another source."),
        Code.TIMEOUT: Rule(True, "Try once more, or use another source."),
        Code.TOO_MANY_REDIRECTS: Rule(False, "The site redirects in a loop; use another URL."),
        Code.TOO_LARGE: Rule(False, "Look for a smaller page or a text version."),
        Code.DECOMPRESSION_BOMB: Rule(False, "The response is hostile; do not fetch it again."),
        Code.UNSUPPORTED_ENCODING: Rule(False, "The server ignored Keyhole's Accept-Encoding; use another source."),
        Code.HTTP_STATUS: Rule(False, "Check the URL, or use another source."),
        Code.FORBIDDEN: Rule(False, "The site refuses this request; look for its API or feed, or use another source."),
        Code.SERVER_ERROR: Rule(True, "The site has a fault; try later, or use another source."),
        Code.RATE_LIMITED: Rule(True, "Wait before asking this site again, or use another source."),
        Code.LOGIN_REQUIRED: Rule(False, "The page needs an account; use a public source."),
        Code.CONSENT_REQUIRED: Rule(False, "Keyhole does not answer consent dialogs; use another source."),
        Code.PAYWALLED: Rule(False, "The text is for subscribers; use a public source."),
        Code.NOT_FOUND: Rule(False, "Check the URL, or search for where the page went."),
        Code.BOT_CHALLENGE: Rule(
            False, "The site lets only browsers in; look for its API or feed, or use another source."
        ),
        Code.EMPTY_DOCUMENT: Rule(False, "Use another source for the same content."),
        Code.JAVASCRIPT_REQUIRED: Rule(
            False, "The page needs JavaScript, which Keyhole does not run; look for an API, a feed, or another source."
        ),
        Code.UNSUPPORTED_MEDIA: Rule(False, "Look for an HTML or text version of the same content."),
        Code.ENCRYPTED_DOCUMENT: Rule(False, "Look for an open copy."),
        Code.EXTRACTION_FAILED: Rule(False, "Use another source for the same content."),
        Code.UNKNOWN_ARTIFACT: Rule(False, "Copy the id from a web_fetch or search result, or fetch the URL."),
        Code.EXPIRED_ARTIFACT: Rule(False, "Fetch the URL again with web_fetch."),
        Code.DAMAGED_ARTIFACT: Rule(False, "Fetch the URL again with web_fetch."),
        Code.STORE_UNAVAILABLE: Rule(True, "Call again with the same id; if it fails again, fetch the URL again."),
        Code.QUOTE_NOT_FOUND: Rule(False, "Shorten the quote, or call with query= instead of find=."),
        Code.NO_RESULTS: Rule(False, "Use fewer or more general words, or drop a filter."),
        Code.KEY_REFUSED: Rule(
            False, "The operator must correct the key; other engines and web_fetch work without it."
        ),
        Code.ENGINE_UNAVAILABLE: Rule(True, "Meanwhile, fetch a known URL with web_fetch."),
        Code.INTERNAL_ERROR: Rule(True, "Try once more; the server's log on stderr has details."),
    }
)


class KeyholeError(Exception):
    """A failed call. `message`: one sentence about the failure. `facts`: values for programs, returned in `_meta`."""

    def __init__(self, code: Code, message: str, **facts: str | int | float) -> None:
        super().__init__(code, message)
        self.code = code
        self.message = message
        self.facts = facts

    @property
    def rule(self) -> Rule:
        """Return the advice for this code."""
        return RULES[self.code]
