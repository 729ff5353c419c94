"""Parse, check and normalize URLs, and hash those that a text contains.

The client connects to exactly what this parser returns. A URL that two parsers may read differently (backslashes,
control characters, user names, percent-encoded hosts, shortened IPv4) is refused rather than repaired. Dot segments are
resolved as by browsers, so that permissions are checked for the path that is sent.
"""

from __future__ import annotations

import hashlib
import ipaddress
import re
import unicodedata
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import islice
from typing import Final
from urllib.parse import quote, unquote, urlencode, urlsplit

import idna

from keyhole.errors import Code, KeyholeError
from keyhole.fetch.permission import hides_segments

MAX_URL = 8_192
"""Characters. Servers limit request lines to about 8 KB, and URLs beyond that contain data rather than an address."""

DEFAULT_PORTS = {"http": 80, "https": 443}

_CONTROL = re.compile(r"[\x00-\x20\x7f-\x9f\ud800-\udfff]")
_LABEL = re.compile(r"[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?")
_NUMERIC_LABEL = re.compile(r"[0-9]+|0x[0-9a-f]*")
_SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*):")
_SPACES = " \t\r\n\f"
_HOST_FIRST = re.compile(r"(?://)?+([^\s/?#@:\\]+\.[^\s/?#@:\\.]+\.?(?::[0-9]+)?(?:[/?#].*)?)", re.DOTALL)
"""A URL without a scheme: a host with a dot, as in `example.org/path`."""

# RFC 3986 reserved and unreserved characters, and "%" so that existing escapes stay as they are.
_SAFE = "!$&'()*+,-./:;=?@_~%[]"

