"""A bounded artifact store in memory, for KEYHOLE_STORE=memory and for the time when a disk fails."""

from __future__ import annotations

import sys
from collections import OrderedDict
from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import islice
from threading import Lock
from typing import TYPE_CHECKING, Final

from keyhole.errors import Code, KeyholeError
from keyhole.records import TOPIC, Artifact, ArtifactSummary, Part, Place
from keyhole.store.base import (
    MAX_KNOWN_URLS,
    MAX_VECTORS,
    PINNED_SHARE,
    TOO_MUCH_PINNED,
    Clock,
    Span,
    StoreStats,
    Traces,
    Verification,
    Word,
    expiry_times,
    is_replaced,
    main_span,
)
from keyhole.store.filters import NO_FILTERS, Facets, Filters, passes
from keyhole.store.forget_mark import FORGOTTEN, NO_MARK, Mark
from keyhole.store.scope import Scope
from keyhole.store.term_lookup import list_forms, list_terms, make_words, plan_lists

if TYPE_CHECKING:
    from keyhole.store.chunks import PackedText

MAX_ARTIFACTS = 64
TTL = 3_600.0
"""Seconds after its last access until an artifact expires: memory only bridges the time until the disk works again."""
MAX_BYTES = 64 * 1024**2
"""Memory for texts and words: 64 pages of a megabyte each. Most pages take a third of that."""
MEMORY_TOO_LARGE: Final = "the text is larger than the size limit of the memory store"
BYTES_PER_WORD = 100
"""Memory of a short string in a set."""


