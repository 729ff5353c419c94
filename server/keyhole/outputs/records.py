"""Find the records of JSON with their addresses, and describe its shape. Pure."""

from __future__ import annotations

import json
import re
from collections import Counter, deque
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Any, Final, NamedTuple

from keyhole.outputs.output import OutputPart
from keyhole.passages.gaps import Span
from keyhole.text.lazy_pattern import lazy_pattern
from keyhole.text.parse_json import CONTAINERS, address_step, parse_json

# Find the records of JSON with their addresses, and describe its shape.

MAX_JSON_CHARS: Final = 8_000_000
"""Characters of JSON that are read for records: a second. Longer JSON is read by lines."""
SHAPE_DEPTHS: Final = (4, 3, 2, 1)
"""Depths of the shapes of JSON, from the most detailed one."""
MAX_JSON_DEPTH: Final = 20
"""Depth down to which records are looked for: the text is read once for each level above them."""
MAX_CONTAINERS: Final = 4
"""Arrays and objects whose items are records. A report often has a few beside each other."""
MANY_ITEMS: Final = 1_000
"""Items from which those of an array or object are records, whatever is in them."""
MAX_KEYS: Final = 12
"""Keys of an object in a shape. An object with more is usually a table whose keys are data."""
MAX_BEFORE: Final = 1_000
"""Characters of the lines before JSON: what npm and others write to the standard error first."""
HTTP: Final = "HTTP/"
"""The beginning of a response with its headers, as `curl -i` prints it."""
MAX_HEAD: Final = 20_000
"""Characters of the status line and the headers of such a response."""
PARSED_CHARS: Final = 65_536
"""Characters of a long text that are parsed to see whether it is JSON: some milliseconds."""
MAX_CUT_TOKEN: Final = 8
"""Characters before the end of a cut text at which its last token, other than a string, may begin."""
NAMES: Final = ("name", "id", "key", "title", "path", "filename", "url", "hostname")
"""Fields that name a record, the one that says most first."""
MAX_FIELD: Final = 60
"""Characters of such a name. A longer one is a text."""
MAX_INNER: Final = 60
"""Characters of the path inside a record that are shown."""

_JSON_START = lazy_pattern(r"\s*+[\[{]\s*[\"{\[\]}\d-]")
_START_OF_LINE = lazy_pattern(r"^(?:\{\s*\"|\[\s*[\[{\"])", re.MULTILINE)
_SPACE = lazy_pattern(r"[ \t\r\n]*")
_SPACES: Final = frozenset(" \t\r\n")
_NAME = lazy_pattern(r"[A-Za-z_]\w*")
_DECODER: Final = json.JSONDecoder()

Path = tuple[str | int, ...]


class Item(NamedTuple):
    """An item of an array or object: its key or number, and where it and its value are."""

    key: str | int
    start: int
    """Where the item begins: with its key in an object."""
    value: int
    end: int


class JsonRecords(NamedTuple):
    """The records of JSON in order, their values, and the descriptions of its shape."""

    parts: tuple[OutputPart, ...] = ()
    shapes: tuple[str, ...] = ()
    values: tuple[Any, ...] = ()


def read_json(text: str) -> JsonRecords:
    """Return the records of JSON, each named by its address, and the descriptions of its shape.

    The records are the items of the `MAX_CONTAINERS` arrays and objects with the most arrays and objects directly in
    them. No such container is inside another; of equal ones, the outermost and then the first is chosen. Returns
    nothing for invalid or very long JSON.
    """
    start = json_start(text)
    if start is None or len(text) > MAX_JSON_CHARS:
        return JsonRecords()
    try:
        data = parse_json(text[start:] if start else text)
        paths = _paths_of_records(data)
        found = list(_find_records(text, _skip_space(text, start), data, (), paths)) if paths else []
    except (ValueError, RecursionError):
        return JsonRecords()
    found.sort(key=lambda record: record[0])
    return JsonRecords(tuple(part for part, _ in found), describe(data), tuple(value for _, value in found))


def json_start(text: str) -> int | None:
    """Return where the JSON of a text starts, perhaps after a few lines such as warnings; None if it has no JSON."""
    if _JSON_START.match(text):
        return 0
    if text.startswith(HTTP) and (head_end := text.find("\n\n", 0, MAX_HEAD)) >= 0:
        return head_end + 2 if _JSON_START.match(text[head_end + 2 : head_end + MAX_BEFORE]) else None
    after = _START_OF_LINE.search(text, 0, MAX_BEFORE)
    return after.start() if after else None


