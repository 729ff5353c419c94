"""Resources over real HTTP: each tenant lists, completes and reads only its own pages."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest
from mcp import Client
from mcp.shared.exceptions import MCPError
from mcp.types import ResourceTemplateReference

from tests.serve.http.test_tenants_over_http import ERAS, client_of, pages, settings
from tests.support.admission import MODERN, modern, rpc, run_server
from tests.support.loopback import serve
from tests.support.server_process import NameVerifier, application_server

PAGE = ResourceTemplateReference(uri="artifact://{id}")


async def list_titles(client: Client, era: str) -> dict[str, str]:
    """Return the titles by URI of all resources that a client can list; later results must not be cacheable."""
    listed = await client.list_resources(cache_mode="bypass")
    assert listed.cache_scope == "private", era
    return {entry.uri: str(entry.name) for entry in listed.resources}


@pytest.mark.parametrize("stateless", [False, True])
@pytest.mark.parametrize("era", ERAS)
def test_a_tenant_sees_its_own_pages_as_resources_and_no_others(tmp_path: Path, era: str, stateless: bool) -> None:
    with serve(pages) as site, application_server(settings(tmp_path, site, stateless), NameVerifier()) as server:

        async def run() -> None:
            async with client_of(server.url, "one", era) as one, client_of(server.url, "two", era) as two:
                await one.call_tool("web_fetch", {"url": site.url("/shared")})
                await two.call_tool("web_fetch", {"url": site.url("/shared")})
                await one.call_tool("web_fetch", {"url": site.url("/own")})
                first, second = await list_titles(one, era), await list_titles(two, era)
                assert sorted(name.partition("/")[2] for name in first.values()) == ["own", "shared"]
                assert [name.partition("/")[2] for name in second.values()] == ["shared"]
                assert not set(first) & set(second)
                found = await two.complete(PAGE, {"name": "id", "value": ""})
                assert [f"artifact://{id}" for id in found.completion.values] == list(second)
                await readable(one, list(first))
                unknown = await refusal(two, "artifact://" + "a" * 16)
                for uri in first:
                    error = await refusal(two, uri)
                    assert error.code == -32602
                    assert (error.message, {**error.data, "uri": ""}) == (unknown.message, {**unknown.data, "uri": ""})

        asyncio.run(run())


async def readable(client: Client, uris: list[str]) -> None:
    for uri in uris:
        (content,) = (await client.read_resource(uri)).contents
        assert "Pumps and valves" in str(getattr(content, "text", ""))


async def refusal(client: Client, uri: str) -> MCPError:
    with pytest.raises(MCPError) as caught:
        await client.read_resource(uri)
    return caught.value


def test_reading_a_page_counts_as_a_call_and_listing_does_not() -> None:
    def read(id: int) -> tuple[bytes, dict[str, str]]:
        uri = "artifact://" + "a" * 16
        _, headers = modern(id=id)
        params: dict[str, Any] = {"uri": uri, "_meta": MODERN}
        return rpc("resources/read", params, id), {**headers, "Mcp-Method": "resources/read", "Mcp-Name": uri}

    async def main() -> None:
        async with run_server(calls_per_minute=2) as server:
            assert (await server.ask(*read(1))).json["error"]["code"] == -32602
            assert (await server.ask(*modern(id=2))).status == 200
            assert (await server.ask(*read(3))).status == 429
            body = rpc("resources/list", {"_meta": MODERN}, 4)
            headers = {**modern()[1], "Mcp-Method": "resources/list"}
            headers.pop("Mcp-Name")
            assert (await server.ask(body, headers)).json["result"]["resources"]

    asyncio.run(main())
