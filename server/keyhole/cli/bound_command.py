"""Run `keyhole bound`: print the important lines of a command's output and store the whole output."""

from __future__ import annotations

import argparse
import time
from dataclasses import asdict
from pathlib import Path

from keyhole.cli.table import print_json
from keyhole.cli.text_io import STDIN, print_bytes, print_text, read_input
from keyhole.config.config import Config
from keyhole.retrieval.bound import Bounded, bound
from keyhole.store.base import LOCAL


def run(config: Config, arguments: argparse.Namespace) -> int:
    """Print the bounded output, or the same bytes if they fit, and return 0."""
    output = read_input(arguments.file)
    bounded = _bound(config, arguments, output)
    if arguments.json:
        print_json(asdict(bounded))
    elif bounded.unchanged:
        print_bytes(output)
    else:
        print_text(bounded.text)
    return 0


def _bound(config: Config, arguments: argparse.Namespace, output: bytes) -> Bounded:
    """Bound an output. It is stored, unless the settings keep none or it is small enough to be printed unchanged."""
    is_piped = arguments.file == STDIN
    facts = {
        "command": arguments.of,
        "name": "" if is_piped else Path(arguments.file).name,
        "exit_status": arguments.exit,
        "folder": str(Path.cwd()) if is_piped else "",
    }
    options = {**facts, "query": arguments.query, "budget": arguments.budget, "kind": arguments.kind}
    if config.keep_outputs == "off" or len(output) <= arguments.budget:
        return bound(output, **options)
    from keyhole.cli.build import import_store
    from keyhole.store.open import open_stores

    import_store(config)
    stores = open_stores(config)
    try:
        store, secret = stores.for_tenant(LOCAL)
        return bound(output, store=store, secret=secret, now=time.time(), **options)
    finally:
        stores.close()
