"""The SQL of searching artifacts: counts of terms, lists of who holds one, and what the filters look at. Plans nothing.

An FTS5 table without positions gives a term's list of keys fast, but its bm25() reads the words of every artifact on a
list again. So the lists alone are read, and narrow.py weighs them.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from keyhole.records import TOPIC
from keyhole.store.base import Word
from keyhole.store.filters import Facets, Filters, passes
from keyhole.store.term_lookup import Sought, affordable, best, forms_of, match_of, plan


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
    (total,) = next(db.execute("SELECT count(*) FROM entries"))
    held = _counts(db, dict.fromkeys(form for each in forms for form in each))
    held |= _counts(db, [TOPIC + form for form in held])
    lists = plan(forms, held, total)
    found: list[int] = []
    for readable in dict.fromkeys(affordable(lists)):
        if len(found) < limit:
            found = best(_scores(db, readable), limit, lambda keys: _passing(db, keys, asked))
    return found


def _scores(db: sqlite3.Connection, lists: Sequence[Sought]) -> dict[int, float]:
    """For every key the sum of the weights of the lists that it is on."""
    scores: dict[int, float] = {}
    known = scores.get
    for each in lists:
        # As one text: a row for each key would take three times as long.
        (keys,) = next(db.execute("SELECT group_concat(rowid) FROM words WHERE words MATCH ?", [match_of(each)]))
        for key in map(int, keys.split(",") if keys else ()):
            scores[key] = known(key, 0.0) + each.weight
    return scores


def _passing(db: sqlite3.Connection, keys: Sequence[int], asked: Asked) -> dict[int, int]:
    """The keys whose artifacts are there and pass the filters, with the lengths of their texts."""
    sites = [site.lower().removeprefix("www.") for site in asked.filters.sites]
    # Most that is on no wanted site is left out here: SQLite is ten times as fast at it.
    near = f" AND ({' OR '.join(['instr(lower(url), ?)'] * len(sites))})" if sites else ""
    sql = (
        "SELECT entries.key, chars, url, published, fetched_at, language FROM json_each(?) AS wanted "
        "CROSS JOIN entries ON entries.key = wanted.value WHERE last_access >= ?"
    )
    rows = db.execute(sql + near, [json.dumps(keys), asked.accessed_since, *sites])
    return {key: chars for key, chars, *facets in rows if passes(Facets(*facets), asked.filters, asked.now)}


def held_by_any(db: sqlite3.Connection, words: Sequence[Word]) -> tuple[bool, ...]:
    """For each word whether any artifact holds it."""
    counts = _counts(db, [term for forms in forms_of(words) for term in forms])
    return tuple(any(counts.get(form) for form in ((word,) if isinstance(word, str) else word)) for word in words)


def _counts(db: sqlite3.Connection, terms: Iterable[str]) -> dict[str, int]:
    """How many artifacts hold each term; those that none holds are left out."""
    db.execute("CREATE VIRTUAL TABLE IF NOT EXISTS temp.terms USING fts5vocab('main', 'words', 'row')")
    counts = {}
    for term in terms:
        for (count,) in db.execute("SELECT doc FROM temp.terms WHERE term = ?", [term]):
            counts[term] = count
    return counts
