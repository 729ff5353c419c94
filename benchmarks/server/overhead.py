"""What a call costs besides the network and the reading of a page, in one process over a real SQLite store.

    python -m benchmarks.server.overhead [--calls 200] [--home FOLDER] [--profile CASE]

The network gives its page and the reader its document at once, so that what is left is Keyhole's own: arguments, the
store, choosing what is shown, wording, the bound, and the result as the protocol writes it, through the same function
that the server calls. Each call of a fresh page has a URL and a text of its own. Times are of whole calls; a stage's
is the sum of what its functions took in all threads, also of those that ran at the same time. What no stage has is the
event loop, threads and the garbage collector. `of a core` is for how long the whole call, without the ranking, kept a
core at work: on a busy machine or a slow disk that is what to compare. To choose the passages of a page for a query is
work and not overhead: it stands in a column of its own, and the overhead is the call without it.
"""

from __future__ import annotations

import argparse
import asyncio
import cProfile
import functools
import itertools
import json
import pstats
import random
import statistics
import sys
import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

from mcp import Client

from keyhole.budget.fit import result_json
from keyhole.config.config import Config
from keyhole.extract.workers.digest import words_of
from keyhole.fetch.base import ANY, ApiCall, ApiReply, Terms
from keyhole.records import Document, Page
from keyhole.retrieval.dispatch import dispatch
from keyhole.retrieval.progress import silent
from keyhole.retrieval.retrieve import Retrieval
from keyhole.serve.tools import build_server
from keyhole.store.base import LOCAL
from keyhole.store.open import open_stores
from keyhole.websearch.panel import Panel

WANTED: Final = 3.0
"""Milliseconds of overhead that half of the calls of every case may take."""
SMALL: Final = 4_000
PAGE: Final = 100_000
LONG: Final = 10_000_000
QUERY: Final = "how fast does the pump in the cellar run"
RANKING: Final = "ranking"
STAGES: Final = {
    "arguments": ("keyhole.retrieval.dispatch.parse_arguments",),
    RANKING: ("keyhole.passages.select",),
    "words": ("keyhole.render.answer.page", "keyhole.render.answer.reading", "keyhole.retrieval.retrieve.header_lines"),
    "bound": ("keyhole.budget.fit.answer_size", "keyhole.budget.fit._lean"),
    "links": ("keyhole.retrieval.pages.keys_of",),
    "identity": (
        "keyhole.retrieval.pages.artifact_id",
        "keyhole.retrieval.pages.follow",
        "keyhole.retrieval.pages.artifact_of",
    ),
    "result": ("benchmarks.server.overhead.written",),
}
"""Functions by stage, by where they are looked up. The store's methods are the stage `store`."""


@dataclass(slots=True)
class Clockwork:
    """How long each stage has taken in all, and for how much of it a core was at work."""

    spent: dict[str, float] = field(default_factory=lambda: defaultdict(float))
    worked: dict[str, float] = field(default_factory=lambda: defaultdict(float))

    def timed(self, stage: str, function: Callable[..., Any]) -> Callable[..., Any]:
        """The function, with its time added to a stage."""

        @functools.wraps(function)
        def run(*arguments: Any, **named: Any) -> Any:
            start, work = time.perf_counter(), time.thread_time()
            try:
                return function(*arguments, **named)
            finally:
                self.spent[stage] += time.perf_counter() - start
                self.worked[stage] += time.thread_time() - work

        return run

    @contextmanager
    def wound(self) -> Iterator[None]:
        """The timed functions in the places of the others."""
        with ExitStack() as undo:
            for stage, names in STAGES.items():
                for name in names:
                    module, _, attribute = name.rpartition(".")
                    place = sys.modules[__name__] if module == "overhead" else import_module(module)
                    function = getattr(place, attribute)
                    undo.callback(setattr, place, attribute, function)
                    setattr(place, attribute, self.timed(stage, function))
            yield


class TimedStore:
    """A store whose every method is timed."""

    def __init__(self, store: Any, clockwork: Clockwork) -> None:
        self._store = store
        self._clockwork = clockwork

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._store, name)
        return self._clockwork.timed("store", found) if callable(found) else found