# Segments of a path that browsers resolve: https://url.spec.whatwg.org/#double-dot-path-segment
_SINGLE_DOT = re.compile(r"\.|%2e", re.IGNORECASE)
_DOUBLE_DOT = re.compile(r"(?:\.|%2e){2}", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Target:
    """A checked URL: ASCII, without fragment and user name, with the host in lower case."""

    scheme: str
    host: str
    port: int
    path: str

    @property
    def origin(self) -> tuple[str, str, int]:
        """Scheme, host and port, as RFC 6454 compares them."""
        return self.scheme, self.host, self.port

    @property
    def netloc(self) -> str:
        """Host and port as in a URL, without a default port."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return host if self.port == DEFAULT_PORTS[self.scheme] else f"{host}:{self.port}"

    @property
    def endpoint(self) -> str:
        """`host:port`, the form of the allow-list of private endpoints."""
        return f"{self.host}:{self.port}"

    @property
    def url(self) -> str:
        """The complete URL."""
        return f"{self.scheme}://{self.netloc}{self.path}"


def add_scheme(raw: str) -> str:
    """Return a URL with `https://` if it begins with a host instead of a scheme, as people write addresses."""
    url = raw.strip(_SPACES)
    without_scheme = _HOST_FIRST.fullmatch(url) if len(url) <= MAX_URL else None
    return f"https://{without_scheme[1]}" if without_scheme else raw


def parse_target(raw: str) -> Target:
    """Parse and check a URL.

    Raises KeyholeError: scheme_not_allowed for a scheme other than http and https, otherwise invalid_url.
    """
    url = raw.strip(_SPACES)
    if not url:
        raise _invalid_url("the URL is empty")
    if len(url) > MAX_URL:
        raise _invalid_url(f"the URL is longer than {MAX_URL:,} characters")
    scheme = _SCHEME.match(url)
    if scheme is None:
        raise _invalid_url("the URL has no scheme")
    if scheme[1].lower() not in DEFAULT_PORTS:
        raise KeyholeError(Code.SCHEME_NOT_ALLOWED, f"the scheme {scheme[1].lower()[:20]}: is not allowed")
    return _parse_http(scheme[1].lower(), url[scheme.end() :])


def resolve_url(current: Target, location: str) -> Target:
    """Resolve a link or `Location` header against the URL `current`, and check the result.

    A redirect from https to http is followed, as in browsers: requests contain no credentials, the caller may use http
    anyway, and the result names the URL that was read.
    """
    if "\\" in location:
        raise _invalid_url("the redirect's location contains a backslash")
    location = re.sub(r"[\t\r\n]", "", location.strip())  # https://url.spec.whatwg.org/#concept-basic-url-parser
    # After three slashes, some parsers read a path, but browsers read a host.
    if location.startswith("///"):
        raise _invalid_url("the redirect's location has no host")
    return parse_target(_join(current, location))


def _join(current: Target, location: str) -> str:
    """Return an absolute URL as RFC 3986, section 5.2.2, says. `urljoin` would also remove empty segments of the path.

    As in browsers, a location such as `https:page` is relative if `current` has the same scheme.
    """
    if _SCHEME.match(location):
        scheme, _, relative = location.partition(":")
        if scheme.lower() != current.scheme or relative.startswith("//"):
            return location
        location = relative
    if location.startswith("//"):
        return f"{current.scheme}:{location}"
    path, question_mark, query = current.path.partition("?")
    if location.startswith("/"):
        path = ""
    elif location[:1] in {"", "#"}:
        path += question_mark + query
    elif not location.startswith("?"):
        path = path[: path.rindex("/") + 1]
    return f"{current.scheme}://{current.netloc}{path}{location}"


def _parse_http(scheme: str, rest: str) -> Target:
    authority_and_path = re.fullmatch(r"//([^/?#]*)([^#]*)(?:#.*)?", rest, re.DOTALL)
    if authority_and_path is None:
        raise _invalid_url("the URL has no host")
    authority, path = authority_and_path.groups()
    if _CONTROL.search(authority) or "\\" in authority or "%" in authority:
        raise _invalid_url("the host contains characters that are not allowed")
    if "@" in authority:
        raise _invalid_url("user names in URLs are not accepted")
    if ("[" in authority or "]" in authority) and not re.fullmatch(r"\[[^\[\]]*\](?::[0-9]*)?", authority):
        raise _invalid_url("the IPv6 address is malformed")
    try:
        parts = urlsplit(f"//{authority}")
        host, port = parts.hostname or "", parts.port
    except ValueError as error:
        raise _invalid_url(f"the host or port is malformed: {error}") from error
    if port == 0:
        raise _invalid_url("port 0 cannot be connected to")
    checked_host = _check_host(host, bracketed="[" in authority)
    target = Target(scheme, checked_host, port or DEFAULT_PORTS[scheme], _escape_path(path))
    # Check the length once more after escaping, since one character may become twelve.
    if len(target.url) > MAX_URL:
        raise _invalid_url(f"the URL is longer than {MAX_URL:,} characters")
    return target


def _escape_path(path: str) -> str:
    if "\\" in path.partition("?")[0]:
        raise _invalid_url("the path contains a backslash")
    # Line breaks and NUL would end the request line. Browsers drop or refuse them.
    if re.search(r"[\x00\r\n\t\ud800-\udfff]", path):
        raise _invalid_url("the path contains characters that are not allowed")
    path, question_mark, query = quote(path.encode("utf-8"), safe=_SAFE).partition("?")
    return "/" + _resolve_dot_segments(path.removeprefix("/")) + question_mark + query


def _resolve_dot_segments(path: str) -> str:
    """Resolve `.` and `..` in a path without its first slash, also if their dots are escaped. Keep empty segments."""
    segments = path.split("/")
    resolved: list[str] = []
    for segment in segments:
        if _DOUBLE_DOT.fullmatch(segment):
            del resolved[-1:]
        elif not _SINGLE_DOT.fullmatch(segment):
            resolved.append(segment)
    if _SINGLE_DOT.fullmatch(segments[-1]) or _DOUBLE_DOT.fullmatch(segments[-1]):
        resolved.append("")
    return "/".join(resolved)


def _check_host(host: str, *, bracketed: bool) -> str:
    if bracketed:
        try:
            return str(ipaddress.IPv6Address(host))
        except ValueError as error:
            raise _invalid_url("the IPv6 address is malformed") from error
    ascii_host = _to_ascii(host).removesuffix(".")
    labels = ascii_host.split(".")
    if len(ascii_host) > 253 or not all(_LABEL.fullmatch(label) for label in labels):
        raise _invalid_url("the host name is malformed")
    # The WHATWG URL standard reads a host whose last label is a number as IPv4, in forms like 0x7f.1 and 127.1;
    # resolvers do the same. Only the plain dotted form has the same meaning for all of them.
    if _NUMERIC_LABEL.fullmatch(labels[-1]):
        try:
            return str(ipaddress.IPv4Address(ascii_host))
        except ValueError as error:
            raise _invalid_url("the IPv4 address is not in plain dotted form") from error
    if _is_non_ascii_number(labels[-1]):
        raise _invalid_url("the host name ends in a number of another script")
    return ascii_host


def _is_non_ascii_number(label: str) -> bool:
    """Return True for digits that IDNA accepts, such as Thai ones. Some programs convert them to a number."""
    try:
        return label.startswith("xn--") and label[4:].encode("ascii").decode("punycode").isdecimal()
    except (UnicodeError, OverflowError, ValueError):
        return False


def _to_ascii(host: str) -> str:
    if not host:
        raise _invalid_url("the URL has no host")
    if host.isascii():
        return host.lower()
    try:
        # Non-transitional UTS 46, as browsers do it: faß.example is xn--fa-hia.example, not fass.example.
        return idna.encode(host, uts46=True).decode("ascii").lower()
    except (idna.IDNAError, UnicodeError) as error:
        raise _invalid_url("the host name is not a valid internationalised name") from error


def _invalid_url(reason: str) -> KeyholeError:
    return KeyholeError(Code.INVALID_URL, reason)


# Addresses of APIs: composed from parts of an address that a caller or a page wrote.
#
# Such a part could lead to another object of the API: with a slash, with dots that a server resolves after decoding, or
# with a further parameter. So each part is quoted as one segment or value, and one that decodes to dots is refused.


def api_address(base: str, *segments: str, **query: str | int) -> str:
    """Return the address below `base`, without a slash at its end, with these segments and the parameters of a query.

    `segments`: as in an address, where an escaped slash stays within its segment. Raises ValueError for parts that a
    server could read as another address.
    """
    path = "".join(f"/{quote(unquote(segment), safe='')}" for segment in segments)
    address = f"{base}{path}" + (f"?{urlencode(query, quote_via=quote, safe='')}" if query else "")
    try:
        target = parse_target(address)
    except KeyholeError as error:
        raise ValueError("the address has parts that are not allowed") from error
    is_below = target.url == address and (address == base or address.startswith((f"{base}/", f"{base}?")))
    has_control = any(character < " " for segment in segments for character in unquote(segment))
    if "" in segments or has_control or hides_segments(address) or not is_below:
        raise ValueError("the address has parts that lead elsewhere")
    return address


def segments_of(path: str) -> list[str]:
    """Return the segments of a path in an address."""
    return [segment for segment in path.split("/") if segment]


# Known URLs: normalized, hashed for the store and extracted from text, for the URL policy `known`.
#
# Instructions in a page could make a model compose a URL that sends data of the conversation to an attacker. A URL that
# a search result or a page already contained cannot carry such data.

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
