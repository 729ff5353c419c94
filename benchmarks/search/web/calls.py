"""Call the search tool of a server, and judge the results."""

from __future__ import annotations

import asyncio
import re
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Any, Final
from urllib.parse import urlsplit

from mcp import Client

from benchmarks.search.web.corpus import Question, normalize_text
from benchmarks.search.web.server import CANARY, FORGED
from benchmarks.search.web.sites import Place, choose_pace

PATIENCE: Final = 90.0
"""Seconds after which a call counts as hanging: twice the longest deadline."""

_SOURCE = re.compile(r"^\[\d+\] (\S+)(?!.*\(not read)", re.MULTILINE)
"""The line of a source whose page was read."""
_FRAMED = re.compile(r"^--- untrusted text (\w+) ---$.*?^--- end \1 ---$", re.MULTILINE | re.DOTALL)


@dataclass(frozen=True, slots=True)
class Outcome:
    """The result of one search call."""

    question: Question
    text: str
    seconds: float
    is_error: bool
    places: tuple[Place, ...] = ()
    """The pages that the call read."""

    @property
    def size(self) -> int:
        """Characters of the result, which `max_chars` counts."""
        return len(self.text)

    @property
    def has_answer(self) -> bool:
        """True if the result contains every part of the answer."""
        text = normalize_text(self.text)
        parts = [words for _, words in self.question.answers]
        return not self.is_error and all(any(normalize_text(each) in text for each in words) for words in parts)

    @property
    def has_pages(self) -> bool:
        """True if every page of the answer, or a copy of it, was read."""
        return {page for page, _ in self.question.answers} <= {place.page.id for place in self.places}

    @property
    def is_harmed(self) -> bool:
        """True if the result shows hidden text, or has a forged boundary outside its real boundaries."""
        outside = _FRAMED.sub("", self.text)
        return CANARY in self.text or FORGED in outside or "The real answer" in outside

    def slowest(self, answering: frozenset[str] | None) -> float:
        """Return the delay in seconds of the slowest page that the call read.

        `answering`: as for `choose_pace` in slow mode, None in normal mode.
        """
        delays = (
            place.slow_delay if answering is not None and choose_pace(place, answering) else place.delay
            for place in self.places
        )
        return max(delays, default=0.0)


async def call_search(client: Client, table: dict[str, Place], question: Question, **arguments: Any) -> Outcome:
    """Call the search tool with a question."""
    started = time.perf_counter()
    async with asyncio.timeout(PATIENCE):
        result = await client.call_tool("search", {"query": question.text, **arguments})
    seconds = time.perf_counter() - started
    text = "".join(getattr(block, "text", "") for block in result.content)
    urls = _SOURCE.findall(_FRAMED.sub("", text))
    places = filter(None, find_places([{"url": url} for url in urls], table))
    return Outcome(question, text, seconds, bool(result.is_error), tuple(places))


def find_places(rows: Sequence[dict[str, Any]], table: dict[str, Place]) -> list[Place | None]:
    """Return the place at the `url` of each row, None for a URL that serves no page of the corpus."""
    parts = (urlsplit(str(row["url"])) for row in rows)
    return [table.get(f"{part.hostname}{part.path}") for part in parts]


async def run_questions(
    call: Callable[[Question], Awaitable[Outcome]], questions: Sequence[Question], concurrency: int
) -> list[Outcome]:
    """Ask every question, `concurrency` at a time, and return the outcomes in the order of the questions."""
    slots = asyncio.Semaphore(concurrency)

    async def limited_call(question: Question) -> Outcome:
        async with slots:
            return await call(question)

    return list(await asyncio.gather(*map(limited_call, questions)))
