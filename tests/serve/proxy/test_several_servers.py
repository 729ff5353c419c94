"""Several servers of a configuration file in one process."""

from __future__ import annotations

import json
from pathlib import Path

from tests.serve.proxy.client import SERVER, proxy
from tests.serve.proxy.test_http_upstream import SDK_SERVER, http_server


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
    config = tmp_path / "mcp.json"
    sdk = {"command": SDK_SERVER[0], "args": SDK_SERVER[1:]}
    config.write_text(json.dumps({"mcpServers": {"gone": {"command": "/no/such/program"}, "sdk": sdk}}))
    with proxy(tmp_path, "--config", str(config), server=()) as client:
        client.greet()
        names = [tool["name"] for tool in client.request(1, "tools/list")["result"]["tools"]]
        assert names == ["sdk_add", "sdk_words", "sdk_steps", "sdk_visit", "read_artifact"]
        assert client.call(2, "sdk_add", a=2, b=3)["result"]["structuredContent"] == {"result": 5}
