"""The pages and the questions as they are kept, and how a text is searched for an answer. No site, no network."""

from __future__ import annotations

import json
import lzma
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Final

HERE: Final = Path(__file__).parent
LICENCES: Final = {
    "postgresql": "PostgreSQL",
    "sqlite": "public domain",
    "python": "PSF-2.0",
    "handbook": "CC-BY-SA-3.0",
}
"""By the manual that a page is of, the first word of its id; README.md has sources and authors."""

_TARGET = re.compile(r"\]\((?:[^()]|\([^()]*\))*\)")
_MARKS = re.compile(r"[\s\[\]`*_\\|<>]+")


@dataclass(frozen=True, slots=True)
class CorpusPage:
    """The content of one page of a manual, as shipped."""

    id: str
    language: str
    title: str
    html: str

    @property
    def manual(self) -> str:
        """The manual that it is of."""
        return re.split("[-/]", self.id)[0]


@dataclass(frozen=True, slots=True)
class Question:
    """A question as a person asks it, and the words that answer it: all of them, each on its page."""

    id: str
    text: str
    language: str
    answers: tuple[tuple[str, tuple[str, ...]], ...]
    """`(page id, words)`; more than one where the answer needs two places. The first words stand in the page, others
    say the same there or elsewhere."""

    @property
    def split(self) -> str:
        """`dev` or `test`, by page, so that no page is in both."""
        return "dev" if sum(self.answers[0][0].encode()) % 2 else "test"


def load_pages() -> tuple[CorpusPage, ...]:
    """Every page."""
    text = lzma.decompress((HERE / "pages.jsonl.xz").read_bytes()).decode()
    return tuple(CorpusPage(**json.loads(line)) for line in text.split("\n"))


def load_questions() -> tuple[Question, ...]:
    """Every question, in the file's order: `language | question | page id | words [~ others] [| …]`."""
    questions: list[Question] = []
    lines = (HERE / "questions.txt").read_text(encoding="utf-8").splitlines()
    for line in (line for line in lines if line and not line.startswith("#")):
        language, text, *rest = (part.strip() for part in line.split(" | "))
        words = (tuple(part.split(" ~ ")) for part in rest[1::2])
        answers = tuple(zip(rest[::2], words, strict=True))
        questions.append(Question(f"q{len(questions) + 1:03}", text, language, answers))
    return tuple(questions)


def plain(text: str) -> str:
    """A text without what Markdown adds to its words, and without white space: what answers are looked for in."""
    return _MARKS.sub("", _TARGET.sub("", text)).casefold()
