"""URLs are checked and normalized; a URL that two parsers may read differently is refused."""

from __future__ import annotations

import posixpath
import re
import time
from ipaddress import ip_address
from urllib.parse import unquote, urlsplit

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from keyhole.errors import Code, KeyholeError
from keyhole.extract.html.link_resolver import resolve_link
from keyhole.fetch.urls import (
    DEFAULT_PORTS,
    MAX_LINKS,
    MAX_URL,
    Target,
    add_scheme,
    canonicalize,
    hash_page_urls,
    hash_url,
    hash_urls,
    is_listed,
    parse_target,
    resolve_url,
)
from keyhole.text.markdown import shorten_link

PIECES = st.sampled_from(
    [
        "http://", "https://", "HTTP://", "//", "/", "\\", "?", "#", "@", ":", ":80", ":443", ":0", ":99999", "%",
        "%2f", "%2E", "/../", "[", "]", "[::1]", "127.0.0.1", "0x7f.1", "1", "example.org", "EXAMPLE",
        "münchen.de", "。", "١", "xn--a", "-", "_", ".", "..", " ", "\t", "\r\n", "\x00", "\x7f", "\ud800", "é", "中",
        "😀", "a", "&b=c", "+", "\u200d", "ß",
    ]
)  # fmt: skip
URLS = st.lists(PIECES | st.text(max_size=3), max_size=12).map("".join)
HTTP_URLS = st.builds(lambda scheme, rest: f"{scheme}://{rest}", st.sampled_from(["http", "https"]), URLS)


def code_of(raw: str) -> Code:
    """Return the error code for a URL."""
    with pytest.raises(KeyholeError) as caught:
        parse_target(raw)
    return caught.value.code


@pytest.mark.parametrize(
    ("raw", "url"),
    [
        ("http://example.org", "http://example.org/"),
        ("https://example.org/a/b?c=d&e", "https://example.org/a/b?c=d&e"),
        ("  https://example.org/ \n", "https://example.org/"),
        ("HTTPS://Example.ORG/CasE", "https://example.org/CasE"),
        ("http://example.org:80/", "http://example.org/"),
        ("https://example.org:443/", "https://example.org/"),
        ("http://example.org:443/", "http://example.org:443/"),
        ("http://example.org:/", "http://example.org/"),
        ("http://example.org:08080/", "http://example.org:8080/"),
        ("http://example.org./", "http://example.org/"),
        ("http://example.org?q=1", "http://example.org/?q=1"),
        ("http://example.org#part", "http://example.org/"),
        ("http://example.org/a#b#c?d", "http://example.org/a"),
        ("http://example.org/a b/c d?e f=g h", "http://example.org/a%20b/c%20d?e%20f=g%20h"),
        ("http://example.org/ä?ö=中", "http://example.org/%C3%A4?%C3%B6=%E4%B8%AD"),
        ("http://example.org/%C3%A4/%2F/%zz", "http://example.org/%C3%A4/%2F/%zz"),
        ('http://example.org/"<>^`{|}', "http://example.org/%22%3C%3E%5E%60%7B%7C%7D"),
        ("http://example.org/a//b///", "http://example.org/a//b///"),
        ("http://example.org/?q=a\\b", "http://example.org/?q=a%5Cb"),
        ("http://example.org/\x01\x7f", "http://example.org/%01%7F"),
        ("http://user.example.org/@user", "http://user.example.org/@user"),
        ("http://my_host.example.org/", "http://my_host.example.org/"),
        ("http://127.0.0.1:8080/", "http://127.0.0.1:8080/"),
        ("http://[::1]:8080/", "http://[::1]:8080/"),
        ("http://[2001:DB8:0:0::1]/", "http://[2001:db8::1]/"),
        ("http://localhost/", "http://localhost/"),
    ],
)
def test_a_url_is_normalized(raw: str, url: str) -> None:
    assert parse_target(raw).url == url


