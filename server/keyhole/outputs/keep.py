"""Name and keep the texts that are not pages: outputs, data, and what a compaction leaves out.

A hook has only a few milliseconds, so it writes texts into the spool folder. The store adopts them from there.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from keyhole.store.ids import artifact_id
from keyhole.store.spool import MAX_BYTES, write
from keyhole.text.output_facts import Notes, OutputFacts, output_kind, output_url

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from typing import Protocol

    from keyhole.outputs.output import Output
    from keyhole.records import Artifact

    class OutputStore(Protocol):
        """Takes outputs: a store, or what a store adopts later."""

        def put(self, artifact: Artifact, words: str, /, *, indexed: Sequence[tuple[int, int]] | None = None) -> None:
            """Keep an artifact with its search words, and the ranges of its text that they were made from."""
            ...

    Keep = Callable[["KeptText", Callable[[], "IndexWords"]], None]
    """Keeps a text. The function returns its search words, which need not be made at once."""

INDEXED_CHARS: Final = 100_000
"""Characters of the beginning and of the end of an output that are indexed, with the lines that every reader looks
for between them. Indexing 200,000 characters takes 50 ms."""


class IndexWords(NamedTuple):
    """The search words of a text, and the ranges of it that they were made from, joined by line breaks."""

    words: str
    spans: Sequence[tuple[int, int]]


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
    """Return a text of a kind of output as it is kept. If it is given in pieces, it may be too large and is left
    out."""
    url, content = output_url(kind), text if isinstance(text, str) else ""
    return KeptText(artifact_id(secret, url, text), url, facts.title, content, now, facts.notes)


def keep_in_store(store: OutputStore) -> Keep:
    """Return the function that puts texts into a store."""

    def keep(kept: KeptText, words: Callable[[], IndexWords]) -> None:
        made = words()
        store.put(kept.artifact(), made.words, indexed=made.spans)

    return keep


def keep_in_spool(folder: str, max_bytes: int = MAX_BYTES) -> Keep:
    """Return the function that writes texts into a spool folder. It raises OSError for a text that cannot be kept."""

    def keep(kept: KeptText, _words: Callable[[], IndexWords]) -> None:
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

    def keep(kept: KeptText, words: Callable[[], IndexWords]) -> None:
        try:
            spool(kept, words)
        except OSError:  # the disk is full, or the folder cannot be written: the store may use memory
            direct(kept, words)

    return keep


def artifact_words(artifact: Artifact) -> IndexWords:
    """Return the search words of an artifact that is an output."""
    from keyhole.outputs.read import read_output

    output = read_output(artifact.text, kind=output_kind(artifact.url))
    return output_words(artifact.title, output, lambda start, end: artifact.text[start:end])


def output_words(title: str, output: Output, read: Callable[[int, int], str]) -> IndexWords:
    """Return the search words of an output. `title`: its command; `read`: returns a range of its stored text."""
    from keyhole.store.term_lookup import make_words  # a hook makes no words

    spans = _indexed_spans(output)
    return IndexWords(make_words(title, (read(*span) for span in spans)), spans)


def _indexed_spans(output: Output) -> list[tuple[int, int]]:
    """Return the ranges of the stored text that are indexed: all of it, or its ends and the marked lines between."""
    from keyhole.outputs.output_text import OutputText
    from keyhole.passages.gaps import merge_spans

    end = output.total - INDEXED_CHARS
    if end <= INDEXED_CHARS:
        return [(0, output.total)]
    lines = OutputText(output, 0, 0).stored_places([mark[:2] for mark in output.marks])
    inner = [(start, last) for start, last in lines if start >= INDEXED_CHARS and last <= end]
    return [(0, INDEXED_CHARS), *merge_spans(inner), (end, output.total)]
