"""Parse arguments: the parser of all commands, and the arguments of the servers."""

from __future__ import annotations

import argparse
import re
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any, Final, NoReturn

from keyhole.text.suggest import suggest_name

# A parser with grouped commands, examples, and suggestions for misspelt words.

NAME_COLUMNS: Final = 14
"""Width of a command's name in the list of commands, in columns."""
MAX_LISTED_CHOICES: Final = 4
"""Greatest number of choices that an error without a suggestion lists; --help lists longer sets."""
SUGGESTION_CUTOFF: Final = 0.5
"""Least similarity of a suggestion, from 0 to 1. It is low, because words of a command line are short."""
_CHOICE: Final = "invalid choice: '"
_UNKNOWN: Final = "unrecognized arguments: "


class Parser(argparse.ArgumentParser):
    """argparse's parser with examples and groups. `groups`: the commands below each heading of the help."""

    usage_status = 2
    """The exit code for wrong arguments."""

    def __init__(
        self,
        *,
        examples: Sequence[str] = (),
        groups: Mapping[str, Sequence[str]] = MappingProxyType({}),
        **options: Any,
    ) -> None:
        if examples:
            options["epilog"] = "\n".join(["examples:", *(f"  {example}" for example in examples)])
        super().__init__(formatter_class=argparse.RawDescriptionHelpFormatter, **options)
        self._groups = groups

    def format_help(self) -> str:
        """Return the help, with the commands listed in their groups."""
        if not self._groups:
            return super().format_help()
        helps = {action.dest: action.help or "" for action in self._commands()}
        grouped = {name for names in self._groups.values() for name in names}
        groups = {**self._groups, "more": [name for name in helps if name not in grouped]}
        parts = [f"usage: {self.prog} COMMAND [options]", str(self.description)]
        for heading, names in groups.items():
            lines = [f"  {name:{NAME_COLUMNS}}{helps[name]}" for name in names if name in helps]
            parts += ["\n".join([f"{heading}:", *lines])] if lines else []
        return "\n\n".join([*parts, str(self.epilog)]) + "\n"

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:
        """Reject unknown arguments here, because the parent parser cannot suggest a command's own options."""
        known, unknown = super().parse_known_args(args, namespace)
        if unknown:
            self.error(_UNKNOWN + " ".join(unknown))
        return known, unknown

    def error(self, message: str) -> NoReturn:
        """Print the error with a suggestion and the help command, and exit with `usage_status`."""
        usage = "" if self._groups or message.startswith(_UNKNOWN) else self.format_usage()
        self.exit(self.usage_status, f"{usage}{self.prog}: {self._with_suggestion(message)}\nTry: {self.prog} --help\n")

    def _with_suggestion(self, message: str) -> str:
        if message.startswith(_UNKNOWN):
            unknown = message.removeprefix(_UNKNOWN)
            options = [option for action in self._actions for option in action.option_strings]
            return f"unknown: {unknown}" + suggest_name(unknown.split()[0].split("=")[0], options, SUGGESTION_CUTOFF)
        argument, _, choice = message.partition(_CHOICE)
        word, separator, listed = choice.rpartition("' (choose from ")
        if not separator:
            return message
        choices = re.findall(r"[^\s',]+", listed.removesuffix(")"))
        argument = argument.removeprefix("argument ").rstrip(": ")
        kind = "command" if argument == "COMMAND" else argument
        if f"--{word}" in self._option_string_actions:  # `config init`, `help`
            return f"unknown {kind} {word!r}; did you mean --{word}?"
        listed = f"; choose from {', '.join(choices)}" if len(choices) <= MAX_LISTED_CHOICES else ""
        return f"unknown {kind} {word!r}" + (suggest_name(word, choices, SUGGESTION_CUTOFF) or listed)

    def _commands(self) -> list[argparse.Action]:
        return [
            choice
            for action in self._actions
            if isinstance(action, argparse._SubParsersAction)
            for choice in action._get_subactions()
        ]


def add_command(commands: Any, name: str, help: str, *examples: str, json: bool = True) -> Parser:
    """Add a command and return its parser. `json`: True if the command has the option --json."""
    parser: Parser = commands.add_parser(
        name, help=help, description=f"{help[:1].upper()}{help[1:]}.", examples=examples
    )
    if json:
        parser.add_argument("--json", action="store_true", help="print JSON, for programs")
    return parser


# The arguments of `keyhole serve`, `keyhole server` and other commands that serve.

LOOPBACK: Final = "127.0.0.1"
DEFAULT_PORT: Final = 8765
MAX_PROCESSES: Final = 64
"""More processes than machines have processors for one server; each takes about 70 MB."""


def add_serve(commands: Any) -> None:
    """Add `keyhole serve`."""
    serve = add_command(
        commands, "serve", "serve MCP over stdio, or over HTTP", "keyhole serve", "keyhole serve --http --port 8765",
        "keyhole serve --http --processes 4",
        json=False,
    )  # fmt: skip
    add_http(serve)
    serve.add_argument(
        "--processes",
        type=_count,
        default=1,
        metavar="N",
        help="processes that serve the port, without sessions, to use N processors; default 1",
    )


def _count(text: str) -> int:
    """Return a number of processes."""
    if not text.isdecimal() or not 1 <= int(text) <= MAX_PROCESSES:
        raise argparse.ArgumentTypeError(f"must be from 1 to {MAX_PROCESSES}")
    return int(text)


def add_http(parser: Parser) -> None:
    """Add the options of a server over HTTP."""
    parser.add_argument(
        "--http", action="store_true", help="serve streamable HTTP at http://127.0.0.1:PORT/mcp instead of stdio"
    )
    parser.add_argument(
        "--host",
        default=LOOPBACK,
        help=f"address to listen on, default {LOOPBACK}; other addresses need KEYHOLE_ALLOWED_HOSTS and authentication",
    )
    parser.add_argument("--port", type=int, default=DEFAULT_PORT, help=f"port to listen on, default {DEFAULT_PORT}")


def add_server(commands: Any) -> None:
    """Add `keyhole server`."""
    server = add_command(
        commands, "server", "show or stop the servers that your clients share",
        "keyhole server status", "keyhole server stop",
    )  # fmt: skip
    server.add_argument(
        "action",
        choices=("status", "stop", "run"),
        help="status: show the servers and their clients; stop: end them, until a client calls again; run: serve, as "
        "clients start it",
    )
