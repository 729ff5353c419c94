"""The parser of `keyhole`: every command with its arguments, help and examples."""

from __future__ import annotations

import argparse
import re
from argparse import REMAINDER, ArgumentTypeError
from datetime import datetime
from types import MappingProxyType
from typing import Any, Final

from keyhole._version import __version__
from keyhole.cli.hook_command import add_hook
from keyhole.cli.parser import Parser, add_command, add_serve, add_server
from keyhole.runtime.extensions import find_extensions, load_function
from keyhole.text.sites import AGES

# The arguments of the commands that bound an output: `keyhole bound` and `keyhole run`.

DEFAULT_BOUND_CHARS: Final = 4_000
OUTPUT_KINDS: Final = (
    "test", "compiler", "trace", "log", "diff", "grep", "listing", "source", "json", "jsonl", "yaml", "xml", "csv",
    "page", "markdown", "opaque", "text",
)  # fmt: skip

MAX_SECONDS: Final = 1e9
"""Greatest time limit of a command: 31 years, within the range of select(2)."""

RUN_DESCRIPTION: Final = """\
Run a command, store everything that it prints to stdout and stderr, and print the important lines when it ends. The
command reads standard input, and signals are passed to it.
Background processes of the command continue, and their later output is stored when they end.
Exit codes: that of the command, or the signal that ended it; 124 at --timeout; 126 not executable; 127 not found."""
SHELL_DESCRIPTION: Final = """\
Run a script in a new shell, which is started like the shell that this command replaces with `exec`, and print the
important lines of its output as `keyhole run` does. In a terminal, only run the shell. The hook of Codex writes this
command; $KEYHOLE_SHELL_ENVIRONMENT contains the environment in which the first shell was started.
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
    bound.add_argument("--explain", action="store_true", help="print the kinds that were weighed, to standard error")


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


# The arguments of `keyhole forget`.

FORGET_DESCRIPTION: Final = """\
Delete what Keyhole has stored, with every trace: texts of pages, outputs, calls with their results, known URLs, vectors
and copies of damaged files. Several conditions must all be met, a repeated one by one of its values. It says what it
would delete and asks first. Known URLs and vectors tell neither site, date nor client: all of them are deleted. The
files are rewritten at the end. Servers may run meanwhile."""
EXAMPLES: Final = (
    "keyhole forget --all",
    "keyhole forget --before 2026-01-31",
    "keyhole forget --site intranet.example --yes",
    "keyhole forget --client cursor --before 2026-01-31",
)


def add_forget(commands: Any) -> None:
    """Add `keyhole forget` to the parser's commands."""
    forget: Parser = commands.add_parser(
        "forget", help="delete stored texts, calls and all traces of them", description=FORGET_DESCRIPTION,
        examples=EXAMPLES,
    )  # fmt: skip
    forget.add_argument("--all", action="store_true", help="delete everything that is stored")
    forget.add_argument(
        "--before", type=parse_date, metavar="DATE",
        help="texts that were fetched and calls that were made before the beginning of a day such as 2026-01-31",
    )  # fmt: skip
    forget.add_argument("--url", action="append", default=[], help="texts and calls of this address; may be repeated")
    forget.add_argument(
        "--site", action="append", default=[],
        help="texts and calls of this host and its subdomains; may be repeated",
    )  # fmt: skip
    forget.add_argument(
        "--client", action="append", default=[], metavar="NAME",
        help="calls of this client, and the texts that only they read; may be repeated",
    )  # fmt: skip
    forget.add_argument("--tenant", metavar="NAME", help="tenant of a hosted server; by default the local user")
    forget.add_argument("--yes", action="store_true", help="delete without asking")
    forget.add_argument("--json", action="store_true", help="print JSON, for programs")


