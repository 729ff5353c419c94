"""Requests find the server that has listed their tool, prompt or resource."""

from __future__ import annotations

from typing import Any

import pytest

from keyhole.errors import Code, KeyholeError
from keyhole.serve.proxy.messages import Message, build
from keyhole.serve.proxy.routes import Routes


def request(method: str, **params: Any) -> Message:
    return build({"jsonrpc": "2.0", "id": 1, "method": method, "params": params, "new": 1})


def test_a_tool_of_two_servers_is_called_with_the_name_that_its_server_knows() -> None:
    routes = Routes(["one", "two"])
    tools = {"tools": [{"name": "a"}]}
    shown = [tool["name"] for tool in routes.list("tools/list", {"two": tools, "one": tools})["tools"]]
    assert shown == ["one_a", "two_a"]
    server, call = routes.route(request("tools/call", name="two_a", arguments={"x": 1}))
    assert server == "two"
    assert call.data == request("tools/call", name="a", arguments={"x": 1}).data


def test_a_request_whose_name_is_not_changed_keeps_its_bytes() -> None:
    routes = Routes(["one", "two"])
    routes.list("tools/list", {"one": {"tools": [{"name": "a"}]}, "two": {"tools": []}})
    call = request("tools/call", name="a")
    assert routes.route(call) == ("one", call)


def test_a_resource_that_nobody_lists_goes_to_the_server_of_its_longest_template_or_of_its_scheme() -> None:
    routes = Routes(["one", "two"])
    templates = {"one": {"resourceTemplates": [{"uriTemplate": "log://{day}"}]}}
    templates["two"] = {"resourceTemplates": [{"uriTemplate": "log://old/{day}"}]}
    routes.list("resources/templates/list", templates)
    routes.list("resources/list", {"two": {"resources": [{"uri": "db://x"}]}})
    found = [routes.route(request("resources/read", uri=uri))[0] for uri in ("log://a", "log://old/a", "db://y", "z:1")]
    assert found == ["one", "two", "two", "one"]


@pytest.mark.parametrize(("method", "text"), [("tools/call", "no server has listed 'a'"), ("x/y", "is not relayed")])
def test_a_request_without_a_server_is_refused(method: str, text: str) -> None:
    with pytest.raises(KeyholeError, match=text) as caught:
        Routes(["one", "two"]).route(request(method, name="a"))
    assert caught.value.code is Code.INVALID_ARGUMENT
