"""Compare servers of other projects behind `keyhole proxy` with the same servers without it."""

from __future__ import annotations

import json
import subprocess
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Final

from keyhole.extensions.proxy.rewrite import QUERY_ARGUMENT, QUERY_SCHEMA
from tests.extensions.proxy.client import PipeClient, running

from .npm import InstallError
from .real_servers import NPM_PACKAGES, RealServer, real_servers
from .setup import PROXY, Setup
from .steps import PATIENCE, Steps
from .tool_calls import Reply, body, next_call, read_reply

PACKAGES = NPM_PACKAGES
READER: Final = "read_artifact"
WINDOW: Final = 50_000
"""Characters of the windows in which a stored result is read; a client without a known limit gets them whole."""
MAX_RESULT: Final = 16_500
"""Bytes of a bounded result for a client without a known limit, with the frame of its message."""

_LISTS: Final = {"prompts": ("prompts/list",), "resources": ("resources/list", "resources/templates/list")}
"""The lists that pass through the proxy unchanged, by the capability that offers them."""


@dataclass(slots=True)
class Talk:
    """What one conversation brought."""

    greeting: dict[str, Any]
    tools: list[dict[str, Any]]
    lists: list[bytes]
    small: list[bytes]
    """The answers to the small calls, as lines."""
    large: bytes = b"{}"
    """The answer to the large call, as a line."""
    stored: str = ""
    """The text that the calls of READER returned, for a large result that was bounded."""

    @property
    def names(self) -> list[str]:
        """The names of the tools."""
        return [tool["name"] for tool in self.tools]


def check(steps: Steps, setup: Setup, programs: Path) -> None:
    """Compare each server."""
    for server in real_servers(setup):
        try:
            command = server.command()
        except InstallError as reason:
            steps.skip(server.name, str(reason))
            continue
        env = _environment(setup, programs)
        where = f"proxied {server.name}"
        direct = steps.run(f"{where}: answers without the proxy", partial(_talk, command, env, server))
        behind = [*PROXY, "--", *command]
        proxied = steps.run(f"{where}: answers through the proxy", partial(_talk, behind, env, server))
        if direct is not None and proxied is not None:
            _compare(steps, where, direct, proxied, server)


def _environment(setup: Setup, programs: Path) -> dict[str, str]:
    return {**setup.client_env(programs), **setup.settings, "NO_PROXY": "127.0.0.1", "PYTHONWARNINGS": "ignore"}


def _compare(steps: Steps, where: str, direct: Talk, proxied: Talk, server: RealServer) -> None:
    what = f"lists the same, without output schemas, with the argument for a question, and {READER}"
    steps.run(f"{where}: {what}", lambda: check_lists(direct, proxied))
    if server.small:
        count = len(server.small)
        steps.run(f"{where}: {count} small results are the same bytes", lambda: check_small(direct, proxied))
    if server.large:
        steps.run(f"{where}: a large result is bounded and read on to its end", lambda: check_large(direct, proxied))


@contextmanager
def _client(command: Sequence[str], env: Mapping[str, str]) -> Iterator[PipeClient]:
    """Run a server. A timer kills it, because reading its answers has no timeout."""
    with running(command, dict(env), stderr=subprocess.DEVNULL) as client:
        watchdog = threading.Timer(PATIENCE, client.process.kill)
        watchdog.start()
        try:
            yield client
        finally:
            watchdog.cancel()


def _talk(command: Sequence[str], env: Mapping[str, str], server: RealServer) -> Talk:
    """Hold one conversation: list, make all calls, and read a bounded result to its end."""
    with _client(command, env) as client:
        greeting = client.greet(name="stranger", version="1")
        offered = greeting["result"]["capabilities"]
        lists = [partial(client.request, each, each) for name in _LISTS if name in offered for each in _LISTS[name]]
        calls = [partial(client.call, f"s{n}", tool, **words) for n, (tool, words) in enumerate(server.small)]
        tools = client.request("tools", "tools/list")["result"]["tools"]
        talk = Talk(greeting, tools, _lines(client, lists), _lines(client, calls))
        if server.large:
            tool, words = server.large
            answer = client.call("large", tool, **words)
            talk.large = client.received[-1]
            if READER in talk.names:
                talk.stored = _read_stored(client, _text(answer))
    return talk


def _lines(client: PipeClient, requests: Sequence[Callable[[], Any]]) -> list[bytes]:
    """Make the requests; return the line of each answer."""
    lines = []
    for request in requests:
        request()
        lines.append(client.received[-1])
    return lines


def _text(answer: Mapping[str, Any]) -> str:
    return "\n".join(block["text"] for block in answer["result"]["content"] if block["type"] == "text")


def _read_stored(client: PipeClient, shown: str) -> str:
    """Make the call that a bounded result names, then read the stored text from its start to its end."""
    tool, words = next_call(shown)
    assert not _read(client, tool, words).is_error, "the call that the result names fails"
    parts, offset = [], 0
    while True:
        reply = _read(client, READER, {"id": words["id"], "offset": offset, "limit": WINDOW})
        parts.append(body(reply))
        if not (following := reply.facts["next"]):
            return "".join(parts)
        offset = following["offset"]


def _read(client: PipeClient, tool: str, words: Mapping[str, Any]) -> Reply:
    return read_reply(client.call(f"read {words}", tool, **words)["result"])


def check_lists(direct: Talk, proxied: Talk) -> None:
    """Raise AssertionError if the lists differ but for the documented changes."""
    instructions = proxied.greeting["result"].pop("instructions")
    assert instructions.startswith(direct.greeting["result"].pop("instructions", "")), instructions
    assert proxied.greeting == direct.greeting, proxied.greeting
    expected = [as_proxied(tool) for tool in direct.tools]
    assert proxied.tools[:-1] == expected, [tool for tool in proxied.tools if tool not in expected]
    assert proxied.names[-1] == READER, proxied.names
    assert proxied.lists == direct.lists, proxied.lists


def as_proxied(tool: Mapping[str, Any]) -> dict[str, Any]:
    """Return a tool as the proxy lists it: without its output schema, and with the argument for a question."""
    kept = {name: value for name, value in tool.items() if name != "outputSchema"}
    if "inputSchema" in tool:
        schema = tool["inputSchema"]
        kept["inputSchema"] = {**schema, "properties": {**schema.get("properties", {}), QUERY_ARGUMENT: QUERY_SCHEMA}}
    return kept


def check_small(direct: Talk, proxied: Talk) -> None:
    """Raise AssertionError if a small result differs in a byte."""
    differing = [(old, new) for old, new in zip(direct.small, proxied.small, strict=True) if old != new]
    assert not differing, differing[0]


def check_large(direct: Talk, proxied: Talk) -> None:
    """Raise AssertionError unless the large result is bounded and its whole text is stored."""
    assert len(direct.large) > MAX_RESULT >= len(proxied.large), f"{len(direct.large)} and {len(proxied.large)} bytes"
    assert "structuredContent" not in json.loads(proxied.large)["result"]
    text = _text(json.loads(direct.large))
    assert proxied.stored == text, f"{len(proxied.stored)} characters are stored, not the {len(text)} of the result"
