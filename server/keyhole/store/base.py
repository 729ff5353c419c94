"""The protocol of every artifact store, its records, and the ids of artifacts."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final, Literal, Protocol

from keyhole.errors import Code, KeyholeError
from keyhole.records import Artifact, ArtifactPart, ArtifactSummary, Place
from keyhole.store.filters import NO_FILTERS, Filters

if TYPE_CHECKING:
    from keyhole.store.chunks import PackedText
    from keyhole.store.filters import Scope
    from keyhole.store.forget_mark import ForgetMark

Clock = Callable[[], float]
Span = tuple[int, int]
"""Start and end offsets in a text."""
FileState = Literal["", "whole", "replaced", "unfinished"]

SearchWord = str | tuple[str, ...]
"""A search word, or several forms of it that match equally."""


MAX_KNOWN_URLS = 1_000_000
"""Remembered URL keys, about 40 MB: the links of some ten thousand pages. The least recently seen are dropped first."""

MAX_VECTORS = 50_000
"""Stored passage vectors: 200 MB at 1,024 dimensions, the passages of some 400 long pages. A vector is recomputed in a
fraction of a second, so more are not worth the disk. The oldest are dropped first."""

MAX_SEARCHED_CHARS: Final = 1_000_000
"""Characters of an output that a search returns. An output can be larger than memory, and ranking a million characters
takes half a second."""

PINNED_SHARE: Final = 0.5
"""Greatest share of a store's size limit that pinned artifacts may take, so that new artifacts still have space."""

EXPIRY_DAYS: Final = (1, 7, 30)
"""Days for which a store counts the artifacts that expire within them."""

TOO_LARGE: Final = "the text is larger than the size limit of the store, KEYHOLE_STORE_MAX_BYTES"
TOO_MUCH_PINNED: Final = "id: pinned artifacts may take half of the store; unpin another one first"


def version_error(name: str, version: int, known: int) -> KeyholeError:
    """Return the error for a store of another version, which is not changed. `name`: the name of the store in the
    message."""
    writer = "a newer version" if version > known else "an earlier version"
    message = f"the {name} was written by {writer} of Keyhole: its format is {version}, not {known}"
    return KeyholeError(Code.STORE_UNAVAILABLE, message)


@dataclass(frozen=True, slots=True)
class Limits:
    """The limits of a store. Every store takes them whole; `StoreContract` in the tests has a test for each field."""

    ttl: float
    """Seconds after its last access until an artifact expires."""
    max_bytes: int
    """Bytes on the medium. The least recently read artifacts are evicted."""


@dataclass(frozen=True, slots=True)
class StoreStats:
    """The contents and size of a store."""

    kind: str
    """`sqlite`, `postgresql` or `memory`."""
    artifacts: int
    contents: int
    """Distinct texts; equal texts are stored once."""
    text_bytes: int
    """Bytes of all artifacts' texts in UTF-8. A text shared by several artifacts counts once for each."""
    stored_bytes: int
    """Bytes used on the medium."""
    max_bytes: int
    """The limit of `stored_bytes`."""
    tombstones: int
    damaged: int
    """Artifacts marked as damaged because their text no longer matches its checksum."""
    oldest_fetch: float | None
    newest_fetch: float | None
    pinned: int = 0
    expiring: tuple[int, ...] = (0,) * len(EXPIRY_DAYS)
    """Artifacts that expire within each of EXPIRY_DAYS unless they are read before. Pinned ones do not expire."""


def add_stats(disk: StoreStats, memory: StoreStats) -> StoreStats:
    """Return the statistics of artifacts on disk and in memory. The sizes on the medium are those of the disk."""
    names = ("artifacts", "contents", "text_bytes", "tombstones", "pinned")
    return replace(
        disk,
        **{name: getattr(disk, name) + getattr(memory, name) for name in names},
        oldest_fetch=min((each.oldest_fetch for each in (disk, memory) if each.oldest_fetch is not None), default=None),
        newest_fetch=max((each.newest_fetch for each in (disk, memory) if each.newest_fetch is not None), default=None),
        expiring=tuple(map(sum, zip(disk.expiring, memory.expiring, strict=True))),
    )


@dataclass(frozen=True, slots=True)
class Verification:
    """The result of checking every stored text. Damaged artifacts are marked as such by the check."""

    checked: int
    damaged: tuple[str, ...]
    """Ids of damaged artifacts."""
    file: FileState = ""
    """State of the database file: `replaced` if it was damaged and a new file now holds its readable artifacts,
    `unfinished` if it was too large to check completely, "" for stores without a file."""


@dataclass(frozen=True, slots=True)
class Traces:
    """Numbers of deleted records other than artifacts, as `Store.remove_traces` counts them."""

    dropped: int = 0
    """Tombstones: ids and URLs of artifacts that expired or were evicted."""
    known_urls: int = 0
    vectors: int = 0

    def plus(self, other: Traces) -> Traces:
        """Return the sums of both."""
        return Traces(self.dropped + other.dropped, self.known_urls + other.known_urls, self.vectors + other.vectors)


