"""Slow and large pages on loopback, beside the benchmarks' web: `python -m hosted.site` serves until its input ends.

A slow page drips for three seconds; a large one is a manual's pages in one. Each kind has several addresses, as on the
web: one host alone would be asked four times at once at most.
"""

from __future__ import annotations

import asyncio
import json
import socket
import sys
from contextlib import suppress
from typing import Final

from benchmarks.search.web.corpus import load_pages

SLOW_HOSTS: Final = tuple(f"127.0.0.{number}" for number in range(71, 79))
LARGE_HOSTS: Final = tuple(f"127.0.0.{number}" for number in range(81, 85))
SECONDS: Final = 3.0
"""That a slow page takes: within every deadline, and far beyond the time of a small one."""
PIECES: Final = 10
LARGE: Final = 250_000
"""Bytes of a large page at least: nine of ten pages of the web have fewer."""
SLOW: Final = 8
"""Different slow pages."""
LARGES: Final = 4
"""Different large ones."""


def slow_pages() -> list[bytes]:
    """The bodies of slow pages."""
    pages = [page for page in load_pages() if 3_000 < len(page.html) < 12_000]
    return [_whole(page.title, page.html) for page in pages[:SLOW]]


def large_pages() -> list[bytes]:
    """The bodies of large pages."""
    found, html = [], ""
    for page in load_pages():
        html += page.html
        if len(html.encode()) > LARGE:
            found.append(_whole(page.title, html))
            html = ""
    return found[:LARGES]


def _whole(title: str, html: str) -> bytes:
    return f"<!doctype html><title>{title}</title><body><main><h1>{title}</h1>{html}</main></body>".encode()


async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """One request: `/slow/N` or `/large/N`, whatever query follows."""
    with suppress(OSError, asyncio.IncompleteReadError, asyncio.LimitOverrunError):
        target = (await reader.readuntil(b"\r\n\r\n")).split(b" ", 2)[1].decode().partition("?")[0]
        kind, _, number = target.lstrip("/").partition("/")
        body = _BODIES[kind][int(number)]
        head = f"HTTP/1.1 200 OK\r\nContent-Type: text/html; charset=utf-8\r\nContent-Length: {len(body)}\r\n"
        writer.write(head.encode() + b"Connection: close\r\n\r\n")
        size = len(body) // PIECES + 1
        for start in range(0, len(body), size):
            writer.write(body[start : start + size])
            await writer.drain()
            await asyncio.sleep(SECONDS / PIECES if kind == "slow" else 0)
    with suppress(OSError):
        writer.close()
        await writer.wait_closed()


_BODIES: Final[dict[str, list[bytes]]] = {}


async def serve() -> None:
    """Listen at every address on one port, say on which, and go on until standard input ends."""
    _BODIES.update(slow=slow_pages(), large=large_pages())
    with socket.socket() as probe:
        probe.bind((SLOW_HOSTS[0], 0))
        port = probe.getsockname()[1]
    for host in (*SLOW_HOSTS, *LARGE_HOSTS):
        await asyncio.start_server(answer, host, port)
    print(json.dumps({"port": port}), flush=True)
    await asyncio.to_thread(sys.stdin.read)


if __name__ == "__main__":
    asyncio.run(serve())
