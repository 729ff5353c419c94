"""The texts that a compaction stores: the left-out items, in lines that can be searched and read back."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, Final

from keyhole.errors import KeyholeError
from keyhole.extensions.conversations.formats.contents import main_text, result_text
from keyhole.extensions.conversations.notices import Stored
from keyhole.outputs.keep import name_text
from keyhole.outputs.terminal import terminal_text
from keyhole.text.output_facts import OutputFacts

if TYPE_CHECKING:
    from keyhole.outputs.keep import OutputStore

# Transcripts: items as a text that can be searched by lines. Each value is one line of JSON. A string with several
# lines is an object `{"keyhole:lines": N}` in it, and its N lines follow below the value, in the order of the
# objects. A string with control characters stays JSON, which escapes them. The first value says where the items
# belong (`Places`).

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
    """Write items as a text that `read_transcript` reads."""
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


# The keeper: it stores the texts and knows their ids.

FACTS: Final = OutputFacts(name="left out of a conversation")
"""The facts of the stored texts. The name is their title."""


class Keeper:
    """Stores texts, and knows their ids. Without a store, it keeps nothing."""

    def __init__(self, store: OutputStore | None, secret: bytes, now: float) -> None:
        self._store = store
        self._now = now
        self.secret = secret
        self._ids: list[str] = []

    @property
    def ids(self) -> Sequence[str]:
        """Return the ids of what was stored."""
        return tuple(self._ids)

    def keep(self, kind: str, write_text: Callable[[], str]) -> str:
        """Store a text as an output of a kind and return its id. Without a store, return "" and write no text."""
        if self._store is None:
            return ""
        kept = name_text(self.secret, kind, write_text(), FACTS, self._now)
        self._store.put(kept.artifact(), "")
        self._ids.append(kept.id)
        return kept.id

    def has_transcript(self, id: str) -> bool:
        """Return True if a transcript with an id is stored. A notice without a transcript may be the user's text."""
        get = getattr(self._store, "get", None)
        try:
            return bool(id) and get is not None and is_transcript(get(id).text)
        except KeyholeError:
            return False

    def keep_result(self, content: Any, kind: str) -> Stored:
        """Store a tool result: its text as a terminal shows it, and the exact content if it differs."""
        if self._store is None:
            return Stored()
        text = result_text(content)
        shown = terminal_text(text)
        is_exact = shown == text and main_text(content) is not None
        original = "" if is_exact else self.keep("text", lambda: write_transcript([content]))
        return Stored(self.keep(kind, lambda: shown) if shown else "", original)
