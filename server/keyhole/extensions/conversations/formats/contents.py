"""Read and change the values of a conversation: objects of SDKs as plain values, and the texts of contents. Pure."""

from __future__ import annotations

import base64
import copy
import dataclasses
import json
import struct
import zlib
from collections.abc import Iterator, Mapping, Sequence
from datetime import date, datetime
from enum import Enum
from typing import Any, Final

from keyhole.extensions.conversations.formats.values import Path

# Plain JSON values. A program keeps its conversation in dicts, in objects of an SDK (pydantic models, dataclasses,
# other mappings), or in dicts that hold such objects: `{"role": "assistant", "content": response.content}`. A value
# deep in them is changed without changing their kind.

_SCALARS: Final = frozenset({str, int, float, bool, type(None)})


def is_readable(item: object) -> bool:
    """Return True if an item can be read as a JSON object."""
    return isinstance(item, Mapping) or _fields(item) is not None


def plain(value: Any) -> Any:
    """Return a value as plain dicts, lists and scalars. A value that is plain already is returned itself.

    Bytes become base64. An object of an unknown kind becomes `{"type": NAME}` with the name of its class.
    """
    kind = type(value)
    if kind in _SCALARS:
        return value
    if kind is dict:
        return _plain_dict(value)
    if isinstance(value, list | tuple):
        parts = [plain(each) for each in value]
        is_same = kind is list and all(map(_is_same, parts, value))
        return value if is_same else parts
    return _plain_object(value)


def _plain_dict(value: dict[Any, Any]) -> dict[Any, Any]:
    if not all(isinstance(name, str) for name in value):
        value = {str(name): each for name, each in value.items()}
    changed = {}
    for name, each in value.items():
        if type(each) not in _SCALARS:
            seen = plain(each)
            if seen is not each:
                changed[name] = seen
    return {**value, **changed} if changed else value


def _is_same(one: object, other: object) -> bool:
    return one is other


def _plain_object(value: Any) -> Any:
    if isinstance(value, Enum):
        return plain(value.value)
    if isinstance(value, str | int | float):  # their subclasses
        return next(kind(value) for kind in (str, int, float) if isinstance(value, kind))
    if isinstance(value, bytes | bytearray | memoryview):
        return base64.b64encode(value).decode("ascii")
    if isinstance(value, date | datetime):
        return value.isoformat()
    if isinstance(value, Mapping):
        return {str(name): plain(each) for name, each in value.items()}
    fields = _fields(value)
    return {"type": type(value).__name__} if fields is None else plain(fields)


def _fields(value: Any) -> dict[str, Any] | None:
    """Return the set fields of an object, named as in the API; None if it is no object with fields."""
    if isinstance(value, type):
        return None
    if hasattr(value, "model_dump"):
        # Not deeper: nested objects may have other kinds, and warnings about a nested dict say nothing here.
        names = _api_names(value)
        extra = getattr(value, "model_extra", None) or {}
        found = {names.get(name, name): getattr(value, name) for name in (*names, *extra)}
    elif dataclasses.is_dataclass(value):
        found = {field.name: getattr(value, field.name) for field in dataclasses.fields(value)}
    elif hasattr(value, "to_dict"):
        found = dict(value.to_dict())
    else:
        return None
    return {name: each for name, each in found.items() if each is not None}


def _api_names(model: Any) -> dict[str, str]:
    """Return the names of a pydantic model's fields, each with its name in the API."""
    fields: Mapping[str, Any] = type(model).model_fields
    return {name: getattr(field, "serialization_alias", None) or field.alias or name for name, field in fields.items()}


def original_at(value: Any, path: Path) -> Any:
    """Return the value at a path of an item, as it is there; None if a field is missing."""
    for key in path:
        if isinstance(key, int):
            value = value[key]
        elif isinstance(value, Mapping):
            value = value.get(key)
        else:
            value = getattr(value, _attribute(value, key), None)
    return value


def replace_at(value: Any, path: Path, new: Any) -> Any:
    """Return a copy of a value with another value at a path. Values beside the path are shared."""
    if not path:
        return shape_like(value, new)
    key, rest = path[0], path[1:]
    if isinstance(key, int):
        return [*value[:key], replace_at(value[key], rest, new), *value[key + 1 :]]
    if isinstance(value, Mapping):
        return {**value, key: replace_at(value.get(key), rest, new)}
    return _with_field(value, key, rest, new)


