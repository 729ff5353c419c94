"""Run the clients of the load test, and read back all acknowledged artifacts."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from random import Random
from typing import Final

from benchmarks.server.load_test.client import ERAS, Caller, Era, Reply
from benchmarks.server.load_test.results import Tally
from benchmarks.server.load_test.workload import (
    MAX_READ_CHARS,
    PENDING,
    Acknowledged,
    Call,
    World,
    acknowledged_artifacts,
    find_faults,
    is_timeout,
    is_undigested,
    page_text,
    plan_call,
)

BROKEN: Final = frozenset({0, 502, 504})
"""Statuses after the replica behind the proxy has died: 0 for a broken connection, or the proxy's error."""
TRIES: Final = 8
PENDING_TRIES: Final = 3
"""Attempts after the first for a page that was not read in time. Each takes up to the deadline of a call."""
BACKOFF: Final = 0.2
"""Seconds before the second attempt of a call whose connection broke; doubled each time up to BACK_OFF_LIMIT."""
BACK_OFF_LIMIT: Final = 2.0
LATE: Final = 1.0
"""Seconds after which a due call counts as late: its client was still waiting for the previous answer."""
READERS: Final = 12
"""Concurrent readers of artifacts."""
FOREIGN: Final = 300
"""Acknowledged artifacts that another tenant requests after the run."""
HANDSHAKES: Final = 4
"""Each client whose number is a multiple of this uses the handshake era."""


@dataclass(slots=True)
class Tenant:
    """A tenant and the artifacts acknowledged to its clients, by id."""

    name: str
    token: str
    artifacts: dict[str, Acknowledged] = field(default_factory=dict)
    order: list[Acknowledged] = field(default_factory=list)

    def record(self, artifacts: Sequence[Acknowledged]) -> None:
        """Record acknowledged artifacts."""
        for artifact in artifacts:
            if artifact.id not in self.artifacts:
                self.order.append(artifact)
            self.artifacts[artifact.id] = artifact


@dataclass(frozen=True, slots=True)
class Plan:
    """The clients of a run: their number, duration, rate, retries and random seed."""

    clients: int
    seconds: float
    rate: float
    patient: bool
    """Whether clients retry after a broken connection, which is necessary when replicas are killed."""
    seed: int


async def run_clients(url: str, world: World, tenants: Sequence[Tenant], plan: Plan) -> Tally:
    """Run all clients for the plan's duration; return their counts."""
    tally = Tally()
    start = time.monotonic() + 0.5
    clients = [_client(number, url, world, tenants, plan, tally, start) for number in range(plan.clients)]
    await asyncio.gather(*clients)
    return tally


async def _client(
    number: int, url: str, world: World, tenants: Sequence[Tenant], plan: Plan, tally: Tally, start: float
) -> None:
    random = Random(f"{plan.seed}:{number}")
    tenant = tenants[number % len(tenants)]
    others = [one for one in tenants if one is not tenant]
    era: Era = ERAS[number % HANDSHAKES == 0]
    caller = Caller(url, tenant.token, era)
    pause = plan.clients / plan.rate if plan.rate else 0.0
    due = start + (number / plan.rate if plan.rate else 0.0)
    try:
        while (now := max(due, time.monotonic())) < start + plan.seconds:
            await asyncio.sleep(max(0.0, due - time.monotonic()))
            tally.late += bool(pause) and now - due > LATE
            due += pause
            foreign = [random.choice(one.order).id for one in others if one.order]
            call = plan_call(random, world, tenant.order, foreign)
            reply = await _call_with_retries(caller, call, plan.patient, tally)
            tenant.record(_check_reply(call, reply, world, tally))
            tally.in_time += not reply.is_refused and time.monotonic() <= start + plan.seconds
            if reply.is_refused:
                await asyncio.sleep(min(reply.retry_after or 1.0, 5.0) * (0.5 + random.random()))
    finally:
        await caller.aclose()


def _check_reply(call: Call, reply: Reply, world: World, tally: Tally) -> list[Acknowledged]:
    found = find_faults(call, reply, world)
    tally.faults += [f"{call.kind}: {fault}" for fault in found]
    if reply.is_refused and not found:
        tally.refusals[f"{reply.status} {reply.code}"] += 1
        return []
    tally.out_of_time += is_timeout(call, reply)
    tally.undigested += call.kind != "fetch hostile" and is_undigested(reply)
    tally.add(call.kind, reply.outcome, reply.seconds)
    return acknowledged_artifacts(call, reply)


