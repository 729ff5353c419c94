"""An MCP server of the Python SDK for tests, over stdio or, with the argument `http`, over streamable HTTP."""

from __future__ import annotations

import socket
import sys
from collections.abc import Awaitable, Callable
from typing import Annotated, Any

from mcp.server.mcpserver import Context, MCPServer
from pydantic import Field

server = MCPServer("sdk", instructions="Count things.")


@server.tool()
def add(a: int, b: int) -> int:
    return a + b


@server.tool()
def words(count: int, about: str = "") -> str:
    return "\n".join(f"{number:06} {about} {hex(number * 7919)}" for number in range(count))


@server.tool()
async def steps(count: int, ctx: Context[Any, Any]) -> str:
    for number in range(count):
        await ctx.report_progress(number, count, f"step {number}")
    return f"{count} steps"


@server.tool()
def visit(place: Annotated[str, Field(json_schema_extra={"x-mcp-header": "Place"})], days: int = 1) -> str:
    return f"{days} days in {place}"


@server.resource("log://all")
def log() -> str:
    return words(5_000, "log")


@server.prompt()
def greet(name: str) -> str:
    return f"Greet {name}."


def require_token(app: Any) -> Any:
    """Return an application that refuses requests without the token of these tests."""

    async def checked(scope: Any, receive: Any, send: Callable[[Any], Awaitable[None]]) -> None:
        headers = dict(scope.get("headers") or [])
        if scope["type"] == "http" and headers.get(b"authorization") != b"Bearer t0ken":
            await send({"type": "http.response.start", "status": 401, "headers": []})
            await send({"type": "http.response.body", "body": b""})
            return
        await app(scope, receive, send)

    return checked


def serve_http() -> None:
    import uvicorn

    with socket.create_server(("127.0.0.1", 0)) as listener:
        print(listener.getsockname()[1], flush=True)
        app = server.streamable_http_app()
        config = uvicorn.Config(require_token(app) if "token" in sys.argv else app, log_level="error")
        uvicorn.Server(config).run([listener])


if __name__ == "__main__":
    if "http" in sys.argv:
        serve_http()
    else:
        server.run("stdio")
