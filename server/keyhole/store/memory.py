"""A bounded store in memory: the stand-in for tests, and for the time a disk fails. Nothing is written."""

from __future__ import annotations

import sys
from collections import OrderedDict
from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import islice
from threading import Lock

from keyhole.errors import Code, KeyholeError
from keyhole.records import TOPIC, Artifact, ArtifactSummary, Part, Place
from keyhole.store.base import MAX_KNOWN_URLS, MAX_VECTORS, Clock, StoreStats, Verification, Word
from keyhole.store.filters import NONE, Facets, Filters, passes
from keyhole.store.term_lookup import forms_of, plan

MAX_ARTIFACTS = 64
TTL = 3_600.0
"""Seconds. Memory is a bridge until the disk works again, not a place to keep things."""
MAX_BYTES = 64 * 1024**2
"""What texts and words may take of the process: 64 pages of a megabyte, three times what most pages need."""
WORD_BYTES = 100
"""What a search term takes in a set of short strings."""


class MemoryStore:
    """At most 64 artifacts for an hour each, least recently read dropped first."""

    def __init__(
        self, clock: Clock, max_artifacts: int = MAX_ARTIFACTS, ttl: float = TTL, max_bytes: int = MAX_BYTES
    ) -> None:
        self._clock = clock
        self._max = max_artifacts
        self._ttl = ttl
        self._max_bytes = max_bytes
        self._bytes = 0
        self._kept: OrderedDict[str, tuple[Artifact, frozenset[str], float]] = OrderedDict()
        self._dropped: OrderedDict[str, str] = OrderedDict()
        self._known: OrderedDict[bytes, None] = OrderedDict()
        self._vectors: OrderedDict[bytes, bytes] = OrderedDict()
        self._lock = Lock()

    def put(self, artifact: Artifact, words: str, keys: Iterable[bytes] = ()) -> None:
        held = frozenset(words.split())
        if (size := _size(artifact, held)) > self._max_bytes:
            raise KeyholeError(Code.STORE_UNAVAILABLE, "the text is larger than what may be kept in memory")
        with self._lock:
            self._taken(artifact.id)
            self._kept[artifact.id] = (artifact, held, self._clock())
            self._bytes += size
            self._dropped.pop(artifact.id, None)
        self.remember(keys)
        self.collect()

    def get(self, id: str) -> Artifact:
        self.collect()
        with self._lock:
            if id in self._kept:
                artifact, words, _ = self._kept[id]
                self._kept[id] = (artifact, words, self._clock())
                self._kept.move_to_end(id)
                return artifact
            if id in self._dropped:
                raise KeyholeError(Code.EXPIRED_ARTIFACT, f"artifact {id} was dropped", url=self._dropped[id])
        raise KeyholeError(Code.UNKNOWN_ARTIFACT, "no artifact has this id")

    def part(self, id: str, start: int, end: int) -> Part:
        artifact = self.get(id)
        start = min(max(0, start), len(artifact.text))
        return Part(replace(artifact, text=artifact.text[start : max(start, end)]), start, len(artifact.text))

    def recent(self, url: str, since: float) -> Artifact | None:
        self.collect()
        with self._lock:
            found = [a for a, *_ in self._kept.values() if a.requested_url == url and a.fetched_at >= since]
        return max(found, key=lambda artifact: artifact.fetched_at, default=None)

    def renew(self, id: str, fetched_at: float) -> bool:
        self.collect()
        with self._lock:
            if id not in self._kept:
                return False
            artifact, words, _ = self._kept[id]
            self._kept[id] = (replace(artifact, fetched_at=fetched_at), words, self._clock())
            self._kept.move_to_end(id)
            return True

    def search(self, words: Sequence[Word], limit: int, filters: Filters = NONE) -> tuple[Artifact, ...]:
        self.collect()
        with self._lock:
            kept = [(artifact, held) for artifact, held, _ in self._kept.values()]
        forms, now = forms_of(words), self._clock()
        terms = [mark + form for each in forms for form in each for mark in ("", TOPIC)]
        counts = {term: sum(term in held for _, held in kept) for term in terms}
        lists = plan(forms, counts, len(kept))
        found = []
        for artifact, held in kept:
            score = sum(each.weight for each in lists if not held.isdisjoint(each.terms))
            facets = Facets(artifact.url, artifact.published, artifact.fetched_at, artifact.language)
            if score and passes(facets, filters, now):
                found.append((-score, artifact.id, artifact))
        return tuple(artifact for *_, artifact in sorted(found, key=lambda row: row[:2]))[:limit]

    def held(self, words: Sequence[Word]) -> tuple[bool, ...]:
        self.collect()
        with self._lock:
            every = frozenset[str]().union(*(held for _, held, _ in self._kept.values()))
        return tuple(not every.isdisjoint((word,) if isinstance(word, str) else word) for word in words)

    def list(self, limit: int, after: Place | None = None) -> tuple[ArtifactSummary, ...]:
        self.collect()
        with self._lock:
            kept = [(-a.fetched_at, a.id, a, seen) for a, _, seen in self._kept.values()]
        behind = [row for row in kept if after is None or row[:2] > (-after[0], after[1])]
        return tuple(
            ArtifactSummary(a.id, a.url, a.title, len(a.text), a.fetched_at, seen, _bytes(a.text))
            for *_, a, seen in sorted(behind, key=lambda row: row[:2])[:limit]
        )

    def remove(self, id: str) -> bool:
        with self._lock:
            return self._taken(id) is not None

    def holds_any(self) -> bool:
        """Whether any artifact is kept."""
        self.collect()
        return bool(self._kept)

    def oldest(self, count: int, but: Container[str] = ()) -> tuple[tuple[Artifact, str], ...]:
        """So many artifacts with their words, those first that would be dropped first, without the ids of `but`."""
        self.collect()
        with self._lock:
            some = islice((row for id, row in self._kept.items() if id not in but), count)
            return tuple((artifact, " ".join(sorted(words))) for artifact, words, _ in some)

    def forget(self, artifact: Artifact) -> None:
        """Let an artifact go that is kept elsewhere now, unless it was put again meanwhile."""
        with self._lock:
            if artifact.id in self._kept and self._kept[artifact.id][0] is artifact:
                self._taken(artifact.id)

    def collect(self) -> int:
        with self._lock:
            now, count = self._clock(), len(self._kept)
            for id in [id for id, (*_, seen) in self._kept.items() if seen + self._ttl < now]:
                self._drop(id)
            while len(self._kept) > self._max or self._bytes > self._max_bytes:
                self._drop(next(iter(self._kept)))
            while len(self._dropped) > self._max:
                self._dropped.popitem(last=False)
            return count - len(self._kept)

    def _drop(self, id: str) -> None:
        artifact = self._taken(id)
        if artifact:
            self._dropped[id] = artifact.url

    def _taken(self, id: str) -> Artifact | None:
        if id not in self._kept:
            return None
        artifact, words, _ = self._kept.pop(id)
        self._bytes -= _size(artifact, words)
        return artifact

    def stats(self) -> StoreStats:
        self.collect()
        with self._lock:
            texts = [artifact.text.encode("utf-8", "surrogatepass") for artifact, *_ in self._kept.values()]
            fetched = [artifact.fetched_at for artifact, *_ in self._kept.values()]
            gone, taken = len(self._dropped), self._bytes
        size = sum(map(len, texts))
        oldest, newest = (min(fetched), max(fetched)) if fetched else (None, None)
        return StoreStats("memory", len(texts), len(set(texts)), size, taken, self._max_bytes, gone, 0, oldest, newest)

    def verify(self) -> Verification:
        self.collect()
        with self._lock:
            return Verification(len(self._kept), ())

    def warning(self) -> str:
        return ""

    def close(self) -> None:
        pass

    def remember(self, keys: Iterable[bytes]) -> None:
        with self._lock:
            for key in keys:
                self._known[key] = None
                self._known.move_to_end(key)
            while len(self._known) > MAX_KNOWN_URLS:
                self._known.popitem(last=False)

    def remembers(self, key: bytes) -> bool:
        with self._lock:
            return key in self._known

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


def _size(artifact: Artifact, words: frozenset[str]) -> int:
    """What an artifact takes of the process, about."""
    return sys.getsizeof(artifact.text) + WORD_BYTES * len(words)


def _bytes(text: str) -> int:
    return len(text) if text.isascii() else len(text.encode("utf-8", "surrogatepass"))
