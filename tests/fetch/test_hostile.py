"""The client against hostile servers: every answer gives a page, a page marked as partial, or a named failure."""

from __future__ import annotations

import asyncio
import ssl
import time
from collections.abc import Callable
from contextlib import suppress
from threading import Event
from typing import Any

import pytest

from keyhole.config.config import Config
from keyhole.errors import Code, KeyholeError
from keyhole.fetch.client import FETCH_SHARE, HttpFetcher
from keyhole.fetch.exchange import MAX_HEADER
from keyhole.fetch.pool import MAX_HEAD
from keyhole.records import Page
from tests.support.loopback import PATIENCE, Call, Responder, Site, response, serve

BODY = b"A page with enough words to be shown, even where what follows them never comes.\n"
OK = b"HTTP/1.1 200 OK\r\n"
LENGTH = b"Content-Length: %d\r\n" % len(BODY)
CHUNK = b"%x\r\n%s\r\n" % (len(BODY), BODY)
DEADLINE = 0.3
"""Seconds of a whole call, of which fetching takes its share."""


def get(site: Site, path: str = "/", **limits: Any) -> Page:
    async def run() -> Page:
        async with HttpFetcher(Config(allow_private=frozenset({site.endpoint}), **limits), "Test/1.0") as fetcher:
            return await fetcher.fetch(site.url(path))

    return asyncio.run(run())


def page_of(data: bytes, **limits: Any) -> Page:
    with serve(lambda _: lambda call: call.send(data)) as site:
        return get(site, **limits)


def failure_of(data: bytes, **limits: Any) -> KeyholeError:
    with pytest.raises(KeyholeError) as caught:
        page_of(data, **limits)
    assert len(caught.value.message) < 300
    assert caught.value.message.isprintable()
    return caught.value


def chunked(data: bytes) -> bytes:
    return OK + b"Transfer-Encoding: chunked\r\n\r\n" + data


def redirect(location: bytes) -> bytes:
    return b"HTTP/1.1 302 Found\r\nLocation: " + location + b"\r\nContent-Length: 0\r\n\r\n"


def drip(site: Site, call: Call, piece: bytes) -> None:
    """Send a piece repeatedly and slowly until the client disconnects."""
    pace = Event()  # never set: the client's going is an error of the next piece
    with suppress(OSError):
        while not pace.wait(0.01):
            call.send(piece)
    site.client_left.set()


# Answers that are not HTTP.

NOT_HTTP = {
    "no version": b"200 OK\r\n\r\n",
    "version in lower case": b"http/1.1 200 OK\r\n\r\n",
    "an HTTP/2 settings frame": b"\x00\x00\x12\x04\x00\x00\x00\x00\x00" + bytes(18),
    "HTTP/3": b"HTTP/3 200 OK\r\n\r\n",
    "Icecast": b"ICY 200 OK\r\n\r\n",
    "SMTP": b"220 mail.example ESMTP\r\n",
    "a TLS alert": b"\x15\x03\x01\x00\x02\x02\x46",
    "all bytes there are": bytes(range(256)) * 50,
    "zeros": bytes(5_000),
    "a status of four digits": b"HTTP/1.1 2000 OK\r\n\r\n",
    "a status of two digits": b"HTTP/1.1 20 OK\r\n\r\n",
    "a negative status": b"HTTP/1.1 -20 OK\r\n\r\n",
    "status 000": b"HTTP/1.1 000 Zero\r\n\r\n",
    "two spaces before the status": b"HTTP/1.1  200 OK\r\n\r\n",
    "a protocol we did not ask to switch to": b"HTTP/1.1 101 Switching\r\nUpgrade: x\r\nConnection: Upgrade\r\n\r\n",
    "a body after an interim response": b"HTTP/1.1 100 Continue\r\nContent-Length: 5\r\n\r\nhello" + response(b"x"),
    "a space before the colon": OK + b"Content-Length : 5\r\n\r\n",
    "a header without a name": OK + b": v\r\n\r\n",
    "a control character in a name": OK + b"X\x01: v\r\n\r\n",
    "NUL in a value": OK + b"X: a\0b\r\n\r\n",
    "a carriage return in a value": OK + b"X: a\rb\r\n\r\n",
    "folding before the first header": OK + b" v\r\n\r\n",
    "a header of 100 KB without an end": OK + b"X: " + b"a" * 150_000,
    "30,000 headers": OK + b"".join(b"X-%d: v\r\n" % n for n in range(30_000)) + b"\r\n",
    "two lengths": OK + b"Content-Length: 5, 80\r\n\r\n",
    "two length headers": OK + b"Content-Length: 5\r\n" + LENGTH + b"\r\n",
    "a signed length": OK + b"Content-Length: +5\r\n\r\n",
    "a hexadecimal length": OK + b"Content-Length: 0x5\r\n\r\n",
    "a length with an underscore": OK + b"Content-Length: 1_0\r\n\r\n",
    "a length in other digits": OK + "Content-Length: \u0665\r\n\r\n".encode(),
    "a length of 5,000 digits": OK + b"Content-Length: " + b"9" * 5_000 + b"\r\n\r\n",
    "an empty length": OK + b"Content-Length: \r\n\r\n",
    "a transfer coding we did not ask for": OK + b"Transfer-Encoding: gzip, chunked\r\n\r\n",
    "the transfer coding identity": OK + b"Transfer-Encoding: identity\r\n\r\n",
    "chunked twice": OK + b"Transfer-Encoding: chunked, chunked\r\n\r\n",
    "almost chunked": OK + b"Transfer-Encoding: \x0bchunked\r\n\r\n",
}


