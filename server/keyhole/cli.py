"""The command line: the same verbs as the tools and more. Reads environment and arguments, builds everything.

Exit codes: 0 done; 1 the call failed with a named error; 2 the command line or a setting is wrong; 130 stopped.
"""

from __future__ import annotations

import argparse
import asyncio
import gc
import json
import logging
import os
import shlex
import sys
import time
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from keyhole import __version__
from keyhole.artifacts import arguments as artifacts
from keyhole.config import Config, agent, load
from keyhole.errors import Code, KeyholeError
from keyhole.logs import configure
from keyhole.narrowing import AGES
from keyhole.store.base import LOCAL

if TYPE_CHECKING:
    from keyhole.records import Answer
    from keyhole.tenants import Tenants
    from keyhole.websearch.engines_file import Spec
    from keyhole.worker.base import Extractor

log = logging.getLogger(__name__)

OK, FAILED, USAGE, STOPPED = 0, 1, 2, 130
LOOPBACK = "127.0.0.1"
DEFAULT_PORT = 8765
DEFAULT_SELECT_CHARS = 8_000
TOKENS_HELP = "tokens of the result, by a careful estimate"
STRATEGIES = ("passages", "tf_cosine", "bm25", "head_tail")


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command; the exit code."""
    arguments = _parser().parse_args(argv)
    try:
        config = load(os.environ)
        configure(config.log_level, config.log_format)
        code = int(arguments.run(config, arguments))
        sys.stdout.flush()
        return code
    except KeyholeError as error:
        if error.code is Code.INVALID_ARGUMENT:
            print(f"keyhole: {error.message}", file=sys.stderr)
            return USAGE
        print(f"{error.code}: {error.message}. {_next_step(error)}", file=sys.stderr)
        return FAILED
    except KeyboardInterrupt:
        return STOPPED
    except BrokenPipeError:
        # Whoever read has enough, as `| head` has. What is still buffered goes nowhere, so that the exit is quiet.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return OK


def _next_step(error: KeyholeError) -> str:
    """What to do on the command line: of an artifact that is gone, fetch its URL; of a store, look at it."""
    from keyhole.artifacts.table import LONG, one_line

    if error.code is Code.STORE_UNAVAILABLE:
        return "See whether what KEYHOLE_STORE or KEYHOLE_HOME names is there and can be written, and try again"
    url = one_line(str(error.facts.get("url", "")), LONG)
    return f"Fetch it again: keyhole fetch {shlex.quote(url)}" if url else error.rule.next_step


def serve_main() -> int:
    """`keyhole-mcp`: serve over stdio, with the options of `keyhole serve`."""
    return main(["serve", *sys.argv[1:]])


def build(config: Config, extractor: Extractor | None = None, *, lasting: bool = False) -> Tenants:
    """The product with its real parts, for each of its tenants. Nothing is opened, started or connected to before a
    call needs it. `lasting`: for a process that answers many calls."""
    from keyhole.fetch.client import HttpFetcher
    from keyhole.fetch.manners import Manners
    from keyhole.replicas.choice import shared_hosts
    from keyhole.stores import open_stores
    from keyhole.tenants import Tenants
    from keyhole.websearch.choice import at_once, chosen, needs
    from keyhole.websearch.custom import CustomEngine
    from keyhole.websearch.engines import available, endpoints
    from keyhole.websearch.panel import Panel
    from keyhole.worker.pool import WorkerPool

    own = own_engines(config)
    manners = Manners(others=shared_hosts(config))
    fetcher = HttpFetcher(
        config, agent(config), manners=manners, apis=endpoints(config) | {spec.endpoint for spec in own}
    )
    engines = chosen(
        config.engines, available(config, fetcher, time.time), [CustomEngine(spec, fetcher) for spec in own]
    )
    missing = [needs(name) for name in config.engines if name not in {engine.name for engine in engines}]
    if missing:
        log.warning("engines are left out: %s", ", ".join(missing))
    count = at_once(config.engines, engines, config.engine_count)
    panel = Panel(engines, count=count, timeout=config.engine_timeout, missing=missing)
    return Tenants(
        config, fetcher, open_stores(config, lasting=lasting), panel, time.time, extractor or WorkerPool(config)
    )


def own_engines(config: Config) -> tuple[Spec, ...]:
    """The engines of the operator's file. Raises KeyholeError (invalid_argument) for what is wrong in it."""
    if config.engines_file is None:
        return ()
    from keyhole.websearch.engines_file import parse

    try:
        text = config.engines_file.expanduser().read_text(encoding="utf-8")
    except (OSError, ValueError) as error:
        raise KeyholeError(Code.INVALID_ARGUMENT, "the file that KEYHOLE_ENGINES_FILE names cannot be read") from error
    return parse(text, os.environ)


