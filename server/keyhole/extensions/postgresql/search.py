"""SQL for searching PostgreSQL: term counts, posting lists and filtered columns.

A term and its frequency in an artifact are stored as one 64-bit number, a hash keyed by the tenant. A GIN index maps
each number to its artifacts. So a term may have any length and characters, a posting list belongs to one tenant, and
the index does not reveal words.
"""

from __future__ import annotations

import hashlib
import math
from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final
from uuid import UUID

from keyhole.extensions.postgresql.database import PostgresConnection
from keyhole.store.base import SearchWord
from keyhole.store.filters import Facets, Filters, passes
from keyhole.store.term_lookup import (
    CANDIDATES_PER_RESULT,
    TITLE_WEIGHT,
    find_words,
    list_forms,
    select_rare,
    split_words,
)

# Rank artifacts by BM25 from posting lists (Robertson and Zaragoza, 2009).

K1: Final = 1.2
B: Final = 0.75
"""BM25's k1 and b, at their usual values, as in SQLite's bm25()."""
FREQUENCIES: Final = (1, 2, 3, 4, 6, 9, 14, 25)
"""The frequencies that posting lists distinguish. Their number is a power of two: see `_make_hasher`."""
MIN_RARITY: Final = 1e-6
"""The weight of a term that more than half of the artifacts contain, as in SQLite's bm25()."""


@dataclass(frozen=True, slots=True)
class PostingList:
    """The keys of the artifacts that contain a term with a frequency, and the rarity of the term."""

    rarity: float
    frequency: int
    keys: frozenset[int]


def count_terms(words: str) -> Iterator[tuple[str, int]]:
    """Yield the distinct terms of an artifact, each with the index of its frequency in `FREQUENCIES`. `words`: as in
    `Store.put`.

    A term of the title counts `TITLE_WEIGHT` times.
    """
    title, body = split_words(words)
    counts = Counter[str](body)
    for term in title:
        counts[term] += int(TITLE_WEIGHT)
    for term, count in counts.items():
        yield term, bisect_right(FREQUENCIES, count) - 1


def rarity(count: int, total: int) -> float:
    """Return the inverse document frequency of a term that `count` of `total` artifacts contain."""
    return max(MIN_RARITY, math.log((total - count + 0.5) / (count + 0.5)))


def sum_scores(lists: Sequence[PostingList]) -> Mapping[int, float]:
    """Return the scores of all artifacts in the lists, as if they had the same length."""
    scores: dict[int, float] = {}
    get_score = scores.get
    for each in lists:
        weight = _weigh(each, 1.0)
        for key in each.keys:
            scores[key] = get_score(key, 0.0) + weight
    return scores


def rank_by_length(lists: Sequence[PostingList], lengths: Mapping[int, int]) -> list[int]:
    """Return the keys of artifacts with these lengths, best first; of equal scores, the highest key first."""
    average = max(1.0, sum(lengths.values()) / max(1, len(lengths)))
    scores = {
        key: sum(_weigh(each, length / average) for each in lists if key in each.keys)
        for key, length in lengths.items()
    }
    return sorted(scores, key=lambda key: (-scores[key], -key))


def sort_best_first(scores: Mapping[int, float], count: int) -> list[int]:
    """Return the `count` keys with the highest scores, best first; of equal scores, the highest key first."""
    # Sorting floats alone is ten times as fast as sorting pairs, and excludes most keys.
    minimum = sorted(scores.values(), reverse=True)[min(count, len(scores)) - 1] if scores and count else math.inf
    best = (key for key, score in scores.items() if score >= minimum)
    return sorted(best, key=lambda key: (-scores[key], -key))[:count]


def _weigh(list_: PostingList, length: float) -> float:
    """Return the contribution of a term to a text's score. `length`: of the text, as a multiple of the average."""
    return list_.rarity * list_.frequency * (K1 + 1) / (list_.frequency + K1 * (1 - B + B * length))


# SQL for searching PostgreSQL: term counts, posting lists and filtered columns.

PLANNER_SETTINGS: Final = "SET LOCAL enable_seqscan = off; SET LOCAL jit = off; "
"""Settings of a transaction that searches. Without them the planner prefers to scan all stems, because it does not know
that they are stored outside their rows."""
_COUNTS: Final = """
SELECT term, (SELECT count(*) FROM keyhole.words WHERE tenant = %s AND stems && ARRAY(
    SELECT term + step FROM generate_series(0, %s) AS step
)) AS artifacts
FROM unnest(%s::bigint[]) AS term
"""
_LISTS: Final = """
SELECT term, step, ARRAY(SELECT key FROM keyhole.words WHERE tenant = %s AND stems @> ARRAY[term + step]) AS keys
FROM unnest(%s::bigint[]) AS term, generate_series(0, %s) AS step
"""
_FACETS: Final = """
SELECT key, chars, url, published, fetched_at, language FROM keyhole.artifacts
WHERE tenant = %s AND key = ANY(%s) AND (last_access >= %s OR pinned) AND NOT damaged
"""


