"""Measure the text saved by sessions: `python -m benchmarks.budget.session_savings [DATA]`, with options (see --help).

A real server over stdio answers eighteen questions about three recorded pages in a row, once with
`KEYHOLE_REPEATS=always` and once without repeating passages. With DATA, a folder as in benchmarks/ranking/answers.py,
the same is measured in this process for documents with at least five questions. Prints the characters that the model
received, how many of them were new, and the number of questions whose answer is in the result of their own call, in one
result up to that call, or split over several results. Takes about 10 s, with DATA a minute.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import sys
import tempfile
from collections import defaultdict
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from mcp import Client, StdioServerParameters

from benchmarks.ranking.answers import load, remove_white_space
from keyhole.cli.demo_site import recorded_pages, serve
from keyhole.config.config import Config
from keyhole.records import Artifact
from keyhole.retrieval.call import Caller
from keyhole.retrieval.pages import Pages
from keyhole.retrieval.retrieve import Retrieval
from keyhole.retrieval.session import Session
from keyhole.store.sqlite.store import MemoryStore
from keyhole.websearch.panel import Panel

NOW: Final = 1_780_000_000.0
MIN_QUESTIONS: Final = 5

QUESTIONS: Final = (
    ("routine-vacuuming", "What is the vacuum threshold that triggers autovacuum?", "vacuum scale factor * number of"),
    ("routine-vacuuming", "When is a table vacuumed because of inserts?", "vacuum insert scale factor * number"),
    ("routine-vacuuming", "When does autovacuum analyze a table?", "analyze scale factor * number of tuples"),
    ("routine-vacuuming", "Does autovacuum analyze partitioned tables?", "does not issue `ANALYZE` commands for part"),
    ("routine-vacuuming", "How long can a table go unvacuumed?", "two billion transactions minus"),
    ("routine-vacuuming", "What warning comes before transaction id wraparound?", "must be vacuumed within 39985967"),
    ("routine-vacuuming", "What are multixact IDs for?", "used to support row locking by multiple"),
    ("sqlite-wal", "Does WAL work over a network filesystem?", "WAL does not work over a network filesystem"),
    ("sqlite-wal", "When does SQLite run a checkpoint automatically?", "reaches a threshold size of 1000 pages"),
    ("sqlite-wal", "How do I switch a database to WAL mode?", "use the following pragma"),
    ("sqlite-wal", "Is WAL mode kept after the database is closed and reopened?", "the database will come back in WAL"),
    ("sqlite-wal", "What keeps the WAL file from being reset?", "If another connection has a read transaction open"),
    ("sqlite-wal", "Can a reader and a writer work at the same time in WAL mode?", "readers and writers can run at"),
    ("rust-ownership", "What are the rules of ownership in Rust?", "There can only be one owner at a time"),
    ("rust-ownership", "When is a value dropped?", "When the owner goes out of scope, the value will be"),
    ("rust-ownership", "Why is the stack faster than the heap?", "the allocator never has to search for a place"),
    ("rust-ownership", "Why can a String be mutated but not a literal?", "how these two types deal with memory"),
    ("rust-ownership", "What is a scope?", "range within a program for which an item is valid"),
)
"""Page, question, and the page's words that answer it."""


@dataclass(slots=True)
class Totals:
    """Totals over all sessions with the same settings."""

    questions: int = 0
    characters: int = 0
    new_characters: int = 0
    own_answers: int = 0
    """Number of answers in the result of their own call."""
    seen_answers: int = 0
    """Number of answers in one result: that of their own call or an earlier result of the session."""
    answers_in_pieces: int = 0
    """Number of other answers of which several results together show every character. Counted only for DATA."""


Spans = Sequence[tuple[int, int]]
Question = tuple[str, str, Sequence[Sequence[str]]]
"""The document, the question, and the answer: alternatives of each required part, without white space."""
Ask = Callable[[str, str], Awaitable[tuple[str, Spans]]]
"""Return the result and its shown spans, for a document and a question."""


def main() -> int:
    """Measure and print the table."""
    parser = argparse.ArgumentParser()
    parser.add_argument("data", type=Path, nargs="?")
    parser.add_argument("--budget", type=int, action="append")
    parser.add_argument("--documents", type=int, default=60)
    options = parser.parse_args()
    print("| pages | bytes a call | repeats | questions | characters | of them new | answer here | seen | in pieces |")
    print("| --- | ---: | --- | ---: | ---: | ---: | ---: | ---: | ---: |")
    for budget in options.budget or (1_500, 3_000, 9_000):
        for repeats in ("always", "once"):
            print(format_row("recorded", budget, repeats, asyncio.run(measure_stdio(budget, repeats))))
            if options.data:
                found = asyncio.run(measure_documents(options.data, budget, repeats, options.documents))
                print(format_row("data", budget, repeats, found))
    return 0


