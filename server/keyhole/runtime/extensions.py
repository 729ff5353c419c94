"""Find the extensions of the package. The core does not import extensions.

An extension is a package `keyhole.extensions.NAME`, whose value `EXTENSION` registers commands, checks and a port.
Functions are named as "module:function", so that no module of an extension is imported before it is used.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from importlib import import_module
from typing import Any, Final, NamedTuple

# Registrations.

NAMES: Final = ("browser", "conversations", "hosted", "install", "look", "models", "proxy")
"""The extensions that have commands or checks. Every command of `keyhole` imports their registrations."""
PORT_NAMES: Final = ("dead_links", "documents", "engines", "images", "postgresql", "site_apis")
"""The extensions that only have a port."""


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
    """The commands, checks and port that an extension registers."""

    commands: Mapping[str, Command] = field(default_factory=dict)
    """Commands of `keyhole` by name."""
    checks: Mapping[str, str] = field(default_factory=dict)
    """Checks of `keyhole doctor` by the area of their findings: functions of the settings that return findings."""
    port: str = ""
    """The function or class that returns the extension's implementation of its port. "": it has no port."""


def find_extension(name: str) -> Extension:
    """Return the registration of an extension."""
    extension: Extension = import_module(f"keyhole.extensions.{name}").EXTENSION
    return extension


def find_extensions() -> Iterator[Extension]:
    """Yield the registration of each extension that has commands or checks."""
    yield from map(find_extension, NAMES)


def load_function(name: str) -> Any:
    """Return the function "module:function"."""
    module, _, function = name.partition(":")
    return getattr(import_module(module), function)


def open_port(name: str, *arguments: Any) -> Any:
    """Return an extension's implementation of its port. `arguments`: those that its `Extension.port` takes."""
    return load_function(find_extension(name).port)(*arguments)


# The names that `keyhole install --wrap` writes into a client's configuration and the proxy reads there.

URL_PREFIX: Final = "env:"
"""Prefix of a `--url` that names an environment variable with the URL."""


def header_variable(name: str) -> str:
    """Return the environment variable with a header's value. It is read if only the header's name is given."""
    return f"HEADER_{re.sub('[^0-9A-Za-z]', '_', name).upper()}"
