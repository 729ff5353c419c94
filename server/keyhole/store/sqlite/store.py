"""The artifact store in one SQLite file, shared by all processes on the machine.

Every call is a short transaction, or a few. The SQL is in the modules beside this one, by subject.
"""

from __future__ import annotations

import json
import logging
import sqlite3
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from sqlite3 import Connection, Row
from typing import TYPE_CHECKING, Final, TypeVar

from keyhole.errors import Code, KeyholeError
from keyhole.records import Artifact, ArtifactPart, ArtifactSummary, Place
from keyhole.store.base import (
    MAX_KNOWN_URLS,
    MAX_VECTORS,
    TOO_LARGE,
    Clock,
    FileState,
    Limits,
    SearchWord,
    Span,
    StoreStats,
    Traces,
    Verification,
)
from keyhole.store.filters import NO_FILTERS, Facets, Filters, Scope, passes
from keyhole.store.forget_mark import FORGOTTEN, ForgetMark, open_marks
from keyhole.store.sqlite import rows, space, word_index
from keyhole.store.sqlite.damage import check_integrity, salvage
from keyhole.store.sqlite.file import open_database, rewrite, translate_errors
from keyhole.store.sqlite.schema import open_store
from keyhole.store.sqlite.word_index import decode_spans
from keyhole.store.term_lookup import CANDIDATES_PER_RESULT, TITLE_WEIGHT, find_words, list_forms, select_rare

if TYPE_CHECKING:
    from keyhole.store.chunks import PackedText

# Search: artifacts of the SQLite file, ranked by BM25 and filtered by their columns.

_RANKED: Final = (
    f"SELECT rowid FROM words WHERE words MATCH ? ORDER BY bm25(words, {TITLE_WEIGHT}, 1.0), rowid DESC LIMIT ?"  # noqa: S608 - constant
)
"""The keys of the artifacts that match, best first. Artifacts of equal rank are ordered from the latest."""


@dataclass(frozen=True, slots=True)
class SearchConditions:
    """The conditions on the artifacts of a search."""

    filters: Filters
    now: float
    accessed_since: float
    """Artifacts last read before this time have expired."""


def search_keys(db: sqlite3.Connection, words: Sequence[SearchWord], limit: int, scope: SearchConditions) -> list[int]:
    """Return the keys of the best `limit` artifacts for the words, best first, by BM25 over titles and texts."""
    forms = list_forms(words)
    counts = _count_terms(db, dict.fromkeys(form for each in forms for form in each))
    match = build_match(select_rare(forms, counts))
    if not match:
        return []
    for most in (limit * CANDIDATES_PER_RESULT, -1):
        keys = [key for (key,) in db.execute(_RANKED, [match, most])]
        found = _filter_keys(db, keys, scope)
        if len(found) >= limit or len(keys) < most:
            break
    return [key for key in keys if key in found][:limit]


def build_match(terms: Iterable[str]) -> str:
    """Return the FTS5 query that matches any of the terms."""
    return " OR ".join('"' + term.replace('"', '""') + '"' for term in terms)


def _filter_keys(db: sqlite3.Connection, keys: Sequence[int], scope: SearchConditions) -> frozenset[int]:
    """Return the keys of artifacts in scope."""
    sites = [site.lower().removeprefix("www.") for site in scope.filters.sites]
    # SQLite excludes most other sites ten times as fast as `passes` does.
    site_sql = f" AND ({' OR '.join(['instr(lower(url), ?)'] * len(sites))})" if sites else ""
    sql = (
        "SELECT entries.key, url, published, fetched_at, language FROM json_each(?) AS wanted "
        "CROSS JOIN entries ON entries.key = wanted.value WHERE (last_access >= ? OR pinned) AND NOT damaged"
    )
    rows = db.execute(sql + site_sql, [json.dumps(keys), scope.accessed_since, *sites])
    return frozenset(key for key, *facets in rows if passes(Facets(*facets), scope.filters, scope.now))


def contains_words(db: sqlite3.Connection, words: Sequence[SearchWord]) -> tuple[bool, ...]:
    """Return for each word whether any artifact contains it."""
    counts = _count_terms(db, [term for forms in list_forms(words) for term in forms])
    return find_words(words, counts)


