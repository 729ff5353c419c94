"""Which URLs may be asked for, and where a redirect leads. Pure: names are not resolved here.

One parser decides and the client connects to what it decided: a URL that two parsers could read in two ways
(backslashes, control characters, user names, percent-encoded hosts, shortened IPv4) is refused, not repaired.
"""

from __future__ import annotations

import ipaddress
import re
from dataclasses import dataclass
from urllib.parse import quote, urljoin, urlsplit

import idna

from keyhole.errors import Code, KeyholeError

MAX_URL = 8_192
"""Characters. Servers refuse far earlier (8 KB request lines), and longer ones carry data, not addresses."""

DEFAULT_PORTS = {"http": 80, "https": 443}

_CONTROL = re.compile(r"[\x00-\x20\x7f-\x9f\ud800-\udfff]")
_LABEL = re.compile(r"[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?")
_NUMERIC_LABEL = re.compile(r"[0-9]+|0x[0-9a-f]*")
_SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*):")

# RFC 3986 reserved and unreserved characters, and "%" so that existing escapes stay as they are.
_SAFE = "!$&'()*+,-./:;=?@_~%[]"


@dataclass(frozen=True, slots=True)
class Target:
    """A URL that may be asked for: ASCII, without fragment and user name, host in lower case."""

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
        """Host and port as they stand in a URL; a default port is left out."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return host if self.port == DEFAULT_PORTS[self.scheme] else f"{host}:{self.port}"

    @property
    def endpoint(self) -> str:
        """`host:port`, the form of the allow-list of private endpoints."""
        return f"{self.host}:{self.port}"

    @property
    def url(self) -> str:
        """The whole URL."""
        return f"{self.scheme}://{self.netloc}{self.path}"


def parse_target(raw: str) -> Target:
    """Check a URL given by a caller.

    Raises KeyholeError: scheme_not_allowed for anything but http and https, invalid_url for the rest.
    """
    url = raw.strip(" \t\r\n\f")
    if not url:
        raise _invalid("the URL is empty")
    if len(url) > MAX_URL:
        raise _invalid(f"the URL is longer than {MAX_URL:,} characters")
    scheme = _SCHEME.match(url)
    if scheme is None:
        raise _invalid("the URL has no scheme")
    if scheme[1].lower() not in DEFAULT_PORTS:
        raise KeyholeError(Code.SCHEME_NOT_ALLOWED, f"the scheme {scheme[1].lower()[:20]}: is not allowed")
    return _parse_http(scheme[1].lower(), url[scheme.end() :])


def redirect_target(current: Target, location: str) -> Target:
    """Where a `Location` header leads from `current`; checked like a URL given by a caller.

    A step from https down to http is taken, as browsers take it: no credentials travel that could leak, the caller
    may ask for http anyway, and the result names the URL that was read.
    """
    if "\\" in location:
        raise _invalid("the redirect's location has a backslash")
    # A path for some parsers; a host after too many slashes for browsers.
    if location.strip().startswith("///"):
        raise _invalid("the redirect's location has no host")
    try:
        joined = urljoin(current.url, location.strip())
    except ValueError as error:
        raise _invalid("the redirect's location is malformed") from error
    return parse_target(joined)


def _parse_http(scheme: str, rest: str) -> Target:
    authority_and_path = re.fullmatch(r"//([^/?#]*)([^#]*)(?:#.*)?", rest, re.DOTALL)
    if authority_and_path is None:
        raise _invalid("the URL has no host")
    authority, path = authority_and_path.groups()
    if _CONTROL.search(authority) or "\\" in authority or "%" in authority:
        raise _invalid("the host has characters that hosts do not have")
    if "@" in authority:
        raise _invalid("user names in URLs are not accepted")
    if ("[" in authority or "]" in authority) and not re.fullmatch(r"\[[^\[\]]*\](?::[0-9]*)?", authority):
        raise _invalid("the IPv6 address is malformed")
    try:
        parts = urlsplit(f"//{authority}")
        host, port = parts.hostname or "", parts.port
    except ValueError as error:
        raise _invalid(f"the host or port is malformed: {error}") from error
    if port == 0:
        raise _invalid("port 0 cannot be connected to")
    checked = _check_host(host, bracketed="[" in authority)
    target = Target(scheme, checked, port or DEFAULT_PORTS[scheme], _path(path))
    # Once more as it goes over the wire: escaped, a character may take twelve.
    if len(target.url) > MAX_URL:
        raise _invalid(f"the URL is longer than {MAX_URL:,} characters")
    return target


def _path(path: str) -> str:
    if "\\" in path.partition("?")[0]:
        raise _invalid("the path has a backslash")
    # Line breaks and NUL would end the request line; every browser drops or refuses them.
    if re.search(r"[\x00\r\n\t\ud800-\udfff]", path):
        raise _invalid("the path has characters that URLs do not have")
    escaped = quote(path.encode("utf-8"), safe=_SAFE)
    return escaped if escaped.startswith("/") else "/" + escaped


def _check_host(host: str, *, bracketed: bool) -> str:
    if bracketed:
        try:
            return str(ipaddress.IPv6Address(host))
        except ValueError as error:
            raise _invalid("the IPv6 address is malformed") from error
    ascii_host = _to_ascii(host).removesuffix(".")
    labels = ascii_host.split(".")
    if len(ascii_host) > 253 or not all(_LABEL.fullmatch(label) for label in labels):
        raise _invalid("the host name is malformed")
    # The WHATWG URL standard reads a host whose last label is a number as IPv4, in forms like 0x7f.1 and 127.1;
    # resolvers do the same. Only the plain dotted form is read the same way by everyone.
    if _NUMERIC_LABEL.fullmatch(labels[-1]):
        try:
            return str(ipaddress.IPv4Address(ascii_host))
        except ValueError as error:
            raise _invalid("the IPv4 address is not in plain dotted form") from error
    if _is_foreign_number(labels[-1]):
        raise _invalid("the host name ends in a number of another script")
    return ascii_host


def _is_foreign_number(label: str) -> bool:
    """Digits that IDNA keeps, such as Thai ones: a name for browsers, a number for programs that convert them."""
    try:
        return label.startswith("xn--") and label[4:].encode("ascii").decode("punycode").isdecimal()
    except (UnicodeError, OverflowError, ValueError):
        return False


def _to_ascii(host: str) -> str:
    if not host:
        raise _invalid("the URL has no host")
    if host.isascii():
        return host.lower()
    try:
        # Non-transitional UTS 46, as browsers do it: faß.example is xn--fa-hia.example, not fass.example.
        return idna.encode(host, uts46=True).decode("ascii").lower()
    except (idna.IDNAError, UnicodeError) as error:
        raise _invalid("the host name is not a valid internationalised name") from error


def _invalid(reason: str) -> KeyholeError:
    return KeyholeError(Code.INVALID_URL, reason)
