"""When two URLs are one, and which URLs a text holds: what the policy `known` goes by. Pure; the store remembers.

A model that a page has turned can carry what it knows out of a conversation in a URL that it writes itself. A URL
that was there before, in a result or a page, carries nothing but the choice of it.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import islice
from typing import Final

from keyhole.errors import KeyholeError
from keyhole.fetch.urls import Target, parse_target, redirect_target

KEY_BYTES: Final = 16
"""128 bits: nobody finds a URL that has the key of another one."""
MAX_LINKS: Final = 5_000
"""Links of one text that are remembered: the longest index pages have about so many."""

# The address of a Markdown link, or an address that stands in the text as it is.
_LINK = re.compile(r"\]\(<?([^\s()<>]+)|(https?://[^\s<>\"`]+)", re.IGNORECASE)
_ESCAPED = re.compile(r"\\([!-/:-@\[-`{-~])")
_MARKS: Final = ".,;:!?'*_~|\\"
"""Marks after an address that are the sentence's, not its own."""
_SPELLING = re.compile(r"%([0-9A-Fa-f]{2})|[()]")
_UNRESERVED = re.compile(r"[A-Za-z0-9._~-]")


def canonical(url: str) -> str:
    """The one spelling of a URL (RFC 3986, section 6.2.2): no fragment, host in lower case, no default port, escapes
    in upper case and only where they are needed; parentheses are escaped, as they are in the text of a page.

    In the policy `known` this is what is asked for: how a known URL is spelt must not carry data either.
    Raises KeyholeError for what is no URL.
    """
    return _spelt(parse_target(url))


def key(url: str) -> bytes:
    """What the store remembers of a canonical URL."""
    return hashlib.blake2b(url.encode("ascii"), digest_size=KEY_BYTES).digest()


def keys_of(url: str, text: str) -> frozenset[bytes]:
    """The keys of a page's own URL and of every link in its text."""
    try:
        base = parse_target(url)
    except KeyholeError:  # of such a page the whole addresses are known, and no relative ones
        return keys(islice(_links(text), MAX_LINKS))
    return keys(islice(_links(text), MAX_LINKS), base) | {key(_spelt(base))}


def keys(urls: Iterable[str], base: Target | None = None) -> frozenset[bytes]:
    """The keys of some URLs, relative ones from `base`; what is no URL is left out."""
    found = set()
    for url in dict.fromkeys(urls):
        try:
            found.add(key(_spelt(_target(url, base))))
        except KeyholeError:
            continue
    return frozenset(found)


def configured(url: str, entries: Iterable[str]) -> bool:
    """Whether the operator's entries hold a canonical URL: the URL itself, or a beginning that ends with `*`."""
    return any(_covers(entry, url) for entry in entries)


def _covers(entry: str, url: str) -> bool:
    try:
        beginning = canonical(entry.removesuffix("*"))
    except KeyholeError:
        return False
    if not entry.endswith("*"):
        return url == beginning
    # A server may read /docs/../private as /private: such a path is nowhere surely under a beginning.
    return url.startswith(beginning) and not re.search(r"/\.{1,2}(?:[/?]|$)", url)


def _spelt(target: Target) -> str:
    return replace(target, path=_SPELLING.sub(_one_spelling, target.path)).url


def _one_spelling(found: re.Match[str]) -> str:
    if found[1] is None:
        return f"%{ord(found[0]):02X}"
    character = chr(int(found[1], 16))
    return character if _UNRESERVED.fullmatch(character) else found[0].upper()


def _target(url: str, base: Target | None) -> Target:
    if base is None or url[:8].lower().startswith(("http://", "https://")):
        return parse_target(url)
    return redirect_target(base, url)


def _links(text: str) -> Iterator[str]:
    """Addresses in a text, as they stand. Where a bare one ends is not sure, so that each likely end gives one."""
    for found in _LINK.finditer(text):
        if found[2] is None:
            yield _ESCAPED.sub(r"\1", found[1])
            continue
        # [https://a.example](https://b.example) is one run of characters with two addresses.
        for part in found[2].split("]("):
            yield from _likely(_ESCAPED.sub(r"\1", part))


def _likely(address: str) -> Iterator[str]:
    marks = address.rstrip(_MARKS)
    yield marks
    if any(mark in marks for mark in ")]}"):
        yield address.partition(")")[0].rstrip(_MARKS)
        yield address.rstrip(_MARKS + ")]}")
