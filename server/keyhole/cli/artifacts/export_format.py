"""Format of exported artifacts: a first line, a line of JSON for each artifact, and a last line.

An import validates every line. Ids are computed again with the installation's own secret, because an id is a function
of secret, URL and text. Text is cleaned like that of a fetched page. Notes are imported only if Keyhole could have
written them, because results print them outside the boundary around a page's text.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from types import MappingProxyType
from typing import Annotated, Any, Final

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError

from keyhole.cli.table import format_json
from keyhole.errors import Code, KeyholeError
from keyhole.fetch.urls import MAX_URL, parse_target
from keyhole.fetch.validators import sanitize_etag, sanitize_last_modified
from keyhole.records import CHANGED, MARKDOWN, READER, RENDERED, REST, UNDIGESTED, Artifact
from keyhole.render.answer import NOTICES
from keyhole.retrieval.artifact import COUNTED_PARTS
from keyhole.store.ids import artifact_id
from keyhole.text.clean import clean
from keyhole.text.diff import parse_ranges
from keyhole.text.output_facts import COMMAND, EXIT_STATUS, FOLDER, KIND_NAMES, is_output, output_kind
from keyhole.text.parse_json import parse_json
from keyhole.text.rest import describe_rest
from keyhole.text.secrets.mask import mask_secrets

FORMAT: Final = "keyhole-artifacts"
VERSION: Final = 2
"""Version 1 had no `main_end`. Exports of both versions can be imported."""
MAX_LINE: Final = 200_000_000
"""Greatest length of a line in bytes: twice the longest answer of an extraction worker (extract/workers/frames.py),
because JSON escapes at most double it."""
OLDER_UNDIGESTED: Final = f"Warning {Code.EXTRACTION_FAILED}"
"""The beginning of the notice of an undigested text in older exports. It is replaced, because the reason that followed
could be any text."""

_ID: Final = r"^[a-z2-7]{16}$"
_NUMBER: Final = re.compile(r"[1-9][0-9]{0,8}")
_EXIT_STATUS: Final = re.compile(r"-?[0-9]{1,10}")
_RELEASE: Final = re.compile(r"[0-9]{1,4}(?:\.[0-9A-Za-z]{1,12}){0,5}")


def _check_url(url: str) -> str:
    """Return the URL of a page or an output. Raises ValueError for any other."""
    if is_output(url):
        if output_kind(url) not in KIND_NAMES:
            raise ValueError("no output is of this kind")
        return url
    return _check_page_url(url)


def _check_page_url(url: str) -> str:
    if not url.isprintable():
        raise ValueError("the URL has invisible characters")
    try:
        parse_target(url)
    except KeyholeError as error:
        raise ValueError(error.message) from error
    return url


Line = Annotated[str, Field(max_length=2_000), AfterValidator(lambda text: " ".join(clean(text).split()))]
"""Metadata of a page, on one line."""
Url = Annotated[str, Field(max_length=MAX_URL), AfterValidator(_check_url)]


class ExportedArtifact(BaseModel):
    """An artifact of an export file, with the fields of `Artifact`."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)
    id: str = Field(pattern=_ID)
    url: Url
    requested_url: Url
    title: Line
    text: str
    media_type: str = Field(pattern=r"^[\w.+-]{0,80}/?[\w.+-]{0,80}$")
    language: str = Field(pattern=r"^[A-Za-z0-9-]{0,80}$")
    fetched_at: float = Field(ge=0, allow_inf_nan=False)
    cut: bool
    etag: Annotated[str, AfterValidator(sanitize_etag)]
    last_modified: Annotated[str, AfterValidator(sanitize_last_modified)]
    author: Line
    published: Line
    modified: Line
    site: Line
    replaces: str = Field(pattern=rf"{_ID}|^$")
    notes: dict[str, Line] = Field(max_length=20)
    main_end: int | None = Field(default=None, ge=0)


class RefusedError(ValueError):
    """A line is not a valid artifact. The message says why, without quoting the file."""


@dataclass(frozen=True, slots=True)
class ImportedArtifact:
    """An artifact as this installation stores it, and its id in the file."""

    artifact: Artifact
    id_in_file: str


def format_first_line() -> str:
    """Return the first line of an export."""
    return format_json({"format": FORMAT, "version": VERSION})


def format_artifact(artifact: Artifact) -> str:
    """Return the line of an artifact."""
    return format_json({**asdict(artifact), "notes": dict(artifact.notes)})


