"""Measure how often one search shows the answer, how long it takes, and whether it observes its limits.

The web is served on loopback. The engine and the Keyhole server (over stdio) are real.

    python -m benchmarks.search.search [--quick] [--misses] [--split dev|test]
    python -m benchmarks.search.search --serve [--slow]     # only serve the web and the engine, and print the settings

Pages, questions, sites and their faults are in `benchmarks/search/web`. The engine is Debian's searx if it is installed
(`apt-get install --no-install-recommends searx`), else the search API that searx would call. All traffic is local.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import statistics
import sys
import tempfile
import time
import urllib.request
from collections.abc import Sequence
from typing import Final
from urllib.parse import quote

import keyhole
from benchmarks.search.web.calls import Outcome, call_search, find_places, run_questions
from benchmarks.search.web.corpus import Question, load_pages, load_questions
from benchmarks.search.web.processes import RunningWeb, connect_keyhole, serve_web, start_engine
from benchmarks.search.web.sites import build_places
from keyhole.config.config import SEARCH_FACTOR

DEFAULT: Final = 9_000
"""Characters of the default budget."""
BUDGETS: Final = (4_000, 20_000)
"""Characters of the other budgets that are measured."""
GROUPS: Final = {
    "English": ("en",), "German, French, Spanish, Portuguese": ("de", "fr", "es", "pt-br"), "Russian": ("ru",),
    "Japanese, Chinese": ("ja", "zh"),
}  # fmt: skip
SLOW_TIMEOUT: Final = 15.0
"""Seconds: deadline of calls in slow mode, in which the slowest complete page takes 8."""
SHORT_TIMEOUT: Final = 3.0
"""Seconds: deadline of the deadline run."""
GRACE: Final = 0.5
"""Seconds by which a call may exceed its deadline."""
DEADLINE_CALLS: Final = 100
SLOW_CALLS: Final = 4
"""Concurrent calls in slow mode, in which calls mostly wait; more would compete for the processor."""
CONCURRENT_CALLS: Final = 8
"""Concurrent calls in the deadline run: more than two processors can serve, so that calls reach the deadline."""
MAX_SOURCES: Final = 30
"""Maximum sources in the comparison with a pipeline without a budget."""


def main() -> int:
    """Run the benchmark, print the tables, and return 1 if a limit was broken."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="every fifth question, no other budgets: under a minute")
    parser.add_argument("--misses", action="store_true", help="print the questions without their answer to stderr")
    parser.add_argument("--split", choices=("dev", "test"))
    parser.add_argument("--serve", action="store_true", help="only serve, and print the settings")
    parser.add_argument("--slow", action="store_true", help="with --serve: a third of the pages is slow")
    arguments = parser.parse_args()
    with serve_web() as web, start_engine(web) as (base, description):
        if arguments.serve:
            return serve_until_eof(web, base, slow=arguments.slow)
        questions = [q for q in load_questions() if arguments.split in (None, q.split)]
        return asyncio.run(Bench(web, base, arguments.quick, arguments.misses).run(questions, description))


def serve_until_eof(web: RunningWeb, base: str, *, slow: bool) -> int:
    """Print the settings for the web and the engine, and serve until standard input ends."""
    web.set_mode("slow" if slow else "normal")
    settings = {"ENGINES": "searxng", "SEARXNG_URL": base, "ALLOW_PRIVATE": web.endpoints}
    print("\n".join(f"export KEYHOLE_{name}={value}" for name, value in settings.items()), flush=True)
    sys.stdin.read()
    return 0


