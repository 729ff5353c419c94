"""Bound the result of a tool or a resource: its texts share the budget, and its other blocks stay where they are.

A result is taken apart into a frame, which is kept, and texts, which are shortened if they are too long for their share
of the budget. Text blocks that follow each other are one text. `structuredContent` is left out of a result that is
shortened, because clients show it instead of the text; its JSON is one more text, unless a text block repeats it.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import groupby
from mimetypes import MimeTypes
from typing import Any, Final

from keyhole.extensions.proxy.rewrite import READER
from keyhole.outputs.bound import MIN_BUDGET, Bounded
from keyhole.render.budget import Budget
from keyhole.text.measure import Measure
from keyhole.text.parse_json import parse_json

LEAST_BYTES: Final = 2_000
"""The smallest limit of a bounded result in bytes: the lines around a text and 400 characters of any script."""
LEAST_SHARE: Final = 1_500
"""The smallest share of the budget in bytes. If there are too many texts for it, the last ones become one text."""
MERGED: Final = "[This text is a part of the shortened text above.]"
"""Replaces a text that became part of an earlier text."""
MEDIA_BYTES: Final = 5_000_000
"""Bytes of base64 in one result for a client without a limit of its own: the largest image that model APIs accept."""
KNOWN_TYPES: Final = frozenset(
    {kind for table in MimeTypes().types_map for kind in table.values()}
    | {"audio/wav", "audio/ogg", "audio/flac", "audio/webm", "audio/mp4", "image/avif"}
)
"""The media types that are shown. Any other type could be arbitrary text of the server."""
UNKNOWN_TYPE: Final = "application/octet-stream"
ATTEMPTS: Final = 4
"""Attempts to shorten a text. Its escaped form may be larger than estimated."""

Shorten = Callable[[str, int], Callable[[int], Bounded]]
"""Takes a text and a maximum of characters. Returns a function that shortens the text to a number of characters; if the
text was stored, its result ends with the call that reads on."""
Keep = Callable[[str, str], str]
"""Stores base64 data of a media type and returns its id, "" if it is not stored."""


@dataclass(frozen=True, slots=True)
class Shortening:
    """The functions that shorten a text and store data."""

    shorten: Shorten
    keep: Keep
    reader: str = READER
    """The name of the tool that reads on."""


@dataclass(frozen=True, slots=True)
class ResultLimits:
    """The limits of one result."""

    budget: Budget
    """The budget of the frame and the texts."""
    media: int = MEDIA_BYTES
    """Bytes of images, sounds and files in base64."""


@dataclass(slots=True)
class _ResultText:
    """A text of a result, and the function that puts it back."""

    text: str
    put: Callable[[str], None]
    """Puts the shortened text into the frame."""


@dataclass(slots=True)
class _Frame:
    """A result under construction."""

    result: dict[str, Any]
    texts: list[_ResultText] = field(default_factory=list)
    media: int = 0
    """Bytes of the data that stays."""
    changed: bool = False
    """True if a text was shortened or data was left out."""


def bound_call_result(result: Mapping[str, Any], limits: ResultLimits, how: Shortening) -> dict[str, Any] | None:
    """Return the result of a tool call cut to its limits, None if it needs no cut. Unknown fields are kept."""
    content = result.get("content")
    blocks = list(content) if isinstance(content, list) else []
    rest = {name: value for name, value in result.items() if name != "structuredContent"}
    frame = _Frame({**rest, "content": []})
    out: list[Any] = frame.result["content"]
    listed = _links_as_text(blocks, limits)
    frame.changed = len(listed) != len(blocks)
    _add_texts(frame, out, listed, limits, how)
    if result.get("structuredContent") is not None and not _repeats(blocks, result["structuredContent"]):
        _add_block(frame, out, {"type": "text"}, _pretty(result["structuredContent"]))
    return _fill(frame, limits, how)


def bound_resource_result(result: Mapping[str, Any], limits: ResultLimits, how: Shortening) -> dict[str, Any] | None:
    """Return the result of reading a resource cut to its limits, None if it needs no cut."""
    contents = result.get("contents")
    frame = _Frame({**result, "contents": []})
    for each in contents if isinstance(contents, list) else []:
        if isinstance(each, dict) and isinstance(each.get("text"), str):
            _add_block(frame, frame.result["contents"], each, each["text"])
        elif isinstance(each, dict) and isinstance(each.get("blob"), str):
            frame.result["contents"].append(_kept_resource(frame, each, limits, how))
        else:
            frame.result["contents"].append(each)
    return _fill(frame, limits, how)


def bound_error(error: Mapping[str, Any], limits: ResultLimits, how: Shortening) -> dict[str, Any] | None:
    """Return the error of a request cut to its limits, None if it needs no cut. Large data joins the message."""
    copy, message = {**error}, str(error.get("message", ""))
    if json_size(error.get("data")) * 2 > limits.budget.size:
        message += f"\n{_pretty(copy.pop('data'))}"
    frame = _Frame(copy, changed="data" in error and "data" not in copy)
    frame.texts.append(_ResultText(message, partial(copy.__setitem__, "message")))
    return _fill(frame, limits, how)


def texts_of(result: Mapping[str, Any]) -> list[str]:
    """Return the texts of the result of a tool or a resource, in their order, or the message of an error."""
    blocks = result.get("content", result.get("contents", [{"text": result.get("message")}]))
    found = [
        table.get("text")
        for block in (blocks if isinstance(blocks, list) else [])
        if isinstance(block, dict)
        for table in (block, block.get("resource"))
        if isinstance(table, dict)
    ]
    return [text for text in found if isinstance(text, str)]


def _add_texts(frame: _Frame, out: list[Any], blocks: Sequence[Any], limits: ResultLimits, how: Shortening) -> None:
    """Add blocks to the frame at their places. Text blocks that follow each other become one."""
    for is_text, run in groupby(blocks, _is_text):
        if is_text:
            texts = list(run)
            _add_block(frame, out, texts[0], "\n".join(each["text"] for each in texts))
        else:
            out += [_other_block(frame, each, limits, how) for each in run]


def _other_block(frame: _Frame, block: Any, limits: ResultLimits, how: Shortening) -> Any:
    """Return another block for the frame, without its embedded text and with large data replaced."""
    if not isinstance(block, dict):
        return block
    if isinstance(block.get("data"), str):
        return _kept_media(frame, block, limits, how)
    resource = block.get("resource")
    if isinstance(resource, dict) and isinstance(resource.get("text"), str):
        copy = {**resource}
        frame.texts.append(_ResultText(copy.pop("text"), _putter(copy)))
        return {**block, "resource": copy}
    if isinstance(resource, dict) and isinstance(resource.get("blob"), str):
        return {**block, "resource": _kept_resource(frame, resource, limits, how)}
    return block


def _is_text(block: Any) -> bool:
    return isinstance(block, dict) and block.get("type") == "text" and isinstance(block.get("text"), str)


def _add_block(frame: _Frame, out: list[Any], block: Mapping[str, Any], text: str) -> None:
    copy = {name: value for name, value in block.items() if name != "text"}
    out.append(copy)
    frame.texts.append(_ResultText(text, _putter(copy)))


def _putter(block: dict[str, Any]) -> Callable[[str], None]:
    return partial(block.__setitem__, "text")


def _links_as_text(blocks: Sequence[Any], limits: ResultLimits) -> list[Any]:
    """Return the blocks with their links as one text, if the links alone take over half of the budget."""
    links = [block for block in blocks if isinstance(block, dict) and block.get("type") == "resource_link"]
    if json_size(links) * 2 <= limits.budget.size:
        return list(blocks)
    lines = "\n".join(json.dumps(link, ensure_ascii=False) for link in links)
    return [block for block in blocks if block not in links] + [{"type": "text", "text": lines}]


def _repeats(blocks: Sequence[Any], structured: Any) -> bool:
    """Return whether a text block contains the JSON of the structured content, as the specification recommends."""
    values = structured.values() if isinstance(structured, dict) and len(structured) == 1 else ()
    texts = [block["text"] for block in blocks if _is_text(block)]
    for text in [*texts, "\n".join(texts)] if len(texts) > 1 else texts:
        if any(text == value for value in values):  # the wrapper {"result": text} of a plain text
            return True
        try:
            value = parse_json(text)
        except ValueError:  # no JSON, or deeper than any structured content
            continue
        if value == structured or any(value == each for each in values):
            return True
    return False


def _pretty(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, indent=1)


# Data in base64.


def _kept_media(frame: _Frame, block: dict[str, Any], limits: ResultLimits, how: Shortening) -> dict[str, Any]:
    """Return an image or a sound, or a text that names it if it exceeds the bytes left for data."""
    size = len(block["data"])
    if frame.media + size <= limits.media:
        frame.media += size
        return block
    frame.changed = True
    return {"type": "text", "text": _media_line(block.get("mimeType"), block["data"], limits.media, how)}


def _kept_resource(frame: _Frame, resource: dict[str, Any], limits: ResultLimits, how: Shortening) -> dict[str, Any]:
    size = len(resource["blob"])
    if frame.media + size <= limits.media:
        frame.media += size
        return resource
    frame.changed = True
    rest = {name: value for name, value in resource.items() if name not in ("blob", "mimeType")}
    line = _media_line(resource.get("mimeType"), resource["blob"], limits.media, how)
    return {**rest, "mimeType": "text/plain", "text": line}


def _media_line(media_type: Any, data: str, most: int, how: Shortening) -> str:
    kind = media_type if isinstance(media_type, str) and media_type in KNOWN_TYPES else UNKNOWN_TYPE
    id = how.keep(data, kind)
    stored = f'Its base64 is stored: {how.reader}(id="{id}").' if id else "It is not stored."
    size = f"{len(data):,} bytes of base64"
    return f"[{kind}, {size}, left out: a result takes {most:,} bytes of data. {stored}]"


# Texts.


def _fill(frame: _Frame, limits: ResultLimits, how: Shortening) -> dict[str, Any] | None:
    """Put the texts into the frame, each within its share of the budget. Return the result, None if nothing changed."""
    budget = limits.budget
    for each in frame.texts:
        each.put("")
    size = max(LEAST_BYTES, budget.size) - (json_size(frame.result) - frame.media)
    texts = frame.texts
    sizes = [_size_up_to(each.text, size, budget.measure) for each in texts]
    shares = _shares(sizes, size)
    if len(texts) > 1 and any(share < min(need, LEAST_SHARE) for need, share in zip(sizes, shares, strict=True)):
        texts, size = _merge(texts, size)
        shares = _shares([_size_up_to(each.text, size, budget.measure) for each in texts], size)
        frame.changed = True
    for each, share in zip(texts, shares, strict=True):
        shown = _fit(each.text, max(share, 0), budget.measure, how)
        frame.changed |= shown is not each.text
        each.put(shown)
    return frame.result if frame.changed else None


def _merge(texts: list[_ResultText], size: int) -> tuple[list[_ResultText], int]:
    """Join the last texts into one, at the place of the first of them. Return all texts and the bytes left for them.

    The places of the others get the note `MERGED`, if all notes take at most a quarter of the bytes.
    """
    most = max(1, size // LEAST_SHARE)
    first, *others = texts[most - 1 :]
    note = len(others) * len(MERGED)
    if note <= size // 4:
        size -= note
        for each in others:
            each.put(MERGED)
    return [*texts[: most - 1], _ResultText("\n".join(each.text for each in [first, *others]), first.put)], size


def _shares(sizes: Sequence[int], total: int) -> list[int]:
    """Divide a number of bytes among texts: the short ones get what they need, the long ones equal shares."""
    shares = [0] * len(sizes)
    order = sorted(range(len(sizes)), key=lambda index: sizes[index])
    for place, index in enumerate(order):
        shares[index] = min(sizes[index], total // (len(order) - place))
        total -= shares[index]
    return shares


def _size_up_to(text: str, limit: int, measure: Measure) -> int:
    """Return the size of a text, or a number over `limit` if it is larger. A text's size is at least its length."""
    return measure(text) if len(text) <= limit else limit + 1


