"""Find Keyhole's folders and its settings file. Importing this module takes no time, because hooks import it."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping

HOME_VARIABLE = "KEYHOLE_HOME"
FILE_VARIABLE = "KEYHOLE_CONFIG"
"""The variable with the path of the settings file. It is not a setting: the file cannot contain its own path."""
OFF = "off"
"""The value of FILE_VARIABLE that disables the settings file."""
FILE_NAME = "config.toml"

_APPLICATION_SUPPORT = "~/Library/Application Support"
_DEFAULTS = {
    "linux": {"XDG_DATA_HOME": "~/.local/share", "XDG_CONFIG_HOME": "~/.config"},
    "darwin": {"XDG_DATA_HOME": _APPLICATION_SUPPORT, "XDG_CONFIG_HOME": _APPLICATION_SUPPORT},
}
"""The same folders as those of platformdirs. Importing platformdirs takes longer than the rest of a hook's start."""


def working_folder() -> str:
    """Return the working folder, "" if it was removed."""
    try:
        return os.getcwd()
    except OSError:
        return ""


def home_folder(environment: Mapping[str, str]) -> str:
    """Return the folder that HOME_VARIABLE names, or the default; a settings file may name another one."""
    home = environment.get(HOME_VARIABLE, "").strip()
    return os.path.expanduser(home) if home else default_home(environment)


def default_home(environment: Mapping[str, str]) -> str:
    """Return the platform's user data folder for Keyhole."""
    return _user_folder(environment, "XDG_DATA_HOME")


def settings_file(environment: Mapping[str, str]) -> str:
    """Return the path of the settings file, which may not exist; "" if it is disabled."""
    name = environment.get(FILE_VARIABLE, "").strip()
    if name.lower() == OFF:
        return ""
    return os.path.expanduser(name) if name else f"{_user_folder(environment, 'XDG_CONFIG_HOME')}/{FILE_NAME}"


def is_required(environment: Mapping[str, str]) -> bool:
    """Return whether a variable names the settings file, which then has to exist."""
    return bool(environment.get(FILE_VARIABLE, "").strip())


def _user_folder(environment: Mapping[str, str], variable: str) -> str:
    """Return Keyhole's folder below an XDG base directory, or the platform's own folder."""
    if folder := environment.get(variable, "").strip():
        return f"{folder}/keyhole"
    if sys.platform in _DEFAULTS:
        return f"{os.path.expanduser(_DEFAULTS[sys.platform][variable])}/keyhole"
    from platformdirs import user_config_path, user_data_path

    find = user_data_path if variable == "XDG_DATA_HOME" else user_config_path
    return str(find("keyhole", appauthor=False))
