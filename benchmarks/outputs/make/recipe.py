"""Describe how an output is made: the program, its folder and what is changed before it runs."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

KINDS = (
    "command-log", "tests", "compiler", "trace", "diff", "grep", "listing", "source", "json", "jsonl", "csv", "html",
    "opaque",
)  # fmt: skip
"""Kinds of outputs. `html` also covers Markdown, manual pages and help texts."""


@dataclass(frozen=True)
class Recipe:
    """One output: the command that prints it, run by bash in a fresh copy of `base`.

    `id`: program and case, such as "pytest/toolz-merge".
    `base`: a source package of PyPI, a folder of `projects`, "npm" for the installed npm packages, "old" for older
    packages, or "empty".
    `prepare`: a command that changes the copy before, for example to put in a mistake. Its output is not kept.
    """

    id: str
    kind: str
    base: str
    command: str
    prepare: str = ""


def load_recipes() -> list[Recipe]:
    """Return the recipes in the order of the file."""
    path = Path(__file__).with_name("recipes.jsonl")
    return [Recipe(**json.loads(line)) for line in path.read_text(encoding="utf-8").splitlines()]
