"""The SQL of searching in PostgreSQL: counts of terms, lists of who holds one, what filters look at. Plans nothing.

A term is kept as a hash of 64 bits under its tenant, and a GIN index has the list of artifacts for each. So a term may
be of any length and any characters, a list holds one tenant's artifacts only, and nobody reads words in the index.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final
from uuid import UUID

from keyhole.records import TOPIC
from keyhole.store.base import Word
from keyhole.store.filters import Facets, Filters, passes
from keyhole.store.postgres.database import Connection
from keyhole.store.term_lookup import Sought, affordable, best, forms_of, plan

PLAN: Final = "SET LOCAL enable_seqscan = off; SET LOCAL jit = off; "
"""For a transaction that searches. Without it a scan of all stems looks cheap to the planner, which does not know that
they are kept apart from their rows."""
_COUNTS: Final = """
SELECT term, (SELECT count(*) FROM keyhole.words WHERE tenant = %s AND stems @> ARRAY[term]) AS held
FROM unnest(%s::bigint[]) AS term
"""
_LISTS: Final = """
SELECT term, ARRAY(SELECT key FROM keyhole.words WHERE tenant = %s AND stems @> ARRAY[term]) AS keys
FROM unnest(%s::bigint[]) AS term
"""
_FACETS: Final = """
SELECT key, chars, url, published, fetched_at, language FROM keyhole.artifacts
WHERE tenant = %s AND key = ANY(%s) AND last_access >= %s AND NOT damaged
"""


@dataclass(frozen=True, slots=True)
class Asked:
    """Who asks, and what of the artifacts may be found."""

    tenant: UUID
    filters: Filters
    now: float
    accessed_since: float
    """Those that were last read before this have expired."""


def stems_of(tenant: UUID, words: str) -> str:
    """An artifact's search terms as an array of PostgreSQL."""
    return _array(map(_hasher(tenant), dict.fromkeys(words.split())))


def narrowed(connection: Connection, words: Sequence[Word], limit: int, asked: Asked, total: int) -> list[int]:
    """The keys of the artifacts that hold most of the words, best first."""
    forms = forms_of(words)
    held = _counts(connection, asked.tenant, {mark + form for each in forms for form in each for mark in ("", TOPIC)})
    lists = plan(forms, held, total)
    found: list[int] = []
    for readable in dict.fromkeys(affordable(lists)):
        if len(found) < limit and readable:
            scores = _scores(connection, asked.tenant, readable)
            found = best(scores, limit, lambda keys: _passing(connection, keys, asked))
    return found


def held_by_any(connection: Connection, tenant: UUID, words: Sequence[Word]) -> tuple[bool, ...]:
    """For each word whether any artifact holds it."""
    counts = _counts(connection, tenant, {term for forms in forms_of(words) for term in forms})
    return tuple(any(counts.get(form) for form in ((word,) if isinstance(word, str) else word)) for word in words)


def _scores(connection: Connection, tenant: UUID, lists: Sequence[Sought]) -> dict[int, float]:
    """For every key the sum of the weights of the lists that it is on."""
    hash_of = _hasher(tenant)
    hashes = {term: hash_of(term) for each in lists for term in each.terms}
    rows = connection.execute(_LISTS, [tenant, _array(sorted(set(hashes.values())))], binary=True)
    keys = {row["term"]: row["keys"] for row in rows}
    scores: dict[int, float] = {}
    known = scores.get
    for each in lists:
        for key in frozenset[int]().union(*(keys[hashes[term]] for term in each.terms)):
            scores[key] = known(key, 0.0) + each.weight
    return scores


def _passing(connection: Connection, keys: Sequence[int], asked: Asked) -> dict[int, int]:
    """The keys whose artifacts are there and pass the filters, with the lengths of their texts."""
    sites = [site.lower().removeprefix("www.") for site in asked.filters.sites]
    # Most that is on no wanted site is left out here: it need not travel.
    near = f" AND ({' OR '.join(['position(%s in lower(url)) > 0'] * len(sites))})" if sites else ""
    rows = connection.execute(_FACETS + near, [asked.tenant, list(keys), asked.accessed_since, *sites], binary=True)
    return {
        row["key"]: row["chars"]
        for row in rows
        if passes(
            Facets(row["url"], row["published"], row["fetched_at"], row["language"]), asked.filters, asked.now
        )
    }  # fmt: skip


def _counts(connection: Connection, tenant: UUID, terms: Iterable[str]) -> Mapping[str, int]:
    """How many artifacts hold each term; those that none holds are left out."""
    hash_of = _hasher(tenant)
    hashes = {hash_of(term): term for term in terms}
    rows = connection.execute(_COUNTS, [tenant, _array(hashes)], binary=True)
    return {hashes[row["term"]]: row["held"] for row in rows if row["held"]}


def _hasher(tenant: UUID) -> Callable[[str], int]:
    """What makes a term a number of 64 bits, under a tenant's number."""
    keyed = hashlib.blake2b(digest_size=8, key=tenant.bytes)

    def hash_of(term: str) -> int:
        digest = keyed.copy()
        digest.update(term.encode("utf-8", "surrogatepass"))
        return int.from_bytes(digest.digest(), "big", signed=True)

    return hash_of


def _array(numbers: Iterable[int]) -> str:
    """As PostgreSQL reads an array: far faster than to send its elements one by one."""
    return "{" + ",".join(map(str, numbers)) + "}"