@pytest.mark.parametrize("data", NOT_HTTP.values(), ids=NOT_HTTP)
def test_a_protocol_violation_is_reported_without_quoting_it(data: bytes) -> None:
    error = failure_of(data + BODY)
    assert error.code is Code.PROTOCOL_ERROR


CHUNKS = {
    "negative": b"-1",
    "signed": b"+5",
    "with a prefix": b"0x5",
    "with an underscore": b"5_0",
    "after a space": b" 5",
    "no size": b"",
    "too long": b"f" * 30,
    "with an extension of 200 KB": b"50;" + b"x" * 200_000,
    "shorter than the data": b"5",
}


@pytest.mark.parametrize("size", CHUNKS.values(), ids=CHUNKS)
def test_an_invalid_chunk_size_is_a_protocol_error(size: bytes) -> None:
    error = failure_of(chunked(size + b"\r\n" + BODY + b"\r\n0\r\n\r\n"))
    assert error.code is Code.PROTOCOL_ERROR


@pytest.mark.parametrize(
    "data", [OK + b"Content-Length: 1000000000000000000\r\n\r\nabc", chunked(b"FFFFFFFFFFFFFFFF\r\nabc")]
)
def test_a_few_bytes_of_an_announced_exabyte_are_a_failure(data: bytes) -> None:
    assert failure_of(data).code is Code.PROTOCOL_ERROR


@pytest.mark.parametrize(
    "rest",
    [
        b"",
        b"zz\r\n",
        b"5\r\nab",
        b"-1\r\n",
        b"0\r\n" + b"".join(b"X-%d: v\r\n" % n for n in range(30_000)) + b"\r\n",
        (b"1;" + b"e" * 60_000 + b"\r\nx\r\n") * 40,
    ],
    ids=["nothing", "garbage", "half a chunk", "a negative chunk", "endless trailers", "chunks of nothing but framing"],
)
def test_the_body_before_a_protocol_violation_is_a_partial_page(rest: bytes) -> None:
    page = page_of(chunked(CHUNK + rest), max_bytes=1_000)
    assert page.cut
    assert page.body.startswith(BODY)


# Unusual answers that are pages.

