"""Two tenants look at their calls over real HTTP: nothing that one of them does shows it what the other read."""

from __future__ import annotations

import html
import json
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from http.client import HTTPConnection
from pathlib import Path
from urllib.parse import urlencode

import pytest

from keyhole.config.config import Config
from keyhole.extensions.look.hosted.gate import COOKIE
from tests.support.loopback import PATIENCE, Call, Responder, Site, response, serve
from tests.support.postgresql import Cluster
from tests.support.server_process import NameVerifier, Post, ThreadServer, application_server, open_session, tool_call
from tests.support.waiting import wait_for

SECRET_WORD = "zebrafish"
OPERATOR = "kW7-2hQxv9Zr4mTb"
ACTIONS = ("pin-text", "unpin-text", "delete-text", "delete-call", "delete-session")
_LINK = re.compile(r'(?:href|src|action|data-live)="(/look[^"]*)"')
_FIELD = re.compile(r'name="id" value="([^"]+)"')


@dataclass(frozen=True, slots=True)
class Reply:
    """A response. Names of headers are in lower case."""

    status: int
    headers: Mapping[str, str]
    body: str


def pages(site: Site) -> Responder:
    def talk(call: Call) -> None:
        body = (
            f"<title>{SECRET_WORD} of {call.path}</title><h1>Pumps</h1><p>The {SECRET_WORD} needs a pump. "
            + "Water. " * 200
        )
        call.send(response(body.encode(), Content_Type="text/html"))

    return talk


def request(server: ThreadServer, path: str, method: str = "GET", body: str = "", **headers: str) -> Reply:
    connection = HTTPConnection("127.0.0.1", server.port, timeout=PATIENCE)
    try:
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        connection.request(method, path, body or None, named)
        got = connection.getresponse()
        return Reply(got.status, {n.lower(): v for n, v in got.getheaders()}, got.read().decode())
    finally:
        connection.close()


def look(server: ThreadServer, tenant: str, path: str = "/look/", **headers: str) -> Reply:
    return request(server, path, Cookie=f"{COOKIE}=token-{tenant}", Sec_Fetch_Site="same-origin", **headers)


def submit(server: ThreadServer, tenant: str, path: str, origin: str = "", **fields: str) -> Reply:
    """Send a form as the browser of a tenant does."""
    origin = origin or f"http://127.0.0.1:{server.port}"
    form = {"Content_Type": "application/x-www-form-urlencoded", "Origin": origin}
    return request(server, path, "POST", urlencode(fields), Cookie=f"{COOKIE}=token-{tenant}", **form)


def call(server: ThreadServer, tenant: str, tool: str, **arguments: str) -> str:
    """Call a tool as a tenant's client does; return the id of the page, if there is one."""
    headers = {"Authorization": f"Bearer token-{tenant}"}
    session = open_session(server.port, **headers)
    status, _, body = Post(server.port, tool_call(tool, **arguments), mcp_session_id=session, **headers).answer()
    assert status == 200
    result = json.loads(body.split("data: ")[1])["result"]
    return str(result.get("_meta", {}).get("keyhole", {}).get("artifact_id", ""))


def crawl(server: ThreadServer, tenant: str) -> dict[str, str]:
    """Return all pages that links lead a tenant to, by their paths, without the streams."""
    found: dict[str, str] = {}
    waiting = ["/look/"]
    while waiting:
        path = waiting.pop()
        if path in found or "/live" in path or "/static/" in path or "/actions/" in path or "/sign-" in path:
            continue
        reply = look(server, tenant, path)
        assert reply.headers["cache-control"] == "no-store", path
        assert "default-src 'none'" in reply.headers["content-security-policy"], path
        found[path] = reply.body
        waiting += [html.unescape(link).partition("#")[0] for link in _LINK.findall(reply.body)]
    return found


