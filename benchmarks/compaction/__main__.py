"""Measure what a conversation still tells after its history was shortened to a budget.

    python -m benchmarks.compaction [--peers PYTHON] [--budget N]

Conversations of an agent whose calls and results are real; questions about results before the last four rounds. An
answer is reachable if all its strings are in the shortened conversation, or in the result of one call that it names:
`read_artifact` with the id beside the call in question, and the question as its query. A conversation is refused if it
breaks a rule by which its provider pairs calls with results (tests/support/pairing.py). PYTHON is an interpreter with
langchain-core and litellm, which take Chat Completions messages; without it they are left out.
"""

from __future__ import annotations

import argparse
import asyncio
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from benchmarks.compaction.conversations import FORMATS, Conversation, Items, build_conversations
from benchmarks.compaction.systems import SYSTEMS, call_for, run_peers, texts
from benchmarks.outputs.corpus import Question
from keyhole.budget.items import estimate_item
from keyhole.extract.conversations.values import Format
from keyhole.retrieval.retrieve import Retrieval
from tests.support.pairing import CHECKERS
from tests.support.product import retrieval

BUDGET = 40_000
"""Tokens. The conversations have some 100,000."""


@dataclass(frozen=True)
class Trial:
    """One shortened conversation: how many answers it has, and by a call."""

    questions: int
    in_text: int
    by_call: int
    tokens: int
    is_refused: bool
    is_over: bool


def main() -> int:
    """Shorten the conversations with each system, put the questions and print the table."""
    arguments = _arguments()
    conversations = build_conversations()
    trials = asyncio.run(_run(conversations, arguments.budget, arguments.peers))
    questions = sum(len(each.questions) for each in conversations)
    print(f"{len(conversations)} conversations, {questions} questions, {arguments.budget:,} tokens.\n")
    print("\n".join(table(trials)))
    if not arguments.peers:
        print("\nlangchain-core and litellm are left out: no --peers.")
    return 0


async def _run(
    conversations: Sequence[Conversation], budget: int, peers: str | None
) -> dict[tuple[str, Format], list[Trial]]:
    trials: dict[tuple[str, Format], list[Trial]] = defaultdict(list)
    for format, write in FORMATS.items():
        for conversation in conversations:
            items = write(conversation)
            for name, shorten in SYSTEMS.items():
                product = retrieval()
                kept = shorten(items, format, budget, product)
                trials[name, format].append(await measure(conversation, kept, format, budget, product))
    chats = [FORMATS["chat"](conversation) for conversation in conversations]
    for name, shortened in (run_peers(peers, chats, budget) if peers else {}).items():
        for conversation, kept in zip(conversations, shortened, strict=True):
            trials[name, "chat"].append(await measure(conversation, kept, "chat", budget, retrieval()))
    return trials


async def measure(conversation: Conversation, kept: Items, format: Format, budget: int, product: Retrieval) -> Trial:
    """Put the questions about a conversation to its shortened form."""
    text = "\n".join(texts(kept))
    in_text = [question.is_answered(text) for question in conversation.questions]
    missing = [each for each, found in zip(conversation.questions, in_text, strict=True) if not found]
    by_call = [await _is_read(conversation, kept, question, product) for question in missing]
    tokens = sum(map(estimate_item, kept))
    is_refused = bool(CHECKERS[format](kept))
    return Trial(len(in_text), sum(in_text), sum(by_call), tokens, is_refused, tokens > budget)


async def _is_read(conversation: Conversation, kept: Items, question: Question, product: Retrieval) -> bool:
    """Return whether one named call returns the answer."""
    calls = {output.id: id for each in conversation.rounds for id, output in each.calls()}
    id = call_for(kept, calls[question.output])
    return bool(id) and question.is_answered((await product.read_artifact(id, query=question.query)).text)


def table(trials: dict[tuple[str, Format], list[Trial]]) -> list[str]:
    """Return a table with a row for each system and format."""
    rows = [
        "| system | format | answer in the text | by one named call | reachable | tokens, mean | over the budget "
        "| refused |",
        "|---|---|---:|---:|---:|---:|---:|---:|",
    ]
    for (name, format), own in sorted(trials.items(), key=lambda each: list(FORMATS).index(each[0][1])):
        questions = sum(trial.questions for trial in own)
        text, call = sum(trial.in_text for trial in own), sum(trial.by_call for trial in own)
        shares = " | ".join(f"{100 * count / questions:.1f} %" for count in (text, call, text + call))
        tokens = sum(trial.tokens for trial in own) / len(own)
        over, refused = sum(trial.is_over for trial in own), sum(trial.is_refused for trial in own)
        rows.append(
            f"| {name} | {format} | {shares} | {tokens:,.0f} | {over} of {len(own)} | {refused} of {len(own)} |"
        )
    return rows


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.compaction")
    parser.add_argument("--peers", metavar="PYTHON", help="interpreter with langchain-core and litellm")
    parser.add_argument("--budget", type=int, default=BUDGET, metavar="N")
    return parser.parse_args()


if __name__ == "__main__":
    raise SystemExit(main())