def _serve(config: Config, arguments: argparse.Namespace) -> int:
    # Loading the protocol's types allocates half a million objects that live as long as the process: collecting
    # while they come, or going through them again at each later collection, costs a tenth of the start.
    gc.disable()
    from keyhole.serving import serve_http, serve_stdio

    if config.engines or config.engines_file:  # what is wrong in them is told now and not at the first call
        from keyhole.websearch.choice import check_names

        check_names(config.engines, [spec.name for spec in own_engines(config)])
    gc.freeze()
    gc.enable()
    if arguments.http:
        return serve_http(config, arguments.host, arguments.port)
    return serve_stdio(config)


def _fetch(config: Config, arguments: argparse.Namespace) -> int:
    call = {name: getattr(arguments, name) for name in ("url", "query", "max_chars", "max_tokens")}
    return _one_call(config, "web_fetch", {**call, "refresh": arguments.refresh}, arguments.json)


def _search(config: Config, arguments: argparse.Namespace) -> int:
    names = (
        "query",
        "queries",
        "scope",
        "max_results",
        "max_chars",
        "max_tokens",
        "sites",
        "exclude_sites",
        "freshness",
    )
    more = ("language", "country", "kind", "fetch")
    return _one_call(config, "search", {name: getattr(arguments, name) for name in (*names, *more)}, arguments.json)


def _read(config: Config, arguments: argparse.Namespace) -> int:
    names = ("id", "offset", "limit", "query", "find", "max_tokens")
    return _one_call(config, "read_artifact", {name: getattr(arguments, name) for name in names}, arguments.json)


def _one_call(config: Config, tool: str, given: dict[str, Any], as_json: bool) -> int:
    answer = asyncio.run(_answer(config, tool, given))
    if as_json:
        facts = {"text": answer.text, "is_error": answer.is_error, **answer.facts}
        print(json.dumps(facts, ensure_ascii=False, indent=2))
    else:
        print(answer.text, file=sys.stderr if answer.is_error else sys.stdout)
    return FAILED if answer.is_error else OK


async def _answer(config: Config, tool: str, given: dict[str, Any]) -> Answer:
    from keyhole.bar import bar
    from keyhole.tools import answer_call

    tenants = build(config)
    try:
        with bar(tool) as progress:
            return await answer_call(tenants.of(LOCAL), tool, given, progress)
    finally:
        await tenants.aclose()


def _select(_config: Config, arguments: argparse.Namespace) -> int:
    from keyhole.explain import run

    return run(arguments)


def _artifacts(config: Config, arguments: argparse.Namespace) -> int:
    from keyhole.artifacts.commands import run
    from keyhole.stores import open_stores

    stores = open_stores(config)
    try:
        return run(*stores.of(arguments.tenant), arguments)
    finally:
        stores.close()


def _tokens(config: Config, arguments: argparse.Namespace) -> int:
    from keyhole.hosting.issuing import run

    return run(config, arguments)


