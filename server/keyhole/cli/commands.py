"""The commands of `keyhole` with their arguments, help and examples. Nothing is run, opened or loaded here."""

from __future__ import annotations

from types import MappingProxyType
from typing import Any, Final

from keyhole._version import __version__
from keyhole.cli.artifacts.arguments import add_artifacts
from keyhole.cli.doctor.arguments import add_doctor
from keyhole.cli.install.arguments import add_install
from keyhole.cli.parser import Parser
from keyhole.text.sites import AGES

LOOPBACK: Final = "127.0.0.1"
DEFAULT_PORT: Final = 8765
DEFAULT_SELECT_CHARS: Final = 8_000
STRATEGIES: Final = ("passages", "tf_cosine", "bm25", "head_tail")
SHELLS: Final = ("bash", "zsh", "tcsh", "fish")

GROUPS: Final = MappingProxyType(
    {
        "for agents": ("serve", "install"),
        "from the terminal": ("fetch", "search", "read", "extract", "select"),
        "the store": ("artifacts",),
        "the server": ("tokens",),
        "setting up": ("config", "doctor", "completion", "demo"),
    }
)
"""Commands that are not named here stand last in the help."""
ABOUT: Final = (
    "Keyhole reads the web for agents within a budget: of a page or a search only the passages that answer,\n"
    "the full text kept to read on in. The same from a terminal, to see what an agent would see."
)
CODES: Final = (
    "`keyhole COMMAND --help` has examples. Settings: `keyhole config`.\n"
    "Exit codes: 0 done; 1 the call failed with a named error; 2 the command line or a setting is wrong; 130 stopped."
)


def parser() -> Parser:
    """The whole command line."""
    whole = Parser(prog="keyhole", description=ABOUT, epilog=CODES, groups=GROUPS)
    whole.add_argument("--version", action="version", version=f"keyhole {__version__}")
    verbs = whole.add_subparsers(required=True, metavar="COMMAND", dest="verb")
    _serve(verbs)
    _fetch(verbs)
    _search(verbs)
    _read(verbs)
    _extract(verbs)
    _select(verbs)
    add_artifacts(verbs)
    _tokens(verbs)
    _config(verbs)
    add_install(verbs)
    add_doctor(verbs)
    _completion(verbs)
    verb(verbs, "demo", "a real client, server and web site on this machine, start to end", "keyhole demo")
    return whole


def verb(verbs: Any, name: str, help: str, *examples: str, json: bool = True) -> Parser:
    """One command, which knows --json unless it has no facts to tell."""
    made: Parser = verbs.add_parser(name, help=help, description=f"{help[:1].upper()}{help[1:]}.", examples=examples)
    if json:
        made.add_argument("--json", action="store_true", help="facts as JSON, for programs")
    return made


def _serve(verbs: Any) -> None:
    serve = verb(
        verbs, "serve", "serve MCP over stdio, or over HTTP", "keyhole serve", "keyhole serve --http --port 8765",
        json=False,
    )  # fmt: skip
    serve.add_argument("--http", action="store_true", help="streamable HTTP at http://127.0.0.1:PORT/mcp")
    serve.add_argument(
        "--host", default=LOOPBACK, help=f"address to listen on, default {LOOPBACK}; others need settings"
    )
    serve.add_argument("--port", type=int, default=DEFAULT_PORT, help=f"default {DEFAULT_PORT}")


def _fetch(verbs: Any) -> None:
    fetch = verb(
        verbs, "fetch", "what web_fetch would give an agent",
        "keyhole fetch https://www.sqlite.org/wal.html --query 'checkpoint starvation'",
        "keyhole fetch https://www.sqlite.org/wal.html -q 'checkpoint starvation' --budget 4000 --explain",
    )  # fmt: skip
    fetch.add_argument("url", metavar="URL", help="of the page, with http:// or https://")
    fetch.add_argument("--query", "-q", help="what you want to know; without it: the head and tail of the page")
    _bounds(fetch)
    fetch.add_argument("--refresh", action="store_true", help="do not use a copy fetched within 15 minutes")
    _explain(fetch)


def _search(verbs: Any) -> None:
    search = verb(
        verbs, "search", "what search would give an agent",
        "keyhole search 'how is a deadlock resolved' --also 'postgres deadlock_timeout' --site postgresql.org",
        "keyhole search 'deadlock timeout' --scope stored --explain",
    )  # fmt: skip
    search.add_argument("query", metavar="QUERY", help="the question, in a few words")
    search.add_argument("--also", dest="queries", action="append", metavar="QUERY", help="another phrasing, up to 5")
    search.add_argument("--scope", choices=("web", "stored", "both"), default="web", help="default web")
    search.add_argument("--max-results", type=int, default=5, metavar="N", help="sources to read, 1 to 20, default 5")
    _bounds(search)
    search.add_argument("--site", dest="sites", action="append", metavar="SITE", help="only this host; may be repeated")
    search.add_argument("--exclude-site", dest="exclude_sites", action="append", metavar="SITE", help="not this one")
    search.add_argument("--freshness", choices=tuple(AGES), help="only pages so recent")
    search.add_argument("--language", metavar="LANG", help="such as en or pt-BR")
    search.add_argument("--country", metavar="CODE", help="such as us or de")
    search.add_argument("--kind", choices=("web", "news"), default="web", help="default web")
    search.add_argument("--no-fetch", dest="fetch", action="store_false", help="snippets only, no page is read")
    _explain(search)