class Store(Protocol):
    """Stores artifacts until they expire or the store is full. Thread-safe.

    Every method raises KeyholeError(store_unavailable) when the medium fails.
    """

    def put(
        self,
        artifact: Artifact,
        words: str,
        keys: Iterable[bytes] = (),
        packed: PackedText | None = None,
        *,
        indexed: Sequence[Span] | None = None,
    ) -> None:
        """Store an artifact, or renew the artifact with the same id. Unpinned undigested texts of the same requested
        URL with another id are dropped.

        Raises KeyholeError with the message FORGOTTEN if it was fetched before the time up to which everything is
        forgotten.

        `words`: its search terms in order, separated by spaces, those of its title with the prefix `TOPIC`; "" for an
        artifact that no search finds, or whose terms the store makes later. `indexed`: the ranges of the text that the
        terms were made from, joined by line breaks; None means the main part, or no range if `words` is "". `keys`: URL
        keys to `remember` in the same write. `packed`: the text, if it is too large for memory; the text of the
        artifact is then ignored.
        """
        ...

    def get(self, id: str) -> Artifact:
        """Return an artifact and update its last access.

        Raises KeyholeError: unknown_artifact; expired_artifact (with `url`) if it was dropped; damaged_artifact (with
        `url`) if its text no longer matches its checksum.
        """
        ...

    def part(self, id: str, start: int, end: int) -> ArtifactPart:
        """Return the characters `[start, end)` of an artifact's text, clamped to its length; update its last access.

        The cost depends on the length of the range, not of the text. Raises KeyholeError as `get` does.
        """
        ...

    def recent(self, url: str, since: float) -> Artifact | None:
        """Return the newest artifact fetched for the requested `url` at `since` or later, or None."""
        ...

    def renew(self, id: str, fetched_at: float) -> bool:
        """Record that the site still served this text at `fetched_at`; return False for an unknown artifact."""
        ...

    def pin(self, id: str, pinned: bool) -> bool:
        """Keep an artifact from expiry and eviction, or stop doing so; return False for an unknown id.

        Updates its last access, so an artifact that is no longer pinned does not expire at once.
        Raises KeyholeError (invalid_argument) if pinned artifacts would take more than `PINNED_SHARE` of the store.
        """
        ...

    def search(self, words: Sequence[SearchWord], limit: int, filters: Filters = NO_FILTERS) -> tuple[Artifact, ...]:
        """Return up to `limit` artifacts that contain any of the words, ranked by how many and how rare they are.

        The SQLite store returns only the first `MAX_SEARCHED_CHARS` characters of a longer output.
        """
        ...

    def contains_words(self, words: Sequence[SearchWord]) -> tuple[bool, ...]:
        """Return for each word whether any artifact contains it."""
        ...

    def list(self, limit: int, after: Place | None = None) -> tuple[ArtifactSummary, ...]:
        """Return the most recently fetched artifacts, newest first, starting after the place `after`."""
        ...

    def remove(self, *ids: str) -> frozenset[str]:
        """Delete artifacts without tombstones in one transaction; return the ids of those that were stored."""
        ...

    def match(self, scope: Scope) -> frozenset[str]:
        """Return the ids of the artifacts in a scope, including expired and damaged artifacts. The scope's clients
        are ignored."""
        ...

    def add_mark(self, mark: ForgetMark) -> None:
        """Add a mark, for this and all other processes that use the store."""
        ...

    def last_mark(self) -> ForgetMark:
        """Return the marks of all forget commands, merged."""
        ...

    def remove_traces(self, scope: Scope) -> Traces:
        """Delete the tombstones in a scope, and all URL keys and vectors. Return their numbers.

        The date and the clients of the scope are ignored, because a tombstone has only an address.
        """
        ...

    def erase(self) -> None:
        """Rewrite the medium, so that deleted data does not remain in it, as far as the store controls that.

        Raises KeyholeError (store_unavailable) if other processes use it for too long.
        """
        ...

    def collect(self) -> int:
        """Drop expired artifacts and those that exceed the size limit; return their number."""
        ...

    def stats(self) -> StoreStats:
        """Return the contents and size of the store."""
        ...

    def verify(self) -> Verification:
        """Compare every text with its checksum and mark damaged artifacts."""
        ...

    def warning(self) -> str:
        """Return the code of the store's current problem: `kept_in_memory` or `store_replaced`, or "" if there is no
        problem."""
        ...

    def close(self) -> None:
        """Release the medium. The next call opens it again."""
        ...

    def remember(self, keys: Iterable[bytes]) -> None:
        """Store the keys of URLs seen in search results or pages. They outlive the artifacts."""
        ...

    def remembers(self, key: bytes) -> bool:
        """Return whether a URL key is stored."""
        ...

    def keep_vectors(self, vectors: Mapping[bytes, bytes]) -> None:
        """Store passage vectors by key; the store keeps the newest MAX_VECTORS."""
        ...

    def vectors(self, keys: Sequence[bytes]) -> Mapping[bytes, bytes]:
        """Return the stored vectors by key. Keys without a vector are left out."""
        ...


def main_span(artifact: Artifact, words: str) -> Sequence[Span] | None:
    """Return the range of an artifact's main part, or None if `words` is empty."""
    return [(0, len(artifact.main))] if words else None


def expiry_times(now: float, ttl: float) -> tuple[float, ...]:
    """Return for each of EXPIRY_DAYS a time: an artifact last read before it expires within these days."""
    return tuple(now + days * 86_400 - ttl for days in EXPIRY_DAYS)


LOCAL: Final = ""
"""The name of the only tenant of a server without authentication."""
