"""Read tables of words, phrases and rules from the data files beside the modules that use them.

A line that begins with `# ` is a comment. Files are in UTF-8.
"""

from __future__ import annotations

import os
from typing import Final

COMMENT: Final = "# "


def read_lines(module: str, name: str) -> list[str]:
    """Return the lines of a file beside a module, without comments and empty lines. `module`: its `__file__`."""
    with open(os.path.join(os.path.dirname(module), name), encoding="utf-8") as file:
        lines = file.read().split("\n")
    return [line for line in lines if line and not line.startswith(COMMENT)]


def read_sections(module: str, name: str) -> dict[str, str]:
    """Return the lines below each heading `[NAME]` of a file beside a module, by name."""
    sections: dict[str, list[str]] = {}
    lines: list[str] = []
    for line in read_lines(module, name):
        if line.startswith("[") and line.endswith("]"):
            lines = sections[line[1:-1]] = []
        else:
            lines.append(line)
    return {section: "\n".join(lines) for section, lines in sections.items()}
