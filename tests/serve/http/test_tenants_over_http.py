"""Concurrent tenants over real HTTP, in both eras, with and without sessions: each has only its own pages."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from http.client import HTTPConnection
from pathlib import Path
from typing import Any

import anyio
import httpx2
import pytest
from mcp import Client
from mcp.client.streamable_http import streamable_http_client

from keyhole.config.config import Config
from keyhole.store.ids import artifact_id
from tests.support.loopback import PATIENCE, Call, Responder, Site, response, serve
from tests.support.server_process import NameVerifier, Post, application_server, open_session, tool_call

TENANTS = [f"tenant {number}" for number in range(8)]
ERAS = ["legacy", "2026-07-28"]


def pages(site: Site) -> Responder:
    """Serve a different page at each path; /never is not answered."""

    def talk(call: Call) -> None:
        if call.path.startswith("/never"):
            site.hold(call)
        else:
            body = f"<h1>Of {call.path}</h1><p>Pumps and valves stand at {call.path}."
            call.send(response(body.encode(), Content_Type="text/html"))

    return talk


@asynccontextmanager
async def client_of(url: str, tenant: str, era: str) -> AsyncIterator[Client]:
    headers = {"Authorization": f"Bearer token-{tenant}"}
    async with (
        httpx2.AsyncClient(headers=headers, timeout=PATIENCE) as http,
        Client(streamable_http_client(url, http_client=http), mode=era) as client,
    ):
        yield client


async def answer(client: Client, tool: str, **arguments: Any) -> tuple[str, dict[str, Any]]:
    result = await client.call_tool(tool, arguments)
    return str(getattr(result.content[0], "text", "")), (result.meta or {}).get("keyhole", {})


def settings(home: Path, site: Site, stateless: bool) -> Config:
    return Config(home=home, allow_private=frozenset({site.endpoint}), stateless=stateless, engines=("searxng",))


@pytest.mark.parametrize("stateless", [False, True])
@pytest.mark.parametrize("era", ERAS)
def test_concurrent_tenants_see_only_their_own_pages(tmp_path: Path, era: str, stateless: bool) -> None:
    with serve(pages) as site, application_server(settings(tmp_path, site, stateless), NameVerifier()) as server:

        async def run() -> dict[str, str]:
            ids: dict[str, str] = {}
            all_fetched = asyncio.Barrier(len(TENANTS))

            async def use(tenant: str) -> None:
                own, reports = site.url(f"/{TENANTS.index(tenant)}"), []

                async def on_progress(progress: float, total: float | None, message: str | None) -> None:
                    reports.append((progress, total, message))

                async with client_of(server.url, tenant, era) as client:
                    (_, shared), (text, facts) = await asyncio.gather(
                        answer(client, "web_fetch", url=site.url("/shared")), answer(client, "web_fetch", url=own)
                    )
                    ids[tenant] = shared["artifact_id"]
                    assert f"stand at /{TENANTS.index(tenant)}." in text
                    await all_fetched.wait()
                    unknown, _ = await answer(client, "read_artifact", id="a" * 16)
                    for other in TENANTS:
                        text, _ = await answer(client, "read_artifact", id=ids[other])
                        assert "Pumps" in text if other == tenant else text == unknown
                    found = await client.call_tool(
                        "search",
                        {"query": "pumps", "scope": "stored", "max_results": 20},
                        progress_callback=on_progress,
                    )
                    assert set((found.meta or {})["keyhole"]["artifact_ids"]) == {ids[tenant], facts["artifact_id"]}
                    assert len(reports) == 2

            async with asyncio.TaskGroup() as group:
                for tenant in TENANTS:
                    group.create_task(use(tenant))
            return ids

        ids = asyncio.run(run())
        for tenant, id in ids.items():
            store, secret = server.tenants.stores.for_tenant(tenant)
            kept = store.get(id)
            assert id == artifact_id(secret, kept.url, kept.text)
        assert server.tenants.stores.for_tenant("")[0].list(1) == ()
    assert len(set(ids.values())) == len(TENANTS)


@pytest.mark.parametrize(("era", "stateless"), [("legacy", False), ("2026-07-28", False), ("2026-07-28", True)])
def test_a_cancelled_call_ends_and_all_tenants_can_continue(tmp_path: Path, era: str, stateless: bool) -> None:
    with serve(pages) as site, application_server(settings(tmp_path, site, stateless), NameVerifier()) as server:

        async def run() -> list[str]:
            async with client_of(server.url, "one", era) as one, client_of(server.url, "two", era) as two:
                async with anyio.create_task_group() as group:
                    group.start_soon(answer, one, "web_fetch")  # the other call fails on its own
                    with anyio.CancelScope() as scope:
                        group.start_soon(cancel_when_heard, scope)
                        await answer(one, "web_fetch", url=site.url("/never"))
                assert await asyncio.to_thread(site.client_left.wait, PATIENCE)
                return [(await answer(each, "web_fetch", url=site.url("/x")))[1]["artifact_id"] for each in (one, two)]

        async def cancel_when_heard(scope: anyio.CancelScope) -> None:
            await asyncio.to_thread(site.request_received.wait, PATIENCE)
            scope.cancel()

        ids = asyncio.run(run())
        for name, id in zip(("one", "two"), ids, strict=True):
            assert server.tenants.stores.for_tenant(name)[0].get(id).url == site.url("/x")
    assert ids[0] != ids[1]


def test_without_sessions_a_call_of_the_older_era_ends_with_its_connection(tmp_path: Path) -> None:
    with serve(pages) as site, application_server(settings(tmp_path, site, True), NameVerifier()) as server:
        message = tool_call("web_fetch", url=site.url("/never"))
        call = Post(server.port, message, Authorization="Bearer token-one")
        assert site.request_received.wait(PATIENCE)
        call.leave()
        assert site.client_left.wait(PATIENCE)


def test_a_session_is_unknown_to_other_tenants(tmp_path: Path) -> None:
    with serve(pages) as site, application_server(settings(tmp_path, site, False), NameVerifier()) as server:
        mine = {"Authorization": "Bearer token-one"}
        session = open_session(server.port, **mine)

        def answered(session: str, **headers: str) -> tuple[int, str]:
            status, _, body = Post(
                server.port, tool_call("web_fetch", url=site.url("/a")), mcp_session_id=session, **headers
            ).answer()
            return status, body

        for other in ("Bearer token-two", "Bearer token-", "Bearer token-ONE"):
            assert answered(session, Authorization=other) == answered("0" * 32, Authorization=other)
            assert answered(session, Authorization=other)[0] == 404
        assert {answered(session)[0], answered(session, Authorization="Bearer one")[0]} == {401}
        assert "Pumps" in answered(session, **mine)[1]
        ended = HTTPConnection("127.0.0.1", server.port, timeout=PATIENCE)
        ended.request("DELETE", "/mcp", headers={"Authorization": "Bearer token-two", "Mcp-Session-Id": session})
        assert ended.getresponse().status == 404
        ended.close()
        assert answered(session, **mine)[0] == 200


def test_a_tenants_name_is_never_part_of_a_path(tmp_path: Path) -> None:
    with serve(pages) as site, application_server(settings(tmp_path, site, True), NameVerifier()) as server:
        for name in ("../../escape", "a/b", "con", "é" * 200, "a" * 3_000):
            headers = {"Authorization": f"Bearer token-{name}".encode().decode("latin-1")}
            status, _, body = Post(server.port, tool_call("web_fetch", url=site.url("/a")), **headers).answer()
            assert status == 200
            assert json.loads(body.split("data: ")[1])["result"]["isError"] is False
    folders = sorted(path.name for path in (tmp_path / "tenants").iterdir())
    assert len(folders) == 5
    assert all(len(name) == 32 and name.isalnum() for name in folders)
