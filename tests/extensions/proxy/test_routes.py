"""Names and URIs in messages are those of the server on one side and those of the client on the other."""

from __future__ import annotations

from typing import Any

import pytest

from keyhole.errors import Code, KeyholeError
from keyhole.extensions.proxy.messages import Message, build, response
from keyhole.extensions.proxy.names import Names
from keyhole.extensions.proxy.routes import Routes

LINK = {"type": "resource_link", "uri": "file:///a", "name": "a"}
EMBEDDED = {"type": "resource", "resource": {"uri": "file:///b", "text": "b"}}
TEXT = {"type": "text", "text": "file:///c"}


def request(method: str, **params: Any) -> Message:
    return build({"jsonrpc": "2.0", "id": 1, "method": method, "params": params, "new": 1})


@pytest.fixture
def routes() -> Routes:
    return Routes(Names(["one", "two"]))


@pytest.mark.parametrize(
    ("shown", "own"),
    [
        (request("tools/call", name="two_a", arguments={"x": 1}), request("tools/call", name="a", arguments={"x": 1})),
        (request("prompts/get", name="two_p"), request("prompts/get", name="p")),
        (request("resources/read", uri="keyhole:two:file:///a"), request("resources/read", uri="file:///a")),
        (request("resources/subscribe", uri="keyhole:two:a:1"), request("resources/subscribe", uri="a:1")),
        (
            request("completion/complete", ref={"type": "ref/prompt", "name": "two_p"}, argument={}),
            request("completion/complete", ref={"type": "ref/prompt", "name": "p"}, argument={}),
        ),
        (
            request("completion/complete", ref={"type": "ref/resource", "uri": "keyhole:two:a:{b}"}),
            request("completion/complete", ref={"type": "ref/resource", "uri": "a:{b}"}),
        ),
    ],
)
def test_a_request_reaches_its_server_with_the_name_that_this_server_knows(
    routes: Routes, shown: Message, own: Message
) -> None:
    server, handed_on = routes.route(shown)
    assert (server, handed_on.data) == ("two", own.data)


@pytest.mark.parametrize(
    ("message", "text"),
    [
        (request("tools/call", name="a"), "no server has listed 'a'"),
        (request("resources/read", uri="file:///a"), "keyhole:one:URI"),
        (request("completion/complete", ref=5), "no server has listed"),
        (request("x/y", name="one_a"), "is not relayed"),
    ],
)
def test_a_request_without_a_server_is_refused(routes: Routes, message: Message, text: str) -> None:
    with pytest.raises(KeyholeError, match=text) as caught:
        routes.route(message)
    assert caught.value.code is Code.INVALID_ARGUMENT


def test_a_list_has_the_names_of_the_client_and_each_name_once(routes: Routes) -> None:
    tools = [{"name": "a", "new": 1}, {"name": "a", "new": 2}, {"title": "no name"}, {"name": 5}]
    assert routes.show_list("one", "tools", tools) == [{"name": "one_a", "new": 1}]
    templates = routes.show_list("one", "resourceTemplates", [{"uriTemplate": "file:///p{x}"}])
    assert templates == [{"uriTemplate": "keyhole:one:file:///p{x}"}]


def test_the_app_of_a_tool_keeps_the_scheme_that_hosts_require(routes: Routes) -> None:
    tool = {"name": "a", "_meta": {"ui": {"resourceUri": "ui://one/a.html", "new": 1}}}
    (shown,) = routes.show_list("one", "tools", [tool])
    assert shown["_meta"] == {"ui": {"resourceUri": "ui://keyhole/one/one/a.html", "new": 1}}
    assert routes.route(request("resources/read", uri="ui://keyhole/one/one/a.html"))[1].params == {
        "uri": "ui://one/a.html"
    }
    for meta in ({"ui": {"resourceUri": 5}}, {"ui": 5}, 5, {"ui": {"resourceUri": "http://a/"}}):
        assert routes.show_list("one", "tools", [{"name": "a", "_meta": meta}])[0]["_meta"] == meta


def test_results_have_the_uris_of_the_client_and_keep_their_texts(routes: Routes) -> None:
    shown = routes.show_answer("one", "tools/call", response(1, {"content": [LINK, EMBEDDED, TEXT, 5], "new": 1}))
    link, embedded, text, other = (shown.result or {})["content"]
    assert (link["uri"], embedded["resource"]["uri"]) == ("keyhole:one:file:///a", "keyhole:one:file:///b")
    assert (text, other) == (TEXT, 5)
    prompt = routes.show_answer("one", "prompts/get", response(1, {"messages": [{"role": "user", "content": LINK}, 5]}))
    assert (prompt.result or {})["messages"][0]["content"]["uri"] == "keyhole:one:file:///a"
    read = routes.show_answer("one", "resources/read", response(1, {"contents": [{"uri": "file:///a", "text": "a"}]}))
    assert (read.result or {})["contents"] == [{"uri": "keyhole:one:file:///a", "text": "a"}]


def test_a_result_without_uris_keeps_its_bytes(routes: Routes) -> None:
    answer = response(1, {"content": [TEXT]})
    assert routes.show_answer("one", "tools/call", answer) is answer


def test_a_notification_about_a_resource_has_the_uri_of_the_client(routes: Routes) -> None:
    updated = build({"jsonrpc": "2.0", "method": "notifications/resources/updated", "params": {"uri": "a:1", "new": 1}})
    assert routes.show_notification("two", updated).params == {"uri": "keyhole:two:a:1", "new": 1}
    changed = build({"jsonrpc": "2.0", "method": "notifications/tools/list_changed"})
    assert routes.show_notification("two", changed) is changed