class Bench:
    """The benchmark runs and their common state."""

    def __init__(self, web: RunningWeb, base: str, quick: bool, misses: bool) -> None:
        self.web, self.base, self.quick, self.misses = web, base, quick, misses
        self.table = build_places(load_pages())
        self.answering = frozenset(page for question in load_questions() for page, _ in question.answers)
        self.started = time.perf_counter()
        self.over_budget = 0

    async def run(self, questions: Sequence[Question], description: str) -> int:
        """Run every measurement and return 1 if a limit was broken."""
        sample = questions[::5] if self.quick else questions
        print(f"{len(sample)} questions over {len(self.table)} addresses; engine: {description}.\n")
        engine_ranks, engine_seconds = await asyncio.to_thread(self.measure_engine, sample)
        rows = await self.run_normal(sample)
        self.web.set_mode("slow")
        slow = await self.run_calls(sample[::3], "", SLOW_CALLS, KEYHOLE_TIMEOUT=str(SLOW_TIMEOUT / SEARCH_FACTOR))
        deadline_questions = [sample[n % len(sample)] for n in range(16 if self.quick else DEADLINE_CALLS)]
        late = await self.run_calls(
            deadline_questions, "", CONCURRENT_CALLS, KEYHOLE_TIMEOUT=str(SHORT_TIMEOUT / SEARCH_FACTOR)
        )
        self.web.set_mode("normal")
        normal = rows[0][1]
        rows.append(("slow, every third", slow))
        print(format_answers(rows, engine_ranks))
        print(format_times(normal, slow, self.answering))
        print(f"Of a call, the engine alone takes {engine_seconds:.2f} s (p50).\n")
        print(format_deadline(late))
        harmed = sum(outcome.is_harmed for _, outcomes in rows for outcome in outcomes)
        print(f"Results that show hidden text or a forged frame: {harmed}. Over their budget: {self.over_budget}.\n")
        if not self.quick:
            print(await self.compare_full_pages(sample[0]))
        print(f"\nAll in {time.perf_counter() - self.started:.0f} s.")
        return int(bool(harmed or self.over_budget or any(outcome.seconds > SHORT_TIMEOUT + GRACE for outcome in late)))

    async def run_normal(self, questions: Sequence[Question]) -> list[tuple[str, list[Outcome]]]:
        """Run one call after another with fresh pages; then run calls with other budgets over stored pages."""
        with tempfile.TemporaryDirectory() as home:
            rows = [(f"{DEFAULT:,}", await self.run_calls(questions, home, 1))]
            for budget in () if self.quick else BUDGETS:
                outcomes = await self.run_calls(questions, home, 2, budget, KEYHOLE_FRESHNESS="3600")
                rows.append((f"{budget:,}", outcomes))
        return rows

    async def run_calls(
        self, questions: Sequence[Question], home: str, concurrency: int, budget: int = DEFAULT, **others: str
    ) -> list[Outcome]:
        """Ask every question through one new server, after an uncounted call that loads the parsers."""
        settings = {"KEYHOLE_FRESHNESS": "0", **others}  # by default no page comes from the store
        with tempfile.TemporaryDirectory() as own:
            async with connect_keyhole(self.web, self.base, home or own, **settings) as client:
                await call_search(client, self.table, questions[-1])

                async def call(question: Question) -> Outcome:
                    return await call_search(client, self.table, question, max_chars=budget)

                outcomes = await run_questions(call, questions, concurrency)
        self.over_budget += sum(outcome.size > budget for outcome in outcomes)
        for outcome in outcomes if self.misses and budget == DEFAULT else ():
            if not outcome.has_answer:
                reason = "not shown" if outcome.has_pages else "not read"
                print(
                    f"{outcome.question.id} {reason}: {outcome.question.text} | {outcome.question.answers}",
                    file=sys.stderr,
                )
        return outcomes

    def measure_engine(self, questions: Sequence[Question]) -> tuple[dict[str, int], float]:
        """Return the rank of each answer's last page among the engine's hits, and the engine's median seconds.

        The rank is 0 if a page of the answer is missing.
        """
        ranks, seconds = {}, []
        for question in questions:
            started = time.perf_counter()
            places = find_places(self.list_hits(question.text), self.table)
            seconds.append(time.perf_counter() - started)
            ids = [place.page.id if place else "" for place in places]
            needed = [ids.index(page) + 1 if page in ids else 0 for page, _ in question.answers]
            ranks[question.id] = max(needed) if all(needed) else 0
        return ranks, statistics.median(seconds)

    def list_hits(self, query: str) -> list[dict[str, str]]:
        """Return the engine's hits for a query."""
        url = f"{self.base}/search?q={quote(query)}&format=json"
        with urllib.request.urlopen(url, timeout=20) as answer:  # noqa: S310  (loopback, our own)
            rows: list[dict[str, str]] = json.load(answer)["results"]
        return rows

    async def compare_full_pages(self, question: Question) -> str:
        """Compare the full Markdown of the first hits with one Keyhole search."""
        count, total = await asyncio.to_thread(self.measure_full_size, question)
        with tempfile.TemporaryDirectory() as home:
            async with connect_keyhole(self.web, self.base, home) as client:
                outcome = await call_search(client, self.table, question, max_results=20)
        self.over_budget += outcome.size > DEFAULT
        return (
            f"One question over {count} sources (“{question.text}”): every page in full {total:,} characters, "
            f"Keyhole {outcome.size:,}, {total / outcome.size:.0f} times less."
        )

    def measure_full_size(self, question: Question) -> tuple[int, int]:
        """Return the number of sources that the engine lists, and the characters of their pages as Markdown."""
        rows = self.list_hits(question.text)[:MAX_SOURCES]
        total = 0
        for row, place in zip(rows, find_places(rows, self.table), strict=True):
            if place:
                with urllib.request.urlopen(row["url"], timeout=20) as answer:  # noqa: S310  (loopback, our own)
                    document = keyhole.extract(answer.read(), url=row["url"], content_type="text/html; charset=utf-8")
                total += len(document.text)
        return len(rows), total


