"""Read an excerpt of an output that is too large to be ranked as a whole. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from keyhole.extract.outputs import Output, command_words, read_output
from keyhole.passages.excerpt import EXCERPT_CHARS as MAX_CHARS
from keyhole.passages.excerpt import Excerpt, ExcerptChooser, make_excerpt, query_needles, word_needles

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from keyhole.passages.excerpt import Needle

PIECE_CHARS: Final = 262_144
"""Characters of the pieces in which a text in memory is examined."""
STRETCH_CHARS: Final = 1_024
"""Characters of the stretches of a text in memory. The shorter they are, the more places fit an excerpt."""
EXCERPT_CHARS: Final = 48_000
"""Characters of the smallest excerpt: several times the largest default budget."""
SHARE: Final = 20
"""The twentieth part of a text in memory is its excerpt, if that is more."""


def needles_of(query: str | None, command: str) -> list[Needle]:
    """Return what is searched for in an output: the words of the query, or those of the command if there is none."""
    return query_needles(query) if query else word_needles(command_words(command))


def excerpt_of_text(text: str, needles: Sequence[Needle], least: int = 0) -> Excerpt:
    """Return the excerpt of a text in memory, of at least `least` characters, for what is searched for."""
    chooser = ExcerptChooser(needles, STRETCH_CHARS)
    for start in range(0, len(text), PIECE_CHARS):
        chooser.add(text[start : start + PIECE_CHARS])
    spans = chooser.choose(max(least, EXCERPT_CHARS, min(MAX_CHARS, len(text) // SHARE)))
    return make_excerpt(spans, len(text), lambda start, end: text[start:end])


def examine(pieces: Iterable[str], chooser: ExcerptChooser) -> Iterator[str]:
    """Yield the pieces of a text unchanged, and show each of them to the chooser of its excerpt."""
    for piece in pieces:
        chooser.add(piece)
        yield piece


def read_excerpt(excerpt: Excerpt, kind: str | None, command: str, name: str) -> Output:
    """Read an excerpt as the output from which it is taken. The other arguments are those of `read_output`.

    The parts of an excerpt are not those of the whole: their summary would be wrong.
    """
    read = read_output(excerpt.text, kind=kind, command=command, name=name)
    return read._replace(records=(), parts=(), about=(), joints=excerpt.joints)