def json_opening(text: str) -> int:
    """Return the offset of the first bracket of a text that is JSON, perhaps after a few lines."""
    return _skip_space(text, json_start(text) or 0)


def is_json(text: str) -> bool:
    """Return whether a text is JSON, perhaps after a few lines; of a long text, whether its first `PARSED_CHARS` are.

    Several objects one after the other are JSON, too.
    """
    start = json_start(text)
    if start is None:
        return False
    part = text[start : start + PARSED_CHARS]
    try:
        parse_json(part)
    except json.JSONDecodeError as error:
        is_cut = len(text) > start + len(part)
        is_whole_so_far = error.pos >= len(part) - MAX_CUT_TOKEN or error.msg.startswith("Unterminated string")
        return (is_cut and is_whole_so_far) or (error.msg == "Extra data" and part.lstrip()[:1] == "{")
    except ValueError:  # nests too deeply
        return True
    return True


def describe(data: Any) -> tuple[str, ...]:
    """Return the shape of data at several depths: keys, lengths of arrays, numbers of further keys."""
    return tuple(dict.fromkeys(f"shape: {_shape(data, depth)}" for depth in SHAPE_DEPTHS))


def address(path: Path) -> str:
    """Return a path as JSONPath writes it, such as `$.packages[12]`."""
    return "$" + "".join(map(_step, path))


def _step(key: str | int) -> str:
    return address_step(key if isinstance(key, int) else json.dumps(key))


def inner_address(text: str, record: OutputPart, offset: int) -> str:
    """Return the path from a record to the innermost array or object at an offset, such as `.post.responses`."""
    path: list[str | int] = []
    opening = record.start
    if text[opening] == '"':
        opening = _skip_space(text, _skip_space(text, _DECODER.raw_decode(text, opening)[1]) + 1)
    while text[opening] in "[{":
        item = next((each for each in items_of(text, opening) if each.start <= offset < each.end), None)
        if item is None or offset < item.value or text[item.value] not in "[{":
            break
        path.append(item.key)
        opening = item.value
    while path and len(address(tuple(path))) > MAX_INNER:
        path.pop()
    return address(tuple(path))[1:]


def _shape(value: Any, depth: int) -> str:
    if isinstance(value, dict):
        if not depth or not value:
            return f"{{{len(value)} keys}}"
        shown = list(value.items())[:MAX_KEYS]
        more = [f"{len(value) - MAX_KEYS} more keys"] if len(value) > MAX_KEYS else []
        return "{" + ", ".join([_key(key) + _typed(each, depth - 1) for key, each in shown] + more) + "}"
    if isinstance(value, list):
        items = _shape(value[0], depth - 1) if value and depth else ""
        return f"[{len(value)} × {items}]" if items else f"[{len(value)} items]"
    return {str: "string", bool: "boolean", type(None): "null"}.get(type(value), "number")


def _typed(value: Any, depth: int) -> str:
    """Return `: TYPE` for a value, "" for a string, which is the usual case."""
    return "" if isinstance(value, str) else f": {_shape(value, depth)}"


def _key(key: str) -> str:
    return key if _NAME.fullmatch(key) else json.dumps(key)


def _paths_of_records(data: Any) -> list[Path]:
    """Return the paths of the arrays and objects with the most arrays and objects directly in them, at least two."""
    found: list[tuple[int, Path]] = []
    waiting: deque[tuple[Path, Any]] = deque([((), data)])
    while waiting:
        path, value = waiting.popleft()
        items = value.items() if type(value) is dict else enumerate(value) if type(value) is list else ()
        inside = [(key, each) for key, each in items if type(each) in CONTAINERS]
        if len(inside) > 1:
            found.append((-len(inside), path))
        if len(path) < MAX_JSON_DEPTH and len(inside) < MANY_ITEMS:
            waiting.extend(((*path, key), each) for key, each in inside)
    chosen: list[Path] = []
    for _, path in sorted(found, key=lambda each: each[0]):
        if len(chosen) < MAX_CONTAINERS and not any(_contains(path, each) or _contains(each, path) for each in chosen):
            chosen.append(path)
    return chosen


def _contains(path: Path, other: Path) -> bool:
    return other[: len(path)] == path


