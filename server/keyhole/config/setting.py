"""One setting: its name, unit, description and parser, as a field of the settings' dataclass."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Final

PREFIX: Final = "KEYHOLE_"
"""The beginning of the name of each setting's environment variable."""


@dataclass(frozen=True, slots=True)
class Setting:
    """One row of the table. Its variable is `KEYHOLE_` followed by the field's name in upper case."""

    field: str
    unit: str
    description: str
    parse: Callable[[str], Any]
    secret: bool
    """True if the value must not be shown."""

    @property
    def variable(self) -> str:
        """The name of the environment variable."""
        return PREFIX + self.field.upper()


def setting(default: Any, unit: str, description: str, parse: Callable[[str], Any], *, secret: bool = False) -> Any:
    """Return a field of `Config` that is a row of the table."""
    row = {"unit": unit, "description": description, "parse": parse, "secret": secret}
    return field(default=default, repr=not secret, metadata=row)