def format_answers(rows: Sequence[tuple[str, list[Outcome]]], engine_ranks: dict[str, int]) -> str:
    """Return the shares of questions with their answer, as a Markdown table."""
    lines = [
        "| questions | listed | listed in the first five | "
        + " | ".join(name for name, _ in rows)
        + " | its page read |",
        "|---" + "|---:" * (3 + len(rows)) + "|",
    ]
    for name, languages in {**GROUPS, "all": sum(GROUPS.values(), ())}.items():
        groups = [[o for o in outcomes if o.question.language in languages] for _, outcomes in rows]
        if not groups[0]:
            continue
        ranks = [engine_ranks[outcome.question.id] for outcome in groups[0]]
        cells = [percent([bool(rank) for rank in ranks]), percent([0 < rank <= 5 for rank in ranks])]
        cells += [percent([outcome.has_answer for outcome in group]) for group in groups]
        cells.append(percent([outcome.has_pages for outcome in groups[0]]))
        lines.append(f"| {name} ({len(ranks)}) | " + " | ".join(cells) + " |")
    return "\n".join(lines) + "\n"


def format_times(normal: list[Outcome], slow: list[Outcome], answering: frozenset[str]) -> str:
    """Return the duration of calls and of the slowest page that they read, as a Markdown table."""
    lines = [
        "| mode | call p50, s | p95, s | slowest page read p50, s | call / page, p50 | within 1.3 × page + 150 ms |",
        "|---|---:|---:|---:|---:|---:|",
    ]
    for name, outcomes, pages in (("normal", normal, None), ("slow", slow, answering)):
        durations = [(outcome.seconds, outcome.slowest(pages)) for outcome in outcomes if outcome.places]
        if not durations:
            continue
        call_seconds, page_seconds = [call for call, _ in durations], [page for _, page in durations]
        ratio = statistics.median(call / page for call, page in durations)
        within = percent([call <= 1.3 * page + 0.15 for call, page in durations])
        p95 = sorted(call_seconds)[int(0.95 * (len(call_seconds) - 1))]
        medians = f"{statistics.median(call_seconds):.2f} | {p95:.2f} | {statistics.median(page_seconds):.2f}"
        lines.append(f"| {name} | {medians} | {ratio:.2f} | {within} |")
    return "\n".join(lines) + "\n"


def format_deadline(outcomes: list[Outcome]) -> str:
    """Return a sentence with the number of calls that ended in time."""
    in_time = sum(outcome.seconds <= SHORT_TIMEOUT + GRACE for outcome in outcomes)
    longest = max(outcome.seconds for outcome in outcomes)
    with_answer = sum(outcome.has_answer for outcome in outcomes)
    return (
        f"Deadline of {SHORT_TIMEOUT:g} s, a third of the pages slow, {CONCURRENT_CALLS} calls at once: "
        f"{in_time} of {len(outcomes)} calls within {SHORT_TIMEOUT + GRACE:g} s, the longest {longest:.2f} s, "
        f"{with_answer} with the answer.\n"
    )


def percent(flags: Sequence[bool]) -> str:
    """Return the percentage of true flags, "" without flags."""
    return f"{100 * sum(flags) / len(flags):.1f}" if flags else ""


if __name__ == "__main__":
    sys.exit(main())
