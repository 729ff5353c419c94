"""The actions of `keyhole artifacts` on one store. Prints; what is found, kept or dropped is decided elsewhere."""

from __future__ import annotations

import argparse
import heapq
import sys
import time
from collections.abc import Callable
from dataclasses import asdict
from types import MappingProxyType
from typing import Final

from keyhole.cli.artifacts.arguments import MOST
from keyhole.cli.table import Column, print_facts, print_json, print_table, size_of
from keyhole.errors import Code, KeyholeError
from keyhole.records import ArtifactSummary, Part
from keyhole.store.base import LOCAL, Store
from keyhole.store.filters import Filters
from keyhole.text.clean import clean
from keyhole.text.sites import allowed_by_sites

OK, FAILED = 0, 1
WARNINGS: Final = MappingProxyType(
    {
        "kept_in_memory": ": the store cannot be used, and this is not what it holds",
        "store_replaced": ": the store was damaged, set aside and begun anew",
    }
)

_ID: Final = Column("id", whole=True)

_ORDERS: Final = MappingProxyType[str, Callable[[ArtifactSummary], tuple[float | str, str]]](
    {
        "fetched": lambda row: (-row.fetched_at, row.id),
        "read": lambda row: (-row.last_access, row.id),
        "size": lambda row: (-row.chars, row.id),
        "title": lambda row: (row.title.casefold(), row.id),
        "url": lambda row: (row.url, row.id),
    }
)


def run(store: Store, secret: bytes, arguments: argparse.Namespace) -> int:
    """One action; 0 when done, 1 when something was not there, damaged or refused."""
    if arguments.action in ("export", "import"):
        from keyhole.cli.artifacts import transfer

        code = (
            transfer.export(store, arguments)
            if arguments.action == "export"
            else transfer.take(store, secret, arguments)
        )
    else:
        code = _ACTIONS[arguments.action](store, arguments)
    if warning := store.warning():
        print(f"keyhole: warning {warning}{WARNINGS.get(warning, '')}", file=sys.stderr)
    return code


def _list(store: Store, arguments: argparse.Namespace) -> int:
    everything = bool(arguments.site) or arguments.sort != "fetched"
    kept = store.list(MOST if everything else arguments.limit)
    filters = Filters(tuple(arguments.site))
    wanted = (row for row in kept if not arguments.site or allowed_by_sites(row.url, filters))
    rows = heapq.nsmallest(arguments.limit, wanted, _ORDERS[arguments.sort])
    if arguments.json:
        print_json([asdict(row) for row in rows])
    elif rows:
        columns = (_ID, Column("fetched", whole=True), Column("characters", right=True, whole=True))
        cells = [(row.id, _moment(row.fetched_at), f"{row.chars:,}", row.title, row.url) for row in rows]
        print_table((*columns, Column("title"), Column("url")), cells)
    elif kept:
        print("None on these sites.")
    else:
        print(_nothing(store, arguments.tenant))
    return OK


def _nothing(store: Store, tenant: str) -> str:
    if store.stats().kind == "memory":
        return "No artifacts: with KEYHOLE_STORE=memory each process has its own, and this one ends here."
    return "No artifacts of this tenant." if tenant != LOCAL else "No artifacts yet: `keyhole fetch URL` makes one."


def _show(store: Store, arguments: argparse.Namespace) -> int:
    start = arguments.offset
    end = start if arguments.meta else start + (arguments.limit or MOST)
    part = store.part(arguments.id, start, end)
    if arguments.json:
        whole = not (arguments.meta or arguments.offset or arguments.limit)
        range_facts = {} if whole else {"start": part.start, "total_chars": part.total}
        print_json({**asdict(part.artifact), "notes": dict(part.artifact.notes), **range_facts})
    elif arguments.meta:
        print_facts(_facts(part))
    else:
        text = clean(part.artifact.text)  # a text that was kept is clean already, unless the file was meddled with
        print(text, end="" if text.endswith("\n") else "\n")
    return OK


def _facts(part: Part) -> dict[str, str]:
    artifact = part.artifact
    return {
        "id": artifact.id,
        "title": artifact.title,
        "url": artifact.url,
        "requested": artifact.requested_url if artifact.requested_url != artifact.url else "",
        "characters": f"{part.total:,}{' (partial)' if artifact.cut else ''}",
        "type": artifact.media_type,
        "language": artifact.language,
        "fetched": _moment(artifact.fetched_at),
        "author": artifact.author,
        "site": artifact.site,
        "published": artifact.published,
        "modified": artifact.modified,
        "replaces": artifact.replaces,
        "notes": ", ".join(f"{name}={value}" for name, value in artifact.notes),
    }


