"""Normalize URLs, hash them for the store and extract them from text, for the URL policy `known`.

Instructions in a page could make a model compose a URL that sends data of the conversation to an attacker. A URL that a
search result or a page already contained cannot carry such data.
"""

from __future__ import annotations

import hashlib
import re
import unicodedata
from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import islice
from typing import Final
from urllib.parse import unquote

from keyhole.errors import KeyholeError
from keyhole.fetch.urls import Target, parse_target, resolve_url

HASH_BYTES: Final = 16
"""128 bits make a second URL with the same hash infeasible to find."""
MAX_LINKS: Final = 5_000
"""Maximum of links remembered per text, about the number of links on the longest index pages."""

# The URL of a Markdown link, perhaps with parentheses in pairs, or a URL in plain text.
_LINK = re.compile(r"\]\(<?([^\s()<>]+(?:\([^\s()<>]*\)[^\s()<>]*)*)|(https?://[^\s<>\"`]+)", re.IGNORECASE)
_ESCAPED = re.compile(r"\\([!-/:-@\[-`{-~])")
_TRAILING_PUNCTUATION: Final = ".,;:!?'*_~|\\"
"""Punctuation after a URL that belongs to the sentence."""
_CLOSING_SIGN = re.compile("[)”’»。，、；：！？）」』】》]")
"""Signs that may end a URL in a sentence. Browsers escape those beyond ASCII when they copy a URL."""
_ESCAPE_OR_PARENTHESIS = re.compile(r"%([0-9A-Fa-f]{2})|[()%]")
_UNRESERVED = re.compile(r"[A-Za-z0-9._~-]")
_REPEATED_ESCAPE = re.compile(r"%(?:25)+")
_UTF_16_ESCAPE = re.compile(r"%u([0-9A-Fa-f]{4})")  # of Microsoft's servers
# A segment of dots. Servers ignore what follows a semicolon or NUL, and some ignore spaces. Windows replaces ⁄, ∕ and ∖
# when it converts a path to a code page.
_DOT_SEGMENT = re.compile(r"(?:^|[/\\⁄∕∖])\s*\.[.\s]*(?:[/\\⁄∕∖?#;\0]|$)")


def canonicalize(url: str) -> str:
    """Return the canonical form of a URL (RFC 3986, section 6.2.2). Raises KeyholeError for an invalid URL.

    The canonical form has no fragment, a lower-case host, no default port, no dot segments, and upper-case escapes only
    where necessary. Parentheses are escaped, as they are in the text of a page, and so are percent signs without two
    digits. Under the policy `known` this form is requested, so that variants of a known URL cannot carry data either.
    """
    return _canonical_url(parse_target(url))


def hash_url(url: str) -> bytes:
    """Return the hash of a canonical URL, under which the store remembers it."""
    return hashlib.blake2b(url.encode("ascii"), digest_size=HASH_BYTES).digest()


def hash_page_urls(url: str, text: str) -> frozenset[bytes]:
    """Return the hashes of a page's own URL and of every link in its text."""
    try:
        base = parse_target(url)
    except KeyholeError:  # relative links cannot be resolved
        return hash_urls(islice(_extract_links(text), MAX_LINKS))
    return hash_urls(islice(_extract_links(text), MAX_LINKS), base) | {hash_url(_canonical_url(base))}


def hash_urls(urls: Iterable[str], base: Target | None = None) -> frozenset[bytes]:
    """Return the hashes of URLs, which may be relative to `base`. Invalid URLs are skipped."""
    hashes = set()
    for url in dict.fromkeys(urls):
        try:
            hashes.add(hash_url(_canonical_url(_parse_link(url, base))))
        except KeyholeError:
            continue
    return frozenset(hashes)


def is_listed(url: str, entries: Iterable[str]) -> bool:
    """Return True if a canonical URL equals one of the entries, or begins with an entry that ends in `*`."""
    return any(_matches_entry(url, entry) for entry in entries)


def _matches_entry(url: str, entry: str) -> bool:
    try:
        listed = canonicalize(entry)
    except KeyholeError:
        return False
    if not entry.endswith("*"):
        return url == listed
    return url.startswith(listed.removesuffix("*")) and not _may_have_dot_segment(url)


def _may_have_dot_segment(url: str) -> bool:
    """Return True if a server may read a dot segment in a canonical URL, and so leave the folder of a prefix.

    Servers may decode an escape, once or repeatedly, before they resolve dot segments. They may read a backslash as a
    slash, ignore a segment's parameters (`..;x`), and replace full-width characters or invalid UTF-8.
    """
    try:
        decoded = unquote(_REPEATED_ESCAPE.sub("%", url), errors="strict")
    except UnicodeDecodeError:
        return True
    decoded = _UTF_16_ESCAPE.sub(lambda escape: chr(int(escape[1], 16)), decoded)
    return bool(_DOT_SEGMENT.search(unicodedata.normalize("NFKC", decoded)))


def _canonical_url(target: Target) -> str:
    return replace(target, path=_ESCAPE_OR_PARENTHESIS.sub(_normalize_escape, target.path)).url


def _normalize_escape(match: re.Match[str]) -> str:
    if match[1] is None:
        return f"%{ord(match[0]):02X}"
    character = chr(int(match[1], 16))
    return character if _UNRESERVED.fullmatch(character) else match[0].upper()


def _parse_link(url: str, base: Target | None) -> Target:
    if base is None or url[:8].lower().startswith(("http://", "https://")):
        return parse_target(url)
    return resolve_url(base, url)


def _extract_links(text: str) -> Iterator[str]:
    """Yield the URLs in a text. For a plain URL, whose end is uncertain, yield one URL for each likely end."""
    for match in _LINK.finditer(text):
        if match[2] is None:
            yield _ESCAPED.sub(r"\1", match[1])
            continue
        # [https://a.example](https://b.example) is one match with two URLs.
        for part in match[2].split("]("):
            yield from _likely_urls(_ESCAPED.sub(r"\1", part))


def _likely_urls(text: str) -> Iterator[str]:
    likely = (text, _CLOSING_SIGN.split(text, maxsplit=1)[0], text.rstrip(_TRAILING_PUNCTUATION + ")]}"))
    for url in dict.fromkeys(each.rstrip(_TRAILING_PUNCTUATION) for each in likely):
        yield url
        if text[len(url) :].startswith(("!", ".")):  # perhaps of a name, as in /wiki/Yahoo!
            yield text[: len(url) + 1]
