"""Measure a long session of an agent, compacted before each request: what a cache can reuse, and what is still visible.

    python -m benchmarks.compaction.sessions [--budget N] [--target T]

Each session has 82 to 114 requests. The agent runs commands, whose real outputs are cut to at most 6,000 characters as
agents do, and writes files of real source code with commands. The share of a request that a cache can reuse is its
longest common beginning with the request before, in bytes of JSON. The use of the budget is that of requests after the
first compaction, by the estimate. An answer is visible if it is in the text of a request; every tenth request is asked
about results that are 5 to 40 rounds old.
"""

from __future__ import annotations

import argparse
import json
import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from statistics import mean

import keyhole
from benchmarks.compaction.conversations import FORMATS, Conversation, Items, Round
from benchmarks.compaction.systems import clear_results, texts
from benchmarks.outputs.corpus import Output, Question, load_outputs, load_questions
from keyhole.extensions.conversations.compact import TARGET
from keyhole.extensions.conversations.formats import Format

BUDGET = 60_000
"""Tokens of a request."""
REQUESTS = (82, 90, 98, 106, 114)
MAX_RESULT_CHARS = 6_000
FILE_CHARS = (1_000, 6_000)
"""Characters of a file that the agent writes."""
WRITES = 0.3
"""Share of the rounds that write a file."""
ASKED_EVERY = 10
ASKED_ROUNDS = (5, 40)

Shorten = Callable[[Items, Format], Items]


@dataclass(frozen=True)
class Session:
    """The rounds of a session, and questions about their results."""

    rounds: tuple[Round, ...]
    questions: tuple[Question, ...]

    def items(self, count: int, format: Format) -> Items:
        """Return the items of the first rounds, as they are sent before the next one."""
        return FORMATS[format](Conversation(self.rounds[:count], ()))


@dataclass(frozen=True)
class Figures:
    """What a session measured."""

    reused: float
    used: float
    visible: float


def build_session(requests: int) -> Session:
    """Return a session. The same number gives the same one."""
    draw = random.Random(requests)
    outputs = {id: replace(each, text=each.text[:MAX_RESULT_CHARS]) for id, each in load_outputs().items()}
    sources = [each.text for each in load_outputs().values() if each.kind == "source"]
    ids = _drawn(draw, sorted(outputs))
    rounds = []
    for number in range(requests):
        own: tuple[Output, ...]
        if draw.random() < WRITES:
            start = draw.randrange(20_000)
            text = draw.choice(sources)[start : start + draw.randint(*FILE_CHARS)]
            own = (Output(f"write/{number}", "text", f"cat > part_{number}.py <<'EOF'\n{text}\nEOF", 0, ""),)
        else:
            own = tuple(outputs[next(ids)] for _ in range(draw.choice((1, 1, 1, 2))))
        said = f"I run {own[0].command[:60]}." if draw.random() < 0.6 else ""
        message = "Good. Go on with the next step." if draw.random() < 0.1 else ""
        rounds.append(Round(number, said, draw.random() < 0.5, own, message))
    questions = [each for each in load_questions() if each.query and each.is_answered(outputs[each.output].text)]
    return Session(tuple(rounds), tuple(questions))


def _drawn(draw: random.Random, ids: Sequence[str]) -> Iterator[str]:
    while True:
        yield from draw.sample(ids, len(ids))


def measure(session: Session, format: Format, budget: int, shorten: Shorten) -> Figures:
    """Send the requests of a session."""
    before = b""
    shared = total = asked = visible = 0
    used: list[float] = []
    for count in range(1, len(session.rounds) + 1):
        items = session.items(count, format)
        kept = shorten(items, format)
        sent = json.dumps(kept).encode()[:-1]
        if before:
            shared, total = shared + _common(before, sent), total + len(sent)
        before = sent
        if kept != items:
            used.append(keyhole.compact(kept, 10**9, format=format).report.tokens_after / budget)
        if count % ASKED_EVERY == 0:
            found = list(_answers(session, count, "\n".join(texts(kept))))
            asked, visible = asked + len(found), visible + sum(found)
    return Figures(shared / total, mean(used), visible / asked)


def _common(one: bytes, other: bytes) -> int:
    """Return the length of the common beginning."""
    low, high = 0, min(len(one), len(other))
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if one[:middle] == other[:middle] else (low, middle - 1)
    return low


def _answers(session: Session, count: int, text: str) -> Iterator[bool]:
    """Yield for each question about older results whether it is answered in the text of a request."""
    last, first = (max(0, count - rounds) for rounds in ASKED_ROUNDS)
    old = {output.id for each in session.rounds[first:last] for output in each.outputs}
    return (question.is_answered(text) for question in session.questions if question.output in old)


def systems(budget: int, target: float | None) -> dict[str, Shorten]:
    """Return the ways to shorten a request."""
    share = TARGET if target is None else target
    return {
        "keyhole": lambda items, format: keyhole.compact(items, budget, format=format, target=share).items,
        "all but three results cleared": lambda items, format: clear_results(items, format, budget, None),
    }


def main() -> int:
    """Print the table."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.compaction.sessions")
    parser.add_argument("--budget", type=int, default=BUDGET, metavar="N")
    parser.add_argument("--target", type=float, metavar="T")
    arguments = parser.parse_args()
    sessions = [build_session(requests) for requests in REQUESTS]
    print("| system | format | reused | use of the budget | visible |\n|---|---|---:|---:|---:|")
    for name, shorten in systems(arguments.budget, arguments.target).items():
        for format in FORMATS:
            each = [measure(session, format, arguments.budget, shorten) for session in sessions]
            columns = [mean(getattr(figures, field) for figures in each) for field in ("reused", "used", "visible")]
            print(f"| {name} | {format} | {' | '.join(f'{100 * value:.1f} %' for value in columns)} |", flush=True)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