@pytest.mark.parametrize(
    ("path", "resolved"),
    [
        ("/a/../b/./c", "/b/c"),
        ("/a/%2e%2e/b", "/b"),
        ("/a/%2E./b", "/b"),
        ("/a/.%2e/b", "/b"),
        ("/a/%2e/b", "/a/b"),
        ("/a/b/..", "/a/"),
        ("/a/b/.", "/a/b/"),
        ("/..", "/"),
        ("/../../a", "/a"),
        ("/a//../b", "/a/b"),
        ("/a/..//b", "//b"),
        ("/./a", "/a"),
        ("?a=/../b", "/?a=/../b"),
        ("/a/..?b=../c", "/?b=../c"),
        ("/a/../b#/../c", "/b"),
        ("/a/.../..b/c..", "/a/.../..b/c.."),
        ("/a/..%2fb", "/a/..%2fb"),
        ("/a/..;/b", "/a/..;/b"),
        ("/a/%252e%252e/b", "/a/%252e%252e/b"),
    ],
)
def test_dot_segments_are_resolved_as_by_browsers(path: str, resolved: str) -> None:
    assert parse_target(f"http://example.org{path}").path == resolved


@pytest.mark.parametrize(
    ("raw", "host"),
    [
        ("http://münchen.de/", "xn--mnchen-3ya.de"),
        ("http://MÜNCHEN.DE/", "xn--mnchen-3ya.de"),
        ("http://faß.de/", "xn--fa-hia.de"),
        ("http://例え.テスト/", "xn--r8jz45g.xn--zckzah"),
        ("http://例え。テスト/", "xn--r8jz45g.xn--zckzah"),
        ("http://हिन्दी.भारत/", "xn--j2bd4cyah0f.xn--h2brj9c"),
        ("http://ｅｘａｍｐｌｅ.org/", "example.org"),
        ("http://１２７.0.0.1/", "127.0.0.1"),
    ],
)
def test_an_international_host_is_converted_to_ascii(raw: str, host: str) -> None:
    assert parse_target(raw).host == host


@pytest.mark.parametrize(
    ("raw", "url"),
    [
        ("example.org", "https://example.org"),
        (" docs.example.org/a?b=c#d ", "https://docs.example.org/a?b=c#d"),
        ("//example.org/a", "https://example.org/a"),
        ("example.org:8443/a", "https://example.org:8443/a"),
        ("bücher.example?q=https://x/", "https://bücher.example?q=https://x/"),
        ("127.0.0.1/a", "https://127.0.0.1/a"),
    ],
)
def test_a_host_without_a_scheme_means_https(raw: str, url: str) -> None:
    assert add_scheme(raw) == url
    assert parse_target(url).scheme == "https"


@pytest.mark.parametrize(
    "raw",
    ["", "https://example.org", "http:/x.y", "/path/a.html", "docs/a.html", "?q=a.b", "user@example.org", "a.b:c",
     "word", "localhost:8080/x", "file:///a.b", "mailto:a@b.c", "example.org\\x", "two words.org"],
)  # fmt: skip
def test_other_text_without_a_scheme_is_left_as_it_is(raw: str) -> None:
    assert add_scheme(raw) == raw


@pytest.mark.parametrize("raw", ["", "   ", "example.org", "/path", "//example.org/", "http", "http:", "http:/x", "?q"])
def test_text_that_is_not_an_absolute_url_is_refused(raw: str) -> None:
    assert code_of(raw) is Code.INVALID_URL


@pytest.mark.parametrize(
    "raw",
    [
        "file:///etc/passwd",
        "ftp://example.org/",
        "javascript:alert(1)",
        "data:text/html,x",
        "localhost:8080/x",
        "ws://a/",
    ],
)
def test_other_schemes_are_refused(raw: str) -> None:
    assert code_of(raw) is Code.SCHEME_NOT_ALLOWED


@pytest.mark.parametrize(
    "raw",
    [
        "http:///path",
        "http://",
        "http://:80/",
        "http://./",
        "http://../",
        "http://a..b/",
        "http://.a/",
        "http://-a.example/",
        "http://a-.example/",
        "http://a b/",
        "http://a\tb/",
        "http://a\r\nb/",
        "http://a\x00b/",
        "http://a\x7fb/",
        "http://a\u00a0b/",
        "http://a\ud800b/",
        "http://a,b/",
        "http://*.example.org/",
        "http://exa%6dple.org/",
        "http://127.0.0.1%00.example.org/",
        "http://" + "a" * 64 + ".org/",
        "http://" + "a." * 130 + "org/",
        "http://a\u200db/",
        "http://℀.org/",
    ],
)
def test_an_invalid_host_is_refused(raw: str) -> None:
    assert code_of(raw) is Code.INVALID_URL


