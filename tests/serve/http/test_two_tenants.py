"""Two tenants of one server over real HTTP: whatever one of them does, the other sees what it would see alone."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from mcp import Client
from mcp.shared.exceptions import MCPError
from mcp.types import ResourceTemplateReference

from keyhole.config.config import Config
from keyhole.extensions.hosted.token_file import Grant, format_grant, hash_token, new_token
from tests.serve.http.test_tenants_over_http import ERAS, answer, client_of
from tests.support.loopback import Call, Responder, Site, response, serve
from tests.support.server_process import (
    NameVerifier,
    Post,
    ServerProcess,
    application_server,
    open_session,
    server_process,
    tool_call,
)
from tests.support.waiting import wait_for

NO_IDS = ["a" * 16, "b" * 16, "c" * 16]
"""What tenant two guesses where tenant one has stored nothing."""
NOW = datetime(2026, 1, 1, tzinfo=UTC)
SECRET_WORD = "zebrafish"
QUERY = "Which pump lifts water?"
_ID = re.compile(r"(?<![a-z2-7])[a-z2-7]{16}(?![a-z2-7])")
_MARK = re.compile(r"(?<=--- untrusted text )[a-z2-7]{8}|(?<=--- end )[a-z2-7]{8}")
_TIME = re.compile(r"\d{4}-\d\d-\d\d(T[\d:.]+Z)?")


def pages(site: Site) -> Responder:
    """Serve an index that links to a page with the secret word, and a page that both tenants read."""
    bodies = {
        "/index": f"<h1>Index</h1><p>The pump of the <a href='/secret'>{SECRET_WORD}</a> stands here.",
        "/secret": f"<h1>{SECRET_WORD}</h1><p>The {SECRET_WORD} needs a pump that lifts water.",
        "/shared": "<h1>Pumps</h1>" + "".join(f"<p>Pump {n} lifts water to floor {n}." for n in range(400)),
    }

    def talk(call: Call) -> None:
        headers = {"Content_Type": "text/html", "ETag": '"the-same"', "Cache_Control": "max-age=3600"}
        if call.path not in bodies:
            call.send(response(status="404 Not Found"))
        elif "if-none-match" in call.headers:
            call.send(response(status="304 Not Modified", ETag='"the-same"'))
        else:
            call.send(response(bodies[call.path].encode(), **headers))

    return talk


def settings(home: Path, site: Site, stateless: bool) -> Config:
    return Config(
        home=home,
        allow_private=frozenset({site.endpoint}),
        stateless=stateless,
        engines=("searxng",),
        url_policy="known",
        known_urls=frozenset({site.url("/index"), site.url("/shared")}),
    )


async def use(client: Client, site: Site) -> list[str]:
    """Do what a tenant does: fetch, follow a link, search, read on, list. Return the ids of its pages."""
    ids = [(await answer(client, "web_fetch", url=site.url(path)))[1]["artifact_id"] for path in ("/index", "/secret")]
    _, facts = await answer(client, "web_fetch", url=site.url("/shared"), query=QUERY)
    ids.append(facts["artifact_id"])
    await answer(client, "search", query=SECRET_WORD, scope="stored")
    await answer(client, "read_artifact", id=ids[-1], query=QUERY)
    await client.list_resources(cache_mode="bypass")
    return ids


async def look_around(client: Client, site: Site, ids: Sequence[str]) -> list[str]:
    """Return all that a tenant is answered who tries everything that could show the pages of another."""
    seen: list[Any] = []

    async def ask(tool: str, **arguments: Any) -> None:
        seen.append((tool, *(await answer(client, tool, **arguments))))

    async def read(uri: str) -> None:
        try:
            seen.append((await client.read_resource(uri)).model_dump(mode="json"))
        except MCPError as error:
            seen.append((error.code, error.message, error.data))

    for id in ids:
        for arguments in ({}, {"offset": 10}, {"query": SECRET_WORD}, {"find": SECRET_WORD}, {"limit": 5}):
            await ask("read_artifact", id=id, **arguments)
        for uri in (f"artifact://{id}", f"artifact://{id}?offset=0&limit=9"):
            await read(uri)
    for query in (SECRET_WORD, QUERY):
        await ask("search", query=query, scope="stored")
    seen.append((await client.list_resources(cache_mode="bypass")).model_dump(mode="json"))
    for template in (await client.list_resource_templates()).resource_templates:
        for value in ("", SECRET_WORD, "secret", *ids):
            reference = ResourceTemplateReference(uri=template.uri_template)
            seen.append((await client.complete(reference, {"name": "id", "value": value})).completion.values)
    # The secret page is known to the tenant that read the index, and to nobody else.
    await ask("web_fetch", url=site.url("/secret"))
    await ask("web_fetch", url=site.url("/shared"), query=QUERY)
    await ask("web_fetch", url=site.url("/shared"), query=QUERY, max_chars=4_000)
    await ask("search", query=QUERY, scope="stored")
    return [json.dumps(each, default=str) for each in seen]


def masked(lines: Sequence[str]) -> list[str]:
    """Return answers without what differs between any two servers: ids, boundary marks and times."""
    return [_TIME.sub("TIME", _MARK.sub("MARK", _ID.sub("ID", line))) for line in lines]


def seen_by_two(home: Path, site: Site, era: str, stateless: bool, *, is_alone: bool) -> tuple[list[str], list[bytes]]:
    """Return what tenant two sees on a new server, and the requests that the site gets for it."""

    async def run(url: str) -> tuple[list[str], list[bytes]]:
        async with client_of(url, "one", era) as one, client_of(url, "two", era) as two:
            ids = NO_IDS if is_alone else await use(one, site)
            before = len(site.calls)
            seen = await look_around(two, site, ids)
            return seen, [call.head for call in site.calls[before:]]

    with application_server(settings(home, site, stateless), NameVerifier()) as server:
        return asyncio.run(run(server.url))


@pytest.mark.parametrize("stateless", [False, True])
@pytest.mark.parametrize("era", ERAS)
def test_a_tenant_sees_the_same_with_and_without_another_tenant(tmp_path: Path, era: str, stateless: bool) -> None:
    with serve(pages) as site:
        alone, requests = seen_by_two(tmp_path / "alone", site, era, stateless, is_alone=True)
        beside, same_requests = seen_by_two(tmp_path / "beside", site, era, stateless, is_alone=False)
    assert masked(beside) == masked(alone)
    assert same_requests == requests  # the stored page of the other is neither used nor asked about
    assert sum(head.startswith(b"GET /shared ") for head in requests) == 1
    (refused,) = (line for line in beside if "url_not_known" in line)
    assert SECRET_WORD not in refused


@pytest.mark.parametrize("era", ERAS)
def test_the_same_page_has_another_id_and_another_mark_for_each_tenant(tmp_path: Path, era: str) -> None:
    with serve(pages) as site, application_server(settings(tmp_path, site, False), NameVerifier()) as server:

        async def fetch(tenant: str) -> str:
            async with client_of(server.url, tenant, era) as client:
                return (await answer(client, "web_fetch", url=site.url("/index")))[0]

        one, two, again = (asyncio.run(fetch(tenant)) for tenant in ("one", "two", "one"))
    assert one == again
    assert masked([one]) == masked([two])
    for pattern in (_ID, _MARK):
        assert pattern.findall(one)
        assert not set(pattern.findall(one)) & set(pattern.findall(two))


def test_a_kept_connection_to_a_site_serves_one_tenant_only(tmp_path: Path) -> None:
    with (
        serve(pages, requests=100) as site,
        application_server(settings(tmp_path, site, True), NameVerifier()) as server,
    ):

        async def run() -> None:
            for tenant in ("one", "two", "one", "two"):
                async with client_of(server.url, tenant, "2026-07-28") as client:
                    text, _ = await answer(client, "web_fetch", url=site.url("/index"), refresh=True)
                    assert SECRET_WORD in text

        asyncio.run(run())
        assert len(site.calls) == 4
        assert site.connections == 2


# Over a real process with a token file.


def issue(file: Path, *tenants: str) -> list[str]:
    """Write a file with a token of each tenant; return the tokens."""
    tokens = [new_token() for _ in tenants]
    grants = (Grant(hash_token(token), tenant, NOW) for token, tenant in zip(tokens, tenants, strict=True))
    file.write_text("".join(f"{format_grant(grant)}\n" for grant in grants))
    file.chmod(0o600)
    return tokens


def ask(served: ServerProcess, token: str, tool: str, session: str = "", **arguments: Any) -> tuple[int, str]:
    """Return the status and the body of a call."""
    headers = {"Authorization": f"Bearer {token}"} | ({"mcp_session_id": session} if session else {})
    status, _, body = Post(served.port, tool_call(tool, **arguments), **headers).answer()
    return status, body


def test_log_and_metrics_name_neither_tenants_nor_what_they_read(tmp_path: Path) -> None:
    tenants = ["walrus", "pelican"]
    tokens = issue(tmp_path / "tokens", *tenants)
    with (
        serve(pages) as site,
        server_process(
            tmp_path, KEYHOLE_STATELESS="on", KEYHOLE_LOG_LEVEL="INFO", **environment(tmp_path, site)
        ) as served,
    ):
        for token in tokens:
            for path in ("/secret", "/none"):
                ask(served, token, "web_fetch", url=site.url(path), query=SECRET_WORD)
            ask(served, token, "search", query=SECRET_WORD, scope="stored")
            ask(served, token, "read_artifact", id=NO_IDS[0])
        status, metrics = served.get("/metrics")
        wait_for(lambda: sum("read_artifact unknown_artifact" in line for line in served.lines) == 2)
    assert status == 200
    assert 'keyhole_calls_total{outcome="ok",tool="web_fetch"} 2.0' in metrics
    for private in (*tenants, *tokens, SECRET_WORD, "/secret", site.endpoint, NO_IDS[0]):
        assert private not in metrics
        assert not any(private in line for line in served.lines)


def test_a_deleted_token_ends_its_sessions_and_no_other_tenant_inherits_them(tmp_path: Path) -> None:
    file = tmp_path / "tokens"
    one, two = issue(file, "one", "two")
    with serve(pages) as site, server_process(tmp_path, **environment(tmp_path, site)) as served:
        session = open_session(served.port, Authorization=f"Bearer {one}")
        status, page = ask(served, one, "web_fetch", session, url=site.url("/index"))
        (id,) = set(re.findall(r'\\"([a-z2-7]{16})\\"', page))
        assert (status, ask(served, one, "read_artifact", session, id=id)[0]) == (200, 200)
        file.write_text("".join(line for line in file.read_text().splitlines(keepends=True) if " two " in line))
        assert ask(served, one, "read_artifact", session, id=id)[0] == 401
        assert ask(served, one, "read_artifact", id=id)[0] == 401
        assert ask(served, two, "read_artifact", session, id=id)[0] == 404
        own = open_session(served.port, Authorization=f"Bearer {two}")
        unknown = ask(served, two, "read_artifact", own, id=NO_IDS[0])
        assert ask(served, two, "read_artifact", own, id=id) == unknown
        assert "unknown_artifact" in unknown[1]


def environment(home: Path, site: Site) -> dict[str, str]:
    return {"KEYHOLE_TOKENS_FILE": str(home / "tokens"), "KEYHOLE_ALLOW_PRIVATE": site.endpoint}
