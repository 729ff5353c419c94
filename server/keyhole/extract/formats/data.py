"""Read data: JSON, JSON Lines, notebooks, and delimited text."""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from keyhole.extract.body import Body
from keyhole.extract.formats.plain_text import clean_plain_text, describe_left_out, format_markdown, name_base64
from keyhole.extract.markup import fence_code, format_records, format_table, fragment_to_markdown, to_one_line
from keyhole.records import Document
from keyhole.text.clean import clean

# CSV and TSV as one Markdown table with one line per row, so that ranges of lines are ranges of rows.

DELIMITERS: Final = (",", ";", "\t", "|")
"""Delimiters. Of several that fit equally well, the first one is used."""
SAMPLE_LINES: Final = 20
SAMPLE_CHARS: Final = 10_000
"""Lines and characters examined to find the delimiter."""
WIDE_COLUMNS: Final = 20
WIDE_ROW_CHARS: Final = 600
"""Columns, and characters of the header or of a mean row, from which a table is written as records. A row or the header
is longer than a passage then, and cells would stand apart from their names."""
MAX_RECORD_CELLS: Final = 200_000
"""Most cells of a table that is written as records: each repeats its name."""


def read_delimited(body: Body) -> Document:
    """Read the rows as a table whose header is the first row, or as records if they are wide.

    Text that is not valid CSV is read as plain text.
    """
    text = clean(body.text()).strip("\n")
    declared = "\t" if "tab-separated" in body.content_type.lower() or "tsv" in body.content_type.lower() else ""
    delimiter, text = _find_delimiter(text, declared)
    try:
        rows = [row for row in csv.reader(io.StringIO(text), delimiter=delimiter) if any(map(str.strip, row))]
    except csv.Error:  # a cell over 131,072 characters, the limit of the csv module: an unclosed quote
        return Document(title="", text=clean_plain_text(text)[1], media_type="")
    return Document(title="", text=format_records(rows) if _are_wide(rows) else format_table(rows), media_type="")


def _are_wide(rows: Sequence[Sequence[str]]) -> bool:
    """Return whether rows below a header are too wide for a table, and not too many for records."""
    if len(rows) < 2 or len(rows[0]) < WIDE_COLUMNS or sum(map(len, rows)) > MAX_RECORD_CELLS:
        return False
    chars = [sum(len(cell) + len(" | ") for cell in row) for row in rows]
    return max(chars[0], sum(chars) / len(chars)) >= WIDE_ROW_CHARS


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


# JSON and JSON Lines as an outline followed by the values.

MAX_OUTLINE_KEYS: Final = 12
"""Largest number of keys listed in the outline, one per line. Further keys are counted, so that the outline has at most
15 lines."""
MAX_INNER_KEYS: Final = 8
"""Largest number of keys listed for a nested object."""
MAX_KEY_CHARS: Final = 60
"""Characters shown of each key in the outline. Hashes and URLs occur as keys too."""
MAX_INDENT: Final = 12
"""Largest indent, in levels. With a larger indent at each deeper level, a text that consists of brackets would grow
with the square of its length."""
FLAT_CHARS: Final = 100
"""An array or object of scalars, such as coordinates, tags or records, stays on one line if it has at most this many
characters. The text then has a third of the lines. The outermost value is always split into lines."""
MAX_INDENTED_CHARS: Final = 5_000_000
"""Largest text that is indented, in characters: 2 MB take some 1 s. Larger texts stay as sent."""
LONG_LINE: Final = 1_000
"""Characters of the longest line that is useful in line ranges. Text whose lines are all shorter is unchanged."""

_STRING = r'(?<!\\)"(?:[^"\\]|\\.)*+"'
_SCALAR = rf"(?:{_STRING}|[-+\w.]++)"
_TOKEN = re.compile(rf"(?<!\s)\s*+({_SCALAR}|[\[\]{{}},:])", re.DOTALL)
_MEMBER = rf"\s*+(?:{_STRING}\s*+:\s*+)?+{_SCALAR}\s*+"
_FLAT = re.compile(rf"[\[{{]{_MEMBER}(?:,{_MEMBER})*+[\]}}]", re.DOTALL)
_FLAT_MARK = re.compile(rf"{_SCALAR}|[\[\]{{}},:]", re.DOTALL)
_EMPTY = re.compile(r"(?<=[\[{])\s*+[\]}]")
_FLAT_MARKS = {",": ", ", ":": ": "}
_ESCAPE = re.compile(r"\\u[0-9a-fA-F]{4}")


class _Number(str):
    """A number as written in the text, which may have 5,000 digits. It is never rounded."""

    __slots__ = ()