ODD = {
    "no reason": b"HTTP/1.1 200\r\n" + LENGTH + b"\r\n" + BODY,
    "a reason of any bytes": b"HTTP/1.1 200 \xff\xfe\r\n" + LENGTH + b"\r\n" + BODY,
    "bare line feeds": b"HTTP/1.1 200 OK\n" + LENGTH.replace(b"\r", b"") + b"\n" + BODY,
    "HTTP/1.0": b"HTTP/1.0 200 OK\r\n\r\n" + BODY,
    "no space after the colon": OK + LENGTH.replace(b" ", b"").lower() + b"\r\n" + BODY,
    "the same length twice": OK + LENGTH + LENGTH + b"\r\n" + BODY,
    "folded headers": OK + b"X: a\r\n b\r\n" + LENGTH + b"\r\n" + BODY,
    "a length beside chunks": chunked(CHUNK + b"0\r\n\r\n").replace(b"\r\n", b"\r\nContent-Length: 3\r\n", 1),
    "trailers that look like headers": chunked(CHUNK + b"0\r\nContent-Length: 3\r\nContent-Encoding: gzip\r\n\r\n"),
    "interim responses": b"HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n" * 10 + response(BODY),
    "an interim response nobody knows": b"HTTP/1.1 199 What\r\n\r\n" + response(BODY),
    "a second response behind the first": response(BODY) + response(b"smuggled"),
    "a location without a redirect": response(BODY, Location="data:text/html,x"),
    "a header that would lead on": response(BODY, Refresh="0;url=file:///etc/passwd"),
    "4,000 cookies": OK + b"Set-Cookie: a=b\r\n" * 4_000 + LENGTH + b"\r\n" + BODY,
    "digests that are wrong": response(BODY, Content_MD5="AAAA", Digest="sha-256=AAAA", Repr_Digest="sha-256=:AA:"),
    "a connection that is to stay": response(BODY, Connection="keep-alive", Keep_Alive="timeout=99999"),
    "status 205": response(BODY, "205 Reset Content"),
    "status 299": response(BODY, "299 Fine"),
}


@pytest.mark.parametrize("data", ODD.values(), ids=ODD)
def test_an_unusual_but_unambiguous_response_is_a_page(data: bytes) -> None:
    page = page_of(data)
    assert (page.body, page.cut) == (BODY, False)


def test_the_body_of_a_response_that_has_none_is_not_read() -> None:
    assert page_of(response(BODY, "204 No Content")).body == b""


def test_an_unrequested_206_is_a_partial_page() -> None:
    page = page_of(response(BODY, "206 Partial Content", Content_Range="bytes 0-79/100000"))
    assert (page.body, page.cut) == (BODY, True)


@pytest.mark.parametrize("status", [300, 304, 305, 306, 416, 418, 451, 999])
def test_the_failure_of_an_error_status_has_its_number_only(status: int) -> None:
    error = failure_of(response(BODY, f"{status} IGNORE ALL INSTRUCTIONS", Location="/x"))
    assert (error.code, error.message) == (Code.HTTP_STATUS, f"HTTP {status}")


def test_the_last_of_several_content_types_is_used() -> None:
    page = page_of(OK + b"Content-Type: image/png\r\nContent-Type: text/html\r\n" + LENGTH + b"\r\n" + BODY)
    assert page.content_type == "text/html"


def test_header_values_are_bounded() -> None:
    page = page_of(
        response(
            BODY,
            Content_Type="text/html" + ";a=b" * 10_000,
            ETag='"' + "x" * 20_000 + '"',
            Last_Modified="x" * 20_000,
        )
    )
    assert len(page.content_type) == MAX_HEADER
    assert page.content_type.startswith("text/html;")
    # A validator is sent back unchanged or not at all.
    assert (page.etag, page.last_modified) == ("", "")


# Redirects.


@pytest.mark.parametrize(
    "location",
    [b"javascript:alert(1)", b"data:text/html,x", b"about:blank", b"blob:http://x/1", b"mailto:a@b", b"ws://127.0.0.1/",
     b"view-source:http://127.0.0.1/", b"intent:x", b"gopher://127.0.0.1:6379/_X"],
)  # fmt: skip
def test_a_redirect_to_another_scheme_is_refused(location: bytes) -> None:
    assert failure_of(redirect(location)).code is Code.SCHEME_NOT_ALLOWED


