"""Check the settings: report those that are wrong, and those that are risky with the reason."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from keyhole.cli.report import Finding, Level
from keyhole.config.config import Config

AREA: Final = "Settings"
COMMON_TIMEOUT: Final = 60.0
"""Seconds after which many clients cancel a call: the default of the TypeScript SDK."""
COMMON_CAP: Final = 10_000
"""Bytes at which the strictest clients cut off a result."""


def check(config: Config, faults: Sequence[str]) -> list[Finding]:
    """Return one finding for all settings together, and one for each that is wrong or risky."""
    fix = "Correct or remove it; until then every command stops with this error."
    wrong = [Finding(AREA, "settings", Level.FAIL, fault, fix) for fault in faults]
    origins = sorted(set(config.origins.values()))
    message = f"{len(origins)} set: {', '.join(origins)}" if origins else "all at their defaults"
    correct = [] if wrong else [Finding(AREA, "values", Level.OK, message)]
    return [*correct, *wrong, *_check_risks(config)]


def _check_risks(config: Config) -> list[Finding]:
    timeout = max(config.timeout, config.search_timeout)
    risks = [
        ("allow_private", bool(config.allow_private),
         f"private addresses can be fetched: {', '.join(sorted(config.allow_private))}",
         "Remove the addresses that agents do not need from KEYHOLE_ALLOW_PRIVATE."),
        ("robots", config.robots == "off", "robots.txt of public sites is ignored",
         "Unset KEYHOLE_ROBOTS unless the sites' owners agree."),
        ("max_chars", "max_chars" in config.origins and config.max_chars > COMMON_CAP,
         f"results may be {config.max_chars:,} bytes; the strictest clients cut them off at {COMMON_CAP:,}",
         "Unset KEYHOLE_MAX_CHARS unless the client accepts such results."),
        ("timeout", timeout >= COMMON_TIMEOUT,
         f"calls may take {timeout:g} s; many clients cancel them after {COMMON_TIMEOUT:g} s",
         "Lower KEYHOLE_TIMEOUT and KEYHOLE_SEARCH_TIMEOUT."),
        ("log_level", config.log_level == "DEBUG", "the log contains every detail, including questions and addresses",
         "Unset KEYHOLE_LOG_LEVEL when you no longer need it."),
        ("store", config.store == "memory", "stored pages are lost when the server stops",
         "Unset KEYHOLE_STORE to keep them."),
    ]  # fmt: skip
    return [Finding(AREA, name, Level.WARN, message, fix) for name, is_risky, message, fix in risks if is_risky]
