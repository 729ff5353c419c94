"""The Python API, commands, settings, codes and tools change only together with tests/public_surface.txt.

`python -m tests.test_public_surface > tests/public_surface.txt` writes the file anew. Its diff shows the changes that
users will see; one that breaks a call of theirs belongs in the changelog too.
"""

from __future__ import annotations

import argparse
import inspect
import json
from collections.abc import Iterator
from dataclasses import fields, is_dataclass
from pathlib import Path

import keyhole
from keyhole.cli.commands import build_parser
from keyhole.config.config import SETTINGS
from keyhole.errors import Code
from keyhole.retrieval.dispatch import ARGUMENTS, argument_schema

SURFACE = Path(__file__).with_name("public_surface.txt")


def list_api() -> Iterator[str]:
    """Yield each public name of the package with its signature or its fields and methods."""
    for name in sorted(keyhole.__all__):
        value = getattr(keyhole, name)
        if isinstance(value, type):
            own = [each.name for each in fields(value)] if is_dataclass(value) else list(value.__annotations__)
            methods = [each for each, member in vars(value).items() if callable(member) or isinstance(member, property)]
            yield f"{name}: {', '.join([*own, *(each for each in methods if not each.startswith('_'))])}"
        elif callable(value):  # `extract` may be a module that can be called; see keyhole/extract/__init__.py
            yield f"{name}{inspect.signature(value)}"


def list_commands(parser: argparse.ArgumentParser) -> Iterator[str]:
    """Yield each command with its arguments."""
    words = []
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            for command in action.choices.values():
                yield from list_commands(command)
        elif not isinstance(action, argparse._HelpAction):
            choices = f"={'|'.join(map(str, action.choices))}" if action.choices else ""
            words.append(f"{'/'.join(action.option_strings) or action.dest}{choices}")
    yield " ".join([parser.prog, *words])


def list_surface() -> Iterator[str]:
    """Yield the lines of the file."""
    yield from ("# Python", *list_api())
    yield from ("", "# Commands", *sorted(list_commands(build_parser())))
    yield from ("", "# Settings", *sorted(setting.variable for setting in SETTINGS))
    yield from ("", "# Codes", *sorted(Code))
    yield from ("", "# Tools", *(f"{name} {json.dumps(argument_schema(name))}" for name in ARGUMENTS))


def test_the_public_surface_is_that_of_the_file() -> None:
    assert list(list_surface()) == SURFACE.read_text(encoding="utf-8").splitlines()


if __name__ == "__main__":
    print("\n".join(list_surface()))