def _search(store: Store, arguments: argparse.Namespace) -> int:
    from keyhole.cli.artifacts.find import find

    found = find(store, " ".join(arguments.words), arguments.limit, arguments.site)
    if arguments.json:
        told = ("id", "url", "title", "fetched_at")
        print_json(
            [
                {
                    **{name: getattr(each.artifact, name) for name in told},
                    "span": [each.start, each.end],
                    "line": each.line,
                }
                for each in found
            ]
        )
    else:
        columns = (_ID, Column("title"), Column("best line"))
        print_table(
            columns, [(each.artifact.id, each.artifact.title or each.artifact.url, each.line) for each in found]
        )
    return OK


def _remove(store: Store, arguments: argparse.Namespace) -> int:
    aged = arguments.older_than is not None
    if [bool(arguments.ids), arguments.all, aged].count(True) != 1:
        raise KeyholeError(Code.INVALID_ARGUMENT, "artifacts rm needs either IDs, or --older-than AGE, or --all --yes")
    ids: list[str] = arguments.ids
    if not ids:
        kept = store.list(MOST)
        if arguments.all and not arguments.yes:
            raise KeyholeError(Code.INVALID_ARGUMENT, f"rm --all forgets {len(kept):,} artifacts: add --yes to do it")
        before = time.time() - arguments.older_than if aged else float("inf")
        ids = [row.id for row in kept if row.last_access < before]
    removed = {id: store.remove(id) for id in ids}
    if arguments.json:
        print_json(removed)
    elif arguments.ids:
        print_table((_ID, Column("")), [(id, "removed" if done else "not there") for id, done in removed.items()])
    else:
        print(f"{len(removed):,} removed")
    return OK if all(removed.values()) or not arguments.ids else FAILED


def _collect(store: Store, arguments: argparse.Namespace) -> int:
    before = store.stats()
    dropped = store.collect()
    after = store.stats()
    freed = {name: max(0, getattr(before, name) - getattr(after, name)) for name in ("text_bytes", "stored_bytes")}
    if arguments.json:
        print_json({"dropped": dropped, "freed": freed})
    else:
        text, stored = size_of(freed["text_bytes"]), size_of(freed["stored_bytes"])
        print(f"{dropped:,} dropped, {text} of text, {stored} of the store")
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
            "text": size_of(stats.text_bytes),
            "takes": size_of(stats.stored_bytes)
            + (f" of at most {size_of(stats.max_bytes)}" if stats.max_bytes else ""),
            "dropped": f"{stats.tombstones:,} whose address is remembered",
            "damaged": f"{stats.damaged:,} set aside" if stats.damaged else "none known",
            "fetched": " to ".join(
                _moment(each) for each in (stats.oldest_fetch, stats.newest_fetch) if each is not None
            ),
        }
    )
    return OK


def _verify(store: Store, arguments: argparse.Namespace) -> int:
    found = store.verify()
    if arguments.json:
        print_json({"checked": found.checked, "damaged": list(found.damaged), "file": found.file})
    else:
        print(f"{found.checked:,} checked, {len(found.damaged):,} damaged and set aside")
        for id in found.damaged:
            print(f"{id}: fetch its page again, or import it from an export")
        if told := _FILE_STATES.get(found.file):
            print(told)
    return FAILED if found.damaged or found.file == "replaced" else OK


def _moment(seconds: float) -> str:
    """A time as the clock on the wall shows it."""
    try:
        return time.strftime("%Y-%m-%d %H:%M", time.localtime(seconds))
    except (ValueError, OverflowError, OSError):  # a file that was meddled with
        return "?"


_FILE_STATES: Final = MappingProxyType(
    {
        "replaced": "The file itself was damaged: it was moved aside, and what could be read of it is in a new one",
        "unfinished": "The texts were all read; the file around them is too large to look through at once",
    }
)
_ACTIONS: Final = MappingProxyType(
    {
        "list": _list,
        "show": _show,
        "search": _search,
        "rm": _remove,
        "gc": _collect,
        "stats": _stats,
        "verify": _verify,
    }
)
