"""The client against a real server on loopback: limits, redirects, named failures."""

from __future__ import annotations

import asyncio
import gzip
import socket
import ssl
import time
import zlib
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, nullcontext
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from unittest import mock

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec

from keyhole.config.config import Config
from keyhole.errors import Code, KeyholeError
from keyhole.fetch.base import ApiCall, ApiReply, FetchOptions
from keyhole.fetch.client import MAX_REDIRECTS, HttpFetcher
from keyhole.fetch.permission import ANY
from keyhole.records import Page
from tests.support.fakes import Clock
from tests.support.loopback import PATIENCE, Call, Responder, Site, response, serve, unused_port

AGENT = "Keyhole-Test/1.0"
NOW = 1_700_000_000.0
ANY_PORT = frozenset(range(1, 65_536))
"""Loopback servers use any free port. With all ports open, a refusal is due to the address."""
HTML = {"Content_Type": "text/html; charset=utf-8"}
Answers = list[tuple[int, int, int, str, tuple[str, int]]]


def fetch(*urls: str, allow: tuple[str, ...] = (), resolver: dict[str, list[str]] | None = None, **limits: Any) -> Page:
    """Fetch URLs in order with one fetcher; return the last page.

    `resolver`: the addresses of names; other names do not resolve.
    """

    async def run() -> Page:
        config = Config(allow_private=frozenset(allow), **{"ports": ANY_PORT, "robots": "off", **limits})
        async with HttpFetcher(config, AGENT, clock=lambda: NOW) as fetcher:
            pages = [await fetcher.fetch(url) for url in urls]
        return pages[-1]

    with nullcontext() if resolver is None else names(resolver):
        return asyncio.run(run())


def names(resolver: dict[str, list[str]]) -> AbstractContextManager[object]:
    """Resolve names from a table; literal addresses resolve to themselves."""
    system = socket.getaddrinfo

    def getaddrinfo(host: str, port: int, *others: Any, **named: Any) -> Any:
        if host not in resolver:
            if host.replace(".", "").isdigit():
                return system(host, port, *others, **named)
            raise socket.gaierror(socket.EAI_NONAME, "not in the table")
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (address, port)) for address in resolver[host]]

    return mock.patch("socket.getaddrinfo", getaddrinfo)


def failure(*urls: str, **options: Any) -> KeyholeError:
    with pytest.raises(KeyholeError) as caught:
        fetch(*urls, **options)
    return caught.value


def answers_with(data: bytes) -> Callable[[Site], Responder]:
    """Return a server that answers every request with the same bytes and closes."""
    return lambda _: lambda call: call.send(data)


# Pages.


def test_a_page_has_the_response_of_the_server() -> None:
    body = "<p>größe".encode()
    headers = {"Content_Type": "text/html; charset=utf-8", "ETag": '"abc"', "Last_Modified": "Tue, 1 Jan 2030 00:00:00"}
    with serve({"/a?b": response(body, **headers)}) as site:
        page = fetch(f" {site.url('/a?b#part')}", allow=(site.endpoint,))
    assert page == Page(
        requested_url=f" {site.url('/a?b#part')}",
        url=site.url("/a?b"),
        status=200,
        content_type="text/html; charset=utf-8",
        body=body,
        fetched_at=NOW,
        cut=False,
        etag='"abc"',
        last_modified="Tue, 1 Jan 2030 00:00:00",
    )


def test_a_page_without_headers_has_empty_fields() -> None:
    with serve(answers_with(b"HTTP/1.1 200 OK\r\n\r\nplain")) as site:
        page = fetch(site.url(), allow=(site.endpoint,))
    assert (page.body, page.content_type, page.etag, page.last_modified, page.cut) == (b"plain", "", "", "", False)


def test_an_empty_success_is_an_empty_page() -> None:
    with serve({"/": response(status="204 No Content")}) as site:
        page = fetch(site.url(), allow=(site.endpoint,))
    assert (page.status, page.body, page.cut) == (204, b"", False)


def test_a_chunked_body_is_joined() -> None:
    with serve(answers_with(response(b"3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n", Transfer_Encoding="chunked"))) as site:
        assert fetch(site.url(), allow=(site.endpoint,)).body == b"abcde"