class MemoryStore:
    """A store in memory, by default of 64 artifacts for an hour each. The least recently read are dropped first."""

    def __init__(
        self, clock: Clock, max_artifacts: int = MAX_ARTIFACTS, ttl: float = TTL, max_bytes: int = MAX_BYTES
    ) -> None:
        self._clock = clock
        self._max_artifacts = max_artifacts
        self._ttl = ttl
        self._max_bytes = max_bytes
        self._bytes = 0
        self._artifacts: OrderedDict[str, tuple[Artifact, frozenset[str], float]] = OrderedDict()
        """By id: the artifact, its search terms and its last access, least recently read first."""
        self._indexed: dict[str, Sequence[Span] | None] = {}
        """The ranges of each text whose words are indexed."""
        self._pinned: set[str] = set()
        """Ids of pinned artifacts."""
        self._tombstones: OrderedDict[str, str] = OrderedDict()
        self._url_keys: OrderedDict[bytes, None] = OrderedDict()
        self._vectors: OrderedDict[bytes, bytes] = OrderedDict()
        self._mark = NO_MARK
        self._lock = Lock()

    def put(
        self,
        artifact: Artifact,
        words: str,
        keys: Iterable[bytes] = (),
        packed: PackedText | None = None,
        *,
        indexed: Sequence[Span] | None = None,
        is_import: bool = False,
    ) -> None:
        if packed is not None:
            artifact = replace(artifact, text=self._unpack(packed))
        if indexed is None:
            indexed = main_span(artifact, words)
        words = words or make_words(artifact.title, (artifact.text[start:end] for start, end in indexed or ()))
        terms = frozenset(list_terms(words)) if indexed else frozenset[str]()
        if (size := _memory_size(artifact, terms)) > self._max_bytes:
            raise KeyholeError(Code.STORE_UNAVAILABLE, MEMORY_TOO_LARGE)
        with self._lock:
            if artifact.fetched_at < self._mark.before and not is_import:
                raise KeyholeError(Code.STORE_UNAVAILABLE, FORGOTTEN)
            self._pop(artifact.id)
            self._artifacts[artifact.id] = (artifact, terms, self._clock())
            self._indexed[artifact.id] = indexed
            self._bytes += size
            self._tombstones.pop(artifact.id, None)
            for other in [row[0] for row in self._artifacts.values() if is_replaced(row[0], artifact)]:
                if other.id not in self._pinned:
                    self._drop(other.id)
        self.remember(keys)
        self.collect()

    def _unpack(self, packed: PackedText) -> str:
        """Return a text that was packed, or raise KeyholeError if it is too large for memory."""
        from keyhole.store.chunks import unpack

        pieces = (chunk.data for chunk in packed.chunks)
        text = unpack(pieces, packed.digest, packed.chunk_chars) if packed.size <= self._max_bytes else None
        if text is None:
            raise KeyholeError(Code.STORE_UNAVAILABLE, MEMORY_TOO_LARGE)
        return text

    def get(self, id: str) -> Artifact:
        self.collect()
        with self._lock:
            if id in self._artifacts:
                artifact, terms, _ = self._artifacts[id]
                self._artifacts[id] = (artifact, terms, self._clock())
                self._artifacts.move_to_end(id)
                return artifact
            if id in self._tombstones:
                raise KeyholeError(Code.EXPIRED_ARTIFACT, f"artifact {id} was dropped", url=self._tombstones[id])
        raise KeyholeError(Code.UNKNOWN_ARTIFACT, "no artifact has this id")

    def part(self, id: str, start: int, end: int) -> Part:
        artifact = self.get(id)
        start = min(max(0, start), len(artifact.text))
        return Part(replace(artifact, text=artifact.text[start : max(start, end)]), start, len(artifact.text))

    def recent(self, url: str, since: float) -> Artifact | None:
        self.collect()
        with self._lock:
            matches = [a for a, *_ in self._artifacts.values() if a.requested_url == url and a.fetched_at >= since]
        return max(matches, key=lambda artifact: artifact.fetched_at, default=None)

    def renew(self, id: str, fetched_at: float) -> bool:
        self.collect()
        with self._lock:
            if id not in self._artifacts:
                return False
            artifact, terms, _ = self._artifacts[id]
            self._artifacts[id] = (replace(artifact, fetched_at=fetched_at), terms, self._clock())
            self._artifacts.move_to_end(id)
            return True

    def pin(self, id: str, pinned: bool) -> bool:
        self.collect()
        with self._lock:
            if id not in self._artifacts:
                return False
            artifact, terms, _ = self._artifacts[id]
            self._artifacts[id] = (artifact, terms, self._clock())
            self._artifacts.move_to_end(id)
            if not pinned:
                self._pinned.discard(id)
                return True
            sizes = [_memory_size(*self._artifacts[each][:2]) for each in self._pinned | {id}]
            is_too_much = len(sizes) > self._max_artifacts * PINNED_SHARE or sum(sizes) > self._max_bytes * PINNED_SHARE
            if is_too_much and id not in self._pinned:
                raise KeyholeError(Code.INVALID_ARGUMENT, TOO_MUCH_PINNED)
            self._pinned.add(id)
            return True

    def is_pinned(self, id: str) -> bool:
        """Return whether an artifact is in memory and pinned."""
        return id in self._pinned

    def search(self, words: Sequence[Word], limit: int, filters: Filters = NO_FILTERS) -> tuple[Artifact, ...]:
        self.collect()
        with self._lock:
            indexed = [(artifact, terms) for artifact, terms, _ in self._artifacts.values()]
        forms, now = list_forms(words), self._clock()
        query_terms = [prefix + form for each in forms for form in each for prefix in ("", TOPIC)]
        counts = {term: sum(term in terms for _, terms in indexed) for term in query_terms}
        lists = plan_lists(forms, counts, len(indexed))
        matches = []
        for artifact, terms in indexed:
            score = sum(each.weight for each in lists if not terms.isdisjoint(each.terms))
            facets = Facets(artifact.url, artifact.published, artifact.fetched_at, artifact.language)
            if score and passes(facets, filters, now):
                matches.append((-score, artifact.id, artifact))
        return tuple(artifact for *_, artifact in sorted(matches, key=lambda row: row[:2]))[:limit]

    def contains_words(self, words: Sequence[Word]) -> tuple[bool, ...]:
        self.collect()
        with self._lock:
            all_terms = frozenset[str]().union(*(terms for _, terms, _ in self._artifacts.values()))
        return tuple(not all_terms.isdisjoint((word,) if isinstance(word, str) else word) for word in words)

    def list(self, limit: int, after: Place | None = None) -> tuple[ArtifactSummary, ...]:
        self.collect()
        with self._lock:
            rows = [(-a.fetched_at, a.id, a, last_access) for a, _, last_access in self._artifacts.values()]
        rows = [row for row in rows if after is None or row[:2] > (-after[0], after[1])]
        return tuple(
            ArtifactSummary(
                a.id,
                a.url,
                a.title,
                len(a.text),
                a.fetched_at,
                last_access,
                _utf8_size(a.text),
                a.notes,
                a.id in self._pinned,
            )
            for *_, a, last_access in sorted(rows, key=lambda row: row[:2])[:limit]
        )

    def remove(self, *ids: str) -> frozenset[str]:
        with self._lock:
            self._pinned.difference_update(ids)
            return frozenset(id for id in ids if self._pop(id) is not None)

    def match(self, scope: Scope) -> frozenset[str]:
        with self._lock:
            artifacts = [artifact for artifact, *_ in self._artifacts.values()]
        return frozenset(a.id for a in artifacts if scope.includes_text((a.url, a.requested_url), a.fetched_at))

    def add_mark(self, mark: Mark) -> None:
        with self._lock:
            self._mark = self._mark.merged_with(mark)

    def last_mark(self) -> Mark:
        return self._mark

    def remove_traces(self, scope: Scope) -> Traces:
        with self._lock:
            dropped = [id for id, url in self._tombstones.items() if scope.includes_trace(url)]
            for id in dropped:
                del self._tombstones[id]
            traces = Traces(len(dropped), len(self._url_keys), len(self._vectors))
            self._url_keys.clear()
            self._vectors.clear()
            return traces

    def erase(self) -> None:
        pass

    def has_artifacts(self) -> bool:
        """Return whether the store contains any artifact."""
        self.collect()
        return bool(self._artifacts)

    def oldest(self, count: int, exclude: Container[str] = ()) -> tuple[tuple[Artifact, Sequence[Span] | None], ...]:
        """Return up to `count` artifacts with the ranges that are indexed, least recently read first, without excluded
        ids."""
        self.collect()
        with self._lock:
            rows = islice((row for id, row in self._artifacts.items() if id not in exclude), count)
            return tuple((artifact, self._indexed[artifact.id]) for artifact, *_ in rows)

    def discard(self, artifact: Artifact) -> None:
        """Remove an artifact, unless it was put again since `oldest` returned it."""
        with self._lock:
            if artifact.id in self._artifacts and self._artifacts[artifact.id][0] is artifact:
                self._pinned.discard(artifact.id)
                self._pop(artifact.id)

    def collect(self) -> int:
        with self._lock:
            now, count = self._clock(), len(self._artifacts)
            unpinned = {id: row[-1] for id, row in self._artifacts.items() if id not in self._pinned}
            expired = [id for id, last_access in unpinned.items() if last_access + self._ttl < now]
            for id in (*expired, *unpinned):
                is_full = len(self._artifacts) > self._max_artifacts or self._bytes > self._max_bytes
                if is_full or unpinned[id] + self._ttl < now:
                    self._drop(id)
            while len(self._tombstones) > self._max_artifacts:
                self._tombstones.popitem(last=False)
            return count - len(self._artifacts)

    def _drop(self, id: str) -> None:
        artifact = self._pop(id)
        if artifact:
            self._tombstones[id] = artifact.url

    def _pop(self, id: str) -> Artifact | None:
        if id not in self._artifacts:
            return None
        artifact, terms, _ = self._artifacts.pop(id)
        del self._indexed[id]
        self._bytes -= _memory_size(artifact, terms)
        return artifact

    def stats(self) -> StoreStats:
        self.collect()
        with self._lock:
            texts = [artifact.text.encode("utf-8", "surrogatepass") for artifact, *_ in self._artifacts.values()]
            fetched = [artifact.fetched_at for artifact, *_ in self._artifacts.values()]
            tombstones, used, pinned = len(self._tombstones), self._bytes, len(self._pinned)
            reads = [row[-1] for id, row in self._artifacts.items() if id not in self._pinned]
        size = sum(map(len, texts))
        oldest, newest = (min(fetched), max(fetched)) if fetched else (None, None)
        return StoreStats(
            "memory", len(texts), len(set(texts)), size, used, self._max_bytes, tombstones, 0, oldest, newest,
            pinned, tuple(sum(read < time for read in reads) for time in expiry_times(self._clock(), self._ttl)),
        )  # fmt: skip

    def verify(self) -> Verification:
        self.collect()
        with self._lock:
            return Verification(len(self._artifacts), ())

    def warning(self) -> str:
        return ""

    def close(self) -> None:
        pass

    def remember(self, keys: Iterable[bytes]) -> None:
        with self._lock:
            for key in keys:
                self._url_keys[key] = None
                self._url_keys.move_to_end(key)
            while len(self._url_keys) > MAX_KNOWN_URLS:
                self._url_keys.popitem(last=False)

    def remembers(self, key: bytes) -> bool:
        with self._lock:
            return key in self._url_keys

    def keep_vectors(self, vectors: Mapping[bytes, bytes]) -> None:
        with self._lock:
            for key, vector in vectors.items():
                self._vectors[key] = vector
                self._vectors.move_to_end(key)
            while len(self._vectors) > MAX_VECTORS:
                self._vectors.popitem(last=False)

    def vectors(self, keys: Sequence[bytes]) -> Mapping[bytes, bytes]:
        with self._lock:
            return {key: self._vectors[key] for key in keys if key in self._vectors}


def _memory_size(artifact: Artifact, terms: frozenset[str]) -> int:
    """Return an artifact's approximate size in memory, in bytes."""
    return sys.getsizeof(artifact.text) + BYTES_PER_WORD * len(terms)


def _utf8_size(text: str) -> int:
    return len(text) if text.isascii() else len(text.encode("utf-8", "surrogatepass"))
