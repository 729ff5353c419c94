"""Bound the result of a tool or a resource: its texts share the budget, and its other blocks stay where they are.

A result is taken apart into a frame, which is kept, and texts, which are shortened if they are too long for their share
of the budget. Text blocks are one text. `structuredContent` is left out of a result that is shortened, because clients
show it instead of the text; its JSON is one more text, unless a text block repeats it.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from keyhole.budget.budget import Budget
from keyhole.retrieval.bound import MIN_BUDGET, Bounded
from keyhole.serve.proxy.rewrite import READER
from keyhole.text.escape import plain_line
from keyhole.text.measure import Measure

LEAST_BYTES: Final = 2_000
"""Bytes that a bounded result may take in any case: the lines around a text and 400 characters of any script."""
LEAST_SHARE: Final = 1_500
"""Bytes of a text's share of a budget. If there are more texts than shares, they become one text."""
MEDIA_BYTES: Final = 5_000_000
"""Bytes of base64 in one result for a client without a limit of its own: the largest image that model APIs accept."""
MAX_TYPE: Final = 80
"""Bytes of a media type that are shown."""
ATTEMPTS: Final = 4
"""Most times that a text is shortened again because its escaped form was larger than estimated."""

Shorten = Callable[[str, int], Callable[[int], Bounded]]
"""Returns a function that returns a text within a number of characters, at most the given one, with the call that reads
on if it was stored."""
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
class Limits:
    """The limits of one result."""

    budget: Budget
    """The budget of the frame and the texts."""
    media: int = MEDIA_BYTES
    """Bytes of images, sounds and files in base64."""


@dataclass(slots=True)
class _Text:
    """A text of a result, and the places where its block is."""

    text: str
    put: Callable[[str], None]
    """Puts the shortened text into the frame."""


@dataclass(slots=True)
class _Frame:
    """A result under construction."""

    result: dict[str, Any]
    texts: list[_Text] = field(default_factory=list)
    media: int = 0
    """Bytes of the data that stays."""
    changed: bool = False
    """True if a text was shortened or data was left out."""


def bound_call_result(result: Mapping[str, Any], limits: Limits, how: Shortening) -> dict[str, Any] | None:
    """Return the result of a tool call within its limits, None if it is within them. Unknown fields are kept."""
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


def bound_resource_result(result: Mapping[str, Any], limits: Limits, how: Shortening) -> dict[str, Any] | None:
    """Return the result of reading a resource within its limits, None if it is within them."""
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


def texts_of(result: Mapping[str, Any]) -> list[str]:
    """Return the texts of the result of a tool or a resource, in their order."""
    blocks = result.get("content", result.get("contents"))
    found = [
        table.get("text")
        for block in (blocks if isinstance(blocks, list) else [])
        if isinstance(block, dict)
        for table in (block, block.get("resource"))
        if isinstance(table, dict)
    ]
    return [text for text in found if isinstance(text, str)]


def _add_texts(frame: _Frame, out: list[Any], blocks: Sequence[Any], limits: Limits, how: Shortening) -> None:
    """Add blocks to the frame: text blocks as one text at the place of the first, the others at their places."""
    plain = [block for block in blocks if _is_text(block)]
    for block in blocks:
        if _is_text(block):
            if block is plain[0]:
                _add_block(frame, out, block, "\n".join(each["text"] for each in plain))
        elif not isinstance(block, dict):
            out.append(block)
        elif isinstance(block.get("data"), str):
            out.append(_kept_media(frame, block, limits, how))
        elif isinstance(resource := block.get("resource"), dict) and isinstance(resource.get("text"), str):
            copy = {**resource}
            out.append({**block, "resource": copy})
            frame.texts.append(_Text(copy.pop("text"), _putter(copy)))
        elif isinstance(resource, dict) and isinstance(resource.get("blob"), str):
            out.append({**block, "resource": _kept_resource(frame, resource, limits, how)})
        else:
            out.append(block)


def _is_text(block: Any) -> bool:
    return isinstance(block, dict) and block.get("type") == "text" and isinstance(block.get("text"), str)


def _add_block(frame: _Frame, out: list[Any], block: Mapping[str, Any], text: str) -> None:
    copy = {name: value for name, value in block.items() if name != "text"}
    out.append(copy)
    frame.texts.append(_Text(text, _putter(copy)))


def _putter(block: dict[str, Any]) -> Callable[[str], None]:
    def put(text: str) -> None:
        block["text"] = text

    return put


