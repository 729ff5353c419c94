"""Load the settings from environment variables and the settings file."""

from __future__ import annotations

import logging
import os
import stat
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final

from keyhole.config.config import PREFIX, REMOVED_SETTINGS, SETTINGS, Config, RawSetting
from keyhole.config.folders import FILE_VARIABLE, is_required, settings_file
from keyhole.errors import Code, KeyholeError
from keyhole.text.suggest import suggest_name

# The values of variables and of a file.

NO_SETTINGS: Mapping[str, RawSetting] = MappingProxyType({})


def parse_config(environment: Mapping[str, str], file: Mapping[str, RawSetting] = NO_SETTINGS) -> Config:
    """Parse the `KEYHOLE_*` variables, which take precedence, and the settings of a file (see toml_file.py).

    Raises KeyholeError (invalid_argument) for an invalid value, and for an unknown variable, with the nearest known
    name.
    """
    config, faults = parse_settings(environment, file)
    if faults:
        raise KeyholeError(Code.INVALID_ARGUMENT, faults[0])
    return config


def parse_settings(
    environment: Mapping[str, str], file: Mapping[str, RawSetting] = NO_SETTINGS
) -> tuple[Config, list[str]]:
    """Parse like `parse_config`, but return a Config of the valid settings, and a message for each fault."""
    fields = {setting.variable: setting.field for setting in SETTINGS}
    removed = {PREFIX + field.upper(): field for field in REMOVED_SETTINGS}
    settings, faults = dict(file), []
    for name in sorted(environment):
        if known := fields.get(name) or removed.get(name):
            if raw := environment[name].strip():
                settings[known] = RawSetting(raw, name, name)
        elif name.startswith(PREFIX) and name != FILE_VARIABLE:
            faults.append(f"unknown setting {name}{suggest_name(name, [*fields, FILE_VARIABLE])}")
    values: dict[str, Any] = {}
    for setting in SETTINGS:
        if (value := settings.get(setting.field)) is None:
            continue
        try:
            values[setting.field] = setting.parse(value.raw)
        except ValueError as error:
            quoted = "" if setting.secret else f"={value.raw!r}"
            faults.append(f"{value.label}{quoted}: {error}")
    warnings = tuple(
        f"{settings[field].label} has no effect any more: {reason}"
        for field, reason in REMOVED_SETTINGS.items()
        if field in settings
    )
    return Config(**values, origins={name: settings[name].origin for name in values}, warnings=warnings), faults


# The settings file, and what a user has to know about it.

log = logging.getLogger(__name__)

MAX_BYTES: Final = 100_000
"""Size limit of a settings file. The template with all settings has less than a tenth of it."""


def load_config(environment: Mapping[str, str], body: bytes | None = None) -> Config:
    """Load the settings, from the content of their file (`body`) if it was read.

    Raises KeyholeError (invalid_argument) for the first fault.
    """
    config, faults = read_settings(environment, body)
    if faults:
        raise KeyholeError(Code.INVALID_ARGUMENT, faults[0])
    return config


def read_settings(environment: Mapping[str, str], body: bytes | None = None) -> tuple[Config, list[str]]:
    """Load like `load_config`, but return a Config of the valid settings, and a message for each fault."""
    path = settings_path(environment)
    try:
        text = _read_text(path, body, is_required=is_required(environment)) if path else None
    except KeyholeError as error:
        return parse_settings(environment)[0], [error.message]
    if path is None or text is None:
        return parse_settings(environment)
    from keyhole.config.toml_file import parse_settings_file

    file, file_faults = parse_settings_file(text, str(path))
    config, faults = parse_settings(environment, file)
    return config, [*file_faults, *faults]


def settings_path(environment: Mapping[str, str]) -> Path | None:
    """Return the path of the settings file, which may not exist, or None if it is disabled."""
    path = settings_file(environment)
    return Path(path) if path else None


def log_warnings(config: Config) -> None:
    """Log the warnings of `settings_warnings`."""
    for warning in settings_warnings(config):
        log.warning("%s", warning)


def settings_warnings(config: Config) -> list[str]:
    """Return a warning for each removed setting, and for a settings file with a key that other users can read."""
    return [*config.warnings, *_exposed_file_warnings(config)]


def _exposed_file_warnings(config: Config) -> list[str]:
    variables = {setting.variable for setting in SETTINGS}
    origins = {config.origins[each.field] for each in SETTINGS if each.secret and each.field in config.origins}
    paths = sorted({Path(origin.rpartition(":")[0]) for origin in origins - variables})
    return [
        f"{path} contains a key and other users can read it; run chmod 600 on it"
        for path in paths
        if os.name == "posix" and stat.S_IMODE(path.stat().st_mode) & 0o044
    ]


def _read_text(path: Path, body: bytes | None, *, is_required: bool) -> str | None:
    """Return the text of the settings file, or None if it does not exist and is not required.

    Raises KeyholeError (invalid_argument).
    """
    try:
        if body is None:
            with path.open("rb") as file:
                body = file.read(MAX_BYTES + 1)
        if len(body) > MAX_BYTES:
            raise KeyholeError(Code.INVALID_ARGUMENT, f"{path} is larger than {MAX_BYTES:,} bytes")
        return body.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise KeyholeError(Code.INVALID_ARGUMENT, f"{path} is not UTF-8 (at byte {error.start})") from error
    except FileNotFoundError as error:
        if not is_required:
            return None
        message = f"the settings file that {FILE_VARIABLE} names does not exist: {path}"
        raise KeyholeError(Code.INVALID_ARGUMENT, message) from error
    except OSError as error:
        message = f"the settings file cannot be read: {path}: {error.strerror}"
        raise KeyholeError(Code.INVALID_ARGUMENT, message) from error