def _count_terms(db: sqlite3.Connection, terms: Iterable[str]) -> dict[str, int]:
    """Return how many artifacts contain each term. Terms in no artifact are left out."""
    db.execute("CREATE VIRTUAL TABLE IF NOT EXISTS temp.terms USING fts5vocab('main', 'words', 'row')")
    counts = {}
    for term in terms:
        for (count,) in db.execute("SELECT doc FROM temp.terms WHERE term = ?", [term]):
            counts[term] = count
    return counts


# The store: one SQLite file, shared by all processes on the machine.

log = logging.getLogger(__name__)
T = TypeVar("T")

TOUCH_AFTER: Final = 120.0
"""Seconds between two recorded reads of an artifact, so that not every read is a write. An artifact that was read in
the last minutes is still among the last to be evicted."""
WORDS_MADE_PER_PUT: Final = 4
"""Artifacts that one put adds to the index if their words are missing, in some 40 ms. They are missing, for example,
after an update of Keyhole that makes other words."""
FILE_NAME: Final = "artifacts.db"
NAME: Final = "the artifact store"


class SqliteStore:
    """A store in the file `artifacts.db` of a folder, or in memory for None.

    The folder must exist (see store/home.py). The file is opened by the first call, and used by one thread at a time.

    `adopt`: stores the output with this id that another process has left for the store, or all such outputs for "". It
    is called when an unknown id is read, and before the artifacts are listed, searched or counted.
    """

    _kind = "sqlite"
    _too_large = TOO_LARGE

    def __init__(
        self,
        folder: Path | None,
        clock: Clock,
        limits: Limits,
        adopt: Callable[[str], object] | None = None,
    ) -> None:
        self._clock = clock
        self._limits = limits
        self._adopt = adopt or (lambda _id: None)
        self._marks = open_marks(folder)
        self._database = open_database(folder / FILE_NAME if folder else None, NAME, open_store, salvage)

    # Writes.

    def put(
        self,
        artifact: Artifact,
        words: str,
        keys: Iterable[bytes] = (),
        packed: PackedText | None = None,
        *,
        indexed: Sequence[Span] | None = None,
    ) -> None:
        now = self._clock()
        entry = rows.make_entry(artifact, words, packed, indexed)
        if entry.columns["size"] > self._limits.max_bytes:
            raise KeyholeError(Code.STORE_UNAVAILABLE, self._too_large)

        url_keys = list(keys)

        def put_entry(db: Connection) -> None:
            # In the transaction, so that a command that forgets sees this text, or this transaction sees its mark.
            if artifact.fetched_at < self._marks.read().before:
                raise KeyholeError(Code.STORE_UNAVAILABLE, FORGOTTEN)
            rows.remember(db, url_keys, MAX_KNOWN_URLS, self._limits.max_bytes)
            key = rows.put(db, entry, words, now)
            rows.drop_replaced(db, key, entry.columns["requested_url"])
            space.make_room(db, self._limits, now, protected_key=key)
            space.shrink_file(db, space.PAGES_FREED_PER_PUT)
            word_index.make_missing(db, WORDS_MADE_PER_PUT)

        self._database.run(put_entry, write=True)

    def renew(self, id: str, fetched_at: float) -> bool:
        now = self._clock()

        def renew_row(db: Connection) -> bool:
            row = rows.find_row(db, id)
            if row is None or row["damaged"] or rows.is_expired(row, now - self._limits.ttl):
                return False
            rows.touch(db, row["key"], now)
            db.execute("UPDATE entries SET fetched_at = ? WHERE key = ?", [fetched_at, row["key"]])
            return True

        return self._database.run(renew_row, write=True)

    def pin(self, id: str, pinned: bool) -> bool:
        self._adopt(id)
        now = self._clock()
        return self._database.run(lambda db: rows.pin(db, id, pinned, now, self._limits), write=True)

    def remove(self, *ids: str) -> frozenset[str]:
        self._adopt(ids[0] if len(ids) == 1 else "")
        return self._database.run(lambda db: rows.remove(db, ids), write=True)

    def match(self, scope: Scope) -> frozenset[str]:
        self._adopt("")
        # Take the write lock, to wait for transactions that have not seen the mark.
        return self._database.run(lambda db: rows.match(db, scope), write=True)

    def add_mark(self, mark: ForgetMark) -> None:
        with translate_errors(NAME):
            self._marks.add(mark)

    def last_mark(self) -> ForgetMark:
        with translate_errors(NAME):
            return self._marks.read()

    def remove_traces(self, scope: Scope) -> Traces:
        return self._database.run(lambda db: rows.remove_traces(db, scope), write=True)

    def erase(self) -> None:
        self._rebuild_words(0.0)
        self._database.run(rows.merge_words, write=True)
        self._database.run(lambda db: rewrite(db), write=None)

    def _rebuild_words(self, most: float) -> None:
        """Rebuild the index if more than the share `most` belongs to no artifact. Add missing words in several
        transactions."""
        if self._database.run(word_index.unknown_share) > most:
            self._database.run(word_index.rebuild, write=True)
        while self._database.run(word_index.make_missing, write=True):
            pass

    def collect(self) -> int:
        self._adopt("")
        now, dropped = self._clock(), 0
        # In several transactions, so that other processes can write between them.
        for drop_batch in (
            partial(space.make_room, limits=self._limits, now=now, max_count=space.EVICTED_PER_TRANSACTION),
            partial(space.drop_expired, limits=self._limits, now=now),
        ):
            while count := self._database.run(drop_batch, write=True):
                dropped += count
        self._rebuild_words(word_index.UNKNOWN_SHARE)
        while self._database.run(partial(space.shrink_file, max_count=space.PAGES_FREED_PER_TRANSACTION), write=True):
            pass
        return dropped

    # Reads.

    def get(self, id: str) -> Artifact:
        return rows.require(self._read_or_adopt(id, rows.read_artifact).artifact)

    def part(self, id: str, start: int, end: int) -> ArtifactPart:
        return rows.require(self._read_or_adopt(id, partial(rows.read_part, start=start, end=end)).part)

    def recent(self, url: str, since: float) -> Artifact | None:
        sql = (
            f"SELECT key FROM entries WHERE {rows.LIVE} AND requested_url = ? AND fetched_at >= ? "  # noqa: S608 - constant
            "ORDER BY fetched_at DESC LIMIT 1"
        )
        values = [self._clock() - self._limits.ttl, rows.to_storable(url), since]
        results = self._database.run(lambda db: rows.read_many(db, [key for (key,) in db.execute(sql, values)]))
        return next(iter(self._filter_damaged(results)), None)

    def search(self, words: Sequence[SearchWord], limit: int, filters: Filters = NO_FILTERS) -> tuple[Artifact, ...]:
        self._adopt("")
        scope = SearchConditions(filters, now := self._clock(), now - self._limits.ttl)
        if self._database.run(word_index.has_missing):
            self._database.run(word_index.make_missing, write=True)
        found = self._database.run(lambda db: rows.read_found(db, search_keys(db, words, limit, scope)))
        return self._filter_damaged(found)

    def contains_words(self, words: Sequence[SearchWord]) -> tuple[bool, ...]:
        self._adopt("")
        return self._database.run(lambda db: contains_words(db, words))

    def list(self, limit: int, after: Place | None = None) -> tuple[ArtifactSummary, ...]:
        self._adopt("")
        return self._database.run(lambda db: rows.list_summaries(db, self._clock() - self._limits.ttl, limit, after))

    # State.

    def stats(self) -> StoreStats:
        self._adopt("")
        return self._database.run(partial(space.read_stats, kind=self._kind, limits=self._limits, now=self._clock()))

    def verify(self) -> Verification:
        replacements, finished = self._database.replacements, self._database.run(check_integrity)
        checked, damaged, after = 0, [], 0
        while (batch := self._database.run(partial(rows.read_next, after=after)))[0]:
            keys, results = batch
            after, checked = keys[-1], checked + len(results)
            self._filter_damaged(results)
            damaged += [str(each.row["id"]) for each in results if each.is_damaged]
        state: FileState = (
            "replaced" if self._database.replacements > replacements else "whole" if finished else "unfinished"
        )
        return Verification(checked, tuple(damaged), state)

    def warning(self) -> str:
        return self._database.warning

    def close(self) -> None:
        self._database.close()

    # URL keys and vectors.

    def remember(self, keys: Iterable[bytes]) -> None:
        url_keys = list(keys)
        limit = self._limits.max_bytes
        self._database.run(lambda db: rows.remember(db, url_keys, MAX_KNOWN_URLS, limit), write=True)

    def remembers(self, key: bytes) -> bool:
        return self._database.run(lambda db: rows.remembers(db, key))

    def keep_vectors(self, vectors: Mapping[bytes, bytes]) -> None:
        limit = self._limits.max_bytes
        self._database.run(lambda db: rows.keep_vectors(db, vectors, MAX_VECTORS, limit), write=True)

    def vectors(self, keys: Sequence[bytes]) -> Mapping[bytes, bytes]:
        return self._database.run(lambda db: rows.vectors(db, keys))

    # Helpers for reading artifacts.

    def _read_or_adopt(self, id: str, read: Callable[[Connection, Row], rows.ReadResult]) -> rows.ReadResult:
        try:
            return self._read(id, read)
        except KeyholeError as error:
            # An output that was dropped or is damaged may have been written again.
            if error.code not in (Code.UNKNOWN_ARTIFACT, Code.EXPIRED_ARTIFACT, Code.DAMAGED_ARTIFACT):
                raise
        self._adopt(id)
        return self._read(id, read)  # also if nothing was adopted: another thread or process may just have done so

    def _read(self, id: str, read: Callable[[Connection, Row], rows.ReadResult]) -> rows.ReadResult:
        """Return the result of `read` for the row of an id, and update its last access. Raises as `get` does."""
        now = self._clock()

        def read_row(db: Connection) -> rows.ReadResult:
            row = rows.find_row(db, id)
            if row is not None and not rows.is_expired(row, now - self._limits.ttl):
                return read(db, row)
            url = rows.find_tombstone(db, id) if row is None else str(row["url"])
            if url is None:
                raise KeyholeError(Code.UNKNOWN_ARTIFACT, "no artifact has this id")
            raise KeyholeError(Code.EXPIRED_ARTIFACT, f"artifact {id} was dropped", url=url)

        result = self._database.run(read_row)
        if not self._filter_damaged([result]):
            raise rows.damaged_error(result.row)
        if abs(now - result.row["last_access"]) > TOUCH_AFTER:
            # A disk that cannot be written can still be read.
            with suppress(KeyholeError):
                self._database.run(partial(rows.touch, key=result.row["key"], now=now), write=True)
        return result

    def _filter_damaged(self, results: Iterable[rows.ReadResult]) -> tuple[Artifact, ...]:
        """Return the undamaged artifacts, and mark the others as damaged."""
        artifacts = []
        for each in results:
            if each.artifact is not None:
                artifacts.append(each.artifact)
            elif not each.row["damaged"]:
                log.warning("stored artifact %s is damaged and was set aside", each.row["id"])
                with suppress(KeyholeError):
                    self._database.run(partial(rows.mark_damaged, key=each.row["key"]), write=True)
        return tuple(artifacts)


