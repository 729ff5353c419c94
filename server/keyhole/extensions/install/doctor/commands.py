"""Run `keyhole doctor`: run all checks at the same time, each in its own thread, and print their findings."""

from __future__ import annotations

import argparse
import logging
import os
import sys
import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from queue import Empty, Queue
from threading import Thread
from typing import Final

from keyhole.cli.terminal import (
    Finding,
    Level,
    ReportStyle,
    format_report,
    has_colours,
    has_failures,
    json_facts,
    one_line,
    print_json,
)
from keyhole.config.config import Config
from keyhole.config.load import read_settings
from keyhole.errors import KeyholeError
from keyhole.extensions.install.discover import this_installation, this_server
from keyhole.extensions.install.doctor import hook_runs, machine, network, servers
from keyhole.runtime.extensions import find_extensions, load_function

OK, FAILED = 0, 1
TIMEOUT: Final = 19.0
"""Seconds for all checks together. A check that takes longer is reported and abandoned."""
MAX_MESSAGE_COLUMNS: Final = 400
Check = Callable[[], list[Finding]]


def run(_config: Config, arguments: argparse.Namespace) -> int:
    """Run all checks and print the findings; return 1 if a check failed."""
    config, faults = read_settings(os.environ)
    start = time.monotonic()
    logging.disable(logging.WARNING)  # findings report problems; log lines would repeat them
    checks: dict[str, Check] = {
        machine.PROGRAM_AREA: machine.check_program,
        machine.SETTINGS_AREA: partial(machine.check_settings, config, faults),
        machine.STORE_AREA: partial(machine.check_store, config),
        network.AREA: partial(network.check, config, offline=arguments.offline),
        servers.CLIENTS_AREA: partial(servers.check_clients, offline=arguments.offline),
        servers.PROXIED_AREA: partial(servers.check_proxied_servers, offline=arguments.offline),
        hook_runs.AREA: hook_runs.check,
        **{
            area: partial(load_function(function), config)
            for extension in find_extensions()
            for area, function in extension.checks.items()
        },
        machine.SHARED_AREA: partial(machine.check_shared_servers, config),
        servers.ROUND_TRIP_AREA: partial(servers.check_round_trip, this_server(this_installation())),
    }
    try:
        findings = run_checks(checks, TIMEOUT)
    finally:
        logging.disable(logging.NOTSET)
    seconds = time.monotonic() - start
    if arguments.json:
        facts = [json_facts(finding) for finding in findings]
        print_json({"ok": not has_failures(findings), "seconds": round(seconds, 1), "findings": facts})
    else:
        shown = [replace(finding, message=one_line(finding.message, MAX_MESSAGE_COLUMNS)) for finding in findings]
        print(format_report(shown, seconds, _stdout_style()))
    return FAILED if has_failures(findings) else OK


def run_checks(checks: Mapping[str, Check], seconds: float) -> list[Finding]:
    """Return the findings of all checks, in the order of `checks`.

    Checks run in daemon threads: a name lookup that hangs in the operating system cannot be cancelled, and must not
    keep the process alive.
    """
    results: Queue[tuple[str, list[Finding]]] = Queue()
    for area, check in checks.items():
        Thread(target=lambda area=area, check=check: results.put((area, _run_check(area, check))), daemon=True).start()
    by_area: dict[str, list[Finding]] = {}
    deadline = time.monotonic() + seconds
    while len(by_area) < len(checks):
        try:
            area, findings = results.get(timeout=max(0.0, deadline - time.monotonic()))
        except Empty:
            break
        by_area[area] = findings
    return [finding for area in checks for finding in by_area.get(area, [_timeout_finding(area, seconds)])]


def _timeout_finding(area: str, seconds: float) -> Finding:
    fix = "Run it again; if it happens again, a call of the operating system hangs."
    return Finding(area, "time", Level.FAIL, f"not finished within {seconds:g} s", fix)


def _run_check(area: str, check: Check) -> list[Finding]:
    try:
        return check()
    except KeyholeError as error:
        return [Finding(area, "check", Level.FAIL, error.message)]
    except (OSError, ValueError, RuntimeError) as error:
        message = f"{type(error).__name__}: {error}"
        return [Finding(area, "check", Level.FAIL, message, "This is a bug in keyhole doctor; please report it.")]


def _stdout_style() -> ReportStyle:
    color = has_colours(os.environ, terminal=sys.stdout.isatty())
    try:
        "✓·✗→".encode(sys.stdout.encoding or "ascii")
    except UnicodeEncodeError:
        return ReportStyle(color, symbols=False)
    return ReportStyle(color)
