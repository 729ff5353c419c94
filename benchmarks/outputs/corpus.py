"""Load the outputs and the questions about them."""

from __future__ import annotations

import hashlib
import json
import lzma
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path

FOLDER = Path(__file__).parent
CORPUS = FOLDER / "corpus.jsonl.xz"
QUESTIONS = FOLDER / "questions.jsonl"
SPLITS = ("dev", "test")


@dataclass(frozen=True)
class Output:
    """What a program printed. `id` is its program and the case, such as "pytest/toolz-merge"."""

    id: str
    kind: str
    command: str
    exit: int
    text: str

    @property
    def program(self) -> str:
        """Return the program that printed it."""
        return self.id.partition("/")[0]


@dataclass(frozen=True)
class Question:
    """What a reader wants to know of an output. `query` None asks for what any reader looks for.

    `answers`: strings of the output that a result must contain, all of them.
    `assertion`: True if the answers are the failing assertion of a test run.
    """

    output: str
    query: str | None
    answers: tuple[str, ...]
    assertion: bool = False

    def is_answered(self, text: str) -> bool:
        """Return whether a result holds every answer."""
        return all(answer in text for answer in self.answers)


def load_outputs(path: Path = CORPUS) -> dict[str, Output]:
    """Return the outputs by id."""
    with lzma.open(path, "rt", encoding="utf-8", newline="\n") as lines:
        outputs = [Output(**json.loads(line)) for line in lines]
    return {output.id: output for output in outputs}


def load_questions(path: Path = QUESTIONS) -> list[Question]:
    """Return the questions in the order of the file."""
    return list(_parse(path.read_text(encoding="utf-8").splitlines()))


def _parse(lines: Iterable[str]) -> Iterator[Question]:
    for line in lines:
        row = json.loads(line)
        yield Question(row["output"], row["query"], tuple(row["answers"]), row.get("assertion", False))


def split_outputs(ids: Iterable[str]) -> dict[str, str]:
    """Return the split of each output: every second one of a program, in the order of a hash of its id.

    So both splits have outputs in the style of each program, but none has an output of the other.
    """
    splits: dict[str, str] = {}
    for program, group in groupby(sorted(ids), key=lambda id: id.partition("/")[0]):
        ordered = sorted(group, key=_hash)
        first = int(_hash(program), 16) % 2
        splits |= {id: SPLITS[(first + place) % 2] for place, id in enumerate(ordered)}
    return splits


def _hash(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()