def read_json(body: Body) -> Document:
    """Read JSON as an outline followed by its values. Invalid JSON is read as plain text."""
    text = clean(body.text()).strip()
    try:
        value = json.loads(text, parse_int=_Number, parse_float=_Number)
        if _is_notebook(value):
            return _read_notebook(value, body.url)
        outline = _describe_document(value)
        title = _find_title(value)
    except (ValueError, RecursionError):  # invalid, or nested a thousand levels deep
        title, text = clean_plain_text(body.text())
        return Document(title=title, text=name_base64(text), media_type="")
    return Document(title=title, text=f"{outline}\n{fence_code(indent_json(name_base64(text)), 'json')}", media_type="")


def read_json_lines(body: Body) -> Document:
    """Read JSON Lines as a line with the number of values followed by the text as sent."""
    text = clean(body.text()).strip("\n")
    lines = [line for line in text.split("\n") if line.strip()]
    if not lines:
        return Document(title="", text="", media_type="")
    try:
        first = f"; the first is: {_describe_value(json.loads(lines[0], parse_int=_Number, parse_float=_Number))}"
    except (ValueError, RecursionError):
        first = ""
    head = f"JSON Lines: {_format_count(len(lines), 'value')}{first}"
    return Document(title="", text=f"{head}\n\n{fence_code(name_base64(text), 'json')}", media_type="")


def indent_json(text: str) -> str:
    """Indent valid JSON by two spaces per level. Tokens are unchanged, except that escapes of letters are decoded.

    A text with line breaks and no line over `LONG_LINE` is returned unchanged, as is one over `MAX_INDENTED_CHARS`.
    """
    if len(text) > MAX_INDENTED_CHARS or ("\n" in text and max(map(len, text.split("\n"))) <= LONG_LINE):
        return text
    pieces: list[str] = []
    depth = position = 0
    while token := _TOKEN.match(text, position):
        mark, position = token[1], token.end()
        if mark in "[{":
            start = token.start(1)
            if empty := _EMPTY.match(text, position):
                pieces.append(mark + text[empty.end() - 1])
                position = empty.end()
            elif depth and (flat := _FLAT.match(text, start, start + FLAT_CHARS)):
                pieces += [_FLAT_MARKS.get(part) or _decode_escapes(part) for part in _FLAT_MARK.findall(flat[0])]
                position = flat.end()
            else:
                depth += 1
                pieces.append(mark + _line_break(depth))
        elif mark in "]}":
            depth -= 1
            pieces.append(_line_break(depth) + mark)
        else:
            pieces.append("," + _line_break(depth) if mark == "," else ": " if mark == ":" else _decode_escapes(mark))
    return "".join(pieces)


def _line_break(depth: int) -> str:
    return "\n" + "  " * max(0, min(depth, MAX_INDENT))


def _decode_escapes(token: str) -> str:
    r"""Decode escapes such as `\u00e9` in a string so that its words can be found. Other tokens are unchanged."""
    if "\\u" not in token:
        return token
    return _ESCAPE.sub(_decode_escape, token) if "\\\\" not in token else token


def _decode_escape(escape: re.Match[str]) -> str:
    code = int(escape[0][2:], 16)
    # Control characters and surrogates stay escaped.
    return escape[0] if code < 0xA0 or 0xD800 <= code <= 0xDFFF else chr(code)


def _describe_document(value: object) -> str:
    """Return an outline of the value in at most some 15 lines."""
    lines = [f"JSON: {_describe_value(value)}", ""]
    if isinstance(value, dict) and value:
        lines += [f"- `{_format_key(key)}`: {_describe_value(value[key])}" for key in list(value)[:MAX_OUTLINE_KEYS]]
        if len(value) > MAX_OUTLINE_KEYS:
            lines.append(f"- and {_format_count(len(value) - MAX_OUTLINE_KEYS, 'more key')}")
        lines.append("")
    return "\n".join(lines)


def _describe_value(value: object) -> str:
    if isinstance(value, dict):
        names = ", ".join(f"`{_format_key(key)}`" for key in list(value)[:MAX_INNER_KEYS])
        more = ", …" if len(value) > MAX_INNER_KEYS else ""
        return f"object with {_format_count(len(value), 'key')}" + (f" ({names}{more})" if names else "")
    if isinstance(value, list):
        kinds = sorted({_type_name(item) for item in value})
        if not kinds:
            return "empty array"
        kind = kinds[0] if len(kinds) == 1 else "value"
        first = next((item for item in value if isinstance(item, dict) and item), None)
        keys = _describe_value(first).partition(" (")[2] if first else ""
        return f"array of {_format_count(len(value), kind)}" + (f" ({keys}" if keys else "")
    return _type_name(value)


def _type_name(value: object) -> str:
    if value is None:
        return "null"
    names = {dict: "object", list: "array", bool: "boolean", _Number: "number", float: "number"}
    return names.get(type(value), "string")


