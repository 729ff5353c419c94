"""Parse the settings from environment variables and a settings file."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

from keyhole.config.config import REMOVED_SETTINGS, SETTINGS, Config
from keyhole.config.folders import FILE_VARIABLE
from keyhole.config.setting import PREFIX
from keyhole.errors import Code, KeyholeError
from keyhole.text.suggest import suggest_name


@dataclass(frozen=True, slots=True)
class RawSetting:
    """The unparsed value of one setting, with its origin."""

    raw: str = field(repr=False)
    origin: str
    """The variable, such as `KEYHOLE_HOME`, or the file and line."""
    label: str
    """The beginning of a message about the value: its origin and the setting's name."""


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