# Challenges with an error status.


def test_a_challenge_in_the_body_of_an_error_is_reported() -> None:
    body = b"<title>Just a moment...</title><script>window._cf_chl_opt={}</script>"
    with serve({"/": response(gzip.compress(body), status="403 Forbidden", Content_Encoding="gzip")}) as site:
        error = failure(site.url(), allow=(site.endpoint,))
    assert (error.code, error.facts["status"]) == (Code.BOT_CHALLENGE, 403)


def test_a_challenge_marked_by_a_header_is_reported_without_its_body() -> None:
    with serve({"/": response(status="202 Accepted", x_amzn_waf_action="challenge")}) as site:
        assert failure(site.url(), allow=(site.endpoint,)).code is Code.BOT_CHALLENGE


@pytest.mark.parametrize(
    ("status", "code"),
    [("403 Forbidden", Code.FORBIDDEN), ("404 Not Found", Code.NOT_FOUND), ("429 Slow", Code.RATE_LIMITED)],
)
@pytest.mark.parametrize("coding", ["identity", "gzip", "unheard-of"])
def test_an_error_without_a_challenge_keeps_its_code(status: str, code: Code, coding: str) -> None:
    with serve({"/": response(b"<h1>No</h1>" * 20_000, status=status, Content_Encoding=coding)}) as site:
        assert failure(site.url(), allow=(site.endpoint,)).code is code


def test_an_error_has_the_first_64_kilobytes_of_its_body() -> None:
    body = b"<h1>No</h1>" * 20_000
    with serve({"/": response(body, status="422 No", **HTML)}) as site:
        error = failure(site.url(), allow=(site.endpoint,))
    assert error.body == (body[:65_536], "text/html; charset=utf-8")


# Requests.


def test_the_request_has_the_user_agent_and_the_accepted_types() -> None:
    with serve({"/": response(b"x")}) as site:
        fetch(site.url(), allow=(site.endpoint,))
        (call,) = site.calls
    assert call.head.startswith(b"GET / HTTP/1.1\r\n")
    assert call.headers["host"] == site.endpoint
    assert call.headers["user-agent"] == AGENT
    assert call.headers["accept-encoding"] == "gzip, deflate, br, zstd"
    assert call.headers["accept"].startswith("text/markdown, text/html;q=0.9")
    assert set(call.headers) == {"host", "user-agent", "accept-encoding", "accept"}


def test_the_path_that_was_checked_is_the_path_that_is_sent() -> None:
    path = "/%C3%A4//c;d=e/%2F..%2f?q=a+b%20c&q=%zz&[x]=1/../."
    with serve(answers_with(response(b"x"))) as site:
        fetch(site.url(path), site.url(f"/a/.././%2e{path}"), allow=(site.endpoint,))
        assert [call.path for call in site.calls] == [path, path]


def test_cookies_are_neither_stored_nor_sent_back() -> None:
    with serve(
        {
            "/set": response(b"x", Set_Cookie="session=1; Path=/"),
            "/hop": response(status="302 Found", Location="/page", Set_Cookie="hop=1; Path=/"),
            "/page": response(b"x"),
        }
    ) as site:
        fetch(site.url("/set"), site.url("/hop"), site.url("/page"), allow=(site.endpoint,))
        assert [call.path for call in site.calls] == ["/set", "/hop", "/page", "/page"]
        assert not any("cookie" in call.headers for call in site.calls)


def test_a_redirected_request_has_no_referrer_and_no_credentials() -> None:
    with serve({"/": response(status="302 Found", Location="/next"), "/next": response(b"x")}) as site:
        fetch(site.url(), allow=(site.endpoint,))
        assert set(site.calls[0].headers) == set(site.calls[1].headers)


def test_a_proxy_in_the_environment_is_not_used(monkeypatch: pytest.MonkeyPatch) -> None:
    nowhere = f"127.0.0.1:{unused_port()}"
    with serve({"/": response(b"direct")}) as site, serve({}) as proxy:
        for name in ("HTTP_PROXY", "http_proxy", "HTTPS_PROXY", "https_proxy", "ALL_PROXY", "all_proxy"):
            monkeypatch.setenv(name, f"http://{proxy.endpoint}")
        assert fetch(site.url(), allow=(site.endpoint,)).body == b"direct"
        assert failure(f"https://{nowhere}/", allow=(nowhere,)).code is Code.CONNECT_FAILURE
        assert proxy.connections == 0