@pytest.mark.parametrize(
    "raw",
    [
        "http://127.1/",
        "http://127.0.1/",
        "http://2130706433/",
        "http://0x7f000001/",
        "http://0x7f.0.0.1/",
        "http://0x7f.1/",
        "http://0177.0.0.1/",
        "http://127.0.0.01/",
        "http://1.2.3.4.5/",
        "http://256.0.0.1/",
        "http://0/",
        "http://0x/",
        "http://example.1/",
        "http://example.0x1/",
        "http://１２７.1/",
    ],
)
def test_a_shortened_or_disguised_ipv4_address_is_refused(raw: str) -> None:
    assert code_of(raw) is Code.INVALID_URL


@pytest.mark.parametrize(
    "raw",
    [
        "http://[::1/",
        "http://::1/",
        "http://[]/",
        "http://[127.0.0.1]/",
        "http://[fe80::1%25eth0]/",
        "http://[fe80::1%eth0]/",
        "http://[v1.x]/",
        "http://[::1]x/",
        "http://example.org[::1]/",
        "http://[2606:4700::1]example.org:80/",
        "http://[::1][::2]/",
    ],
)
def test_a_malformed_ipv6_host_is_refused(raw: str) -> None:
    assert code_of(raw) is Code.INVALID_URL


@pytest.mark.parametrize("raw", ["http://user@example.org/", "http://user:pass@example.org/", "http://@example.org/"])
def test_user_names_are_refused(raw: str) -> None:
    assert code_of(raw) is Code.INVALID_URL


@pytest.mark.parametrize(
    "raw",
    [
        "http:\\\\example.org/",
        "http://example.org\\@evil.example/",
        "http://example.org\\path",
        "http://example.org/a\\..\\b",
        "\\\\example.org/",
    ],
)
def test_backslashes_are_refused_before_the_query(raw: str) -> None:
    assert code_of(raw) is Code.INVALID_URL


@pytest.mark.parametrize("raw", ["http://a/b\r\nHost: c", "http://a/b\nc", "http://a/b\tc", "http://a/?b\x00c"])
def test_line_breaks_tabs_and_nul_are_refused_anywhere(raw: str) -> None:
    assert code_of(raw) is Code.INVALID_URL


@pytest.mark.parametrize("port", ["0", "65536", "99999", "-1", "+80", "8a", "٨٠", "80:80", "1" * 5_000])
def test_an_invalid_port_is_refused(port: str) -> None:
    assert code_of(f"http://example.org:{port}/") is Code.INVALID_URL


def test_a_lone_surrogate_is_refused_and_not_replaced() -> None:
    assert code_of("http://example.org/a\ud800b") is Code.INVALID_URL


def test_the_length_of_a_url_is_limited_after_escaping() -> None:
    base = "http://example.org/"
    assert len(parse_target(base + "a" * (MAX_URL - len(base))).url) == MAX_URL
    assert code_of(base + "a" * (MAX_URL + 1 - len(base))) is Code.INVALID_URL
    assert code_of(base + "中" * 1_000) is Code.INVALID_URL, "9,000 characters once escaped"


def test_a_target_has_origin_netloc_and_endpoint() -> None:
    target = parse_target("https://[2001:db8::1]:8443/a?b#c")
    assert target == Target("https", "2001:db8::1", 8443, "/a?b")
    assert target.origin == ("https", "2001:db8::1", 8443)
    assert target.netloc == "[2001:db8::1]:8443"
    assert target.endpoint == "2001:db8::1:8443"


