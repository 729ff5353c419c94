"""Test the keyless engine's process: its arguments, its answers, and that it never outlives a call.

The child is a script, or the real child with a fake `ddgs`; test_ddgs_package.py uses the real package.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import keyhole
from keyhole.errors import Code, KeyholeError
from keyhole.extensions.engines.ddgs import (
    KeylessEngine,
    child_environment,
    classify_response,
    ddgs_arguments,
    ddgs_region,
    parse,
)
from keyhole.fetch.base import ApiReply
from keyhole.records import Hit, SearchRequest
from keyhole.websearch.request import MAX_QUERY
from tests.support.fakes import search_api

PATIENCE = 10.0
REQUEST = SearchRequest("größe & 数据", 5)
ROW = {"href": "https://a.example/", "title": "A", "body": "about a"}
HIT = Hit("https://a.example/", "A", "about a", "keyless")
SOURCE = str(Path(keyhole.__file__).parents[1])


def child(script: str) -> KeylessEngine:
    """Return the engine with a script as its child."""
    return KeylessEngine(search_api(), (sys.executable, "-I", "-c", script))


def child_that_prints(text: str) -> KeylessEngine:
    return child(f"import sys; sys.stdin.read(); sys.stdout.write({text!r})")


def search(engine: KeylessEngine, request: SearchRequest = REQUEST) -> tuple[Hit, ...]:
    return asyncio.run(engine.search(request))


def failure(engine: KeylessEngine) -> KeyholeError:
    with pytest.raises(KeyholeError) as caught:
        search(engine)
    return caught.value


# Arguments of the child.


def test_the_child_receives_the_query_and_its_filters() -> None:
    request = SearchRequest("q", 8, ("a.example",), ("b.example",), freshness="month", language="de-AT")
    assert ddgs_arguments(request) == {
        "kind": "web",
        "query": "q site:a.example -site:b.example",
        "region": "at-de",
        "timelimit": "m",
        "max_results": 16,
    }


def test_without_filters_the_child_searches_worldwide_for_ten_results() -> None:
    arguments = ddgs_arguments(SearchRequest("q", 1))
    assert arguments == {"kind": "web", "query": "q", "region": "wt-wt", "timelimit": None, "max_results": 10}


@pytest.mark.parametrize(
    ("language", "country", "expected"),
    [
        ("", "", "wt-wt"),
        ("de", "", "wt-de"),
        ("de-AT", "", "at-de"),
        ("de", "ch", "ch-de"),
        ("de-AT", "ch", "ch-de"),
        ("zh-Hans", "", "wt-zh"),
        ("en", "gb", "uk-en"),
        ("", "gb", "uk-en"),
        ("", "de", "de-de"),
        ("", "mx", "mx-es"),
        ("", "jp", "jp-jp"),
        ("", "se", "se-sv"),
    ],
)
def test_a_language_and_a_country_become_one_region(language: str, country: str, expected: str) -> None:
    assert ddgs_region(SearchRequest("q", 5, language=language, country=country)) == expected


def test_the_query_reaches_the_child_over_stdin_in_any_script() -> None:
    engine = child(
        "import json, sys; call = json.load(sys.stdin);"
        "json.dump({'results': [{'href': 'https://a.example/', 'title': call['query'], 'body': ''}]}, sys.stdout)"
    )
    (hit,) = search(engine)
    assert hit.title == REQUEST.query


# Answers of the child.


def test_results_become_hits_in_their_order() -> None:
    rows = [ROW, {"href": "https://b.example/"}]
    assert search(child_that_prints(json.dumps({"results": rows}))) == (
        HIT,
        Hit("https://b.example/", "", "", "keyless"),
    )


def test_a_child_that_prints_without_end_is_ended() -> None:
    error = failure(child("import os, sys; sys.stdin.read()\nwhile True: os.write(1, b' ' * 65536)"))
    assert error.message == "the keyless search process printed too much"


def test_an_empty_answer_gives_no_hits() -> None:
    assert search(child_that_prints('{"results": []}')) == ()


@pytest.mark.parametrize("row", [{}, {"href": None}, {"href": ""}])
def test_a_result_without_a_url_is_left_out(row: dict[str, Any]) -> None:
    assert parse(ApiReply(200, json.dumps({"results": [row, ROW]}).encode())) == (HIT,)


def test_a_result_without_a_title_has_an_empty_one() -> None:
    out = json.dumps({"results": [{"href": "https://a.example/", "title": None, "body": None}]}).encode()
    assert parse(ApiReply(200, out)) == (Hit("https://a.example/", "", "", "keyless"),)


@pytest.mark.parametrize(
    ("kind", "code"),
    [
        ("RatelimitException", Code.RATE_LIMITED),
        ("TimeoutException", Code.TIMEOUT),
        ("ChallengeException", Code.BOT_CHALLENGE),
        ("DDGSException", Code.ENGINE_UNAVAILABLE),
        ("ModuleNotFoundError", Code.ENGINE_UNAVAILABLE),
        ("", Code.ENGINE_UNAVAILABLE),
    ],
)
def test_an_error_of_the_child_is_mapped_to_its_code(kind: str, code: Code) -> None:
    assert failure(child_that_prints(json.dumps({"error": kind, "message": "m"}))).code is code


def test_an_unknown_error_names_one_of_a_few_reasons() -> None:
    error = failure(child_that_prints(json.dumps({"error": "OSError", "message": "no route to host " * 100})))
    assert error.message == "the keyless engines failed: no connection"


@pytest.mark.parametrize(
    "out",
    ["", "garbage", "null", "[]", "5", "{}", '{"results": null}', '{"results": "x"}', '{"results": [5]}',
      '{"results": [', '{"results": []} trailing', "\ufeff{}", "[" * 100_000],
)  # fmt: skip
def test_invalid_output_of_the_child_is_an_unavailable_engine(out: str) -> None:
    with pytest.raises(KeyholeError) as caught:
        parse(ApiReply(200, out.encode()))
    assert caught.value.code is Code.ENGINE_UNAVAILABLE


@given(st.binary(max_size=40) | st.recursive(st.none() | st.text(max_size=5) | st.integers(), st.lists).map(json.dumps))
def test_any_output_gives_hits_or_a_keyhole_error(out: bytes | str) -> None:
    try:
        parse(ApiReply(200, out.encode() if isinstance(out, str) else out))
    except KeyholeError as error:
        assert error.code is Code.ENGINE_UNAVAILABLE


@pytest.mark.parametrize(
    "script",
    [
        "import sys; sys.exit(3)",
        "raise RuntimeError('it broke')",
        "import os; os.abort()",
        "import sys; sys.stdin.close(); sys.stdout.close()",
        "import sys; sys.stdout.buffer.write(bytes(3_000_000))",
    ],
)
def test_a_child_that_crashes_or_prints_garbage_is_an_unavailable_engine(script: str) -> None:
    assert failure(child(script)).code is Code.ENGINE_UNAVAILABLE


def test_a_child_that_ignores_its_input_can_still_answer() -> None:
    engine = child("print('{\"results\": []}')")
    assert search(engine, SearchRequest("long question " * 20_000, 5)) == ()


def test_stderr_of_the_child_is_ignored() -> None:
    engine = child("import sys; sys.stderr.write('warning\\n' * 100_000); print('{\"results\": []}')")
    assert search(engine) == ()


@pytest.mark.parametrize("command", ["/nonexistent/python", str(Path(__file__))])
def test_a_child_that_cannot_be_started_is_an_unavailable_engine(command: str) -> None:
    assert failure(KeylessEngine(search_api(), (command,))).code is Code.ENGINE_UNAVAILABLE


# The child never outlives a call.

WAITS = """
import socket, sys
line = socket.create_connection(("127.0.0.1", {port}))
line.sendall(b"up")
line.recv(1)
"""


async def while_the_child_waits(act: Any) -> float:
    """Run `act` on a search whose child waits forever, and return the seconds that the child outlives `act`."""
    connected: asyncio.Future[asyncio.StreamReader] = asyncio.get_running_loop().create_future()

    async def child_connected(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readexactly(2)
        connected.set_result(reader)
        await ended.wait()
        writer.close()

    ended = asyncio.Event()
    server = await asyncio.start_server(child_connected, "127.0.0.1", 0)
    async with server:
        engine = child(WAITS.format(port=server.sockets[0].getsockname()[1]))
        task = asyncio.create_task(engine.search(REQUEST))
        reader = await asyncio.wait_for(connected, PATIENCE)
        started = time.monotonic()
        await act(task)
        # The system closes a dead process's sockets: end of file here is the end of the child.
        with contextlib.suppress(ConnectionResetError):
            assert await asyncio.wait_for(reader.read(), PATIENCE) == b""
        ended.set()
    return time.monotonic() - started


def test_cancelling_a_search_kills_its_child_within_100_milliseconds() -> None:
    async def cancel(task: asyncio.Task[tuple[Hit, ...]]) -> None:
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    # The best of three runs, since other programs may use the processor.
    assert min(asyncio.run(while_the_child_waits(cancel)) for _ in range(3)) < 0.1


def test_a_child_that_takes_too_long_is_killed_and_the_search_is_a_timeout(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("keyhole.extensions.engines.ddgs.PROCESS_TIMEOUT", 0.5)

    async def wait(task: asyncio.Task[tuple[Hit, ...]]) -> None:
        with pytest.raises(KeyholeError) as caught:
            await task
        assert caught.value.code is Code.TIMEOUT

    asyncio.run(while_the_child_waits(wait))


# The real child with a fake ddgs.

CHILD = f"""
import sys
sys.path[:0] = [sys.argv[1], {SOURCE!r}]
from keyhole.extensions.engines.ddgs import run_child
run_child()
"""
EXCEPTIONS = """
class DDGSException(Exception): pass
class RatelimitException(DDGSException): pass
class TimeoutException(DDGSException): pass
"""


HTTP_CLIENT = """
class Response:
    def __init__(self, status_code, text): self.status_code, self.text = status_code, text
