"""Bound an output that may be too large for memory: keep its text in a file, and rank an excerpt of it."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Iterator
from itertools import chain
from tempfile import TemporaryFile
from typing import TYPE_CHECKING, Any, BinaryIO, Final

from keyhole.errors import Code, KeyholeError
from keyhole.extract.outputs import Output, command_words
from keyhole.extract.outputs.stream import decode_blocks, terminal_pieces
from keyhole.passages.excerpt import ExcerptChooser, make_excerpt
from keyhole.records import Artifact
from keyhole.retrieval.adopt import output_words
from keyhole.retrieval.bound import LARGE_CHARS, Bounded, bound, check_options, render_output
from keyhole.retrieval.output_excerpt import examine, needles_of, read_excerpt
from keyhole.store.ids import artifact_id
from keyhole.store.text_file import TextFile
from keyhole.text.output_facts import output_notes, output_title, output_url
from keyhole.text.secrets.mask import mask_secrets

if TYPE_CHECKING:
    from keyhole.store.base import Store

log = logging.getLogger(__name__)

BLOCK_BYTES: Final = 262_144
"""Bytes that are decoded and cleaned at a time."""


def bound_blocks(
    blocks: Iterable[bytes],
    *,
    query: str | None = None,
    budget: int,
    kind: str | None = None,
    command: str = "",
    name: str = "",
    exit_status: int | None = None,
    folder: str = "",
    store: Store | None = None,
    secret: bytes = b"",
    now: float = 0.0,
) -> Bounded:
    """Return an output that arrives in blocks within `budget` characters. The arguments are those of `bound`.

    An output that the store cannot take is bounded without an id, and logged: it may exist nowhere else.
    """
    check_options(kind, budget)
    begun, blocks = bytearray(), iter(blocks)
    for block in blocks:
        begun += block
        if len(begun) > LARGE_CHARS:
            break
    else:
        facts: dict[str, Any] = {"command": command, "name": name, "exit_status": exit_status, "folder": folder}
        options = {"query": query, "budget": budget, "kind": kind, "secret": secret, "now": now, **facts}
        try:
            return bound(bytes(begun), store=store, **options)
        except KeyholeError as error:
            _log_failure(error)
            return bound(bytes(begun), **options)
    with TemporaryFile() as file:
        text, read = read_blocks(
            chain(_divide(bytes(begun)), blocks), file, query, kind=kind, command=command, name=name
        )
        id, title = "", output_title(command, name)
        if store is not None:
            notes = output_notes(command, exit_status, folder)
            try:
                id = store_text(text, read, store, secret, title, notes, now)
            except KeyholeError as error:
                _log_failure(error)
        words = command_words(mask_secrets(command))
        return render_output(read, text.lines, query, budget, title, words, exit_status, id, secret)


def _log_failure(error: KeyholeError) -> None:
    """Log a failure of the store. Raise any other error."""
    if error.code is not Code.STORE_UNAVAILABLE:
        raise error
    log.warning("the output is not stored: %s", error.message)


def _divide(data: bytes) -> Iterator[bytes]:
    """Yield the blocks of what was read at once: decoding and cleaning it takes many times its size."""
    return (data[start : start + BLOCK_BYTES] for start in range(0, len(data), BLOCK_BYTES))


def read_blocks(
    blocks: Iterable[bytes], file: BinaryIO, query: str | None, *, kind: str | None = None, command: str = "",
    name: str = "",
) -> tuple[TextFile, Output]:  # fmt: skip
    """Write the text of an output into a file, and return it with the excerpt that is ranked."""
    chooser = ExcerptChooser(needles_of(query, command))
    text = TextFile(file, examine(terminal_pieces(decode_blocks(blocks)), chooser))
    excerpt = make_excerpt(chooser.choose(), text.chars, text.read)
    return text, read_excerpt(excerpt, kind, command, name)


def store_text(
    text: TextFile,
    read: Output,
    store: Store,
    secret: bytes,
    title: str,
    notes: Iterable[tuple[str, str]],
    now: float,
    *,
    cut: bool = False,
) -> str:
    """Store a large text and return its id. `read`: the excerpt of it that is indexed."""
    url = output_url(read.kind)
    id = artifact_id(secret, url, text.pieces())
    artifact = Artifact(id, url, url, title, "", "text/plain", "", now, cut=cut, notes=tuple(notes))
    store.put(artifact, output_words(title, read.text, read.marks), packed=text.packed())
    return id
