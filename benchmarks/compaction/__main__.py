"""Measure what a conversation still tells after its history was shortened to a budget.

    python -m benchmarks.compaction [--peers PYTHON] [--budget N] [--cache DIR]

Conversations of an agent whose calls and results are real; questions about results before the last four rounds. An
answer is reachable if all its strings are in the shortened conversation, or in the result of one call that it names:
`read_artifact` with the id beside the call in question, and the question as its query. Tokens are those of o200k,
counted over all texts. A conversation is refused if it breaks a rule of its provider (tests/support/pairing). What a
request reuses, and its use of the budget, are measured on long sessions (sessions.py). PYTHON is an interpreter with
langchain-core, litellm and inspect_ai, which take Chat Completions messages; without it they are left out.
"""

from __future__ import annotations

import argparse
import asyncio
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from statistics import mean

from benchmarks.budget.tokens import count_tokens, install
from benchmarks.compaction import sessions
from benchmarks.compaction.conversations import FORMATS, Conversation, Items, build_conversations
from benchmarks.compaction.dense import BUDGET as DENSE_BUDGET
from benchmarks.compaction.dense import REQUESTS, measure_dense
from benchmarks.compaction.systems import SYSTEMS, call_for, run_peers, texts
from benchmarks.outputs.corpus import Question
from keyhole.extensions.conversations.formats.values import Format
from keyhole.retrieval.retrieve import Retrieval
from tests.support.pairing import CHECKERS
from tests.support.product import retrieval

BUDGET = 40_000
"""Tokens. The conversations have some 100,000."""
CACHE = Path.home() / ".cache/keyhole-benchmarks/tokens"
"""The folder of the tokenizer, which npm installs."""

Key = tuple[str, Format]


@dataclass(frozen=True)
class Trial:
    """One shortened conversation: how many answers it has, and by a call."""

    questions: int
    in_text: int
    by_call: int
    text: str
    is_refused: bool


def main() -> int:
    """Shorten the conversations with each system, put the questions and print the tables."""
    arguments = _arguments()
    install(arguments.cache)
    conversations = build_conversations()
    trials = asyncio.run(_run(conversations, arguments.budget, arguments.peers))
    figures = _measure_sessions(arguments.peers)
    questions = sum(len(each.questions) for each in conversations)
    print(f"{len(conversations)} conversations, {questions} questions, {arguments.budget:,} tokens.\n")
    count = partial(_count, arguments.cache)
    print("\n".join(table(trials, figures, arguments.budget, count)))
    print(f"\n| results | most tokens of a request | over {DENSE_BUDGET:,} |\n|---|---:|---:|")
    for kind, most, over in measure_dense(arguments.cache):
        print(f"| {kind} | {most:,} | {over} of {REQUESTS} |", flush=True)
    return 0


async def _run(conversations: Sequence[Conversation], budget: int, peers: str | None) -> dict[Key, list[Trial]]:
    trials: dict[Key, list[Trial]] = defaultdict(list)
    for format, write in FORMATS.items():
        for conversation in conversations:
            items = write(conversation)
            for name, shorten in SYSTEMS.items():
                product = retrieval()
                kept = shorten(items, format, budget, product)
                trials[name, format].append(await measure(conversation, kept, format, product))
    chats = [FORMATS["chat"](conversation) for conversation in conversations]
    for name, shortened in (run_peers(peers, chats, budget) if peers else {}).items():
        for conversation, kept in zip(conversations, shortened, strict=True):
            trials[name, "chat"].append(await measure(conversation, kept, "chat", retrieval()))
    return trials


async def measure(conversation: Conversation, kept: Items, format: Format, product: Retrieval) -> Trial:
    """Put the questions about a conversation to its shortened form."""
    text = "\n".join(texts(kept))
    in_text = [question.is_answered(text) for question in conversation.questions]
    missing = [each for each, found in zip(conversation.questions, in_text, strict=True) if not found]
    by_call = [await _is_read(conversation, kept, question, product) for question in missing]
    return Trial(len(in_text), sum(in_text), sum(by_call), text, bool(CHECKERS[format](kept)))


async def _is_read(conversation: Conversation, kept: Items, question: Question, product: Retrieval) -> bool:
    """Return whether one named call returns the answer."""
    calls = {output.id: id for each in conversation.rounds for id, output in each.calls()}
    id = call_for(kept, calls[question.output])
    return bool(id) and question.is_answered((await product.read_artifact(id, query=question.query)).text)


def _measure_sessions(peers: str | None) -> dict[Key, sessions.Figures]:
    """Return the figures of each system: of all sessions, for peers of the shortest one."""
    found: dict[Key, sessions.Figures] = {}
    every = [sessions.build_session(requests) for requests in sessions.REQUESTS]
    for name, shorten in sessions.systems(sessions.BUDGET, None).items():
        for format in FORMATS:
            each = [sessions.measure(session, format, sessions.BUDGET, shorten) for session in every]
            found[name, format] = sessions.Figures(
                *(mean(getattr(figures, field) for figures in each) for field in ("reused", "used", "visible"))
            )
    requests = [every[0].items(count, "chat") for count in range(1, len(every[0].rounds) + 1)]
    for name, shortened in (run_peers(peers, requests, sessions.BUDGET) if peers else {}).items():
        found[name, "chat"] = sessions.measure(every[0], "chat", sessions.BUDGET, _replay(shortened))
    return found


def _replay(shortened: Sequence[Items]) -> sessions.Shorten:
    """Return a function that returns one shortened request after the other."""
    answers = iter(shortened)
    return lambda _items, _format: next(answers)


def _count(cache: Path, texts: Sequence[str]) -> list[int]:
    return [count for (count,) in count_tokens(cache, texts, ("o200k",))]


def table(
    trials: dict[Key, list[Trial]],
    figures: dict[Key, sessions.Figures],
    budget: int,
    count: Callable[[Sequence[str]], Sequence[int]],
) -> list[str]:
    """Return a table with a row for each system and format. `count`: counts the tokens of texts."""
    rows = [
        "| system | format | answer in the text | by one named call | reachable | tokens, mean | over the budget "
        "| refused | reused | budget in use | visible |",
        "|---|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|",
    ]
    for key, own in sorted(trials.items(), key=lambda each: list(FORMATS).index(each[0][1])):
        questions = sum(trial.questions for trial in own)
        text, call = sum(trial.in_text for trial in own), sum(trial.by_call for trial in own)
        shares = " | ".join(f"{100 * count / questions:.1f} %" for count in (text, call, text + call))
        counts = count([trial.text for trial in own])
        over, refused = sum(each > budget for each in counts), sum(trial.is_refused for trial in own)
        session = figures.get(key)
        reuse = [f"{100 * value:.1f} %" for value in (session.reused, session.used, session.visible)] if session else []
        cells = [f"{mean(counts):,.0f}", f"{over} of {len(own)}", f"{refused} of {len(own)}", *(reuse or ["–"] * 3)]
        rows.append(f"| {key[0]} | {key[1]} | {shares} | {' | '.join(cells)} |")
    return rows


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.compaction")
    parser.add_argument("--peers", metavar="PYTHON", help="interpreter with langchain-core, litellm and inspect_ai")
    parser.add_argument("--budget", type=int, default=BUDGET, metavar="N")
    parser.add_argument("--cache", type=Path, default=CACHE)
    return parser.parse_args()


if __name__ == "__main__":
    raise SystemExit(main())
