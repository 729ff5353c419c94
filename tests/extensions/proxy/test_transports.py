"""The proxy as a process in front of a real server over stdio: transparent but for its rewrites, and never silent."""

from __future__ import annotations

import json
import os
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from keyhole.cli.build import open_stores
from keyhole.config.config import Config
from keyhole.store.base import LOCAL
from tests.extensions.proxy.client import PipeClient, proxy
from tests.extensions.proxy.scripted_server import log_lines
from tests.support.waiting import wait_for


@pytest.fixture
def client(tmp_path: Path) -> Iterator[PipeClient]:
    with proxy(tmp_path) as client:
        client.greet()
        yield client


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[PipeClient]:
    """Yield a client of a proxy that no test harms."""
    with proxy(tmp_path_factory.mktemp("home")) as client:
        client.greet()
        yield client


def shown(message: Any) -> str:
    return str(message["result"]["content"][0]["text"])


def read_whole(client: PipeClient, id: str) -> str:
    """Return a stored text, read window by window."""
    parts: list[str] = []
    offset: int | None = 0
    while offset is not None:
        answer = client.call(offset + 10, "read_artifact", id=id, offset=offset, limit=50_000)["result"]
        parts.append(answer["content"][0]["text"].split(" ---\n", 1)[1].rsplit("\n--- end", 1)[0])
        offset = (answer["_meta"]["keyhole"]["next"] or {}).get("offset")
    return "".join(parts)


def test_lines_that_look_like_keyhole_s_are_read_back_as_they_are(shared: PipeClient) -> None:
    text = "\n".join(f"[…{number}:{number + 9}] line\n[… and\n--- end abcdefgh ---\n[end]" for number in range(900))
    result = {"content": [{"type": "text", "text": text}]}
    answer = shared.call(1, "raw", lines=[f'{{"jsonrpc":"2.0","id":ID,"result":{json.dumps(result)}}}'])
    assert read_whole(shared, shown(answer).rpartition('read_artifact(id="')[2][:16]) == text


def test_what_a_result_leaves_out_is_read_with_the_call_that_it_names(shared: PipeClient) -> None:
    text = shown(shared.call(1, "big", lines=3_000, about="step"))
    call = text.splitlines()[-2]
    assert call.startswith('Next: read_artifact(id="')
    id = call.split('"')[1]
    assert read_whole(shared, id) == log_lines(3_000)
    found = shared.call("q", "read_artifact", id=id, query="002999 the step")
    assert "002999 the step" in shown(found)
    assert shared.call("e", "read_artifact", id="nosuchid")["result"]["isError"]


def test_the_results_and_reads_of_a_conversation_are_recorded_as_one_session(tmp_path: Path) -> None:
    with proxy(tmp_path) as client:
        client.greet(name="codex-mcp-client", version="0.170")
        text = shown(client.call(1, "big", lines=3_000, about="step"))
        client.call(2, "read_artifact", id=text.rpartition('id="')[2][:16], offset=0, limit=500)
    stores = open_stores(Config(home=tmp_path))
    read, bounded = stores.calls_for(LOCAL).calls(9)
    assert (bounded.origin, bounded.tool, bounded.client) == ("proxy", "big", "codex-mcp-client 0.170")
    assert (read.tool, read.follows, read.relation, bounded.miss) == ("read_artifact", bounded.id, "read_on", "read_on")
    assert read.session == bounded.session
    record = stores.calls_for(LOCAL).get(bounded.id)
    assert record is not None
    assert record.result == text
    stores.close()


@pytest.mark.parametrize("variable", ["KEYHOLE_RECORD", "KEYHOLE_KEEP_OUTPUTS"])
def test_results_are_not_recorded_if_the_settings_say_so(tmp_path: Path, variable: str) -> None:
    with proxy(tmp_path, **{variable: "off"}) as client:
        client.greet()
        client.call(1, "big", lines=3_000)
    stores = open_stores(Config(home=tmp_path))
    assert stores.calls_for(LOCAL).calls(9) == ()
    stores.close()


def test_a_result_is_within_the_budget_of_its_client(tmp_path: Path) -> None:
    with proxy(tmp_path, "--tool", "small=20000") as client:
        client.greet(name="codex-mcp-client", version="0.170")
        client.call(1, "big")
        assert len(client.received[-1]) < 11_100


def test_one_tool_may_have_its_own_budget_and_others_are_left_alone(tmp_path: Path) -> None:
    with proxy(tmp_path, "--tool", "big=30000", "--except", "struct*") as client:
        client.greet()
        client.call(1, "big")
        assert 20_000 < len(client.received[-1]) < 30_100
        assert "structuredContent" in client.call(2, "structured")["result"]
        tools = client.request(3, "tools/list")["result"]["tools"]
        assert ["outputSchema" in tool for tool in tools] == [False, False, True, False]


def test_a_question_ranks_the_result_and_is_not_handed_on(shared: PipeClient) -> None:
    assert shown(shared.call(1, "small", keyhole_query="x", a=1)) == 'small {"a": 1}'
    assert "004321 the step" in shown(shared.call(2, "big", keyhole_query="004321"))


