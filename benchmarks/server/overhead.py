"""Time a call without the network and without the extraction of a page, in one process over a real SQLite store.

    python -m benchmarks.server.overhead [--calls 200] [--home FOLDER] [--profile CASE]

The network returns its page at once, and the extractor its document. Only Keyhole's own work remains: arguments, the
store, selection of passages, rendering, the budget, and the protocol's JSON, written by the server's own function. Each
call of a fresh page has a new URL and a new text.

A stage's time is the sum over its functions in all threads, including functions that ran at the same time. `rest` is
the event loop, threads and the garbage collector. `of a core` is the processor time of the complete call without
ranking: compare this column on a busy machine or a slow disk. Selecting passages for a query is useful work, so
`ranking` is a separate column, and the overhead excludes it.
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

from keyhole.config.config import Config
from keyhole.extract.workers.child import index_words
from keyhole.extract.workers.tasks import Result, Task
from keyhole.fetch.base import DEFAULT_OPTIONS, ApiCall, ApiReply, FetchOptions
from keyhole.records import Document, Page
from keyhole.render.fit import result_json
from keyhole.retrieval.dispatch import dispatch
from keyhole.retrieval.pages import Pages
from keyhole.retrieval.progress import no_progress
from keyhole.retrieval.retrieve import Retrieval
from keyhole.serve.tools import build_server
from keyhole.store.base import LOCAL
from keyhole.store.open import open_stores
from keyhole.websearch.panel import Panel

MAX_OVERHEAD: Final = 3.0
"""Maximum milliseconds of the median overhead of each case."""
SMALL: Final = 4_000
PAGE: Final = 100_000
LONG: Final = 10_000_000
QUERY: Final = "how fast does the pump in the cellar run"
RANKING: Final = "ranking"
STAGES: Final = {
    "arguments": ("keyhole.retrieval.dispatch.parse_arguments",),
    RANKING: ("keyhole.passages.select",),
    "words": (
        "keyhole.retrieval.text_answer.page_answer",
        "keyhole.retrieval.text_answer.window_answer",
    ),
    "bound": ("keyhole.render.fit.answer_size", "keyhole.render.fit._finish"),
    "links": ("keyhole.retrieval.pages.hash_page_urls",),
    "identity": (
        "keyhole.retrieval.pages.artifact_id",
        "keyhole.retrieval.pages.link_to_previous",
        "keyhole.retrieval.pages.make_artifact",
    ),
    "result": (f"{__name__}.to_json",),
}
"""Functions of each stage, named in the module that calls them. The store's methods are the stage `store`."""


@dataclass(slots=True)
class StageTimer:
    """The total elapsed time and processor time of each stage."""

    seconds: dict[str, float] = field(default_factory=lambda: defaultdict(float))
    cpu_seconds: dict[str, float] = field(default_factory=lambda: defaultdict(float))

    def wrap(self, stage: str, function: Callable[..., Any]) -> Callable[..., Any]:
        """Return a function that calls `function` and adds its time to a stage."""

        @functools.wraps(function)
        def run(*arguments: Any, **options: Any) -> Any:
            start, work = time.perf_counter(), time.thread_time()
            try:
                return function(*arguments, **options)
            finally:
                self.seconds[stage] += time.perf_counter() - start
                self.cpu_seconds[stage] += time.thread_time() - work

        return run

    @contextmanager
    def patch_stages(self) -> Iterator[None]:
        """Replace the functions of all stages by timed ones until the block ends."""
        with ExitStack() as undo:
            for stage, names in STAGES.items():
                for name in names:
                    module, _, attribute = name.rpartition(".")
                    place = import_module(module)
                    function = getattr(place, attribute)
                    undo.callback(setattr, place, attribute, function)
                    setattr(place, attribute, self.wrap(stage, function))
            yield


class TimedStore:
    """A store whose methods are all timed."""

    def __init__(self, store: Any, timer: StageTimer) -> None:
        self._store = store
        self._timer = timer

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._store, name)
        return self._timer.wrap("store", found) if callable(found) else found


class InstantNetwork:
    """A network and an extractor that answer at once, with texts that were generated before the call is timed."""

    def __init__(self) -> None:
        self.documents: dict[str, tuple[Document, str]] = {}

    async def fetch(self, url: str, options: FetchOptions = DEFAULT_OPTIONS) -> Page:  # noqa: ARG002 - the port's signature
        return Page(url, url, 200, "text/html", b"", time.time())

    async def send(self, call: ApiCall) -> ApiReply:
        raise NotImplementedError

    def warm(self) -> None:
        pass

    async def extract(self, page: Page) -> tuple[Document, str]:
        return self.documents.pop(page.url)

    async def run(self, task: Task) -> Result:
        raise NotImplementedError

    async def aclose(self) -> None:
        pass


def text_of(seed: int, size: int) -> str:
    """Return prose with headings and links, from 3,000 different words; the same for the same seed."""
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


def format_size(size: int) -> str:
    """Return a number of characters for a table."""
    return f"{size // 1_000_000} MB" if size >= 1_000_000 else f"{size // 1_000} KB"


def to_json(answer: Any) -> bytes:
    """Return a result as the protocol's JSON."""
    return json.dumps(result_json(answer), ensure_ascii=False).encode()


@dataclass(frozen=True, slots=True)
class Case:
    """One kind of call. `prepare(n)` is not timed: it prepares call number n and returns its arguments."""

    name: str
    tool: str
    prepare: Callable[[int], dict[str, Any]]


@dataclass(frozen=True, slots=True)
class CallTimes:
    """Milliseconds of one call: elapsed, processor time without ranking, and by stage."""

    total: float
    work: float
    stages: dict[str, float]


