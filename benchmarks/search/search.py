"""Is the answer in the result of one search, how soon, and within its bounds: a web of our own, a real engine, the real
server over stdio.

    python -m benchmarks.search.search [--quick] [--misses] [--split dev|test]
    python -m benchmarks.search.search --serve [--slow]     # only the web and the engine, with the settings to use them

Pages, questions, sites and their faults stand in `benchmarks/web`. The engine is Debian's searx where it is installed
(`apt-get install --no-install-recommends searx`), else the search API that it would ask. Nothing leaves the machine.
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

import keyhole as product
from benchmarks.search.web.calls import Outcome, ask, ask_all, places_of
from benchmarks.search.web.corpus import Question, load_pages, load_questions
from benchmarks.search.web.running import RunningWeb, engine, keyhole, served_web
from benchmarks.search.web.sites import places

DEFAULT: Final = 9_000
BUDGETS: Final = (4_000, 20_000)
"""Bytes, besides the default."""
GROUPS: Final = {
    "English": ("en",), "German, French, Spanish, Portuguese": ("de", "fr", "es", "pt-br"), "Russian": ("ru",),
    "Japanese, Chinese": ("ja", "zh"),
}  # fmt: skip
SLOW_TIMEOUT: Final = 15.0
"""Seconds: deadline of the calls in slow mode, whose slowest page that ends takes 8."""
SHORT: Final = 3.0
"""Seconds: deadline of the deadline run."""
GRACE: Final = 0.5
"""Seconds by which a deadline may be passed."""
DEADLINE_CALLS: Final = 100
AT_ONCE: Final = 4
"""Calls at a time in slow mode, where most of the time is spent waiting: more would wait for the processor."""
CROWD: Final = 8
"""Calls at a time in the deadline run: more than two processors can serve, so that the deadline has to hold."""
MANY: Final = 30
"""Sources of the comparison with a pipeline that has no bound."""


def main() -> int:
    """Run, print the tables; 1 when a bound was broken."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="every fifth question, no other budgets: under a minute")
    parser.add_argument("--misses", action="store_true", help="name the questions without their answer on stderr")
    parser.add_argument("--split", choices=("dev", "test"))
    parser.add_argument("--serve", action="store_true", help="only serve, and print the settings")
    parser.add_argument("--slow", action="store_true", help="with --serve: a third of the pages is slow")
    arguments = parser.parse_args()
    with served_web() as web, engine(web) as (base, behind):
        if arguments.serve:
            return hold(web, base, slow=arguments.slow)
        questions = [q for q in load_questions() if arguments.split in (None, q.split)]
        return asyncio.run(Bench(web, base, arguments.quick, arguments.misses).run(questions, behind))


def hold(web: RunningWeb, base: str, *, slow: bool) -> int:
    """Say how to use the web and the engine, and keep them until the end of standard input."""
    web.set_mode("slow" if slow else "normal")
    settings = {"ENGINES": "searxng", "SEARXNG_URL": base, "ALLOW_PRIVATE": web.endpoints}
    print("\n".join(f"export KEYHOLE_{name}={value}" for name, value in settings.items()), flush=True)
    sys.stdin.read()
    return 0


