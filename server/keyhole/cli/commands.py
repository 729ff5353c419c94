"""The parser of `keyhole`: every command with its arguments, help and examples."""

from __future__ import annotations

from types import MappingProxyType
from typing import Any, Final

from keyhole._version import __version__
from keyhole.cli.artifacts.arguments import add_artifacts
from keyhole.cli.forget_arguments import add_forget
from keyhole.cli.hook.arguments import add_hook
from keyhole.cli.output_arguments import add_bound, add_run, add_shell
from keyhole.cli.parser import Parser, add_command
from keyhole.cli.serve_arguments import add_serve, add_server
from keyhole.runtime.extensions import find_extensions, load_function
from keyhole.text.sites import AGES

DEFAULT_SELECT_CHARS: Final = 8_000
STRATEGIES: Final = ("passages", "tf_cosine", "bm25", "head_tail")
SHELLS: Final = ("bash", "zsh", "tcsh", "fish")

GROUPS: Final = MappingProxyType(
    {
        "for agents": ("serve", "proxy", "install", "hook", "shell"),
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
        help="most characters of the result, counted as bytes of UTF-8; default KEYHOLE_MAX_CHARS",
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
