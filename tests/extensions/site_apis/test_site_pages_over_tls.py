"""The whole path of a site reader: `keyhole fetch` over TLS to servers on loopback under the names of GitHub."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.certificates import self_signed
from tests.support.documentation import ROOT
from tests.support.loopback import Call, Responder, Site, response, serve
from tests.support.routed_network import RoutedNetwork

ADDRESSES = {"github.com": "140.82.121.3", "api.github.com": "140.82.121.6"}
TOKEN = "ghp_0123456789abcdef"
ISSUE = {
    "number": 7, "title": "Valves leak", "state": "open", "comments": 150, "user": {"login": "ann"},
    "created_at": "2024-01-02T03:04:05Z", "updated_at": "2024-01-02T03:04:05Z", "body": "They leak at night.",
}  # fmt: skip
HTML = f"<title>Valves leak</title><main><h1>Valves leak</h1><p>{'As HTML, they leak. ' * 30}</p></main>"
SECONDS = 60


def comments(first: int, count: int) -> list[dict[str, object]]:
    days = [(n, f"2024-02-{1 + n // 24:02d}T{n % 24:02d}:00:00Z") for n in range(first, first + count)]
    return [{"user": {"login": f"user{n}"}, "created_at": day, "body": f"Note {n}."} for n, day in days]


class World:
    """The two hosts on one server, and the network of the program."""

    def __init__(self, folder: Path, site: Site) -> None:
        self.folder = folder
        self.site = site
        self.limited = False
        self.leads_away = False
        self.refuses_crawlers = False
        names = {name: [[address]] for name, address in ADDRESSES.items()}
        routes = {f"{address}:443": site.port for address in ADDRESSES.values()}
        self.network = RoutedNetwork(folder, names, routes, folder / "certificate.pem")

    def answer(self, call: Call) -> bytes:
        host, path = call.headers.get("host", ""), call.path
        if path == "/robots.txt" and self.refuses_crawlers and host == "api.github.com":
            return response(b"User-agent: *\nDisallow: /repos/\n", Content_Type="text/plain")
        if path == "/robots.txt":
            return response(b"", "404 Not Found")
        if self.leads_away and path == "/repos/o/r/issues/7":
            return response(b"", "302 Found", Location="https://github.com/o/r/away")
        if path == "/o/r/away":
            return response(b"", "302 Found", Location="https://api.github.com/repos/o/r/issues/7?back")
        if host == "github.com":
            return response(HTML.encode(), Content_Type="text/html")
        if self.limited:
            return response(b'{"message": "API rate limit exceeded"}', "403 Forbidden", X_RateLimit_Remaining="0")
        value: object = ISSUE
        if "/comments?" in path:
            value = comments(100, 50) if path.endswith("page=2") else comments(0, 100)
        return response(json.dumps(value).encode(), Content_Type="application/json")

    def fetch(self, *arguments: str, **environment: str) -> str:
        """Return what `keyhole fetch` prints."""
        path = os.pathsep.join([self.network.environment["PYTHONPATH"], str(ROOT / "server")])
        home = str(self.folder / "home")
        settings = {**os.environ, **self.network.environment, "PYTHONPATH": path, "KEYHOLE_HOME": home}
        done = subprocess.run(
            [sys.executable, "-m", "keyhole", "fetch", "https://github.com/o/r/issues/7", *arguments],
            env=settings | environment,
            capture_output=True, text=True, timeout=SECONDS, check=False,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
        return done.stdout

    def calls(self, host: str) -> list[Call]:
        """Return the requests for pages of a host."""
        return [call for call in self.site.calls if call.headers.get("host") == host and call.path != "/robots.txt"]


@pytest.fixture
def world(tmp_path: Path) -> Iterator[World]:
    context, _ = self_signed(tmp_path, *ADDRESSES)
    made: list[World] = []

    def talk(site: Site) -> Responder:
        return lambda call: call.send(made[0].answer(call))

    with serve(talk, context) as site:
        made.append(World(tmp_path, site))
        yield made[0]


def test_all_pages_of_comments_are_read_and_only_the_api_gets_the_token(world: World) -> None:
    printed = world.fetch("--query", "Note 149", KEYHOLE_GITHUB_TOKEN=TOKEN)
    assert "through the API of github" in printed
    assert "**user149** · 2024-02-07" in printed
    assert "Note 149." in printed
    calls = world.calls("api.github.com")
    assert sorted(call.path for call in calls) == [
        "/repos/o/r/issues/7",
        "/repos/o/r/issues/7/comments?per_page=100&page=1",
        "/repos/o/r/issues/7/comments?per_page=100&page=2",
    ]
    assert {call.headers.get("authorization") for call in calls} == {f"Bearer {TOKEN}"}
    assert world.calls("github.com") == []
    assert TOKEN not in printed


def test_a_limit_of_the_api_leads_to_the_page(world: World) -> None:
    world.limited = True
    printed = world.fetch(KEYHOLE_GITHUB_TOKEN=TOKEN)
    assert "Read as HTML: the API of github failed (forbidden)." in printed
    assert "As HTML, they leak." in printed
    assert [call.headers.get("authorization") for call in world.calls("github.com")] == [None]


def test_a_token_is_not_sent_again_after_a_redirect_left_the_api(world: World) -> None:
    world.leads_away = True
    assert "They leak at night." in world.fetch(KEYHOLE_GITHUB_TOKEN=TOKEN)
    sent = {call.path: call.headers.get("authorization") for call in world.site.calls if "/robots" not in call.path}
    assert sent["/repos/o/r/issues/7"] == f"Bearer {TOKEN}"
    assert sent["/o/r/away"] is None
    assert sent["/repos/o/r/issues/7?back"] is None


def test_an_api_that_robots_txt_closes_is_read_only_if_the_settings_say_so(world: World) -> None:
    world.refuses_crawlers = True
    printed = world.fetch()
    reason = "the API of github failed (robots_disallowed); KEYHOLE_ROBOTS=pages allows its API"
    assert f"Read as HTML: {reason}." in printed
    assert world.calls("api.github.com") == []
    assert "through the API of github" in world.fetch("--refresh", KEYHOLE_ROBOTS="pages")