async def _call_with_retries(caller: Caller, call: Call, patient: bool, tally: Tally) -> Reply:
    """Make a call, and repeat it if its page was not read in time or, for a patient client, if its connection broke.

    The answer's time counts from the first attempt.
    """
    started = time.monotonic()
    reply = await caller.call(call.tool, call.arguments)
    for attempt in range(TRIES):
        is_broken = patient and reply.status in BROKEN
        is_pending = reply.outcome == PENDING and attempt < PENDING_TRIES
        if not (is_broken or is_pending):
            break
        tally.retried += is_broken
        tally.pending += is_pending
        await asyncio.sleep(min(BACK_OFF_LIMIT, BACKOFF * 2**attempt))
        reply = await caller.call(call.tool, call.arguments)
    return replace(reply, seconds=time.monotonic() - started)


# Reading back.


@dataclass(slots=True)
class ReadBack:
    """Results of reading artifacts back: how many are unchanged, and which are not."""

    whole: int = 0
    lost: list[str] = field(default_factory=list)
    wrong: list[str] = field(default_factory=list)
    foreign: list[str] = field(default_factory=list)


async def read_back(url: str, world: World, tenants: Sequence[Tenant]) -> ReadBack:
    """Read every acknowledged artifact and compare its text; then request some of them as another tenant."""
    found = ReadBack()
    # All readers take from the same two iterators, so that each artifact is read by one of them.
    queue = iter([(tenant, artifact) for tenant in tenants for artifact in tenant.artifacts.values()])
    strangers = iter(_strangers(tenants))

    async def reader() -> None:
        callers = {tenant.name: Caller(url, tenant.token) for tenant in tenants}
        try:
            for tenant, artifact in queue:
                await _compare(callers[tenant.name], artifact, world, found)
            for stranger, artifact in strangers:
                reply = await _read_with_retries(callers[stranger.name], {"id": artifact.id})
                if not (reply.is_error and reply.outcome == "unknown_artifact"):
                    found.foreign.append(f"{artifact.id}: {reply.outcome}")
        finally:
            for caller in callers.values():
                await caller.aclose()

    await asyncio.gather(*(reader() for _ in range(READERS)))
    return found


def _strangers(tenants: Sequence[Tenant]) -> list[tuple[Tenant, Acknowledged]]:
    each = FOREIGN // len(tenants) + 1 if len(tenants) > 1 else 0
    return [
        (tenants[(number + 1) % len(tenants)], artifact)
        for number, tenant in enumerate(tenants)
        for artifact in islice(tenant.artifacts.values(), each)
    ]


async def _compare(caller: Caller, artifact: Acknowledged, world: World, found: ReadBack) -> None:
    pieces, offset = [], 0
    while True:
        reply = await _read_with_retries(caller, {"id": artifact.id, "offset": offset, "limit": MAX_READ_CHARS})
        if reply.is_error or reply.code:
            found.lost.append(f"{artifact.id}: {reply.outcome}")
            return
        pieces.append(page_text(reply))
        following = reply.facts.get("next")
        read = sum(map(len, pieces))
        if not following and "Rest of the page" not in reply.text.rpartition("--- end ")[2]:
            break
        offset = following["offset"] if following else read  # the rest of the page follows its main part
    text = "".join(pieces)
    has_notice = bool(reply.facts.get("notice"))
    truth = world.text(artifact.url)
    if truth is not None and not has_notice and text != truth:
        found.wrong.append(f"{artifact.id} ({artifact.url})")
        return
    found.whole += 1


async def _read_with_retries(caller: Caller, arguments: dict[str, object]) -> Reply:
    """Read an artifact, and repeat the call while the server is too busy or restarting."""
    for attempt in range(TRIES):
        reply = await caller.call("read_artifact", arguments)
        if not reply.is_refused and reply.status not in BROKEN:
            break
        await asyncio.sleep(min(BACK_OFF_LIMIT, max(reply.retry_after, BACKOFF * 2**attempt)))
    return reply