@pytest.mark.parametrize(
    ("location", "url"),
    [
        ("/new", "https://example.org/new"),
        ("new", "https://example.org/dir/new"),
        ("../up", "https://example.org/up"),
        ("?q=2", "https://example.org/dir/page?q=2"),
        ("#part", "https://example.org/dir/page?q=1"),
        ("//other.example/x", "https://other.example/x"),
        ("http://other.example:8080/x", "http://other.example:8080/x"),
        (" /spaced ", "https://example.org/spaced"),
        ("/a b/ü", "https://example.org/a%20b/%C3%BC"),
        ("/a/./b/../c", "https://example.org/a/c"),
        ("%2e%2e/up", "https://example.org/up"),
        ("a//b/../c", "https://example.org/dir/a//c"),
        ("https:relative", "https://example.org/dir/relative"),
        ("", "https://example.org/dir/page?q=1"),
        ("https://münchen.de/", "https://xn--mnchen-3ya.de/"),
    ],
)
def test_a_location_is_resolved_against_the_current_url(location: str, url: str) -> None:
    assert resolve_url(parse_target("https://example.org/dir/page?q=1"), location).url == url


@pytest.mark.parametrize(
    ("location", "code"),
    [
        ("file:///etc/passwd", Code.SCHEME_NOT_ALLOWED),
        ("gopher://127.0.0.1:70/", Code.SCHEME_NOT_ALLOWED),
        ("javascript:alert(1)", Code.SCHEME_NOT_ALLOWED),
        ("http://user@example.org/", Code.INVALID_URL),
        ("http:\\\\evil.example/", Code.INVALID_URL),
        ("/\\evil.example/", Code.INVALID_URL),
        ("http://127.1/", Code.INVALID_URL),
        ("http://[::1", Code.INVALID_URL),
        ("///evil.example/", Code.INVALID_URL),
        (" ////evil.example/", Code.INVALID_URL),
        ("//[", Code.INVALID_URL),
        ("http://℀.example/", Code.INVALID_URL),
        ("http://example.org:99999/", Code.INVALID_URL),
        ("/" + "a" * 9_000, Code.INVALID_URL),
    ],
)
def test_a_redirect_is_checked_like_any_url(location: str, code: Code) -> None:
    with pytest.raises(KeyholeError) as caught:
        resolve_url(parse_target("https://example.org/"), location)
    assert caught.value.code is code


@given(URLS | HTTP_URLS)
@example("http://example.org/" + "中" * 1_000)
@example("http://example.org/a\ud800b")
def test_any_text_is_refused_or_gives_a_url_that_parses_to_itself(raw: str) -> None:
    try:
        target = parse_target(raw)
    except KeyholeError as error:
        assert error.code in {Code.INVALID_URL, Code.SCHEME_NOT_ALLOWED}
        return
    assert parse_target(target.url) == target
    assert target.url.isascii()
    assert target.url.isprintable()
    assert " " not in target.url
    assert 0 < target.port < 65_536
    assert target.path.startswith("/")
    assert not any(
        re.fullmatch(r"(?:\.|%2e){1,2}", segment, re.I) for segment in target.path.partition("?")[0].split("/")
    )
    assert "?" in raw or "?" not in target.path


@given(HTTP_URLS)
def test_httpx_parses_every_accepted_url_in_the_same_way(raw: str) -> None:
    httpx = pytest.importorskip("httpx")
    try:
        target = parse_target(raw)
    except KeyholeError:
        return
    read = httpx.URL(target.url)
    assert (read.scheme, read.raw_host.decode("ascii")) == (target.scheme, target.host)
    assert (read.port or {"http": 80, "https": 443}[read.scheme]) == target.port


@given(HTTP_URLS)
def test_the_standard_library_and_a_browsers_parser_connect_to_the_same_host(raw: str) -> None:
    can_ada = pytest.importorskip("can_ada")
    try:
        target = parse_target(raw)
    except KeyholeError:
        return
    parts = urlsplit(target.url)
    assert (parts.scheme, parts.hostname, parts.port or DEFAULT_PORTS[parts.scheme]) == target.origin
    assert parts.username is None
    try:
        read = can_ada.parse(target.url)
    except ValueError:
        # Browsers also refuse an xn-- label that is not Punycode. If they accept a URL, the host is the same.
        assert "xn--" in target.host
        return
    host = read.hostname.removeprefix("[").removesuffix("]")
    assert (ip_address(host) == ip_address(target.host)) if ":" in host else (host == target.host)
    assert (read.protocol, int(read.port or DEFAULT_PORTS[target.scheme])) == (f"{target.scheme}:", target.port)
    try:
        given_read = can_ada.parse(raw.strip(" \t\r\n\f"))
    except ValueError:
        return
    # A trailing dot marks the same name as absolute.
    assert given_read.hostname.removesuffix(".") == read.hostname


