"""Run `keyhole bound`: print what matters of an output that comes through a pipe, and keep the whole of it."""

from __future__ import annotations

import argparse
import sys
import time
from dataclasses import asdict
from pathlib import Path
from typing import Final

from keyhole.cli.table import print_json
from keyhole.config.config import Config
from keyhole.errors import Code, KeyholeError
from keyhole.retrieval.bound import Bounded, bound
from keyhole.store.base import LOCAL

STDIN: Final = "-"


def run(config: Config, arguments: argparse.Namespace) -> int:
    """Print the bounded output, and return 0."""
    bounded = _bound(config, arguments, _read_input(arguments.file))
    if arguments.json:
        print_json(asdict(bounded))
    else:
        print(bounded.text, end="" if bounded.text.endswith("\n") else "\n")
    return 0


def _bound(config: Config, arguments: argparse.Namespace, output: bytes) -> Bounded:
    """Bound an output. It is stored, unless the settings keep none or it is small enough to be printed unchanged."""
    options = {"query": arguments.query, "budget": arguments.budget, "kind": arguments.kind}
    name = "" if arguments.file == STDIN else Path(arguments.file).name
    if config.keep_outputs == "off" or len(output) <= arguments.budget:
        return bound(output, command=arguments.of, name=name, **options)
    from keyhole.cli.build import import_store
    from keyhole.store.open import open_stores

    import_store(config)
    stores = open_stores(config)
    try:
        store, secret = stores.for_tenant(LOCAL)
        return bound(output, command=arguments.of, name=name, store=store, secret=secret, now=time.time(), **options)
    finally:
        stores.close()


def _read_input(name: str) -> bytes:
    """Return the content of a file or of standard input. Raise KeyholeError (invalid_argument) if it is unreadable."""
    if name == STDIN:
        if sys.stdin.isatty():
            print("keyhole: reading standard input; Ctrl-D ends it", file=sys.stderr)
        return sys.stdin.buffer.read()
    try:
        return Path(name).read_bytes()
    except OSError as error:
        raise KeyholeError(Code.INVALID_ARGUMENT, f"cannot read {name}: {error.strerror}") from error
