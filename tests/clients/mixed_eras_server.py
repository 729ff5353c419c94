"""A server of both eras of the protocol, made with FastMCP: python mixed_eras_server.py."""

from __future__ import annotations

from fastmcp import FastMCP


def add(a: int, b: int) -> int:
    """Add two numbers."""
    return a + b


def read_file(path: str) -> str:
    """Return the path: a tool with the name of one of the other server."""
    return f"sums has {path}"


def read_data(name: str) -> str:
    """Return a text that contains the name."""
    return f"data of {name}"


def greet(name: str) -> str:
    """Return a greeting."""
    return f"Greet {name}."


if __name__ == "__main__":
    server = FastMCP("sums", instructions="Add numbers.")
    server.tool(add)
    server.tool(read_file)
    server.resource("data://{name}")(read_data)
    server.prompt(greet)
    server.run(show_banner=False)
