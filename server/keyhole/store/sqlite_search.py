"""The SQL of searching artifacts: counts of terms, lists of who holds one, and what the filters look at. Plans nothing.

An FTS5 table without positions gives a term's list of keys fast, but its bm25() reads the words of every artifact on a
list again. So the lists alone are read, and narrow.py weighs them.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from keyhole.store.base import Word
from keyhole.store.filters import Facets, Filters, passes
from keyhole.store.narrow import add, best_first, forms_of, match_of, plan, with_topics

BATCH: Final = 1_000
"""Artifacts whose facets are read at a time: some milliseconds."""


@dataclass(frozen=True, slots=True)
class Asked:
    """What of the artifacts may be found."""

    filters: Filters
    now: float
    accessed_since: float
    """Those that were last read before this have expired."""


def narrowed(db: sqlite3.Connection, words: Sequence[Word], limit: int, asked: Asked) -> list[int]:
    """The keys of the artifacts that hold most of the words, best first."""
    forms = forms_of(words)
    (total,) = next(db.execute("SELECT count(*) FROM artifacts"))
    lists = plan(forms, _counts(db, with_topics(forms)), total)
    scores: dict[int, float] = {}
    found: list[int] = []
    for common in (False, True):
        unread = [each for each in lists if each.common is common]
        if len(found) >= limit or not unread:
            continue
        for each in unread:
            rows = db.execute("SELECT rowid FROM words WHERE words MATCH ?", [match_of(each)])
            add(scores, [key for (key,) in rows], each.weight)
        found = _passing(db, best_first(scores), limit, asked)
    return found


def held_by_any(db: sqlite3.Connection, words: Sequence[Word]) -> tuple[bool, ...]:
    """For each word whether any artifact holds it."""
    counts = _counts(db, [term for forms in forms_of(words) for term in forms])
    return tuple(any(counts.get(form) for form in ((word,) if isinstance(word, str) else word)) for word in words)


def _counts(db: sqlite3.Connection, terms: list[str]) -> dict[str, int]:
    """How many artifacts hold each term; those that none holds are left out."""
    db.execute("CREATE VIRTUAL TABLE IF NOT EXISTS temp.terms USING fts5vocab('main', 'words', 'row')")
    counts = {}
    for term in terms:
        for (count,) in db.execute("SELECT doc FROM temp.terms WHERE term = ?", [term]):
            counts[term] = count
    return counts


def _passing(db: sqlite3.Connection, keys: list[int], limit: int, asked: Asked) -> list[int]:
    """The first keys whose artifacts are there and pass the filters, in the given order."""
    found: list[int] = []
    for start in range(0, len(keys), BATCH):
        batch = keys[start : start + BATCH]
        passing = {key for key, facets in _facets(db, batch, asked) if passes(facets, asked.filters, asked.now)}
        found += [key for key in batch if key in passing]
        if len(found) >= limit:
            break
    return found[:limit]


def _facets(db: sqlite3.Connection, keys: Sequence[int], asked: Asked) -> Iterator[tuple[int, Facets]]:
    sql = (
        "SELECT a.key, url, published, fetched_at, language FROM json_each(?) AS wanted CROSS JOIN artifacts AS a "
        "INDEXED BY artifacts_by_key ON a.key = wanted.value WHERE last_access >= ?"
    )
    for key, *facets in db.execute(sql, [json.dumps(keys), asked.accessed_since]):
        yield key, Facets(*facets)
