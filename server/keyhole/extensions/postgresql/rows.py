"""Encode artifacts as rows of PostgreSQL, and decode them.

PostgreSQL's text cannot hold NUL characters or lone surrogates, which pages contain. So all fields that must be
preserved are in one JSON record, escaped to ASCII, and the columns that SQL compares are simplified copies.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import Any, Final
from uuid import UUID

from keyhole.errors import Code, KeyholeError
from keyhole.records import UNDIGESTED, Artifact, ArtifactSummary

ROW_BYTES: Final = 900
"""Bytes of an artifact beside its text, stems and record: rows and index entries, measured."""
STEM_BYTES: Final = 15
"""Bytes of an artifact's search term: 9 in the row and 6 in the index, measured."""

_RECORD_FIELDS: Final = (
    "url", "requested_url", "title", "media_type", "language", "cut", "etag", "last_modified", "author", "published",
    "modified", "site", "replaces", "notes",
)  # fmt: skip
"""Fields of an artifact in the order of the record."""

UNDIGESTED_NOTE: Final = json.dumps(["notice", UNDIGESTED], separators=(",", ":"))
"""The note of an undigested text as part of a record. Quotes in other fields are escaped, so that none contains it."""


def hash_tenant(tenant: str) -> UUID:
    """Return the number of a tenant: a hash of its name, so that the database does not contain the name."""
    return UUID(bytes=hashlib.sha256(b"tenant:" + tenant.encode("utf-8", "surrogatepass")).digest()[:16])


def hash_url(url: str) -> UUID:
    """Return the index key of a requested URL: a hash, because an index cannot contain long texts."""
    return UUID(bytes=hashlib.sha256(url.encode("utf-8", "surrogatepass")).digest()[:16])


def to_storable(text: str) -> str:
    """Replace characters that PostgreSQL cannot store with question marks."""
    return text.replace("\x00", "?").encode("utf-8", "replace").decode("utf-8")


def encode_record(artifact: Artifact) -> str:
    """Return an artifact's fields except its id, text and times as JSON."""
    return json.dumps([getattr(artifact, name) for name in _RECORD_FIELDS], separators=(",", ":"))


def decode_artifact(row: Mapping[str, Any], text: str) -> Artifact:
    """Return the artifact of a row with the columns `id`, `fetched_at`, `main_end` and `record`."""
    fields = dict(zip(_RECORD_FIELDS, json.loads(row["record"]), strict=True))
    fields["notes"] = tuple((name, value) for name, value in fields["notes"])
    return Artifact(id=row["id"], text=text, fetched_at=row["fetched_at"], main_end=row["main_end"], **fields)


def decode_summary(row: Mapping[str, Any]) -> ArtifactSummary:
    """Return the summary of a row."""
    fields = dict(zip(_RECORD_FIELDS, json.loads(row["record"]), strict=True))
    numbers = (row[name] for name in ("chars", "fetched_at", "last_access", "text_size"))
    notes = tuple((name, value) for name, value in fields["notes"])
    return ArtifactSummary(row["id"], fields["url"], fields["title"], *(*numbers, notes, row["pinned"]))


def decode_url(record: str) -> str:
    """Return the URL of a record."""
    url: str = json.loads(record)[0]
    return url


def decode_addresses(record: str) -> tuple[str, str]:
    """Return the final and the requested URL of a record."""
    url, requested, *_ = json.loads(record)
    return url, requested


def access_error(id: str, row: Mapping[str, Any] | None, url: str, expired_before: float) -> KeyholeError | None:
    """Return the error for an artifact that is unknown, expired or damaged, else None. `url`: its URL if known."""
    if row is None and not url:
        return KeyholeError(Code.UNKNOWN_ARTIFACT, "no artifact has this id")
    if row is None or (row["last_access"] < expired_before and not row["pinned"]):
        return KeyholeError(Code.EXPIRED_ARTIFACT, f"artifact {id} was dropped", url=url)
    return damaged_error(id, url) if row["damaged"] else None


def damaged_error(id: str, url: str) -> KeyholeError:
    """Return the error for reading a damaged artifact."""
    return KeyholeError(Code.DAMAGED_ARTIFACT, f"the stored text of artifact {id} is damaged", url=url)


def clamp_range(start: int, end: int, chars: int) -> tuple[int, int]:
    """Clamp a range to a text of `chars` characters."""
    start = min(max(0, start), chars)
    return start, min(max(start, end), chars)
