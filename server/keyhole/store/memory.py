"""A bounded store in memory: the stand-in for tests, and for the time a disk fails. Nothing is written."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from threading import Lock

from keyhole.errors import Code, KeyholeError
from keyhole.records import Artifact, ArtifactSummary, Part, StoreStats, Verification
from keyhole.store.base import MAX_KNOWN_URLS, MAX_VECTORS, TOPIC, Clock, Word
from keyhole.store.filters import NONE, Facets, Filters, passes
from keyhole.store.narrow import forms_of, plan

MAX_ARTIFACTS = 64
TTL = 3_600.0
"""Seconds. Memory is a bridge until the disk works again, not a place to keep things."""


class MemoryStore:
    """At most 64 artifacts for an hour each, least recently read dropped first."""

    def __init__(self, clock: Clock, max_artifacts: int = MAX_ARTIFACTS, ttl: float = TTL) -> None:
        self._clock = clock
        self._max = max_artifacts
        self._ttl = ttl
        self._kept: OrderedDict[str, tuple[Artifact, frozenset[str], float]] = OrderedDict()
        self._dropped: OrderedDict[str, str] = OrderedDict()
        self._known: OrderedDict[bytes, None] = OrderedDict()
        self._vectors: OrderedDict[bytes, bytes] = OrderedDict()
        self._lock = Lock()

    def put(self, artifact: Artifact, words: str) -> None:
        with self._lock:
            self._kept[artifact.id] = (artifact, frozenset(words.split()), self._clock())
            self._kept.move_to_end(artifact.id)
            self._dropped.pop(artifact.id, None)
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

    def list(self, limit: int) -> tuple[ArtifactSummary, ...]:
        self.collect()
        with self._lock:
            rows = [
                ArtifactSummary(a.id, a.url, a.title, len(a.text), a.fetched_at, seen)
                for a, _, seen in self._kept.values()
            ]
        return tuple(sorted(rows, key=lambda row: (-row.fetched_at, row.id))[:limit])

    def remove(self, id: str) -> bool:
        with self._lock:
            return self._kept.pop(id, None) is not None

    def collect(self) -> int:
        with self._lock:
            old = [id for id, (*_, seen) in self._kept.items() if seen + self._ttl < self._clock()]
            excess = [id for id in self._kept if id not in old][: max(0, len(self._kept) - len(old) - self._max)]
            for id in [*old, *excess]:
                self._dropped[id] = self._kept.pop(id)[0].url
            while len(self._dropped) > self._max:
                self._dropped.popitem(last=False)
            return len(old) + len(excess)

    def stats(self) -> StoreStats:
        self.collect()
        with self._lock:
            texts = [artifact.text.encode("utf-8", "surrogatepass") for artifact, *_ in self._kept.values()]
            fetched = [artifact.fetched_at for artifact, *_ in self._kept.values()]
            gone = len(self._dropped)
        size = sum(map(len, texts))
        oldest, newest = (min(fetched), max(fetched)) if fetched else (None, None)
        return StoreStats("memory", len(texts), len(set(texts)), size, size, 0, gone, 0, oldest, newest)

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