@given(URLS)
def test_any_location_is_refused_or_gives_a_url(location: str) -> None:
    try:
        target = resolve_url(parse_target("https://example.org/a?b"), location)
    except KeyholeError as error:
        assert error.code in {Code.INVALID_URL, Code.SCHEME_NOT_ALLOWED}
    else:
        assert parse_target(target.url) == target


@pytest.mark.parametrize("raw", ["http://๑๒๗.๐.๐.๑/", "http://xn--c5ccp.xn--b5c.xn--b5c.xn--c5c/", "http://a.१२/"])
def test_a_host_that_ends_in_digits_of_another_script_is_refused(raw: str) -> None:
    assert code_of(raw) is Code.INVALID_URL


# Known URLs

PAGE = "https://site.example/guide/page"


def makes_known(text: str, url: str) -> bool:
    """Return True if a page with this text makes a URL known."""
    return hash_url(canonicalize(url)) in hash_page_urls(PAGE, text)


@pytest.mark.parametrize(
    "same",
    [
        "https://example.com/a%2Fb/~c?d=%C3%A4",
        "  HTTPS://EXAMPLE.com:443/a%2fb/%7Ec?d=%c3%a4#part",
        "https://example.com./%61%2Fb/~c?d=ä",
    ],
)
def test_spellings_of_one_url_are_equal(same: str) -> None:
    assert canonicalize(same) == "https://example.com/a%2Fb/~c?d=%C3%A4"


@pytest.mark.parametrize(
    "other",
    [
        "http://example.com/a", "https://example.com:8443/a", "https://www.example.com/a", "https://example.com/A",
        "https://example.com/a/", "https://example.com/a?", "https://example.com/a?b", "https://example.com/a;b",
        "https://example.com//a", "https://example.com/a%20", "https://example.com/%2561", "https://example.org/a",
    ],
)  # fmt: skip
def test_urls_that_differ_in_more_than_spelling_are_not_equal(other: str) -> None:
    assert canonicalize(other) != canonicalize("https://example.com/a")


@given(st.text("aZ09253eEfF%()/?&=#;:@é \\'._~-", max_size=40))
@example("%%32e%%32e/x")
def test_canonicalizing_is_idempotent(path: str) -> None:
    try:
        once = canonicalize(f"https://example.com/{path}")
    except KeyholeError:
        return
    assert canonicalize(once) == once


# Entries of KEYHOLE_KNOWN_URLS.


def test_an_entry_is_a_url_or_a_prefix_that_ends_in_a_star() -> None:
    entries = ["https://docs.example/one", "HTTPS://Api.example/v1/*"]
    for url in ("https://docs.example/one", "https://api.example/v1/", "https://api.example/v1/x?y=z"):
        assert is_listed(url, entries)
    for url in (
        "https://docs.example/one?d=secret", "https://docs.example/one/", "https://docs.example/", "http://docs.example/one",
        "https://api.example/v1", "https://api.example/v2", "https://api.example.evil.example/v1/x",
    ):  # fmt: skip
        assert not is_listed(canonicalize(url), entries), url


@pytest.mark.parametrize(
    "rest",
    [
        "..", "../key", "./../key", "%2e%2e/key", "%2E%2e/key", ".%2e/key", "..?x", "..%2fkey", "..%2Fkey",
        "..%2f..%2fkey", "%2e%2e%2fkey", "a%2f..%2f..%2fkey", "..;/key", "..;a=b/key", "%2e%2e;/key", "..%3b/key",
        "..%5ckey", "%5c..%5ckey",
        "..%255ckey", "%252e%252e/key", "%252e%252e%252fkey", "..%252fkey", "..%25252fkey", "%25252e%25252e/key",
        "%%32e%%32e/key", "%25%32%65%25%32%65/key", "..%00/key", "..%20/key", "..%253b/key", ".%2e%2fkey",
        "%c0%ae%c0%ae/key", "..%c0%afkey", "%EF%BC%8E%EF%BC%8E/key", "．．/key", "a/%2e%2e;%2fkey", "a?b=/..%2fkey",
        "..%23", "..%3f", "%u002e%u002e/key", "..%u002fkey", "..%25u005Ckey", "..%u2215key", "..%E2%88%95key", "..∖key",
    ],
)  # fmt: skip
def test_a_prefix_is_not_left_by_any_form_of_dot_segments(rest: str) -> None:
    assert not is_listed(canonicalize(f"https://site.example/pub/{rest}"), ["https://site.example/pub/*"])


