"""The text of a file of settings: from TOML to what it gives for each field, and a template of one. Opens nothing."""

from __future__ import annotations

import json
import re
import textwrap
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from keyhole.config.config import Config, Given
from keyhole.config.schema import PREFIX, SETTINGS
from keyhole.text.measure import clip
from keyhole.text.suggest import meant

MAX_KEYS: Final = 2 * len(SETTINGS)
"""Of which more is said than that they are too many: nearly all of them are mistakes."""
_LARGEST: Final = 1 << 64
"""TOML's own whole numbers are smaller; Python's have no end, and what is too long for it is no text."""
MAX_NAME: Final = 64
"""Bytes of a key that is unknown, as it is told."""
WIDTH: Final = 100
"""Columns of a comment in the template."""
_KEY: Final = re.compile(r"""[ \t]*["']?([A-Za-z0-9_-]+)["']?[ \t]*[=.]""")
_TABLE: Final = re.compile(r"""[ \t]*\[+[ \t]*["']?([A-Za-z0-9_-]+)""")
_DEFAULTS: Final = Config()


def settings_of(text: str, name: str) -> tuple[dict[str, Given], list[str]]:
    """What a file of this name gives for each field, and what is wrong with the rest of it."""
    import tomllib

    try:
        table = tomllib.loads(text)
    except ValueError as error:  # also a number of thousands of digits
        return {}, [f"{name}: {str(error)[:1].lower()}{str(error)[1:]}"]
    except RecursionError:
        return {}, [f"{name}: values are nested too deeply"]
    known = {setting.field for setting in SETTINGS}
    given: dict[str, Given] = {}
    if len(table) > MAX_KEYS:
        return {}, [f"{name}: has {len(table):,} keys, and there are {len(SETTINGS)} settings"]
    lines = _lines(text, table)
    faults = []
    for key, value in table.items():
        origin = f"{name}:{lines.get(key, 1)}"
        raw = _raw(key, value) if key in known else None
        told = clip(key, MAX_NAME)
        if isinstance(value, dict):
            faults.append(f"{origin}: [{told}]: there are no tables here; settings stand at the top, one a line")
        elif key not in known:
            faults.append(f"{origin}: unknown setting {told}{_near(key[:MAX_NAME])}")
        elif raw is None:
            faults.append(f"{origin}: {key}: must be {_wanted(key)}")
        elif raw.strip():
            given[key] = Given(raw.strip(), origin, f"{origin}: {key}")
    return given, faults


def _near(key: str) -> str:
    return meant(key.lower().replace("-", "_").removeprefix(PREFIX.lower()), [setting.field for setting in SETTINGS])


def _raw(field: str, value: object) -> str | None:
    """A value as the environment would write it, for the same parsers; None for one of a kind that never fits."""
    if isinstance(value, list):
        if not _takes_list(field) or not all(isinstance(item, str | int) and _is_short(item) for item in value):
            return None
        return ",".join(_scalar(item) for item in value)
    return _scalar(value) if isinstance(value, str | int | float) and _is_short(value) else None


def _is_short(value: str | int | float) -> bool:
    return not isinstance(value, int) or abs(value) < _LARGEST


def _scalar(value: str | int | float) -> str:
    if isinstance(value, bool):
        return "on" if value else "off"
    return str(value)


def _takes_list(field: str) -> bool:
    return isinstance(getattr(_DEFAULTS, field), tuple | frozenset)


def _wanted(field: str) -> str:
    return "a list of text or whole numbers" if _takes_list(field) else "text, a number, true or false, in one value"


def _lines(text: str, table: Mapping[str, Any]) -> dict[str, int]:
    """The line on which each key stands."""
    found: dict[str, int] = {}
    lines = text.split("\n")
    for number, line in enumerate(lines, start=1):
        key = _KEY.match(line) or _TABLE.match(line)
        if key and key[1] in table and key[1] not in found and _is_outside(lines[: number - 1]):
            found[key[1]] = number
    return found


def _is_outside(before: list[str]) -> bool:
    """Whether what comes next begins a line of its own, and does not go on in a text of several lines."""
    import tomllib

    text = "\n".join(before)
    if '"""' not in text and "'''" not in text:
        return True
    try:
        tomllib.loads(text)
    except tomllib.TOMLDecodeError:
        return False
    return True


def template() -> str:
    """A file that sets nothing: each setting with what it is for and its default, as a comment."""
    head = (
        "# Settings of Keyhole. Take the # from a line and change its value; what the environment says\n"
        "# (KEYHOLE_MAX_CHARS and so on) wins over this file. `keyhole config` shows what is in force.\n"
    )
    return head + "".join(f"\n{_entry(setting.field, setting.unit, setting.reason)}" for setting in SETTINGS)


def _entry(field: str, unit: str, reason: str) -> str:
    about = textwrap.wrap(f"{unit}: {reason}", WIDTH, initial_indent="## ", subsequent_indent="## ")
    return "\n".join([*about, f"# {field} = {_toml(getattr(_DEFAULTS, field))}"]) + "\n"


def _toml(value: object) -> str:
    if isinstance(value, tuple | frozenset):
        items = value if isinstance(value, tuple) else sorted(value)
        return f"[{', '.join(_toml(item) for item in items)}]"
    if value is None or isinstance(value, str | Path):
        return json.dumps(str(value or ""), ensure_ascii=False)
    return str(value).lower() if isinstance(value, bool) else str(value)