class Bench:
    """The runs, one after the other."""

    def __init__(self, web: RunningWeb, base: str, quick: bool, misses: bool) -> None:
        self.web, self.base, self.quick, self.misses = web, base, quick, misses
        self.table = places(load_pages())
        self.answering = frozenset(page for question in load_questions() for page, _ in question.answers)
        self.started = time.perf_counter()
        self.breaches = 0

    async def run(self, questions: Sequence[Question], behind: str) -> int:
        """All of them; whether a bound was broken."""
        chosen = questions[::5] if self.quick else questions
        print(f"{len(chosen)} questions over {len(self.table)} addresses; engine: {behind}.\n")
        ceiling, engine_seconds = await asyncio.to_thread(self.ceiling, chosen)
        rows = await self.normal(chosen)
        self.web.set_mode("slow")
        slow = await self.calls(chosen[::3], "", AT_ONCE, KEYHOLE_SEARCH_TIMEOUT=str(SLOW_TIMEOUT))
        hurried = [chosen[n % len(chosen)] for n in range(16 if self.quick else DEADLINE_CALLS)]
        late = await self.calls(hurried, "", CROWD, KEYHOLE_SEARCH_TIMEOUT=str(SHORT))
        self.web.set_mode("normal")
        normal = rows[0][1]
        rows.append(("slow, every third", slow))
        print(answers(rows, ceiling))
        print(times(normal, slow, self.answering))
        print(f"Of a call, the engine alone takes {engine_seconds:.2f} s (p50).\n")
        print(deadline(late))
        harmed = sum(outcome.harmed for _, outcomes in rows for outcome in outcomes)
        print(f"Results that show hidden text or a forged frame: {harmed}. Over their budget: {self.breaches}.\n")
        if not self.quick:
            print(await self.unbounded(chosen[0]))
        print(f"\nAll in {time.perf_counter() - self.started:.0f} s.")
        return int(bool(harmed or self.breaches or any(outcome.seconds > SHORT + GRACE for outcome in late)))

    async def normal(self, questions: Sequence[Question]) -> list[tuple[str, list[Outcome]]]:
        """One call after the other, each page asked for anew; then other budgets, over the pages that were stored."""
        with tempfile.TemporaryDirectory() as home:
            rows = [(f"{DEFAULT:,}", await self.calls(questions, home, 1))]
            for budget in () if self.quick else BUDGETS:
                outcomes = await self.calls(questions, home, 2, budget, KEYHOLE_FRESHNESS="3600")
                rows.append((f"{budget:,}", outcomes))
        return rows

    async def calls(
        self, questions: Sequence[Question], home: str, at_once: int, budget: int = DEFAULT, **others: str
    ) -> list[Outcome]:
        """Every question through a server of its own; a first call loads the parsers, and is not counted."""
        settings = {"KEYHOLE_FRESHNESS": "0", **others}  # no page is answered from the store, unless that is said
        with tempfile.TemporaryDirectory() as own:
            async with keyhole(self.web, self.base, home or own, **settings) as client:
                await ask(client, self.table, questions[-1])

                async def call(question: Question) -> Outcome:
                    return await ask(client, self.table, question, max_chars=budget)

                outcomes = await ask_all(call, questions, at_once)
        self.breaches += sum(outcome.size > budget for outcome in outcomes)
        for outcome in outcomes if self.misses and budget == DEFAULT else ():
            if not outcome.answered:
                why = "not shown" if outcome.found else "not read"
                print(
                    f"{outcome.question.id} {why}: {outcome.question.text} | {outcome.question.answers}",
                    file=sys.stderr,
                )
        return outcomes

    def ceiling(self, questions: Sequence[Question]) -> tuple[dict[str, int], float]:
        """At which place among the engine's hits the last page of each answer stands, 0 when one is not there; and
        the median of the seconds that the engine takes."""
        ranks, seconds = {}, []
        for question in questions:
            started = time.perf_counter()
            places = places_of(self.listed(question.text), self.table)
            seconds.append(time.perf_counter() - started)
            ids = [place.page.id if place else "" for place in places]
            needed = [ids.index(page) + 1 if page in ids else 0 for page, _ in question.answers]
            ranks[question.id] = max(needed) if all(needed) else 0
        return ranks, statistics.median(seconds)

    def listed(self, query: str) -> list[dict[str, str]]:
        """What the engine lists."""
        url = f"{self.base}/search?q={quote(query)}&format=json"
        with urllib.request.urlopen(url, timeout=20) as answer:  # noqa: S310  (loopback, our own)
            rows: list[dict[str, str]] = json.load(answer)["results"]
        return rows

    async def unbounded(self, question: Question) -> str:
        """The comparison: every page of the first hits as Markdown, joined, beside one search of ours."""
        count, total = await asyncio.to_thread(self.everything, question)
        with tempfile.TemporaryDirectory() as home:
            async with keyhole(self.web, self.base, home) as client:
                ours = await ask(client, self.table, question, max_results=20)
        self.breaches += ours.size > DEFAULT
        return (
            f"One question over {count} sources (“{question.text}”): every page in full {total:,} bytes, "
            f"Keyhole {ours.size:,}, {total / ours.size:.0f} times less."
        )

    def everything(self, question: Question) -> tuple[int, int]:
        """How many sources the engine lists, and the bytes of all their pages as Markdown."""
        rows = self.listed(question.text)[:MANY]
        total = 0
        for row, place in zip(rows, places_of(rows, self.table), strict=True):
            if place:
                with urllib.request.urlopen(row["url"], timeout=20) as answer:  # noqa: S310  (loopback, our own)
                    document = product.extract(answer.read(), url=row["url"], content_type="text/html; charset=utf-8")
                total += len(document.text.encode())
        return len(rows), total


def answers(rows: Sequence[tuple[str, list[Outcome]]], ceiling: dict[str, int]) -> str:
    """Shares of questions with their answer, as Markdown."""
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
        ranks = [ceiling[outcome.question.id] for outcome in groups[0]]
        cells = [share([bool(rank) for rank in ranks]), share([0 < rank <= 5 for rank in ranks])]
        cells += [share([outcome.answered for outcome in group]) for group in groups]
        cells.append(share([outcome.found for outcome in groups[0]]))
        lines.append(f"| {name} ({len(ranks)}) | " + " | ".join(cells) + " |")
    return "\n".join(lines) + "\n"


def times(normal: list[Outcome], slow: list[Outcome], answering: frozenset[str]) -> str:
    """How long calls take beside the slowest page that they read."""
    lines = [
        "| mode | call p50, s | p95, s | slowest page read p50, s | call / page, p50 | within 1.3 × page + 150 ms |",
        "|---|---:|---:|---:|---:|---:|",
    ]
    for name, outcomes, pages in (("normal", normal, None), ("slow", slow, answering)):
        good = [(outcome.seconds, outcome.slowest(pages)) for outcome in outcomes if outcome.read]
        if not good:
            continue
        took, needed = [call for call, _ in good], [page for _, page in good]
        ratio = statistics.median(call / page for call, page in good)
        within = share([call <= 1.3 * page + 0.15 for call, page in good])
        p95 = sorted(took)[int(0.95 * (len(took) - 1))]
        medians = f"{statistics.median(took):.2f} | {p95:.2f} | {statistics.median(needed):.2f}"
        lines.append(f"| {name} | {medians} | {ratio:.2f} | {within} |")
    return "\n".join(lines) + "\n"


def deadline(outcomes: list[Outcome]) -> str:
    """How many calls kept their deadline, in a sentence."""
    kept = sum(outcome.seconds <= SHORT + GRACE for outcome in outcomes)
    longest = max(outcome.seconds for outcome in outcomes)
    answered = sum(outcome.answered for outcome in outcomes)
    return (
        f"Deadline of {SHORT:g} s, a third of the pages slow, {CROWD} calls at once: {kept} of {len(outcomes)} calls "
        f"within {SHORT + GRACE:g} s, the longest {longest:.2f} s, {answered} with the answer.\n"
    )


def share(flags: Sequence[bool]) -> str:
    """Percent of what holds."""
    return f"{100 * sum(flags) / len(flags):.1f}" if flags else ""


if __name__ == "__main__":
    sys.exit(main())
