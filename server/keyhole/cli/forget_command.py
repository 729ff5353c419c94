"""Run `keyhole forget`: say what is in the scope, ask, and delete it."""

from __future__ import annotations

import argparse
import sys
import time
from dataclasses import asdict
from typing import TYPE_CHECKING

from keyhole.cli.terminal import print_json
from keyhole.config.config import Config
from keyhole.errors import Code, KeyholeError
from keyhole.store.base import LOCAL

if TYPE_CHECKING:
    from keyhole.store.filters import Scope
    from keyhole.store.forget import Forgotten, ScopeMatch

DONE, REFUSED = 0, 1


def run(config: Config, arguments: argparse.Namespace) -> int:
    """Delete what is in the scope; return 1 if the person declines."""
    from keyhole.cli.build import open_stores
    from keyhole.store.forget import find, forget

    scope = read_scope(arguments)
    if config.store == "memory":
        message = "with KEYHOLE_STORE=memory each process keeps what it stores until it ends: end the server"
        raise KeyholeError(Code.INVALID_ARGUMENT, message)
    stores, tenant = open_stores(config), arguments.tenant or LOCAL
    try:
        found = find(stores.for_tenant(tenant)[0], stores.calls_for(tenant), scope)
        if not (arguments.yes or _confirm(describe(found, scope))):
            print("keyhole: nothing was deleted", file=sys.stderr)
            return REFUSED
        forgotten = forget(stores, tenant, scope, time.time())
    finally:
        stores.close()
    _print(forgotten, as_json=arguments.json)
    return DONE


def read_scope(arguments: argparse.Namespace) -> Scope:
    """Return the scope of the command line. Raises KeyholeError (invalid_argument)."""
    from keyhole.store.filters import ALL, Scope

    scope = Scope(tuple(arguments.url), tuple(arguments.site), arguments.before, tuple(arguments.client))
    if "" in (*scope.urls, *scope.sites, *scope.clients):
        raise KeyholeError(Code.INVALID_ARGUMENT, "a condition is empty")
    if arguments.all == (scope != ALL):
        message = "forget needs --all, or one or more of --before, --url, --site and --client"
        raise KeyholeError(Code.INVALID_ARGUMENT, message)
    return scope


def describe(found: ScopeMatch, scope: Scope) -> str:
    """Return the sentence that says what will be deleted."""
    traces = "all known URLs, vectors and copies of damaged files"
    if scope.is_all:
        traces += ", and outputs that are not stored yet"
    return f"This deletes {len(found.texts):,} texts, {len(found.calls.ids):,} calls, {traces}."


def _confirm(question: str) -> bool:
    """Ask at the terminal. Raises KeyholeError (invalid_argument) if there is none."""
    if not sys.stdin.isatty():
        raise KeyholeError(Code.INVALID_ARGUMENT, f"{question} Add --yes to confirm")
    print(question, file=sys.stderr)
    print("Delete them? [y/N] ", end="", file=sys.stderr, flush=True)
    return sys.stdin.readline().strip().lower() in {"y", "yes"}


def _print(forgotten: Forgotten, *, as_json: bool) -> None:
    facts = asdict(forgotten)
    counts = {**{name: facts[name] for name in ("texts", "calls")}, **facts["traces"], "files": facts["files"]}
    if as_json:
        print_json(counts)
        return
    names = {"dropped": "addresses of dropped texts", "known_urls": "known URLs"}
    print("Deleted: " + ", ".join(f"{count:,} {names.get(name, name)}" for name, count in counts.items()) + ".")
