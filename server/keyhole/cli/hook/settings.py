"""Load the settings that a hook needs. Without a settings file, a few variables are read, in a fraction of the time."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from typing import Final, NamedTuple

FILE: Final = "KEYHOLE_CONFIG"
HOME: Final = "KEYHOLE_HOME"
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

    If there is a settings file, or this is not Linux, load all settings: this module knows only Linux's folders.
    """
    keep, record = (environment.get(name, "").strip().lower() for name in (KEEP_OUTPUTS, RECORD))
    is_plain = {keep, record} <= {"", "on", "off"} and not environment.get(STORE, "").strip()
    if sys.platform != "linux" or not is_plain or _has_file(environment):
        return _load_all(environment)
    home = environment.get(HOME, "").strip()
    folder = os.path.expanduser(home) if home else _xdg_folder(environment, "XDG_DATA_HOME", "~/.local/share")
    return HookSettings(folder, keep != "off", record != "off")


def _has_file(environment: Mapping[str, str]) -> bool:
    """Return whether there is a settings file, or a variable names one."""
    if name := environment.get(FILE, "").strip():
        return name.lower() != "off"
    return os.path.exists(f"{_xdg_folder(environment, 'XDG_CONFIG_HOME', '~/.config')}/config.toml")


def _xdg_folder(environment: Mapping[str, str], variable: str, default: str) -> str:
    """Return Keyhole's folder of the XDG base directory specification, as platformdirs does."""
    folder = environment.get(variable, "").strip()
    return f"{folder or os.path.expanduser(default)}/keyhole"


def _load_all(environment: Mapping[str, str]) -> HookSettings:
    from keyhole.config.load import load_config
    from keyhole.store.home import home_folder

    config = load_config(environment)
    keeps_outputs = config.keep_outputs == "on" and not config.store
    return HookSettings(str(home_folder(config.home)), keeps_outputs, config.record == "on")
