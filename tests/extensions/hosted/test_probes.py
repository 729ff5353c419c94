"""Probes of orchestrators: /healthz and /readyz."""

from __future__ import annotations

import asyncio
import gc
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import pytest

from keyhole.errors import Code, KeyholeError
from keyhole.extensions.hosted import probes
from keyhole.extensions.hosted.probes import DrainState, ProbesMiddleware, check_stores
from keyhole.serve.http.asgi import Message, Receive, Scope, Send
from keyhole.store.base import Store
from keyhole.store.calls.base import CallLog
from keyhole.store.sqlite.store import MemoryStore
from tests.support.fakes import Clock, MemoryCallLog, artifact
from tests.support.server_process import ServerProcess, get, server_process


class OneStore:
    """Stores whose tenants all share one store."""

    def __init__(self, store: Store, warning: str = "") -> None:
        self._store = store
        self._warning = warning

    def for_tenant(self, tenant: str) -> tuple[Store, bytes]:
        return self._store, b""

    def calls_for(self, tenant: str) -> CallLog:
        return MemoryCallLog(Clock(), 86_400.0)

    def remove_files(self, tenant: str, *, everything: bool) -> int:
        return 0

    def all_tenants(self, names: Iterable[str]) -> Iterator[tuple[str, Store, CallLog]]:
        return iter(())

    def warning(self) -> str:
        return self._warning

    def close(self) -> None:
        return


class Failing(MemoryStore):
    def remembers(self, key: bytes) -> bool:
        raise KeyholeError(Code.STORE_UNAVAILABLE, "the disk is gone")


async def application(scope: Scope, receive: Receive, send: Send) -> None:
    await send({"type": "http.response.start", "status": 418, "headers": []})
    await send({"type": "http.response.body", "body": b"under"})


async def probe(middleware: ProbesMiddleware, path: str, method: str = "GET") -> tuple[int, bytes]:
    sent: list[Message] = []

    async def send(message: Message) -> None:
        sent.append(message)

    async def receive() -> Message:
        return {"type": "http.disconnect"}

    await middleware({"type": "http", "method": method, "path": path, "headers": []}, receive, send)
    return sent[0]["status"], sent[1]["body"]


def test_probes_of_a_working_server_succeed_for_any_host(tmp_path: Path) -> None:
    def statuses(served: ServerProcess) -> list[tuple[int, str]]:
        return [get(served.port, path, Host=host) for path in ("/healthz", "/readyz") for host in ("10.0.0.7", "x.y")]

    with server_process(tmp_path) as served:
        assert statuses(served) == [(200, '{"status": "ok"}')] * 2 + [(200, '{"status": "ready"}')] * 2
        assert get(served.port, "/mcp", Host="x.y", Accept="text/event-stream")[0] != 200


def test_a_draining_server_is_alive_and_not_ready() -> None:
    async def run() -> list[tuple[int, bytes]]:
        draining = DrainState()
        middleware = ProbesMiddleware(application, draining, ready)
        before = await probe(middleware, "/readyz")
        draining.start()
        return [before, await probe(middleware, "/readyz"), await probe(middleware, "/healthz", "HEAD")]

    assert asyncio.run(run()) == [
        (200, b'{"status": "ready"}'),
        (503, b'{"status": "draining"}'),
        (200, b'{"status": "ok"}'),
    ]


async def ready() -> str:
    return probes.READY


def test_the_store_is_checked_once_a_second_however_many_probes_come() -> None:
    checks: list[str] = []
    clock = Clock()

    async def check() -> str:
        checks.append("checked")
        await asyncio.sleep(0)
        return probes.READY if len(checks) == 1 else probes.UNAVAILABLE

    async def run() -> list[int]:
        middleware = ProbesMiddleware(application, DrainState(), check, clock)
        first = await asyncio.gather(*(probe(middleware, "/readyz") for _ in range(50)))
        clock.advance(probes.CACHE_SECONDS)
        return [*(status for status, _ in first), (await probe(middleware, "/readyz"))[0]]

    assert asyncio.run(run()) == [200] * 50 + [503]
    assert len(checks) == 2


def test_a_hanging_store_is_checked_once_and_holds_one_thread(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(probes, "CHECK_TIMEOUT", 0.01)
    checks: list[str] = []
    clock = Clock()

    async def run() -> list[Any]:
        answer = asyncio.Event()

        async def check() -> str:
            checks.append("checked")
            await answer.wait()
            return probes.READY

        middleware = ProbesMiddleware(application, DrainState(), check, clock)
        found = [await probe(middleware, "/readyz")]
        clock.advance(probes.CACHE_SECONDS)
        found.append(await probe(middleware, "/readyz"))
        answer.set()
        clock.advance(probes.CACHE_SECONDS)
        return [*found, await probe(middleware, "/readyz")]

    assert [status for status, _ in asyncio.run(run())] == [503, 503, 200]
    assert len(checks) == 1


@pytest.mark.parametrize(
    ("stores", "in_memory", "status"),
    [
        (OneStore(MemoryStore(Clock())), False, probes.READY),
        (OneStore(MemoryStore(Clock()), "kept_in_memory"), False, probes.UNAVAILABLE),
        (OneStore(MemoryStore(Clock()), "kept_in_memory"), True, probes.READY),
        (OneStore(MemoryStore(Clock()), "store_replaced"), False, probes.READY),
    ],
)
def test_a_store_is_ready_if_it_answers_and_persists(stores: OneStore, in_memory: bool, status: str) -> None:
    stores.for_tenant("")[0].put(artifact(), "word")
    assert check_stores(stores, in_memory) == status


def test_a_check_that_fails_after_its_timeout_is_not_logged(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(probes, "CHECK_TIMEOUT", 0)

    async def run() -> tuple[int, bytes]:
        go_on = asyncio.Event()

        async def check() -> str:
            await go_on.wait()
            raise KeyholeError(Code.STORE_UNAVAILABLE, "no connection after two seconds")

        answer = await probe(ProbesMiddleware(application, DrainState(), check), "/readyz")
        go_on.set()
        await asyncio.sleep(0)
        return answer

    assert asyncio.run(run())[0] == 503
    gc.collect()
    assert "never retrieved" not in caplog.text


def test_a_store_that_fails_is_not_ready() -> None:
    async def check() -> str:
        return check_stores(OneStore(Failing(Clock())), False)

    async def run() -> tuple[int, bytes]:
        return await probe(ProbesMiddleware(application, DrainState(), check), "/readyz")

    assert asyncio.run(run()) == (503, b'{"status": "store_unavailable"}')


@pytest.mark.parametrize(("path", "method"), [("/", "GET"), ("/healthz/", "GET"), ("/readyz", "POST")])
def test_other_requests_are_passed_on(path: str, method: str) -> None:
    async def run() -> tuple[int, bytes]:
        return await probe(ProbesMiddleware(application, DrainState(), ready), path, method)

    assert asyncio.run(run()) == (418, b"under")
