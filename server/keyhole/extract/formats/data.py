"""JSON and JSON Lines: an outline of what is there, then the values with their tokens unchanged. Reads no feeds."""

from __future__ import annotations

import json
import re
from typing import Final

from keyhole.extract.body import Body
from keyhole.extract.decode import tidy
from keyhole.extract.formats.plain import plain_to_text
from keyhole.extract.markup import fenced, one_line
from keyhole.records import Document

MAX_OUTLINE_KEYS: Final = 12
"""Keys listed one a line above the values; more are counted. With them the outline stays under 15 lines."""
MAX_NAMED_KEYS: Final = 8
"""Keys of a nested object that its line names."""
MAX_KEY_CHARS: Final = 60
"""Characters of a key in the outline: hashes and URLs serve as keys too."""
MAX_INDENT: Final = 12
"""Levels that are indented. Deeper ones stay at this indent: at two spaces a level, a text of nothing but brackets
would grow with the square of its length."""
FLAT_CHARS: Final = 100
"""An array or object of plain values that fits on a line of this length stays on one line, but for the outermost:
coordinates, tags, records. It makes a third of the lines, and a range of them shows more."""
MAX_BROKEN: Final = 5_000_000
"""Characters up to which a text is broken into lines: some 1 s for 2 MB. Larger ones stay as they were sent."""
LONG_LINE: Final = 1_000
"""Characters of a line from which on ranges of it are no longer useful; text without such lines is left as it is."""

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
    """A number as written: one of 5,000 digits is read too, and none is rounded."""

    __slots__ = ()


def read_json(body: Body) -> Document:
    """An outline and the values; what is not JSON is kept as the text it is."""
    text = tidy(body.text()).strip()
    try:
        value = json.loads(text, parse_int=_Number, parse_float=_Number)
        outline = _outline(value)
        title = _title(value)
    except (ValueError, RecursionError):  # no JSON, or nested a thousand levels deep
        title, text = plain_to_text(body.text())
        return Document(title=title, text=text, media_type="")
    return Document(title=title, text=f"{outline}\n{fenced(pretty(text), 'json')}", media_type="")


def read_json_lines(body: Body) -> Document:
    """One value a line, as they stand, under a line that counts them."""
    text = tidy(body.text()).strip("\n")
    lines = [line for line in text.split("\n") if line.strip()]
    if not lines:
        return Document(title="", text="", media_type="")
    try:
        first = f"; the first is: {_kind(json.loads(lines[0], parse_int=_Number, parse_float=_Number))}"
    except (ValueError, RecursionError):
        first = ""
    head = f"JSON Lines: {_count(len(lines), 'value')}{first}"
    return Document(title="", text=f"{head}\n\n{fenced(text, 'json')}", media_type="")


def pretty(text: str) -> str:
    """Valid JSON with two spaces a level. Tokens stay as written, but for escapes of letters, which are decoded.

    Text that already has lines is left as it is.
    """
    if len(text) > MAX_BROKEN or ("\n" in text and max(map(len, text.split("\n"))) <= LONG_LINE):
        return text
    out: list[str] = []
    depth = position = 0
    while token := _TOKEN.match(text, position):
        mark, position = token[1], token.end()
        if mark in "[{":
            start = token.start(1)
            if empty := _EMPTY.match(text, position):
                out.append(mark + text[empty.end() - 1])
                position = empty.end()
            elif depth and (flat := _FLAT.match(text, start, start + FLAT_CHARS)):
                out += [_FLAT_MARKS.get(part) or _readable(part) for part in _FLAT_MARK.findall(flat[0])]
                position = flat.end()
            else:
                depth += 1
                out.append(mark + _line(depth))
        elif mark in "]}":
            depth -= 1
            out.append(_line(depth) + mark)
        else:
            out.append("," + _line(depth) if mark == "," else ": " if mark == ":" else _readable(mark))
    return "".join(out)


def _line(depth: int) -> str:
    return "\n" + "  " * max(0, min(depth, MAX_INDENT))


def _readable(token: str) -> str:
    """A string without `\\u00e9` for é, so that its words can be found; every other token as it is."""
    if "\\u" not in token:
        return token
    return _ESCAPE.sub(_letter, token) if "\\\\" not in token else token


def _letter(escape: re.Match[str]) -> str:
    code = int(escape[0][2:], 16)
    # Controls stay escaped, and so do the halves of surrogate pairs.
    return escape[0] if code < 0xA0 or 0xD800 <= code <= 0xDFFF else chr(code)


def _outline(value: object) -> str:
    """What the values are, on at most some 15 lines."""
    lines = [f"JSON: {_kind(value)}", ""]
    if isinstance(value, dict) and value:
        lines += [f"- `{_key(key)}`: {_kind(value[key])}" for key in list(value)[:MAX_OUTLINE_KEYS]]
        if len(value) > MAX_OUTLINE_KEYS:
            lines.append(f"- and {_count(len(value) - MAX_OUTLINE_KEYS, 'more key')}")
        lines.append("")
    return "\n".join(lines)


def _kind(value: object) -> str:
    if isinstance(value, dict):
        names = ", ".join(f"`{_key(key)}`" for key in list(value)[:MAX_NAMED_KEYS])
        more = ", …" if len(value) > MAX_NAMED_KEYS else ""
        return f"object with {_count(len(value), 'key')}" + (f" ({names}{more})" if names else "")
    if isinstance(value, list):
        kinds = sorted({_name(item) for item in value})
        if not kinds:
            return "empty array"
        what = kinds[0] if len(kinds) == 1 else "value"
        first = next((item for item in value if isinstance(item, dict) and item), None)
        keys = _kind(first).partition(" (")[2] if first else ""
        return f"array of {_count(len(value), what)}" + (f" ({keys}" if keys else "")
    return _name(value)


def _name(value: object) -> str:
    if value is None:
        return "null"
    names = {dict: "object", list: "array", bool: "boolean", _Number: "number", float: "number"}
    return names.get(type(value), "string")


def _key(key: str) -> str:
    return one_line(key, MAX_KEY_CHARS).replace("`", "'")


def _count(number: int, what: str) -> str:
    return f"{number:,} {what}" if number == 1 else f"{number:,} {what}s"


def _title(value: object) -> str:
    if isinstance(value, dict):
        for key in ("title", "name"):
            if isinstance(value.get(key), str) and not isinstance(value[key], _Number):
                return one_line(value[key])
    return ""
