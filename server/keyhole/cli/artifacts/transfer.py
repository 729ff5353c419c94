"""Export artifacts to a file, and import them into another installation."""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Final

from keyhole.cli.artifacts import export_format
from keyhole.cli.artifacts.arguments import MAX_COUNT
from keyhole.cli.artifacts.streams import PIPE, open_input, open_output
from keyhole.cli.table import format_json, one_line, print_json
from keyhole.errors import Code, KeyholeError
from keyhole.extract.workers.child import index_words
from keyhole.fetch.known_urls import hash_page_urls
from keyhole.records import Artifact
from keyhole.retrieval.kept_text import artifact_words
from keyhole.store.base import Store
from keyhole.text.output_facts import is_output

MAX_REFUSED: Final = 1_000
"""Refused lines after which an import stops: the file is not an export, or is hostile."""
MAX_RATIO: Final = 10
"""Greatest size of the lines read, as a multiple of the store's size limit. An export of a full store is smaller,
because the store compresses text to no less than a fifth. A decompression bomb must not be read to its end."""
MAX_LISTED: Final = 5
"""Refused lines that are listed; --json lists all."""
_UNREADABLE: Final = frozenset({Code.UNKNOWN_ARTIFACT, Code.EXPIRED_ARTIFACT, Code.DAMAGED_ARTIFACT})
"""Errors of an artifact whose text the store cannot return."""


def export_artifacts(store: Store, arguments: argparse.Namespace) -> int:
    """Write artifacts to a file, and return 1 if an artifact is damaged.

    Artifacts are ordered by fetch time, so that each follows the one that it replaces.
    """
    count, damaged = 0, list[str]()
    ids = arguments.ids or [row.id for row in sorted(store.list(MAX_COUNT), key=lambda row: (row.fetched_at, row.id))]
    with open_output(arguments.file) as sink:
        sink.write(_line(export_format.format_first_line()))
        for artifact in _read_artifacts(store, ids, damaged, are_required=bool(arguments.ids)):
            sink.write(_line(export_format.format_artifact(artifact)))
            count += 1
        sink.write(_line(export_format.format_last_line(count)))
    message = f"{count:,} exported" + (f", {len(damaged):,} damaged and left out" if damaged else "")
    if arguments.json:
        message = format_json({"exported": count, "damaged": damaged})
    print(message, file=sys.stderr if arguments.file == PIPE else sys.stdout)
    return 1 if damaged else 0


def _read_artifacts(store: Store, ids: Iterable[str], damaged: list[str], *, are_required: bool) -> Iterator[Artifact]:
    """Yield the artifacts with these ids, and add the ids of damaged ones to `damaged`.

    `are_required`: raise KeyholeError for an artifact that is missing or damaged. Otherwise skip it, because the store
    may evict artifacts during the export.
    """
    for id in ids:
        try:
            yield store.get(id)
        except KeyholeError as error:
            if are_required or error.code not in _UNREADABLE:
                raise
            if error.code is Code.DAMAGED_ARTIFACT:
                damaged.append(id)


@dataclass(slots=True)
class ImportResult:
    """The result of an import: counts of lines, the refused lines, and a problem of the file."""

    new: int = 0
    """Artifacts that were added to the store."""
    known: int = 0
    """Artifacts that the store already had; they are not changed."""
    refused: list[tuple[int, str]] = field(default_factory=list)
    """Line numbers and reasons."""
    problem: str = ""
    """A fault of the file itself, or ""."""


def import_artifacts(store: Store, secret: bytes, arguments: argparse.Namespace) -> int:
    """Store the artifacts of a file; return 1 if a line was refused or the file is incomplete."""
    if store.stats().kind == "memory":
        raise KeyholeError(
            Code.INVALID_ARGUMENT,
            "with KEYHOLE_STORE=memory imported artifacts would be lost at the end of this command",
        )
    result = ImportResult()
    with open_input(arguments.file, export_format.MAX_LINE) as lines:
        export_format.check_first_line(next(lines, b""))
        try:
            _import_lines(store, secret, lines, result)
        except KeyholeError as error:
            if error.code is not Code.INVALID_ARGUMENT:
                raise
            result.problem = error.message
    _print_result(result, as_json=arguments.json)
    return 1 if result.refused or result.problem else 0


def _import_lines(store: Store, secret: bytes, lines: Iterable[bytes], result: ImportResult) -> None:
    """Store the artifacts of the lines and count them in `result`. Raises KeyholeError if a limit is exceeded."""
    ids: dict[str, str] = {}
    remaining_bytes, now = MAX_RATIO * store.stats().max_bytes, time.time()
    for number, line in enumerate(lines, start=2):
        if (count := export_format.parse_last_line(line)) is not None:
            read = result.new + result.known + len(result.refused)
            if count != read:
                result.problem = f"its last line counts {count:,} artifacts, but it has {read:,}: export it again"
            return
        try:
            imported = export_format.parse_artifact(line, secret, now, ids)
        except export_format.RefusedError as error:
            result.refused.append((number, one_line(str(error))))
            if len(result.refused) >= MAX_REFUSED:
                raise KeyholeError(
                    Code.INVALID_ARGUMENT, f"the import stopped after {MAX_REFUSED:,} refused lines; is it an export?"
                ) from error
            continue
        ids[imported.id_in_file] = imported.artifact.id
        remaining_bytes -= len(line)
        if remaining_bytes < 0:
            raise KeyholeError(
                Code.INVALID_ARGUMENT, "it is far larger than the store's limit, KEYHOLE_STORE_MAX_BYTES"
            )
        if _is_stored(store, imported.artifact.id):
            result.known += 1
        else:
            _store_artifact(store, imported.artifact)
            result.new += 1
    result.problem = "it is incomplete, because its last line is missing: export it again"


def _is_stored(store: Store, id: str) -> bool:
    try:
        store.part(id, 0, 0)
    except KeyholeError as error:
        if error.code not in _UNREADABLE:
            raise
        return False
    return True


def _store_artifact(store: Store, artifact: Artifact) -> None:
    """Store an artifact as it was: with its words for search, and a page with its links."""
    if is_output(artifact.url):
        words, spans = artifact_words(artifact)
        store.put(artifact, words, indexed=spans, is_import=True)
    else:
        keys = hash_page_urls(artifact.url, artifact.text)
        store.put(artifact, index_words(artifact.title, artifact.main), keys, is_import=True)
    if store.warning() == "kept_in_memory":
        raise KeyholeError(Code.STORE_UNAVAILABLE, "the store on disk can no longer be written")


def _print_result(result: ImportResult, *, as_json: bool) -> None:
    refused = [{"line": number, "why": reason} for number, reason in result.refused]
    if as_json:
        print_json({"new": result.new, "known": result.known, "refused": refused, "problem": result.problem})
        return
    print(f"{result.new:,} new, {result.known:,} known, {len(refused):,} refused")
    for number, reason in result.refused[:MAX_LISTED]:
        print(f"line {number:,} is refused: {reason}", file=sys.stderr)
    if len(refused) > MAX_LISTED:
        print(f"and {len(refused) - MAX_LISTED:,} more; --json lists all", file=sys.stderr)
    if result.problem:
        print(f"The file: {result.problem}. The artifacts before that point are stored", file=sys.stderr)


def _line(text: str) -> bytes:
    return f"{text}\n".encode()
