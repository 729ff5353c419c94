"""Load questions that words answer badly: in other words than the page's, or in another language than the page's.

`meaning.jsonl` has them, and ordinary questions about the same pages for comparison. They were written by a reader of
the pages who had not seen Keyhole. Pages are the published ones of benchmarks.tasks (`wcxb:ID`), or documents of the
folder of the development questions (`select:ID`). The answer of the latter is stated by offsets, so that no text of
theirs is here.
"""

from __future__ import annotations

import gzip
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

from benchmarks.tasks.pages import Page, find_pages
from benchmarks.tasks.tasks import Task, split_of

FILE: Final = Path(__file__).with_name("meaning.jsonl")
DOCUMENT: Final = "select:"


def load_meaning(files: Sequence[Path], data: Path, split: str) -> tuple[list[Task], dict[str, Page]]:
    """Return the questions whose page is there, and the page of each by the id of the question.

    `files`: published pages. `data`: the folder of the development questions. `split`: `dev` or `held`, by the page, or
    `all`.
    """
    rows = [json.loads(line) for line in FILE.read_text(encoding="utf-8").splitlines()]
    rows = [row for row in rows if split in ("all", split_of(row["page"]))]
    documents = _load_documents(data, {row["page"] for row in rows})
    tasks = [_to_task(row, documents) for row in rows if row["page"] in documents or DOCUMENT not in row["page"]]
    pages = {
        task.id: Page("page.txt", documents[task.page].encode(), "text/plain")
        for task in tasks
        if task.page in documents
    }
    pages |= find_pages([task for task in tasks if task.needs_data], files)
    return [task for task in tasks if task.id in pages], pages


def _load_documents(data: Path, wanted: set[str]) -> dict[str, str]:
    """Return the texts of the documents that the questions name, by `select:ID`."""
    documents = {}
    for file in sorted(data.glob("*.docs.jsonl.gz")):
        with gzip.open(file, "rt", encoding="utf-8") as lines:
            for row in map(json.loads, lines):
                documents[f"{DOCUMENT}{row['doc_id']}"] = row["text"]
    return {id: text for id, text in documents.items() if id in wanted}


def _to_task(row: dict[str, Any], documents: dict[str, str]) -> Task:
    text = documents.get(row["page"], "")
    parts = (part if isinstance(part, str) else text[part[0] : part[1]] for part in row["answer"])
    return Task(**{**row, "answer": tuple((part,) for part in parts)})
