"""A client's side of a conversation with a server over stdio, as a real client has it: started, asked, ended."""

from __future__ import annotations

import os
import tempfile
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, Literal

from keyhole.cli.install.entries import Server

if TYPE_CHECKING:
    from mcp import Client

Era = Literal["legacy", "modern"]
TOOLS: Final = frozenset({"web_fetch", "search", "read_artifact"})
_REVISIONS: Final[dict[Era, Any]] = {"legacy": "legacy", "modern": "2026-07-28"}
_LAST: Final = 300
"""Characters of the last line on the server's stderr that are shown."""


@dataclass(frozen=True, slots=True)
class Tried:
    """How a server that was started did. `fault`: empty where all was well."""

    fault: str = ""
    seconds: float = 0.0


class TalkError(Exception):
    """The server did not do as a client expects; the text says how."""


async def started(server: Server, seconds: float) -> Tried:
    """Start a server as a client would, list its tools, and end it."""
    begun = time.monotonic()
    try:
        async with talking(server, "legacy", seconds) as client:
            await has_our_tools(client)
    except TalkError as error:
        return Tried(str(error))
    return Tried(seconds=time.monotonic() - begun)


async def has_our_tools(client: Client) -> None:
    """Raises TalkError where it lists others."""
    names = {tool.name for tool in (await client.list_tools()).tools}
    if not names >= TOOLS:
        raise TalkError(f"its tools are {', '.join(sorted(names)) or 'none'}")


@asynccontextmanager
async def talking(server: Server, era: Era, seconds: float) -> AsyncIterator[Client]:
    """A connected client; the server is ended with it. Raises TalkError, with what the server said last."""
    import anyio
    from mcp import Client, MCPError, StdioServerParameters
    from mcp.client.stdio import stdio_client

    with tempfile.TemporaryFile("w+", encoding="utf-8", errors="replace") as errors:
        parameters = StdioServerParameters(command=server.command, args=list(server.args), env=dict(server.env))
        try:
            with anyio.fail_after(seconds):
                async with Client(stdio_client(parameters, errors), mode=_REVISIONS[era]) as client:
                    yield client
        except TimeoutError:
            raise TalkError(f"no answer within {seconds:g} s{_said(errors)}") from None
        except (OSError, ValueError, MCPError) as error:
            raise TalkError(f"{_why(error, server)}{_said(errors)}") from error
        except BaseExceptionGroup as group:
            if group.subgroup(lambda error: not isinstance(error, Exception | BaseExceptionGroup)):
                raise
            raise TalkError(f"{_why(_first(group), server)}{_said(errors)}") from group


def _why(error: BaseException, server: Server) -> str:
    if isinstance(error, FileNotFoundError):
        return f"{server.command} is not there"
    if isinstance(error, PermissionError):
        return f"{server.command} may not be run"
    if isinstance(error, TalkError | TimeoutError):
        return str(error) or "no answer in time"
    return f"it ended or answered nonsense ({str(error)[:80]})"


def _first(group: BaseExceptionGroup[BaseException]) -> BaseException:
    error: BaseException = group
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return error


def _said(errors: Any) -> str:
    errors.flush()
    errors.seek(0, os.SEEK_SET)
    lines = [line.strip() for line in errors.read().splitlines() if line.strip()]
    return f"; it said: {lines[-1][:_LAST]}" if lines else ""