@pytest.fixture(params=["sqlite", "postgresql"])
def served(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[tuple[ThreadServer, Site]]:
    """Serve two tenants. `one` has read pages with the secret word, and `two` nothing."""
    store = ""
    if request.param == "postgresql":
        cluster: Cluster = request.getfixturevalue("postgresql")
        store = cluster.database()
    with start(tmp_path, store) as (server, site):
        id = call(server, "one", "web_fetch", url=site.url("/secret"), query=f"{SECRET_WORD} pump")
        call(server, "one", "read_artifact", id=id, find=SECRET_WORD)
        call(server, "one", "web_fetch", url=site.url("/secret"), query=f"{SECRET_WORD} water")
        wait_for(lambda: len(server.tenants.stores.calls_for("one").calls(10)) == 3)
        yield server, site


@contextmanager
def start(home: Path, store: str = "") -> Iterator[tuple[ThreadServer, Site]]:
    with serve(pages) as site:
        config = Config(
            home=home,
            store=store,
            allow_private=frozenset({site.endpoint}),
            look=True,
            operator_token=OPERATOR,
            engines=("searxng",),
        )
        with application_server(config, NameVerifier()) as server:
            yield server, site


def test_a_tenant_sees_its_own_calls_and_texts_and_nothing_of_another(served: tuple[ThreadServer, Site]) -> None:
    server, site = served
    own = crawl(server, "one")
    for kind in ("/look/sessions/", "/look/calls/", "/look/texts/"):
        assert any(path.startswith(kind) and SECRET_WORD in body for path, body in own.items()), kind
    ids = {id for body in own.values() for id in _FIELD.findall(body)}
    ids |= {part for path in own for part in path.split("?")[0].split("/")[3:4]}
    assert len(ids) >= 5  # a text, three calls and a session

    others = crawl(server, "two")
    assert {"/look/", "/look/misses", "/look/figures", "/look/texts"} <= others.keys()
    for path, body in others.items():
        assert SECRET_WORD not in body, path
        assert site.endpoint not in body, path
        assert not [id for id in ids if id in body], path
    unchanged = server.tenants.stores.calls_for("two").latest()
    assert_ids_are_useless(server, own, others, ids)
    assert_forms_change_nothing(server, ids)
    assert_other_sites_change_nothing(server, ids)
    assert crawl(server, "one").keys() == own.keys()
    call(server, "one", "read_artifact", id="a" * 16)
    wait_for(lambda: len(server.tenants.stores.calls_for("one").calls(10)) == 4)
    assert server.tenants.stores.calls_for("two").latest() == unchanged  # what its live pages are told
    assert_the_operator_sees_figures_only(server, site, ids)


def assert_ids_are_useless(
    server: ThreadServer, own: Mapping[str, str], others: Mapping[str, str], ids: set[str]
) -> None:
    """Check that the addresses of one tenant's pages show another what made-up ids would show."""
    guess = "q" * 16
    for path in own.keys() - others.keys():
        reply = look(server, "two", path)
        made_up, known = path, [id for id in ids if id in path]
        for id in known:
            made_up = made_up.replace(id, guess)
        unknown = look(server, "two", made_up)
        assert SECRET_WORD not in reply.body.replace(path, ""), path
        if known:
            assert reply.status == unknown.status, path
            text = reply.body
            for id in known:
                text = text.replace(id, guess)
            assert text == unknown.body, path


def assert_forms_change_nothing(server: ThreadServer, ids: set[str]) -> None:
    for action in ACTIONS:
        for id in ids:
            assert submit(server, "two", f"/look/actions/{action}", id=id).status == 404


def assert_other_sites_change_nothing(server: ThreadServer, ids: set[str]) -> None:
    for origin in ("https://evil.example", "null", "http://127.0.0.1:1", f"http://localhost:{server.port}"):
        for action in ACTIONS:
            for id in ids:
                assert submit(server, "one", f"/look/actions/{action}", origin, id=id).status == 403
    for id in ids:
        assert look(server, "one", f"/look/actions/delete-text?id={id}").status in {404, 405}


def assert_the_operator_sees_figures_only(server: ThreadServer, site: Site, ids: set[str]) -> None:
    reply = request(server, "/look/", Cookie=f"{COOKIE}={OPERATOR}")
    assert reply.status == 200
    assert "web_fetch" not in reply.body
    for private in (SECRET_WORD, "pump", "test 1", "/secret", site.endpoint, "127.0.0.1", *ids):
        assert private not in reply.body, private
    for path in (
        "/look/texts",
        "/look/figures",
        *(f"/look/calls/{id}" for id in ids),
        *(f"/look/texts/{id}" for id in ids),
    ):
        assert request(server, path, Cookie=f"{COOKIE}={OPERATOR}").headers["location"] == "/look/"
    assert re.search(r'data-label="Calls" class="num">4<', reply.body)


def test_a_tenants_own_forms_delete_what_they_name(tmp_path: Path) -> None:
    with start(tmp_path) as (server, site):
        id = call(server, "one", "web_fetch", url=site.url("/a"))
        assert submit(server, "one", "/look/actions/delete-text", id=id).status == 303
        assert look(server, "one", f"/look/texts/{id}").status in {404, 410}


@pytest.mark.parametrize(
    "cookie",
    [
        "",
        f"{COOKIE}=one",
        f"{COOKIE}=token-",
        f"{COOKIE}=TOKEN-one",
        f"{COOKIE}=token-one; {COOKIE}=token-two",
        "__Host-keyhole-look=token-one",
        "keyhole=token-one",
        "mcp-session-id=token-one",
    ],
)
def test_a_forged_cookie_shows_only_the_form(tmp_path: Path, cookie: str) -> None:
    with start(tmp_path) as (server, _):
        for path in ("/look/", "/look/texts", "/look/live", "/look/calls/a"):
            reply = request(server, path, Cookie=cookie)
            assert reply.status == 401
            assert '<input type="password"' in reply.body


def test_no_spelling_of_a_path_avoids_the_sign_in(tmp_path: Path) -> None:
    with start(tmp_path) as (server, site):
        id = call(server, "one", "web_fetch", url=site.url("/a"))
        for path in (
            f"/look/static/../texts/{id}",
            f"/look/static/%2e%2e/texts/{id}",
            f"/look/static/..%2ftexts/{id}",
            f"/look/static//../texts/{id}",
            "/look/static/../../look/texts",
            "/look/static/%2e%2e/%2e%2e/hosted/gate.py",
            "/look/static/..%5c..%5cpage.py",
            "/look/static/",
            "/look/static",
            f"/look/texts/{id}/",
            f"//look/texts/{id}",
            f"/look//texts/{id}",
            f"/LOOK/texts/{id}",
            f"/look;/texts/{id}",
            f"/look%2ftexts%2f{id}",
            f"/look/texts/{id}%00",
            f"/mcp/../look/texts/{id}",
            "/look/sign-in/",
        ):
            reply = request(server, path)
            assert reply.status in {401, 404, 405}, path
            assert SECRET_WORD not in reply.body, path
            assert "import" not in reply.body, path


def test_the_cookie_opens_the_pages_only_and_another_host_opens_nothing(tmp_path: Path) -> None:
    with start(tmp_path) as (server, _):
        cookie = f"{COOKIE}=token-one"
        status, _, _ = Post(server.port, tool_call("web_fetch", url="https://a.example/"), Cookie=cookie).answer()
        assert status == 401
        for host in ("evil.example", f"127.0.0.1.evil.example:{server.port}", "localhost:1"):
            assert request(server, "/look/", Cookie=cookie, Host=host).status == 421


def test_a_server_without_the_setting_has_no_pages(tmp_path: Path) -> None:
    with application_server(Config(home=tmp_path, engines=("searxng",)), NameVerifier()) as server:
        assert look(server, "one").status == 401
        assert request(server, "/look/", Authorization="Bearer token-one").status == 404
        assert request(server, "/look/static/look.css").status == 401
