"""What the settings say, which of them are wrong, and which are risky and why. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from keyhole.cli.doctor.report import Finding, Level
from keyhole.config.config import Config

AREA: Final = "Settings"
COMMON_TIMEOUT: Final = 60.0
"""Seconds after which many clients give up on a call; those built on the TypeScript SDK do by default."""
COMMON_CAP: Final = 10_000
"""Bytes at which the narrowest clients cut a result."""


def look(config: Config, faults: Sequence[str]) -> list[Finding]:
    """One line for the settings as they are, and one for each that is wrong or risky."""
    fix = "Put it right or take it out; until then every command ends with this."
    wrong = [Finding(AREA, "settings", Level.FAIL, fault, fix) for fault in faults]
    origins = sorted(set(config.origins.values()))
    said = f"{len(origins)} set: {', '.join(origins)}" if origins else "all at their defaults"
    well = [] if wrong else [Finding(AREA, "values", Level.OK, said)]
    return [*well, *wrong, *_risky(config)]


def _risky(config: Config) -> list[Finding]:
    risks = [
        ("allow_private", bool(config.allow_private), f"pages may reach {', '.join(sorted(config.allow_private))}",
         "Leave out of KEYHOLE_ALLOW_PRIVATE what agents need not read."),
        ("robots", config.robots == "off", "robots.txt of public sites is not honoured",
         "Unset KEYHOLE_ROBOTS unless the sites' owners agree."),
        ("max_chars", "max_chars" in config.origins and config.max_chars > COMMON_CAP,
         f"results of {config.max_chars:,} bytes: the narrowest clients cut at {COMMON_CAP:,}",
         "Unset KEYHOLE_MAX_CHARS unless the client takes as much."),
        ("timeout", max(config.timeout, config.search_timeout) >= COMMON_TIMEOUT,
         f"calls may take {max(config.timeout, config.search_timeout):g} s: many clients give up at {COMMON_TIMEOUT:g}",
         "Set KEYHOLE_TIMEOUT and KEYHOLE_SEARCH_TIMEOUT below that."),
        ("log_level", config.log_level == "DEBUG", "the log says everything, also what is asked and read",
         "Unset KEYHOLE_LOG_LEVEL when you have seen enough."),
        ("store", config.store == "memory", "what is read is forgotten when the server ends",
         "Unset KEYHOLE_STORE to keep it."),
    ]  # fmt: skip
    return [Finding(AREA, name, Level.WARN, said, fix) for name, is_so, said, fix in risks if is_so]
