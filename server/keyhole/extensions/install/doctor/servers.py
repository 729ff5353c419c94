"""Check the servers that clients start: start each over stdio and talk to it as a client does."""

from __future__ import annotations

import asyncio
import os
import shutil
import tempfile
import time
from collections.abc import AsyncIterator, Iterable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final, Literal

from keyhole.cli.terminal import Finding, Level
from keyhole.config.load import parse_config
from keyhole.errors import Code, KeyholeError
from keyhole.extensions.install.arguments import DEFAULT_NAME
from keyhole.extensions.install.clients import Server
from keyhole.extensions.install.discover import (
    Proxied,
    Registration,
    find_proxied,
    find_registrations,
    these_programs,
    these_servers,
    this_machine,
)
from keyhole.extensions.install.doctor.network import try_connection
from keyhole.extensions.install.output import mask_command, mask_secrets

if TYPE_CHECKING:
    from mcp import Client

# A conversation with a server.

ProtocolEra = Literal["legacy", "modern"]
TOOLS: Final = frozenset({"web_fetch", "search", "read_artifact"})
_CLIENT_MODES: Final[dict[ProtocolEra, Any]] = {"legacy": "legacy", "modern": "2026-07-28"}
"""The `mode` of the SDK's client that speaks each era of the protocol."""
_MAX_STDERR_CHARS: Final = 300
"""Characters shown of the last line that the server wrote to stderr."""


@dataclass(frozen=True, slots=True)
class StartResult:
    """Outcome of starting a server. `fault`: what went wrong, or ""; `seconds`: how long the start took."""

    fault: str = ""
    seconds: float = 0.0


class ConversationError(Exception):
    """The server did not behave as a client expects. The message describes the fault."""


async def try_start(server: Server, seconds: float, tools: frozenset[str] = TOOLS) -> StartResult:
    """Start a server as a client would, list its tools, and stop it. Wait at most `seconds`.

    `tools`: those that it must have.
    """
    start = time.monotonic()
    try:
        async with connect(server, "legacy", seconds) as client:
            await check_tools(client, tools)
    except ConversationError as error:
        return StartResult(str(error))
    return StartResult(seconds=time.monotonic() - start)


async def check_tools(client: Client, tools: frozenset[str] = TOOLS) -> None:
    """Raise ConversationError unless the server lists these tools."""
    names = {tool.name for tool in (await client.list_tools()).tools}
    if not names >= tools:
        raise ConversationError(f"its tools are {', '.join(sorted(names)) or 'none'}")


@asynccontextmanager
async def connect(server: Server, era: ProtocolEra, seconds: float) -> AsyncIterator[Client]:
    """Start a server, yield a client connected to it, and stop the server.

    Raises ConversationError if anything fails within the block. Its message ends with the server's last line on stderr.
    """
    import anyio
    from mcp import Client, MCPError, StdioServerParameters
    from mcp.client.stdio import stdio_client

    with tempfile.TemporaryFile("w+", encoding="utf-8", errors="replace") as stderr:
        parameters = StdioServerParameters(command=server.command, args=list(server.args), env=dict(server.env))
        try:
            with anyio.fail_after(seconds):
                async with Client(stdio_client(parameters, stderr), mode=_CLIENT_MODES[era]) as client:
                    yield client
        except TimeoutError:
            raise ConversationError(f"no answer within {seconds:g} s{_last_line(stderr)}") from None
        except (OSError, ValueError, MCPError) as error:
            raise ConversationError(f"{_describe_error(error, server)}{_last_line(stderr)}") from error
        except BaseExceptionGroup as group:
            if group.subgroup(lambda error: not isinstance(error, Exception | BaseExceptionGroup)):
                raise
            raise ConversationError(f"{_describe_error(_first_error(group), server)}{_last_line(stderr)}") from group


def _describe_error(error: BaseException, server: Server) -> str:
    if isinstance(error, FileNotFoundError):
        return f"{server.command} does not exist"
    if isinstance(error, PermissionError):
        return f"{server.command} is not executable"
    if isinstance(error, ConversationError | TimeoutError):
        return str(error) or "no answer in time"
    return f"it stopped or sent an invalid answer ({str(error)[:80]})"