def _read(verbs: Any) -> None:
    read = verb(
        verbs, "read", "what read_artifact would give an agent",
        "keyhole read ID --offset 1200 --limit 4000", "keyhole read ID --query 'wraparound' --explain",
        "keyhole read ID --find 'the exact words'",
    )  # fmt: skip
    read.add_argument(
        "id", metavar="ID", help="as fetch and search gave it; the stored ones are in: keyhole artifacts list"
    )
    read.add_argument("--offset", type=int, default=0, metavar="N", help="first character, counted from 0")
    read.add_argument("--limit", type=int, metavar="N", help="characters; with --query or --find bytes of the result")
    read.add_argument("--query", "-q", help="the passages that answer this instead")
    read.add_argument("--find", metavar="QUOTE", help="where this quote stands instead")
    _tokens_bound(read)
    _explain(read)


def _extract(verbs: Any) -> None:
    extract = verb(
        verbs, "extract", "a file as Markdown, as a fetched page would be read: HTML, PDF, feeds, data and others",
        "keyhole extract page.html", "cat report.pdf | keyhole extract - --json",
        "cat page.html | keyhole extract - --url https://example.org/page | keyhole select - -q 'opening hours'",
    )  # fmt: skip
    _file(extract)
    extract.add_argument("--explain", action="store_true", help="its headings, and what was left out, instead")


def _select(verbs: Any) -> None:
    select = verb(
        verbs, "select", "the passages of a file that answer a query, without network or store",
        "keyhole select page.html --query 'checkpoint starvation' --explain",
        "cat notes.md | keyhole select - -q 'budget' --max-chars 2000",
    )  # fmt: skip
    _file(select)
    select.add_argument("--query", "-q", help="what you want to know; without it: the head and tail")
    select.add_argument(
        "--max-chars", "--budget", type=int, default=DEFAULT_SELECT_CHARS, metavar="N", help="characters, default 8000"
    )
    select.add_argument("--strategy", choices=STRATEGIES, default=STRATEGIES[0], help="default passages")
    _explain(select)


def _tokens(verbs: Any) -> None:
    tokens = verb(
        verbs, "tokens", "bearer tokens of the HTTP server: new TENANT, list, revoke ID",
        "keyhole tokens new alice --days 90", "keyhole tokens list",
    )  # fmt: skip
    tokens.add_argument("action", choices=("new", "list", "revoke"), help="a token is shown once, when it is new")
    tokens.add_argument("name", nargs="?", metavar="TENANT|ID", help="of a new token, or of one to revoke")
    tokens.add_argument("--file", help="default KEYHOLE_TOKENS_FILE")
    tokens.add_argument("--days", type=int, help="until the token expires; it never does by default")
    tokens.add_argument("--label", default="", help="a note for the list, such as whose laptop it is")


def _config(verbs: Any) -> None:
    config = verb(
        verbs, "config", "the settings in force, and where each of them is from",
        "keyhole config --changed", "keyhole config --init && $EDITOR \"$(keyhole config path)\"",
        "keyhole config --check",
    )  # fmt: skip
    config.add_argument(
        "action",
        nargs="?",
        choices=("show", "path"),
        default="show",
        help="the settings, or the path of their file; default show",
    )
    doing = config.add_mutually_exclusive_group()
    doing.add_argument("--changed", action="store_true", help="only those that are not left at their default")
    doing.add_argument("--check", action="store_true", help="say everything that is wrong; 2 where anything is")
    doing.add_argument("--init", action="store_true", help="write a file with every setting as a comment")


def _completion(verbs: Any) -> None:
    completion = verb(
        verbs, "completion", "what a shell needs to complete this command",
        'eval "$(keyhole completion bash)"      # in ~/.bashrc',
        "keyhole completion zsh > ~/.zfunc/_keyhole  # in a folder of $fpath",
        "keyhole completion fish > ~/.config/fish/completions/keyhole.fish",
        json=False,
    )  # fmt: skip
    completion.add_argument("shell", choices=SHELLS, help="the one you type in")


def _bounds(made: Parser) -> None:
    made.add_argument(
        "--max-chars", "--budget", type=int, metavar="N", help="bytes of the result, default KEYHOLE_MAX_CHARS"
    )
    _tokens_bound(made)


def _tokens_bound(made: Parser) -> None:
    made.add_argument("--max-tokens", type=int, metavar="N", help="tokens of the result, by a careful estimate")


def _explain(made: Parser) -> None:
    made.add_argument("--explain", action="store_true", help="a plot of what is returned and why, instead of the text")


def _file(made: Parser) -> None:
    made.add_argument("file", metavar="FILE", help="- for standard input")
    made.add_argument("--url", default="", help="where it is from: links are made absolute against it")
    made.add_argument("--type", default="", metavar="TYPE", help="its media type; by default as its name and bytes say")
