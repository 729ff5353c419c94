"""Asks the engines, all at once and each within its time, and reports on every one. No engine here."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from keyhole.errors import Code, KeyholeError
from keyhole.records import EngineReport, Hit, SearchRequest
from keyhole.websearch.base import Engine

ENGINE_TIMEOUT: Final = 15.0
"""Seconds for one engine: less than half of a search's deadline, so that pages can still be read."""


@dataclass(frozen=True, slots=True)
class Found:
    """One list of hits for each engine and phrasing that was answered, best first, and a report on each engine."""

    lists: tuple[tuple[Hit, ...], ...]
    reports: tuple[EngineReport, ...]


class Panel:
    """The engines of one server."""

    def __init__(self, engines: Sequence[Engine]) -> None:
        self._engines = tuple(engines)

    async def ask(self, requests: Sequence[SearchRequest]) -> Found:
        """What the engines find for the phrasings of one question, which share their filters.

        Raises KeyholeError: engine_unavailable, with every fault, when no engine gave an answer.
        """
        if not self._engines:
            raise KeyholeError(Code.ENGINE_UNAVAILABLE, "no search engine is configured")
        answers = await asyncio.gather(*(_asked(engine, requests) for engine in self._engines))
        reports = tuple(report for _, report in answers)
        if all(report.fault for report in reports):
            faults = "; ".join(f"{report.name}: {report.fault}" for report in reports)
            raise KeyholeError(Code.ENGINE_UNAVAILABLE, faults)
        return Found(tuple(hits for lists, _ in answers for hits in lists), reports)


async def _asked(engine: Engine, requests: Sequence[SearchRequest]) -> tuple[list[tuple[Hit, ...]], EngineReport]:
    """An engine's hits for every phrasing; where it fails at one, what it gave for others counts."""
    answers = await asyncio.gather(*(_ask(engine, request) for request in requests))
    lists = [hits for hits, _ in answers if hits]
    fault = "" if lists else next((fault for _, fault in answers if fault), "")
    return lists, EngineReport(engine.name, fault)


async def _ask(engine: Engine, request: SearchRequest) -> tuple[tuple[Hit, ...], str]:
    try:
        async with asyncio.timeout(ENGINE_TIMEOUT):
            return await engine.search(request), ""
    except KeyholeError as error:
        return (), f"{error.code} ({error.message})" if error.code is Code.ENGINE_UNAVAILABLE else str(error.code)
    except TimeoutError:
        return (), str(Code.TIMEOUT)
