"""The command line: the same verbs as the tools and more. Reads environment and arguments, builds everything.

Exit codes: 0 done; 1 the call failed with a named error; 2 the command line or a setting is wrong; 130 stopped.
"""

from __future__ import annotations

import argparse
import gc
import io
import logging
import os
import shlex
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from functools import partial
from types import MappingProxyType
from typing import TYPE_CHECKING, Final

from keyhole.cli.commands import DEFAULT_PORT, LOOPBACK, parser
from keyhole.cli.log_format import configure
from keyhole.config.config import Config
from keyhole.config.load import configured, warn
from keyhole.errors import Code, KeyholeError

if TYPE_CHECKING:
    pass

log = logging.getLogger(__name__)

OK, FAILED, USAGE, STOPPED = 0, 1, 2, 130
UNSET: Final = frozenset({"config", "completion", "install", "doctor"})
"""Commands that run whatever is wrong with the settings."""


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command; the exit code."""
    for stream in (sys.stdout, sys.stderr):  # a page's letters that the encoding has not must end no command
        if isinstance(stream, io.TextIOWrapper) and stream.encoding.lower() not in ("utf-8", "utf8"):
            stream.reconfigure(errors="backslashreplace")
    given = sys.argv[1:] if argv is None else argv
    if not given:
        parser().print_help(sys.stderr)
        return USAGE
    arguments = parser().parse_args(given)
    try:
        code = RUNS[arguments.verb](_settings(arguments.verb), arguments)
        sys.stdout.flush()
        return code
    except KeyholeError as error:
        from keyhole.text.clean import clean

        said = clean(error.message)  # it may name a file, and a file any letters that a terminal would obey
        if error.code is Code.INVALID_ARGUMENT:
            print(f"keyhole: {said}", file=sys.stderr)
            return USAGE
        print(f"{error.code}: {said}. {_next_step(error)}", file=sys.stderr)
        return FAILED
    except KeyboardInterrupt:
        return STOPPED
    except BrokenPipeError:
        # Whoever read has enough, as `| head` has. What is still buffered goes nowhere, so that the exit is quiet.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return OK


def _settings(verb: str) -> Config:
    """The settings in force; for a command that none concern, or that looks at them itself, the defaults."""
    if verb in UNSET:
        return Config()
    config = configured(os.environ)
    configure(config.log_level, config.log_format)
    warn(config)
    return config


def _next_step(error: KeyholeError) -> str:
    """What to do on the command line: of an artifact that is gone, fetch its URL; of a store, look at it."""
    from keyhole.cli.table import LONG, one_line

    if error.code is Code.STORE_UNAVAILABLE:
        return "See whether what KEYHOLE_STORE or KEYHOLE_HOME names is there and can be written, and try again"
    url = one_line(str(error.facts.get("url", "")), LONG)
    return f"Fetch it again: keyhole fetch {shlex.quote(url)}" if url else error.rule.next_step


def serve_main() -> int:
    """`keyhole-mcp`: serve over stdio, with the options of `keyhole serve`."""
    return main(["serve", *sys.argv[1:]])


def _check_engines(config: Config) -> None:
    if config.engines or config.engines_file:
        from keyhole.websearch.choose import check_names
        from keyhole.websearch.custom_engines import own_engines

        check_names(config.engines, [spec.name for spec in own_engines(config)])


def _serve(config: Config, arguments: argparse.Namespace) -> int:
    if not arguments.http and (arguments.host, arguments.port) != (LOOPBACK, DEFAULT_PORT):
        raise KeyholeError(Code.INVALID_ARGUMENT, "--host and --port are for HTTP: give --http too")
    if not arguments.http and sys.stdin.isatty():  # a person, who would wait for a prompt
        print("keyhole: waiting for an MCP client on standard input; Ctrl-C ends it", file=sys.stderr)
    _check_engines(config)  # what is wrong in them is told now and not at the first call
    # Loading the protocol's types allocates half a million objects that live as long as the process: collecting
    # while they come, or going through them again at each later collection, costs a tenth of the start.
    gc.disable()
    from keyhole.serve.lazy_imports import sparingly

    with nullcontext() if arguments.http else sparingly():
        from keyhole.serve.run import serve_http, serve_stdio

    from keyhole.cli.build import build

    build_server = partial(build, lasting=True)
    gc.freeze()
    gc.enable()
    if arguments.http:
        return serve_http(config, build_server, arguments.host, arguments.port)
    return serve_stdio(config, build_server)


def _fetch(config: Config, arguments: argparse.Namespace) -> int:
    return _one_call(config, "web_fetch", ("url", "query", "max_chars", "max_tokens", "refresh"), arguments)


def _search(config: Config, arguments: argparse.Namespace) -> int:
    names = ("query", "queries", "scope", "max_results", "max_chars", "max_tokens", "sites", "exclude_sites")
    more = ("freshness", "language", "country", "kind", "fetch")
    return _one_call(config, "search", (*names, *more), arguments)


def _read(config: Config, arguments: argparse.Namespace) -> int:
    return _one_call(config, "read_artifact", ("id", "offset", "limit", "query", "find", "max_tokens"), arguments)


def _one_call(config: Config, tool: str, names: Sequence[str], arguments: argparse.Namespace) -> int:
    import asyncio

    from keyhole.cli.call import answered, show

    given = {name: getattr(arguments, name) for name in names}
    from keyhole.cli.build import build

    seen = asyncio.run(answered(partial(build, config), config, tool, given, explain=arguments.explain))
    show(seen, as_json=arguments.json)
    return FAILED if seen.answer.is_error else OK


def _extract(config: Config, arguments: argparse.Namespace) -> int:
    from keyhole.cli.extract_select import extract_file

    return extract_file(config, arguments)


def _select(config: Config, arguments: argparse.Namespace) -> int:
    from keyhole.cli.extract_select import select_file

    return select_file(config, arguments)


def _artifacts(config: Config, arguments: argparse.Namespace) -> int:
    from keyhole.cli.artifacts.commands import run
    from keyhole.store.base import LOCAL
    from keyhole.store.open import open_stores

    arguments.tenant = arguments.tenant or LOCAL
    stores = open_stores(config)
    try:
        return run(*stores.of(arguments.tenant), arguments)
    finally:
        stores.close()


def _tokens(config: Config, arguments: argparse.Namespace) -> int:
    from keyhole.cli.tokens_command import run

    return run(config, arguments)


def _install(_config: Config, arguments: argparse.Namespace) -> int:
    from keyhole.cli.install.commands import run

    return run(arguments)


def _doctor(_config: Config, arguments: argparse.Namespace) -> int:
    from keyhole.cli.doctor.commands import run
    from keyhole.config.load import looked_at

    return run(*looked_at(os.environ), arguments)


def _demo(_config: Config, arguments: argparse.Namespace) -> int:
    from keyhole.cli.demo import run

    return run(as_json=arguments.json)


def _show_config(_config: Config, arguments: argparse.Namespace) -> int:
    from keyhole.cli.config_command import run

    return run(os.environ, arguments, _check_engines)


def _completion(_config: Config, arguments: argparse.Namespace) -> int:
    from keyhole.cli.completion import script

    print(script(parser(), arguments.shell), end="")
    return OK


RUNS: Final[Mapping[str, Callable[[Config, argparse.Namespace], int]]] = MappingProxyType(
    {
        "serve": _serve,
        "fetch": _fetch,
        "search": _search,
        "read": _read,
        "extract": _extract,
        "select": _select,
        "artifacts": _artifacts,
        "tokens": _tokens,
        "install": _install,
        "doctor": _doctor,
        "config": _show_config,
        "completion": _completion,
        "demo": _demo,
    }
)
"""What runs each command."""
