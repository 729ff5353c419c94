"""Put the questions to a gateway in front of the recorded results."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from benchmarks.proxy.gateways.corpus import Question, Recorded, model_bytes, model_text, squeeze
from benchmarks.proxy.gateways.session import NoAnswerError, Session, running
from benchmarks.proxy.gateways.stores import Call, Result
from benchmarks.proxy.gateways.systems import System

ROOT = Path(__file__).parents[3]
"""The checkout, where the replaying server is found."""
PAGES = 2_000
"""Most calls that read one stored result."""
PROGRESS_SECONDS = 10.0
"""How long a short call after a progress notification may take."""


@dataclass(frozen=True)
class Trial:
    """One question put to one gateway."""

    system: str
    budget: int
    question: Question
    answered: bool
    """True if the answer is in the result."""
    followed: bool
    """True if it is in the result, or in that of the call that reads on."""
    found: bool
    """True if it is in the result, or in that of any one call that the gateway offers."""
    stored: bool
    """True if it is in the result, or in the stored text that the named calls read to its end."""
    size: int
    """Bytes of the result that reach the model."""
    original: int
    """Bytes of the result without a gateway."""


def run_trials(
    system: System,
    budget: int,
    python: str,
    recorded: Mapping[str, Recorded],
    questions: Sequence[Question],
    read_all: bool = True,
) -> Iterator[Trial]:
    """Put questions to a gateway. A result that does not depend on the question is requested once."""
    seen: dict[str, Result] = {}
    stored: dict[str, str] = {}
    with gateway(system, budget, python) as session:
        for question in questions:
            call = recorded[question.result]
            key = f"{call.id} {question.query}" if system.asks else call.id
            if key not in seen:
                arguments = system.arguments(call.arguments, question.query)
                seen[key] = system.shape(session.call(call.tool["name"], arguments), budget)
            result = seen[key]
            answered = question.is_answered(model_text(result))
            followed = answered or _has_answer(session, system.store.follow(result, budget), question)
            found = followed or _has_answer(session, system.store.find(result, question.query, budget), question)
            if not answered and read_all and call.id not in stored:
                stored[call.id] = squeeze("".join(read_pages(session, system, result, budget)))
            kept = answered or all(squeeze(answer) in stored.get(call.id, "") for answer in question.answers)
            size, original = model_bytes(result), model_bytes(call.result)
            yield Trial(system.name, budget, question, answered, followed, found, kept, size, original)


@contextmanager
def gateway(system: System, budget: int, python: str) -> Iterator[Session]:
    """Run a gateway in front of the replaying server, with an empty store."""
    with tempfile.TemporaryDirectory() as home:
        env = {**os.environ, "KEYHOLE_HOME": home, "TRSG_HOME": home, "PYTHONPATH": str(ROOT)}
        env |= {"KEYHOLE_MAX_CHARS": str(budget)} if budget else {}
        with running(system.command(python, budget), env) as session:
            yield session


def _has_answer(session: Session, call: Call | None, question: Question) -> bool:
    return call is not None and question.is_answered(model_text(session.call(*call)))


def read_pages(session: Session, system: System, result: Result, budget: int) -> Iterator[str]:
    """Yield the pages of the stored text of a shortened result."""
    call: Call | None = system.store.first_page(result, budget)
    for _ in range(PAGES):
        if call is None:
            return
        page = session.call(*call)
        yield system.store.page_text(page)
        call = system.store.next_page(page, call, budget)


def survives_progress(system: System, budget: int, python: str) -> bool:
    """Return whether two calls get their own results if the first is answered after a progress notification."""
    with gateway(system, budget, python) as session:
        try:
            one = session.call("say", {"text": "one"}, {"progressToken": "1"}, PROGRESS_SECONDS)
            two = session.call("say", {"text": "two"}, seconds=PROGRESS_SECONDS)
        except (NoAnswerError, OSError):
            return False
    return (model_text(one), model_text(two)) == ("one", "two")


def survives_repeat(system: System, budget: int, python: str) -> bool:
    """Return whether the same call gets the new result when the result has changed, as a log or a page does."""
    with gateway(system, budget, python) as session:
        texts = [model_text(system.shape(session.call("poll", {}), budget)) for _ in range(2)]
    return "poll 2" in texts[1]