def parse_date(text: str) -> float:
    """Return the timestamp of a date with an optional time. The default time zone is the local one.

    Raises argparse.ArgumentTypeError.
    """
    try:
        return datetime.fromisoformat(text).timestamp()
    except (ValueError, OverflowError, OSError):
        raise argparse.ArgumentTypeError(f"{text[:40]!r} is not a date such as 2026-01-31") from None


# The arguments of `keyhole artifacts`.

ACTIONS: Final = ("list", "show", "search", "pin", "unpin", "rm", "gc", "stats", "verify")
"""The actions, in the order of the usage line."""
KINDS: Final = ("pages", "outputs")
"""The kinds of artifacts."""
SORTS: Final = ("fetched", "read", "size", "title", "url")
"""Sort keys of a listing."""
MAX_COUNT: Final = 1_000_000_000
"""Greatest number of rows or characters: more than a store contains, and within the integer range of each database."""

_UNIT_SECONDS: Final = MappingProxyType({"m": 60.0, "h": 3_600.0, "d": 86_400.0, "w": 7 * 86_400.0})
_AGE: Final = re.compile(r"([0-9]{1,6})([mhdw])")
_EXAMPLES: Final = (
    "keyhole artifacts list --site postgresql.org --sort size",
    "keyhole artifacts show ID > page.md",
    "keyhole artifacts search 'vacuum threshold'",
    "keyhole artifacts list --only outputs",
    "keyhole artifacts rm --older-than 30d",
)


def add_artifacts(commands: Any) -> None:
    """Add the command `artifacts` with its actions."""
    parser = commands.add_parser(
        "artifacts", help="manage the stored pages and outputs: list, show, search, pin, rm, gc, stats, verify",
        description="Manage the stored pages and outputs: the text of every fetched page, and the outputs of commands, "
        "files and other tools that were too long to be shown whole. They are kept for a limited time.",
        examples=_EXAMPLES,
    )  # fmt: skip
    actions = parser.add_subparsers(required=True, metavar="|".join(ACTIONS), dest="action")
    common = argparse.ArgumentParser(add_help=False)
    common.add_argument("--json", action="store_true", help="print JSON, for programs")
    common.add_argument("--tenant", metavar="NAME", help="tenant of a hosted server; by default the local user")

    def add_action(name: str, help: str, *examples: str) -> argparse.ArgumentParser:
        description = f"{help[:1].upper()}{help[1:]}."
        parser: argparse.ArgumentParser = actions.add_parser(
            name, help=help, description=description, parents=[common], examples=examples
        )
        return parser

    _add_read_actions(add_action)
    _add_remove_actions(add_action)
    add_action("stats", "show the number and size of the stored pages", "keyhole artifacts stats")
    add_action(
        "verify",
        "check every text and set damaged ones aside; exit with 1 if any is damaged",
        "keyhole artifacts verify",
    )


def _add_read_actions(add_action: Any) -> None:
    site_help = "only pages of this host and its subdomains; may be repeated"
    kind_help = "only pages, or only outputs of commands, files and other tools"
    listing = add_action(
        "list",
        "list the stored pages and outputs, the newest first",
        "keyhole artifacts list --site postgresql.org --sort size",
    )
    listing.add_argument("--limit", type=_count, default=50, help="rows, default 50")
    listing.add_argument("--only", choices=KINDS, help=kind_help)
    listing.add_argument("--site", action="append", default=[], help=site_help)
    listing.add_argument(
        "--sort", choices=SORTS, default=SORTS[0],
        help=f"order, default {SORTS[0]}; times and sizes in descending order",
    )  # fmt: skip

    show = add_action("show", "print the text or the metadata of an artifact", "keyhole artifacts show ID > page.md")
    show.add_argument("id", metavar="ID", help="id of the artifact")
    show.add_argument(
        "--meta", action="store_true", help="title, addresses or command, dates and size instead of the text"
    )
    show.add_argument("--offset", type=_offset, default=0, help="first character, counted from 0")
    show.add_argument("--limit", type=_count, help="characters, by default all")

    search = add_action(
        "search",
        "find the artifacts that answer a question, best first, each with its best line",
        "keyhole artifacts search 'vacuum threshold'",
    )
    search.add_argument("words", nargs="+", metavar="WORD", help="words of the question")
    search.add_argument("--limit", type=_count, default=10, help="artifacts, default 10")
    search.add_argument("--only", choices=KINDS, help=kind_help)
    search.add_argument("--site", action="append", default=[], help=site_help)


