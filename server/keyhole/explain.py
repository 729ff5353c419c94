"""`keyhole select`: what a file gives for a query, and why. Reads one file and prints; selects nothing itself."""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path

from keyhole.errors import Code, KeyholeError
from keyhole.extract import extract
from keyhole.passages import select
from keyhole.records import Selection

_TYPES = {".html": "text/html", ".htm": "text/html", ".xhtml": "text/html", ".md": "text/markdown"}


def run(arguments: argparse.Namespace) -> int:
    """Print the selection, with `--explain` passage by passage; 0."""
    text = _text(arguments.file)
    selection = select(text, arguments.query, arguments.max_chars, strategy=arguments.strategy)
    if arguments.json:
        print(json.dumps(_facts(selection), ensure_ascii=False, indent=2))
    elif arguments.explain:
        print("\n\n".join([_summary(selection), *_passages(text, selection)]))
    else:
        print(selection.text, end="" if selection.text.endswith("\n") else "\n")
    return 0


def _text(name: str) -> str:
    try:
        body = sys.stdin.buffer.read() if name == "-" else Path(name).read_bytes()
    except OSError as error:
        raise KeyholeError(Code.INVALID_ARGUMENT, f"{name} cannot be read: {error.strerror}") from error
    media_type = _TYPES.get(Path(name).suffix.lower(), "")
    return extract(body, url="", content_type=media_type).text


def _summary(selection: Selection) -> str:
    terms = ", ".join(f"{term.term} {term.count}" for term in selection.terms)
    weak = "\nWeak match: the text may not contain the answer." if selection.weak else ""
    amount = f"{selection.shown:,} of {selection.total:,} characters"
    counts = f"\nIn the whole text: {terms}." if terms else ""
    noun = "passage" if len(selection.spans) == 1 else "passages"
    return f"{selection.strategy}: {amount} in {len(selection.spans)} {noun}.{counts}{weak}"


def _passages(text: str, selection: Selection) -> list[str]:
    """Each span under a line of its score and what each ingredient added to or took from it."""
    parts = selection.parts or ((),) * len(selection.spans)
    shown = []
    for (start, end), score, ingredients in zip(selection.spans, selection.scores, parts, strict=True):
        split = "  ".join(f"{name} {value:+.2f}" for name, value in ingredients)
        shown.append(
            f"── {start}:{end}  score {score:.2f}{f'  =  {split}' if split else ''}\n{text[start:end].strip()}"
        )
    return shown


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