LINK_PIECES = st.sampled_from(
    [
        ".",
        "..",
        "/",
        "%2e",
        "%2F",
        "%5c",
        "%25",
        "25",
        "2e",
        "2f",
        "5C",
        "3b",
        ";",
        "%3B",
        "%00",
        "a",
        "?",
        "%",
        "u002F",
    ]
)


def read_by_server(path: str, decodings: int) -> str:
    """Return a path as a lenient server resolves it: decoded, without parameters, with backslashes as slashes."""
    for _ in range(decodings):
        path = unquote(re.sub("%u(.{4})", lambda escape: chr(int(escape[1], 16)), path))
    segments = re.split(r"[/\\]", path.partition("?")[0])
    return posixpath.normpath("/".join(re.split(r"[;\0]", segment)[0] for segment in segments))


@settings(max_examples=500)
@given(st.lists(LINK_PIECES, max_size=9).map("".join), st.integers(0, 5))
def test_no_server_reads_a_listed_url_as_one_outside_of_the_folder(rest: str, decodings: int) -> None:
    url = canonicalize(f"https://site.example/pub/{rest}")
    if is_listed(url, ["https://site.example/pub/*"]):
        path = url.removeprefix("https://site.example")
        assert f"{read_by_server(path, decodings)}/".startswith("/pub/")


@pytest.mark.parametrize(
    "rest",
    [
        "a", "a/b.html", "..a/b", "a..", "a;v=1/b", "a%20b/%C3%A9t%C3%A9", "100%25", "a?b=../c", "a?b=c/d", "a%2Fb",
        "%5Ca", "a//b", ".well-known/x", "~a/-b/_c", "中文/a", "a?b=50%",
    ],
)  # fmt: skip
def test_other_urls_with_the_prefix_are_listed(rest: str) -> None:
    assert is_listed(canonicalize(f"https://site.example/pub/{rest}"), ["https://site.example/pub/*"])


def test_a_prefix_that_ends_in_a_dot_stays_as_it_is() -> None:
    assert is_listed("https://site.example/.well-known/x", ["https://site.example/.*"])
    assert not is_listed("https://site.example/x", ["https://site.example/.*"])


@pytest.mark.parametrize("within", ["a/../b", "a/%2e%2e/b", "./b", "%2e/b"])
def test_dot_segments_inside_the_prefix_are_resolved(within: str) -> None:
    url = canonicalize(f"https://site.example/pub/{within}")
    assert url == "https://site.example/pub/b"
    assert is_listed(url, ["https://site.example/pub/*"])


def test_a_star_after_the_host_matches_the_whole_site_and_no_other_host() -> None:
    assert is_listed("https://site.example/any?x", ["https://site.example/*"])
    assert not is_listed("https://site.example.evil.example/", ["https://site.example/*"])


def test_an_invalid_entry_matches_nothing() -> None:
    assert not is_listed("https://a.example/", ["http://127.1/*", ""])


# URLs in a text.


@pytest.mark.parametrize(
    "text",
    [
        "[words](https://other.example/a_b?c=d)", "![picture](https://other.example/a_b?c=d)",
        '[words](https://other.example/a_b?c=d "title")', "[words](<https://other.example/a_b?c=d>)",
        "<https://other.example/a_b?c=d>", "see https://other.example/a_b?c=d.", "(https://other.example/a_b?c=d)",
        "https://other.example/a_b?c=d, and", "**https://other.example/a_b?c=d**", "[HTTPS://Other.example/a%5Fb?c=d#e]",
        "[https://x.example](https://other.example/a_b?c=d)", "[https://other.example/a_b?c=d](https://x.example)",
        "`https://other.example/a_b?c=d`", '"https://other.example/a_b?c=d"', "|https://other.example/a_b?c=d|",
        r"https://other.example/a\_b?c=d", "“https://other.example/a_b?c=d”", "见https://other.example/a_b?c=d。后面",
    ],
)  # fmt: skip
def test_a_url_in_a_text_is_known_in_any_context(text: str) -> None:
    assert makes_known(f"Before\n{text}\nafter.", "https://other.example/a_b?c=d")


