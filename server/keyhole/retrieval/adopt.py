"""Store outputs with the words by which a search of the store finds them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from keyhole.store import spool
from keyhole.store.spool import MAX_ADOPTED, adopt, write
from keyhole.text.output_facts import output_kind

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

    from keyhole.records import Artifact
    from keyhole.store.adopting import AdoptingStore
    from keyhole.store.base import Store
    from keyhole.store.calls.base import CallLog

INDEXED_CHARS: Final = 100_000
"""Characters of the beginning and of the end of an output that are indexed, with the lines that every reader looks
for between them. Indexing 200,000 characters takes 50 ms."""


def adopt_outputs(folder: str, store: Store, id: str = "", most: int = MAX_ADOPTED) -> int:
    """Move the outputs of a spool folder into a store, and return their number.

    `id`: the only output to move, "" for all. `most`: how many are moved at once.
    """

    def put(artifact: Artifact) -> None:
        store.put(artifact, artifact_words(artifact))

    return adopt(folder, put, id, most)


def adopt_calls(folder: str, log: CallLog) -> int:
    """Move the records of calls of a spool folder into a log, and return their number."""

    def add(facts: Mapping[str, Any]) -> None:
        from keyhole.retrieval.output_record import make_output_record, read_call

        log.add(make_output_record(read_call(facts)))

    return spool.adopt_calls(folder, add)


class SpooledOutputs:
    """Takes outputs into the spool folder of a store, which takes a fraction of the time of indexing them.

    An output that cannot be written there goes into the store.
    """

    def __init__(self, store: AdoptingStore, max_bytes: int) -> None:
        self._store = store
        self._max_bytes = max_bytes

    def put(self, artifact: Artifact, _words: str, /) -> None:
        """Write an output into the folder. Its search words are made when it is adopted."""
        try:
            is_written = write(
                self._store.folder, artifact.id, artifact.url, artifact.text, title=artifact.title,
                now=artifact.fetched_at, notes=dict(artifact.notes), max_bytes=self._max_bytes,
            )  # fmt: skip
        except OSError:  # the disk is full, or the folder cannot be written: the store may use memory
            is_written = False
        if not is_written:
            self._store.put(artifact, artifact_words(artifact))

    def adopt_oldest(self) -> bool:
        """Move the oldest output of the folder into the store. Return False if there is none or it cannot be moved."""
        return adopt_outputs(self._store.folder, self._store, most=1) > 0


def artifact_words(artifact: Artifact) -> str:
    """Return the search words of an artifact that is an output."""
    from keyhole.extract.outputs import read_output

    read = read_output(artifact.text, kind=output_kind(artifact.url))
    return output_words(artifact.title, read.text, read.marks)


def output_words(title: str, text: str, marks: Sequence[tuple[int, int, float]]) -> str:
    """Return the search words of an output. `title`: its command; `marks`: the lines that every reader looks for."""
    from keyhole.passages.stems import index_terms

    if len(text) > 2 * INDEXED_CHARS:
        lines = [text[start:end] for start, end, _ in marks]
        text = "\n".join([text[:INDEXED_CHARS], *lines, text[-INDEXED_CHARS:]])
    return " ".join(index_terms(title, text))
