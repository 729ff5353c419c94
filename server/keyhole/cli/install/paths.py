"""Where each platform keeps the files of its programs. Paths are values here; nothing is opened."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Machine:
    """What a client's path depends on. `platform`: as sys.platform says it."""

    platform: str
    home: Path
    project: Path
    environment: Mapping[str, str]

    def set(self, variable: str, otherwise: Path) -> Path:
        """The folder that a variable names, or another."""
        value = self.environment.get(variable, "").strip()
        return Path(value) if value else otherwise


def settings(machine: Machine) -> Path:
    """Where programs of the desktop keep their settings."""
    if machine.platform == "darwin":
        return machine.home / "Library" / "Application Support"
    return roaming(machine) if machine.platform == "win32" else dot_config(machine)


def roaming(machine: Machine) -> Path:
    """The folder of Windows for the same."""
    return machine.set("APPDATA", machine.home / "AppData" / "Roaming")


def dot_config(machine: Machine) -> Path:
    """The folder of programs that keep to the desktop standard of Linux wherever they run."""
    return machine.set("XDG_CONFIG_HOME", machine.home / ".config")