# Refused addresses.


def test_loopback_is_refused_without_an_allow_list_and_no_connection_is_made() -> None:
    with serve({"/": response(b"secret")}) as site:
        error = failure(site.url())
        assert error.code is Code.BLOCKED_ADDRESS
        assert site.connections == 0


def test_the_allow_list_opens_one_port_and_not_the_whole_host() -> None:
    with serve({"/": response(b"open")}) as opened, serve({"/": response(b"secret")}) as closed:
        assert fetch(opened.url(), allow=(opened.endpoint,)).body == b"open"
        assert failure(closed.url(), allow=(opened.endpoint,)).code is Code.BLOCKED_ADDRESS
        assert closed.connections == 0


def test_a_port_that_is_not_open_is_refused_without_a_lookup() -> None:
    with serve({"/": response(b"x")}) as site:
        error = failure(f"http://site.example:{site.port}/", ports=frozenset({80}), resolver={})
        assert error.code is Code.BLOCKED_ADDRESS
        assert f"port {site.port} is refused" in error.message
        assert fetch(site.url(), allow=(site.endpoint,), ports=frozenset({80})).body == b"x"


def test_a_redirect_to_a_port_that_is_not_open_is_refused() -> None:
    with serve({"/": response(status="302 Found", Location="http://site.example:22/")}) as site:
        error = failure(
            site.url(), allow=(site.endpoint,), ports=frozenset({80}), resolver={"127.0.0.1": ["127.0.0.1"]}
        )
        assert error.code is Code.BLOCKED_ADDRESS
        assert "port 22 is refused" in error.message


def test_the_allow_list_is_matched_with_the_name_in_the_url() -> None:
    names = {"inside.example": ["127.0.0.1"], "other.example": ["127.0.0.1"]}
    with serve({"/": response(b"x")}) as site:
        allow = (f"inside.example:{site.port}",)
        assert fetch(f"http://inside.example:{site.port}/", allow=allow, resolver=names).body == b"x"
        assert failure(f"http://other.example:{site.port}/", allow=allow, resolver=names).code is Code.BLOCKED_ADDRESS
        assert failure(site.url(), allow=allow, resolver={"127.0.0.1": ["127.0.0.1"]}).code is Code.BLOCKED_ADDRESS
        assert [call.headers["host"] for call in site.calls] == [f"inside.example:{site.port}"]


@pytest.mark.parametrize("host", ["xn--i-7iq.example", "xn--a.example"])  # an emoji, and no valid Punycode
def test_a_host_that_idna_2008_does_not_allow_is_requested_as_it_is(host: str) -> None:
    with serve({"/": response(b"x")}) as site:
        endpoint = f"{host}:{site.port}"
        assert fetch(f"http://{endpoint}/", allow=(endpoint,), resolver={host: ["127.0.0.1"]}).body == b"x"
        assert [call.headers["host"] for call in site.calls] == [endpoint]


@pytest.mark.parametrize("answers", [["127.0.0.1"], ["10.0.0.1", "127.0.0.1"], ["203.0.113.7", "127.0.0.1"]])
def test_a_name_that_resolves_to_loopback_is_refused_without_a_connection(answers: list[str]) -> None:
    with serve({"/": response(b"secret")}) as site:
        error = failure(f"http://rebind.example:{site.port}/", resolver={"rebind.example": answers})
        assert error.code is Code.BLOCKED_ADDRESS
        assert site.connections == 0


def test_an_unknown_name_is_a_dns_failure() -> None:
    error = failure("http://nowhere.example/", resolver={})
    assert error.code is Code.DNS_FAILURE
    assert "nowhere.example" in error.message


def test_a_port_on_which_nothing_listens_is_a_connect_failure() -> None:
    endpoint = f"127.0.0.1:{unused_port()}"
    error = failure(f"http://{endpoint}/", allow=(endpoint,))
    assert error.code is Code.CONNECT_FAILURE
    assert endpoint in error.message


