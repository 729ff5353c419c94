"""The MCP App through the SDK's client: what clients with the extension get, and that nothing changes for others."""

from __future__ import annotations

import json
from typing import Any

import anyio
import pytest
from mcp import Client
from mcp.client.extension import advertise
from mcp.shared.exceptions import MCPError

from keyhole.extensions.look.views import TOOL, URI, html
from keyhole.retrieval.retrieve import Retrieval
from keyhole.serve.mcp_apps import MIME_TYPE, UI_EXTENSION
from keyhole.serve.tools import build_server, tool_list
from tests.support.fakes import page
from tests.support.product import retrieval

URL = "https://pumps.example/"
ERAS = ["legacy", "auto"]
APP = [advertise(UI_EXTENSION, {"mimeTypes": [MIME_TYPE]})]
OTHERS = {
    "no extension": [],
    "another extension": [advertise("com.example/maps", {"mimeTypes": [MIME_TYPE]})],
    "another type of view": [advertise(UI_EXTENSION, {"mimeTypes": ["text/html"]})],
    "no types": [advertise(UI_EXTENSION, {})],
    "no list of types": [advertise(UI_EXTENSION, {"mimeTypes": MIME_TYPE})],
}


def pumps() -> Retrieval:
    return retrieval({URL: page(URL, "<title>Pumps</title>" + "<p>They run on oil.</p>" * 900)})


def ask(method: str, *arguments: Any, extensions: Any = (), era: str = "auto") -> dict[str, Any]:
    """Return the result of a client's method as JSON, or its error as `{"error": …}`."""

    async def product(_tenant: str) -> Retrieval:
        return pumps()

    async def run() -> dict[str, Any]:
        async with Client(build_server(product), mode=era, extensions=extensions) as client:
            try:
                result = await getattr(client, method)(*arguments)
            except MCPError as error:
                return {"error": error.error.model_dump(mode="json")}
            dumped: dict[str, Any] = result.model_dump(by_alias=True, mode="json", exclude_none=True)
            return dumped

    return anyio.run(run)


PARTLY: list[dict[str, Any]] = [
    {}, {"result": ""}, {"result": 5}, {"result": "text", "id": "x"}, {"id": "x"}, {"id": "x", "start": 5, "end": 5},
    {"id": "x", "start": -1, "end": 5}, {"id": "x", "start": 0, "end": "5"},
]  # fmt: skip
FETCH = ("call_tool", "web_fetch", {"url": URL, "query": "oil", "max_chars": 900})


@pytest.mark.parametrize("era", ERAS)
def test_a_client_with_the_extension_gets_the_view_linked_with_every_tool(era: str) -> None:
    tools = ask("list_tools", extensions=APP, era=era)["tools"]
    linked = {tool["name"]: tool["_meta"]["ui"] for tool in tools}
    assert linked.pop(TOOL) == {"visibility": ["app"]}
    assert linked == {name: {"resourceUri": URI} for name in ("web_fetch", "search", "read_artifact")}
    assert all(tool["_meta"]["anthropic/maxResultSizeChars"] for tool in tools if tool["name"] != TOOL)


@pytest.mark.parametrize("era", ERAS)
def test_a_client_with_the_extension_reads_the_view(era: str) -> None:
    [content] = ask("read_resource", URI, extensions=APP, era=era)["contents"]
    assert (content["uri"], content["mimeType"], content["text"]) == (URI, MIME_TYPE, html())
    assert content["_meta"]["ui"]["csp"] == {"connectDomains": [], "resourceDomains": []}


@pytest.mark.parametrize("era", ERAS)
@pytest.mark.parametrize("extensions", OTHERS.values(), ids=OTHERS)
def test_the_list_of_tools_is_the_same_for_all_other_clients(extensions: Any, era: str) -> None:
    listed = ask("list_tools", extensions=extensions, era=era)["tools"]
    assert listed == [tool.model_dump(by_alias=True, mode="json", exclude_none=True) for tool in tool_list()]
    assert json.dumps(listed) == json.dumps(ask("list_tools", era=era)["tools"])


@pytest.mark.parametrize("era", ERAS)
def test_a_result_is_the_same_with_and_without_the_extension(era: str) -> None:
    assert json.dumps(ask(*FETCH, extensions=APP, era=era)) == json.dumps(ask(*FETCH, era=era))


@pytest.mark.parametrize("era", ERAS)
def test_resources_are_listed_alike_with_and_without_the_extension(era: str) -> None:
    assert ask("list_resources", extensions=APP, era=era) == ask("list_resources", era=era)


@pytest.mark.parametrize("extensions", OTHERS.values(), ids=OTHERS)
def test_other_clients_find_neither_the_view_nor_its_tool(extensions: Any) -> None:
    unknown_tool = ask("call_tool", TOOL, {"result": "text"}, extensions=extensions)["error"]
    assert unknown_tool["message"].startswith(f"Unknown tool: '{TOOL}'")
    unknown_page = ask("read_resource", URI, extensions=extensions)["error"]
    assert unknown_page["data"]["code"] == "unknown_artifact"


def test_the_view_is_told_that_calls_are_not_recorded() -> None:
    result = ask("call_tool", TOOL, {"result": "text"}, extensions=APP)
    assert json.loads(result["content"][0]["text"]) == {"recorded": False, "reason": "off"}
    assert "structuredContent" not in result


@pytest.mark.parametrize("arguments", PARTLY)
def test_the_tool_of_the_view_names_its_arguments(arguments: dict[str, Any]) -> None:
    error = ask("call_tool", TOOL, arguments, extensions=APP)["error"]
    assert error["data"]["code"] == "invalid_argument"
    assert "show_call takes result" in error["message"]


@pytest.mark.parametrize("era", ERAS)
def test_a_part_of_an_unknown_text_is_an_error_with_a_code(era: str) -> None:
    part = {"id": "aaaaaaaaaaaaaaaa", "start": 0, "end": 5}
    assert ask("call_tool", TOOL, part, extensions=APP, era=era)["error"]["data"]["code"] == "unknown_artifact"
