"""Load the recorded results and the questions about them."""

from __future__ import annotations

import json
import lzma
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parent
RESULTS = FOLDER / "results.jsonl.xz"
QUESTIONS = FOLDER / "questions.jsonl"


@dataclass(frozen=True)
class Recorded:
    """What a server answered to a call. `id` is the server and the case, such as "git/log"."""

    id: str
    tool: dict[str, Any]
    """The tool as the server's list describes it."""
    arguments: dict[str, Any]
    result: dict[str, Any]

    @property
    def server(self) -> str:
        """Return the server's name."""
        return self.id.partition("/")[0]


@dataclass(frozen=True)
class Question:
    """What an agent wants to know from a result. `answers`: strings that a bounded result must contain, all of them."""

    result: str
    query: str
    answers: tuple[str, ...]

    def is_answered(self, text: str) -> bool:
        """Return whether a text holds every answer, whatever white space a gateway has put between its parts."""
        squeezed = squeeze(text)
        return all(squeeze(answer) in squeezed for answer in self.answers)


def squeeze(text: str) -> str:
    """Return a text without white space: gateways write JSON again with other spaces."""
    return "".join(text.split())


def load_results(path: Path = RESULTS) -> dict[str, Recorded]:
    """Return the recorded results by id."""
    with lzma.open(path, "rt", encoding="utf-8", newline="\n") as lines:
        results = [Recorded(**json.loads(line)) for line in lines]
    return {result.id: result for result in results}


def load_questions(path: Path = QUESTIONS) -> list[Question]:
    """Return the questions in the order of the file."""
    rows = (json.loads(line) for line in path.read_text(encoding="utf-8").splitlines())
    return [Question(row["result"], row["query"], tuple(row["answers"])) for row in rows]


def model_text(result: dict[str, Any]) -> str:
    """Return what a result tells a model: its texts, and its structured content as JSON with the strings in it."""
    parts = [block["text"] for block in result.get("content") or () if isinstance(block.get("text"), str)]
    structured = result.get("structuredContent")
    if structured is not None:
        parts += [json.dumps(structured, ensure_ascii=False), *_strings(structured)]
    return "\n".join(parts)


def model_bytes(result: dict[str, Any]) -> int:
    """Return the bytes of the texts and of the structured content, as JSON without spaces, that reach a model."""
    texts = [block["text"] for block in result.get("content") or () if isinstance(block.get("text"), str)]
    structured = result.get("structuredContent")
    written = "" if structured is None else json.dumps(structured, ensure_ascii=False, separators=(",", ":"))
    return sum(len(text.encode("utf-8", "surrogatepass")) for text in [*texts, written])


def _strings(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict | list):
        for each in value.values() if isinstance(value, dict) else value:
            yield from _strings(each)
