"""Compile a regular expression when it is first used.

A hook starts at each tool call of a client and uses a few of the many patterns in the modules that it imports.
"""

from __future__ import annotations

import re
from typing import Any, cast


class LazyPattern:
    """A pattern that is compiled by the first use of a method. Each method is looked up once."""

    def __init__(self, pattern: str, flags: int) -> None:
        self.arguments = (pattern, flags)

    def __getattr__(self, name: str) -> Any:
        value = getattr(re.compile(*self.arguments), name)  # `re` caches the compiled pattern
        setattr(self, name, value)
        return value


def lazy_pattern(pattern: str, flags: int = 0) -> re.Pattern[str]:
    """Return a pattern that is compiled when one of its methods is first used."""
    return cast("re.Pattern[str]", LazyPattern(pattern, flags))