def test_a_notification_after_a_result_arrives_after_it_and_an_answer_may_overtake_both(shared: PipeClient) -> None:
    long = json.dumps({"content": [{"type": "text", "text": log_lines(40_000)}]})
    lines = [
        f'{{"jsonrpc":"2.0","id":ID,"result":{long}}}',
        '{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":"other","progress":1}}',
        '{"jsonrpc":"2.0","id":"ping","result":{}}',
        '{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}',
    ]
    shared.send(id="ping", method="tools/call", params={"name": "never"})
    shared.send(id="long", method="tools/call", params={"name": "raw", "arguments": {"lines": lines}})
    received = [shared.receive() for _ in lines]
    assert [each.get("id") or each["method"].rpartition("/")[2] for each in received] == [
        "ping", "long", "progress", "list_changed",
    ]  # fmt: skip
    assert "Next: read_artifact(" in shown(received[1])


def test_a_server_that_closes_its_stdin_is_ended_and_started_again(client: PipeClient) -> None:
    assert shown(client.call(1, "shut")) == "shut"
    assert client.call(2, "small")["error"]["data"]["code"] == "server_unavailable"
    client.receive_method("notifications/tools/list_changed")
    assert shown(client.call("after", "small")) == "small {}"


def test_a_list_of_tools_passes_page_by_page(tmp_path: Path) -> None:
    with proxy(tmp_path, ENDLESS="1") as client:
        client.greet()
        first = client.request(1, "tools/list")["result"]
        second = client.request(2, "tools/list", cursor=first["nextCursor"])["result"]
        assert [[tool["name"] for tool in page["tools"]] for page in (first, second)] == [["t0"], ["t1"]]
        assert second["nextCursor"] == "2"


def test_nothing_is_stored_where_the_settings_keep_nothing(tmp_path: Path) -> None:
    with proxy(tmp_path, KEYHOLE_KEEP_OUTPUTS="off") as client:
        client.greet()
        assert "read_artifact(" not in shown(client.call(1, "big"))


class TestFaults:
    def test_answers_come_in_the_order_of_the_server(self, client: PipeClient) -> None:
        for number in range(100):
            seconds = (number * 37 % 100) / 500
            client.send(id=number + 1, method="tools/call", params={"name": "late", "arguments": {"seconds": seconds}})
        answers = {message["id"]: shown(message) for message in (client.receive() for _ in range(100))}
        assert answers == {number + 1: str((number * 37 % 100) / 500) for number in range(100)}

    def test_noise_of_the_server_disturbs_no_caller(self, client: PipeClient) -> None:
        assert shown(client.call(1, "noise")) == "after the noise"

    def test_a_message_that_is_cut_off_is_an_error_to_its_caller_only(self, client: PipeClient) -> None:
        client.send(id=1, method="tools/call", params={"name": "late", "arguments": {"seconds": 0.05}})
        assert client.call(2, "half")["error"]["data"]["code"] == "server_fault"
        assert shown(client.answer_to(1)) == "0.05"

    def test_a_message_of_100_megabytes_is_an_error_to_its_caller_in_bounded_memory(self, client: PipeClient) -> None:
        answer = client.call(1, "huge", megabytes=100)
        assert answer["error"]["data"]["code"] == "server_fault"
        assert shown(client.call(2, "small")) == "small {}"
        peak = next(line for line in _status(client.process.pid).splitlines() if line.startswith("VmHWM"))
        assert int(peak.split()[1]) < 400_000

    def test_the_death_of_the_server_is_an_error_to_its_callers_and_it_is_started_again(
        self, client: PipeClient
    ) -> None:
        client.send(id=1, method="tools/call", params={"name": "never"})
        client.send(id=2, method="tools/call", params={"name": "die"})
        codes = {message["id"]: message["error"] for message in (client.receive(), client.receive())}
        assert {error["data"]["code"] for error in codes.values()} == {"server_unavailable"}
        assert "ended with exit status 3" in codes[1]["message"]
        assert client.call(3, "small")["error"]["data"]["retry"]
        assert client.receive()["method"] == "notifications/tools/list_changed"
        assert shown(client.call(4, "small")) == "small {}"

    def test_a_line_of_the_client_that_is_no_json_is_answered(self, client: PipeClient) -> None:
        client.send_line(b"hello")
        assert client.receive()["error"]["code"] == -32700
        assert shown(client.call(1, "small")) == "small {}"

    def test_a_server_that_cannot_be_started_is_named(self, tmp_path: Path) -> None:
        with proxy(tmp_path, server=["/no/such/program"]) as client:
            message = client.request(1, "initialize")["error"]["message"]
            assert message.startswith("server_unavailable: the server program cannot be started: No such file")

    @pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
    def test_a_signal_ends_the_proxy_and_its_server(self, client: PipeClient, number: int) -> None:
        os.kill(client.process.pid, number)
        assert client.process.wait(timeout=20) == 0


def test_a_proxy_that_is_killed_leaves_no_server_behind(tmp_path: Path) -> None:
    with proxy(tmp_path) as client:
        client.greet()
        children = Path(f"/proc/{client.process.pid}/task/{client.process.pid}/children").read_text().split()
        client.process.kill()
        client.process.wait()
        assert len(children) == 1
        wait_for(lambda: not Path(f"/proc/{children[0]}").exists())


def _status(pid: int) -> str:
    return Path(f"/proc/{pid}/status").read_text()


def test_the_environment_of_the_proxy_reaches_the_server(tmp_path: Path) -> None:
    with proxy(tmp_path, API_TOKEN="s3cret") as client:
        client.greet()
        assert shown(client.call(1, "env", name="API_TOKEN")) == "s3cret"
