"""Store outputs with the words by which a search of the store finds them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from keyhole.text.output_facts import output_kind

if TYPE_CHECKING:
    from collections.abc import Sequence

    from keyhole.records import Artifact
    from keyhole.store.base import Store

INDEXED_CHARS: Final = 100_000
"""Characters of the beginning and of the end of an output that are indexed, with the lines that every reader looks
for between them. Indexing 200,000 characters takes 50 ms."""


def adopt_outputs(folder: str, store: Store, id: str = "") -> int:
    """Move the outputs of a spool folder into a store, or only the output `id`, and return their number."""
    from keyhole.store.spool import adopt

    def put(artifact: Artifact) -> None:
        store.put(artifact, artifact_words(artifact))

    return adopt(folder, put, id)


def artifact_words(artifact: Artifact) -> str:
    """Return the search words of an artifact that is an output."""
    from keyhole.extract.outputs import read_output

    marks = read_output(artifact.text, kind=output_kind(artifact.url)).marks
    return output_words(artifact.title, artifact.text, marks)


def output_words(title: str, text: str, marks: Sequence[tuple[int, int, float]]) -> str:
    """Return the search words of an output. `title`: its command; `marks`: the lines that every reader looks for."""
    from keyhole.passages.stems import index_terms

    if len(text) > 2 * INDEXED_CHARS:
        lines = [text[start:end] for start, end, _ in marks]
        text = "\n".join([text[:INDEXED_CHARS], *lines, text[-INDEXED_CHARS:]])
    return " ".join(index_terms(title, text))
