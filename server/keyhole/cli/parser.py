"""A parser of command lines that groups its commands, shows examples, and names the nearest to what is not known."""

from __future__ import annotations

import argparse
import re
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any, Final, NoReturn

from keyhole.text.suggest import meant

NAME_COLUMNS: Final = 14
"""Columns of a command's name in the list of commands."""
WORTH_NAMING: Final = 4
"""Choices named where nothing is near: a list of more is what --help is for."""
NEAR: Final = 0.5
"""How alike a word is that was probably meant: words of a command line are short, and one letter is much of them."""
_CHOICE: Final = re.compile(r"invalid choice: '(.*)' \(choose from (.*)\)")
_UNKNOWN: Final = "unrecognized arguments: "


class Parser(argparse.ArgumentParser):
    """argparse's, told more: `groups` are headings with the names of commands, in the order of the help."""

    def __init__(
        self, *, examples: Sequence[str] = (), groups: Mapping[str, Sequence[str]] = MappingProxyType({}), **given: Any
    ) -> None:
        if examples:
            given["epilog"] = "\n".join(["examples:", *(f"  {example}" for example in examples)])
        super().__init__(formatter_class=argparse.RawDescriptionHelpFormatter, **given)
        self._groups = groups

    def format_help(self) -> str:
        """argparse's help, but of commands in groups their list in these."""
        if not self._groups:
            return super().format_help()
        told = {action.dest: action.help or "" for action in self._commands()}
        grouped = {name for names in self._groups.values() for name in names}
        groups = {**self._groups, "more": [name for name in told if name not in grouped]}
        parts = [f"usage: {self.prog} COMMAND [options]", str(self.description)]
        for heading, names in groups.items():
            lines = [f"  {name:{NAME_COLUMNS}}{told[name]}" for name in names if name in told]
            parts += ["\n".join([f"{heading}:", *lines])] if lines else []
        return "\n\n".join([*parts, str(self.epilog)]) + "\n"

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:
        """Nothing is passed on to a parser above, which could not say what is near to it."""
        known, unknown = super().parse_known_args(args, namespace)
        if unknown:
            self.error(_UNKNOWN + " ".join(unknown))
        return known, unknown

    def error(self, message: str) -> NoReturn:
        """What is wrong in one line, what was probably meant, and where the help is; the exit code is 2."""
        usage = "" if self._groups or message.startswith(_UNKNOWN) else self.format_usage()
        self.exit(2, f"{usage}{self.prog}: {self._suggesting(message)}\nTry: {self.prog} --help\n")

    def _suggesting(self, message: str) -> str:
        if message.startswith(_UNKNOWN):
            unknown = message.removeprefix(_UNKNOWN)
            options = [option for action in self._actions for option in action.option_strings]
            return f"unknown: {unknown}" + meant(unknown.split()[0].split("=")[0], options, NEAR)
        if not (found := _CHOICE.search(message)):
            return message
        word, choices = found[1], re.findall(r"[^\s',]+", found[2])
        where = message[: found.start()].removeprefix("argument ").rstrip(": ")
        what = "command" if where == "COMMAND" else where
        if f"--{word}" in self._option_string_actions:  # `config init`, `help`
            return f"unknown {what} {word!r}; did you mean --{word}?"
        few = f"; it is one of {', '.join(choices)}" if len(choices) <= WORTH_NAMING else ""
        return f"unknown {what} {word!r}" + (meant(word, choices, NEAR) or few)

    def _commands(self) -> list[argparse.Action]:
        return [
            choice
            for action in self._actions
            if isinstance(action, argparse._SubParsersAction)
            for choice in action._get_subactions()
        ]