@dataclass(frozen=True, slots=True)
class TenantFilters:
    """The tenant of a search and the conditions on its artifacts."""

    tenant: UUID
    filters: Filters
    now: float
    accessed_since: float
    """Artifacts last read before this time have expired."""


def hash_stems(tenant: UUID, words: str) -> str:
    """Return the hashes of an artifact's search terms with their frequencies as a PostgreSQL array literal."""
    hash_term = _make_hasher(tenant)
    return _to_array(hash_term(term) + step for term, step in count_terms(words))


def search_keys(
    connection: PostgresConnection, words: Sequence[SearchWord], limit: int, scope: TenantFilters, total: int
) -> list[int]:
    """Return the keys of the best `limit` artifacts for the words, best first. `total`: artifacts of the tenant."""
    forms = list_forms(words)
    counts = _count_terms(connection, scope.tenant, {form for each in forms for form in each})
    lists = _read_lists(connection, scope.tenant, select_rare(forms, counts), counts, total)
    scores = sum_scores(lists)
    candidates = sort_best_first(scores, limit * CANDIDATES_PER_RESULT)
    lengths = _filter_keys(connection, candidates, scope)
    if len(lengths) < limit and len(candidates) < len(scores):
        lengths = _filter_keys(connection, list(scores), scope)
    return rank_by_length(lists, lengths)[:limit]


def contains_words(connection: PostgresConnection, tenant: UUID, words: Sequence[SearchWord]) -> tuple[bool, ...]:
    """Return for each word whether any artifact contains it."""
    counts = _count_terms(connection, tenant, {term for forms in list_forms(words) for term in forms})
    return find_words(words, counts)


def _read_lists(
    connection: PostgresConnection, tenant: UUID, terms: Sequence[str], counts: Mapping[str, int], total: int
) -> list[PostingList]:
    """Return the posting lists of terms. `counts`: how many of all `total` artifacts contain each term."""
    hash_term = _make_hasher(tenant)
    terms_by_hash = {hash_term(term): term for term in terms}
    values = [tenant, _to_array(terms_by_hash), len(FREQUENCIES) - 1]
    return [
        PostingList(rarity(counts[terms_by_hash[row["term"]]], total), FREQUENCIES[row["step"]], frozenset(row["keys"]))
        for row in connection.execute(_LISTS, values, binary=True)
        if row["keys"]
    ]


def _filter_keys(connection: PostgresConnection, keys: Sequence[int], scope: TenantFilters) -> dict[int, int]:
    """Return the keys of artifacts in scope, with the lengths of their texts."""
    sites = [site.lower().removeprefix("www.") for site in scope.filters.sites]
    # PostgreSQL excludes most other sites, so that their rows are not transferred.
    site_sql = f" AND ({' OR '.join(['position(%s in lower(url)) > 0'] * len(sites))})" if sites else ""
    values = [scope.tenant, list(keys), scope.accessed_since, *sites]
    rows = connection.execute(_FACETS + site_sql, values, binary=True)
    lengths = {}
    for row in rows:
        facets = Facets(row["url"], row["published"], row["fetched_at"], row["language"])
        if passes(facets, scope.filters, scope.now):
            lengths[row["key"]] = row["chars"]
    return lengths


def _count_terms(connection: PostgresConnection, tenant: UUID, terms: Iterable[str]) -> Mapping[str, int]:
    """Return how many artifacts contain each term, without terms that none contains."""
    hash_term = _make_hasher(tenant)
    terms_by_hash = {hash_term(term): term for term in terms}
    rows = connection.execute(_COUNTS, [tenant, len(FREQUENCIES) - 1, _to_array(terms_by_hash)], binary=True)
    return {terms_by_hash[row["term"]]: row["artifacts"] for row in rows if row["artifacts"]}


def _make_hasher(tenant: UUID) -> Callable[[str], int]:
    """Return a function that hashes a term to 64 bits, keyed by the tenant's number.

    The last three bits of a hash are 0: the index of the term's frequency in `FREQUENCIES` is added to it.
    """
    keyed = hashlib.blake2b(digest_size=8, key=tenant.bytes)

    def hash_term(term: str) -> int:
        digest = keyed.copy()
        digest.update(term.encode("utf-8", "surrogatepass"))
        return int.from_bytes(digest.digest(), "big", signed=True) & -len(FREQUENCIES)

    return hash_term


def _to_array(numbers: Iterable[int]) -> str:
    """Return numbers as a PostgreSQL array literal, which is far faster than sending them one by one."""
    return "{" + ",".join(map(str, numbers)) + "}"
