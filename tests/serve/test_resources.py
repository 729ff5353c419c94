"""Stored pages as resources through the SDK's client, in both protocol eras, over fakes."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import Any, TypeVar

import anyio
import pytest
from mcp import Client
from mcp.shared.exceptions import MCPError
from mcp.types import PromptReference, ResourceTemplateReference, TextResourceContents

from keyhole.config.config import Config
from keyhole.errors import Code, KeyholeError
from keyhole.records import ArtifactSummary, Place
from keyhole.render.budget import CLIENT_LIMITS
from keyhole.retrieval.call import UNKNOWN_CALLER, Caller
from keyhole.retrieval.retrieve import Retrieval
from keyhole.retrieval.session import Session
from keyhole.serve import resources
from keyhole.serve.resources import (
    COMPLETERS,
    MAX_ENTRIES,
    MAX_SEARCHED,
    PAGE_TEMPLATE,
    RANGE_TEMPLATE,
    cursor_of,
    list_page,
    parse_cursor,
    parse_uri,
    read,
    resource,
)
from keyhole.serve.tools import build_server
from keyhole.store.base import Store
from keyhole.store.sqlite.store import MEMORY_LIMITS, MemoryStore
from tests.serve.test_tools import ready
from tests.support.fakes import BrokenStore, Clock, artifact
from tests.support.product import retrieval

T = TypeVar("T")
ERAS = ["legacy", "auto"]
LETTERS = "abcdefghijklmnop"
TEXT = "".join(f"Line {n} of the text, with an é in it.\n" for n in range(2_000))


def id_of(number: int) -> str:
    return "a" * 12 + "".join(LETTERS[int(digit, 16)] for digit in f"{number:04x}")


def stored(count: int, clock: Clock | None = None) -> Store:
    clock = clock or Clock()
    store = MemoryStore(clock)
    for n in range(count):
        store.put(
            artifact(id_of(n), f"Text {n}", url=f"https://site{n % 3}.example/p/{n}", title=f"Page {n} of many",
                     fetched_at=clock.now - count + n),
            "x",
        )  # fmt: skip
    return store


def long_text(**settings: Any) -> Retrieval:
    store = MemoryStore(Clock())
    store.put(artifact(id_of(0), TEXT), "x")
    return retrieval(store=store, config=Config(**settings))


def with_client(product: Retrieval, era: str, use: Callable[[Client], Awaitable[T]]) -> T:
    async def run() -> T:
        async with Client(build_server(ready(product)), mode=era) as client:
            return await use(client)

    return anyio.run(run)


def refusal(product: Retrieval, era: str, use: Callable[[Client], Awaitable[object]]) -> MCPError:
    async def run() -> MCPError:
        async with Client(build_server(ready(product)), mode=era) as client:
            with pytest.raises(MCPError) as caught:
                await use(client)
            return caught.value

    return anyio.run(run)


# Listing.


@pytest.mark.parametrize("era", ERAS)
def test_stored_pages_are_listed_newest_first_page_by_page(era: str) -> None:
    async def walk(client: Client) -> list[list[str]]:
        pages: list[list[str]] = []
        cursor = None
        while not pages or cursor:
            listed = await client.list_resources(cursor=cursor)
            pages.append([str(each.uri) for each in listed.resources])
            cursor = listed.next_cursor
        return pages

    pages = with_client(retrieval(store=stored(70)), era, walk)
    assert len(pages) > 1
    assert [uri for each in pages for uri in each] == [f"artifact://{id_of(n)}" for n in reversed(range(70))]


def test_pages_fetched_during_a_listing_do_not_shift_it() -> None:
    product = retrieval(store=stored(60))

    async def run() -> list[str]:
        first = await list_page(product, UNKNOWN_CALLER, None)
        product.store.put(artifact(id_of(900), fetched_at=1_800_000_000.0), "x")
        second = await list_page(product, UNKNOWN_CALLER, first.next_cursor)
        return [each.uri[-16:] for each in (*first.resources, *second.resources)]

    found = asyncio.run(run())
    assert found == [id_of(59 - n) for n in range(len(found))]


@pytest.mark.parametrize("size", [500, 2_000, 9_000, 200_000])
def test_a_page_of_the_listing_fits_the_budget_and_has_at_least_one_entry(size: int) -> None:
    product = retrieval(store=stored(150), config=Config(max_chars=size))
    listed = asyncio.run(list_page(product, UNKNOWN_CALLER, None))
    wire = json.dumps(listed.model_dump(by_alias=True, mode="json", exclude_none=True), ensure_ascii=False)
    assert 1 <= len(listed.resources) <= MAX_ENTRIES
    assert len(wire.encode()) <= size
    assert listed.next_cursor


def test_an_entry_that_is_too_long_for_the_budget_is_only_named() -> None:
    store = MemoryStore(Clock())
    store.put(artifact(id_of(0), url="https://a.example/" + "насос/" * 300, title="long " * 900), "x")
    product = retrieval(store=store, config=Config(max_chars=500))
    listed = asyncio.run(list_page(product, UNKNOWN_CALLER, None))
    wire = json.dumps(listed.model_dump(by_alias=True, mode="json", exclude_none=True), ensure_ascii=False)
    assert len(wire.encode()) <= 500
    (entry,) = listed.resources
    assert entry.name.startswith("a.example/")
    assert entry.description is None


def test_an_entry_has_title_address_size_and_date() -> None:
    row = ArtifactSummary(
        id_of(1), "https://docs.example/a/b", "On ](pumps)\n<b>", 39_367, 1_700_000_000.5, 0.0, 40_001
    )
    entry = resource(row)
    assert entry.uri == f"artifact://{id_of(1)}"
    assert entry.name == "docs.example/a/b"
    assert entry.title == "“On ]&#40;pumps) &lt;b>”"
    assert entry.description == "39,367 characters of https://docs.example/a/b, as read on 2023-11-14"
    assert (entry.mime_type, entry.size) == ("text/markdown", 40_001)
    assert entry.annotations
    assert entry.annotations.last_modified == "2023-11-14T22:13:20Z"


def test_an_entry_of_an_output_has_its_command_and_exit_status_instead_of_an_address() -> None:
    notes = (("command", "make `x`"), ("exit", "2"))
    entry = resource(ArtifactSummary(id_of(1), "output:compiler", "make `x`", 9_367, 1e9, 0.0, 9_367, notes))
    assert (entry.name, entry.title) == (r"make \`x\`", r"“make \`x\`”")
    assert entry.description == (
        r"Output of `make \`x\`` (compiler output), exit status 2: 9,367 characters, stored on 2001-09-09"
    )
    assert COMPLETERS["url"]([ArtifactSummary(id_of(1), "output:log", "make", 1, 1.0, 1.0)], "make") == []


@pytest.mark.parametrize("at", [-1e300, 0.0, 1e12, 1e300])
def test_an_invalid_time_does_not_break_the_listing(at: float) -> None:
    assert resource(ArtifactSummary(id_of(1), "https://a.example/", "A", 1, at, 0.0)).annotations


def test_an_entry_of_a_hostile_page_is_one_short_line() -> None:
    entry = resource(ArtifactSummary(id_of(1), "https://a.example/" + "x" * 9_000, "\ud800 a\n" * 9_000, 1, 1.0, 1.0))
    capabilities = json.dumps(entry.model_dump(mode="json"))
    assert len(capabilities) < 1_200
    assert "\\n" not in capabilities
    assert resource(ArtifactSummary(id_of(1), "https://a.example/p", "", 1, 1.0, 1.0)).title == "a.example/p"


@pytest.mark.parametrize("era", ERAS)
@pytest.mark.parametrize(
    "cursor", ["", "x", "é", "AAAA", "../..", "a" * 10_000, cursor_of((1.0, "a b")), cursor_of((float("inf"), "a"))]
)
def test_an_invalid_cursor_is_refused(era: str, cursor: str) -> None:
    error = refusal(retrieval(store=stored(2)), era, lambda client: client.list_resources(cursor=cursor))
    assert error.code == -32602
    assert error.data["code"] == "invalid_argument"


@pytest.mark.parametrize("place", [(1_700_000_000.123456, id_of(1)), (0.0, id_of(0)), (1e300, id_of(2)), (-1e-9, "x")])
def test_a_cursor_encodes_its_place_exactly(place: Place) -> None:
    assert parse_cursor(cursor_of(place)) == place


# Reading.


@pytest.mark.parametrize("era", ERAS)
def test_a_resource_is_read_as_read_artifact_reads_it(era: str) -> None:
    async def both(client: Client) -> tuple[Any, str]:
        part = await client.read_resource(f"artifact://{id_of(0)}?offset=100&limit=300")
        tool = await client.call_tool("read_artifact", {"id": id_of(0), "offset": 100, "limit": 300})
        return part.contents, str(getattr(tool.content[0], "text", ""))

    contents, text = with_client(long_text(), era, both)
    (content,) = contents
    assert isinstance(content, TextResourceContents)
    assert content.text == text
    assert TEXT[100:400] in text
    assert (content.uri, content.mime_type) == (f"artifact://{id_of(0)}?offset=100&limit=300", "text/markdown")
    assert content.meta
    assert content.meta["keyhole"]["next"]["offset"] == 400


def test_consecutive_ranges_join_to_the_text() -> None:
    product, start, windows = long_text(), 0, []

    async def window(offset: int) -> str:
        return (await read(product, UNKNOWN_CALLER, f"artifact://{id_of(0)}?offset={offset}&limit=")).text

    while start < len(TEXT):
        body = re.search(r"--- untrusted text (\w+) ---\n(.*)\n--- end \1 ---", asyncio.run(window(start)), re.DOTALL)
        assert body
        windows.append(body[2])
        start += len(body[2])
    assert "".join(windows) == TEXT


@pytest.mark.parametrize("client", sorted({each.name for each in CLIENT_LIMITS if each.max_bytes}))
def test_a_read_resource_fits_the_limit_of_its_client_with_its_envelope(client: str) -> None:
    product, uri = long_text(max_chars=200_000), f"artifact://{id_of(0)}?offset=7"
    caller = Caller(client=client)
    answer = asyncio.run(read(product, caller, uri))
    wire = resources.contents(uri, answer).model_dump(by_alias=True, mode="json", exclude_none=True)
    wire["_meta"] = {"io.modelcontextprotocol/serverInfo": {"name": "keyhole", "version": "00.00.00"}}
    assert len(json.dumps(wire, ensure_ascii=False).encode()) <= (caller.limits.max_bytes or 0)
    assert TEXT[7:20] in answer.text
    assert "Next: read_artifact(" in answer.text


@pytest.mark.parametrize("era", ERAS)
@pytest.mark.parametrize(
    ("uri", "code"),
    [
        ("artifact://" + "z" * 16, "unknown_artifact"),
        ("artifact://files/..%2F..%2Fetc%2Fpasswd", "unknown_artifact"),
        ("artifact://../../etc/passwd", "unknown_artifact"),
        ("artifact://%0d%0aX", "unknown_artifact"),
        ("artifact://", "unknown_artifact"),
        ("artifact://" + "a" * 16 + "/x", "unknown_artifact"),
        ("artifact://" + "a" * 16 + "\n", "unknown_artifact"),
        ("artifact://" + "a" * 16 + "?find=a", "unknown_artifact"),
        ("artifact://" + "a" * 16 + "?offset=-1", "unknown_artifact"),
        ("artifact://" + "a" * 16 + "?offset=٣", "unknown_artifact"),
        ("artifact://" + "a" * 16 + "#a", "unknown_artifact"),
        ("file:///etc/passwd", "unknown_artifact"),
        ("https://example.org/", "unknown_artifact"),
        ("", "unknown_artifact"),
        ("x" * 100_000, "unknown_artifact"),
        ("artifact://" + "a" * 16 + "?limit=0", "invalid_argument"),
        ("artifact://" + "a" * 16 + "?offset=9999999999999999999", "invalid_argument"),
    ],
)
def test_an_unknown_uri_is_refused_with_its_code(era: str, uri: str, code: str) -> None:
    error = refusal(long_text(), era, lambda client: client.read_resource(uri))
    assert (error.code, error.data["code"]) == (-32602, code)
    assert error.message.startswith(f"{code}: ")
    assert len(json.dumps(error.data)) < 1_000


@pytest.mark.parametrize(
    ("uri", "arguments"),
    [
        (PAGE_TEMPLATE, {}),
        (PAGE_TEMPLATE + "/", {}),
        (PAGE_TEMPLATE + "?", {}),
        (PAGE_TEMPLATE + "?offset=&limit=", {}),
        (PAGE_TEMPLATE + "?offset=5", {"offset": 5}),
        (PAGE_TEMPLATE + "?limit=7", {"limit": 7}),
        (PAGE_TEMPLATE + "?offset=05&limit=999999", {"offset": 5, "limit": 200_000}),
    ],
)
def test_a_uri_can_be_filled_in_as_clients_do(uri: str, arguments: dict[str, int]) -> None:
    assert parse_uri(uri.replace("{id}", id_of(3))) == {"id": id_of(3), **arguments}


@pytest.mark.parametrize("era", ERAS)
def test_an_expired_artifact_is_reported_with_its_url(era: str) -> None:
    clock = Clock()
    store = MemoryStore(clock, replace(MEMORY_LIMITS, ttl=10))
    store.put(artifact(id_of(0), url="https://a.example/gone"), "x")
    clock.advance(20)
    product = retrieval(store=store, clock=clock)
    error = refusal(product, era, lambda client: client.read_resource(f"artifact://{id_of(0)}"))
    assert error.code == -32602
    assert error.data == {
        "code": "expired_artifact", "retryable": False, "url": "https://a.example/gone", "uri": f"artifact://{id_of(0)}"
    }  # fmt: skip


def test_a_reader_of_resources_leaves_no_trace_in_the_session() -> None:
    product, caller = long_text(), Caller("some", "1", Session())
    first, second = (asyncio.run(read(product, caller, f"artifact://{id_of(0)}")).text for _ in range(2))
    assert first == second


# Completion.


@pytest.mark.parametrize("era", ERAS)
def test_an_id_is_completed_from_its_start_or_words_of_its_page(era: str) -> None:
    async def complete(client: Client, value: str, argument: str = "id", uri: str = PAGE_TEMPLATE) -> Any:
        ref = ResourceTemplateReference(uri=uri)
        return (await client.complete(ref, {"name": argument, "value": value})).completion

    def values(value: str, **more: str) -> Any:
        return with_client(retrieval(store=stored(120)), era, lambda client: complete(client, value, **more))

    assert values("PAGE 17 many").values == [id_of(117), id_of(17)]
    assert values("site1 p/4").values[0] == id_of(49)
    assert values(id_of(17)[:15]).values == [id_of(n) for n in range(31, 15, -1)]
    everything = values("")
    assert (len(everything.values), everything.total, everything.has_more) == (100, 120, True)
    assert values("nowhere").model_dump(exclude_none=True) == {"values": [], "total": 0, "has_more": False}
    assert values("4", argument="offset", uri=RANGE_TEMPLATE).values == []


@pytest.mark.parametrize("era", ERAS)
def test_a_prompts_url_is_completed_from_stored_pages(era: str) -> None:
    async def complete(client: Client) -> Any:
        return await client.complete(PromptReference(name="read_page"), {"name": "url", "value": "page 11"})

    found = with_client(retrieval(store=stored(12)), era, complete)
    assert found.completion.values == ["https://site2.example/p/11"]


@pytest.mark.parametrize("era", ERAS)
@pytest.mark.parametrize(
    ("ref", "argument"),
    [
        (ResourceTemplateReference(uri="artifact://x"), "id"),
        (ResourceTemplateReference(uri=PAGE_TEMPLATE), "offset"),
        (ResourceTemplateReference(uri="file:///{path}"), "path"),
        (PromptReference(name="nothing"), "question"),
        (PromptReference(name="research"), "url"),
    ],
)
def test_a_completion_of_an_unknown_argument_is_refused(era: str, ref: Any, argument: str) -> None:
    error = refusal(
        retrieval(), era, lambda client: client.complete(ref, {"name": argument, "value": ""})
    )  # fmt: skip
    assert (error.code, error.data["code"]) == (-32602, "invalid_argument")


def test_a_partial_completion_has_no_total() -> None:
    class Endless(BrokenStore):
        def list(self, limit: int, after: Place | None = None) -> tuple[ArtifactSummary, ...]:
            return tuple(ArtifactSummary(id_of(n), f"https://a.example/{n}", "", 1, 1.0, 1.0) for n in range(limit))

    found = asyncio.run(resources.complete(retrieval(store=Endless()), "id", f"/{MAX_SEARCHED - 1}"))
    assert (found.values, found.total, found.has_more) == ([id_of(MAX_SEARCHED - 1)], None, True)


def test_the_capabilities_are_those_that_are_implemented() -> None:
    async def capabilities(client: Client) -> dict[str, Any]:
        return client.server_capabilities.model_dump(exclude_none=True)

    for era in ERAS:
        assert with_client(retrieval(), era, capabilities) == {
            "completions": {},
            "prompts": {"list_changed": False},
            "resources": {"subscribe": False, "list_changed": False},
            "tools": {"list_changed": False},
        }


def test_templates_are_of_rfc_6570s_first_level() -> None:
    async def listed(client: Client) -> list[str]:
        return [each.uri_template for each in (await client.list_resource_templates()).resource_templates]

    for template in with_client(retrieval(), "auto", listed):
        assert re.fullmatch(r"[^{}]*(\{\w+\}[^{}]*)+", template)
        filled = template.format(id=id_of(0), offset=5, limit=6)
        assert parse_uri(filled)["id"] == id_of(0)


def test_an_unknown_uri_raises_an_error_with_its_code() -> None:
    with pytest.raises(KeyholeError) as caught:
        parse_uri("artifact://none")
    assert caught.value.code is Code.UNKNOWN_ARTIFACT
