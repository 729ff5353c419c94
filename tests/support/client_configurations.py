"""Hypothesis strategies for MCP clients' configuration files, with comments, trailing commas and varied white space."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import strategies as st

NAMES = st.text(st.characters(codec="utf-8", exclude_categories=("Cs", "Cc")), min_size=1, max_size=8)
WORDS = st.text(st.characters(codec="utf-8", exclude_categories=("Cs", "Cc")), max_size=12)
SCALARS = st.one_of(
    st.none(), st.booleans(), st.integers(-9, 9), WORDS, st.sampled_from(["// no", "/* no */", 'a"b', "{,}"])
)
VALUES = st.recursive(
    SCALARS, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAMES, inner, max_size=3), max_leaves=6
)
COMMENTS = st.sampled_from(["", "", "", '// a remark, { and } and " in it', "/* one */", "/* two, */ // three"])


class Writer:
    """Write a value as JSON with comments, in an indentation and comma style that Hypothesis draws."""

    def __init__(self, draw: Any) -> None:
        self._draw = draw
        self._unit = draw(st.sampled_from(["  ", "    ", "\t"]))
        self._newline = draw(st.sampled_from(["\n", "\r\n"]))
        self._trailing = draw(st.booleans())
        self._has_comments = draw(st.booleans())

    def text(self, value: dict[str, Any]) -> str:
        """Return the text of the file."""
        return self._block(value, 0) + str(self._draw(st.sampled_from(["", self._newline, self._newline * 2])))

    def _value(self, value: Any, depth: int) -> str:
        if isinstance(value, dict) or (isinstance(value, list) and self._draw(st.booleans())):
            return self._block(value, depth)
        return json.dumps(value, ensure_ascii=self._draw(st.booleans()))

    def _block(self, value: dict[str, Any] | list[Any], depth: int) -> str:
        """Return an object or a list with each member on a line of its own."""
        is_object = isinstance(value, dict)
        members = [(f"{json.dumps(key)}: ", item) for key, item in value.items()] if isinstance(value, dict) else [
            ("", item) for item in value
        ]  # fmt: skip
        indent = self._newline + self._unit * (depth + 1)
        parts = ["{" if is_object else "["]
        for number, (name, item) in enumerate(members, 1):
            above = self._comment()
            comma = "," if number < len(members) or self._trailing else ""
            parts += [indent + above if above else "", indent, name, self._value(item, depth + 1)]
            parts += [comma, f" {behind}" if (behind := self._comment()) else ""]
        end = "}" if is_object else "]"
        return "".join([*parts, self._newline, self._unit * depth, end]) if members else parts[0] + end

    def _comment(self) -> str:
        return str(self._draw(COMMENTS)) if self._has_comments else ""


SERVERS = st.dictionaries(
    NAMES.filter(lambda name: name != "keyhole"),
    st.fixed_dictionaries({"command": WORDS, "args": st.lists(WORDS, max_size=2)}),
    min_size=1,
    max_size=3,
)


@st.composite
def jsonc_files(
    draw: Any, place: str, tables: st.SearchStrategy[dict[str, Any]] = SERVERS
) -> tuple[str, dict[str, Any]]:
    """Draw a JSON file, with or without one of the `tables` under the key `place`, and its value."""
    values = draw(st.dictionaries(NAMES.filter(lambda name: name != place), VALUES, max_size=4))
    if draw(st.booleans()):
        items = [*values.items(), (place, draw(tables))]
        values = dict(draw(st.permutations(items)))
    if not values:
        values = {"a": 1}
    if draw(st.integers(0, 5)) == 0:
        return json.dumps(values), values
    return Writer(draw).text(values), values


@st.composite
def toml_files(draw: Any, place: str) -> str:
    """Draw a TOML file with tables under `place` and elsewhere."""
    import tomlkit

    comment = st.sampled_from(["", "", "# a remark with [brackets]\n", "\n", "\n# above the next\n"])
    names = st.lists(st.text("abcXYZ_-09", min_size=1, max_size=5), unique=True, max_size=4)
    lines = [draw(comment)]
    for name in draw(names):
        lines += [
            f"{name} = {tomlkit.item(draw(WORDS)).as_string()}{draw(st.sampled_from(['', '  # why']))}\n",
            draw(comment),
        ]
    if draw(st.booleans()):
        lines += ["long = '''\n[mcp_servers.keyhole]\n# not a table\n'''\n"]
    heads = draw(st.permutations([f"[{place}.{name}]" for name in draw(names)] + ["[[things]]", "[other.deep]"]))
    for head in heads:
        lines += [
            draw(comment),
            f"{head}\n",
            'command = "run" # so\n',
            "args = [\n  'a', # one\n  'b',\n]\n",
            draw(comment),
        ]
    text = "".join(lines)
    text = text.rstrip("\n") if draw(st.booleans()) else text
    return text.replace("\n", "\r\n") if draw(st.booleans()) else text