class Bench:
    """The product over a store in a folder, and its cases."""

    def __init__(self, home: Path, timer: StageTimer) -> None:
        self.stores = open_stores(Config(home=home))
        store, secret = self.stores.for_tenant(LOCAL)
        self.instant, timed = InstantNetwork(), TimedStore(store, timer)
        self.product = Retrieval(
            Pages(Config(home=home), self.instant, self.instant, timed, secret, time.time), lambda: Panel([])
        )
        self._pages = itertools.count(100)

    def cases(self) -> list[Case]:
        """Return all cases, after fetching the pages that they fetch or read again."""
        again = self._page("https://again.example/", 1, PAGE)
        long = self._fetch(self._page("https://long.example/", 2, LONG))
        self._fetch(again)
        chance = random.Random(3)
        return [
            Case(f"fetch, {format_size(SMALL)}", "web_fetch", lambda _: {"url": self._fresh(SMALL)}),
            Case(f"fetch, {format_size(PAGE)}", "web_fetch", lambda _: {"url": self._fresh(PAGE)}),
            Case(
                f"fetch, {format_size(PAGE)}, query", "web_fetch",
                lambda _: {"url": self._fresh(PAGE), "query": QUERY},
            ),
            Case(f"again, {format_size(PAGE)}", "web_fetch", lambda _: {"url": again}),
            Case(
                f"again, {format_size(PAGE)}, new query", "web_fetch",
                lambda n: {"url": again, "query": f"{QUERY} w{n}"},
            ),
            Case(
                f"range of {format_size(LONG)}", "read_artifact",
                lambda _: {"id": long, "offset": chance.randrange(LONG - 8_000), "limit": 8_000},
            ),
        ]  # fmt: skip

    def run(self, case: Case, calls: int, timer: StageTimer) -> list[CallTimes]:
        """Return the times of `calls` calls."""
        return asyncio.run(self._calls(case, calls, timer))

    async def _calls(self, case: Case, calls: int, timer: StageTimer) -> list[CallTimes]:
        measured = []
        for number in range(-3, calls):  # the first calls load modules and fill caches
            arguments = case.prepare(number)
            timer.seconds.clear()
            timer.cpu_seconds.clear()
            start, work = time.perf_counter(), time.process_time()
            answer = await dispatch(self.product, case.tool, arguments, no_progress)
            to_json(answer)
            total, work = 1_000 * (time.perf_counter() - start), 1_000 * (time.process_time() - work)
            assert not answer.is_error, answer.text
            if number >= 0:
                ranking = 1_000 * timer.cpu_seconds[RANKING]
                stages = {stage: 1_000 * spent for stage, spent in timer.seconds.items()}
                measured.append(CallTimes(total, work - ranking, stages))
        return measured

    async def time_sdk_calls(self, calls: int) -> float:
        """Return the median milliseconds of fetching a stored page through the SDK's server and client."""
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
        self.instant.documents[url] = Document(f"Page {seed}", text, "text/html", "en"), index_words("", text)
        return url

    def _fetch(self, url: str) -> str:
        answer = asyncio.run(self.product.web_fetch(url))
        return str(answer.facts["artifact_id"])


def format_row(case: Case, measured: Sequence[CallTimes]) -> tuple[str, float]:
    """Return a row of the table, and the median overhead."""
    overheads = sorted(each.total - each.stages.get(RANKING, 0.0) for each in measured)
    names = ["store", *STAGES]
    medians = {name: statistics.median(each.stages.get(name, 0.0) for each in measured) for name in names}
    rest = statistics.median(each.total - sum(each.stages.values()) for each in measured)
    p50, p95 = statistics.median(overheads), overheads[int(len(overheads) * 0.95)]
    work = statistics.median(each.work for each in measured)
    cells = [f"{medians[name]:.2f}" for name in names if name != RANKING] + [f"{rest:.2f}", f"{medians[RANKING]:.1f}"]
    return f"| {case.name} | **{p50:.2f}** | {p95:.2f} | {work:.2f} | {' | '.join(cells)} |", p50


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the table; return 1 if a case is too slow."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--calls", type=int, default=200, help="calls of each case; default 200")
    parser.add_argument("--home", type=Path, help="parent of the store's temporary folder, such as a folder in memory")
    parser.add_argument("--profile", metavar="CASE", help="profile the cases whose name begins with CASE instead")
    options = parser.parse_args(arguments)
    timer = StageTimer()
    slow = 0
    with TemporaryDirectory(dir=options.home) as home:
        bench = Bench(Path(home), timer)
        if options.profile:
            return print_profile(bench, options.profile, options.calls, timer)
        columns = ["overhead p50", "p95", "of a core", "store", *(name for name in STAGES if name != RANKING)]
        columns += ["rest", RANKING]
        print(f"Milliseconds, {options.calls} calls of each case. Stages are medians.\n")
        print(f"| | {' | '.join(columns)} |\n|---|{'---:|' * len(columns)}")
        with timer.patch_stages():
            for case in bench.cases():
                line, p50 = format_row(case, bench.run(case, options.calls, timer))
                slow += p50 > MAX_OVERHEAD
                print(line, flush=True)
        sdk = asyncio.run(bench.time_sdk_calls(options.calls))
        print(f"\nA call of a stored page through the SDK's client and server, both in this process: {sdk:.2f} (p50).")
        bench.stores.close()
    return 1 if slow else 0


def print_profile(bench: Bench, name: str, calls: int, timer: StageTimer) -> int:
    """Print the profile of a case's calls on the event loop's thread."""
    for case in bench.cases():
        if case.name.startswith(name):
            profile = cProfile.Profile()
            profile.enable()
            bench.run(case, calls, timer)
            profile.disable()
            pstats.Stats(profile).sort_stats("tottime").print_stats(25)
    return 0


if __name__ == "__main__":
    sys.exit(main())
