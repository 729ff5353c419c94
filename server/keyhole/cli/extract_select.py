"""`keyhole extract` and `keyhole select`: a file or stdin as Markdown, and its passages. Reads one file and prints."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Final

from keyhole.cli.call import draw
from keyhole.cli.table import print_json
from keyhole.config.config import Config
from keyhole.errors import Code, KeyholeError
from keyhole.extract import extract
from keyhole.passages import select
from keyhole.records import Artifact, Document, Selection

if TYPE_CHECKING:
    from keyhole.cli.explain.view import PageView

STDIN: Final = "-"
TYPES: Final = {
    ".html": "text/html", ".htm": "text/html", ".xhtml": "application/xhtml+xml", ".md": "text/markdown",
    ".markdown": "text/markdown", ".csv": "text/csv", ".tsv": "text/tab-separated-values", ".json": "application/json",
    ".jsonl": "application/jsonl", ".ndjson": "application/x-ndjson", ".xml": "application/xml",
}  # fmt: skip
"""Of files whose bytes do not say what they are."""


def extract_file(config: Config, arguments: argparse.Namespace) -> int:
    """Print the Markdown of a file; 0."""
    document = _document(config, arguments)
    if arguments.json:
        print_json(_document_facts(document))
    elif arguments.explain:
        draw(_view(document, arguments, None, [(0, len(document.text))]))
    else:
        _print_text(document.text)
    return 0


def select_file(config: Config, arguments: argparse.Namespace) -> int:
    """Print the passages of a file, or with --explain why these; 0."""
    if arguments.max_chars < 1:
        raise KeyholeError(Code.INVALID_ARGUMENT, "--max-chars must be at least 1")
    document = _document(config, arguments)
    query = arguments.query
    selection = select(document.text, query, arguments.max_chars, strategy=arguments.strategy)
    if arguments.json:
        view = {"explain": asdict(_view(document, arguments, query, selection.spans))} if arguments.explain else {}
        print_json({**_facts(selection), **view})
    elif arguments.explain:
        draw(_view(document, arguments, query, selection.spans))
    else:
        _print_text(selection.text)
    return 0


def _document(config: Config, arguments: argparse.Namespace) -> Document:
    body = _body(arguments.file, config.max_decoded_bytes)
    media_type = arguments.type or TYPES.get(Path(arguments.file).suffix.lower(), "")
    return extract(body, url=arguments.url, content_type=media_type)


def _body(name: str, most: int) -> bytes:
    if name == STDIN and sys.stdin.isatty():
        print("keyhole: reading standard input; Ctrl-D ends it", file=sys.stderr)
    try:
        if name == STDIN:
            body = sys.stdin.buffer.read(most + 1)
        else:
            with Path(name).open("rb") as file:
                body = file.read(most + 1)
    except OSError as error:
        raise KeyholeError(Code.INVALID_ARGUMENT, f"{name} cannot be read: {error.strerror}") from error
    if len(body) > most:
        raise KeyholeError(Code.TOO_LARGE, f"{name} holds more than {most:,} bytes (KEYHOLE_MAX_DECODED_BYTES)")
    return body


def _view(
    document: Document, arguments: argparse.Namespace, query: str | None, spans: Sequence[tuple[int, int]]
) -> PageView:
    from keyhole.cli.explain.view import page_view

    url = arguments.url or ("" if arguments.file == STDIN else arguments.file)
    notes = (("notice", document.notice),) if document.notice else ()
    artifact = Artifact(
        "", url, url, document.title, document.text, document.media_type, document.language, 0.0, notes=notes
    )
    return page_view(artifact, query, spans, document.removed)


def _print_text(text: str) -> None:
    print(text, end="" if text.endswith("\n") else "\n")


def _document_facts(document: Document) -> dict[str, object]:
    about = {name: value for name, value in asdict(document.metadata).items() if value}
    return {
        "title": document.title,
        "media_type": document.media_type,
        "language": document.language,
        "metadata": about,
        "total_chars": len(document.text),
        "cut": document.cut,
        "notice": document.notice,
        "removed": dict(document.removed),
        "text": document.text,
    }


def _facts(selection: Selection) -> dict[str, object]:
    return {
        "strategy": selection.strategy,
        "total_chars": selection.total,
        "shown_chars": selection.shown,
        "weak": selection.weak,
        "terms": {term.term: term.count for term in selection.terms},
        "spans": [[*span, score] for span, score in zip(selection.spans, selection.scores, strict=True)],
        "parts": [dict(ingredients) for ingredients in selection.parts],
        "text": selection.text,
    }
