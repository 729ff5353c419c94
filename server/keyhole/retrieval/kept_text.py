"""Name the texts that are kept beside pages, which are outputs, data and what a compaction leaves out, and keep them.

A hook, which has a few milliseconds, writes into the spool folder, from which the store adopts them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from keyhole.store.ids import artifact_id
from keyhole.store.spool import MAX_BYTES, write
from keyhole.text.output_facts import Notes, OutputFacts, output_kind, output_url

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from typing import Protocol

    from keyhole.records import Artifact

    class OutputStore(Protocol):
        """Takes outputs: a store, or what a store adopts later."""

        def put(self, artifact: Artifact, words: str, /) -> None:
            """Keep an artifact with its search words."""
            ...

    Keep = Callable[["KeptText", Callable[[], str]], None]
    """Keeps a text. The function returns its search words, which need not be made at once."""

INDEXED_CHARS: Final = 100_000
"""Characters of the beginning and of the end of an output that are indexed, with the lines that every reader looks
for between them. Indexing 200,000 characters takes 50 ms."""


class KeptText(NamedTuple):
    """A text that is kept, under the id that its kind and its text have. The notes are those of `OutputFacts`."""

    id: str
    url: str
    title: str
    text: str
    time: float
    """Seconds since the epoch."""
    notes: Notes
    cut: bool = False
    content_type: str = "text/plain"

    def artifact(self) -> Artifact:
        """Return the artifact of the text."""
        from keyhole.records import Artifact  # a hook has no time to import it

        return Artifact(
            self.id, self.url, self.url, self.title, self.text, self.content_type, "", self.time, cut=self.cut,
            notes=self.notes,
        )  # fmt: skip


def name_text(secret: bytes, kind: str, text: str | Iterable[str], facts: OutputFacts, now: float) -> KeptText:
    """Return a text of a kind of output as it is kept. The text of pieces, which may be too large, is left out."""
    url, content = output_url(kind), text if isinstance(text, str) else ""
    return KeptText(artifact_id(secret, url, text), url, facts.title, content, now, facts.notes)


def keep_in_store(store: OutputStore) -> Keep:
    """Return the function that puts texts into a store."""
    return lambda kept, words: store.put(kept.artifact(), words())


def keep_in_spool(folder: str, max_bytes: int = MAX_BYTES) -> Keep:
    """Return the function that writes texts into a spool folder. It raises OSError for a text that cannot be kept."""

    def keep(kept: KeptText, _words: Callable[[], str]) -> None:
        is_written = write(
            folder, kept.id, kept.url, kept.text, title=kept.title, now=kept.time, notes=dict(kept.notes),
            max_bytes=max_bytes,
        )  # fmt: skip
        if not is_written:
            raise OSError("the output is larger than the spool folder may be")

    return keep


def keep_in_either(folder: str, max_bytes: int, store: OutputStore) -> Keep:
    """Return the function that writes texts into the spool folder of a store, and into the store where that fails.

    Writing takes a fraction of the time of indexing, which follows when the text is adopted.
    """
    spool, direct = keep_in_spool(folder, max_bytes), keep_in_store(store)

    def keep(kept: KeptText, words: Callable[[], str]) -> None:
        try:
            spool(kept, words)
        except OSError:  # the disk is full, or the folder cannot be written: the store may use memory
            direct(kept, words)

    return keep


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
