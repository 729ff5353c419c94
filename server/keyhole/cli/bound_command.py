"""Run `keyhole bound`: print the important lines of a command's output and store the whole output."""

from __future__ import annotations

import logging
import sys
import time
from collections.abc import Iterable
from contextlib import closing
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Final

from keyhole.cli.output_log import Asked, record_output
from keyhole.cli.text_io import STDIN, print_bytes, print_text, read_blocks
from keyhole.config.config import Config
from keyhole.config.folders import working_folder
from keyhole.errors import KeyholeError
from keyhole.store.home import boundary_secret, home_folder
from keyhole.text.output_facts import OutputFacts

if TYPE_CHECKING:
    import argparse

    from keyhole.outputs.bound import Bounded

log = logging.getLogger(__name__)

MAX_CHAR_BYTES: Final = 4
"""Greatest number of bytes of a character, in UTF-8 and UTF-16."""


def run(config: Config, arguments: argparse.Namespace) -> int:
    """Print the bounded output, or the same bytes if they fit, and return 0."""
    is_piped, started_at = arguments.file == STDIN, time.time()
    facts = OutputFacts(
        arguments.of,
        "" if is_piped else Path(arguments.file).name,
        arguments.kind,
        arguments.exit,
        working_folder() if is_piped else "",
        names_command=True,
    )
    asked = Asked(arguments.query, arguments.budget)
    blocks: Iterable[bytes] = read_blocks(arguments.file)
    if arguments.explain:
        blocks = list(blocks)
        print_kinds(b"".join(blocks), facts)
    bounded, begun = bound_output(config, blocks, started_at, asked, facts)
    if arguments.json:
        from keyhole.cli.terminal import print_json

        print_json(bounded._asdict())
    else:
        print_bounded(bounded, begun)
    record_output(config, "pipe", bounded, bounded.text, started_at, asked, facts)
    return 0


def print_kinds(output: bytes, facts: OutputFacts) -> None:
    """Print the kinds that an output may have with what speaks for each, the one as which it is read first."""
    from keyhole.outputs.read import decode_output, explain_kind  # only this option needs them

    for kind, score, reason in explain_kind(decode_output(output), facts):
        print(f"{score:.0f} {kind}: {reason}", file=sys.stderr)


def print_bounded(bounded: Bounded, begun: bytes) -> None:
    """Print a bounded output. `begun`: its first bytes, which are all of an unchanged output."""
    if bounded.unchanged:
        print_bytes(begun)
    else:
        print_text(bounded.text)


def keeps_outputs(config: Config) -> bool:
    """Return whether outputs are stored. A store in memory would end with this process."""
    return config.keep_outputs == "on" and config.store != "memory"


def bound_output(
    config: Config, blocks: Iterable[bytes], started_at: float, asked: Asked, facts: OutputFacts
) -> tuple[Bounded, bytes]:
    """Return a bounded output and its first bytes: all of them, if it is unchanged.

    The output is stored, unless the settings keep none, it is small enough to be unchanged, or the store fails.
    """
    from keyhole.outputs.large_output import bound_blocks  # takes longer than most commands that `run` runs

    begun, blocks = bytearray(), iter(blocks)
    for block in blocks:
        begun += block
        if len(begun) > MAX_CHAR_BYTES * asked.budget:
            break
    blocks = chain([bytes(begun)], blocks)
    if keeps_outputs(config) and len(begun) > asked.budget:
        from keyhole.cli.build import open_stores
        from keyhole.store.base import LOCAL

        with closing(open_stores(config)) as stores:
            try:
                store, secret = stores.for_tenant(LOCAL)
            except KeyholeError as error:
                log.warning("the output is not stored: %s", error.message)
            else:
                kept = bound_blocks(blocks, *asked, facts, store=store, secret=secret, now=started_at)
                return kept, bytes(begun)
    secret = boundary_secret(home_folder(config.home))
    return bound_blocks(blocks, *asked, facts, secret=secret), bytes(begun)