def _find_records(
    text: str, opening: int, data: Any, path: Path, paths: Sequence[Path]
) -> Iterator[tuple[OutputPart, Any]]:
    """Yield the items of the arrays and objects at `paths` in `data`, the value at `path` that begins at `opening`."""
    items = list(items_of(text, opening))
    if path in paths:
        above = address(path)
        for key, start, _, end in items:
            value = data[key]
            yield OutputPart(start, end, above + _step(key) + _field_of(value)), value
        return
    # Of equal keys in an object the last one counts, as in the data.
    for key, item in {item.key: item for item in items}.items():
        inner = (*path, key)
        if any(_contains(inner, each) for each in paths):
            yield from _find_records(text, item.value, data[key], inner, paths)


def _field_of(record: Any) -> str:
    """Return the field of a record or of its `metadata` that names it, as ` name=web-017`; "" if it has none."""
    if not isinstance(record, dict):
        return ""
    inner = record.get("metadata")
    for fields in (record, inner) if isinstance(inner, dict) else (record,):
        for key in NAMES:
            if isinstance(value := fields.get(key), (str, int)):
                return f" {key}={value}" if 0 < len(str(value)) <= MAX_FIELD else ""
    return ""


def items_of(text: str, opening: int) -> Iterator[Item]:
    """Yield the items of the array or object that opens at an offset."""
    is_object = text[opening] == "{"
    position = _skip_space(text, opening + 1)
    number = 0
    while text[position] not in "]}":
        start, key = position, number
        if is_object:
            key, position = _DECODER.raw_decode(text, position)
            position = _skip_space(text, _skip_space(text, position) + 1)
        end = _DECODER.raw_decode(text, position)[1]
        yield Item(key, start, position, end)
        position = _skip_space(text, end)
        if text[position] == ",":
            position = _skip_space(text, position + 1)
        number += 1


def _skip_space(text: str, position: int) -> int:
    if text[position : position + 1] not in _SPACES:
        return position
    match = _SPACE.match(text, position)
    return match.end() if match else position


# Find the elements of XML that repeat, with their names: test cases, packages, entries of a feed.

MAX_TAGS: Final = 60_000
"""Tags that are read, in about 60 ms. A larger text has no names for its last elements."""
MAX_XML_DEPTH: Final = 50
"""Maximum depth of nested elements. Deeper ones are not read."""
MAX_PARTS: Final = 5_000
MIN_ALIKE: Final = 3
"""Elements of one name at one depth are records if there are at least this many."""
MAX_NAME: Final = 80
"""Characters of a name. A longer one is cut: it is repeated in the result."""
NAME_CHARS: Final = 400
"""Characters of an element in which the child that names it is looked for."""
MAX_SPACE: Final = 40
"""Characters beside a tag in which text is looked for."""
MAX_KINDS: Final = 6
"""Kinds of elements that the line about the text names."""

_XML_START = lazy_pattern(r"\s*(?:<\?xml\b|<(?:\w+:)?[A-Za-z_][\w.-]*(?:\s[^<>]*)?>)")
_TAG = lazy_pattern(r"<(?:(!--|!\[CDATA\[)|(/?)([A-Za-z_][\w:.-]*+)([^<>]*+)>)")
_ENDS: Final = {"!--": "-->", "![CDATA[": "]]>"}
_NAME_ATTRIBUTE = lazy_pattern(r"\s(name|id|key|title|path|file|url|ref)\s*=\s*[\"']([^\"'\n]+)")
_ATTRIBUTE = lazy_pattern(r"(?<![\w:.-])([\w:.-]++)\s*+=\s*+\"([^\"]*+)\"")
_NAME_CHILD = lazy_pattern(r"<(?:\w+:)?(name|id|key|title|path|artifactId|url)>\s*+([^<>\n]*[^<>\s])")
_FAILURE = lazy_pattern(r"<(?:\w+:)?(?:failure|error|fault|exception)\b", re.IGNORECASE)


class Element(NamedTuple):
    """An element `text[start:end]` with its depth: 0 for the root."""

    start: int
    end: int
    depth: int
    tag: str
    attributes: str


def is_xml(text: str) -> bool:
    """Return whether a text begins and ends as XML does."""
    return _XML_START.match(text) is not None and text.rstrip().endswith(">") and "</" in text


class XmlRecords(NamedTuple):
    """The innermost elements that repeat with their attributes, all that repeat with their names, and descriptions."""

    records: tuple[Span, ...]
    values: tuple[dict[str, str], ...]
    parts: tuple[OutputPart, ...]
    about: tuple[str, ...]


