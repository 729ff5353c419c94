"""Bound an output that may be too large for memory: keep its text in a file, and rank an excerpt of it."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Iterator
from itertools import chain
from tempfile import TemporaryFile
from typing import TYPE_CHECKING, BinaryIO, Final

from keyhole.errors import Code, KeyholeError
from keyhole.outputs.bound import Bounded, bound_text, check_options, render_output
from keyhole.outputs.excerpt import OutputExcerpt, needles_of, read_excerpt
from keyhole.outputs.keep import keep_in_store, name_text, output_words
from keyhole.outputs.read import Output, decode_output
from keyhole.outputs.terminal import decode_blocks, terminal_pieces
from keyhole.passages.excerpt import make_excerpt
from keyhole.store.chunks import TextFile
from keyhole.text.output_facts import LARGE_CHARS, OutputFacts

if TYPE_CHECKING:
    from keyhole.store.base import Store

log = logging.getLogger(__name__)

BLOCK_BYTES: Final = 262_144
"""Bytes that are decoded and cleaned at a time."""


def bound_blocks(
    blocks: Iterable[bytes],
    query: str | None,
    budget: int,
    facts: OutputFacts,
    *,
    store: Store | None = None,
    secret: bytes = b"",
    now: float = 0.0,
) -> Bounded:
    """Return an output that arrives in blocks within `budget` characters. The arguments are those of `bound`.

    An output that the store cannot take is bounded without an id, and logged: it may exist nowhere else.
    """
    check_options(facts.kind, budget)
    begun, blocks = bytearray(), iter(blocks)
    for block in blocks:
        begun += block
        if len(begun) > LARGE_CHARS:
            break
    else:
        changes: set[str] = set()
        text = decode_output(bytes(begun), changes)
        facts = facts._replace(changes=frozenset(changes))
        try:
            return bound_text(text, query, budget, facts, keep_in_store(store) if store else None, secret, now)
        except KeyholeError as error:
            _log_failure(error)
            return bound_text(text, query, budget, facts, secret=secret)
    with TemporaryFile() as file:
        text_file, read = read_blocks(chain(_divide(bytes(begun)), blocks), file, query, facts)
        id = ""
        if store is not None:
            try:
                id = store_text(text_file, read, store, secret, facts, now)
            except KeyholeError as error:
                _log_failure(error)
        return render_output(read, text_file.lines, query, budget, facts, id, secret)


def _log_failure(error: KeyholeError) -> None:
    """Log a failure of the store. Raise any other error."""
    if error.code is not Code.STORE_UNAVAILABLE:
        raise error
    log.warning("the output is not stored: %s", error.message)


def _divide(data: bytes) -> Iterator[bytes]:
    """Yield data in blocks: decoding and cleaning all of it at once takes many times its size."""
    return (data[start : start + BLOCK_BYTES] for start in range(0, len(data), BLOCK_BYTES))


def read_blocks(
    blocks: Iterable[bytes], file: BinaryIO, query: str | None, facts: OutputFacts
) -> tuple[TextFile, Output]:
    """Write the text of an output into a file, and return it with the excerpt that is ranked."""
    chosen = OutputExcerpt(needles_of(query, facts.command))
    changes: set[str] = set()
    text = TextFile(file, chosen.examine(terminal_pieces(decode_blocks(blocks, changes), changes)))
    excerpt = make_excerpt(chosen.spans(), text.chars, text.read)
    return text, read_excerpt(excerpt, query, facts)._replace(changes=tuple(sorted(changes)))


def store_text(
    text: TextFile, read: Output, store: Store, secret: bytes, facts: OutputFacts, now: float, *, cut: bool = False
) -> str:
    """Store a large text and return its id. `read`: the excerpt of it that is indexed."""
    kept = name_text(secret, read.kind, text.pieces(), facts, now)._replace(cut=cut)
    words, spans = output_words(facts.title, read, text.read)
    store.put(kept.artifact(), words, packed=text.packed(), indexed=spans)
    return kept.id
