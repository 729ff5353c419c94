"""Hostile arguments to all three tools in both protocol eras: paths, SQL, NUL and lone surrogates."""

from __future__ import annotations

import json
import re
import sqlite3
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import anyio
import pytest
from mcp import Client
from mcp.types import CallToolResult

from keyhole.errors import Code
from keyhole.records import Hit
from keyhole.retrieval.dispatch import ARGUMENTS
from keyhole.retrieval.retrieve import Retrieval
from keyhole.serve.tools import build_server
from keyhole.store.base import Limits
from keyhole.store.sqlite.store import SqliteStore
from tests.serve.test_run import Process
from tests.serve.test_tools import ready, text_of
from tests.support.fakes import Clock, FakeEngine, page
from tests.support.product import retrieval

URL = "https://pumps.example/"
TEXT = "<title>Pumps</title><p>They run at 40 rpm in the cellar and never stop."
ERAS = ["legacy", "auto"]
INJECTIONS = (
    "' OR 1=1 --", '" OR ""="', "1; DROP TABLE artifacts", "'; DELETE FROM artifacts; --",
    "a' UNION SELECT text FROM artifacts --",
    "%", "_" * 16, "words MATCH 'a'",
    'stems:"pumps" OR', "NEAR(pumps cellar)", "pumps*", "\\", "$1", ":id", "?1", "{0}", "%s",
    "../../etc/passwd", "/etc/passwd", "..\\..\\x", "file:///etc/passwd", "artifacts.db", "secret", "~/.ssh/id_rsa",
    "con", "\\\\host\\share", "${IFS}", "$(id)", "`id`", "; ls", "__proto__", "{{7*7}}", "\r\nSet-Cookie: a",
)  # fmt: skip
SIGNS = ("\x00", "a\x00b", "\ud800", "a\udfffb", "\ud83d\ude00", "\x1b[2J", "\u202e", "\ufeff", "\U0010ffff", "\uffff")
STRINGS: dict[str, dict[str, Any]] = {
    "web_fetch": {"url": URL, "query": "pumps"},
    "search": {
        "query": "pumps", "queries": ["pumps"], "scope": "stored", "sites": ["pumps.example"],
        "exclude_sites": ["x.example"], "freshness": "year", "language": "en", "country": "us", "kind": "web",
    },
    "read_artifact": {"id": "ID", "query": "pumps", "find": "40 rpm"},
}  # fmt: skip
"""Every text argument of each tool, with a valid value."""
INSIDE = re.compile(r"Traceback|sqlite|\.py\b|Error:")


@pytest.fixture
def product(tmp_path: Path) -> Iterator[Retrieval]:
    clock = Clock()
    with ExitStack() as stack:
        store = SqliteStore(tmp_path, clock, Limits(1e9, 10**9))
        stack.callback(store.close)
        engine = FakeEngine([Hit(URL, "Pumps", "They run.", "fake")])
        yield retrieval({URL: page(URL, TEXT)}, store=store, engines=[engine], clock=clock)


def calls(product: Retrieval, era: str, tool: str, all_arguments: list[dict[str, Any]]) -> list[CallToolResult]:
    """Fetch a page, then return the answers to calls of one tool, which one client makes in sequence."""

    async def run() -> list[CallToolResult]:
        answers = []
        async with Client(build_server(ready(product)), mode=era) as client:
            fetched = await client.call_tool("web_fetch", {"url": URL})
            assert fetched.meta
            id = fetched.meta["keyhole"]["artifact_id"]
            for given in all_arguments:
                arguments = {name: id if value == "ID" else value for name, value in given.items()}
                answers.append(await client.call_tool(tool, arguments))
        return answers

    return anyio.run(run)


def each_with(tool: str, hostile: tuple[str, ...]) -> list[dict[str, Any]]:
    """Return calls that each have one hostile text argument."""
    texts = [each for text in hostile for each in (text, f"pumps {text}")]
    given = []
    for name, good in STRINGS[tool].items():
        required = {"search": {"query": "pumps", "scope": "stored"}, "web_fetch": {"url": URL}}.get(tool, {"id": "ID"})
        given += [{**required, name: [text] if isinstance(good, list) else text} for text in texts]
    return given


def test_every_text_argument_is_tried() -> None:
    for tool, model in ARGUMENTS.items():
        texts = {
            name
            for name, field in model.model_fields.items()
            if "str" in str(field.annotation) or "Literal" in str(field.annotation)
        }
        assert texts == set(STRINGS[tool])


@pytest.mark.parametrize("era", ERAS)
@pytest.mark.parametrize("tool", list(STRINGS))
def test_no_text_makes_a_tool_fail_or_reveal_internals(product: Retrieval, era: str, tool: str) -> None:
    given = each_with(tool, (*INJECTIONS, *SIGNS))
    for arguments, answer in zip(given, calls(product, era, tool, given), strict=True):
        text = text_of(answer)
        assert not text.startswith(Code.INTERNAL_ERROR), (arguments, text)
        if answer.is_error:
            assert text.split(":")[0] in set(Code), (arguments, text)
            assert not INSIDE.search(text), (arguments, text)
            assert len(text) < 1_000
        json.dumps(answer.model_dump(mode="json"), ensure_ascii=False).encode("utf-8")  # it can be encoded


@pytest.mark.parametrize("era", ERAS)
def test_only_its_own_id_returns_an_artifact(product: Retrieval, era: str) -> None:
    given = [{"id": text} for text in (*INJECTIONS, *SIGNS)] + [{"id": f"ID{text}"} for text in INJECTIONS]
    for arguments, answer in zip(given, calls(product, era, "read_artifact", given), strict=True):
        assert answer.is_error, arguments
        refused = Code.INVALID_ARGUMENT if "\ud800" <= max(arguments["id"]) <= "\udfff" else Code.UNKNOWN_ARTIFACT
        assert text_of(answer).split(":")[0] == refused, arguments


@pytest.mark.parametrize("era", ERAS)
def test_no_query_changes_the_store(product: Retrieval, era: str, tmp_path: Path) -> None:
    given = each_with("search", INJECTIONS)
    calls(product, era, "search", given)
    with sqlite3.connect(tmp_path / "artifacts.db") as file:
        assert file.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
    file.close()
    assert [row.url for row in product.store.list(10)] == [URL]
    assert sorted(path.name for path in tmp_path.iterdir() if not path.name.startswith("artifacts.db-")) == [
        "artifacts.db"
    ]


def test_escaped_surrogates_and_nul_over_a_real_pipe_are_answered(tmp_path: Path) -> None:
    server = Process(tmp_path / "home")
    number = 0
    for tool, names in STRINGS.items():
        for name, good in names.items():
            for text in ("\x00", "\ud800", "a\udfffb"):
                number += 1
                given = {"url": "http://127.0.0.1:9/"} if tool == "web_fetch" else {"query": "x", "scope": "stored"}
                given = {"id": "a" * 16} if tool == "read_artifact" else given
                arguments = {**given, name: [text] if isinstance(good, list) else text}
                server.request(number, "tools/call", {"name": tool, "arguments": arguments})
                answer = server.answer(number)["result"]["content"][0]["text"]
                assert answer.split(":")[0] in set(Code) - {Code.INTERNAL_ERROR}
    assert server.close() == 0