def _links_as_text(blocks: Sequence[Any], limits: Limits) -> list[Any]:
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
            value = json.loads(text)
        except ValueError:
            continue
        if value == structured or any(value == each for each in values):
            return True
    return False


def _pretty(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, indent=1)


# Data in base64.


def _kept_media(frame: _Frame, block: dict[str, Any], limits: Limits, how: Shortening) -> dict[str, Any]:
    """Return an image or a sound, or the text that names it if it is larger than what is left for data."""
    size = len(block["data"])
    if frame.media + size <= limits.media:
        frame.media += size
        return block
    frame.changed = True
    kind = str(block.get("mimeType") or block.get("type"))
    return {"type": "text", "text": _media_line(kind, block["data"], limits.media, how)}


def _kept_resource(frame: _Frame, resource: dict[str, Any], limits: Limits, how: Shortening) -> dict[str, Any]:
    size = len(resource["blob"])
    if frame.media + size <= limits.media:
        frame.media += size
        return resource
    frame.changed = True
    kind = str(resource.get("mimeType") or "application/octet-stream")
    rest = {name: value for name, value in resource.items() if name not in ("blob", "mimeType")}
    line = _media_line(kind, resource["blob"], limits.media, how)
    return {**rest, "mimeType": "text/plain", "text": line}


def _media_line(kind: str, data: str, most: int, how: Shortening) -> str:
    id = how.keep(data, kind)
    stored = f'Its base64 is stored: {how.reader}(id="{id}").' if id else "It is not stored."
    size = f"{len(data):,} bytes of base64"
    return f"[{plain_line(kind, MAX_TYPE)}, {size}, left out: a result takes {most:,} bytes of data. {stored}]"


# Texts.


def _fill(frame: _Frame, limits: Limits, how: Shortening) -> dict[str, Any] | None:
    """Put the texts into the frame, each within its share of the budget. Return the result, None if nothing changed."""
    budget = limits.budget
    for each in frame.texts:
        each.put("")
    size = max(LEAST_BYTES, budget.size) - (json_size(frame.result) - frame.media)
    texts = _merge(frame.texts, max(1, size // LEAST_SHARE))
    frame.changed |= len(texts) != len(frame.texts)
    sizes = [_size_up_to(each.text, size, budget.measure) for each in texts]
    for each, share in zip(texts, _shares(sizes, size), strict=True):
        shown = _fit(each.text, max(share, 0), budget.measure, how)
        frame.changed |= shown is not each.text
        each.put(shown)
    return frame.result if frame.changed else None


def _merge(texts: list[_Text], most: int) -> list[_Text]:
    """Return at most `most` texts: the last ones become one text, at the place of the first of them."""
    if len(texts) <= most:
        return texts
    rest = texts[most - 1 :]
    return [*texts[: most - 1], _Text("\n".join(each.text for each in rest), rest[0].put)]


def _shares(sizes: Sequence[int], total: int) -> list[int]:
    """Divide a number of bytes among texts: the short ones get what they need, the long ones equal shares."""
    shares = [0] * len(sizes)
    order = sorted(range(len(sizes)), key=lambda index: sizes[index])
    for place, index in enumerate(order):
        shares[index] = min(sizes[index], total // (len(order) - place))
        total -= shares[index]
    return shares


def _size_up_to(text: str, limit: int, measure: Measure) -> int:
    """Return the size of a text, or any number over `limit` if it is larger. A text has at least its length."""
    return measure(text) if len(text) <= limit else limit + 1


def _fit(text: str, share: int, measure: Measure, how: Shortening) -> str:
    """Return a text within `share`: unchanged if it fits."""
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
    """Return a bounded text whose last call has the name that the client sees."""
    before, mark, call = text.rpartition(f"\nNext: {READER}(")
    return f"{before}\nNext: {reader}({call}" if mark else text


def json_size(value: object) -> int:
    """Return the bytes of a value as JSON with the usual spaces, which some servers write and others do not."""
    return len(json.dumps(value, ensure_ascii=False).encode("utf-8", "surrogatepass"))


def is_within(raw: bytes, limits: Limits) -> bool:
    """Return whether a message fits the budget as it is. Its characters and tokens are at most its bytes."""
    budget = limits.budget
    return len(raw) <= min(budget.size, budget.chars or budget.size, budget.tokens or budget.size)
