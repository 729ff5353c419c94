"""Load the reading tasks, and tell whether a text contains the answer of one."""

from __future__ import annotations

import hashlib
import json
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from benchmarks.search.web.corpus import normalize_text

FILE: Final = Path(__file__).with_name("tasks.jsonl")
SPLITS: Final = ("dev", "held")
KINDS: Final = (
    "manual", "article", "forum", "table", "pdf", "json", "csv", "source", "index", "changelog", "text",
)  # fmt: skip
ASKS: Final = (
    "fact", "cell", "paraphrase", "crosslingual", "list", "places", "changelog", "example", "definition", "absent",
    "other",
)  # fmt: skip
"""What a question asks for: one sentence, a cell of a table, something that the page says in other words or in another
language, all items of a list, two distant places, a change with its version, an example, what a name means, something
that the page does not tell; `other` for the first tasks, which are not told apart."""
NEAR: Final = 500
"""Characters, without spaces and markup, between the parts of an answer at most: a section or a few rows of a table, so
that parts which stand on the page by chance do not count."""


@dataclass(frozen=True, slots=True)
class Task:
    """A question about a page."""

    id: str
    kind: str
    language: str
    page: str
    """`PACKAGE:PATH` of a Debian package, or `wcxb:ID` of a page of DATA."""
    query: str
    answer: tuple[tuple[str, ...], ...]
    """The parts of the answer, each with its alternatives; empty for a question that the page does not answer."""
    asks: str = "other"

    @property
    def is_absent(self) -> bool:
        """True if the page does not answer the question."""
        return not self.answer

    @property
    def split(self) -> str:
        """`dev` or `held`."""
        return split_of(self.id)

    @property
    def needs_data(self) -> bool:
        """True if the page is in DATA rather than in a package."""
        return self.page.startswith("wcxb:")


def split_of(id: str) -> str:
    """Return the half to which a task or a run belongs, chosen by the hash of its id."""
    return SPLITS[hashlib.sha256(id.encode()).digest()[0] % 2]


def load_tasks(file: Path = FILE) -> tuple[Task, ...]:
    """Return every task. A line is a JSON object; an alternative that stands alone is written as a string."""
    rows = (json.loads(line) for line in file.read_text(encoding="utf-8").splitlines())
    return tuple(
        Task(**{**row, "answer": tuple((part,) if isinstance(part, str) else tuple(part) for part in row["answer"])})
        for row in rows
    )


def has_answer(task: Task, text: str) -> bool:
    """Return True if the text contains an alternative of every part of the answer, all near the first part.

    The parts may be anywhere if the question asks for two distant places. Markup, white space and case are ignored.
    False for an absent answer.
    """
    if task.is_absent:
        return False
    normalized = normalize_text(text)
    if task.asks == "places":
        return all(any(normalize_text(words) in normalized for words in part) for part in task.answer)
    first, *others = (tuple(map(normalize_text, part)) for part in task.answer)
    for found in re.finditer("|".join(map(re.escape, first)), normalized):
        around = normalized[max(0, found.start() - NEAR) : found.end() + NEAR]
        if all(any(words in around for words in part) for part in others):
            return True
    return False
