"""Bound the output of a command, a file or another tool: classify, store, select and render it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Protocol

from keyhole.errors import Code, KeyholeError
from keyhole.extract.outputs import KINDS, Output, command_words, decode_output, read_output
from keyhole.passages.outputs import select_output
from keyhole.passages.reading import find_gaps, next_gap
from keyhole.records import Artifact, Selection
from keyhole.render.outputs import OutputHead, bounded_text
from keyhole.store.base import artifact_id
from keyhole.text.output_facts import Notes, output_notes, output_title, output_url
from keyhole.text.secrets import mask_secrets

BUDGET: Final = 4_000
"""Characters of a bounded output, and the size up to which an output is left as it is: about 1,000 tokens."""
MIN_BUDGET: Final = 400
"""Characters that the lines around the text and a few lines of it need."""
CHARS_PER_TOKEN: Final = 3.5
"""Characters of an output per token, for the estimate in its first line. Logs and code have fewer than prose."""
MARGIN: Final = 24
"""Characters reserved for numbers, which have more digits around a text than around no text."""
WINDOW_CHARS: Final = 8_000
"""Characters of the window that the next call reads."""


class OutputStore(Protocol):
    """Takes outputs: a store, or what a store adopts later."""

    def put(self, artifact: Artifact, words: str, /) -> None:
        """Keep an artifact with its search words."""
        ...


@dataclass(frozen=True, slots=True)
class Bounded:
    """An output within its budget."""

    text: str
    """The text for the model. A small output is unchanged."""
    kind: str
    """One of `keyhole.extract.outputs.KINDS`."""
    id: str | None = None
    """The id under which the whole output is stored, None if it is not stored."""
    total: int = 0
    """Characters of the whole output, as a terminal shows it."""
    omitted: tuple[tuple[int, int], ...] = ()
    """The ranges of the stored text that are left out."""
    unchanged: bool = False
    """True if the output fits the budget, so that `text` is the output itself."""


def bound(
    output: str | bytes,
    *,
    query: str | None = None,
    budget: int = BUDGET,
    kind: str | None = None,
    command: str | None = None,
    name: str | None = None,
    exit_status: int | None = None,
    folder: str = "",
    store: OutputStore | None = None,
    secret: bytes = b"",
    now: float = 0.0,
) -> Bounded:
    """Return an output within `budget` characters: unchanged if it fits, otherwise its most important lines.

    These are the lines that answer `query`, and those that every reader looks for, such as failures and the summary.
    Bytes are decoded as `decode_output` in extract/outputs/terminal.py says.

    `kind`: one of `keyhole.extract.outputs.KINDS`, None to recognise it. `command`: the command line that printed the
    output. `name`: the name of the file that it was read from. `exit_status`, `folder`: how the command ended and where
    it ran; a status other than 0 is shown. `store`: where the whole output is kept with these facts, at the time `now`
    in seconds since the epoch; without a store nothing is written, and nothing can be read on. `secret`: signs the
    boundary lines and the id; without it, an output could contain its own boundary. Secrets in `command` are masked.

    Raises KeyholeError: invalid_argument for an unknown kind or a budget below `MIN_BUDGET`, store_unavailable.
    """
    if kind is not None and kind not in KINDS:
        raise KeyholeError(Code.INVALID_ARGUMENT, f"kind must be one of: {', '.join(KINDS)}")
    if budget < MIN_BUDGET:
        raise KeyholeError(Code.INVALID_ARGUMENT, f"budget must be at least {MIN_BUDGET}")
    text = output if isinstance(output, str) else decode_output(output)
    read = read_output(text, kind=kind, command=command or "", name=name or "")
    if len(text) <= budget:
        return Bounded(text, read.kind, None, len(text), unchanged=True)
    notes = output_notes(command or "", exit_status, folder)
    id = _store(read, store, secret, output_title(command or "", name or ""), now, notes)
    return _render(read, query, budget, mask_secrets(command or ""), exit_status, id, secret)


def _store(output: Output, store: OutputStore | None, secret: bytes, title: str, now: float, notes: Notes) -> str:
    """Store an output and return its id, "" without a store."""
    if store is None:
        return ""
    address = output_url(output.kind)
    id = artifact_id(secret, address, output.text)
    store.put(Artifact(id, address, address, title, output.text, "text/plain", "", now, notes=notes), "")
    return id


def _render(
    output: Output, query: str | None, budget: int, command: str, exit_status: int | None, id: str, secret: bytes
) -> Bounded:
    text = output.text
    tokens = round(len(text) / CHARS_PER_TOKEN)
    head = OutputHead(output.kind, len(text), text.count("\n") + 1, tokens, command, exit_status)
    empty = Selection("passages", len(text), (), (), "")
    longest = {"offset": len(text), "limit": WINDOW_CHARS}
    space = budget - len(bounded_text(head, empty, secret, id, longest)) - MARGIN
    selection = select_output(output, query, space, command_words=command_words(command))
    gap = next_gap(len(text), selection.spans, selection.scores)
    following = {"offset": gap[0], "limit": min(WINDOW_CHARS, gap[1] - gap[0])} if gap else None
    rendered = bounded_text(head, selection, secret, id, following)
    return Bounded(rendered, output.kind, id or None, len(text), tuple(find_gaps(len(text), selection.spans)))
