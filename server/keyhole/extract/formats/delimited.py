"""CSV and TSV as one Markdown table, the first row its header. One row is one line, so that ranges are rows."""

from __future__ import annotations

import csv
import io
from typing import Final

from keyhole.extract.body import Body
from keyhole.extract.decode import tidy
from keyhole.extract.formats.plain import plain_to_text
from keyhole.extract.markup import table
from keyhole.records import Document

DELIMITERS: Final = (",", ";", "\t", "|")
"""In the order in which they are preferred where a text has several equally often."""
SAMPLE_LINES: Final = 20
SAMPLE_CHARS: Final = 10_000
"""How much is looked at to find the delimiter: it stands in every row."""


def read_delimited(body: Body) -> Document:
    """The rows as a table; a text that cannot be read as rows stays as it is."""
    text = tidy(body.text()).strip("\n")
    named = "\t" if "tab-separated" in body.content_type.lower() or "tsv" in body.content_type.lower() else ""
    delimiter, text = _delimiter(text, named)
    try:
        rows = [row for row in csv.reader(io.StringIO(text), delimiter=delimiter) if any(map(str.strip, row))]
    except csv.Error:  # a cell over the module's limit of 131,072 characters: a quote that is never closed
        return Document(title="", text=plain_to_text(text)[1], media_type="")
    return Document(title="", text="".join(f"{line}\n" for line in table(rows)), media_type="")


def _delimiter(text: str, named: str) -> tuple[str, str]:
    """The delimiter, and the text without the `sep=;` line in which spreadsheets state it."""
    first, _, rest = text.partition("\n")
    if first.lower().startswith("sep=") and len(first) == 5:
        return first[4], rest
    sample = text[:SAMPLE_CHARS].split("\n")[:SAMPLE_LINES]
    lines = [_outside_quotes(line) for line in sample if line.strip()]

    def agreement(delimiter: str) -> tuple[int, int]:
        counts = [line.count(delimiter) for line in lines]
        if not counts or not counts[0]:
            return 0, 0
        return sum(count == counts[0] for count in counts), counts[0]

    if named and any(named in line for line in lines):
        return named, text
    best = max(DELIMITERS, key=agreement)
    return (best if agreement(best) > (0, 0) else named or ","), text


def _outside_quotes(line: str) -> str:
    return "".join(line.split('"')[::2])
