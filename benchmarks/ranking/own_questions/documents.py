"""Load questions about documents of Debian packages, with the sentences that answer them.

The questions are in questions.toml. The documents are not in the repository: their packages are downloaded and
unpacked, and their pages are read as Keyhole reads them.
"""

from __future__ import annotations

import gzip
import hashlib
import re
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from benchmarks.extraction.manuals.packages import unpack_package
from benchmarks.ranking.answers import Example, extract_sentence, remove_white_space
from keyhole import extract

QUESTIONS: Final = Path(__file__).with_name("questions.toml")
SPLITS: Final = ("dev", "held")
"""The two halves of the questions: to tune on, and to report on."""

MAX_PLACES: Final = 2
"""Places of a document in which a fragment may stand. More would let any passage answer the question."""

_MEDIA_TYPES: Final = {".html": "text/html; charset=utf-8", ".md": "text/markdown; charset=utf-8"}
_PLAIN_TEXT: Final = "text/plain; charset=utf-8"


def load_questions(split: str) -> list[Example]:
    """Load the questions of a split whose documents can be downloaded. An example's dataset is its document's kind.

    Raise ValueError if a fragment is not in its document, or in more than `MAX_PLACES` places.
    """
    examples: list[Example] = []
    for row in list_documents():
        questions = [each for each in row["questions"] if split_of(each[0]) == split]
        text = read_document(row["package"], row["pages"]) if questions else ""
        if text:
            examples += [make_example(row, text, *each) for each in questions]
    return examples


def list_documents() -> list[dict[str, Any]]:
    """Return the rows of the data file: package, pages, kind, language, and pairs of a question and a fragment."""
    rows: list[dict[str, Any]] = tomllib.loads(QUESTIONS.read_text(encoding="utf-8"))["document"]
    return rows


def split_of(question: str) -> str:
    """Return the split of a question, which depends only on its words."""
    return SPLITS[hashlib.sha256(question.encode()).digest()[0] % 2]


def read_document(package: str, pattern: str) -> str:
    """Return the main parts of a package's pages, joined; empty where the package cannot be downloaded."""
    folder = unpack_package(package)
    pages = sorted(folder.glob(pattern)) if folder else []
    return "\n\n".join(read_page(page) for page in pages)


def find_fragment(text: str, fragment: str) -> Iterator[tuple[int, int]]:
    """Yield the spans of a fragment in a text, whatever white space is between its words."""
    for match in re.finditer(r"\s+".join(map(re.escape, fragment.split())), text):
        yield match.span()


def read_page(page: Path) -> str:
    """Return the main part of a page, which may be compressed."""
    body = page.read_bytes()
    name = page.name.removesuffix(".gz")
    if name != page.name:
        body = gzip.decompress(body)
    document = extract(
        body, url=f"https://manual.example/{name}", content_type=_MEDIA_TYPES.get(Path(name).suffix, _PLAIN_TEXT)
    )
    return document.text[: document.main_end]


def make_example(row: dict[str, Any], text: str, question: str, fragment: str) -> Example:
    """Return the example of a question. Raise ValueError if the fragment has no place, or over `MAX_PLACES`."""
    spans = list(find_fragment(text, fragment))
    if not 0 < len(spans) <= MAX_PLACES:
        raise ValueError(f"{row['package']}: {len(spans)} places of {fragment!r}")
    gold = tuple(remove_white_space(extract_sentence(text, *span)) for span in spans)
    return Example(row["pages"], row["kind"], row["language"], text, question, (gold,))