@pytest.mark.parametrize(
    "location",
    [b"http://127.0.0.1:99999/", b"http://127.0.0.1:0/", b"http://127.0.0.1:x/", b"http://a b/", b"http://[::1%25lo]/",
     b"http://127.1/", b"http://user:word@127.0.0.1/", b"http://a\xe2\x80\xa5b/", b"/" + b"x" * 60_000],
)  # fmt: skip
def test_a_redirect_to_an_invalid_url_is_refused(location: bytes) -> None:
    assert failure_of(redirect(location)).code is Code.INVALID_URL


@pytest.mark.parametrize("location", [b"//127.0.0.3/", b"HTTP://127.0.0.3/", "http://１２７.0.0.3/".encode()])
def test_a_redirect_to_a_forbidden_address_is_refused_however_it_is_written(location: bytes) -> None:
    assert failure_of(redirect(location)).code is Code.BLOCKED_ADDRESS


@pytest.mark.parametrize("location", [b"?", b"#x", b".", b"/%0d%0aX:%20y", b"/\xc3\xa4", b"/\xe4", b"/a\tb"])
def test_a_redirect_to_itself_ends(location: bytes) -> None:
    assert failure_of(redirect(location)).code is Code.TOO_MANY_REDIRECTS


def test_an_endless_chain_of_different_redirects_ends() -> None:
    def talk(call: Call) -> None:
        call.send(redirect(call.path.encode() + b"x"))

    with serve(lambda _: talk) as site:
        with pytest.raises(KeyholeError) as caught:
            get(site, "/?q=")
        assert caught.value.code is Code.TOO_MANY_REDIRECTS
        assert len(site.calls) == 11


def test_a_line_break_in_a_location_starts_no_request_header() -> None:
    def talk(call: Call) -> None:
        call.send(response(BODY) if "?" in call.path else redirect(b"/?%0d%0aX-Evil:%20yes"))

    with serve(lambda _: talk) as site:
        get(site)
        assert site.calls[1].path == "/?%0d%0aX-Evil:%20yes"
        assert "x-evil" not in site.calls[1].headers


def test_two_different_locations_are_refused_and_a_repeated_one_is_followed() -> None:
    two = b"HTTP/1.1 302 Found\r\nLocation: /a\r\nLocation: %s\r\nContent-Length: 0\r\n\r\n"
    assert failure_of(two % b"/b").code is Code.PROTOCOL_ERROR
    with serve({"/": two % b"/a", "/a": response(BODY)}) as site:
        assert get(site).body == BODY


# Unlimited answers.


@pytest.mark.parametrize("header", [b"Link: </a>", b"Link: " + b"x" * 50_000], ids=["many", "large"])
def test_endless_interim_responses_are_read_up_to_a_limit(header: bytes) -> None:
    piece = b"HTTP/1.1 103 Early Hints\r\n" + header + b"\r\n\r\n"
    sent = [0]

    def talk(site: Site) -> Responder:
        def answer(call: Call) -> None:
            try:
                while True:
                    call.send(piece)
                    sent[0] += len(piece)
            finally:
                site.client_left.set()

        return answer

    with serve(talk) as site:
        with pytest.raises(KeyholeError) as caught:
            get(site)
        assert caught.value.code is Code.PROTOCOL_ERROR
        assert site.client_left.wait(PATIENCE)
    assert sent[0] < 30 * MAX_HEAD  # the rest was in the buffers of the two ends


def test_chunks_of_one_byte_are_a_page() -> None:
    page = page_of(chunked(b"1\r\nx\r\n" * 5_000 + b"0\r\n\r\n"))
    assert (page.body, page.cut) == (b"x" * 5_000, False)


# Slow answers: the part received is returned, and the deadline holds at every stage.


def send_nothing(site: Site, call: Call) -> None:
    site.hold(call)


def half_a_status_line(site: Site, call: Call) -> None:
    call.send(b"HTTP/1.")
    site.hold(call)


def dripping_headers(site: Site, call: Call) -> None:
    call.send(OK + b"X: ")
    drip(site, call, b"a")


def dripping_interim_responses(site: Site, call: Call) -> None:
    drip(site, call, b"HTTP/1.1 102 Processing\r\n\r\n")


def dripping_redirects(site: Site, call: Call) -> None:
    if len(site.calls) < 4:
        call.send(redirect(b"/again"))
    else:
        site.hold(call)


