"""`keyhole config`: what is set, where that is from, and whether it is right. Writes the template, and nothing else."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Final

from keyhole.cli.table import one_line, print_json
from keyhole.config.config import Config
from keyhole.config.load import exposed, looked_at, path_of
from keyhole.config.schema import FILE_VARIABLE, SETTINGS
from keyhole.config.toml_file import template
from keyhole.errors import Code, KeyholeError

OK, WRONG = 0, 2
SET: Final = "set"
"""What is said of a secret."""
DEFAULT: Final = "default"
VALUE: Final = 44
"""Columns of a value in the list, which --json has whole."""
OPEN_MODE: Final = 0o600
"""Of the template, which may come to hold keys."""


def run(environment: Mapping[str, str], arguments: argparse.Namespace, further: Callable[[Config], None]) -> int:
    """Do what was asked; 2 where a setting is wrong. `further` raises for what is wrong behind the settings, such as in
    the file of engines that one of them names."""
    path = path_of(environment)
    if arguments.action == "path":
        print(path or f"{FILE_VARIABLE}=off: no file is read")
        return OK
    if arguments.init:
        return _init(path)
    config, faults = looked_at(environment)
    try:
        if arguments.check:
            further(config)
    except KeyholeError as error:
        faults = [*faults, error.message]
    if arguments.check:
        _check(config, path, faults)
    elif arguments.json:
        print_json(_facts(config, path, changed=arguments.changed))
    else:
        _show(config, path, changed=arguments.changed)
    sys.stdout.flush()
    for fault in faults:  # last, so that no list scrolls it away
        print(f"keyhole: {fault}", file=sys.stderr)
    return WRONG if faults else OK


def _init(path: Path | None) -> int:
    if path is None:
        raise KeyholeError(Code.INVALID_ARGUMENT, f"{FILE_VARIABLE} is off, so no file would be read")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("x", encoding="utf-8") as file:
            path.chmod(OPEN_MODE)
            file.write(template())
    except FileExistsError as error:
        raise KeyholeError(Code.INVALID_ARGUMENT, f"{path} is there already and is left as it is") from error
    except OSError as error:
        raise KeyholeError(Code.INVALID_ARGUMENT, f"{path} cannot be written: {error.strerror}") from error
    print(path)
    return OK


def _check(config: Config, path: Path | None, faults: list[str]) -> None:
    for line in exposed(config):
        print(f"keyhole: {line}", file=sys.stderr)
    variables = {setting.variable for setting in SETTINGS}
    from_environment = sum(origin in variables for origin in config.origins.values())
    from_file = len(config.origins) - from_environment
    wrong = f"{len(faults)} wrong" if faults else "nothing is wrong"
    print(f"{from_environment} settings from the environment, {from_file} from {_where(path)}; {wrong}.")


def _where(path: Path | None) -> str:
    if path is None:
        return f"no file ({FILE_VARIABLE}=off)"
    return str(path) if path.exists() else f"{path} (not there)"


def _show(config: Config, path: Path | None, *, changed: bool) -> None:
    rows = [(name, told, origin) for name, told, origin in _rows(config) if not changed or origin != DEFAULT]
    width = max((len(name) for name, _, _ in rows), default=0)
    begin = "" if changed or path is None or path.exists() else "; keyhole config --init begins it"
    for name, told, origin in rows:
        print(f"{name:{width}}  {one_line(told, VALUE):{VALUE}}  {origin}")
    print(f"{'' if rows else 'All settings have their defaults. '}File: {_where(path)}{begin}")


def _rows(config: Config) -> list[tuple[str, str, str]]:
    return [
        (each.field, _told(getattr(config, each.field), secret=each.secret), config.origins.get(each.field, DEFAULT))
        for each in SETTINGS
    ]


def _told(value: object, *, secret: bool) -> str:
    if value is None or value in ("", (), frozenset()):
        return "-"
    if secret:
        return SET
    if isinstance(value, tuple | frozenset):
        items = value if isinstance(value, tuple) else sorted(value)
        return ", ".join(map(str, items))
    if isinstance(value, bool):
        return "on" if value else "off"
    return f"{value:g}" if isinstance(value, float) else str(value)


def _facts(config: Config, path: Path | None, *, changed: bool) -> dict[str, object]:
    settings = {
        each.field: {
            "value": _plain(getattr(config, each.field), secret=each.secret),
            "from": config.origins.get(each.field, DEFAULT),
            "variable": each.variable,
        }
        for each in SETTINGS
        if not changed or each.field in config.origins
    }
    return {"file": str(path) if path else None, "exists": bool(path and path.exists()), "settings": settings}


def _plain(value: object, *, secret: bool) -> object:
    if secret:
        return SET if value else ""
    if isinstance(value, tuple | frozenset):
        return list(value) if isinstance(value, tuple) else sorted(value)
    return str(value) if isinstance(value, Path) else value
