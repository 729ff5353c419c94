"""SQL for searching the SQLite file: term counts, posting lists and filtered columns.

An FTS5 table without positions returns a term's posting list fast, but its bm25() reads the words of every listed
artifact again. So only the lists are read, and store/term_lookup.py weighs them.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from keyhole.records import TOPIC
from keyhole.store.base import Word
from keyhole.store.filters import Facets, Filters, passes
from keyhole.store.term_lookup import PostingList, build_match, limit_rows, list_forms, plan_lists, select_best


@dataclass(frozen=True, slots=True)
class SearchScope:
    """The conditions on the artifacts of a search."""

    filters: Filters
    now: float
    accessed_since: float
    """The time before which an artifact's last read has expired."""


def search_keys(db: sqlite3.Connection, words: Sequence[Word], limit: int, scope: SearchScope) -> list[int]:
    """Return the keys of the best `limit` artifacts for the words, best first."""
    forms = list_forms(words)
    (total,) = next(db.execute("SELECT count(*) FROM entries"))
    counts = _count_terms(db, dict.fromkeys(form for each in forms for form in each))
    counts |= _count_terms(db, [TOPIC + form for form in counts])
    lists = plan_lists(forms, counts, total)
    keys: list[int] = []
    for lists_to_read in dict.fromkeys(limit_rows(lists)):
        if len(keys) < limit:
            keys = select_best(_score_keys(db, lists_to_read), limit, lambda keys: _filter_keys(db, keys, scope))
    return keys


def _score_keys(db: sqlite3.Connection, lists: Sequence[PostingList]) -> dict[int, float]:
    """Return for every key the sum of the weights of its lists."""
    scores: dict[int, float] = {}
    get_score = scores.get
    for each in lists:
        # group_concat, because one row for each key would take three times as long.
        (keys,) = next(db.execute("SELECT group_concat(rowid) FROM words WHERE words MATCH ?", [build_match(each)]))
        for key in map(int, keys.split(",") if keys else ()):
            scores[key] = get_score(key, 0.0) + each.weight
    return scores


def _filter_keys(db: sqlite3.Connection, keys: Sequence[int], scope: SearchScope) -> dict[int, int]:
    """Return the keys of artifacts in scope, with the lengths of their texts."""
    sites = [site.lower().removeprefix("www.") for site in scope.filters.sites]
    # SQLite excludes most other sites ten times as fast as `passes` does.
    site_sql = f" AND ({' OR '.join(['instr(lower(url), ?)'] * len(sites))})" if sites else ""
    sql = (
        "SELECT entries.key, chars, url, published, fetched_at, language FROM json_each(?) AS wanted "
        "CROSS JOIN entries ON entries.key = wanted.value WHERE (last_access >= ? OR pinned)"
    )
    rows = db.execute(sql + site_sql, [json.dumps(keys), scope.accessed_since, *sites])
    return {key: chars for key, chars, *facets in rows if passes(Facets(*facets), scope.filters, scope.now)}


def contains_words(db: sqlite3.Connection, words: Sequence[Word]) -> tuple[bool, ...]:
    """Return for each word whether any artifact contains it."""
    counts = _count_terms(db, [term for forms in list_forms(words) for term in forms])
    return tuple(any(counts.get(form) for form in ((word,) if isinstance(word, str) else word)) for word in words)


def _count_terms(db: sqlite3.Connection, terms: Iterable[str]) -> dict[str, int]:
    """Return how many artifacts contain each term, without terms that none contains."""
    db.execute("CREATE VIRTUAL TABLE IF NOT EXISTS temp.terms USING fts5vocab('main', 'words', 'row')")
    counts = {}
    for term in terms:
        for (count,) in db.execute("SELECT doc FROM temp.terms WHERE term = ?", [term]):
            counts[term] = count
    return counts