# The store in memory: bounded, for KEYHOLE_STORE=memory and for the time when a disk fails.

MEMORY_TTL = 3_600.0
"""Seconds after its last access until an artifact expires: memory only bridges the time until the disk works again."""
MEMORY_BYTES = 64 * 1024**2
"""Memory for texts and words: some 600 pages of 150 KB, compressed."""
MEMORY_LIMITS = Limits(MEMORY_TTL, MEMORY_BYTES)


class MemoryStore(SqliteStore):
    """A store in memory. The least recently read artifacts are dropped first."""

    _kind = "memory"
    _too_large = "the text is larger than the size limit of the memory store"

    def __init__(self, clock: Clock, limits: Limits = MEMORY_LIMITS) -> None:
        super().__init__(None, clock, limits)

    def has_artifacts(self) -> bool:
        """Return whether the store contains any artifact."""
        return self._database.run(lambda db: bool(space.list_oldest(db, self._clock() - self._limits.ttl, 1)))

    def is_pinned(self, id: str) -> bool:
        """Return whether an artifact is in memory and pinned."""
        return self._database.run(lambda db: bool((row := rows.find_row(db, id)) and row["pinned"]))

    def oldest(self, count: int, exclude: Collection[str] = ()) -> tuple[tuple[Artifact, Sequence[Span] | None], ...]:
        """Return up to `count` artifacts with the ranges that are indexed, least recently read first, without excluded
        ids."""
        since = self._clock() - self._limits.ttl
        read = self._database.run(lambda db: rows.read_many(db, space.list_oldest(db, since, count, exclude)))
        return tuple((each.artifact, decode_spans(each.row["indexed"])) for each in read if each.artifact)

    def discard(self, artifact: Artifact) -> None:
        """Remove an artifact, unless it was put again since `oldest` returned it."""
        self._database.run(lambda db: rows.discard(db, artifact), write=True)
