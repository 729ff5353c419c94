"""The session carries out the steps of the relay: whatever fails, each caller that waits gets one answer."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass, field
from threading import Event
from typing import Any

import pytest

from keyhole.config.config import Config
from keyhole.errors import Code, KeyholeError
from keyhole.extensions.proxy.bounding import Bounder
from keyhole.extensions.proxy.json_rpc import Message, MessageLine, response
from keyhole.extensions.proxy.proxy_relay import ClientVersion, ProxyRelay
from keyhole.extensions.proxy.proxy_session import (
    FIRST_DELAY,
    MAX_UNINDEXED,
    MAX_WAITING_BYTES,
    Delivery,
    Indexing,
    ProxySession,
)
from keyhole.extensions.proxy.rewrite import READER, Policy
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

    async def lines(self) -> AsyncIterator[MessageLine]:
        while (raw := await self.incoming.get()) is not None:
            message = json.loads(raw)
            if message["params"]["name"] == "die":
                return
            if message["params"]["name"] == "fail":
                raise RecursionError("deep")
            result = {"content": [{"type": "text", "text": TEXT}]}
            yield MessageLine(json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": result}).encode())

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

        async def received() -> MessageLine | None:
            if (raw := next(waiting, None)) is not None:
                return MessageLine(raw)
            await all_answered.wait()
            return None

        async def sleep(seconds: float) -> None:
            pauses.append(seconds)
            await asyncio.Event().wait() if seconds != FIRST_DELAY or pauses.count(seconds) > 1 else None

        bounder = Bounder(Config(), Policy(), open_store or (lambda: store), Clock())
        relay = ProxyRelay("one", Policy(), lambda: {"type": "object"})
        conversation = ProxySession(relay, server or FakeUpstream(), send, bounder, read, sleep)
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
    method = getattr(ProxyRelay, name)
    failures = iter([RecursionError("deep")])

    def fail_once(relay: ProxyRelay, *arguments: Any) -> Any:
        if failure := next(failures, None):
            raise failure
        return method(relay, *arguments)

    monkeypatch.setattr(ProxyRelay, name, fail_once)


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


# Delivery: messages reach the client in order, and an answer that waits for nothing overtakes results.

TOKEN = (str, "t")


def deliver(work: Callable[[Delivery], Awaitable[None]]) -> list[bytes]:
    sent: list[bytes] = []

    async def send(raw: bytes) -> None:
        sent.append(raw)

    asyncio.run(_run(work, send))
    return sent


async def _run(work: Callable[[Delivery], Awaitable[None]], send: Callable[[bytes], Awaitable[None]]) -> None:
    await work(Delivery(send))


def test_a_notification_follows_the_results_that_the_server_sent_before_it() -> None:
    async def work(delivery: Delivery) -> None:
        first, second = delivery.reserve(9, None), delivery.reserve(9, TOKEN)
        await delivery.add(b"changed", is_answer=False)
        await delivery.add(b"logged", is_answer=False)
        await delivery.fill(second, b"second")
        await delivery.fill(first, b"first")

    assert deliver(work) == [b"second", b"first", b"changed", b"logged"]


def test_an_answer_overtakes_results_and_the_progress_of_other_requests() -> None:
    async def work(delivery: Delivery) -> None:
        result = delivery.reserve(9, TOKEN)
        await delivery.add(b"progress", is_answer=False, token=(int, 1))
        await delivery.add(b"pong")
        await delivery.fill(result, b"result")

    assert deliver(work) == [b"pong", b"result", b"progress"]


def test_an_answer_follows_the_progress_of_its_request_and_notifications_that_may_belong_to_it() -> None:
    async def work(delivery: Delivery) -> None:
        result = delivery.reserve(9, None)
        await delivery.add(b"progress", is_answer=False, token=TOKEN)
        await delivery.add(b"its answer", token=TOKEN)
        await delivery.add(b"log", is_answer=False)
        await delivery.add(b"another answer", token=(int, 1))
        await delivery.fill(result, b"result")

    assert deliver(work) == [b"result", b"progress", b"its answer", b"log", b"another answer"]


def test_no_more_is_read_from_a_server_whose_results_wait() -> None:
    async def work(delivery: Delivery) -> None:
        result = delivery.reserve(MAX_WAITING_BYTES + 1, None)
        waiting = asyncio.create_task(delivery.wait_for_room())
        await asyncio.sleep(0)
        assert not waiting.done()
        await delivery.fill(result, b"result")
        await waiting

    assert deliver(work) == [b"result"]


# Indexing: after a pause, also under a steady load, and not after the end.


class Results:
    """Stored results that wait to be indexed, and the pauses that the indexing makes."""

    def __init__(self, count: int) -> None:
        self.count = count
        self.pauses: list[asyncio.Future[None]] = []
        self.done = Event()

    def index_oldest(self) -> bool:
        if self.count == 0:
            self.done.set()
            return False
        self.count -= 1
        return True

    async def sleep(self, _seconds: float) -> None:
        self.pauses.append(asyncio.get_running_loop().create_future())
        await self.pauses[-1]


async def started(results: Results, calls: int) -> Indexing:
    indexing = Indexing(results.index_oldest, results.sleep)
    for _ in range(calls):
        indexing.start_later()
        await asyncio.sleep(0)  # the task begins its pause
    return indexing


async def end_pause(results: Results) -> None:
    results.pauses[-1].set_result(None)
    await asyncio.to_thread(results.done.wait, 30)


def test_all_results_are_indexed_after_a_pause() -> None:
    async def run() -> int:
        results = Results(3)
        await started(results, 1)
        assert results.count == 3
        await end_pause(results)
        return results.count

    assert asyncio.run(run()) == 0


def test_each_further_result_begins_the_pause_again() -> None:
    async def run() -> list[bool]:
        results = Results(3)
        await started(results, 3)
        await asyncio.sleep(0)
        return [pause.cancelled() for pause in results.pauses]

    assert asyncio.run(run()) == [True, True, False]


def test_too_many_waiting_results_are_indexed_although_further_ones_arrive() -> None:
    async def run() -> int:
        results = Results(3)
        await started(results, MAX_UNINDEXED + 50)
        return len(results.pauses)

    assert asyncio.run(run()) == MAX_UNINDEXED


def test_nothing_is_indexed_after_the_end() -> None:
    async def run() -> int:
        results = Results(3)
        (await started(results, 1)).stop()
        await asyncio.sleep(0)
        assert results.pauses[0].cancelled()
        return results.count

    assert asyncio.run(run()) == 3