def _first_error(group: BaseExceptionGroup[BaseException]) -> BaseException:
    error: BaseException = group
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return error


def _last_line(stderr: Any) -> str:
    stderr.flush()
    stderr.seek(0, os.SEEK_SET)
    lines = [line.strip() for line in stderr.read().splitlines() if line.strip()]
    return f"; its last output: {lines[-1][:_MAX_STDERR_CHARS]}" if lines else ""


# A complete call: start the server of this installation over stdio, fetch a page from loopback, read its stored text.
# Both eras of the protocol are checked, each with a temporary home folder of its own.

ROUND_TRIP_AREA: Final = "Round trip"
ROUND_TRIP_TIMEOUT: Final = 15.0
"""Seconds for one era: several times the duration on a slow machine."""
ANSWER: Final = "The keeper fills the lamp with oil every seventeen days, at dusk."
QUESTION: Final = "how often is the lamp filled with oil"
_ERAS: Final[tuple[tuple[ProtocolEra, str], ...]] = (("legacy", "2025-11-25"), ("modern", "2026-07-28"))


def check_round_trip(server: Server) -> list[Finding]:
    """Return one finding for each era of the protocol."""
    from keyhole.cli.demo_site import RecordedPage, serve

    with serve({"light": RecordedPage("light", "", "text/html; charset=utf-8", _page().encode())}) as port:
        return asyncio.run(_check_eras(server, f"127.0.0.1:{port}"))


async def _check_eras(server: Server, endpoint: str) -> list[Finding]:
    return list(await asyncio.gather(*(_check_era(server, endpoint, era, revision) for era, revision in _ERAS)))


async def _check_era(server: Server, endpoint: str, era: ProtocolEra, revision: str) -> Finding:
    name, start = f"stdio, {revision}", time.monotonic()
    try:
        with tempfile.TemporaryDirectory(prefix="keyhole-doctor-", ignore_cleanup_errors=True) as home:
            own = {"KEYHOLE_CONFIG": "off", "KEYHOLE_HOME": home, "KEYHOLE_SHARED": "off"}
            settings = {**own, "KEYHOLE_ALLOW_PRIVATE": endpoint}
            async with connect(Server(server.command, server.args, settings), era, ROUND_TRIP_TIMEOUT) as client:
                await _call_tools(client, f"http://{endpoint}/light")
    except ConversationError as error:
        fix = "Run the command by hand to see its output; reinstall Keyhole if files are missing."
        command = " ".join([server.command, *server.args])
        return Finding(ROUND_TRIP_AREA, name, Level.FAIL, f"{command}: {error}", fix)
    message = f"listed the tools, fetched a page and read its stored text in {time.monotonic() - start:.1f} s"
    return Finding(ROUND_TRIP_AREA, name, Level.OK, message)


async def _call_tools(client: Client, url: str) -> None:
    """Fetch and read the page. Raise ConversationError if a result is not as expected."""
    await check_tools(client)
    text, facts = await _call(client, "web_fetch", {"url": url, "query": QUESTION, "max_chars": 1_500})
    if ANSWER not in text:
        raise ConversationError("web_fetch did not return the sentence that answers")
    quote, _ = await _call(client, "read_artifact", {"id": facts["artifact_id"], "find": ANSWER})
    if "exactly at" not in quote:
        raise ConversationError("read_artifact did not find the sentence in the stored text")


async def _call(client: Client, tool: str, arguments: dict[str, Any]) -> tuple[str, dict[str, Any]]:
    result = await client.call_tool(tool, arguments)
    text = "".join(getattr(block, "text", "") for block in result.content)
    if result.is_error:
        raise ConversationError(f"{tool} failed: {text[:200]}")
    return text, dict((result.meta or {}).get("keyhole", {}))


def _page() -> str:
    """Return a page several times as long as the budget, with the answer in its middle."""
    parts = [
        f"<h2>Station {n}</h2><p>At station {n} the road follows the river; mail is sorted by hand.</p>"
        for n in range(60)
    ]
    parts[30] = f"<h2>The light</h2><p>{ANSWER}</p>"
    return f'<!doctype html><html lang="en"><title>The coast road</title><main>{"".join(parts)}</main></html>'


