"""Artifacts as rows of PostgreSQL and back. Pure; no SQL.

PostgreSQL's text holds neither NUL characters nor lone surrogates, which pages do. So what must come back as it was is
one record in JSON, escaped to ASCII, and the columns that SQL looks at are plain copies.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import Any, Final
from uuid import UUID

from keyhole.errors import Code, KeyholeError
from keyhole.records import Artifact, ArtifactSummary

ROW_BYTES: Final = 900
"""What an artifact takes beside its text, its stems and its record: rows and entries of indexes, measured."""
STEM_BYTES: Final = 15
"""What a search term of an artifact takes: 9 in the row and 6 in the index, measured."""

_RECORDED: Final = (
    "url", "requested_url", "title", "media_type", "language", "cut", "etag", "last_modified", "author", "published",
    "modified", "site", "replaces", "notes",
)  # fmt: skip
"""Fields in the order in which the record has them."""


def tenant_number(tenant: str) -> UUID:
    """What stands for a tenant in every table: of one size, whatever the name is, and no name is in the database."""
    return UUID(bytes=hashlib.sha256(b"tenant:" + tenant.encode("utf-8", "surrogatepass")).digest()[:16])


def request_number(url: str) -> UUID:
    """What a requested URL is looked up by: an index takes no long texts."""
    return UUID(bytes=hashlib.sha256(url.encode("utf-8", "surrogatepass")).digest()[:16])


def plain(text: str) -> str:
    """Text that PostgreSQL can take: what it cannot becomes a question mark."""
    return text.replace("\x00", "?").encode("utf-8", "replace").decode("utf-8")


def record_of(artifact: Artifact) -> str:
    """Everything of an artifact but its id, text and times."""
    return json.dumps([getattr(artifact, name) for name in _RECORDED], separators=(",", ":"))


def artifact_of(row: Mapping[str, Any], text: str) -> Artifact:
    """The artifact of a row with `id`, `fetched_at` and `record`."""
    fields = dict(zip(_RECORDED, json.loads(row["record"]), strict=True))
    fields["notes"] = tuple((name, value) for name, value in fields["notes"])
    return Artifact(id=row["id"], text=text, fetched_at=row["fetched_at"], **fields)


def summary_of(row: Mapping[str, Any]) -> ArtifactSummary:
    """One line of a listing."""
    fields = dict(zip(_RECORDED, json.loads(row["record"]), strict=True))
    return ArtifactSummary(
        row["id"],
        fields["url"],
        fields["title"],
        row["chars"],
        row["fetched_at"],
        row["last_access"],
        row["text_size"],
    )


def url_of(record: str) -> str:
    """The URL of a record."""
    url: str = json.loads(record)[0]
    return url


def refusal(id: str, row: Mapping[str, Any] | None, url: str, expired_before: float) -> KeyholeError | None:
    """Why an id gives no artifact: it is unknown, was dropped or is damaged. `url` is of its row or its tombstone."""
    if row is None and not url:
        return KeyholeError(Code.UNKNOWN_ARTIFACT, "no artifact has this id")
    if row is None or row["last_access"] < expired_before:
        return KeyholeError(Code.EXPIRED_ARTIFACT, f"artifact {id} was dropped", url=url)
    return damaged(id, url) if row["damaged"] else None


def damaged(id: str, url: str) -> KeyholeError:
    """The text of an artifact is not what was kept."""
    return KeyholeError(Code.DAMAGED_ARTIFACT, f"the stored text of artifact {id} is damaged", url=url)


def within(start: int, end: int, chars: int) -> tuple[int, int]:
    """A stretch as far as a text of so many characters has it."""
    start = min(max(0, start), chars)
    return start, min(max(start, end), chars)