def format_row(what: str, budget: int, repeats: str, found: Totals) -> str:
    """Return a row of the table."""
    characters = f"{found.characters:,} | {found.new_characters:,}"
    answers = f"{found.own_answers} | {found.seen_answers} | {found.answers_in_pieces}"
    return f"| {what} | {budget} | {repeats} | {found.questions} | {characters} | {answers} |"


async def measure_stdio(budget: int, repeats: str, questions: Sequence[tuple[str, str, str]] = QUESTIONS) -> Totals:
    """Ask the questions in one session with a real server."""
    with serve(recorded_pages()) as port, tempfile.TemporaryDirectory() as home:
        environment = {
            "PATH": os.environ["PATH"],
            "KEYHOLE_HOME": home,
            "KEYHOLE_ENGINES": "searxng",
            "KEYHOLE_REPEATS": repeats,
            "KEYHOLE_ALLOW_PRIVATE": f"127.0.0.1:{port}",
        }
        command = StdioServerParameters(command=sys.executable, args=["-m", "keyhole", "serve"], env=environment)
        async with Client(command) as client:

            async def ask(name: str, question: str) -> tuple[str, Spans]:
                arguments = {"url": f"http://127.0.0.1:{port}/{name}", "query": question, "max_chars": budget}
                result = await client.call_tool("web_fetch", arguments)
                return str(getattr(result.content[0], "text", "")), ()

            return await run_session(
                ask, [(name, question, [[remove_white_space(answer)]]) for name, question, answer in questions]
            )


async def measure_documents(data: Path, budget: int, repeats: str, most: int) -> Totals:
    """Ask the questions of each document in a separate session, for at most `most` documents."""
    questions: dict[str, list[Question]] = defaultdict(list)
    texts: dict[str, str] = {}
    for example in load(data, "dev"):
        texts[example.doc_id] = example.text
        questions[example.doc_id].append((example.doc_id, example.question, example.gold))
    ids = [id for id, some in sorted(questions.items()) if len(some) >= MIN_QUESTIONS][:most]
    total = Totals()
    for id in ids:
        product = make_retrieval(id, texts[id], repeats)
        caller = Caller(session=Session())

        async def ask(
            name: str, question: str, product: Retrieval = product, caller: Caller = caller
        ) -> tuple[str, Spans]:
            answer = await product.read_artifact(name, query=question, limit=budget, caller=caller)
            return answer.text, [(start, end) for _, start, end in answer.shown]

        found = await run_session(ask, questions[id], texts[id])
        for name in Totals.__slots__:
            setattr(total, name, getattr(total, name) + getattr(found, name))
    return total


def make_retrieval(id: str, text: str, repeats: str) -> Retrieval:
    """Return a retrieval whose store contains this text."""
    store = MemoryStore(lambda: NOW)
    store.put(
        Artifact(id, f"https://data.example/{id}", f"https://data.example/{id}", "", text, "text/plain", "", NOW), ""
    )
    unused: object = None
    return Retrieval(Pages(Config(repeats=repeats), unused, unused, store, b"0" * 32, lambda: NOW), lambda: Panel(()))  # type: ignore[arg-type]


async def run_session(ask: Ask, questions: Sequence[Question], document: str = "") -> Totals:
    """Ask the questions of a session in order; return its totals."""
    found, lines, seen, shown = Totals(), set[str](), "", set[int]()
    places = [place for place, sign in enumerate(document) if not sign.isspace()]
    words = remove_white_space(document)

    def is_pieced(part: str) -> bool:
        at = words.find(part)
        return at >= 0 and shown.issuperset(places[at : at + len(part)])

    for name, question, gold in questions:
        text, spans = await ask(name, question)
        shown.update(*(range(*span) for span in spans))
        own = [line for line in text.splitlines() if line not in lines]
        lines.update(own)
        here, seen = remove_white_space(text), seen + remove_white_space(text)
        found.questions += 1
        found.characters += len(text)
        found.new_characters += sum(map(len, own))
        found.own_answers += all(any(each in here for each in some) for some in gold)
        is_seen = all(any(each in seen for each in some) for some in gold)
        found.seen_answers += is_seen
        found.answers_in_pieces += not is_seen and all(any(map(is_pieced, some)) for some in gold)
    return found


if __name__ == "__main__":
    raise SystemExit(main())
