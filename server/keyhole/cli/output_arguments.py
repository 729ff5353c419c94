"""The arguments of the commands that bound an output: `keyhole bound` and `keyhole run`."""

from __future__ import annotations

from argparse import REMAINDER, ArgumentTypeError
from typing import Any, Final

from keyhole.cli.parser import Parser

DEFAULT_BOUND_CHARS: Final = 4_000
OUTPUT_KINDS: Final = (
    "test", "compiler", "trace", "log", "diff", "grep", "listing", "source", "json", "jsonl", "yaml", "xml", "csv",
    "page", "markdown", "opaque", "text",
)  # fmt: skip

MAX_SECONDS: Final = 1e9
"""Greatest time limit of a command: 31 years, within the range of select(2)."""

RUN_DESCRIPTION: Final = """\
Run a command, keep all that it prints to stdout and stderr, and print the important lines of it when it has ended. The
command reads the standard input and gets the signals that this process gets.
Processes that the command leaves running go on; what they print later is stored when they have ended.
Exit codes: that of the command, or the signal that ended it; 124 at --timeout; 126 not executable; 127 not found."""
SHELL_DESCRIPTION: Final = """\
Run a script in place of the shell that starts this command with `exec`, in a shell that was started alike, and print
the important lines of its output as `keyhole run` does. In a terminal, run the shell alone. The hook of Codex writes
this command; $KEYHOLE_SHELL_ENVIRONMENT has the environment in which the first shell was started.
Exit codes: those of `keyhole run`."""


def add_bound(commands: Any) -> None:
    """Add `keyhole bound` to the parser's commands."""
    bound = _add_command(
        commands, "bound", "print the important lines of a command's output and store the whole output",
        "pytest 2>&1 | keyhole bound --of pytest", "keyhole bound build.log --query 'linker error' --budget 2000",
    )  # fmt: skip
    bound.add_argument("file", nargs="?", default="-", help="a file, or - for standard input, which is the default")
    _add_options(bound)
    bound.add_argument("--of", default="", metavar="COMMAND", help="the command line that printed the output")
    bound.add_argument("--exit", type=int, metavar="N", help="the exit status of that command")


def add_run(commands: Any) -> None:
    """Add `keyhole run` to the parser's commands."""
    run = _add_command(
        commands, "run", "run a command, and print the important lines of its output at the end",
        "keyhole run -- pytest -x", "keyhole run --query 'linker error' --timeout 600 -- make -j8",
    )  # fmt: skip
    run.description = RUN_DESCRIPTION
    _add_options(run)
    run.add_argument("--timeout", type=_seconds, metavar="S", help="end the command after S seconds")
    run.add_argument("words", nargs=REMAINDER, metavar="-- COMMAND", help="the command and its arguments")


def add_shell(commands: Any) -> None:
    """Add `keyhole shell` to the parser's commands."""
    shell = commands.add_parser(
        "shell", help="run a script in place of a shell, and print the important lines of its output",
        description=SHELL_DESCRIPTION, examples=("keyhole shell /bin/bash '' 'make -j8'",),
    )  # fmt: skip
    shell.add_argument("name", metavar="NAME", help="$0 of the shell")
    shell.add_argument("state", metavar="STATE", help="$- of the shell, and what tells whether it is a login shell")
    shell.add_argument("script", metavar="SCRIPT", help="what the shell is to run")


def _seconds(text: str) -> float:
    try:
        seconds = float(text)
    except ValueError:
        seconds = 0.0
    if not 0 < seconds <= MAX_SECONDS:  # not a number is neither
        raise ArgumentTypeError(f"{text[:20]!r} is not a number of seconds above 0")
    return seconds


def _add_command(commands: Any, name: str, help: str, *examples: str) -> Parser:
    parser: Parser = commands.add_parser(
        name, help=help, description=f"{help[:1].upper()}{help[1:]}.", examples=examples
    )
    parser.add_argument("--json", action="store_true", help="print JSON, for programs")
    return parser


def _add_options(parser: Parser) -> None:
    parser.add_argument("--query", "-q", help="the question; failures and the summary are shown in any case")
    parser.add_argument(
        "--budget",
        type=int,
        default=DEFAULT_BOUND_CHARS,
        metavar="N",
        help="most characters of the result, default 4000",
    )
    parser.add_argument("--kind", choices=OUTPUT_KINDS, help="how to read the output, recognised by default")
