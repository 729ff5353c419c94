"""Load the settings that a hook needs. Without a settings file, a few variables are read, in a fraction of the time."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Final, NamedTuple

from keyhole.config.folders import home_folder, is_required, settings_file

KEEP_OUTPUTS: Final = "KEYHOLE_KEEP_OUTPUTS"
RECORD: Final = "KEYHOLE_RECORD"
STORE: Final = "KEYHOLE_STORE"


class HookSettings(NamedTuple):
    """The home folder, whether outputs are stored there, and whether their calls are recorded.

    Only the store in the home folder adopts outputs from there. With another store, outputs are not stored.
    """

    home: str
    keeps_outputs: bool
    records: bool


def load_settings(environment: Mapping[str, str]) -> HookSettings:
    """Load the settings from the environment and the settings file. Raise KeyholeError (invalid_argument) for a fault.

    If there is a settings file, load all settings.
    """
    keep, record = (environment.get(name, "").strip().lower() for name in (KEEP_OUTPUTS, RECORD))
    is_plain = {keep, record} <= {"", "on", "off"} and not environment.get(STORE, "").strip()
    if not is_plain or _has_file(environment):
        return _load_all(environment)
    return HookSettings(home_folder(environment), keep != "off", record != "off")


def _has_file(environment: Mapping[str, str]) -> bool:
    """Return whether there is a settings file, or a variable names one."""
    path = settings_file(environment)
    return bool(path) and (is_required(environment) or os.path.exists(path))


def _load_all(environment: Mapping[str, str]) -> HookSettings:
    from keyhole.config.load import load_config
    from keyhole.store import home

    config = load_config(environment)
    keeps_outputs = config.keep_outputs == "on" and not config.store
    return HookSettings(str(home.home_folder(config.home)), keeps_outputs, config.record == "on")