class Instant:
    """A network and a reader of pages that answer at once; texts are made before a call is timed."""

    def __init__(self) -> None:
        self.documents: dict[str, tuple[Document, str]] = {}

    async def fetch(self, url: str, terms: Terms = ANY) -> Page:  # noqa: ARG002 - the port's signature
        return Page(url, url, 200, "text/html", b"", time.time())

    async def ask(self, call: ApiCall) -> ApiReply:
        raise NotImplementedError

    def warm(self) -> None:
        pass

    async def extract(self, page: Page, until: float | None = None) -> tuple[Document, str]:  # noqa: ARG002 - the same
        return self.documents.pop(page.url)

    async def aclose(self) -> None:
        pass


def text_of(seed: int, size: int) -> str:
    """Prose of some thousand different words under headings, with links, which is the same for the same seed."""
    chance = random.Random(seed)
    words = [f"{chance.choice('bcdfglmnprst')}{chance.choice('aeiou')}{n}" for n in range(3_000)]
    words += QUERY.split() * 3
    parts: list[str] = []
    length = 0
    while length < size:
        sentence = " ".join(chance.choices(words, k=chance.randint(6, 24))).capitalize() + ". "
        link = f"[{chance.choice(words)}](https://site{seed}.example/{len(parts)}) " if len(parts) % 5 == 0 else ""
        heading = f"\n\n## Part {len(parts)}\n\n" if len(parts) % 12 == 0 else ""
        parts.append(heading + link + sentence)
        length += len(parts[-1])
    return "".join(parts)[:size]


def named(size: int) -> str:
    """So many characters, for a table."""
    return f"{size // 1_000_000} MB" if size >= 1_000_000 else f"{size // 1_000} KB"


def written(answer: Any) -> bytes:
    """A result as the protocol writes it."""
    return json.dumps(result_json(answer), ensure_ascii=False).encode()


@dataclass(frozen=True, slots=True)
class Case:
    """One kind of call: `given` makes the arguments of call number n, and what it needs, before it is timed."""

    name: str
    tool: str
    given: Callable[[int], dict[str, Any]]


@dataclass(frozen=True, slots=True)
class Measured:
    """Milliseconds of one call: as the clock has it, of a core's work without ranking, and by stage."""

    total: float
    work: float
    stages: dict[str, float]


class Bench:
    """The product over a store in a folder, and the cases."""

    def __init__(self, home: Path, clockwork: Clockwork) -> None:
        self.stores = open_stores(Config(home=home))
        store, secret = self.stores.of(LOCAL)
        self.instant, timed = Instant(), TimedStore(store, clockwork)
        self.product = Retrieval(
            Config(home=home),
            self.instant,
            timed,
            Panel([]),
            secret,
            time.time,
            self.instant,
        )
        self._pages = itertools.count(100)

    def cases(self) -> list[Case]:
        """All of them; pages that are fetched again are fetched here once."""
        again = self._page("https://again.example/", 1, PAGE)
        long = self._fetched(self._page("https://long.example/", 2, LONG))
        self._fetched(again)
        chance = random.Random(3)
        return [
            Case(f"fetch, {named(SMALL)}", "web_fetch", lambda _: {"url": self._fresh(SMALL)}),
            Case(f"fetch, {named(PAGE)}", "web_fetch", lambda _: {"url": self._fresh(PAGE)}),
            Case(f"fetch, {named(PAGE)}, query", "web_fetch", lambda _: {"url": self._fresh(PAGE), "query": QUERY}),
            Case(f"again, {named(PAGE)}", "web_fetch", lambda _: {"url": again}),
            Case(f"again, {named(PAGE)}, new query", "web_fetch", lambda n: {"url": again, "query": f"{QUERY} w{n}"}),
            Case(
                f"range of {named(LONG)}", "read_artifact",
                lambda _: {"id": long, "offset": chance.randrange(LONG - 8_000), "limit": 8_000},
            ),
        ]  # fmt: skip

    def run(self, case: Case, calls: int, clockwork: Clockwork) -> list[Measured]:
        """What each of some calls took."""
        return asyncio.run(self._calls(case, calls, clockwork))

    async def _calls(self, case: Case, calls: int, clockwork: Clockwork) -> list[Measured]:
        measured = []
        for number in range(-3, calls):  # the first few load modules and fill caches
            given = case.given(number)
            clockwork.spent.clear()
            clockwork.worked.clear()
            start, work = time.perf_counter(), time.process_time()
            answer = await dispatch(self.product, case.tool, given, silent)
            written(answer)
            total, work = 1_000 * (time.perf_counter() - start), 1_000 * (time.process_time() - work)
            assert not answer.is_error, answer.text
            if number >= 0:
                ranking = 1_000 * clockwork.worked[RANKING]
                stages = {stage: 1_000 * spent for stage, spent in clockwork.spent.items()}
                measured.append(Measured(total, work - ranking, stages))
        return measured

    async def through_the_sdk(self, calls: int) -> float:
        """Milliseconds that half of the calls of a page that is stored take with the SDK's server and client around
        them, both in this process."""
        url = self._page("https://sdk.example/", 4, PAGE)

        async def product(_tenant: str) -> Retrieval:
            return self.product

        times = []
        async with Client(build_server(product)) as client:
            for _ in range(calls + 3):
                start = time.perf_counter()
                result = await client.call_tool("web_fetch", {"url": url})
                times.append(1_000 * (time.perf_counter() - start))
                assert not result.is_error
        return statistics.median(times[3:])

    def _fresh(self, size: int) -> str:
        seed = next(self._pages)
        return self._page(f"https://fresh{seed}.example/", seed, size)

    def _page(self, url: str, seed: int, size: int) -> str:
        text = text_of(seed, size)
        self.instant.documents[url] = Document(f"Page {seed}", text, "text/html", "en"), words_of("", text)
        return url

    def _fetched(self, url: str) -> str:
        answer = asyncio.run(self.product.web_fetch(url))
        return str(answer.facts["artifact_id"])


