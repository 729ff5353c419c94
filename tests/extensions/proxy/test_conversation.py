"""A conversation carries out the steps of the relay: whatever fails, each caller that waits gets one answer."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from typing import Any

import pytest

from keyhole.config.config import Config
from keyhole.errors import Code, KeyholeError
from keyhole.extensions.proxy.bounding import Bounder
from keyhole.extensions.proxy.conversation import FIRST_DELAY, Conversation
from keyhole.extensions.proxy.lines import Line
from keyhole.extensions.proxy.messages import Message, response
from keyhole.extensions.proxy.relay import Relay
from keyhole.extensions.proxy.rewrite import READER, Policy
from keyhole.extensions.proxy.steps import ClientVersion
from keyhole.store.base import Store
from keyhole.store.sqlite.store import MemoryStore
from tests.support.fakes import Clock

TEXT = "".join(f"line {number} of the log says that all is well\n" for number in range(2_000))


def call(id: int, name: str) -> bytes:
    params = {"name": name, "arguments": {"id": "a1"}}
    return json.dumps({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params}).encode()


@dataclass
class FakeUpstream:
    """A server that answers each call with `TEXT`, as often as it is started. A call of `die` ends it.

    Reading its answer to `fail` fails.
    """

    starts: int = 0
    takes: bool = True
    incoming: asyncio.Queue[bytes | None] = field(default_factory=asyncio.Queue)

    async def start(self) -> None:
        self.starts += 1

    def send(self, raw: bytes) -> bool:
        if self.takes:
            self.incoming.put_nowait(raw)
        return self.takes

    async def lines(self) -> AsyncIterator[Line]:
        while (raw := await self.incoming.get()) is not None:
            message = json.loads(raw)
            if message["params"]["name"] == "die":
                return
            if message["params"]["name"] == "fail":
                raise RecursionError("deep")
            result = {"content": [{"type": "text", "text": TEXT}]}
            yield Line(json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": result}).encode())

    async def finish(self) -> None:
        self.incoming.put_nowait(None)

    async def stop(self) -> str:
        return "ended"


async def read_stored(request: Message, client: ClientVersion, reader: str) -> Message:
    return response(request.data["id"], {"content": [], "_meta": {"reader": reader, "client": client.name}})


def converse(
    *sent: bytes, server: FakeUpstream | None = None, open_store: Any = None, read: Any = read_stored
) -> tuple[dict[int, Any], list[float]]:
    """Send messages, wait for as many answers, and return them by id, and the pauses that the conversation made."""
    store = MemoryStore(Clock()), b"secret"
    pauses: list[float] = []

    async def run() -> dict[int, Any]:
        answers: dict[int, Any] = {}
        all_answered = asyncio.Event()
        waiting = iter(sent)

        async def send(raw: bytes) -> None:
            message = json.loads(raw)
            assert message["id"] not in answers, "answered twice"
            answers[message["id"]] = message
            if len(answers) == len(sent):
                all_answered.set()

        async def received() -> Line | None:
            if (raw := next(waiting, None)) is not None:
                return Line(raw)
            await all_answered.wait()
            return None

        async def sleep(seconds: float) -> None:
            pauses.append(seconds)
            await asyncio.Event().wait() if seconds != FIRST_DELAY or pauses.count(seconds) > 1 else None

        bounder = Bounder(Config(), Policy(), open_store or (lambda: store), Clock())
        relay = Relay("one", Policy(), lambda: {"type": "object"})
        conversation = Conversation(relay, server or FakeUpstream(), send, bounder, read, sleep)
        await asyncio.wait_for(conversation.run(received), 10)
        return answers

    return asyncio.run(run()), pauses


def test_a_long_result_is_bounded_and_a_stored_text_is_read() -> None:
    answers, _ = converse(call(1, "log"), call(2, READER))
    text = answers[1]["result"]["content"][0]["text"]
    assert len(text) < len(TEXT)
    assert f"Next: {READER}(" in text
    assert answers[2]["result"]["_meta"]["reader"] == READER


def test_without_its_store_a_result_is_bounded_and_names_no_call() -> None:
    def fail() -> tuple[Store, bytes]:
        raise KeyholeError(Code.STORE_UNAVAILABLE, "the folder cannot be written")

    answers, _ = converse(call(1, "log"), open_store=fail)
    assert READER not in answers[1]["result"]["content"][0]["text"]


@pytest.mark.parametrize(
    ("error", "code"),
    [(KeyholeError(Code.STORE_UNAVAILABLE, "the disk is full"), "store_unavailable"), (OSError("x"), "internal_error")],
)
def test_a_failure_of_keyhole_itself_is_an_answer(error: Exception, code: str) -> None:
    async def fail(request: Message, client: ClientVersion, reader: str) -> Message:
        raise error

    def cannot_open() -> tuple[Store, bytes]:
        raise OSError("no such folder")

    answers, _ = converse(call(1, READER), call(2, "log"), read=fail, open_store=cannot_open)
    assert answers[1]["error"]["data"]["code"] == code
    assert answers[2]["error"]["data"]["code"] == "internal_error"


def test_a_server_that_ends_is_started_again_and_its_callers_are_answered() -> None:
    server = FakeUpstream()
    answers, pauses = converse(call(1, "die"), server=server)
    assert answers[1]["error"]["data"]["code"] == "server_unavailable"
    assert pauses == [FIRST_DELAY]


def test_a_call_that_a_server_does_not_take_is_an_error() -> None:
    answers, _ = converse(call(1, "log"), server=FakeUpstream(takes=False))
    assert answers[1]["error"]["data"]["code"] == "server_unavailable"


def fail_on(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the relay fail on the first message of one side, as no known message makes it fail."""
    method = getattr(Relay, name)
    failures = iter([RecursionError("deep")])

    def fail_once(relay: Relay, *arguments: Any) -> Any:
        if failure := next(failures, None):
            raise failure
        return method(relay, *arguments)

    monkeypatch.setattr(Relay, name, fail_once)


def test_a_message_of_the_client_on_which_keyhole_fails_is_an_error_and_the_next_one_is_relayed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    fail_on("from_client", monkeypatch)
    answers, _ = converse(call(1, "log"), call(2, "log"))
    assert answers[1]["error"]["data"]["code"] == "invalid_argument"
    assert "result" in answers[2]


def test_a_message_of_a_server_on_which_keyhole_fails_is_an_error_and_the_next_one_is_relayed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    fail_on("from_server", monkeypatch)
    server = FakeUpstream()
    answers, _ = converse(call(1, "log"), call(2, "log"), server=server)
    assert answers[1]["error"]["data"]["code"] == "server_fault"
    assert "result" in answers[2]
    assert server.starts == 1


def test_a_server_whose_reading_fails_is_started_again_and_its_callers_are_answered() -> None:
    answers, pauses = converse(call(1, "fail"))
    assert answers[1]["error"]["data"]["code"] == "server_unavailable"
    assert "could not be read: RecursionError" in answers[1]["error"]["message"]
    assert pauses == [FIRST_DELAY]
