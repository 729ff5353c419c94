"""Read CSV and TSV as one Markdown table with one line per row, so that ranges of lines are ranges of rows."""

from __future__ import annotations

import csv
import io
from typing import Final

from keyhole.extract.body import Body
from keyhole.extract.formats.markdown import clean_plain_text
from keyhole.extract.markup import format_table
from keyhole.records import Document
from keyhole.text.clean import clean

DELIMITERS: Final = (",", ";", "\t", "|")
"""Delimiters. Of several that fit equally well, the first one is used."""
SAMPLE_LINES: Final = 20
SAMPLE_CHARS: Final = 10_000
"""Lines and characters examined to find the delimiter."""


def read_delimited(body: Body) -> Document:
    """Read the rows as a table whose header is the first row. Text that is not valid CSV is read as plain text."""
    text = clean(body.text()).strip("\n")
    declared = "\t" if "tab-separated" in body.content_type.lower() or "tsv" in body.content_type.lower() else ""
    delimiter, text = _find_delimiter(text, declared)
    try:
        rows = [row for row in csv.reader(io.StringIO(text), delimiter=delimiter) if any(map(str.strip, row))]
    except csv.Error:  # a cell over 131,072 characters, the limit of the csv module: an unclosed quote
        return Document(title="", text=clean_plain_text(text)[1], media_type="")
    return Document(title="", text=format_table(rows), media_type="")


def _find_delimiter(text: str, declared: str) -> tuple[str, str]:
    """Return the delimiter, and the text without a `sep=;` line, with which spreadsheets declare the delimiter."""
    first, _, rest = text.partition("\n")
    if first.lower().startswith("sep=") and len(first) == 5:
        return first[4], rest
    sample = text[:SAMPLE_CHARS].split("\n")[:SAMPLE_LINES]
    lines = [_remove_quoted(line) for line in sample if line.strip()]

    def rate(delimiter: str) -> tuple[int, int]:
        """Return how many lines have as many delimiters as the first line, and that number of delimiters."""
        counts = [line.count(delimiter) for line in lines]
        if not counts or not counts[0]:
            return 0, 0
        return sum(count == counts[0] for count in counts), counts[0]

    if declared and any(declared in line for line in lines):
        return declared, text
    best = max(DELIMITERS, key=rate)
    return (best if rate(best) > (0, 0) else declared or ","), text


def _remove_quoted(line: str) -> str:
    return "".join(line.split('"')[::2])
