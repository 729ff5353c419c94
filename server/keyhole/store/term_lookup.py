"""Prepare words for the search of a store: the words that its index holds, and those of a query that it looks up."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from keyhole.records import TOPIC
from keyhole.store.base import SearchWord

TITLE_WEIGHT: Final = 3.0
"""The weight of a word in a title, relative to a word in a text, for BM25."""
MAX_ROWS: Final = 25_000
"""Rows read from posting lists, in about 10 ms. Only the commonest words of a long query exceed it. With 60,000 rows,
the first twenty results contain no more known artifacts; with 10,000, fewer (`python -m benchmarks.search.stored`)."""
MAX_WORDS: Final = 48
"""Words of a query that are looked up, rarest first, as many as the ranker uses. A longer query is a pasted text."""
CANDIDATES_PER_RESULT: Final = 10
"""Candidates that are compared with the filters for each result. All are compared if too few pass."""


def make_words(title: str, pieces: Iterable[str]) -> str:
    """Return the `words` argument of `Store.put` for a title and pieces of its text."""
    from keyhole.passages.stems import index_terms  # stemmers take a tenth of the start's time

    return " ".join(index_terms(title, "\n".join(pieces)))


def split_words(words: str) -> tuple[list[str], list[str]]:
    """Split the `words` argument of `Store.put` into title words and text words."""
    terms = words.split()
    title = [term.removeprefix(TOPIC) for term in terms if term.startswith(TOPIC)]
    return title, [term for term in terms if not term.startswith(TOPIC)]


def select_indexable(words: Iterable[str]) -> list[str]:
    """Return the words that the index can hold: FTS5 ends a token at a space, control or unassigned character."""
    # isprintable() excludes these categories except the space; a loop over the characters takes 30 times as long.
    return [word for word in words if word and word.isprintable() and " " not in word]


def list_forms(words: Iterable[SearchWord]) -> list[tuple[str, ...]]:
    """Return each word's indexable forms. Words without such a form are left out."""
    forms_by_word = ((word,) if isinstance(word, str) else word for word in words)
    return [forms for each in forms_by_word if (forms := tuple(dict.fromkeys(select_indexable(each))))]


def select_rare(words: Sequence[tuple[str, ...]], counts: Mapping[str, int]) -> list[str]:
    """Return the forms of the rarest words that artifacts contain, which match at most `MAX_ROWS` rows together.

    `counts`: how many artifacts contain each form. The rarest word is always among them.
    """
    sizes = {forms: sum(counts.get(form, 0) for form in forms) for forms in words}
    found = sorted((size, forms) for forms, size in sizes.items() if size)[:MAX_WORDS]
    chosen, rows = list[str](), 0
    for size, forms in found:
        rows += size
        if chosen and rows > MAX_ROWS:
            break
        chosen += [form for form in forms if counts.get(form)]
    return list(dict.fromkeys(chosen))


def find_words(words: Iterable[SearchWord], counts: Mapping[str, int]) -> tuple[bool, ...]:
    """Return for each word whether any artifact contains it. `counts`: how many artifacts contain each form."""
    return tuple(any(counts.get(form) for form in ((word,) if isinstance(word, str) else word)) for word in words)
