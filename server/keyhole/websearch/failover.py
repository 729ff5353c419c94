"""Failover between several instances of one engine."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Sequence

from keyhole.errors import Code, KeyholeError
from keyhole.records import Hit, SearchRequest
from keyhole.websearch.base import Engine
from keyhole.websearch.breaker import Breakers, describe_fault, retry_after_seconds
from keyhole.websearch.hits import NotedHits

Instance = tuple[str, Engine]
"""An instance's label in reports, and the instance."""


class Failover:
    """An engine with several instances, most preferred first.

    Resting instances are not skipped, but queried after all the others. The caller decides whether the engine rests.
    """

    def __init__(
        self, name: str, instances: Sequence[Instance], timeout: float, ticks: Callable[[], float] = time.monotonic
    ) -> None:
        """`timeout`: seconds for all instances together; each gets an equal share."""
        self._name = name
        self._instances = tuple(instances)
        self._share = timeout / len(instances)
        self._breakers = Breakers(ticks)

    @property
    def name(self) -> str:
        """The engine's name, whichever instance answers."""
        return self._name

    @property
    def supported_filters(self) -> frozenset[str]:
        """The filters that every instance applies."""
        return frozenset.intersection(*(engine.supported_filters for _, engine in self._instances))

    async def search(self, request: SearchRequest) -> tuple[Hit, ...]:
        """Return the hits of the first instance that answers, with a note on those that failed before it.

        Raises KeyholeError if all instances failed: the first error if all codes are equal, otherwise
        engine_unavailable with every fault.
        """
        failures: list[tuple[str, KeyholeError]] = []
        for label, engine in sorted(self._instances, key=lambda instance: bool(self._breakers.open_fault(instance[0]))):
            is_last = len(failures) == len(self._instances) - 1
            try:
                hits = await self._search(label, engine, request, None if is_last else self._share)
            except KeyholeError as error:
                failures.append((label, error))
                continue
            notes = [_describe_failures(failures), str(getattr(hits, "note", ""))]
            return NotedHits.with_note(hits, "; ".join(note for note in notes if note))
        codes = {error.code for _, error in failures}
        if len(codes) == 1 and Code.ENGINE_UNAVAILABLE not in codes:
            raise failures[0][1]
        raise KeyholeError(Code.ENGINE_UNAVAILABLE, _describe_failures(failures))

    async def _search(
        self, label: str, engine: Engine, request: SearchRequest, seconds: float | None
    ) -> tuple[Hit, ...]:
        """Return the hits of one instance within `seconds`, and record the outcome in its breaker."""
        self._breakers.begin_call(label)
        try:
            async with asyncio.timeout(seconds):
                hits = await engine.search(request)
        except TimeoutError as error:
            self._breakers.record_failure(label, "timeout")
            raise KeyholeError(Code.TIMEOUT, "the instance did not answer in time") from error
        except KeyholeError as error:
            self._breakers.record_failure(label, describe_fault(error), retry_after_seconds(error))
            raise
        except asyncio.CancelledError:
            # The time of the engine or the call ran out while this instance was queried. After a few such failures the
            # instance rests, and calls begin with another instance.
            self._breakers.record_failure(label, "timeout")
            raise
        self._breakers.record_success(label)
        return hits


def _describe_failures(failures: Sequence[tuple[str, KeyholeError]]) -> str:
    return ", ".join(f"{label} {describe_fault(error)}" for label, error in failures)
