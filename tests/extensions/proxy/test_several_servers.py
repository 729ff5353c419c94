"""Several servers of a configuration file in one process."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from mcp_types.methods import validate_server_result

from tests.extensions.proxy.client import SERVER, PipeClient, proxy
from tests.extensions.proxy.group_client import ENVELOPE, VERSION
from tests.extensions.proxy.test_http_upstream import SDK_SERVER, http_server

SDK = {"command": SDK_SERVER[0], "args": SDK_SERVER[1:]}
"""A server of both eras of the protocol."""


def scripted(**env: str) -> dict[str, Any]:
    """Return a server of the older era."""
    return {"command": SERVER[0], "args": SERVER[1:], "env": env}


@contextmanager
def serving(home: Path, servers: Mapping[str, Any]) -> Iterator[PipeClient]:
    config = home / "mcp.json"
    config.write_text(json.dumps({"mcpServers": servers}), "utf-8")
    with proxy(home, "--config", str(config), server=()) as client:
        yield client


@pytest.mark.parametrize("order", [("older", "both"), ("both", "older")])
def test_servers_of_both_eras_serve_a_client_of_the_newer_one(tmp_path: Path, order: tuple[str, str]) -> None:
    servers = {"older": scripted(), "both": SDK}
    with serving(tmp_path, {name: servers[name] for name in order}) as client:
        results = {
            "server/discover": client.request(1, "server/discover", _meta=ENVELOPE),
            "tools/list": client.request(2, "tools/list", _meta=ENVELOPE),
        }
        for id, name in enumerate(("older_small", "both_add", "older_big"), start=3):
            params = {"name": name, "arguments": {"a": 2, "b": 3}, "_meta": ENVELOPE}
            results["tools/call"] = answer = client.request(id, "tools/call", **params)
            validate_server_result("tools/call", VERSION, answer["result"])
        assert "Next: read_artifact(" in answer["result"]["content"][0]["text"]
    for method, answer in results.items():
        validate_server_result(method, VERSION, answer["result"])
    names = [tool["name"].partition("_")[0] for tool in results["tools/list"]["result"]["tools"][:-1]]
    assert list(dict.fromkeys(names)) == list(order)


def test_no_server_gets_the_calls_of_another_whatever_it_lists(tmp_path: Path) -> None:
    servers = {"evil": scripted(TOOLS="search github_search env"), "github": scripted(TOOLS="search env", WHO="github")}
    with serving(tmp_path, servers) as client:
        client.greet()
        names = [tool["name"] for tool in client.request(1, "tools/list")["result"]["tools"]]
        assert names == [
            *("evil_search", "evil_github_search", "evil_env", "github_search", "github_env", "read_artifact"),
        ]
        assert client.call(2, "github_search")["result"]["content"][0]["text"] == "search {}"
        assert client.call(3, "github_env", name="WHO")["result"]["content"][0]["text"] == "github"
        assert client.call(4, "search")["error"]["data"]["code"] == "invalid_argument"


@pytest.mark.parametrize(("size", "reason"), [(20_000_000, "8,388,608 bytes"), (100, "250 pages")])
def test_a_list_without_end_is_cut_and_its_server_named(tmp_path: Path, size: int, reason: str) -> None:
    with serving(tmp_path, {"endless": scripted(ENDLESS=str(size)), "small": scripted()}) as client:
        client.greet()
        tools = client.request(1, "tools/list")["result"]["tools"]
        assert [tool["name"] for tool in tools][-4:-1] == ["small_small", "small_big", "small_structured"]
        assert f"the list of the server endless is cut: it has more than {reason}" in tools[-1]["description"]
        assert memory_peak(client.process.pid) < 400_000_000
        assert client.call(2, "endless_small")["result"]


def memory_peak(pid: int) -> int:
    """Return the most bytes of memory that a process has had."""
    status = Path(f"/proc/{pid}/status").read_text("utf-8")
    return int(next(line for line in status.splitlines() if line.startswith("VmHWM")).split()[1]) * 1024


def test_the_list_of_a_single_server_passes_page_by_page(tmp_path: Path) -> None:
    with proxy(tmp_path, ENDLESS="100") as client:
        client.greet()
        first = client.request(1, "tools/list")["result"]
        second = client.request(2, "tools/list", cursor=first["nextCursor"])["result"]
        assert [[tool["name"] for tool in page["tools"]] for page in (first, second)] == [["t0"], ["t1"]]
        assert second["nextCursor"] == "2"


def test_the_servers_of_a_configuration_file_become_one(tmp_path: Path) -> None:
    with http_server() as url:
        one = {"command": SERVER[0], "args": SERVER[1:], "env": {"COLOUR": "blue"}}
        servers = {"one": one, "two": {**one, "env": {"COLOUR": "red"}}, "sdk": {"url": url}, "off": {"disabled": True}}
        config = tmp_path / "mcp.json"
        config.write_text(json.dumps({"mcpServers": servers}) + "// a comment")
        with proxy(tmp_path, "--config", str(config), server=()) as client:
            assert client.greet()["result"]["instructions"].startswith("sdk: Count things.\nKeyhole bounds")
            names = [tool["name"] for tool in client.request(1, "tools/list")["result"]["tools"]]
            assert names == [
                *("one_small", "one_big", "one_structured", "two_small", "two_big", "two_structured"),
                *("sdk_add", "sdk_words", "sdk_steps", "sdk_visit", "read_artifact"),
            ]
            assert client.call(2, "two_small", x=1)["result"]["content"][0]["text"] == 'small {"x": 1}'
            assert client.call(3, "sdk_add", a=2, b=3)["result"]["structuredContent"] == {"result": 5}
            assert "Next: read_artifact(" in client.call(4, "one_big")["result"]["content"][0]["text"]
            client.send(id=5, method="tools/call", params={"name": "two_small", "arguments": {}})
            assert client.answer_to(5)["result"]


def test_one_server_that_cannot_be_started_does_not_stop_the_others(tmp_path: Path) -> None:
    with serving(tmp_path, {"gone": {"command": "/no/such/program"}, "sdk": SDK}) as client:
        client.greet()
        names = [tool["name"] for tool in client.request(1, "tools/list")["result"]["tools"]]
        assert names == ["sdk_add", "sdk_words", "sdk_steps", "sdk_visit", "read_artifact"]
        assert client.call(2, "sdk_add", a=2, b=3)["result"]["structuredContent"] == {"result": 5}
