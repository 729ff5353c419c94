"""The format in which artifacts travel: a line of JSON for each, between a first line and a last one. Pure.

An importing installation trusts no line. Ids are made anew under its own secret, so that an id stays a function of
secret, URL and text; text is cleaned as a fetched page's is; what would be said in Keyhole's own voice, outside the
boundary of a page's text, is taken over only where it is one of Keyhole's own phrases.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from types import MappingProxyType
from typing import Annotated, Any, Final

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError

from keyhole.cli.table import as_json
from keyhole.errors import Code, KeyholeError
from keyhole.fetch.urls import MAX_URL, parse_target
from keyhole.fetch.validators import safe_date, safe_etag
from keyhole.records import CHANGED, MARKDOWN, READER, Artifact
from keyhole.render.answer import NOTICES
from keyhole.retrieval.artifact import TOLD
from keyhole.store.base import artifact_id
from keyhole.text.clean import clean
from keyhole.text.diff import from_note

FORMAT: Final = "keyhole-artifacts"
VERSION: Final = 1
MAX_LINE: Final = 200_000_000
"""Bytes of a line: twice the longest answer of a reader (worker/frames.py), as escapes at most double it."""
UNDIGESTED: Final = f"Warning {Code.EXTRACTION_FAILED}: the page could not be read; this is the undigested text."
"""Stands for every notice of this kind: the reason in it would be the file's own words."""

_ID: Final = r"^[a-z2-7]{16}$"
_NUMBER: Final = re.compile(r"[1-9][0-9]{0,8}")
_RELEASE: Final = re.compile(r"[0-9]{1,4}(?:\.[0-9A-Za-z]{1,12}){0,5}")


def _http(url: str) -> str:
    if not url.isprintable():
        raise ValueError("the URL has characters that nobody sees")
    try:
        parse_target(url)
    except KeyholeError as error:
        raise ValueError(error.message) from error
    return url


Line = Annotated[str, Field(max_length=2_000), AfterValidator(lambda text: " ".join(clean(text).split()))]
"""What a page says of itself, on one line."""
Url = Annotated[str, Field(max_length=MAX_URL), AfterValidator(_http)]


class Kept(BaseModel):
    """One artifact of a file, field by field as in `Artifact`."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)
    id: str = Field(pattern=_ID)
    url: Url
    requested_url: Url
    title: Line
    text: Annotated[str, AfterValidator(clean)]
    media_type: str = Field(pattern=r"^[\w.+-]{0,80}/?[\w.+-]{0,80}$")
    language: str = Field(pattern=r"^[A-Za-z0-9-]{0,80}$")
    fetched_at: float = Field(ge=0, allow_inf_nan=False)
    cut: bool
    etag: Annotated[str, AfterValidator(safe_etag)]
    last_modified: Annotated[str, AfterValidator(safe_date)]
    author: Line
    published: Line
    modified: Line
    site: Line
    replaces: str = Field(pattern=rf"{_ID}|^$")
    notes: dict[str, Line] = Field(max_length=20)


class RefusedError(ValueError):
    """A line is not one of an export; says why in a few words of ours."""


@dataclass(frozen=True, slots=True)
class Imported:
    """An artifact as this installation keeps it, and the id that it has in the file."""

    artifact: Artifact
    id_in_file: str


def first_line() -> str:
    """What an export begins with."""
    return as_json({"format": FORMAT, "version": VERSION})


def line_of(artifact: Artifact) -> str:
    """One artifact."""
    return as_json({**asdict(artifact), "notes": dict(artifact.notes)})


def last_line(count: int) -> str:
    """What an export ends with, so that one that broke off is known as such."""
    return as_json({"artifacts": count})


def check_first(line: bytes) -> None:
    """Raises KeyholeError (invalid_argument) unless the line begins an export of this version."""
    try:
        head = _object(line)
    except RefusedError:
        head = {}
    if head.get("format") != FORMAT:
        raise KeyholeError(Code.INVALID_ARGUMENT, "the file is no export of `keyhole artifacts export`, or was cut off")
    if head.get("version") != VERSION:
        raise KeyholeError(
            Code.INVALID_ARGUMENT,
            "the file is an export of another version of Keyhole; import it with that or a newer one",
        )


def count_in(line: bytes) -> int | None:
    """How many artifacts the last line says there are; None for every other line."""
    if len(line) > 64:
        return None
    try:
        value = _object(line)
    except RefusedError:
        return None
    count = value.get("artifacts")
    return count if isinstance(count, int) and list(value) == ["artifacts"] else None


def imported(line: bytes, secret: bytes, now: float, ids: Mapping[str, str] = MappingProxyType({})) -> Imported:
    """The artifact of a line under an id of this installation. `ids`: those of earlier lines, as they are in the file
    and as they are here. Raises RefusedError."""
    try:
        kept = Kept.model_validate(_object(line))
    except ValidationError as error:
        first = error.errors(include_url=False, include_context=False, include_input=False)[0]
        raise RefusedError(f"{'.'.join(map(str, first['loc'][:1])) or 'line'}: {first['msg']}") from error
    if not kept.text.strip():
        raise RefusedError("text: is empty")
    made = Artifact(**{**kept.model_dump(), "notes": ()})
    id = artifact_id(secret, made.url, made.text)
    # An installation reads its own export with its own ids: then what is not in the file may well be in the store.
    replaces = ids.get(kept.replaces, kept.replaces if id == kept.id else "")
    notes = tuple(
        (name, value)
        for name, text in kept.notes.items()
        if (value := _own(name, text)) and (replaces or name != CHANGED)
    )
    artifact = replace(made, id=id, fetched_at=min(made.fetched_at, now), replaces=replaces, notes=notes)
    return Imported(artifact, kept.id)


def _object(line: bytes) -> dict[str, Any]:
    try:
        value = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise RefusedError("is no JSON") from error
    if not isinstance(value, dict):
        raise RefusedError("is no JSON object")
    return value


def _own(name: str, value: str) -> str:
    """A note as it may be kept, "" where it is none of ours."""
    if name == "notice":
        return value if value in NOTICES else UNDIGESTED if value.startswith(UNDIGESTED.split(":")[0]) else ""
    if name in TOLD:
        return value if _NUMBER.fullmatch(value) else ""
    if name == READER:
        return value if _RELEASE.fullmatch(value) else ""
    try:
        if name == MARKDOWN:
            return _http(value)
        if name == CHANGED:
            from_note(value)
            return value
    except ValueError:
        return ""
    return ""
