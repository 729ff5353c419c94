"""Read and write the cookie that holds the token of a person's browser, and read the form that sends the token once.

The cookie is the token itself, so that each of several servers can check it, and a revoked token ends at once. Its
prefix makes browsers accept it only over TLS and from this very host, never from a sibling domain.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Final
from urllib.parse import parse_qs

COOKIE: Final = "__Host-keyhole"
ATTRIBUTES: Final = "Path=/; Secure; HttpOnly; SameSite=Strict"
"""Attributes of the cookie. Without Max-Age, it ends with the browser."""
MAX_TOKEN_CHARS: Final = 3_800
"""Maximum characters of a token in a cookie: browsers keep cookies of up to 4,096 bytes with name and attributes."""
MAX_PATH_CHARS: Final = 2_000

_TOKEN: Final = re.compile(r"[A-Za-z0-9._~+/-]+=*")
"""A bearer token, RFC 6750 section 2.1. All its characters may be in a cookie."""
_PATH: Final = re.compile(r"/look/(?:[A-Za-z0-9_~/-]|%(?!2[Ee])[0-9A-Fa-f]{2})*(?:\?[A-Za-z0-9_~.%&=+:@-]*)?")
"""A path of the pages with its query. It has no dot, not even an encoded one, because two dots would lead elsewhere."""


@dataclass(frozen=True, slots=True)
class SignInForm:
    """The fields of a sign-in."""

    token: str = field(repr=False)
    """The token, "" if it cannot be kept in a cookie."""
    path: str
    """The path of the pages to go to."""


def read_token(headers: Iterable[tuple[bytes, bytes]]) -> str:
    """Return the token of a request, "" for none: that of its Authorization header or, without one, of its cookie."""
    cookies: list[str] = []
    for name, value in headers:
        text = value.decode("latin-1")
        if name == b"authorization":
            scheme, _, token = text.strip().partition(" ")
            return checked_token(token.strip()) if scheme.lower() == "bearer" else ""
        if name == b"cookie":
            pairs = (pair.strip().partition("=") for pair in text.split(";"))
            cookies += [content for key, _, content in pairs if key == COOKIE]
    # Two cookies of one name come from different places, and one of them may be an attacker's.
    return checked_token(cookies[0]) if len(cookies) == 1 else ""


def checked_token(token: str) -> str:
    """Return a token if a cookie can hold it, else ""."""
    return token if len(token) <= MAX_TOKEN_CHARS and _TOKEN.fullmatch(token) else ""


def read_sign_in(body: bytes) -> SignInForm:
    """Return the fields of a sign-in form; missing and invalid ones are empty."""
    try:
        fields = parse_qs(body.decode("ascii"), max_num_fields=10, errors="strict")
    except (ValueError, UnicodeDecodeError):
        return SignInForm("", own_path(""))
    token, path = (fields.get(name, [""])[0] for name in ("token", "next"))
    return SignInForm(checked_token(token.strip()), own_path(path))


def own_path(path: str) -> str:
    """Return a path if it is one of the pages, else that of the first page."""
    return path if len(path) <= MAX_PATH_CHARS and _PATH.fullmatch(path) else "/look/"


def keep_cookie(token: str) -> str:
    """Return the Set-Cookie header that keeps a token."""
    return f"{COOKIE}={token}; {ATTRIBUTES}"


def clear_cookie() -> str:
    """Return the Set-Cookie header that removes the token."""
    return f"{COOKIE}=; {ATTRIBUTES}; Max-Age=0"
