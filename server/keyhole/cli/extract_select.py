"""Run `keyhole extract` and `keyhole select`: print a file as Markdown, or its passages for a query."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING

from keyhole.cli.terminal import print_json
from keyhole.cli.text_io import STDIN, print_text, read_input
from keyhole.config.config import Config
from keyhole.errors import Code, KeyholeError
from keyhole.extract import extract
from keyhole.extract.media_type import type_by_name
from keyhole.passages import select
from keyhole.records import Artifact, Document, Selection
from keyhole.text.markdown import expand_links, find_link_origin

if TYPE_CHECKING:
    from keyhole.retrieval.answer_view import PageView


def run(config: Config, arguments: argparse.Namespace) -> int:
    """Print the Markdown of a file or its passages, and return 0."""
    if arguments.command == "extract":
        _print_document(_extract_file(config, arguments), arguments)
        return 0
    if arguments.max_chars < 1:
        raise KeyholeError(Code.INVALID_ARGUMENT, "--max-chars must be at least 1")
    _print_passages(_extract_file(config, arguments), arguments)
    return 0


def _print_document(document: Document, arguments: argparse.Namespace) -> None:
    if arguments.json:
        print_json(_document_facts(document, _printed_text(document, arguments)))
    else:
        print_text(_printed_text(document, arguments))


def _printed_text(document: Document, arguments: argparse.Namespace) -> str:
    """Return the text that `keyhole extract` prints: the main part, or with `--all` the rest of the page too."""
    return document.text if arguments.all else document.main


def _print_passages(document: Document, arguments: argparse.Namespace) -> None:
    query = arguments.query
    strategy, main_end = arguments.strategy, document.main_end or None
    selection = select(
        document.text, query, arguments.max_chars, main_end=main_end, pages=document.pages, strategy=strategy
    )
    if arguments.json or arguments.explain:
        view = {"explain": asdict(_make_view(document, arguments, query, selection.spans))} if arguments.explain else {}
        print_json({**_selection_facts(selection), **view})
    else:
        print_text(selection.text)


def _extract_file(config: Config, arguments: argparse.Namespace) -> Document:
    """Return the document of a file, with full URLs as links, because its address is not printed."""
    body = read_input(arguments.file, config.max_decoded_bytes)
    named = type_by_name(Path(arguments.file).name)
    media_type = arguments.type or ("" if named == "text/plain" else named)
    document = extract(body, url=arguments.url, content_type=media_type)
    origin = find_link_origin(arguments.url, document.media_type)
    main = expand_links(document.main, origin)
    text = main + expand_links(document.text[len(document.main) :], origin)
    return replace(document, text=text, main_end=document.main_end and len(main))


def _make_view(
    document: Document, arguments: argparse.Namespace, query: str | None, spans: Sequence[tuple[int, int]]
) -> PageView:
    from keyhole.retrieval.answer_view import build_page_view

    url = arguments.url or ("" if arguments.file == STDIN else arguments.file)
    notes = (("notice", document.notice),) if document.notice else ()
    artifact = Artifact(
        "", url, url, document.title, document.text, document.media_type, document.language, 0.0,
        notes=notes, main_end=document.main_end or None,
    )  # fmt: skip
    return build_page_view(artifact, query, spans, document.removed)


def _document_facts(document: Document, text: str) -> dict[str, object]:
    metadata = {name: value for name, value in asdict(document.metadata).items() if value}
    return {
        "title": document.title,
        "media_type": document.media_type,
        "language": document.language,
        "metadata": metadata,
        "total_chars": len(document.text),
        "main_chars": len(document.main),
        "cut": document.cut,
        "notice": document.notice,
        "removed": dict(document.removed),
        "text": text,
    }


def _selection_facts(selection: Selection) -> dict[str, object]:
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
