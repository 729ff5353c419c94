"""Run `keyhole proxy`: an MCP server that relays to other servers and bounds their results."""

from __future__ import annotations

import argparse
import os
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from keyhole.config.config import MAX_BUDGET, Config
from keyhole.errors import Code, KeyholeError
from keyhole.extensions.proxy.entries import ServerEntry, read_entries, read_header, read_url
from keyhole.extensions.proxy.results import LEAST_BYTES
from keyhole.extensions.proxy.rewrite import Policy
from keyhole.extensions.proxy.upstream import ProcessUpstream, Upstream


def run(config: Config, arguments: argparse.Namespace) -> int:
    """Relay until the client disconnects, and return the exit code."""
    from keyhole.cli.build import build
    from keyhole.extensions.proxy.run import proxy_http, proxy_stdio

    policy = read_policy(arguments)
    entries = read_servers(arguments, os.environ)
    servers = partial(open_servers, entries)
    build_tenants = partial(build, config, long_running=True)
    if arguments.http:
        url = find_sign_in_url(list(entries.values()))
        return proxy_http(config, policy, servers, build_tenants, arguments.host, arguments.port, url)
    return proxy_stdio(config, policy, servers, build_tenants)


def read_policy(arguments: argparse.Namespace) -> Policy:
    """Return the choices of the command line. Raises KeyholeError: invalid_argument."""
    sizes = dict(_tool_size(each) for each in arguments.tools or ())
    return Policy(tuple(arguments.only or ()), tuple(arguments.excluded or ()), sizes, arguments.asks_query)


def _tool_size(text: str) -> tuple[str, int]:
    name, _, size = text.rpartition("=")
    if not name or not size.isdecimal() or not LEAST_BYTES <= int(size) <= MAX_BUDGET:
        raise KeyholeError(
            Code.INVALID_ARGUMENT, f"--tool takes NAME=BYTES, from {LEAST_BYTES} to {MAX_BUDGET} bytes, not {text!r}"
        )
    return name, int(size)


def read_servers(arguments: argparse.Namespace, env: Mapping[str, str]) -> dict[str, ServerEntry]:
    """Return the servers that the command line names: a command, a URL, or those of a configuration file.

    Raises KeyholeError: invalid_argument.
    """
    words, url, path = arguments.server_command, arguments.url, arguments.config
    if sum(map(bool, (words, url, path))) != 1:
        message = "give one of: the command of the server after two hyphens, --url, --config"
        raise KeyholeError(Code.INVALID_ARGUMENT, message)
    headers = tuple(read_header(each, env) for each in arguments.headers or ())
    if headers and not url:
        raise KeyholeError(Code.INVALID_ARGUMENT, "--header needs --url")
    if path:
        return read_entries(_read_file(Path(path)), env)
    if url:
        address = read_url(url, env)
        return {urlsplit(address).netloc.rpartition("@")[2]: ServerEntry(url=address, headers=headers)}
    return {words[0].rpartition("/")[2]: ServerEntry(tuple(words))}


def _read_file(path: Path) -> Mapping[str, Any]:
    import tomllib

    from keyhole.text import jsonc_parse

    try:
        text = path.read_text(encoding="utf-8-sig")
        settings = tomllib.loads(text) if path.suffix == ".toml" else jsonc_parse.read(text).value
    except OSError as error:
        raise KeyholeError(Code.INVALID_ARGUMENT, f"{path}: {error.strerror}") from error
    except ValueError as error:
        raise KeyholeError(Code.INVALID_ARGUMENT, f"{path}: {error}") from error
    return settings if isinstance(settings, dict) else {}


def find_sign_in_url(entries: Sequence[ServerEntry]) -> str:
    """Return the URL of the server that gets the credentials of the callers, "" if there is none.

    Only a single server without its own `Authorization` gets them, because a caller's credentials are for one server.
    """
    (entry, *others) = entries
    names = {name.lower() for name, _ in entry.headers}
    return "" if others or "authorization" in names else entry.url


def open_servers(entries: Mapping[str, ServerEntry], authorization: str = "") -> Mapping[str, Upstream]:
    """Return servers that are not yet started. `authorization`: the caller's, for the only server, "" without one."""
    return {name: _open(entry, authorization) for name, entry in entries.items()}


def _open(entry: ServerEntry, authorization: str) -> Upstream:
    if not entry.url:
        return ProcessUpstream(entry.command, dict(entry.env), entry.folder)
    from keyhole.extensions.proxy.http_upstream import HttpUpstream

    credentials = {"Authorization": authorization} if authorization else {}
    return HttpUpstream(entry.url, dict(entry.headers) | credentials)
