"""What a session spares: `python -m benchmarks.budget.thrift [DATA] [--budget 3000] [--documents 60]`.

A real server over stdio, the recorded pages on loopback, and eighteen questions on three of them, asked in a row as an
agent asks: once with `KEYHOLE_REPEATS=always`, once with the session's memory. With DATA, a folder as answers.py describes, the
same in this process for documents with at least five questions. Prints the characters that the model got, how many of
them it had not seen, and for how many questions the answer stands in what it was shown: by that call, by one call
up to it, or in pieces by several. Takes some 10 s, with DATA a minute.
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

from benchmarks.ranking.answers import load, squash
from keyhole.cli.demo_site import recorded_pages, serve
from keyhole.config.config import Config
from keyhole.records import Artifact
from keyhole.retrieval.call import Caller
from keyhole.retrieval.retrieve import Retrieval
from keyhole.retrieval.session import Session
from keyhole.store.memory import MemoryStore
from keyhole.websearch.panel import Panel

NOW: Final = 1_780_000_000.0
LEAST_QUESTIONS: Final = 5

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
"""Page, question, and words of the answer as they stand on the page."""


@dataclass(slots=True)
class Sum:
    """What the model got in all sessions of one kind."""

    questions: int = 0
    characters: int = 0
    fresh: int = 0
    here: int = 0
    """Answers in the result of their own call."""
    anywhere: int = 0
    """Answers in it or in an earlier one of the session."""
    pieces: int = 0
    """Answers of which every character was shown, by several calls; told only where the stored text is at hand."""


Spans = Sequence[tuple[int, int]]
Asked = tuple[str, str, Sequence[Sequence[str]]]
"""Of which text, what, and the answer: alternatives of each needed part, without white space."""
Ask = Callable[[str, str], Awaitable[tuple[str, Spans]]]


def main() -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser()
    parser.add_argument("data", type=Path, nargs="?")
    parser.add_argument("--budget", type=int, action="append")
    parser.add_argument("--documents", type=int, default=60)
    options = parser.parse_args()
    print("| pages | bytes a call | repeats | questions | characters | of them new | answer here | seen | in pieces |")
    print("| --- | ---: | --- | ---: | ---: | ---: | ---: | ---: | ---: |")
    for budget in options.budget or (1_500, 3_000, 9_000):
        for repeats in ("always", "once"):
            print(row("recorded", budget, repeats, asyncio.run(over_stdio(budget, repeats))))
            if options.data:
                found = asyncio.run(over_documents(options.data, budget, repeats, options.documents))
                print(row("data", budget, repeats, found))
    return 0


def row(what: str, budget: int, repeats: str, found: Sum) -> str:
    """One line of the table."""
    shares = f"{found.here} | {found.anywhere} | {found.pieces}"
    return f"| {what} | {budget} | {repeats} | {found.questions} | {found.characters:,} | {found.fresh:,} | {shares} |"


async def over_stdio(budget: int, repeats: str, questions: Sequence[tuple[str, str, str]] = QUESTIONS) -> Sum:
    """The questions in one session with a real server."""
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

            return await session(ask, [(name, question, [[squash(answer)]]) for name, question, answer in questions])


async def over_documents(data: Path, budget: int, repeats: str, most: int) -> Sum:
    """The questions of each document in a session of its own."""
    asked: dict[str, list[Asked]] = defaultdict(list)
    texts: dict[str, str] = {}
    for example in load(data, "dev"):
        texts[example.doc_id] = example.text
        asked[example.doc_id].append((example.doc_id, example.question, example.gold))
    chosen = [id for id, some in sorted(asked.items()) if len(some) >= LEAST_QUESTIONS][:most]
    total = Sum()
    for id in chosen:
        product = stored(id, texts[id], repeats)
        caller = Caller(session=Session())

        async def ask(
            name: str, question: str, product: Retrieval = product, caller: Caller = caller
        ) -> tuple[str, Spans]:
            answer = await product.read_artifact(name, query=question, limit=budget, caller=caller)
            return answer.text, [(start, end) for _, start, end in answer.shown]

        found = await session(ask, asked[id], texts[id])
        for name in Sum.__slots__:
            setattr(total, name, getattr(total, name) + getattr(found, name))
    return total


def stored(id: str, text: str, repeats: str) -> Retrieval:
    """A product that has this text; the network is never asked."""
    store = MemoryStore(lambda: NOW)
    store.put(
        Artifact(id, f"https://data.example/{id}", f"https://data.example/{id}", "", text, "text/plain", "", NOW), ""
    )
    nobody: object = None
    return Retrieval(Config(repeats=repeats), nobody, store, Panel(()), b"0" * 32, lambda: NOW, nobody)  # type: ignore[arg-type]


async def session(ask: Ask, asked: Sequence[Asked], document: str = "") -> Sum:
    """One session, each question after the other."""
    found, lines, seen, shown = Sum(), set[str](), "", set[int]()
    places = [place for place, sign in enumerate(document) if not sign.isspace()]
    words = squash(document)

    def pieced(part: str) -> bool:
        at = words.find(part)
        return at >= 0 and shown.issuperset(places[at : at + len(part)])

    for name, question, gold in asked:
        text, spans = await ask(name, question)
        shown.update(*(range(*span) for span in spans))
        own = [line for line in text.splitlines() if line not in lines]
        lines.update(own)
        here, seen = squash(text), seen + squash(text)
        found.questions += 1
        found.characters += len(text)
        found.fresh += sum(map(len, own))
        found.here += all(any(each in here for each in some) for some in gold)
        anywhere = all(any(each in seen for each in some) for some in gold)
        found.anywhere += anywhere
        found.pieces += not anywhere and all(any(map(pieced, some)) for some in gold)
    return found


if __name__ == "__main__":
    raise SystemExit(main())