def read_xml(text: str) -> XmlRecords:
    """Return the elements that repeat, and what the text is."""
    elements = list(_elements(text))
    counts = Counter((each.depth, each.tag) for each in elements)
    alike = sorted(each for each in elements if each.depth and counts[each.depth, each.tag] >= MIN_ALIKE)
    records = list(_innermost(alike))
    named = ((each, name) for each in alike if (name := _element_name(text, each)))
    parts = tuple(OutputPart(each.start, each.end, name) for each, name in islice(named, MAX_PARTS))
    values = tuple(dict(_ATTRIBUTE.findall(each.attributes)) for each in records)
    return XmlRecords(tuple(each[:2] for each in records), values, parts, tuple(_about(text, elements, counts)))


def find_failures(text: str) -> Iterator[Span]:
    """Yield the elements that say that something failed, from their beginning to the next tag that ends."""
    for match in _FAILURE.finditer(text):
        end = text.find("</", match.end())
        yield match.start(), end if end >= 0 else len(text)
        if end < 0:
            return


def _tags(text: str) -> Iterator[re.Match[str]]:
    """Yield the tags of a text, without those in comments and CDATA sections."""
    position = 0
    while tag := _TAG.search(text, position):
        position = tag.end()
        if tag[1]:
            position = text.find(_ENDS[tag[1]], position)
            if position < 0:
                return
        else:
            yield tag


def _elements(text: str) -> Iterator[Element]:
    """Yield the elements in the order of their ends. One without an end tag is left out."""
    opened: list[tuple[str, int, str]] = []
    for tag in islice(_tags(text), MAX_TAGS):
        _, slash, name, attributes = tag.groups()
        if slash:
            while opened and opened[-1][0] != name and any(each[0] == name for each in opened):
                opened.pop()
            if opened and opened[-1][0] == name:
                _, start, own = opened.pop()
                yield Element(start, tag.end(), len(opened), name, own)
        elif attributes.endswith("/"):
            yield Element(tag.start(), tag.end(), len(opened), name, attributes)
        elif len(opened) < MAX_XML_DEPTH:
            opened.append((name, tag.start(), attributes))


def _innermost(elements: Sequence[Element]) -> Iterator[Element]:
    """Yield the elements that contain no other. `elements` are in the order of their starts."""
    for number, each in enumerate(elements):
        if number + 1 == len(elements) or elements[number + 1].start >= each.end:
            yield each


def _element_name(text: str, element: Element) -> str:
    """Return the attribute or the child that names an element, such as `name=pump`, "" if it has none."""
    found = _NAME_ATTRIBUTE.search(element.attributes)
    found = found or _NAME_CHILD.search(text, element.start, min(element.end, element.start + NAME_CHARS))
    return f"{found[1]}={found[2]}"[:MAX_NAME] if found else ""


def _about(text: str, elements: Sequence[Element], counts: Counter[tuple[int, str]]) -> Iterator[str]:
    """Yield a line with the root and the elements that repeat, then a shorter line with the root alone.

    Elements of prose, such as paragraphs and what they emphasise, are not counted.
    """
    root = next((each.tag for each in reversed(elements) if not each.depth), "")
    if root:
        kinds = Counter[str]()
        for (depth, tag), count in counts.items():
            kinds[tag] += count if depth else 0
        prose = Counter(each.tag for each in elements if _is_prose(text, each))
        alike = [
            f"{count:,} {tag}" for tag, count in kinds.most_common() if count >= MIN_ALIKE and prose[tag] <= count / 2
        ]
        yield f"<{root}>" + (f" of {', '.join(alike[:MAX_KINDS])}" if alike else "")
        yield f"<{root}>"


def _is_prose(text: str, element: Element) -> bool:
    """Return whether an element stands beside text, or begins with text and has elements in it."""
    start, end, _, tag, attributes = element
    before, after = text[max(0, start - MAX_SPACE) : start].rstrip(), text[end : end + MAX_SPACE].lstrip()
    if before[-1:] not in ("", ">") or after[:1] not in ("", "<"):
        return True
    inner = start + len(f"<{tag}{attributes}>")
    return text[inner : inner + MAX_SPACE].lstrip()[:1] not in ("", "<") and text.find("<", inner, end) < text.rfind(
        "<", inner, end
    )
