"""Find the extensions, which the core does not import: each says in one value what it adds.

An extension is a package `keyhole.extensions.NAME` with a value `EXTENSION`. Its functions are named as
"module:function", so that nothing of it is imported before it is used.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from importlib import import_module
from typing import Any, Final, NamedTuple

NAMES: Final = ("browser", "conversations", "hosted", "install", "look", "models", "postgresql", "proxy")
"""The extensions of this distribution."""


class Command(NamedTuple):
    """A command of an extension."""

    add: str
    """The function that adds the command to the parser's commands."""
    module: str
    """The module whose `run(config, arguments)` returns the exit code."""
    needs_settings: bool = True
    """False for a command that gets the default settings, so that it works even if a setting is wrong."""


@dataclass(frozen=True, slots=True)
class Extension:
    """What an extension adds to the core."""

    commands: Mapping[str, Command] = field(default_factory=dict)
    """Commands of `keyhole` by name."""
    checks: Mapping[str, str] = field(default_factory=dict)
    """Checks of `keyhole doctor` by the name of what they check: functions of the settings that return findings."""
    port: str = ""
    """The function that opens the extension's implementation of a port, None if the settings do not ask for it."""


def find_extension(name: str) -> Extension:
    """Return what an extension adds."""
    extension: Extension = import_module(f"keyhole.extensions.{name}").EXTENSION
    return extension


def find_extensions() -> Iterator[Extension]:
    """Yield what each extension adds."""
    yield from map(find_extension, NAMES)


def load_function(name: str) -> Any:
    """Return the function "module:function"."""
    module, _, function = name.partition(":")
    return getattr(import_module(module), function)


def open_port(name: str, *arguments: Any) -> Any:
    """Return an extension's implementation of its port, None if the settings do not ask for it."""
    return load_function(find_extension(name).port)(*arguments)
