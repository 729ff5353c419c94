"""Write items that a conversation leaves out as a text that can be searched by lines, and read it back. Pure.

Each value is one line of JSON. A string with several lines is an object `{"keyhole:lines": N}` in it, and its N lines
follow below the value, in the order of the objects. A string with control characters stays JSON, which escapes them.
The first value says where the items belong (`Places`).
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Final

LINES: Final = "keyhole:lines"
"""The key that stands for a string with several lines."""
PLACES: Final = "keyhole:places"

_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")


@dataclass(frozen=True, slots=True)
class Places:
    """The places of items in the conversation that they were left out of."""

    left_out: tuple[int, ...] = ()
    """The indexes of the first items of the transcript, which were left out."""
    replaced: tuple[int, ...] = ()
    """The indexes of the transcript's other items, which were replaced."""
    is_inserted: bool = False
    """True if the message with the notice was added to the conversation."""
    earlier: str = ""
    """The notice of an earlier compaction that was replaced."""
    content: object = ""
    """The content of the message with the notice, if it had no text."""


def write_left_out(items: Sequence[object], places: Places) -> str:
    """Return the transcript of what a compaction left out or replaced."""
    return write_transcript([{PLACES: asdict(places)}, *items])


def is_transcript(text: str) -> bool:
    """Return True for the transcript of a compaction."""
    return text.startswith(f'{{"{PLACES}"')


def read_left_out(text: str) -> tuple[list[Any], Places] | None:
    """Return the items and places of a transcript, None if the text is not a transcript."""
    if not is_transcript(text):
        return None
    header, *items = read_transcript(text)
    facts = header[PLACES]
    places = Places(**{**facts, "left_out": tuple(facts["left_out"]), "replaced": tuple(facts["replaced"])})
    return items, places


def write_transcript(items: Iterable[object]) -> str:
    """Return items as a text, from which `read_transcript` makes them again."""
    lines: list[str] = []
    for item in items:
        texts: list[str] = []
        line = json.dumps(_without_texts(item, texts), ensure_ascii=False)
        lines += [_CONTROL.sub(lambda found: f"\\u{ord(found[0]):04x}", line), *texts]
    return "\n".join(lines)


def read_transcript(text: str) -> list[Any]:
    """Return the items of a text that `write_transcript` wrote."""
    lines = iter(text.split("\n") if text else ())
    return [_with_texts(json.loads(line), lines) for line in lines]


def _without_texts(value: object, texts: list[str]) -> object:
    """Replace each string of several lines by an object, and append the string to `texts`."""
    if isinstance(value, str) and "\n" in value and not _CONTROL.search(value):
        texts.append(value)
        return {LINES: value.count("\n") + 1}
    if isinstance(value, Mapping):
        if LINES in value:  # an object that looks like ours
            return {LINES: [_without_texts([name, each], texts) for name, each in value.items()]}
        return {name: _without_texts(each, texts) for name, each in value.items()}
    return [_without_texts(each, texts) for each in value] if isinstance(value, list) else value


def _with_texts(value: Any, lines: Iterator[str]) -> Any:
    if isinstance(value, dict):
        count = value.get(LINES)
        if isinstance(count, list):
            return dict(_with_texts(count, lines))
        if isinstance(count, int):
            return "\n".join(next(lines) for _ in range(count))
        return {name: _with_texts(each, lines) for name, each in value.items()}
    return [_with_texts(each, lines) for each in value] if isinstance(value, list) else value