def _format_key(key: str) -> str:
    return to_one_line(key, MAX_KEY_CHARS).replace("`", "'")


def _format_count(number: int, noun: str) -> str:
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"


def _find_title(value: object) -> str:
    if isinstance(value, dict):
        for key in ("title", "name"):
            if isinstance(value.get(key), str) and not isinstance(value[key], _Number):
                return to_one_line(value[key])
    return ""


# Jupyter notebooks (nbformat 3 to 5): cells as Markdown and code, and the texts of their outputs.

_OLD_KEYS: Final = {
    "text": "text/plain", "html": "text/html", "latex": "text/latex", "png": "image/png", "jpeg": "image/jpeg",
    "svg": "image/svg+xml", "pdf": "application/pdf",
}  # fmt: skip
"""Names of the forms of an output before nbformat 4, which stand beside its other values."""
_PICTURES: Final = ("image/", "video/", "audio/", "application/pdf")


def _is_notebook(value: object) -> bool:
    """Return whether a JSON value is a notebook: a format version, and cells or sheets of cells."""
    return isinstance(value, dict) and "nbformat" in value and bool({"cells", "worksheets"} & value.keys())


def _read_notebook(notebook: Mapping[str, Any], url: str) -> Document:
    """Return the document of a notebook that `_is_notebook` accepts. Cells of an unknown form are left out."""
    metadata = _to_dict(notebook.get("metadata"))
    names = (_to_dict(metadata.get("language_info")).get("name"), _to_dict(metadata.get("kernelspec")).get("language"))
    language = next((name for name in names if isinstance(name, str) and name.isalnum()), "python")
    sheets = [notebook, *_to_dicts(notebook.get("worksheets"))]
    cells = [cell for sheet in sheets for cell in _to_dicts(sheet.get("cells"))]
    parts = [part.strip("\n") for cell in cells for part in _format_cell(cell, language, url)]
    text = "\n\n".join(part for part in parts if part.strip()) + "\n"
    title = metadata.get("title")
    return Document(title=title if isinstance(title, str) else clean_plain_text(text)[0], text=text, media_type="")


def _format_cell(cell: Mapping[str, Any], language: str, url: str) -> Iterator[str]:
    kind, source = cell.get("cell_type"), clean(_join(cell.get("source", cell.get("input"))))
    if kind == "markdown":
        yield format_markdown(source, url)
    elif kind == "heading":
        level = cell.get("level")
        yield f"{'#' * int(level if isinstance(level, str) and level.isdigit() else 1)} {source}"
    elif kind == "code":
        name = cell.get("language")
        yield fence_code(source, name if isinstance(name, str) and name.isalnum() else language) if source else ""
        for output in _to_dicts(cell.get("outputs")):
            yield from _format_output(output)
    elif source:
        yield fence_code(source, "")


def _format_output(output: Mapping[str, Any]) -> Iterator[str]:
    """Yield the best text of an output, and the names of its pictures."""
    old = {kind: output[key] for key, kind in _OLD_KEYS.items() if key in output}
    forms = _to_dict(output.get("data")) or old
    if output.get("output_type") in {"error", "pyerr"}:
        raised = ": ".join(filter(None, (_join(output.get("ename")), _join(output.get("evalue")))))
        forms = {"text/plain": _join(output.get("traceback"), "\n") or raised}
    markdown, html = _join(forms.get("text/markdown")), _join(forms.get("text/html"))
    plain = _join(forms.get("text/plain")) or _join(forms.get("text/latex"))
    if not markdown and (
        "<table" in html or not plain or plain.startswith("<")
    ):  # `<IPython.core.display.HTML object>`
        markdown = fragment_to_markdown(html, "")
    if markdown.strip():
        yield format_markdown(clean(markdown), "")
    elif plain.strip():
        yield fence_code(name_base64(clean(_overwrite(plain))), "output")
    for kind, value in forms.items():
        is_picture = kind.startswith(_PICTURES)
        if is_picture or not (markdown.strip() or plain.strip()):
            content = _join(value) or json.dumps(value)
            yield describe_left_out(kind, len(content) * 3 // 4 if is_picture and "<" not in content else len(content))


def _overwrite(text: str) -> str:
    """Return a text as a terminal shows it: a carriage return begins the line anew, as progress bars do."""
    lines = text.replace("\r\n", "\n").split("\n")
    return "\n".join(line.rstrip("\r").rpartition("\r")[2] for line in lines)


def _join(value: object, between: str = "") -> str:
    """Return a text that may be a list of lines, "" for other values."""
    lines = value if isinstance(value, list) else [value]
    return between.join(line for line in lines if isinstance(line, str))


def _to_dict(value: object) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _to_dicts(value: object) -> list[dict[str, Any]]:
    return [each for each in value if isinstance(each, dict)] if isinstance(value, list) else []