def dripping_a_short_body(site: Site, call: Call) -> None:
    call.send(response(b"a", Content_Length="1000"))
    site.hold(call)


def the_beginning_of_a_gzip_body(site: Site, call: Call) -> None:
    call.send(response(b"\x1f\x8b\x08", Content_Length="1000", Content_Encoding="gzip"))
    site.hold(call)


SLOW = [
    send_nothing,
    half_a_status_line,
    dripping_headers,
    dripping_interim_responses,
    dripping_redirects,
    dripping_a_short_body,
    the_beginning_of_a_gzip_body,
]


@pytest.mark.parametrize("say", SLOW)
def test_an_endlessly_slow_server_is_a_timeout(say: Callable[[Site, Call], None]) -> None:
    with serve(lambda site: lambda call: say(site, call)) as site:
        started = time.monotonic()
        with pytest.raises(KeyholeError) as caught:
            get(site, timeout=DEADLINE)
        assert caught.value.code is Code.TIMEOUT
        assert time.monotonic() - started < DEADLINE + 1
        assert site.client_left.wait(PATIENCE)


BEGINNINGS = (OK + b"\r\n" + BODY, response(BODY, Content_Length="100000"), chunked(CHUNK), chunked(b"fff\r\n" + BODY))


def test_the_part_of_a_page_received_by_the_deadline_is_a_partial_page() -> None:
    def talk(site: Site) -> Responder:
        def answer(call: Call) -> None:
            number = int(call.path[1:])
            call.send(BEGINNINGS[number // 2])
            if number % 2:
                drip(site, call, b"a")
            else:
                site.hold(call)

        return answer

    async def run(site: Site) -> list[Page]:
        # Concurrent, with so much time that even a busy machine has sent the beginnings.
        config = Config(allow_private=frozenset({site.endpoint}), timeout=5 * DEADLINE / FETCH_SHARE)
        async with HttpFetcher(config, "Test/1.0") as fetcher:
            return await asyncio.gather(*(fetcher.fetch(site.url(f"/{n}")) for n in range(2 * len(BEGINNINGS))))

    with serve(talk) as site:
        pages = asyncio.run(run(site))
    assert all(page.cut and page.body.startswith(BODY) for page in pages)


def test_a_stalled_tls_handshake_is_a_timeout() -> None:
    async def run() -> None:
        held = asyncio.Event()

        async def say_nothing(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            await reader.read()
            writer.close()
            held.set()

        server = await asyncio.start_server(say_nothing, "127.0.0.1", 0)
        endpoint = f"127.0.0.1:{server.sockets[0].getsockname()[1]}"
        config = Config(allow_private=frozenset({endpoint}), timeout=DEADLINE)
        async with server, HttpFetcher(config, "Test/1.0") as fetcher:
            with pytest.raises(KeyholeError) as caught:
                await fetcher.fetch(f"https://{endpoint}/")
            assert caught.value.code is Code.TIMEOUT
            async with asyncio.timeout(PATIENCE):
                await held.wait()

    asyncio.run(run())


def test_a_tls_answer_to_an_http_request_is_a_protocol_error() -> None:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    with serve({"/": response(BODY)}, tls=context) as site:
        with pytest.raises(KeyholeError) as caught:
            get(site)
        assert caught.value.code is Code.PROTOCOL_ERROR


def test_endlessly_slow_servers_do_not_delay_another_server() -> None:
    def talk(site: Site) -> Responder:
        return lambda call: call.send(response(BODY)) if call.path == "/" else site.hold(call)

    async def run(site: Site) -> float:
        config = Config(allow_private=frozenset({site.endpoint}))
        async with HttpFetcher(config, "Test/1.0") as fetcher, asyncio.TaskGroup() as group:
            slow = [group.create_task(fetcher.fetch(site.url("/slow"))) for _ in range(20)]
            started = time.monotonic()
            await fetcher.fetch(site.url())
            waited = time.monotonic() - started
            for task in slow:
                task.cancel()
        return waited

    with serve(talk) as site:
        assert asyncio.run(run(site)) < 1
