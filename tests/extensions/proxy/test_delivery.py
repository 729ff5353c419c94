"""Messages of a server reach the client in order, and an answer that waits for nothing overtakes results."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

from keyhole.extensions.proxy.delivery import MAX_WAITING_BYTES, Delivery

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
