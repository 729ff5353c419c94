"""Admission with shared limits: scripted ones, and two real servers with one real PostgreSQL."""

from __future__ import annotations

import asyncio

from keyhole.config.config import Config
from keyhole.serve.http.limits.shared.calls import Verdict, open_shared_calls
from tests.support.admission import NEVER, as_tenant, modern, run_server
from tests.support.fakes import Clock
from tests.support.postgresql import Cluster


class ScriptedLimits:
    """Shared limits with scripted verdicts, which record the calls that began and ended."""

    def __init__(self, *verdicts: Verdict) -> None:
        self.verdicts = list(verdicts)
        self.started_by: list[str] = []
        self.ended: list[tuple[str, str]] = []
        self.closed = False

    async def begin(self, tenant: str) -> Verdict:
        self.started_by.append(tenant)
        return self.verdicts.pop(0)

    def end(self, tenant: str, lease: str) -> None:
        self.ended.append((tenant, lease))

    async def aclose(self) -> None:
        self.closed = True


def test_a_lease_is_released_once_however_the_call_ends() -> None:
    shared = ScriptedLimits(*(Verdict(lease=f"lease{n}") for n in range(2)), Verdict())

    async def main() -> None:
        async with run_server(shared) as server:
            body, headers = modern()
            await server.ask(body, as_tenant("a", headers))
            assert shared.ended == [("a", "lease0")]
            body, headers = modern(NEVER)
            _, writer = await server.open(body, as_tenant("b", headers))
            await server.wait_for_active(1)
            writer.transport.abort()
            await server.wait_for_active(0)
            assert shared.ended == [("a", "lease0"), ("b", "lease1")]
            assert (await server.ask(*modern())).status == 200

    asyncio.run(main())
    assert (shared.started_by, shared.ended[2:], shared.closed) == (["a", "b", ""], [], True)


def test_after_a_shared_refusal_a_server_refuses_without_the_database() -> None:
    shared = ScriptedLimits(Verdict("calls_per_minute", 2.5), Verdict(lease="x"), Verdict("calls_at_once"), Verdict())

    async def main() -> None:
        clock = Clock(1_000.0)
        async with run_server(shared, clock, calls_per_minute=60) as server:
            assert (await server.ask(*modern())).headers["retry-after"] == "3"
            assert (await server.ask(*modern())).headers["retry-after"] == "3"
            clock.advance(2)
            assert (await server.ask(*modern())).headers["retry-after"] == "1"
            assert len(shared.started_by) == 1
            clock.advance(0.5)
            assert (await server.ask(*modern())).status == 200
            clock.advance(1)
            assert (await server.ask(*modern())).json["error"]["data"]["error"] == "calls_at_once"
            assert (await server.ask(*modern())).status == 200  # since the refused call's token was refunded
            assert server.refused == ["calls_per_minute"] * 3 + ["calls_at_once"]

    asyncio.run(main())


def test_two_servers_share_limits_through_a_database_and_use_their_own_without_it(postgresql: Cluster) -> None:
    async def main() -> None:
        config = Config(store=postgresql.database(), calls_at_once=2)
        async with (
            run_server(open_shared_calls(config), calls_at_once=2) as one,
            run_server(open_shared_calls(config), calls_at_once=2) as two,
        ):
            body, headers = modern(NEVER)
            held = [await server.open(body, as_tenant("a", headers)) for server in (one, two)]
            for server in (one, two):
                await server.wait_for_active(1)
                await server.wait_for_fetches(1)
            body, headers = modern()
            assert (await one.ask(body, as_tenant("a", headers))).json["error"]["data"]["error"] == "calls_at_once"
            assert (await two.ask(body, as_tenant("b", headers))).status == 200
            await asyncio.to_thread(postgresql.stop)
            try:
                assert (await one.ask(body, as_tenant("a", headers))).status == 200
            finally:
                postgresql.start()  # from this thread: PostgreSQL ends with the thread that started it
            for _, writer in held:
                writer.close()

    asyncio.run(main())


def test_limits_are_shared_only_with_a_postgresql_store() -> None:
    for store in ("", "memory"):
        assert open_shared_calls(Config(store=store)) is None
