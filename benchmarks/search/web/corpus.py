"""Load the pages and questions of the benchmark, and normalize texts to search them for answers."""

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
"""Licences by manual, which is the first word of a page's id. README.md lists sources and authors."""

_TARGET = re.compile(r"\]\((?:[^()]|\([^()]*\))*\)")
_MARKS = re.compile(r"[\s\[\]`*_\\|<>]+")


@dataclass(frozen=True, slots=True)
class CorpusPage:
    """The content of one page of a manual, as published."""

    id: str
    language: str
    title: str
    html: str

    @property
    def manual(self) -> str:
        """The manual that contains the page."""
        return re.split("[-/]", self.id)[0]


@dataclass(frozen=True, slots=True)
class Question:
    """A question and the passages that answer it, each with its page."""

    id: str
    text: str
    language: str
    answers: tuple[tuple[str, tuple[str, ...]], ...]
    """`(page id, alternatives)` for each part of the answer. The first alternative is a quotation from the page; the
    others have the same meaning."""

    @property
    def split(self) -> str:
        """`dev` or `test`, depending on the page, so that no page is in both."""
        return "dev" if sum(self.answers[0][0].encode()) % 2 else "test"


def load_pages() -> tuple[CorpusPage, ...]:
    """Return every page."""
    text = lzma.decompress((HERE / "pages.jsonl.xz").read_bytes()).decode()
    return tuple(CorpusPage(**json.loads(line)) for line in text.split("\n"))


def load_questions() -> tuple[Question, ...]:
    """Return every question, in the order of the file.

    A line is `language | question | page id | words [~ other words] [| page id | words …]`.
    """
    questions: list[Question] = []
    lines = (HERE / "questions.txt").read_text(encoding="utf-8").splitlines()
    for line in (line for line in lines if line and not line.startswith("#")):
        language, text, *rest = (part.strip() for part in line.split(" | "))
        words = (tuple(part.split(" ~ ")) for part in rest[1::2])
        answers = tuple(zip(rest[::2], words, strict=True))
        questions.append(Question(f"q{len(questions) + 1:03}", text, language, answers))
    return tuple(questions)


def normalize_text(text: str) -> str:
    """Return a text without Markdown syntax, white space and case, to compare it with answers."""
    return _MARKS.sub("", _TARGET.sub("", text)).casefold()