# The clients: Keyhole is registered with those on this machine, and the registered commands start.

CLIENTS_AREA: Final = "Clients"
START_TIMEOUT: Final = 10.0
"""Seconds for a server to start and list its tools; clients wait 10 to 60 seconds."""
PARALLEL_STARTS: Final = 2
"""Servers that are started at the same time; each start uses a processor completely."""
CommandKey = tuple[str, tuple[str, ...], tuple[tuple[str, str], ...]]
"""Command, arguments and settings of a server."""


def check_clients(*, offline: bool) -> list[Finding]:
    """Return one finding for each client on this machine, and one that lists the known clients not found."""
    registrations = find_registrations(this_machine(), DEFAULT_NAME)
    servers = {
        _key(each.server): each.server
        for each in registrations
        if each.server and each.state in {"registered", "other copy"}
    }
    starts = asyncio.run(_start_servers(servers.values()))
    findings = [_check_registration(each, starts, offline=offline) for each in registrations if each.found]
    if not any(each.server and each.state != "name taken" for each in registrations):
        fix = "keyhole install lists the clients on this machine; keyhole install CLIENT registers Keyhole with one."
        findings.append(Finding(CLIENTS_AREA, "none", Level.WARN, "Keyhole is not registered with any client", fix))
    absent = [each.client.title for each in registrations if not each.found]
    return [*findings, Finding(CLIENTS_AREA, "not found", Level.NOTE, ", ".join(absent))] if absent else findings


async def _start_servers(servers: Iterable[Server]) -> dict[CommandKey, StartResult]:
    """Start each server once and return the results.

    Those of this installation start alone, because a shared server would go on running after the check.
    """
    ours = {each.command for each in these_servers()}
    slots = asyncio.Semaphore(PARALLEL_STARTS)

    async def start(server: Server) -> StartResult:
        async with slots:
            alone = {"KEYHOLE_SHARED": "off"} if server.command in ours else {}
            return await try_start(replace(server, env={**server.env, **alone}), START_TIMEOUT)

    distinct = list(servers)
    return dict(zip(map(_key, distinct), await asyncio.gather(*map(start, distinct)), strict=True))


def _key(server: Server) -> CommandKey:
    return server.command, server.args, tuple(sorted(server.env.items()))


def _check_registration(registration: Registration, starts: dict[CommandKey, StartResult], *, offline: bool) -> Finding:
    name, state, server = registration.client.name, registration.state, registration.server
    install = f"keyhole install {name}"
    if state == "unreadable":
        fix = f"Correct {registration.path}; the client cannot read it either."
        return Finding(CLIENTS_AREA, name, Level.FAIL, registration.fault, fix)
    if state == "by hand":
        return Finding(
            CLIENTS_AREA, name, Level.NOTE, "must be registered by hand", f"{install} --print shows what to add."
        )
    if server is None:
        return Finding(CLIENTS_AREA, name, Level.NOTE, "Keyhole is not registered", install)
    if state == "name taken":
        message = f"its entry {DEFAULT_NAME!r} is another program: {server.command or 'none'}"
        return Finding(CLIENTS_AREA, name, Level.WARN, message, f"{install} --name NAME registers Keyhole beside it.")
    if server.url:
        return _check_url(name, server.url, offline=offline)
    return _check_program(registration, server, starts[_key(server)], install)


def _check_url(name: str, url: str, *, offline: bool) -> Finding:
    shown = mask_secrets(url)
    if offline:
        return Finding(CLIENTS_AREA, name, Level.NOTE, f"not checked: {shown}")
    if fault := try_connection(url, ""):
        fix = "Check that the server runs and that the address is correct."
        return Finding(CLIENTS_AREA, name, Level.FAIL, f"{shown}: {fault}", fix)
    return Finding(CLIENTS_AREA, name, Level.OK, shown)


