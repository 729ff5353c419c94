"""Start a server over stdio and talk to it as a client does."""

from __future__ import annotations

import os
import tempfile
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, Literal

from keyhole.extensions.install.entries import Server

if TYPE_CHECKING:
    from mcp import Client

Era = Literal["legacy", "modern"]
TOOLS: Final = frozenset({"web_fetch", "search", "read_artifact"})
_CLIENT_MODES: Final[dict[Era, Any]] = {"legacy": "legacy", "modern": "2026-07-28"}
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
async def connect(server: Server, era: Era, seconds: float) -> AsyncIterator[Client]:
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