# Redirects.


@pytest.mark.parametrize("status", ["301 Moved", "302 Found", "303 See Other", "307 Temporary", "308 Permanent"])
def test_a_redirect_is_followed_and_the_page_has_its_final_url(status: str) -> None:
    with serve({"/old/a": response(status=status, Location="../new?x#y"), "/new?x": response(b"here")}) as site:
        page = fetch(site.url("/old/a"), allow=(site.endpoint,))
    assert page.body == b"here"
    assert page.requested_url == site.url("/old/a")
    assert page.url == site.url("/new?x")


def test_a_redirect_to_a_private_address_is_refused_and_no_connection_is_made() -> None:
    with serve({"/": response(b"secret")}) as inside:
        location = inside.url("/")
        with serve({"/": response(status="302 Found", Location=location)}) as site:
            error = failure(site.url(), allow=(site.endpoint,))
        assert error.code is Code.BLOCKED_ADDRESS
        assert inside.connections == 0


def test_a_redirect_to_a_name_with_a_private_address_is_refused() -> None:
    with serve({"/": response(b"secret")}) as inside:
        location = f"http://evil.example:{inside.port}/"
        with serve({"/": response(status="302 Found", Location=location)}) as site:
            names = {"127.0.0.1": ["127.0.0.1"], "evil.example": ["127.0.0.1"]}
            error = failure(site.url(), allow=(site.endpoint,), resolver=names)
        assert error.code is Code.BLOCKED_ADDRESS
        assert inside.connections == 0


@pytest.mark.parametrize(
    ("location", "code"),
    [
        ("file:///etc/passwd", Code.SCHEME_NOT_ALLOWED),
        ("ftp://127.0.0.1/", Code.SCHEME_NOT_ALLOWED),
        ("http://user@127.0.0.1/", Code.INVALID_URL),
        ("http://2130706433/", Code.INVALID_URL),
        ("/\\evil.example", Code.INVALID_URL),
        ("http://[", Code.INVALID_URL),
        ("http:\\\\127.0.0.1/", Code.INVALID_URL),
        ("http://\xe2\x84\x80.example/", Code.INVALID_URL),
    ],
)
def test_a_redirect_to_a_forbidden_url_is_refused_with_its_code(location: str, code: Code) -> None:
    with serve({"/": response(status="302 Found", Location=location)}) as site:
        assert failure(site.url(), allow=(site.endpoint,)).code is code


def test_a_loop_of_redirects_ends_after_the_allowed_hops() -> None:
    with serve({"/": response(status="302 Found", Location="/")}) as site:
        error = failure(site.url(), allow=(site.endpoint,))
        assert error.code is Code.TOO_MANY_REDIRECTS
        assert len(site.calls) == MAX_REDIRECTS + 1


def test_as_many_redirects_as_allowed_are_followed() -> None:
    hops = {f"/{n}": response(status="302 Found", Location=f"/{n + 1}") for n in range(MAX_REDIRECTS + 1)}
    with serve({**hops, f"/{MAX_REDIRECTS + 1}": response(b"end")}) as site:
        assert fetch(site.url("/1"), allow=(site.endpoint,)).body == b"end"
        assert failure(site.url("/0"), allow=(site.endpoint,)).code is Code.TOO_MANY_REDIRECTS


def test_a_redirect_without_a_location_is_reported_as_its_status() -> None:
    with serve({"/": response(b"moved", status="302 Found")}) as site:
        error = failure(site.url(), allow=(site.endpoint,))
    assert (error.code, error.facts) == (Code.HTTP_STATUS, {"status": 302})


def test_the_body_of_a_redirect_is_not_read() -> None:
    def talk(site: Site) -> Responder:
        def answer(call: Call) -> None:
            if call.path == "/next":
                call.send(response(b"here"))
            else:
                call.send(response(status="302 Found", Location="/next", Content_Length="1000000"))
                site.hold(call)

        return answer

    with serve(talk) as site:
        assert fetch(site.url(), allow=(site.endpoint,)).body == b"here"
        assert site.client_left.wait(PATIENCE)


