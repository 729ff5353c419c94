"""Check that a request for the pages comes from the pages themselves, or from an address that a person opened.

A page of another site can make a browser send requests with the cookie of this one. A sibling domain always can,
because SameSite counts it as the same site. Browsers state where a request comes from in Origin and Sec-Fetch-Site,
which pages cannot set. The caller has checked Host.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

from keyhole.serve.http.asgi import Refusal
from keyhole.serve.http.origins import LOOPBACK_HOSTS, WEB_PORTS, parse_authority, parse_origin

METHODS: Final = ("GET", "HEAD", "POST")
OWN: Final = "same-origin"

_FORM: Final = re.compile(r"application/x-www-form-urlencoded\s*(?:;\s*charset=utf-8\s*)?", re.IGNORECASE)
_METHOD: Final = Refusal(
    405, "method_not_allowed", "the allowed methods are GET and POST", (("allow", ", ".join(METHODS)),)
)
_TYPE: Final = Refusal(415, "unsupported_media_type", "the body must be a form, not compressed")
_FOREIGN: Final = Refusal(403, "cross_site", "the request comes from a page of another site")
_UNKNOWN: Final = Refusal(403, "cross_site", "a form of these pages is sent with its Origin")


def check_request(method: str, headers: Mapping[str, str]) -> Refusal | None:
    """Return the refusal of a request that another site may have caused, or None. Header names are in lower case."""
    if method not in METHODS:
        return _METHOD
    if method == "POST":
        return _check_form(headers) or _check_post(headers)
    return _check_get(headers)


def _check_form(headers: Mapping[str, str]) -> Refusal | None:
    is_form = _FORM.fullmatch(headers.get("content-type", "").strip())
    return None if is_form and headers.get("content-encoding", "identity") == "identity" else _TYPE


def _check_post(headers: Mapping[str, str]) -> Refusal | None:
    """Return the refusal of a form that is not of these pages, or None. Programs with a token need no Origin."""
    site, origin = headers.get("sec-fetch-site"), headers.get("origin")
    if site is not None:
        # With some referrer policies, the Origin of a page's own form is `null`.
        return None if site == OWN and (origin in {None, "null"} or _is_own(origin, headers)) else _FOREIGN
    if origin is not None:
        return None if _is_own(origin, headers) else _FOREIGN
    return None if "authorization" in headers else _UNKNOWN


def _check_get(headers: Mapping[str, str]) -> Refusal | None:
    """Return the refusal of a GET by another site's page, or None. A link to these pages may be followed."""
    if "origin" in headers and not _is_own(headers["origin"], headers):
        return _FOREIGN
    if headers.get("sec-fetch-site", OWN) in {OWN, "none"}:
        return None
    is_link = headers.get("sec-fetch-mode") == "navigate" and headers.get("sec-fetch-dest") == "document"
    return None if is_link else _FOREIGN


def _is_own(origin: str | None, headers: Mapping[str, str]) -> bool:
    """Return whether an Origin is that of the Host. It must be https, except on loopback."""
    page, host = parse_origin(origin or ""), parse_authority(headers.get("host", ""))
    if page is None or host is None or (page.scheme != "https" and page.host not in LOOPBACK_HOSTS):
        return False
    return (page.host, page.port) == (host.host, host.port or WEB_PORTS[page.scheme])
