"""Run `keyhole artifacts`: one action on the store of one tenant."""

from __future__ import annotations

import argparse
import heapq
import sys
import time
from collections.abc import Callable, Collection, Sequence
from dataclasses import asdict
from types import MappingProxyType
from typing import Final

from keyhole.cli.commands import MAX_COUNT
from keyhole.cli.terminal import TableColumn, format_size, print_facts, print_json, print_table
from keyhole.cli.text_io import print_text
from keyhole.config.config import Config
from keyhole.errors import Code, KeyholeError
from keyhole.records import UNDIGESTED, Artifact, ArtifactPart, ArtifactSummary
from keyhole.render.answer import NOTICES
from keyhole.store.base import LOCAL, Store
from keyhole.store.filters import ALL, Filters, matches_address
from keyhole.store.forget import remove_texts
from keyhole.text.clean import clean
from keyhole.text.markdown import expand_links, find_link_origin
from keyhole.text.output_facts import COMMAND, EXIT_STATUS, FOLDER, is_output, kind_name, output_kind

OK, FAILED = 0, 1
WARNINGS: Final = MappingProxyType(
    {
        "kept_in_memory": ": the store cannot be used; this is an empty store in memory",
        "store_replaced": ": the store was damaged; it was set aside and a new one was created",
    }
)
"""Explanations of the store's warnings."""

REMAINS: Final = "the calls that read them and the known URLs remain; `keyhole forget` removes those too"

_ID: Final = TableColumn("id", unshortened=True)

_SORT_KEYS: Final = MappingProxyType[str, Callable[[ArtifactSummary], tuple[float | str, str]]](
    {
        "fetched": lambda row: (-row.fetched_at, row.id),
        "read": lambda row: (-row.last_access, row.id),
        "size": lambda row: (-row.chars, row.id),
        "title": lambda row: (row.title.casefold(), row.id),
        "url": lambda row: (row.url, row.id),
    }
)


def run(config: Config, arguments: argparse.Namespace) -> int:
    """Run one action on the tenant's store; return 1 if something was missing or damaged."""
    from keyhole.cli.build import open_stores

    arguments.tenant = arguments.tenant or LOCAL
    stores = open_stores(config)
    try:
        store, _ = stores.for_tenant(arguments.tenant)
        return run_action(store, arguments)
    finally:
        stores.close()


def run_action(store: Store, arguments: argparse.Namespace) -> int:
    """Run one action on a store; return 1 if something was missing or damaged."""
    code = _ACTIONS[arguments.action](store, arguments)
    if warning := store.warning():
        print(f"keyhole: warning {warning}{WARNINGS.get(warning, '')}", file=sys.stderr)
    return code


def _list(store: Store, arguments: argparse.Namespace) -> int:
    needs_all = bool(arguments.site or arguments.only) or arguments.sort != "fetched"
    stored = store.list(MAX_COUNT if needs_all else arguments.limit)
    filters = Filters(tuple(arguments.site), kind=arguments.only)
    matching = (row for row in stored if matches_address(row.url, filters))
    rows = heapq.nsmallest(arguments.limit, matching, _SORT_KEYS[arguments.sort])
    if arguments.json:
        print_json([_row_facts(row) for row in rows])
    elif rows:
        _print_rows(rows)
    elif stored:
        print("No artifacts from these sites." if arguments.site else f"No {arguments.only} are stored.")
    else:
        print(_describe_empty(store, arguments.tenant))
    return OK


def _print_rows(rows: Sequence[ArtifactSummary]) -> None:
    columns = [_ID, TableColumn("fetched", unshortened=True), TableColumn("characters", right=True, unshortened=True)]
    columns += [TableColumn("title or command"), TableColumn("address, or kind of output")]
    cells = [[row.id, _format_time(row.fetched_at), f"{row.chars:,}", row.title, _source(row)] for row in rows]
    if any(row.pinned for row in rows):
        columns.append(TableColumn("pinned"))
        cells = [[*cell, row.pinned * "pinned"] for cell, row in zip(cells, rows, strict=True)]
    print_table(columns, cells)


def _row_facts(row: ArtifactSummary) -> dict[str, object]:
    """Return an artifact's entry in the JSON listing. That of an output also has its kind and notes."""
    facts = {name: value for name, value in asdict(row).items() if name != "notes"}
    return {**facts, "kind": output_kind(row.url), **dict(row.notes)} if is_output(row.url) else facts