class HttpClient:
    def request(self, method, url, status, text, **options):
        if isinstance(status, Exception): raise status
        return Response(status, ":".join([text, *map(str, options.values())]))
"""


def real_child(
    folder: Path,
    text: str = "return []",
    *,
    news: str = "return []",
    before: str = "",
    denied: frozenset[str] = frozenset(),
) -> KeylessEngine:
    """Return the engine with the real child and a fake `ddgs` package whose `DDGS().text` has the body `text`."""
    package = folder / "ddgs"
    package.mkdir()
    (package / "exceptions.py").write_text(EXCEPTIONS, encoding="utf-8")
    (package / "http_client.py").write_text(HTTP_CLIENT, encoding="utf-8")
    (package / "__init__.py").write_text(
        f"from .exceptions import *\n{before}\n"
        "class DDGS:\n"
        "    def __init__(self, timeout): self.timeout = timeout\n"
        f"    def text(self, query, *, region, timelimit, max_results): {text}\n"
        f"    def news(self, query, *, region, timelimit, max_results): {news}\n",
        encoding="utf-8",
    )
    return KeylessEngine(search_api(), (sys.executable, "-c", CHILD, str(folder)), denied=denied)


def test_the_child_returns_the_results_of_ddgs(tmp_path: Path) -> None:
    row = "{'href': 'https://a.example/', 'title': query, 'body': f'{region} {timelimit} {max_results} {self.timeout}'}"
    (hit,) = search(real_child(tmp_path, f"return [{row}]"))
    assert hit == Hit("https://a.example/", "größe & 数据", "wt-wt None 10 5", "keyless")


@pytest.mark.parametrize(
    ("kind", "code"),
    [
        ("RatelimitException", Code.RATE_LIMITED),
        ("TimeoutException", Code.TIMEOUT),
        ("DDGSException", Code.ENGINE_UNAVAILABLE),
        ("ValueError", Code.ENGINE_UNAVAILABLE),
    ],
)
def test_the_child_reports_exceptions_of_ddgs_by_name(tmp_path: Path, kind: str, code: Code) -> None:
    assert failure(real_child(tmp_path, f"raise {kind}('captcha')")).code is code


@pytest.mark.parametrize(
    ("responses", "code"),
    [
        ("('bing.com', 200, '<html>')", None),
        ("('en.wikipedia.org', 200, '[]'), ('bing.com', 200, '<html>')", None),
        ("('bing.com', 429, ''), ('mojeek.com', 200, '<html>')", None),
        ("('bing.com', 500, '')", Code.ENGINE_UNAVAILABLE),
        ("('bing.com', 200, '')", Code.ENGINE_UNAVAILABLE),
        ("('en.wikipedia.org', 200, '[]'), ('bing.com', 500, '')", Code.ENGINE_UNAVAILABLE),
        ("('bing.com', 429, 'later'), ('duckduckgo.com', 202, '<html>')", Code.RATE_LIMITED),
        ("('en.wikipedia.org', 200, '[]'), ('duckduckgo.com', 202, '<html>')", Code.BOT_CHALLENGE),
        ("('google.com', 403, ''), ('bing.com', TimeoutException('timed out'), '')", Code.BOT_CHALLENGE),
        ("('google.com', 500, ''), ('bing.com', TimeoutException('timed out'), '')", Code.TIMEOUT),
    ],
)
def test_no_results_are_reported_only_if_an_engine_answered(tmp_path: Path, responses: str, code: Code | None) -> None:
    script = f"""
        from ddgs.http_client import HttpClient
        for host, status, text in ({responses},):
            try: HttpClient().request('GET', f'https://{{host}}/', status, text)
            except DDGSException: pass
        raise DDGSException('No results found.')"""
    child = real_child(tmp_path, script)
    if code is None:
        assert search(child) == ()
    else:
        assert failure(child).code is code


def test_the_child_sends_no_request_to_a_denied_domain_and_follows_no_redirect_then(tmp_path: Path) -> None:
    script = """
        from ddgs.http_client import HttpClient
        sent = []
        for host in ('www.bing.com', 'html.duckduckgo.com', 'duckduckgo.com', 'mojeek.com'):
            try: sent.append(HttpClient().request('GET', f'https://{host}/', 200, host).text)
            except DDGSException as error: refusal = str(error)
        return [{'href': 'https://a.example/', 'title': ' '.join(sent), 'body': refusal}]"""
    (hit,) = search(real_child(tmp_path, script, denied=frozenset({"*.duckduckgo.com", "duckduckgo.com"})))
    assert hit.title == "www.bing.com:False mojeek.com:False"
    assert hit.snippet == "the operator's settings do not allow duckduckgo.com"


@pytest.mark.parametrize(
    ("status", "text", "expected"),
    [
        (200, "<html>results", "page"),
        (200, " ", ""),
        (200, '<script src="/cdn-cgi/challenge-platform/h/b/orchestrate/chl_page/v1"></script>', "ChallengeException"),
        (202, "<html>", "ChallengeException"),
        (429, "<html>", "RatelimitException"),
        (500, "<html>", ""),
    ],
)
def test_a_response_is_classified_as_page_refusal_or_failure(status: int, text: str, expected: str) -> None:
    assert classify_response(status, text) == expected


def test_news_are_requested_as_news_and_have_dates(tmp_path: Path) -> None:
    row = "{'date': '2026-11-20T08:30:00+00:00', 'title': query, 'body': 'b', 'url': 'https://a.example/', 'image': ''}"
    engine = real_child(tmp_path, "raise ValueError", news=f"return [{row}, {{**{row}, 'date': '3 days ago'}}]")
    dated, undated = search(engine, SearchRequest("q", 5, kind="news"))
    assert dated == Hit("https://a.example/", "q", "b", "keyless", "2026-11-20T08:30:00+00:00")
    assert undated.date == ""


def test_a_ddgs_that_cannot_be_imported_is_an_unavailable_engine(tmp_path: Path) -> None:
    error = failure(real_child(tmp_path, "return []", before="raise ImportError('no such library')"))
    assert error.code is Code.ENGINE_UNAVAILABLE


def test_output_of_ddgs_is_kept_out_of_the_answer(tmp_path: Path) -> None:
    text = f"print('a new version is out'); import os; os.write(1, b'and more'); return [{ROW}]"
    assert search(real_child(tmp_path, text, before="print('imported')")) == (HIT,)


def test_results_that_are_not_json_are_an_unavailable_engine(tmp_path: Path) -> None:
    error = failure(real_child(tmp_path, "return [object()]"))
    assert error.code is Code.ENGINE_UNAVAILABLE


def test_the_child_uses_the_configured_proxy_and_none_from_the_environment() -> None:
    environment = {"PATH": "/bin", "HTTP_PROXY": "a", "https_proxy": "b", "ALL_PROXY": "c", "DDGS_PROXY": "d"}
    assert child_environment(environment, "") == {"PATH": "/bin"}
    assert child_environment(environment, "http://proxy:3128") == {"PATH": "/bin", "DDGS_PROXY": "http://proxy:3128"}


def test_an_error_is_reported_without_the_details_of_libraries() -> None:
    out = json.dumps({"error": "DDGSException", "message": "DNSError: DNSError('error sending request for url (h…)')"})
    with pytest.raises(KeyholeError, match=r"the keyless engines failed: no connection'"):
        parse(ApiReply(200, out.encode()))


def test_a_long_query_is_truncated_for_the_child() -> None:
    query = ddgs_arguments(SearchRequest("数据库" * 600, 5, ("a.example",)))["query"]
    assert len(query) <= MAX_QUERY
    assert query.endswith(" site:a.example")
