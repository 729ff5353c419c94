"""One setting of the server: its variable, unit and reason, and how numbers are read. No setting is here."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

PREFIX = "KEYHOLE_"


@dataclass(frozen=True, slots=True)
class Setting:
    """One row of the settings table: the variable is `KEYHOLE_` and the upper-cased field name."""

    field: str
    unit: str
    reason: str
    parse: Callable[[str], Any]
    secret: bool = False  # whether its value is shown nowhere

    @property
    def variable(self) -> str:
        """The environment variable's name."""
        return PREFIX + self.field.upper()


def between(low: float, high: float, kind: type[int] | type[float]) -> Callable[[str], float]:
    def parse(raw: str) -> float:
        try:
            # 9,000 as in the README, but not 1,5: that comma may be a decimal one.
            plain = raw.replace(",", "") if re.fullmatch(r"[0-9]{1,3}(,[0-9]{3})+", raw) else raw
            value = kind(plain.replace("_", ""))
        except ValueError as error:
            raise ValueError("must be a whole number" if kind is int else "must be a number") from error
        if not low <= value <= high:
            raise ValueError(f"must be from {low:,} to {high:,}")
        return value

    return parse
