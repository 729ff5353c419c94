"""`keyhole doctor`: runs every look beside the others, each in its time, and prints what they found."""

from __future__ import annotations

import argparse
import logging
import os
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, replace
from functools import partial
from queue import Empty, Queue
from threading import Thread
from typing import Final

from keyhole.cli.colours import has_colours
from keyhole.cli.doctor import end_to_end, environment, network, registrations, settings, store_check
from keyhole.cli.doctor.report import Finding, Level, Style, as_text, failed
from keyhole.cli.install.discover import this_installation
from keyhole.cli.install.launch import this_server
from keyhole.cli.table import one_line, print_json
from keyhole.config.config import Config
from keyhole.errors import KeyholeError

OK, FAILED = 0, 1
WHOLE: Final = 19.0
"""Seconds for everything. What is not done by then is told as such, and left behind."""
LONG: Final = 400
Look = Callable[[], list[Finding]]


def run(config: Config, faults: Sequence[str], arguments: argparse.Namespace) -> int:
    """Look at everything and tell it; 0 where nothing failed. `faults`: of settings that are not in the config."""
    begun = time.monotonic()
    logging.disable(logging.WARNING)  # what is not well is a finding, once, and no line between them
    looks: dict[str, Look] = {
        environment.AREA: environment.look,
        settings.AREA: partial(settings.look, config, faults),
        store_check.AREA: partial(store_check.look, config),
        network.AREA: partial(network.look, config, offline=arguments.offline),
        registrations.AREA: partial(registrations.look, offline=arguments.offline),
        end_to_end.AREA: partial(end_to_end.look, this_server(this_installation())),
    }
    try:
        findings = all_of(looks, WHOLE)
    finally:
        logging.disable(logging.NOTSET)
    seconds = time.monotonic() - begun
    if arguments.json:
        print_json(
            {"ok": not failed(findings), "seconds": round(seconds, 1), "findings": [asdict(each) for each in findings]}
        )
    else:
        shown = [replace(each, said=one_line(each.said, LONG)) for each in findings]
        print(as_text(shown, seconds, _style()))
    return FAILED if failed(findings) else OK


def all_of(looks: Mapping[str, Look], seconds: float) -> list[Finding]:
    """What all looks found, in their order. Each has a thread that the process does not wait for: what hangs in the
    system's own lookup of a name cannot be stopped."""
    done: Queue[tuple[str, list[Finding]]] = Queue()
    for area, look in looks.items():
        Thread(target=lambda area=area, look=look: done.put((area, _found(area, look))), daemon=True).start()
    found: dict[str, list[Finding]] = {}
    until = time.monotonic() + seconds
    while len(found) < len(looks):
        try:
            area, findings = done.get(timeout=max(0.0, until - time.monotonic()))
        except Empty:
            break
        found[area] = findings
    return [finding for area in looks for finding in found.get(area, [_late(area, seconds)])]


def _late(area: str, seconds: float) -> Finding:
    fix = "Run it again; if it stays, the system hangs."
    return Finding(area, "time", Level.FAIL, f"not done within {seconds:g} s", fix)


def _found(area: str, look: Look) -> list[Finding]:
    try:
        return look()
    except (KeyholeError, OSError, ValueError, RuntimeError) as error:
        said = error.message if isinstance(error, KeyholeError) else f"{type(error).__name__}: {error}"
        return [Finding(area, "look", Level.FAIL, said, "This is a fault of the doctor; please report it.")]


def _style() -> Style:
    color = has_colours(os.environ, terminal=sys.stdout.isatty())
    try:
        "✓·✗→".encode(sys.stdout.encoding or "ascii")
    except UnicodeEncodeError:
        return Style(color, signs=False)
    return Style(color)