def _add_remove_actions(add_action: Any) -> None:
    pin = add_action("pin", "keep artifacts from expiry and eviction", "keyhole artifacts pin ID")
    pin.add_argument("ids", nargs="+", metavar="ID", help="ids of the artifacts to pin")
    unpin = add_action("unpin", "let pinned artifacts expire again", "keyhole artifacts unpin ID")
    unpin.add_argument("ids", nargs="+", metavar="ID", help="ids of the artifacts to unpin")
    remove = add_action(
        "rm",
        "delete artifacts; `keyhole forget` deletes their calls and other traces too",
        "keyhole artifacts rm --older-than 30d",
    )
    remove.add_argument("ids", nargs="*", metavar="ID", help="ids of the artifacts to delete")
    remove.add_argument("--all", action="store_true", help="delete every artifact; needs --yes")
    remove.add_argument("--yes", action="store_true", help="confirm --all")
    remove.add_argument(
        "--older-than",
        type=_age,
        metavar="AGE",
        help="delete artifacts that were not read for 90m, 12h, 30d or 8w; pinned ones stay",
    )
    add_action(
        "gc",
        "delete expired artifacts, and the least recently read beyond the store's size limit",
        "keyhole artifacts gc",
    )


def _count(text: str) -> int:
    return _parse_integer(text, minimum=1)


def _offset(text: str) -> int:
    return _parse_integer(text, minimum=0)


def _parse_integer(text: str, minimum: int) -> int:
    if not re.fullmatch("[0-9]{1,10}", text) or not minimum <= int(text) <= MAX_COUNT:
        raise argparse.ArgumentTypeError(f"{text[:20]!r} is not an integer from {minimum:,} to {MAX_COUNT:,}")
    return int(text)


def _age(text: str) -> float:
    """Return the seconds of an age such as 30d. Raises argparse.ArgumentTypeError."""
    found = _AGE.fullmatch(text)
    if not found:
        raise argparse.ArgumentTypeError(f"{text[:20]!r} is not an age such as 90m, 12h, 30d or 8w")
    return int(found[1]) * _UNIT_SECONDS[found[2]]


# The parser of `keyhole`: every command with its arguments, help and examples.

DEFAULT_SELECT_CHARS: Final = 8_000
STRATEGIES: Final = ("passages", "tf_cosine", "bm25", "head_tail")
SHELLS: Final = ("bash", "zsh", "tcsh", "fish")

GROUPS: Final = MappingProxyType(
    {
        "for agents": ("serve", "proxy", "install", "uninstall", "hook", "shell"),
        "from the terminal": ("fetch", "search", "read", "extract", "select", "bound", "run", "compact"),
        "the store": ("artifacts", "look", "forget"),
        "the server": ("server", "tokens"),
        "setting up": ("config", "doctor", "models", "completion", "demo"),
    }
)
"""Groups of commands in the help. A command without a group comes last."""
DESCRIPTION: Final = (
    "Keyhole reads the web for agents within a budget: it returns only the passages that answer the question, and\n"
    "stores the full text for later reads. In a terminal, its commands print the results that an agent would get."
)
EPILOG: Final = (
    "`keyhole COMMAND --help` shows examples; `keyhole config` shows the settings.\n"
    "Exit codes: 0 done; 1 the call failed with a named error; 2 wrong command line or setting; 130 interrupted."
)