def _fit(text: str, share: int, measure: Measure, how: Shortening) -> str:
    """Return a text shortened to `share` bytes, unchanged if it fits."""
    if _size_up_to(text, share, measure) <= share:
        return text
    sample = text[:share] or " "
    chars = max(MIN_BUDGET, min(share * len(sample) // max(1, measure(sample)), len(text) - 1))
    shorten, shown = how.shorten(text, chars), ""
    for attempt in range(ATTEMPTS):
        chars = MIN_BUDGET if attempt == ATTEMPTS - 1 else max(MIN_BUDGET, chars)
        shown = _named(shorten(chars).text, how.reader)
        excess = measure(shown) - share
        if excess <= 0 or chars == MIN_BUDGET:
            break
        chars = min(chars, len(shown)) * share // measure(shown) - len(how.reader)
    return shown


def _named(text: str, reader: str) -> str:
    """Return a bounded text whose `Next:` call names the tool as the client sees it."""
    before, mark, call = text.rpartition(f"\nNext: {READER}(")
    return f"{before}\nNext: {reader}({call}" if mark else text


def json_size(value: object) -> int:
    """Return the bytes of a value as JSON with the usual spaces, which some servers write and others do not."""
    return len(json.dumps(value, ensure_ascii=False).encode("utf-8", "surrogatepass"))


def is_within(raw: bytes, limits: ResultLimits) -> bool:
    """Return whether a message fits the budget as it is. Its characters and tokens are at most its bytes."""
    budget = limits.budget
    return len(raw) <= min(budget.safe_bytes, budget.tokens or budget.size)