def _check_program(registration: Registration, server: Server, start: StartResult, install: str) -> Finding:
    name = registration.client.name
    if fault := _setting_fault(server):
        message = f"a setting in its entry is wrong: {fault}"
        return Finding(CLIENTS_AREA, name, Level.FAIL, message, f"Correct it in {registration.path}.")
    if start.fault:
        return Finding(CLIENTS_AREA, name, Level.FAIL, f"does not start: {start.fault}", install)
    if registration.state == "other copy":
        command = " ".join(mask_command([server.command, *server.args]))
        message = f"starts another copy of Keyhole: {command}"
        return Finding(CLIENTS_AREA, name, Level.WARN, message, f"{install} changes it to this copy.")
    return Finding(CLIENTS_AREA, name, Level.OK, f"starts in {start.seconds:.1f} s")


def _setting_fault(server: Server) -> str:
    """Return the fault of a setting in the entry, or ""."""
    try:
        parse_config(server.env)
    except KeyholeError as error:
        return error.message
    return ""


# The servers that clients run behind the proxy: their programs exist, and they list their tools.

PROXIED_AREA: Final = "Behind the proxy"
SECONDS: Final = 15.0
"""Seconds for all starts together: less than the time of all checks (commands.py)."""


def check_proxied_servers(*, offline: bool) -> list[Finding]:
    """Return one finding for each server that a client runs behind the proxy."""
    servers = find_proxied(this_machine())
    return asyncio.run(_check_all(servers, offline=offline)) if servers else []


async def _check_all(servers: list[Proxied], *, offline: bool) -> list[Finding]:
    programs = these_programs()
    deadline, slots = time.monotonic() + SECONDS, asyncio.Semaphore(PARALLEL_STARTS)

    async def check_one(each: Proxied) -> Finding:
        if finding := _check_entry(each, offline=offline):
            return finding
        async with slots:
            seconds = min(START_TIMEOUT, deadline - time.monotonic())
            # With all variables, because some clients hand them on and headers may need them.
            server = replace(each.server, env={**os.environ, **each.server.env})
            result = await try_start(server, seconds, frozenset()) if seconds > 0 else None
        return _judge(each, result, programs)

    return list(await asyncio.gather(*map(check_one, servers)))


def _check_entry(each: Proxied, *, offline: bool) -> Finding | None:
    """Return the finding on an entry that need not be started, None if its server must be started."""
    words = each.wrapped.words
    if words[0] == "--" and len(words) > 1:
        path = each.server.env.get("PATH") or os.environ.get("PATH")
        if shutil.which(words[1], path=path) is None:
            fix = f"Correct it in {each.path}, or install the program."
            return _finding(each, Level.FAIL, f"its program {words[1]} does not exist", fix)
    if offline and words[0] != "--":
        return _finding(each, Level.NOTE, "not checked, because it may be elsewhere")
    return None


def _judge(each: Proxied, result: StartResult | None, programs: Sequence[tuple[str, ...]]) -> Finding:
    """Return the finding on a server; `result`: None if there was no time to start it."""
    if result is None:
        return _finding(each, Level.NOTE, "not checked: other servers took too long")
    unwrap = f"keyhole install {each.client.name} --unwrap {each.name}"
    if Code.AUTHORIZATION_REQUIRED in result.fault:
        fix = (
            f"{unwrap}; then put the header Authorization into its entry and wrap it again, or let the client sign in "
            "over HTTP: keyhole proxy --http --url URL"
        )
        return _finding(each, Level.FAIL, "the server needs an authorization", fix)
    if result.fault:
        fix = f"If it fails without the proxy too, correct it in {each.path}; {unwrap} takes the proxy away."
        return _finding(each, Level.FAIL, f"does not start: {mask_secrets(result.fault)}", fix)
    if each.wrapped.program not in programs:
        return _finding(each, Level.WARN, "behind another copy of Keyhole", "Unwrap it and wrap it again.")
    return _finding(each, Level.OK, f"starts in {result.seconds:.1f} s")


def _finding(each: Proxied, level: Level, message: str, fix: str = "") -> Finding:
    return Finding(PROXIED_AREA, f"{each.client.name} {each.name}", level, message, fix)
