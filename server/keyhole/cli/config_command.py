"""Run `keyhole config`: show the settings and their origins, check them, or write a settings file."""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path
from typing import Final

from keyhole.cli.build import load_engine_specs
from keyhole.cli.terminal import one_line, print_json
from keyhole.config.config import SETTINGS, Config
from keyhole.config.folders import FILE_VARIABLE
from keyhole.config.load import read_settings, settings_path, settings_warnings
from keyhole.config.toml_file import settings_template
from keyhole.errors import Code, KeyholeError

OK, WRONG = 0, 2
HIDDEN_VALUE: Final = "set"
"""Shown instead of a secret's value."""
DEFAULT: Final = "default"
"""Origin of a setting that is not set."""
VALUE_COLUMNS: Final = 44
"""Width of a value in the list; --json prints the complete value."""
FILE_MODE: Final = 0o600
"""Permissions of a new settings file, which may later contain keys."""


def run(_config: Config, arguments: argparse.Namespace) -> int:
    """Show, check or write the settings; return 2 if a setting is wrong."""
    path = settings_path(os.environ)
    if arguments.action == "path":
        print(path or f"{FILE_VARIABLE}=off: no file is read")
        return OK
    if arguments.init:
        return _write_template(path)
    config, faults = read_settings(os.environ)
    if arguments.check:
        faults = [*faults, *_engine_faults(config)]
        _print_check(config, path, faults)
    elif arguments.json:
        print_json(_json_facts(config, path, changed=arguments.changed))
    else:
        _print_settings(config, path, changed=arguments.changed)
    sys.stdout.flush()
    for message in [*settings_warnings(config), *faults]:  # after the list, to stay visible
        print(f"keyhole: {message}", file=sys.stderr)
    return WRONG if faults else OK


def _engine_faults(config: Config) -> list[str]:
    """Return the fault of the engine settings or the engines file, if any."""
    try:
        load_engine_specs(config)
    except KeyholeError as error:
        return [error.message]
    return []


def _write_template(path: Path | None) -> int:
    if path is None:
        raise KeyholeError(Code.INVALID_ARGUMENT, f"{FILE_VARIABLE} is off, so no file would be read")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("x", encoding="utf-8") as file:
            path.chmod(FILE_MODE)
            file.write(settings_template())
    except FileExistsError as error:
        raise KeyholeError(Code.INVALID_ARGUMENT, f"{path} already exists and was not changed") from error
    except OSError as error:
        raise KeyholeError(Code.INVALID_ARGUMENT, f"cannot write {path}: {error.strerror}") from error
    print(path)
    return OK


def _print_check(config: Config, path: Path | None, faults: list[str]) -> None:
    variables = {setting.variable for setting in SETTINGS}
    from_environment = sum(origin in variables for origin in config.origins.values())
    from_file = len(config.origins) - from_environment
    result = f"{len(faults)} wrong" if faults else "no errors"
    print(f"{from_environment} settings from the environment, {from_file} from {_describe_path(path)}; {result}.")


def _describe_path(path: Path | None) -> str:
    if path is None:
        return f"no file ({FILE_VARIABLE}=off)"
    return str(path) if path.exists() else f"{path} (does not exist)"


def _print_settings(config: Config, path: Path | None, *, changed: bool) -> None:
    rows = [(name, value, origin) for name, value, origin in _rows(config) if not changed or origin != DEFAULT]
    width = max((len(name) for name, _, _ in rows), default=0)
    hint = "" if changed or path is None or path.exists() else "; keyhole config --init creates it"
    for name, value, origin in rows:
        print(f"{name:{width}}  {one_line(value, VALUE_COLUMNS):{VALUE_COLUMNS}}  {origin}")
    print(f"{'' if rows else 'All settings have their defaults. '}File: {_describe_path(path)}{hint}")


def _rows(config: Config) -> list[tuple[str, str, str]]:
    return [
        (
            each.field,
            _format_value(getattr(config, each.field), secret=each.secret),
            config.origins.get(each.field, DEFAULT),
        )
        for each in SETTINGS
    ]


def _format_value(value: object, *, secret: bool) -> str:
    if value is None or value in ("", (), frozenset()):
        return "-"
    if secret:
        return HIDDEN_VALUE
    if isinstance(value, tuple | frozenset):
        items = value if isinstance(value, tuple) else sorted(value)
        return ", ".join(map(str, items))
    if isinstance(value, bool):
        return "on" if value else "off"
    return f"{value:g}" if isinstance(value, float) else str(value)


def _json_facts(config: Config, path: Path | None, *, changed: bool) -> dict[str, object]:
    settings = {
        each.field: {
            "value": _json_value(getattr(config, each.field), secret=each.secret),
            "from": config.origins.get(each.field, DEFAULT),
            "variable": each.variable,
        }
        for each in SETTINGS
        if not changed or each.field in config.origins
    }
    return {"file": str(path) if path else None, "exists": bool(path and path.exists()), "settings": settings}


def _json_value(value: object, *, secret: bool) -> object:
    if secret:
        return HIDDEN_VALUE if value else ""
    if isinstance(value, tuple | frozenset):
        return list(value) if isinstance(value, tuple) else sorted(value)
    return str(value) if isinstance(value, Path) else value
