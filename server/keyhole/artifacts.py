"""`keyhole artifacts`: the store from the terminal. Prints; decides nothing."""

from __future__ import annotations

import argparse
import json
import time
from dataclasses import asdict

from keyhole.errors import Code, KeyholeError
from keyhole.records import ArtifactSummary
from keyhole.store.base import Store


def run(store: Store, arguments: argparse.Namespace) -> int:
    """One action; 0 when done, 1 when an id was not there."""
    if arguments.action == "list":
        return _list(store.list(arguments.limit), arguments.json)
    if arguments.action == "gc":
        dropped = store.collect()
        print(json.dumps({"dropped": dropped}) if arguments.json else f"{dropped} dropped")
        return 0
    if not arguments.ids:
        raise KeyholeError(Code.INVALID_ARGUMENT, f"artifacts {arguments.action} needs an ID")
    return _show(store, arguments) if arguments.action == "show" else _remove(store, arguments)


def _list(rows: tuple[ArtifactSummary, ...], as_json: bool) -> int:
    if as_json:
        print(json.dumps([asdict(row) for row in rows], ensure_ascii=False, indent=2))
        return 0
    if not rows:
        print("No artifacts yet: `keyhole fetch URL` makes one.")
    for row in rows:
        fetched = time.strftime("%Y-%m-%d %H:%M", time.localtime(row.fetched_at))
        print(f"{row.id}  {fetched}  {row.chars:>9,} characters  {row.title[:50] or row.url[:80]}")
    return 0


def _show(store: Store, arguments: argparse.Namespace) -> int:
    for id in arguments.ids:
        artifact = store.get(id)
        if arguments.json:
            print(json.dumps(asdict(artifact), ensure_ascii=False, indent=2))
        else:
            print(artifact.text, end="")
    return 0


def _remove(store: Store, arguments: argparse.Namespace) -> int:
    removed = {id: store.remove(id) for id in arguments.ids}
    if arguments.json:
        print(json.dumps(removed))
    else:
        for id, done in removed.items():
            print(f"{id}: {'removed' if done else 'not there'}")
    return 0 if all(removed.values()) else 1
