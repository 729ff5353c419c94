"""Run `keyhole proxy`: an MCP server that relays to another server and bounds its results."""

from __future__ import annotations

import argparse
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import Final
from urllib.parse import urlsplit

from keyhole.config.config import MAX_BUDGET, Config
from keyhole.errors import Code, KeyholeError
from keyhole.extensions.proxy.results import LEAST_BYTES
from keyhole.extensions.proxy.rewrite import Policy
from keyhole.extensions.proxy.upstream import ProcessUpstream, Upstream
from keyhole.runtime.extensions import URL_PREFIX, header_variable


def run(config: Config, arguments: argparse.Namespace) -> int:
    """Relay until the client disconnects, and return the exit code."""
    from keyhole.cli.build import build
    from keyhole.extensions.proxy.transports import ProxyOptions, proxy_http, proxy_stdio

    policy = read_policy(arguments)
    server = read_server(arguments, os.environ)
    options = ProxyOptions(server.name, partial(open_server, server), policy, find_sign_in_url(server))
    build_tenants = partial(build, config, long_running=True)
    if arguments.http:
        return proxy_http(config, options, build_tenants, arguments.host, arguments.port)
    return proxy_stdio(config, options, build_tenants)


def read_policy(arguments: argparse.Namespace) -> Policy:
    """Return the options for bounding results. Raises KeyholeError: invalid_argument."""
    sizes = dict(_tool_size(each) for each in arguments.tools or ())
    return Policy(tuple(arguments.only or ()), tuple(arguments.excluded or ()), sizes, arguments.asks_query)


def _tool_size(text: str) -> tuple[str, int]:
    name, _, size = text.rpartition("=")
    if not name or not size.isdecimal() or not LEAST_BYTES <= int(size) <= MAX_BUDGET:
        raise _invalid(f"--tool takes NAME=BYTES, from {LEAST_BYTES} to {MAX_BUDGET} bytes, not {text!r}")
    return name, int(size)


# The server that the command line names.

_VARIABLE: Final = re.compile(r"\$\{(?:env:)?(\w+)(?::-([^}]{0,1000}+))?\}")


@dataclass(frozen=True, slots=True)
class ServerAddress:
    """The command that starts the server, or its URL."""

    command: tuple[str, ...] = ()
    url: str = ""
    headers: tuple[tuple[str, str], ...] = ()

    @property
    def name(self) -> str:
        """The name of the program or host, for messages. It contains no secret of the URL."""
        return urlsplit(self.url).netloc.rpartition("@")[2] if self.url else self.command[0].rpartition("/")[2]


def read_server(arguments: argparse.Namespace, env: Mapping[str, str]) -> ServerAddress:
    """Return the server that the command line names. `env`: the variables that its URL and headers may name.

    Raises KeyholeError: invalid_argument.
    """
    words, url = arguments.server_command, arguments.url
    if bool(words) == bool(url):
        raise _invalid("give either the command of the server after two hyphens, or --url")
    headers = tuple(read_header(each, env) for each in arguments.headers or ())
    if headers and not url:
        raise _invalid("--header needs --url")
    return ServerAddress(url=read_url(url, env), headers=headers) if url else ServerAddress(tuple(words))


def read_header(text: str, env: Mapping[str, str]) -> tuple[str, str]:
    """Return the name and value of a header, from `Name: value`, or from `Name` and the variable with its value.

    Raises KeyholeError, which does not repeat the value.
    """
    name, colon, value = text.partition(":")
    if not re.fullmatch(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+", name.strip()):
        raise _invalid("--header takes 'Name: value'")
    if not colon:
        variable = header_variable(name.strip())
        if variable not in env:
            raise _invalid(f"--header takes 'Name: value', or a name alone with its value in the variable {variable}")
        value = env[variable]
    return name.strip(), expand(value.strip(), env)


def read_url(text: str, env: Mapping[str, str]) -> str:
    """Return a URL, or the URL in the variable after `env:`. Raises KeyholeError, which does not repeat the URL."""
    url = env.get(text.removeprefix(URL_PREFIX), "") if text.startswith(URL_PREFIX) else text
    if not url.startswith(("http://", "https://")):
        raise _invalid("--url takes an http or https address, or env:NAME for that of a variable")
    return url


def expand(text: str, env: Mapping[str, str]) -> str:
    """Return a value with `${NAME}`, `${env:NAME}` and `${NAME:-default}` replaced, as clients do.

    A variable that is not set and has no default stays as it is written.
    """
    return _VARIABLE.sub(lambda match: env.get(match[1], match[0] if match[2] is None else match[2]), text)


def find_sign_in_url(server: ServerAddress) -> str:
    """Return the URL of the server if it gets the credentials of the callers, else "".

    A server that has its own `Authorization` does not get them.
    """
    names = {name.lower() for name, _ in server.headers}
    return "" if "authorization" in names else server.url


def open_server(server: ServerAddress, authorization: str = "") -> Upstream:
    """Return the server, not yet started. `authorization`: that of the caller, "" without one."""
    if not server.url:
        return ProcessUpstream(server.command)
    from keyhole.extensions.proxy.http_upstream import HttpUpstream

    credentials = {"Authorization": authorization} if authorization else {}
    return HttpUpstream(server.url, dict(server.headers) | credentials)


def _invalid(message: str) -> KeyholeError:
    return KeyholeError(Code.INVALID_ARGUMENT, message)