def format_last_line(count: int) -> str:
    """Return the last line of an export. A file without it is incomplete."""
    return format_json({"artifacts": count})


def check_first_line(line: bytes) -> None:
    """Raise KeyholeError (invalid_argument) unless the line is the first line of an export of this version."""
    try:
        header = _parse_object(line)
    except RefusedError:
        header = {}
    if header.get("format") != FORMAT:
        raise KeyholeError(
            Code.INVALID_ARGUMENT, "the file was not made by `keyhole artifacts export`, or is incomplete"
        )
    if header.get("version") not in range(1, VERSION + 1):
        raise KeyholeError(
            Code.INVALID_ARGUMENT,
            "the file was exported by another version of Keyhole; import it with that version or a newer one",
        )


def parse_last_line(line: bytes) -> int | None:
    """Return the number of artifacts in the last line; None for any other line."""
    if len(line) > 64:
        return None
    try:
        value = _parse_object(line)
    except RefusedError:
        return None
    count = value.get("artifacts")
    return count if isinstance(count, int) and list(value) == ["artifacts"] else None


def parse_artifact(
    line: bytes, secret: bytes, now: float, ids: Mapping[str, str] = MappingProxyType({})
) -> ImportedArtifact:
    """Return the artifact in a line, with an id of this installation. Raises RefusedError if the line is not valid.

    `now`: upper bound of the fetch time, in seconds since 1970; `ids`: the ids of earlier lines in the file, mapped to
    those of this installation.
    """
    try:
        exported = ExportedArtifact.model_validate(_parse_object(line))
    except ValidationError as error:
        first = error.errors(include_url=False, include_context=False, include_input=False)[0]
        raise RefusedError(f"{'.'.join(map(str, first['loc'][:1])) or 'line'}: {first['msg']}") from error
    text, main_end = _clean_text(exported.text, exported.main_end)
    unchecked = Artifact(**{**exported.model_dump(), "notes": (), "text": text, "main_end": main_end})
    id = artifact_id(secret, unchecked.url, unchecked.text)
    # In an installation's own export ids are the same, so `replaces` may name an artifact of the store.
    replaces = ids.get(exported.replaces, exported.replaces if id == exported.id else "")
    notes = tuple(
        (name, value)
        for name, note in exported.notes.items()
        if (value := _check_note(name, note, unchecked)) and (replaces or name != CHANGED)
    )
    fetched_at = min(unchecked.fetched_at, now)
    artifact = replace(unchecked, id=id, fetched_at=fetched_at, replaces=replaces, notes=notes)
    return ImportedArtifact(artifact, exported.id)


def _clean_text(text: str, main_end: int | None) -> tuple[str, int | None]:
    """Return the cleaned text, and the end of its main part. Raises RefusedError for an empty text."""
    cleaned = clean(text)
    if not cleaned.strip():
        raise RefusedError("text: is empty")
    if main_end is not None and main_end > len(text):
        raise RefusedError("main_end: is after the end of the text")
    if main_end is None or cleaned == text:
        return cleaned, main_end
    return cleaned, len(clean(text[:main_end]))


def _parse_object(line: bytes) -> dict[str, Any]:
    try:
        value = parse_json(line)
    except ValueError as error:
        raise RefusedError("is not JSON") from error
    if not isinstance(value, dict):
        raise RefusedError("is not a JSON object")
    return value


def _check_note(name: str, value: str, artifact: Artifact) -> str:
    """Return the value of a note if Keyhole could have written it for this text, otherwise ""."""
    if is_output(artifact.url):
        return _check_output_note(name, value)
    if name == REST:
        return describe_rest(artifact.text[artifact.main_end :]) if artifact.main_end else ""
    if name == "notice":
        value = UNDIGESTED if value.startswith(OLDER_UNDIGESTED) else value
        return value if value in NOTICES else ""
    if name in COUNTED_PARTS:
        return value if _NUMBER.fullmatch(value) else ""
    if name == RENDERED:
        return "yes" if value == "yes" else ""
    if name == READER:
        return value if _RELEASE.fullmatch(value) else ""
    try:
        if name == MARKDOWN:
            return _check_page_url(value)
        if name == CHANGED:
            parse_ranges(value)
            return value
    except ValueError:
        return ""
    return ""


def _check_output_note(name: str, value: str) -> str:
    """Return the value of a note of an output, "" for any other note. Results show the exit status only."""
    if name == EXIT_STATUS:
        return value if _EXIT_STATUS.fullmatch(value) else ""
    return mask_secrets(value) if name in {COMMAND, FOLDER} else ""