def _demo(_config: Config, arguments: argparse.Namespace) -> int:
    from keyhole.demo import run

    return run(as_json=arguments.json)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="keyhole", description="Bounded web retrieval for agents.")
    parser.add_argument("--version", action="version", version=f"keyhole {__version__}")
    verbs = parser.add_subparsers(required=True, metavar="COMMAND")

    serve = verbs.add_parser("serve", help="serve MCP over stdio, or over HTTP")
    serve.add_argument("--http", action="store_true", help="streamable HTTP at http://127.0.0.1:PORT/mcp")
    serve.add_argument(
        "--host", default=LOOPBACK, help=f"address to listen on, default {LOOPBACK}; others need settings"
    )
    serve.add_argument("--port", type=int, default=DEFAULT_PORT, help=f"default {DEFAULT_PORT}")
    serve.set_defaults(run=_serve)

    fetch = _verb(verbs, "fetch", _fetch, "what web_fetch would give an agent")
    fetch.add_argument("url")
    fetch.add_argument("--query", "-q")
    fetch.add_argument("--max-chars", type=int)
    fetch.add_argument("--max-tokens", type=int, help=TOKENS_HELP)
    fetch.add_argument("--refresh", action="store_true", help="do not use a copy fetched within 15 minutes")

    search = _verb(verbs, "search", _search, "what search would give an agent")
    search.add_argument("query")
    search.add_argument("--also", dest="queries", action="append", metavar="QUERY", help="another phrasing, up to 5")
    search.add_argument("--scope", choices=("web", "stored", "both"), default="web", help="default web")
    search.add_argument("--max-results", type=int, default=5, help="sources to read, 1 to 20, default 5")
    search.add_argument("--max-chars", type=int, help="bytes of the result, default KEYHOLE_MAX_CHARS")
    search.add_argument("--max-tokens", type=int, help=TOKENS_HELP)
    search.add_argument("--site", dest="sites", action="append", metavar="SITE", help="only this host; may be repeated")
    search.add_argument("--exclude-site", dest="exclude_sites", action="append", metavar="SITE", help="not this one")
    search.add_argument("--freshness", choices=tuple(AGES))
    search.add_argument("--language", help="such as en or pt-BR")
    search.add_argument("--country", help="such as us or de")
    search.add_argument("--kind", choices=("web", "news"), default="web")
    search.add_argument("--no-fetch", dest="fetch", action="store_false", help="snippets only, no page is read")

    read = _verb(verbs, "read", _read, "what read_artifact would give an agent")
    read.add_argument("id")
    read.add_argument("--offset", type=int, default=0)
    read.add_argument("--limit", type=int)
    read.add_argument("--query", "-q")
    read.add_argument("--find")
    read.add_argument("--max-tokens", type=int, help=TOKENS_HELP)

    select = _verb(verbs, "select", _select, "the passages of a file that answer a query, without network or store")
    select.add_argument("file", help="a text, Markdown or HTML file; - for standard input")
    select.add_argument("--query", "-q")
    select.add_argument("--max-chars", type=int, default=DEFAULT_SELECT_CHARS, help="characters, default 8000")
    select.add_argument("--strategy", choices=STRATEGIES, default=STRATEGIES[0])
    select.add_argument("--explain", action="store_true", help="each passage with its score, split by ingredient")

    artifacts.add(verbs, _artifacts)

    tokens = _verb(verbs, "tokens", _tokens, "bearer tokens of the HTTP server: new TENANT, list, revoke ID")
    tokens.add_argument("action", choices=("new", "list", "revoke"))
    tokens.add_argument("name", nargs="?", metavar="TENANT|ID")
    tokens.add_argument("--file", help="default KEYHOLE_TOKENS_FILE")
    tokens.add_argument("--days", type=int, help="until the token expires; it never does by default")
    tokens.add_argument("--label", default="", help="a note for the list, such as whose laptop it is")

    _verb(verbs, "demo", _demo, "a real client, server and web site on this machine, start to end")
    return parser


def _verb(verbs: Any, name: str, run: Any, help: str) -> argparse.ArgumentParser:
    parser: argparse.ArgumentParser = verbs.add_parser(name, help=help)
    parser.add_argument("--json", action="store_true", help="facts as JSON, for programs")
    parser.set_defaults(run=run)
    return parser