def _with_field(value: Any, key: str, rest: Path, new: Any) -> Any:
    name = _attribute(value, key)
    if hasattr(value, "model_copy"):
        return value.model_copy(update={name: replace_at(getattr(value, name, None), rest, new)})
    if not hasattr(value, key):  # known by its dictionary only
        return replace_at(plain(value), (key, *rest), new)
    changed = copy.copy(value)
    object.__setattr__(changed, key, replace_at(getattr(value, key), rest, new))
    return changed


def _attribute(value: Any, key: str) -> str:
    """Return the name of the attribute that holds a field of the API."""
    names = _api_names(value) if hasattr(value, "model_dump") else {}
    return next((name for name, shown in names.items() if key in (shown, name)), key)


def shape_like(sample: Any, value: Any) -> Any:
    """Return a plain value as the kind of object that a sample is, or unchanged if that kind cannot hold it."""
    if isinstance(value, list) and isinstance(sample, Sequence) and not isinstance(sample, str):
        samples = list(sample)
        return [next((made for each in samples if (made := _build(each, part)) is not None), part) for part in value]
    made = _build(sample, value)
    return value if made is None else made


def _build(sample: Any, value: Any) -> Any:
    """Return an object of a sample's class with plain values, or None."""
    if not isinstance(value, dict) or isinstance(sample, type):
        return None
    if dataclasses.is_dataclass(sample):
        return _build_dataclass(sample, value)
    if not hasattr(sample, "model_validate"):
        return None
    try:
        return type(sample).model_validate(value)
    except ValueError:  # pydantic's errors are ValueErrors
        return None


def _build_dataclass(sample: Any, value: dict[str, Any]) -> Any:
    """Return an object of a dataclass, or None if its fixed fields, such as `part_kind`, have other values."""
    names = {field.name for field in dataclasses.fields(sample) if field.init}
    given = {name: shape_like(getattr(sample, name, None), each) for name, each in value.items() if name in names}
    try:
        for name in given:
            if isinstance(getattr(sample, name, None), bytes) and isinstance(given[name], str):
                given[name] = base64.b64decode(given[name], validate=True)
        made = type(sample)(**given)
    except (TypeError, ValueError):  # dataclasses of pydantic check their fields
        return None
    return made if all(getattr(made, name, None) == value[name] for name in value.keys() - names) else None


# Contents: the text of a message or tool result. A content is a text, a list of parts, or an object, such as a
# `functionResponse` of Gemini. All values are plain.

TEXT_TYPES: Final = frozenset({"text", "input_text", "output_text"})
"""Types of text parts: Chat Completions and Anthropic, and both kinds of the Responses API."""
SMALL_REST: Final = 300
"""If a content has at most this many characters of JSON beside its largest text, only this text is replaced. A
`tool_result` block with its ids and a `cache_control` has fewer."""

_NO_TEXTS: Final = frozenset({
    "type", "kind", "id", "name", "role", "status", "detail", "outcome", "identifier", "file_id", "file_uri", "url",
    "media_type", "mime_type", "mimeType", "encrypted_content", "cache_control", "thoughtSignature",
    "thought_signature",
})  # fmt: skip
"""Fields whose values are not part of what a tool printed."""
_MEDIA_FIELDS: Final = frozenset({
    "inlineData", "inline_data", "fileData", "file_data", "image_url", "input_audio", "base64",
})  # fmt: skip
_MEDIA_TYPES: Final = frozenset({
    "image", "input_image", "computer_screenshot", "input_file", "file", "audio", "video", "browser_state",
})  # fmt: skip


def find_texts(content: Any) -> Iterator[tuple[Path, str]]:
    """Yield the texts of a content, each with its path. Data of images and files are no text."""
    if isinstance(content, str):
        yield (), content
    elif isinstance(content, list):
        for number, part in enumerate(content):
            yield from (((number, *path), text) for path, text in find_texts(part))
    elif isinstance(content, dict) and not is_media(content):
        for name, value in content.items():
            if name not in _NO_TEXTS:
                yield from (((name, *path), text) for path, text in find_texts(value))