# Statuses.


@pytest.mark.parametrize(
    ("status", "code", "facts"),
    [
        ("400 Bad", Code.HTTP_STATUS, {"status": 400}),
        ("401 No", Code.LOGIN_REQUIRED, {"status": 401}),
        ("403 No", Code.FORBIDDEN, {"status": 403}),
        ("404 No", Code.NOT_FOUND, {"status": 404}),
        ("407 No", Code.LOGIN_REQUIRED, {"status": 407}),
        ("410 Gone", Code.NOT_FOUND, {"status": 410}),
        ("429 Slow", Code.RATE_LIMITED, {"status": 429}),
        ("304 Same", Code.HTTP_STATUS, {"status": 304}),
        ("500 Oops", Code.SERVER_ERROR, {"status": 500}),
        ("503 Later", Code.SERVER_ERROR, {"status": 503}),
        ("999 What", Code.HTTP_STATUS, {"status": 999}),
    ],
)
def test_an_error_status_is_reported_with_its_code(status: str, code: Code, facts: dict[str, int]) -> None:
    with serve({"/": response(status=status)}) as site:
        error = failure(site.url(), allow=(site.endpoint,))
    assert (error.code, error.facts) == (code, facts)
    assert status[:3] in error.message


@pytest.mark.parametrize("status", ["429 Slow", "503 Later"])
def test_the_retry_after_of_a_server_is_reported(status: str) -> None:
    with serve({"/": response(status=status, Retry_After="120")}) as site:
        error = failure(site.url(), allow=(site.endpoint,))
    assert error.code is Code.RATE_LIMITED
    assert error.facts["retry_after"] == 120
    assert "120 s" in error.message


@pytest.mark.parametrize("wait", ["Wed, 21 Oct 2099 07:28:00 GMT", "soon", "-1", "1.5", "", "\u00b2", "9" * 5_000])
def test_an_invalid_retry_after_is_ignored(wait: str) -> None:
    with serve({"/": response(status="429 Slow", Retry_After=wait)}) as site:
        assert failure(site.url(), allow=(site.endpoint,)).code is Code.RATE_LIMITED


# Limits.


def test_a_body_of_exactly_the_cap_is_complete() -> None:
    with serve({"/": response(b"x" * 1_000)}) as site:
        page = fetch(site.url(), allow=(site.endpoint,), max_bytes=1_000)
    assert (len(page.body), page.cut) == (1_000, False)


def test_a_body_beyond_the_cap_is_cut_and_the_page_is_marked() -> None:
    with serve({"/": response(b"x" * 1_001)}) as site:
        page = fetch(site.url(), allow=(site.endpoint,), max_bytes=1_000)
    assert (len(page.body), page.cut) == (1_000, True)


def test_a_body_that_never_ends_is_cut_at_the_cap_and_the_connection_closed() -> None:
    def talk(site: Site) -> Responder:
        def answer(call: Call) -> None:
            call.send(b"HTTP/1.1 200 OK\r\n\r\n")
            try:
                while True:
                    call.send(b"x" * 65_536)
            except OSError:
                site.client_left.set()

        return answer

    with serve(talk) as site:
        page = fetch(site.url(), allow=(site.endpoint,), max_bytes=200_000)
        assert (len(page.body), page.cut) == (200_000, True)
        assert site.client_left.wait(PATIENCE)


@pytest.mark.parametrize(
    "data",
    [
        response(b"half a page" * 10, Content_Length="1000"),
        response(b"6e\r\n" + b"half a page" * 10 + b"\r\n", Transfer_Encoding="chunked"),
        response(gzip.compress(b"half a page" * 500)[:40], Content_Encoding="gzip"),
        response(gzip.compress(b"half a page") + gzip.compress(b"the rest")[:12] + b"\xff", Content_Encoding="gzip"),
    ],
    ids=["content length", "chunked", "gzip", "damaged"],
)
def test_a_body_whose_connection_is_lost_is_cut_and_the_page_is_marked(data: bytes) -> None:
    with serve(answers_with(data)) as site:
        page = fetch(site.url(), allow=(site.endpoint,))
    assert page.cut
    assert page.body.startswith(b"half a page")


