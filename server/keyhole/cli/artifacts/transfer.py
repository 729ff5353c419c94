"""Artifacts from one installation to another: what of a store is written to a file, and what of a file is kept."""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Final

from keyhole.cli.artifacts import export_format
from keyhole.cli.artifacts.arguments import MOST
from keyhole.cli.artifacts.streams import PIPE, reading, writing
from keyhole.cli.table import as_json, one_line
from keyhole.errors import Code, KeyholeError
from keyhole.extract.workers.digest import words_of
from keyhole.fetch.known_urls import keys_of
from keyhole.records import Artifact
from keyhole.store.base import Store

MAX_REFUSED: Final = 1_000
"""Refused lines after which the rest is not looked at: it is no export, or hostile."""
MAX_RATIO: Final = 10
"""Times as many bytes of lines as the store may take are looked at: compressed text takes a fifth or more, and what is
packed to look like a small file must end somewhere."""
MAX_NAMED: Final = 5
"""Refused lines that are named."""
_ABSENT: Final = frozenset({Code.UNKNOWN_ARTIFACT, Code.EXPIRED_ARTIFACT, Code.DAMAGED_ARTIFACT})


def export(store: Store, arguments: argparse.Namespace) -> int:
    """Write artifacts, the first fetched first, so that each follows the one that it replaces."""
    count, missing = 0, list[str]()
    ids = arguments.ids or [row.id for row in sorted(store.list(MOST), key=lambda row: (row.fetched_at, row.id))]
    with writing(arguments.file) as sink:
        sink.write(_line(export_format.first_line()))
        for artifact in _kept(store, ids, missing, named=bool(arguments.ids)):
            sink.write(_line(export_format.line_of(artifact)))
            count += 1
        sink.write(_line(export_format.last_line(count)))
    damaged = f", {len(missing):,} left out: damaged" if missing else ""
    told = as_json({"exported": count, "damaged": missing}) if arguments.json else f"{count:,} exported{damaged}"
    print(told, file=sys.stderr if arguments.file == PIPE else sys.stdout)
    return 1 if missing else 0


def _kept(store: Store, ids: Iterable[str], missing: list[str], *, named: bool) -> Iterator[Artifact]:
    """The artifacts of some ids. One that was named must be there; of all, one may be dropped meanwhile."""
    for id in ids:
        try:
            yield store.get(id)
        except KeyholeError as error:
            if named or error.code not in _ABSENT:
                raise
            if error.code is Code.DAMAGED_ARTIFACT:
                missing.append(id)


@dataclass(slots=True)
class Outcome:
    """What became of a file's lines."""

    new: int = 0
    known: int = 0
    """Here already, and left as they are."""
    refused: list[tuple[int, str]] = field(default_factory=list)
    problem: str = ""
    """What is wrong with the file as a whole."""


def take(store: Store, secret: bytes, arguments: argparse.Namespace) -> int:
    """Keep what a file holds; 1 where anything of it was refused or is missing."""
    if store.stats().kind == "memory":
        raise KeyholeError(
            Code.INVALID_ARGUMENT,
            "with KEYHOLE_STORE=memory what is imported would be gone at the end of this command",
        )
    outcome = Outcome()
    with reading(arguments.file, export_format.MAX_LINE) as given:
        export_format.check_first(next(given, b""))
        try:
            _take_lines(store, secret, given, outcome)
        except KeyholeError as error:
            if error.code is not Code.INVALID_ARGUMENT:
                raise
            outcome.problem = error.message
    _tell(outcome, as_json=arguments.json)
    return 1 if outcome.refused or outcome.problem else 0


def _take_lines(store: Store, secret: bytes, given: Iterable[bytes], outcome: Outcome) -> None:
    ids: dict[str, str] = {}
    room, now = MAX_RATIO * store.stats().max_bytes, time.time()
    for number, line in enumerate(given, start=2):
        if (count := export_format.count_in(line)) is not None:
            read = outcome.new + outcome.known + len(outcome.refused)
            if count != read:
                outcome.problem = f"it says that it holds {count:,} artifacts and held {read:,}: export it again"
            return
        try:
            imported = export_format.imported(line, secret, now, ids)
        except export_format.RefusedError as error:
            outcome.refused.append((number, one_line(str(error))))
            if len(outcome.refused) >= MAX_REFUSED:
                raise KeyholeError(
                    Code.INVALID_ARGUMENT, "too much of it is refused to look at the rest; is it an export?"
                ) from error
            continue
        ids[imported.id_in_file] = imported.artifact.id
        room -= len(line)
        if room < 0:
            raise KeyholeError(
                Code.INVALID_ARGUMENT, "it holds far more than KEYHOLE_STORE_MAX_BYTES lets the store keep"
            )
        if _is_here(store, imported.artifact.id):
            outcome.known += 1
        else:
            _keep(store, imported.artifact)
            outcome.new += 1
    outcome.problem = "it was cut off, as its last line is missing: export it again"


def _is_here(store: Store, id: str) -> bool:
    try:
        store.part(id, 0, 0)
    except KeyholeError as error:
        if error.code not in _ABSENT:
            raise
        return False
    return True


def _keep(store: Store, artifact: Artifact) -> None:
    """Keep an artifact as one that was fetched is kept: with its words, and its links known."""
    store.put(artifact, words_of(artifact.title, artifact.text), keys_of(artifact.url, artifact.text))
    if store.warning() == "kept_in_memory":
        raise KeyholeError(Code.STORE_UNAVAILABLE, "the store on disk can no longer be written")


def _tell(outcome: Outcome, *, as_json: bool) -> None:
    refused = [{"line": number, "why": why} for number, why in outcome.refused]
    if as_json:
        from keyhole.cli.table import print_json

        print_json({"new": outcome.new, "known": outcome.known, "refused": refused, "problem": outcome.problem})
        return
    print(f"{outcome.new:,} new, {outcome.known:,} known, {len(refused):,} refused")
    for number, why in outcome.refused[:MAX_NAMED]:
        print(f"line {number:,} is refused: {why}", file=sys.stderr)
    if len(refused) > MAX_NAMED:
        print(f"and {len(refused) - MAX_NAMED:,} more; --json names all", file=sys.stderr)
    if outcome.problem:
        print(f"The file: {outcome.problem}. What was read before is kept", file=sys.stderr)


def _line(text: str) -> bytes:
    return f"{text}\n".encode()
