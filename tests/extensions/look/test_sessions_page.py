"""The list of sessions and one session: newest first, filtered, in pages, and with text only ever as text."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from html import unescape
from pathlib import Path

import pytest

from keyhole.cli.build import open_stores
from keyhole.config.load import parse_config
from keyhole.extensions.look.page import Look
from keyhole.extensions.look.sessions_pages import CALLS, SESSIONS
from keyhole.store.base import LOCAL
from keyhole.store.calls.base import CallFilters
from tests.store.calls import samples
from tests.support.agents_at_work import Workplace, serve_pages
from tests.support.hook_events import LONG, recorded
from tests.support.look import empty_look, page_client, words_of

HOSTILE = '"><script>alert(1)</script><img src=x onerror=alert(1)>'


def look_with(*sessions: str, **options: object) -> Look:
    """Return a `Look` with one call in each session, a minute apart."""
    look = empty_look(samples.START + 60.0 * len(sessions))
    for number, session in enumerate(sessions):
        at = samples.START + 60.0 * number
        look.calls.add(samples.call(f"c{number}", session, started_at=at, **options))  # type: ignore[arg-type]
    return look


def linked_sessions(html: str) -> list[str]:
    return re.findall(r'href="/sessions/(s\d+)"', html)


def test_an_empty_log_says_that_there_are_no_calls_yet() -> None:
    assert "No calls yet" in words_of(page_client(empty_look()).get("/").text)


def test_sessions_are_listed_newest_first() -> None:
    html = page_client(look_with("s1", "s2", "s3")).get("/").text
    assert linked_sessions(html) == ["s3", "s2", "s1"]


def test_a_session_shows_its_client_its_calls_and_what_they_read() -> None:
    words = words_of(page_client(look_with("s1", "s1", query="vacuum")).get("/sessions/s1").text)
    assert samples.CLIENTS[0] in words and "Calls of the session" in words and "vacuum" in words
    assert "(counted)" in words and "(estimated)" in words


def test_a_session_is_named_by_its_project_and_its_first_question() -> None:
    look = look_with("s1", folder="/home/ann/shop", query="vacuum threshold")
    look.calls.add(samples.call("later", "s1", folder="/home/ann/shop", query="later", started_at=samples.START + 90))
    client = page_client(look)
    assert "shop vacuum threshold" in words_of(client.get("/").text)
    assert '<b dir="auto">shop</b>' in client.get("/sessions/s1").text


def test_a_server_and_a_hook_of_one_client_in_one_folder_give_one_session(tmp_path: Path) -> None:
    event = {
        **recorded("claude-shell-small"),
        "cwd": str(Path.cwd()),
        "tool_response": {"stdout": LONG, "stderr": "", "interrupted": False},
    }
    with serve_pages() as site:
        workplace = Workplace(tmp_path / "home", site)
        workplace.work("claude-code", [("web_fetch", {"url": site.url("/sqlite-wal"), "query": "checkpoint"})])
        hook = [sys.executable, "-m", "keyhole", "hook", "claude"]
        subprocess.run(hook, input=json.dumps(event).encode(), env=workplace.environment(), check=True)
        workplace.work("claude-code", [("web_fetch", {"url": site.url("/notes")})])

    log = open_stores(parse_config({"KEYHOLE_HOME": str(workplace.home)})).calls_for(LOCAL)
    first, second = log.sessions(9)[::-1]
    assert [call.origin for call in log.calls(9, CallFilters(session=first.id))] == ["hook", "tool"]
    assert (first.folder, first.about, second.calls) == (str(Path.cwd()), "checkpoint", 1)


def test_errors_are_not_counted_as_misses_once_more() -> None:
    look = look_with("s1")
    look.calls.add(samples.call("failed", "s1", outcome="timeout", started_at=samples.START + 90))
    for path in ("/", "/sessions/s1"):
        words = words_of(page_client(look).get(path).text)
        assert "1 failed" in words and "missed" not in words


def test_filters_choose_sessions_and_list_the_calls_that_match() -> None:
    look = look_with("s1", "s2")
    look.calls.add(samples.call("failed", "s1", outcome="timeout", query="vacuum", started_at=samples.START + 90))
    html = page_client(look).get("/?outcome=error&words=vacuum").text
    assert set(linked_sessions(html)) == {"s1"} and re.findall(r'href="/calls/(\w+)"', html) == ["failed"]
    assert '<option value="error" selected>' in html and 'value="vacuum"' in html


def test_filters_without_a_match_say_so() -> None:
    assert "No session has a call that matches." in words_of(page_client(look_with("s1")).get("/?words=zebra").text)


def test_all_sessions_are_reached_through_the_pages() -> None:
    names = [f"s{number}" for number in range(2 * SESSIONS + 1)]
    client, address, seen = page_client(look_with(*names)), "/", []
    while address:
        html = client.get(address).text
        seen += linked_sessions(html)
        found = re.search(r'rel="next" href="([^"]+)"', html)
        address = unescape(found[1]) if found else ""
    assert seen == names[::-1]


def test_all_calls_of_a_session_are_reached_through_the_pages() -> None:
    client, address, seen = page_client(look_with(*["s1"] * (CALLS + 1))), "/sessions/s1", []
    while address:
        html = client.get(address).text
        seen += re.findall(r'href="/calls/(\w+)"', html)
        found = re.search(r'rel="next" href="([^"]+)"', html)
        address = unescape(found[1]) if found else ""
    assert seen == [f"c{number}" for number in range(CALLS + 1)][::-1]


def test_only_the_first_page_of_a_list_is_live() -> None:
    client = page_client(look_with("s1"))
    assert 'data-live="/live?since=' in client.get("/").text
    assert "data-live" not in client.get("/?after=9~x").text


def test_an_unknown_session_is_not_found() -> None:
    answer = page_client(empty_look()).get("/sessions/none")
    assert (answer.status_code, "This session is unknown." in words_of(answer.text)) == (404, True)


@pytest.mark.parametrize("path", ["/?words=script", "/sessions/s1", "/"])
def test_text_of_agents_and_clients_is_only_ever_text(path: str) -> None:
    look = look_with("s1", client=HOSTILE, query=HOSTILE + " script", target=HOSTILE)
    html = page_client(look).get(path).text
    assert "alert(1)" in html and "<script>" not in html and "<img" not in html


@pytest.mark.parametrize("query", ["after=nan~x", "after=inf~x", "after=1", "words=" + "x" * 9_999, "site=%00", "x=1"])
def test_no_address_makes_the_list_fail(query: str) -> None:
    assert page_client(look_with("s1")).get(f"/?{query}").status_code == 200


def test_a_session_says_what_it_asked_last() -> None:
    assert "zebra crossing" in words_of(page_client(look_with("s1", query="zebra crossing")).get("/").text)
