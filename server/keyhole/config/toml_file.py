"""Parse the text of a settings file (TOML), and write a template of one."""

from __future__ import annotations

import json
import re
import textwrap
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from keyhole.config.config import PREFIX, REMOVED_SETTINGS, SETTINGS, Config, RawSetting, Setting
from keyhole.text.measure import clip
from keyhole.text.suggest import suggest_name

MAX_KEYS: Final = 2 * len(SETTINGS)
"""A file with more keys consists mostly of mistakes, and is reported with one message."""
_INTEGER_LIMIT: Final = 1 << 64
"""TOML integers have at most 64 bits. Python's parser accepts longer integers, which Python may refuse to print."""
MAX_NAME: Final = 64
"""Bytes of an unknown key that a message quotes."""
WIDTH: Final = 100
"""Columns of a comment in the template."""
_KEY: Final = re.compile(r"""[ \t]*["']?([A-Za-z0-9_-]+)["']?[ \t]*[=.]""")
_TABLE: Final = re.compile(r"""[ \t]*\[+[ \t]*["']?([A-Za-z0-9_-]+)""")
_DEFAULTS: Final = Config()


def parse_settings_file(text: str, name: str) -> tuple[dict[str, RawSetting], list[str]]:
    """Parse a settings file; return the raw settings by field, and a message for each fault.

    `name` is the file's name in messages.
    """
    import tomllib

    try:
        table = tomllib.loads(text)
    except ValueError as error:  # tomllib also raises it for an integer of thousands of digits
        return {}, [f"{name}: {str(error)[:1].lower()}{str(error)[1:]}"]
    except RecursionError:
        return {}, [f"{name}: values are nested too deeply"]
    if len(table) > MAX_KEYS:
        return {}, [f"{name}: has {len(table):,} keys, but there are only {len(SETTINGS)} settings"]
    fields = {setting.field for setting in SETTINGS}
    settings: dict[str, RawSetting] = {}
    faults = []
    lines = _line_numbers(text, table)
    for key, value in table.items():
        origin = f"{name}:{lines.get(key, 1)}"
        raw = _raw_value(key, value) if key in fields else None
        quoted = clip(key, MAX_NAME)
        if key in REMOVED_SETTINGS:
            settings[key] = RawSetting("", origin, f"{origin}: {key}")
        elif isinstance(value, dict):
            faults.append(f"{origin}: [{quoted}]: tables are not supported; write settings as `name = value` lines")
        elif key not in fields:
            faults.append(f"{origin}: unknown setting {quoted}{_suggest_field(key[:MAX_NAME])}")
        elif raw is None:
            faults.append(f"{origin}: {key}: must be {_expected_value(key)}")
        elif raw.strip():
            settings[key] = RawSetting(raw.strip(), origin, f"{origin}: {key}")
    return settings, faults


def _suggest_field(key: str) -> str:
    field = key.lower().replace("-", "_").removeprefix(PREFIX.lower())
    return suggest_name(field, [setting.field for setting in SETTINGS])


def _raw_value(field: str, value: object) -> str | None:
    """Return a value in the form of an environment variable, or None for a value of a wrong type."""
    if isinstance(value, list):
        if not _is_list_field(field) or not all(isinstance(item, str | int) and _is_short(item) for item in value):
            return None
        return ",".join(_raw_scalar(item) for item in value)
    return _raw_scalar(value) if isinstance(value, str | int | float) and _is_short(value) else None


def _is_short(value: str | int | float) -> bool:
    return not isinstance(value, int) or abs(value) < _INTEGER_LIMIT


def _raw_scalar(value: str | int | float) -> str:
    if isinstance(value, bool):
        return "on" if value else "off"
    return str(value)


def _is_list_field(field: str) -> bool:
    return isinstance(getattr(_DEFAULTS, field), tuple | frozenset)


def _expected_value(field: str) -> str:
    return "a list of strings or integers" if _is_list_field(field) else "a single string, number or boolean"


def _line_numbers(text: str, table: Mapping[str, Any]) -> dict[str, int]:
    """Return the line number of each key."""
    numbers: dict[str, int] = {}
    lines = text.split("\n")
    for number, line in enumerate(lines, start=1):
        match = _KEY.match(line) or _TABLE.match(line)
        if match and match[1] in table and match[1] not in numbers and _is_line_start(lines[: number - 1]):
            numbers[match[1]] = number
    return numbers


def _is_line_start(before: list[str]) -> bool:
    """Return True if the line after `before` is not inside a multi-line string."""
    import tomllib

    text = "\n".join(before)
    if '"""' not in text and "'''" not in text:
        return True
    try:
        tomllib.loads(text)
    except tomllib.TOMLDecodeError:
        return False
    return True


def settings_template() -> str:
    """Return a settings file in which every setting is a comment, with its description and default."""
    head = (
        "# Settings of Keyhole. To change a setting, remove the # from its line and edit the value. Environment\n"
        "# variables such as KEYHOLE_MAX_CHARS take precedence over this file. `keyhole config` shows the settings\n"
        "# in force.\n"
    )
    return head + "".join(f"\n{_template_entry(setting)}" for setting in SETTINGS)


def _template_entry(setting: Setting) -> str:
    description = f"{setting.unit}: {setting.description}"
    lines = textwrap.wrap(description, WIDTH, initial_indent="## ", subsequent_indent="## ")
    return "\n".join([*lines, f"# {setting.field} = {_format_toml(getattr(_DEFAULTS, setting.field))}"]) + "\n"


def _format_toml(value: object) -> str:
    if isinstance(value, tuple | frozenset):
        items = value if isinstance(value, tuple) else sorted(value)
        return f"[{', '.join(_format_toml(item) for item in items)}]"
    if value is None or isinstance(value, str | Path):
        return json.dumps(str(value or ""), ensure_ascii=False)
    return str(value).lower() if isinstance(value, bool) else str(value)
