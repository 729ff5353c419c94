"""Serve slow, large, small and greedy pages on loopback until standard input ends.

A slow page is sent in pieces over three seconds; a large page joins pages of a manual. Small and greedy pages are those
of fair_shares.py. Each kind has several hosts, since Keyhole opens at most four connections to one host.
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
"""Seconds that a slow page takes: less than every deadline, and far more than a small page."""
PIECES: Final = 10
LARGE_BYTES: Final = 250_000
"""Minimum bytes of a large page: nine of ten web pages are smaller."""
SLOW_COUNT: Final = 8
"""Number of different slow pages."""
LARGE_COUNT: Final = 4
"""Number of different large pages."""
GREEDY_BYTES: Final = 290_000
"""Bytes of a greedy page, which fair_shares.py fetches: slightly less than Keyhole's maximum for a light page."""
GREEDY_COUNT: Final = 4
"""Number of different greedy pages."""


def slow_pages() -> list[bytes]:
    """Return the bodies of slow pages, which are also those of small pages."""
    pages = [page for page in load_pages() if 3_000 < len(page.html) < 12_000]
    return [_whole(page.title, page.html) for page in pages[:SLOW_COUNT]]


def large_pages() -> list[bytes]:
    """Return the bodies of large pages."""
    found, html = [], ""
    for page in load_pages():
        html += page.html
        if len(html.encode()) > LARGE_BYTES:
            found.append(_whole(page.title, html))
            html = ""
    return found[:LARGE_COUNT]


def greedy_pages() -> list[bytes]:
    """Return the bodies of greedy pages: consecutive parts of all pages, joined."""
    html = "".join(page.html for page in load_pages())
    parts = [html[start : start + GREEDY_BYTES] for start in range(0, GREEDY_COUNT * GREEDY_BYTES, GREEDY_BYTES)]
    return [_whole(f"Part {number}", part) for number, part in enumerate(parts)]


def _whole(title: str, html: str) -> bytes:
    return f"<!doctype html><title>{title}</title><body><main><h1>{title}</h1>{html}</main></body>".encode()


async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Answer one request for `/KIND/N`, with any query."""
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
    """Listen on one port of every address, print the port, and serve until standard input ends."""
    _BODIES.update(slow=slow_pages(), large=large_pages(), small=slow_pages(), greedy=greedy_pages())
    with socket.socket() as probe:
        probe.bind((SLOW_HOSTS[0], 0))
        port = probe.getsockname()[1]
    for host in (*SLOW_HOSTS, *LARGE_HOSTS):
        await asyncio.start_server(answer, host, port)
    print(json.dumps({"port": port}), flush=True)
    await asyncio.to_thread(sys.stdin.read)


if __name__ == "__main__":
    asyncio.run(serve())