def row(case: Case, measured: Sequence[Measured]) -> tuple[str, float]:
    """A line of the table, and the median of the overhead."""
    overheads = sorted(each.total - each.stages.get(RANKING, 0.0) for each in measured)
    names = ["store", *STAGES]
    medians = {name: statistics.median(each.stages.get(name, 0.0) for each in measured) for name in names}
    rest = statistics.median(each.total - sum(each.stages.values()) for each in measured)
    p50, p95 = statistics.median(overheads), overheads[int(len(overheads) * 0.95)]
    work = statistics.median(each.work for each in measured)
    cells = [f"{medians[name]:.2f}" for name in names if name != RANKING] + [f"{rest:.2f}", f"{medians[RANKING]:.1f}"]
    return f"| {case.name} | **{p50:.2f}** | {p95:.2f} | {work:.2f} | {' | '.join(cells)} |", p50


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the table; 1 where a case takes more than is wanted."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--calls", type=int, default=200, help="of each case, default 200")
    parser.add_argument(
        "--home", type=Path, help="folder for the store, such as one in memory; default a temporary one"
    )
    parser.add_argument("--profile", metavar="CASE", help="profile the cases whose name begins so instead")
    given = parser.parse_args(arguments)
    clockwork = Clockwork()
    slow = 0
    with TemporaryDirectory(dir=given.home) as home:
        bench = Bench(Path(home), clockwork)
        if given.profile:
            return profiled(bench, given.profile, given.calls, clockwork)
        columns = ["overhead p50", "p95", "of a core", "store", *(name for name in STAGES if name != RANKING)]
        columns += ["rest", RANKING]
        print(f"Milliseconds of {given.calls} calls of each case; stages by their medians.\n")
        print(f"| | {' | '.join(columns)} |\n|---|{'---:|' * len(columns)}")
        with clockwork.wound():
            for case in bench.cases():
                line, p50 = row(case, bench.run(case, given.calls, clockwork))
                slow += p50 > WANTED
                print(line, flush=True)
        sdk = asyncio.run(bench.through_the_sdk(given.calls))
        print(f"\nA call of a stored page through the SDK's client and server, both in this process: {sdk:.2f} (p50).")
        bench.stores.close()
    return 1 if slow else 0


def profiled(bench: Bench, name: str, calls: int, clockwork: Clockwork) -> int:
    """Print where the time of a case's calls goes on the event loop's thread, and in the others by their callers."""
    for case in bench.cases():
        if case.name.startswith(name):
            profile = cProfile.Profile()
            profile.enable()
            bench.run(case, calls, clockwork)
            profile.disable()
            pstats.Stats(profile).sort_stats("tottime").print_stats(25)
    return 0


if __name__ == "__main__":
    sys.exit(main())
