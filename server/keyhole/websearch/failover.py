"""One engine in several places: the first that is well is asked, and the next where it fails. Knows no engine."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Sequence

from keyhole.errors import Code, KeyholeError
from keyhole.records import Hit, SearchRequest
from keyhole.websearch.base import Engine, Hits
from keyhole.websearch.breaker import Breakers
from keyhole.websearch.outcome import fault, retry_after

Place = tuple[str, Engine]
"""What an instance is called in a report, and the instance."""


class Failover:
    """Instances of one engine, most preferred first. One that rests is asked after all the others, not left out:
    whether the engine as a whole rests is its caller's to know."""

    def __init__(
        self, name: str, places: Sequence[Place], timeout: float, ticks: Callable[[], float] = time.monotonic
    ) -> None:
        """`timeout`: seconds for all of them; each has an even share, so that there is time for the next."""
        self._name = name
        self._places = tuple(places)
        self._share = timeout / len(places)
        self._breakers = Breakers(ticks)

    @property
    def name(self) -> str:
        """The engine's name, whichever instance answers."""
        return self._name

    @property
    def applies(self) -> frozenset[str]:
        """What every instance applies."""
        return frozenset.intersection(*(engine.applies for _, engine in self._places))

    async def search(self, request: SearchRequest) -> tuple[Hit, ...]:
        """The first instance's answer that is one; which failed before it is remarked.

        Raises KeyholeError: as the instance where all failed alike, else engine_unavailable with every fault.
        """
        failures: list[tuple[str, KeyholeError]] = []
        for label, engine in sorted(self._places, key=lambda place: bool(self._breakers.resting(place[0]))):
            last = len(failures) == len(self._places) - 1
            try:
                hits = await self._ask(label, engine, request, None if last else self._share)
            except KeyholeError as error:
                failures.append((label, error))
                continue
            remarks = [_told(failures), str(getattr(hits, "note", ""))]
            return Hits.noted(hits, "; ".join(remark for remark in remarks if remark))
        codes = {error.code for _, error in failures}
        if len(codes) == 1 and Code.ENGINE_UNAVAILABLE not in codes:
            raise failures[0][1]
        raise KeyholeError(Code.ENGINE_UNAVAILABLE, _told(failures))

    async def _ask(self, label: str, engine: Engine, request: SearchRequest, seconds: float | None) -> tuple[Hit, ...]:
        """One instance's answer within its share of the time, and its breaker told how it went."""
        self._breakers.asked(label)
        try:
            async with asyncio.timeout(seconds):
                hits = await engine.search(request)
        except TimeoutError as error:
            self._breakers.failed(label, "timeout")
            raise KeyholeError(Code.TIMEOUT, "the instance did not answer in time") from error
        except KeyholeError as error:
            self._breakers.failed(label, fault(error), retry_after(error))
            raise
        except asyncio.CancelledError:
            # The time of the whole engine ran out here, or the call did: either way the next call begins elsewhere
            # once that has happened a few times.
            self._breakers.failed(label, "timeout")
            raise
        self._breakers.answered(label)
        return hits


def _told(failures: Sequence[tuple[str, KeyholeError]]) -> str:
    return ", ".join(f"{label} {fault(error)}" for label, error in failures)