def test_a_url_with_parentheses_is_known_as_text_and_as_a_link() -> None:
    for url in ("https://other.example/Foo_(bar)", "https://other.example/a(b)_(c).htm"):
        escaped = url.replace("(", "%28").replace(")", "%29")
        for text in (url, f"[x]({escaped})", f"[x]({url})(y)", f'[x](<{url}> "y")'):
            assert makes_known(text, url), text


@pytest.mark.parametrize("text", ["{}, and", "See {} for more.", "({}).", "“{}”"])
def test_a_url_that_ends_in_punctuation_is_known(text: str) -> None:
    for url in ("https://other.example/wiki/Yahoo!", "https://other.example/wiki/Inc."):
        assert makes_known(text.format(url), url)


def test_a_relative_link_is_known_as_its_absolute_url() -> None:
    text = "[a](../up) [b](/root?x=1) [c](#part) [d](mailto:a@example.org) [e](//cdn.example/f)"
    for url in ("https://site.example/up", "https://site.example/root?x=1", "https://cdn.example/f"):
        assert makes_known(text, url)


def test_absolute_links_of_a_page_with_an_invalid_url_are_known() -> None:
    text = "[whole](https://a.example/one) [relative](two)"
    assert hash_page_urls("no address", text) == hash_urls(["https://a.example/one"])


def test_the_pages_own_url_is_known() -> None:
    assert makes_known("", f"{PAGE}#anywhere")


@pytest.mark.parametrize(
    "url",
    [
        "https://other.example/log?d=secret", "https://other.example/logs", "https://other.example/", "http://other.example/log",
        "https://secret.other.example/log", "https://other.example/log/secret", "https://other.example:444/log",
    ],
)  # fmt: skip
def test_a_url_that_differs_from_a_known_one_is_not_known(url: str) -> None:
    assert not makes_known("[log](https://other.example/log)", url)


def test_a_host_without_a_scheme_is_not_known() -> None:
    assert not makes_known("Go to other.example/log or ask for other.example", "https://other.example/log")


def test_invalid_urls_are_skipped() -> None:
    assert hash_urls(["https://ok.example/", "http://127.1/", "", "ftp://a.example/", "https://\ud800/"]) == (
        hash_urls(["https://ok.example/"])
    )


@pytest.mark.parametrize(
    "text",
    [
        "https://" * 200_000, "](" * 700_000, "](https://a.example/" * 70_000, "https://a.example/" + "\\" * 1_400_000,
        "https://a.example/" + ")" * 1_400_000, "](a" + "(b)" * 500_000 + "(b" * 500_000,
        "".join(f"https://a.example/{n}) " for n in range(50_000)),
    ],
    ids=["schemes", "links", "addresses", "backslashes", "parentheses", "pairs", "many"],
)  # fmt: skip
def test_links_of_a_hostile_text_are_extracted_in_bounded_time(text: str) -> None:
    began = time.perf_counter()
    assert len(hash_page_urls(PAGE, text)) <= MAX_LINKS + 1
    assert time.perf_counter() - began < 3


@given(st.lists(st.text("/.?#;:@%a=&é ()", max_size=10), max_size=5))
def test_a_text_with_paths_makes_the_same_urls_known_as_one_with_full_urls(ends: list[str]) -> None:
    urls = [resolve_link(PAGE, f"https://site.example/{end}") for end in ends]
    full = "".join(f"[a]({url}) " for url in urls)
    short = "".join(f"[a]({shorten_link(url, PAGE)}) " for url in urls)
    assert hash_page_urls(PAGE, full) == hash_page_urls(PAGE, short)
