"""Read JSON and JSON Lines: an outline, then the values with their tokens unchanged."""

from __future__ import annotations

import json
import re
from typing import Final

from keyhole.extract.body import Body
from keyhole.extract.formats.markdown import clean_plain_text
from keyhole.extract.markup import fence_code, one_line
from keyhole.records import Document
from keyhole.text.clean import clean

MAX_OUTLINE_KEYS: Final = 12
"""Keys that the outline lists, one to a line; further keys are counted. The outline stays under 15 lines."""
MAX_INNER_KEYS: Final = 8
"""Keys of a nested object that are named on its line."""
MAX_KEY_CHARS: Final = 60
"""Characters shown of a key in the outline: hashes and URLs occur as keys too."""
MAX_INDENT: Final = 12
"""Levels that are indented; deeper levels stay at this indent. With two spaces a level, a text of nothing but brackets
would otherwise grow with the square of its length."""
FLAT_CHARS: Final = 100
"""Characters up to which an array or object of scalars, such as coordinates, tags or records, stays on one line. This
gives a third of the lines, and a range of lines shows more. The outermost value is always broken."""
MAX_INDENTED_CHARS: Final = 5_000_000
"""Characters up to which a text is indented: some 1 s for 2 MB. Larger texts stay as sent."""
LONG_LINE: Final = 1_000
"""Characters from which on a line is too long for useful ranges. Text without such lines is left unchanged."""

_STRING = r'"(?:[^"\\]|\\.)*+"'
_SCALAR = rf"(?:{_STRING}|[-+\w.]++)"
_TOKEN = re.compile(rf"\s*+({_SCALAR}|[\[\]{{}},:])", re.DOTALL)
_MEMBER = rf"\s*+(?:{_STRING}\s*+:\s*+)?+{_SCALAR}\s*+"
_FLAT = re.compile(rf"[\[{{]{_MEMBER}(?:,{_MEMBER})*+[\]}}]", re.DOTALL)
_FLAT_MARK = re.compile(rf"{_SCALAR}|[\[\]{{}},:]", re.DOTALL)
_EMPTY = re.compile(r"\s*+[\]}]")
_FLAT_MARKS = {",": ", ", ":": ": "}
_ESCAPE = re.compile(r"\\u[0-9a-fA-F]{4}")


class _Number(str):
    """A number as written. It may have 5,000 digits and is never rounded."""

    __slots__ = ()


def read_json(body: Body) -> Document:
    """Read JSON as an outline and its values. Invalid JSON is kept as plain text."""
    text = clean(body.text()).strip()
    try:
        value = json.loads(text, parse_int=_Number, parse_float=_Number)
        outline = _describe_document(value)
        title = _find_title(value)
    except (ValueError, RecursionError):  # invalid, or nested a thousand levels deep
        title, text = clean_plain_text(body.text())
        return Document(title=title, text=text, media_type="")
    return Document(title=title, text=f"{outline}\n{fence_code(indent_json(text), 'json')}", media_type="")


def read_json_lines(body: Body) -> Document:
    """Read JSON Lines as sent, below a line with their count."""
    text = clean(body.text()).strip("\n")
    lines = [line for line in text.split("\n") if line.strip()]
    if not lines:
        return Document(title="", text="", media_type="")
    try:
        first = f"; the first is: {_describe_value(json.loads(lines[0], parse_int=_Number, parse_float=_Number))}"
    except (ValueError, RecursionError):
        first = ""
    head = f"JSON Lines: {_format_count(len(lines), 'value')}{first}"
    return Document(title="", text=f"{head}\n\n{fence_code(text, 'json')}", media_type="")


def indent_json(text: str) -> str:
    """Return valid JSON indented by two spaces a level. Tokens are unchanged except that escapes of letters are
    decoded.

    Text that already has lines is returned unchanged.
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
    """Return an outline of the value, at most some 15 lines."""
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
    return one_line(key, MAX_KEY_CHARS).replace("`", "'")


def _format_count(number: int, noun: str) -> str:
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"


def _find_title(value: object) -> str:
    if isinstance(value, dict):
        for key in ("title", "name"):
            if isinstance(value.get(key), str) and not isinstance(value[key], _Number):
                return one_line(value[key])
    return ""
