"""The contract of every artifact store, and the ids of artifacts. Implementations are elsewhere."""

from __future__ import annotations

import base64
import hashlib
import hmac
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Literal, Protocol

from keyhole.records import Artifact, ArtifactSummary, Part, Place
from keyhole.store.filters import NONE, Filters

Clock = Callable[[], float]
FileState = Literal["", "whole", "replaced", "unfinished"]

Word = str | tuple[str, ...]
"""A word of a question, or the forms of one, any of which will do."""


ID_BYTES = 10
"""80 bits: nobody guesses one, and in base32 it is 16 characters that survive copying by a model."""

MAX_KNOWN_URLS = 1_000_000
"""Keys of URLs remembered, about 40 MB: the links of some ten thousand pages. The longest unseen go first."""

MAX_VECTORS = 50_000
"""Vectors of passages kept: 200 MB at 1,024 dimensions, the passages of some 400 long pages. One costs a fraction of a
second to make again, so that more are not worth the disk; the longest made go first."""

REFRESH_AFTER = 3_600.0
"""Seconds. A read moves the last access only when it is older than this: one write an hour, not one a read."""


TOO_LARGE: Final = "the text is larger than the whole store may be: KEYHOLE_STORE_MAX_BYTES"
"""What a store says to a text that it could only keep by giving up its limit."""


@dataclass(frozen=True, slots=True)
class StoreStats:
    """How much a store holds."""

    kind: str
    """`sqlite`, `postgresql` or `memory`."""
    artifacts: int
    contents: int
    """Different texts: equal ones are kept once."""
    text_bytes: int
    """Of the artifacts' texts in UTF-8, each counted as often as it is an artifact."""
    stored_bytes: int
    """What the store takes of its medium."""
    max_bytes: int
    """What it may take."""
    tombstones: int
    damaged: int
    """Artifacts that were set aside because their text was not what had been kept."""
    oldest_fetch: float | None
    newest_fetch: float | None


@dataclass(frozen=True, slots=True)
class Verification:
    """What a check of every stored text found; the damaged are set aside by it."""

    checked: int
    damaged: tuple[str, ...]
    """Ids."""
    file: FileState = ""
    """Of the file around the texts: `replaced` where it was damaged, so that what was readable is in a new one;
    `unfinished` where it is too large to look at all of it; "" where there is none."""


def artifact_id(secret: bytes, url: str, text: str) -> str:
    """The id of a text under its final URL: the same for the same pair and secret, else unguessable."""
    digest = hmac.new(secret, digestmod=hashlib.sha256)
    encoded_url = url.encode("utf-8", "surrogatepass")
    # The length keeps (url, text) pairs apart that would be equal joined.
    digest.update(len(encoded_url).to_bytes(8, "big") + encoded_url)
    digest.update(text.encode("utf-8", "surrogatepass"))
    return base64.b32encode(digest.digest()[:ID_BYTES]).decode("ascii").lower()


class Store(Protocol):
    """Keeps artifacts until they expire or the store is full. Safe to call from several threads.

    Every method raises KeyholeError(store_unavailable) when the medium fails.
    """

    def put(self, artifact: Artifact, words: str, keys: Iterable[bytes] = ()) -> None:
        """Keep an artifact, or renew the one with the same id. `words`: its search terms, space-separated, and those
        that it is about once more behind `TOPIC`. `keys`: what to `remember` with it, at the cost of one write."""
        ...

    def get(self, id: str) -> Artifact:
        """The artifact, its last access renewed.

        Raises KeyholeError: unknown_artifact, or expired_artifact (with `url`) for one that was dropped, or
        damaged_artifact (with `url`) for one whose text is no longer what was kept.
        """
        ...

    def part(self, id: str, start: int, end: int) -> Part:
        """The characters `[start, end)` of an artifact's text, as far as it has them, its last access renewed. What
        it costs depends on the stretch and not on the text.

        Raises KeyholeError as `get` does.
        """
        ...

    def recent(self, url: str, since: float) -> Artifact | None:
        """The latest artifact that a request for `url` gave at `since` or later, or None."""
        ...

    def renew(self, id: str, fetched_at: float) -> bool:
        """Note that the site still served this text at `fetched_at`; False when the artifact is not there."""
        ...

    def search(self, words: Sequence[Word], limit: int, filters: Filters = NONE) -> tuple[Artifact, ...]:
        """Artifacts that hold any of the words, those that hold the rarest and the most first."""
        ...

    def held(self, words: Sequence[Word]) -> tuple[bool, ...]:
        """For each word whether any artifact holds it."""
        ...

    def list(self, limit: int, after: Place | None = None) -> tuple[ArtifactSummary, ...]:
        """The most recently fetched artifacts, newest first; `after`: of those that stand behind this place."""
        ...

    def remove(self, id: str) -> bool:
        """Forget an artifact entirely; False when it was not there."""
        ...

    def collect(self) -> int:
        """Drop what has expired and what exceeds the size cap; how many were dropped."""
        ...

    def stats(self) -> StoreStats:
        """How much is kept."""
        ...

    def verify(self) -> Verification:
        """Compare every text with its checksum, and set aside what is damaged."""
        ...

    def warning(self) -> str:
        """The stable code of what is wrong with the medium now, "" when it is well: `kept_in_memory`, or
        `store_replaced`."""
        ...

    def close(self) -> None:
        """Let go of the medium. The next use takes it up again."""
        ...

    def remember(self, keys: Iterable[bytes]) -> None:
        """Keep the keys of URLs that a search result or a page contained, for longer than the page itself."""
        ...

    def remembers(self, key: bytes) -> bool:
        """Whether a key was kept."""
        ...

    def keep_vectors(self, vectors: Mapping[bytes, bytes]) -> None:
        """Keep the vectors of passages under their keys, the most recent MAX_VECTORS of all."""
        ...

    def vectors(self, keys: Sequence[bytes]) -> Mapping[bytes, bytes]:
        """Those of the keys under which a vector was kept."""
        ...


LOCAL: Final = ""
"""The one user of a server that knows no others: over stdio, or over HTTP without authentication."""


class Stores(Protocol):
    """The stores of all who use a server. A tenant is a name that authentication gave."""

    def of(self, tenant: str) -> tuple[Store, bytes]:
        """A tenant's own store, and the secret of the ids in it. Neither can be reached through another's.

        Nothing is opened before the store is used.
        """
        ...

    def warning(self) -> str:
        """As of a store: what is wrong with the medium that all share."""
        ...

    def close(self) -> None:
        """Close every store that was opened."""
        ...