def build_parser() -> Parser:
    """Return the parser of the whole command line."""
    parser = Parser(prog="keyhole", description=DESCRIPTION, epilog=EPILOG, groups=GROUPS)
    parser.add_argument("--version", action="version", version=f"keyhole {__version__}")
    commands = parser.add_subparsers(required=True, metavar="COMMAND", dest="command")
    add_serve(commands)
    _add_fetch(commands)
    _add_search(commands)
    _add_read(commands)
    _add_extract(commands)
    _add_select(commands)
    add_bound(commands)
    add_run(commands)
    add_shell(commands)
    add_artifacts(commands)
    add_forget(commands)
    add_server(commands)
    _add_config(commands)
    add_hook(commands)
    _add_completion(commands)
    for extension in find_extensions():
        for command in extension.commands.values():
            load_function(command.add)(commands)
    add_command(commands, "demo", "show a client using the server on a local copy of a web page", "keyhole demo")
    return parser


def _add_fetch(commands: Any) -> None:
    fetch = add_command(
        commands, "fetch", "print what web_fetch returns to an agent",
        "keyhole fetch https://www.sqlite.org/wal.html --query 'checkpoint starvation'",
        "keyhole fetch https://www.sqlite.org/wal.html -q 'checkpoint starvation' --budget 4000 --explain",
    )  # fmt: skip
    fetch.add_argument("url", metavar="URL", help="address of the page, with http:// or https://")
    fetch.add_argument("--query", "-q", help="the question; without it the beginning and end of the page are printed")
    fetch.add_argument("--skip", type=int, default=0, metavar="N", help="leave out the passages of earlier results")
    _add_bounds(fetch)
    fetch.add_argument(
        "--refresh", action="store_true", help="fetch the page again even if it was fetched in the last 15 minutes"
    )
    _add_explain(fetch)


def _add_search(commands: Any) -> None:
    search = add_command(
        commands, "search", "print what search returns to an agent",
        "keyhole search 'how is a deadlock resolved' --also 'postgres deadlock_timeout' --site postgresql.org",
        "keyhole search 'checkpoint starvation' --scope stored --explain",
    )  # fmt: skip
    search.add_argument("query", metavar="QUERY", help="the question, in a few words")
    search.add_argument(
        "--also", dest="queries", action="append", metavar="QUERY", help="another phrasing of the question; up to 5"
    )
    search.add_argument(
        "--scope", choices=("web", "stored", "both"), default="web", help="where to search, default web"
    )
    search.add_argument("--max-results", type=int, default=5, metavar="N", help="sources to read, 1 to 20, default 5")
    _add_bounds(search)
    search.add_argument(
        "--site", dest="sites", action="append", metavar="SITE", help="only pages of this host; may be repeated"
    )
    search.add_argument(
        "--exclude-site",
        dest="exclude_sites",
        action="append",
        metavar="SITE",
        help="no pages of this host; may be repeated",
    )
    search.add_argument("--freshness", choices=tuple(AGES), help="only pages from the last day, week, month or year")
    search.add_argument("--language", metavar="LANG", help="language of the pages, such as en or pt-BR")
    search.add_argument("--country", metavar="CODE", help="country of the pages, such as us or de")
    search.add_argument("--kind", choices=("web", "news"), default="web", help="what to search for, default web")
    search.add_argument(
        "--no-fetch",
        dest="fetch",
        action="store_false",
        help="print the snippets of the search engines without reading pages",
    )
    _add_explain(search)


def _add_read(commands: Any) -> None:
    read = add_command(
        commands, "read", "print what read_artifact returns to an agent",
        "keyhole read ID --offset 1200 --limit 4000", "keyhole read ID --query 'wraparound' --explain",
        "keyhole read ID --find 'the exact words'",
    )  # fmt: skip
    read.add_argument("id", metavar="ID", help="id of a stored page, from fetch, search or `keyhole artifacts list`")
    read.add_argument("--offset", type=int, default=0, metavar="N", help="first character to print, counted from 0")
    read.add_argument(
        "--limit", type=int, metavar="N", help="characters to print; with --query or --find at most this many"
    )
    read.add_argument("--query", "-q", help="print the passages that answer this question instead of a range")
    read.add_argument("--skip", type=int, default=0, metavar="N", help="leave out the passages of earlier results")
    read.add_argument(
        "--find", metavar="QUOTE", help="print the places of this quote, or the nearest passage, instead of a range"
    )
    _add_bounds(read)
    _add_explain(read)