@pytest.mark.parametrize(
    ("coding", "body"),
    [
        ("gzip", gzip.compress(b"hello")),
        ("GZIP", gzip.compress(b"hel") + gzip.compress(b"lo")),
        ("deflate", zlib.compress(b"hello")),
        ("deflate", zlib.compress(b"hello")[2:-4]),
        ("br", b"\x0b\x02\x80hello\x03"),
        ("deflate, gzip", gzip.compress(zlib.compress(b"hello"))),
        ("identity", b"hello"),
    ],
    ids=["gzip", "two members", "deflate", "deflate without header", "br", "two codings", "identity"],
)
def test_a_coded_body_is_decoded(coding: str, body: bytes) -> None:
    with serve({"/": response(body, Content_Encoding=coding)}) as site:
        page = fetch(site.url(), allow=(site.endpoint,))
    assert (page.body, page.cut) == (b"hello", False)


def test_an_unsupported_coding_is_reported() -> None:
    with serve({"/": response(b"\x1f\x9dhello", Content_Encoding="compress")}) as site:
        error = failure(site.url(), allow=(site.endpoint,))
    assert error.code is Code.UNSUPPORTED_ENCODING
    assert error.message == "the content coding is none of br, deflate, gzip, zstd"


def test_a_small_response_that_decompresses_to_too_much_is_a_bomb() -> None:
    with serve({"/": response(gzip.compress(bytes(5_000_000)), Content_Encoding="gzip")}) as site:
        error = failure(site.url(), allow=(site.endpoint,), max_bytes=500_000)
    assert error.code is Code.DECOMPRESSION_BOMB


def test_a_corrupt_coded_body_is_a_protocol_error() -> None:
    with serve({"/": response(b"not gzip", Content_Encoding="gzip")}) as site:
        assert failure(site.url(), allow=(site.endpoint,)).code is Code.PROTOCOL_ERROR


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"SSH-2.0-OpenSSH_9.2\r\n",
        b"\x16\x03\x01\x02\x00",
        b"HTTP/1.1 abc OK\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nbroken header\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nX: " + b"a" * 200_000 + b"\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Length: -5\r\n\r\nabc",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
    ],
    ids=[
        "nothing",
        "ssh",
        "tls",
        "no status",
        "no colon",
        "huge header",
        "no body",
        "negative length",
        "no chunk",
    ],
)
def test_an_answer_other_than_http_is_a_protocol_error(data: bytes) -> None:
    with serve(answers_with(data)) as site:
        assert failure(site.url(), allow=(site.endpoint,)).code is Code.PROTOCOL_ERROR


# TLS.