def text_of(content: Any) -> str:
    """Return the whole text of a content: its texts one below the other, or the JSON of an object with several."""
    if isinstance(content, dict) and "response" in content:
        return text_of(content["response"])
    texts = [text for _, text in find_texts(content)]
    if isinstance(content, dict) and "type" not in content and (len(texts) != 1 or main_text(content) is None):
        return json.dumps(content, ensure_ascii=False, indent=1)
    return "\n".join(texts)


def result_text(content: Any) -> str:
    """Return the text of a tool result that a stub replaces: its main text, or else its whole text."""
    path = main_text(content)
    return text_of(content) if path is None else str(value_at(content, path))


def main_text(content: Any) -> Path | None:
    """Return the path of the largest text of a content if the rest is small, else None."""
    if isinstance(content, str):
        return ()
    texts = list(find_texts(content))
    path, text = max(texts, key=lambda each: len(each[1]), default=((), ""))
    beside = len(json.dumps(content)) - len(json.dumps(text))
    return path if text and beside <= SMALL_REST else None


def value_at(content: Any, path: Path) -> Any:
    """Return the value at a path."""
    for key in path:
        content = content[key]
    return content


def with_text(content: Any, text: str, part: Any) -> Any:
    """Return a content of the same form with only a text. `part`: the text as a part, for a list."""
    if isinstance(content, list):
        is_shell = bool(content) and isinstance(content[0], dict) and "stdout" in content[0]
        return [{**content[0], "stdout": text, "stderr": ""}] if is_shell else [part]
    if not isinstance(content, dict):
        return text
    if content.get("type") == "computer_screenshot":
        return {"type": "computer_screenshot", "image_url": text_image(text)}
    if "response" in content:  # a `functionResponse` of Gemini, whose images stand beside the response
        rest = {name: value for name, value in content.items() if name != "parts"}
        return {**rest, "response": {"output": text}}
    return {"output": text}


def is_media(part: dict[str, Any]) -> bool:
    """Return True for an image, a file, or another part with binary data."""
    if not _MEDIA_FIELDS.isdisjoint(part) or part.get("type") in _MEDIA_TYPES or part.get("kind") == "binary":
        return True
    source = part.get("source")
    return part.get("type") == "document" and not (
        isinstance(source, dict) and source.get("type") in ("text", "content")
    )


def count_media(content: Any) -> int:
    """Return the number of images and files in a content."""
    if isinstance(content, dict):
        return 1 if is_media(content) else sum(map(count_media, content.values()))
    return sum(map(count_media, content)) if isinstance(content, list) else 0


def is_text(part: object) -> bool:
    """Return True for a text part."""
    return isinstance(part, dict) and part.get("type") in TEXT_TYPES and isinstance(part.get("text"), str)


# Small images that carry a text, for places where a provider takes only an image: a result of OpenAI's computer tool
# must be a screenshot. The image has 64 by 64 white pixels, and the text in a chunk `iTXt`
# (https://www.w3.org/TR/png/#11iTXt).

PIXELS: Final = 64
PREFIX: Final = "data:image/png;base64,"
_KEYWORD: Final = b"Comment\0\0\0\0\0"
"""The keyword of the chunk, then: no compression, no language, no translated keyword."""


def text_image(text: str) -> str:
    """Return a data URL of an image with a text."""
    header = struct.pack(">IIBBBBB", PIXELS, PIXELS, 1, 0, 0, 0, 0)  # one bit of grey a pixel
    rows = zlib.compress((b"\0" + b"\xff" * (PIXELS // 8)) * PIXELS, 9)
    chunks = ((b"IHDR", header), (b"iTXt", _KEYWORD + text.encode()), (b"IDAT", rows), (b"IEND", b""))
    image = b"\x89PNG\r\n\x1a\n" + b"".join(_chunk(name, data) for name, data in chunks)
    return PREFIX + base64.b64encode(image).decode("ascii")


def image_text(url: object) -> str:
    """Return the text in an image that `text_image` made, or ""."""
    if not isinstance(url, str) or not url.startswith(PREFIX) or len(url) > 10_000:
        return ""
    try:
        before, found, after = base64.b64decode(url[len(PREFIX) :]).partition(b"iTXt" + _KEYWORD)
        size = int.from_bytes(before[-4:], "big") - len(_KEYWORD)
        return after[:size].decode() if found else ""
    except ValueError:  # no base64, or no UTF-8
        return ""


def _chunk(name: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))
