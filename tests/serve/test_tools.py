"""The MCP tools through the SDK's client, in both protocol eras."""

from __future__ import annotations

import io
import json
from dataclasses import replace
from typing import Any

import anyio
import pytest
from mcp import Client, types
from mcp.shared.exceptions import MCPError
from mcp.types import CallToolResult
from PIL import Image

from keyhole.errors import Code, KeyholeError
from keyhole.records import Hit
from keyhole.retrieval.dispatch import parse_arguments
from keyhole.retrieval.retrieve import Retrieval
from keyhole.serve.tools import INSTRUCTIONS, GetRetrieval, build_server, tool_list
from tests.support.fakes import FakeEngine, page
from tests.support.product import retrieval

URL = "https://pumps.example/"
ERAS = ["legacy", "auto"]
STANDARD = {"type", "description", "default", "enum", "items"}
"""Keywords of JSON Schema that every client understands."""
MAX_LIST = 3_850
"""Characters of the list of tools: 900 tokens (benchmarks/budget/tool_list.py)."""


def ready(product: Retrieval) -> GetRetrieval:
    async def get(_tenant: str) -> Retrieval:
        return product

    return get


def call(product: Retrieval, tool: str, arguments: dict[str, Any], era: str = "auto") -> CallToolResult:
    async def run() -> CallToolResult:
        async with Client(build_server(ready(product)), mode=era) as client:
            return await client.call_tool(tool, arguments)

    return anyio.run(run)


def text_of(result: CallToolResult) -> str:
    assert len(result.content) == 1
    return str(getattr(result.content[0], "text", ""))


def pumps() -> Retrieval:
    return retrieval({URL: page(URL, "<title>Pumps</title><p>They run.")})


@pytest.mark.parametrize("era", ERAS)
def test_a_tool_call_gives_text_and_facts_and_no_structured_content(era: str) -> None:
    result = call(pumps(), "web_fetch", {"url": URL}, era)
    assert not result.is_error
    assert result.structured_content is None
    assert "They run." in text_of(result)
    assert result.meta
    assert set(result.meta["keyhole"]) == {"artifact_id", "next"}


@pytest.mark.parametrize("era", ERAS)
def test_an_unknown_tool_is_answered_with_invalid_params(era: str) -> None:
    async def run() -> int:
        async with Client(build_server(ready(pumps())), mode=era) as client:
            try:
                await client.call_tool("web_scrape", {})
            except MCPError as error:
                return error.code
        return 0

    assert anyio.run(run) == -32602


def test_an_unknown_argument_is_refused_by_name() -> None:
    result = call(pumps(), "web_fetch", {"url": URL, "depth": 3})
    assert result.is_error
    assert text_of(result).startswith("invalid_argument: ")
    assert "'depth'" in text_of(result)
    assert "url, query, max_chars, max_tokens, refresh, skip, repeat" in text_of(result)


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        ({}, "url"),
        ({"url": 5}, "url"),
        ({"url": URL, "max_chars": 499}, "max_chars"),
        ({"url": URL, "max_chars": 200_001}, "max_chars"),
        ({"url": URL, "max_chars": True}, "max_chars"),
        ({"url": URL, "max_chars": "many"}, "max_chars"),
        ({"url": URL, "refresh": "maybe"}, "refresh"),
    ],
)
def test_an_invalid_argument_is_named_with_the_accepted_values(arguments: dict[str, Any], named: str) -> None:
    result = call(pumps(), "web_fetch", arguments)
    assert result.is_error
    assert text_of(result).startswith(f"invalid_argument: {named}: ")


def test_numbers_as_text_and_a_string_for_a_list_are_accepted() -> None:
    assert parse_arguments("web_fetch", {"url": URL, "max_chars": "600"})["max_chars"] == 600
    assert parse_arguments("search", {"query": "q", "sites": "a.example"})["sites"] == ["a.example"]
    assert parse_arguments("read_artifact", {"id": "x", "offset": "2", "limit": None}) == {"id": "x", "offset": 2}


def test_a_search_with_queries_alone_is_valid() -> None:
    assert parse_arguments("search", {"queries": ["one", "two"]}) == {"query": "one", "queries": ["one", "two"]}
    assert parse_arguments("search", {"queries": "one"}) == {"query": "one", "queries": ["one"]}


@pytest.mark.parametrize(
    "site", ["docs.example", "https://docs.example/", "*.Docs.example", "docs.example:8000", " site:docs.example"]
)
def test_a_site_is_reduced_to_its_host(site: str) -> None:
    assert parse_arguments("search", {"query": "q", "sites": site})["sites"] == ["docs.example"]


def test_a_site_in_another_script_has_the_form_of_the_dns() -> None:
    assert parse_arguments("search", {"query": "q", "sites": "Bücher.example."})["sites"] == ["xn--bcher-kva.example"]


@pytest.mark.parametrize(
    ("argument", "value", "example"),
    [
        ("sites", "https://docs.example/3/library", "sites are hosts; give docs.example"),
        ("exclude_sites", ["two words"], "exclude_sites: 'two words' is not a site; give hosts such as"),
        ("language", "english", "language: has the wrong form: Language of the pages, such as en or pt-BR."),
        ("country", "usa", "country: has the wrong form: Country whose results come first, such as us or de."),
    ],
)
def test_an_invalid_filter_is_explained_by_example(argument: str, value: object, example: str) -> None:
    with pytest.raises(KeyholeError) as caught:
        parse_arguments("search", {"query": "q", argument: value})
    assert example in caught.value.message