def _add_extract(commands: Any) -> None:
    extract = add_command(
        commands, "extract", "print a file as Markdown: HTML, PDF, Office, EPUB, feeds, JSON, CSV or text",
        "keyhole extract page.html", "cat report.pdf | keyhole extract - --json",
        "cat page.html | keyhole extract - --url https://example.org/page | keyhole select - -q 'opening hours'",
    )  # fmt: skip
    _add_file(extract)
    extract.add_argument(
        "--all",
        action="store_true",
        help="print the rest of the page too, such as menus and footer, after its main part",
    )


def _add_select(commands: Any) -> None:
    select = add_command(
        commands, "select", "print the passages of a file that answer a query, without network or store",
        "keyhole select page.html --query 'checkpoint starvation' --explain",
        "cat notes.md | keyhole select - -q 'budget' --max-chars 2000",
    )  # fmt: skip
    _add_file(select)
    select.add_argument("--query", "-q", help="the question; without it the beginning and end of the text are printed")
    select.add_argument(
        "--max-chars",
        "--budget",
        type=int,
        default=DEFAULT_SELECT_CHARS,
        metavar="N",
        help="most characters of the result, default 8000",
    )
    select.add_argument(
        "--strategy", choices=STRATEGIES, default=STRATEGIES[0], help="how passages are chosen, default passages"
    )
    _add_explain(select)


def _add_config(commands: Any) -> None:
    config = add_command(
        commands, "config", "show the settings in force and where each one was set",
        "keyhole config --changed", "keyhole config --init && $EDITOR \"$(keyhole config path)\"",
        "keyhole config --check",
    )  # fmt: skip
    config.add_argument(
        "action",
        nargs="?",
        choices=("show", "path"),
        default="show",
        help="show the settings, or print the path of the settings file; default show",
    )
    mode = config.add_mutually_exclusive_group()
    mode.add_argument("--changed", action="store_true", help="show only settings that differ from their default")
    mode.add_argument("--check", action="store_true", help="list every error in the settings; exit with 2 if any")
    mode.add_argument("--init", action="store_true", help="write a settings file with every setting commented out")


def _add_completion(commands: Any) -> None:
    completion = add_command(
        commands, "completion", "print the script that completes this command in a shell",
        'eval "$(keyhole completion bash)"      # in ~/.bashrc',
        "keyhole completion zsh > ~/.zfunc/_keyhole  # in a folder of $fpath",
        "keyhole completion fish > ~/.config/fish/completions/keyhole.fish",
        json=False,
    )  # fmt: skip
    completion.add_argument("shell", choices=SHELLS, help="your shell")


def _add_bounds(parser: Parser) -> None:
    parser.add_argument(
        "--max-chars",
        "--budget",
        type=int,
        metavar="N",
        help="most characters of the result; default KEYHOLE_MAX_CHARS",
    )
    parser.add_argument(
        "--max-tokens", type=int, metavar="N", help="greatest size of the result in tokens, by a cautious estimate"
    )


def _add_explain(parser: Parser) -> None:
    parser.add_argument(
        "--explain", action="store_true", help="print JSON, with the score of each passage and its parts"
    )


def _add_file(parser: Parser) -> None:
    parser.add_argument("file", metavar="FILE", help="file to read; - for standard input")
    parser.add_argument("--url", default="", help="address of the file; relative links are resolved against it")
    parser.add_argument(
        "--type",
        default="",
        metavar="TYPE",
        help="media type of the file; by default detected from its name and content",
    )