def _source(row: ArtifactSummary) -> str:
    """Return the address of a page; the kind, the exit status and the folder of an output."""
    if not is_output(row.url):
        return row.url
    notes = dict(row.notes)
    status = notes.get(EXIT_STATUS)
    facts = (kind_name(row.url), status and f"exit {status}", notes.get(FOLDER))
    return ", ".join(fact for fact in facts if fact)


def _describe_empty(store: Store, tenant: str) -> str:
    if store.stats().kind == "memory":
        return "No artifacts: with KEYHOLE_STORE=memory each process has a store of its own."
    return "No artifacts of this tenant." if tenant != LOCAL else "No artifacts yet: `keyhole fetch URL` stores one."


def _show(store: Store, arguments: argparse.Namespace) -> int:
    start = arguments.offset
    end = start if arguments.meta else start + (arguments.limit or MAX_COUNT)
    part = store.part(arguments.id, start, end)
    if arguments.json:
        is_complete = not (arguments.meta or arguments.offset or arguments.limit)
        range_facts = {} if is_complete else {"start": part.start, "total_chars": part.total}
        print_json({**asdict(part.artifact), "notes": dict(part.artifact.notes), **range_facts})
    elif arguments.meta:
        print_facts(_metadata(part))
    else:
        if part.artifact.notice == UNDIGESTED:
            print(f"keyhole: {NOTICES[UNDIGESTED]}", file=sys.stderr)
        text = clean(part.artifact.text)  # stored texts are clean already, unless the file was tampered with
        if is_output(part.artifact.url) and not sys.stdout.isatty():
            sys.stdout.write(text)  # a program gets the stored text as it is
        else:
            print_text(_printed(part.artifact, text))
    return OK


def _printed(artifact: Artifact, text: str) -> str:
    """Return a text of an artifact with full URLs as links, because its address is not printed."""
    return expand_links(text, find_link_origin(artifact.url, artifact.media_type))


def _metadata(part: ArtifactPart) -> dict[str, str]:
    artifact = part.artifact
    characters = f"{part.total:,}{' (partial)' if artifact.cut else ''}"
    if is_output(artifact.url):
        return {
            "id": artifact.id,
            "command": artifact.note(COMMAND),
            "file": "" if artifact.note(COMMAND) else artifact.title,
            "kind": kind_name(artifact.url),
            "exit status": artifact.note(EXIT_STATUS),
            "folder": artifact.note(FOLDER),
            "characters": characters,
            "stored": _format_time(artifact.fetched_at),
        }
    return {
        "id": artifact.id,
        "title": artifact.title,
        "url": artifact.url,
        "requested": artifact.requested_url if artifact.requested_url != artifact.url else "",
        "characters": characters,
        "main part": "" if artifact.main_end is None else f"0:{artifact.main_end}",
        "type": artifact.media_type,
        "language": artifact.language,
        "fetched": _format_time(artifact.fetched_at),
        "author": artifact.author,
        "site": artifact.site,
        "published": artifact.published,
        "modified": artifact.modified,
        "replaces": artifact.replaces,
        "notes": ", ".join(f"{name}={value}" for name, value in artifact.notes),
    }


def _search(store: Store, arguments: argparse.Namespace) -> int:
    from keyhole.cli.artifacts_search import search_store

    filters = Filters(tuple(arguments.site), kind=arguments.only)
    hits = search_store(store, " ".join(arguments.words), arguments.limit, filters)
    if arguments.json:
        fields = ("id", "url", "title", "fetched_at")
        print_json(
            [
                {
                    **{name: getattr(hit.artifact, name) for name in fields},
                    "span": [hit.start, hit.end],
                    "line": hit.line,
                }
                for hit in hits
            ]
        )
    else:
        columns = (_ID, TableColumn("title"), TableColumn("best line"))
        print_table(
            columns,
            [
                (hit.artifact.id, hit.artifact.title or hit.artifact.url, _printed(hit.artifact, hit.line))
                for hit in hits
            ],
        )
    return OK