@pytest.mark.parametrize(
    "arguments",
    [
        {},
        {"query": " "},
        {"queries": []},
        {"queries": 5},
        {"queries": [""]},
        {"queries": [" "]},
        {"queries": ["a"] * 6},
    ],
)
def test_a_search_without_a_query_or_with_too_many_is_refused(arguments: dict[str, Any]) -> None:
    with pytest.raises(KeyholeError) as caught:
        parse_arguments("search", arguments)
    assert caught.value.code is Code.INVALID_ARGUMENT


def test_a_limit_above_the_maximum_budget_is_reduced_to_it() -> None:
    assert parse_arguments("read_artifact", {"id": "x", "limit": 10**18})["limit"] == 200_000


def test_an_internal_error_has_a_code_and_no_details() -> None:
    result = call(retrieval({URL: RuntimeError("secret detail")}), "web_fetch", {"url": URL})
    assert result.is_error
    assert text_of(result).startswith("internal_error: ")
    assert "secret detail" not in text_of(result)


def test_search_sends_increasing_progress() -> None:
    seen: list[float] = []

    async def run() -> None:
        async def listen(progress: float, total: float | None, message: str | None) -> None:
            seen.append(progress)

        product = retrieval({URL: page(URL, "<p>They run.")}, engines=[FakeEngine([Hit(URL, "Pumps", "", "fake")])])
        async with Client(build_server(ready(product)), mode="legacy") as client:
            await client.call_tool("search", {"query": "run"}, progress_callback=listen)

    anyio.run(run)
    assert len(seen) >= 2
    assert seen == sorted(set(seen))


def test_the_tools_are_described_for_agents() -> None:
    for tool in tool_list():
        assert tool.title
        assert tool.description
        assert len(tool.description.encode()) < 2_000
        assert tool.annotations
        assert tool.annotations.read_only_hint is True
        assert tool.annotations.destructive_hint is False
        assert tool.annotations.open_world_hint is (tool.name != "read_artifact")
        for schema in tool.input_schema["properties"].values():
            assert schema["description"]
            assert "anyOf" not in schema
            assert set(schema) <= STANDARD
    assert len(INSTRUCTIONS.encode()) < 2_000
    assert "web_fetch" in INSTRUCTIONS[:250]
    assert "read_artifact" in INSTRUCTIONS[:250]


def test_listing_the_tools_twice_gives_the_same_bytes() -> None:
    first, second = (json.dumps([t.model_dump(mode="json") for t in tool_list()]) for _ in range(2))
    assert first == second


@pytest.mark.parametrize("era", ERAS)
def test_the_address_of_an_image_gives_a_client_an_image_block(era: str) -> None:
    written = io.BytesIO()
    Image.new("RGB", (60, 40), "red").save(written, "PNG")
    image = replace(page(URL, ""), body=written.getvalue(), content_type="image/png")
    result = call(retrieval({URL: image}), "web_fetch", {"url": URL}, era)
    text, block = result.content
    assert isinstance(text, types.TextContent)
    assert text.text.endswith("[end]")
    assert isinstance(block, types.ImageContent)
    assert block.mime_type == "image/png"


def test_the_list_of_tools_is_small() -> None:
    sent = [tool.model_dump(by_alias=True, mode="json", exclude_none=True) for tool in tool_list()]
    assert len(json.dumps(sent, ensure_ascii=False, separators=(",", ":"))) <= MAX_LIST


def test_the_arguments_of_a_next_line_are_accepted_though_the_schema_does_not_list_them() -> None:
    unlisted = {"max_tokens": 500, "skip": 3, "repeat": True}
    for tool, given in (("web_fetch", {"url": URL}), ("read_artifact", {"id": "x", "query": "q", "max_chars": 900})):
        (schema,) = (each.input_schema for each in tool_list() if each.name == tool)
        assert not set(unlisted) & set(schema["properties"])
        assert "additionalProperties" not in schema  # or a client could refuse the call
        assert parse_arguments(tool, {**given, **unlisted}) == {**given, **unlisted}


def test_a_client_that_sends_an_unlisted_argument_gets_its_answer() -> None:
    result = call(pumps(), "web_fetch", {"url": URL, "query": "run", "max_tokens": 900, "skip": 0, "repeat": True})
    assert not result.is_error


@pytest.mark.parametrize("era", ERAS)
def test_a_client_need_not_list_the_tools_again_for_an_hour(era: str) -> None:
    async def run() -> types.ListToolsResult:
        async with Client(build_server(ready(pumps())), mode=era) as client:
            return await client.list_tools()

    listed = anyio.run(run)
    assert listed.ttl_ms == (3_600_000 if era == "auto" else 0)  # the earlier era has no such field
    assert listed.cache_scope == "private"


def test_a_query_and_a_quote_at_once_are_refused() -> None:
    result = call(pumps(), "read_artifact", {"id": "x", "query": "a", "find": "b"})
    assert text_of(result).startswith("invalid_argument: find: give query or find")
