"""Store what a compaction leaves out."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Final

from keyhole.errors import KeyholeError
from keyhole.extensions.conversations.formats.contents import main_text, result_text
from keyhole.extensions.conversations.notices import Stored
from keyhole.extensions.conversations.transcript import is_transcript, write_transcript
from keyhole.outputs.keep import name_text
from keyhole.outputs.read import terminal_text
from keyhole.text.output_facts import OutputFacts

if TYPE_CHECKING:
    from keyhole.outputs.keep import OutputStore

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
        """Store the content of a tool result: its text as a terminal shows it, and the exact content if that is
        more."""
        if self._store is None:
            return Stored()
        text = result_text(content)
        shown = terminal_text(text)
        is_exact = shown == text and main_text(content) is not None
        original = "" if is_exact else self.keep("text", lambda: write_transcript([content]))
        return Stored(self.keep(kind, lambda: shown) if shown else "", original)