def _remove(store: Store, arguments: argparse.Namespace) -> int:
    has_age = arguments.older_than is not None
    if [bool(arguments.ids), arguments.all, has_age].count(True) != 1:
        raise KeyholeError(Code.INVALID_ARGUMENT, "artifacts rm needs IDs, or --older-than AGE, or --all --yes")
    ids: Collection[str] = arguments.ids
    if has_age:
        before = time.time() - arguments.older_than
        ids = [row.id for row in store.list(MAX_COUNT) if row.last_access < before and not row.pinned]
    elif arguments.all:
        ids = store.match(ALL)
        if not arguments.yes:
            message = f"rm --all deletes {len(ids):,} artifacts: add --yes to confirm"
            raise KeyholeError(Code.INVALID_ARGUMENT, message)
    removed = remove_texts(store, ids)
    if arguments.json:
        print_json({id: id in removed for id in ids})
    elif arguments.ids:
        print_table((_ID, TableColumn("")), [(id, "removed" if id in removed else "not found") for id in ids])
    else:
        print(f"{len(removed):,} removed")
    if removed and not arguments.json:
        print(f"keyhole: {REMAINS}", file=sys.stderr)
    return OK if removed.issuperset(arguments.ids) else FAILED


def _pin(store: Store, arguments: argparse.Namespace) -> int:
    is_pin = arguments.action == "pin"
    done = {id: store.pin(id, is_pin) for id in arguments.ids}
    if arguments.json:
        print_json(done)
    else:
        state = "pinned" if is_pin else "unpinned"
        print_table((_ID, TableColumn("")), [(id, state if found else "not found") for id, found in done.items()])
    return OK if all(done.values()) else FAILED


def _collect(store: Store, arguments: argparse.Namespace) -> int:
    before = store.stats()
    dropped = store.collect()
    after = store.stats()
    freed = {name: max(0, getattr(before, name) - getattr(after, name)) for name in ("text_bytes", "stored_bytes")}
    if arguments.json:
        print_json({"dropped": dropped, "freed": freed})
    else:
        text, stored = format_size(freed["text_bytes"]), format_size(freed["stored_bytes"])
        print(f"{dropped:,} deleted; freed {text} of text and {stored} of the store")
    return OK


def _stats(store: Store, arguments: argparse.Namespace) -> int:
    stats = store.stats()
    if arguments.json:
        print_json(asdict(stats))
        return OK
    print_facts(
        {
            "store": stats.kind,
            "artifacts": f"{stats.artifacts:,}, {stats.contents:,} different texts",
            "text": format_size(stats.text_bytes),
            "size": format_size(stats.stored_bytes)
            + (f" of at most {format_size(stats.max_bytes)}" if stats.max_bytes else ""),
            "deleted": f"{stats.tombstones:,} whose URL is still stored",
            "damaged": f"{stats.damaged:,} set aside" if stats.damaged else "none known",
            "fetched": " to ".join(
                _format_time(each) for each in (stats.oldest_fetch, stats.newest_fetch) if each is not None
            ),
        }
    )
    return OK


def _verify(store: Store, arguments: argparse.Namespace) -> int:
    result = store.verify()
    if arguments.json:
        print_json({"checked": result.checked, "damaged": list(result.damaged), "file": result.file})
    else:
        print(f"{result.checked:,} checked, {len(result.damaged):,} damaged and set aside")
        for id in result.damaged:
            print(f"{id}: fetch its page again")
        if explanation := _FILE_STATES.get(result.file):
            print(explanation)
    return FAILED if result.damaged or result.file == "replaced" else OK


def _format_time(seconds: float) -> str:
    """Return the local date and time of `seconds` since 1970."""
    try:
        return time.strftime("%Y-%m-%d %H:%M", time.localtime(seconds))
    except (ValueError, OverflowError, OSError):  # the file was tampered with
        return "?"


_FILE_STATES: Final = MappingProxyType(
    {
        "replaced": "The file itself was damaged: it was set aside, and its readable artifacts are in a new file",
        "unfinished": "All texts were checked; the rest of the file is too large to check in the time allowed",
    }
)
_ACTIONS: Final = MappingProxyType(
    {
        "list": _list,
        "show": _show,
        "search": _search,
        "pin": _pin,
        "unpin": _pin,
        "rm": _remove,
        "gc": _collect,
        "stats": _stats,
        "verify": _verify,
    }
)