@pytest.fixture(scope="module")
def self_signed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ssl.SSLContext]:
    """Create a server's TLS context with a self-signed certificate."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "localhost")])
    now = datetime.now(UTC)
    certificate = (
        x509.CertificateBuilder(name, name, key.public_key(), x509.random_serial_number())
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.DNSName("localhost")]), critical=False)
        .sign(key, hashes.SHA256())
    )
    file: Path = tmp_path_factory.mktemp("tls") / "both.pem"
    private = key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    file.write_bytes(private + certificate.public_bytes(serialization.Encoding.PEM))
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(file)
    yield context


def test_a_self_signed_certificate_is_a_tls_failure_and_no_request_is_sent(
    self_signed: ssl.SSLContext,
) -> None:
    with serve({"/": response(b"x")}, tls=self_signed) as site:
        endpoint = f"localhost:{site.port}"
        error = failure(f"https://{endpoint}/", allow=(endpoint,), resolver={"localhost": ["127.0.0.1"]})
        assert error.code is Code.TLS_FAILURE
        assert "self-signed certificate" in error.message
        assert "localhost" in error.message
        assert site.calls == []


@pytest.mark.parametrize("data", [b"", b"HTTP/1.1 400 Bad Request\r\n\r\n"], ids=["closes", "speaks http"])
def test_a_server_that_does_not_speak_tls_is_a_tls_failure(data: bytes) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        endpoint = f"127.0.0.1:{listener.getsockname()[1]}"

        async def run() -> KeyholeError:
            answered = asyncio.create_task(asyncio.to_thread(_answer_once, listener, data))
            async with HttpFetcher(Config(allow_private=frozenset({endpoint})), AGENT) as fetcher:
                with pytest.raises(KeyholeError) as caught:
                    await fetcher.fetch(f"https://{endpoint}/")
            await answered
            return caught.value

        assert asyncio.run(run()).code is Code.TLS_FAILURE


def _answer_once(listener: socket.socket, data: bytes) -> None:
    connection, _ = listener.accept()
    with connection:
        connection.settimeout(PATIENCE)
        connection.recv(4_096)
        connection.sendall(data)


# APIs that the operator configured.


def endpoint(site: Site) -> frozenset[str]:
    return frozenset({site.endpoint})


def test_a_configured_api_may_be_on_loopback_but_a_page_of_its_host_may_not() -> None:
    with serve({"/search?q=x": response(b"{}"), "/": response(b"secret")}) as site:

        async def run() -> bytes:
            async with HttpFetcher(Config(), AGENT, apis=endpoint(site)) as fetcher:
                answer = (await fetcher.send(ApiCall(site.url("/search?q=x")))).body
                with pytest.raises(KeyholeError) as caught:
                    await fetcher.fetch(site.url("/"))
                assert caught.value.code is Code.BLOCKED_ADDRESS
                return answer

        assert asyncio.run(run()) == b"{}"
        assert [call.headers["accept"] for call in site.calls] == ["application/json"]


@pytest.mark.parametrize(
    ("data", "reply"),
    [
        (response(status="302 Found", Location="/elsewhere"), ApiReply(302, b"")),
        (response(b"{}", "403 Forbidden", Content_Type="a/b"), ApiReply(403, b"{}", "a/b")),
        (response(status="429 Slow", Retry_After="7"), ApiReply(429, b"", retry_after=7)),
    ],
)
def test_a_reply_of_an_api_is_returned_whatever_its_status(data: bytes, reply: ApiReply) -> None:
    with serve(answers_with(data)) as site:

        async def run() -> ApiReply:
            async with HttpFetcher(Config(), AGENT, apis=endpoint(site)) as fetcher:
                return await fetcher.send(ApiCall(site.url("/search")))

        assert asyncio.run(run()) == reply
        assert len(site.calls) == 1


def test_an_api_gets_a_posted_body_and_its_own_headers() -> None:
    with serve(answers_with(response(b"[]"))) as site:

        async def run() -> ApiReply:
            async with HttpFetcher(Config(), AGENT, apis=endpoint(site)) as fetcher:
                return await fetcher.send(ApiCall(site.url("/ask"), (("X-Key", "k1"),), b'{"q": 1}'))

        assert asyncio.run(run()).body == b"[]"
        (call,) = site.calls
        assert (call.method, call.path, call.body) == ("POST", "/ask", b'{"q": 1}')
        assert call.headers["x-key"] == "k1"
        assert call.headers["content-type"] == "application/json"


def test_a_post_whose_connection_breaks_is_not_sent_again() -> None:
    with serve(answers_with(b"")) as site:

        async def run() -> None:
            async with HttpFetcher(Config(), AGENT, apis=endpoint(site)) as fetcher:
                await fetcher.send(ApiCall(site.url("/ask"), body=b"{}"))

        with pytest.raises(KeyholeError) as caught:
            asyncio.run(run())
        assert caught.value.code is Code.PROTOCOL_ERROR
        assert len(site.calls) == 1


def test_an_engine_on_loopback_that_is_not_configured_is_refused() -> None:
    with serve({"/": response(b"{}")}) as site:

        async def run() -> None:
            async with HttpFetcher(Config(), AGENT) as fetcher:
                await fetcher.send(ApiCall(site.url()))

        with pytest.raises(KeyholeError) as caught:
            asyncio.run(run())
        assert caught.value.code is Code.BLOCKED_ADDRESS
        assert site.connections == 0


# Cancellation.


def silent(site: Site) -> Responder:
    return site.hold


def mid_headers(site: Site) -> Responder:
    def answer(call: Call) -> None:
        call.send(b"HTTP/1.1 200 OK\r\nContent-Type: text/")
        site.hold(call)

    return answer


def mid_body(site: Site) -> Responder:
    def answer(call: Call) -> None:
        call.send(response(b"a beginning", Content_Length="1000"))
        site.hold(call)

    return answer


@pytest.mark.parametrize("talk", [silent, mid_headers, mid_body])
def test_a_cancelled_fetch_closes_its_connection_within_100_milliseconds(talk: Callable[[Site], Responder]) -> None:
    async def cancel_once(site: Site) -> float:
        async with HttpFetcher(Config(allow_private=frozenset({site.endpoint})), AGENT) as fetcher:
            task = asyncio.create_task(fetcher.fetch(site.url()))
            assert await asyncio.to_thread(site.request_received.wait, PATIENCE)
            started = time.monotonic()
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
            assert await asyncio.to_thread(site.client_left.wait, PATIENCE)
            return site.client_left_at - started

    # The best of three runs, since other programs may use the processor.
    delays = []
    for _ in range(3):
        with serve(talk) as site:
            delays.append(asyncio.run(cancel_once(site)))
    assert min(delays) < 0.1


def test_a_fetch_that_times_out_closes_its_connection() -> None:
    async def run(site: Site) -> None:
        async with HttpFetcher(Config(allow_private=frozenset({site.endpoint})), AGENT) as fetcher:
            with pytest.raises(TimeoutError):
                async with asyncio.timeout(0.5):
                    await fetcher.fetch(site.url())

    with serve(silent) as site:
        asyncio.run(run(site))
        assert site.client_left.wait(PATIENCE)


def test_many_pages_are_fetched_at_once() -> None:
    async def run(site: Site) -> list[Page]:
        async with HttpFetcher(Config(allow_private=frozenset({site.endpoint})), AGENT) as fetcher:
            return await asyncio.gather(*(fetcher.fetch(site.url(f"/{n}")) for n in range(20)))

    with serve({f"/{n}": response(str(n).encode()) for n in range(20)}) as site:
        assert [page.body for page in asyncio.run(run(site))] == [str(n).encode() for n in range(20)]


def test_a_page_has_the_time_at_which_its_request_began() -> None:
    clock = Clock()

    def answer(call: Call) -> None:
        clock.now += 7
        call.send(response(b"late", Content_Type="text/plain"))

    async def run(site: Site) -> Page:
        config = Config(allow_private=frozenset({site.endpoint}))
        async with HttpFetcher(config, AGENT, clock=clock) as fetcher:
            return await fetcher.fetch(site.url())

    began = clock.now
    with serve(lambda _: answer) as site:
        assert asyncio.run(run(site)).fetched_at == began


def test_a_part_of_a_file_is_requested_after_each_redirect_and_uncompressed() -> None:
    answers = {
        "/file": response(status="302 Found", Location="/stored"),
        "/stored": response(b"cdef", "206 Partial Content", Content_Type="application/octet-stream"),
    }

    async def run(url: str, allowed: str) -> Page:
        config = Config(allow_private=frozenset({allowed}), ports=ANY_PORT, robots="off")
        async with HttpFetcher(config, AGENT) as fetcher:
            return await fetcher.fetch(url, FetchOptions(ANY, part=(2, 6)))

    with serve(answers) as site:
        page = asyncio.run(run(site.url("/file"), site.endpoint))
    assert (page.status, page.body) == (206, b"cdef")
    assert {(call.headers["range"], call.headers["accept-encoding"]) for call in site.calls} == {
        ("bytes=2-5", "identity")
    }


@pytest.mark.parametrize(
    ("number", "message"),
    [
        (socket.EAI_NONAME, "the name nowhere.example could not be resolved"),
        (socket.EAI_AGAIN, "no name server answered for nowhere.example"),
    ],
)
def test_a_missing_network_is_told_from_an_unknown_name(number: int, message: str) -> None:
    with mock.patch("socket.getaddrinfo", side_effect=socket.gaierror(number, "failed")):
        error = failure("https://nowhere.example/")
    assert (error.code, error.message) == (Code.DNS_FAILURE, message)
