"""Serve one TLS site at several distances, and a search engine whose results are pages of that site.

    python -m benchmarks.fetch.distant_site CERTIFICATE MILLISECONDS…

Prints the ports as JSON (of the engine, and of the site at each round trip time) and serves until standard input ends.
A relay in front of the site delays the bytes of each direction by half a round trip. The kernel accepts connections on
loopback at once, so the relay also holds the first bytes of each connection for the round trip of a TCP handshake.
"""

from __future__ import annotations

import asyncio
import json
import random
import ssl
import sys
from contextlib import suppress
from typing import Final

PAGES: Final = 5
WORDS: Final = 2_000
"""Words of a page, about 15 KB."""
RULES: Final = b"User-agent: *\nDisallow: /private\n" + b"".join(b"Disallow: /area%d/*/edit\n" % n for n in range(200))
QUESTION: Final = "How is the kettle descaled?"

_Chunk = tuple[float, bytes]


def page(number: int) -> bytes:
    """Return a page whose words differ from those of every other page, except one sentence about the question."""
    rng = random.Random(number)
    words = ["".join(rng.choices("abcdefghijklmnopqrstuvwxyz", k=rng.randint(3, 9))) for _ in range(WORDS)]
    paragraphs = [" ".join(words[start : start + 100]) for start in range(0, WORDS, 100)]
    paragraphs[number % len(paragraphs)] += f". The kettle of model {number} is descaled with vinegar"
    body = "".join(f"<p>{paragraph}.</p>\n" for paragraph in paragraphs)
    return f"<!doctype html><title>Kettle {number}</title><main><h1>Kettle {number}</h1>{body}</main>".encode()


FILES: Final = {"/robots.txt": RULES, **{f"/{number}": page(number) for number in range(1, PAGES + 1)}}


def http_response(body: bytes, kind: str, status: str = "200 OK") -> bytes:
    """Return the bytes of a response that leaves the connection open."""
    return f"HTTP/1.1 {status}\r\nContent-Type: {kind}\r\nContent-Length: {len(body)}\r\n\r\n".encode() + body


async def answer_site(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Answer all requests of a connection to the site."""
    with suppress(asyncio.IncompleteReadError, OSError):
        while head := await reader.readuntil(b"\r\n\r\n"):
            path = head.split(b" ", 2)[1].decode()
            kind = "text/plain" if path == "/robots.txt" else "text/html; charset=utf-8"
            body = FILES.get(path, b"")
            writer.write(http_response(body, kind, "200 OK" if body else "404 Not Found"))
            await writer.drain()
            if b"connection: close" in head.lower():
                break
    writer.close()


async def answer_engine(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Answer a search with the pages of the site whose port is the first part of the path."""
    with suppress(asyncio.IncompleteReadError, OSError):
        port = (await reader.readuntil(b"\r\n\r\n")).split(b"/", 2)[1].decode()
        rows = [
            {"url": f"https://127.0.0.1:{port}/{number}", "title": f"Kettle {number}", "content": "descaled kettle"}
            for number in range(1, PAGES + 1)
        ]
        writer.write(http_response(json.dumps({"query": "", "results": rows}).encode(), "application/json"))
        await writer.drain()
    writer.close()


async def start_relay(port: int, seconds: float) -> int:
    """Start a relay to `port` with a round trip of `seconds`; return its port."""

    async def relay(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        opened = asyncio.get_running_loop().time()
        site_reader, site_writer = await asyncio.open_connection("127.0.0.1", port)
        await asyncio.gather(
            _copy_late(reader, site_writer, seconds / 2, opened + 1.5 * seconds),
            _copy_late(site_reader, writer, seconds / 2, 0.0),
        )

    server = await asyncio.start_server(relay, "127.0.0.1", 0)
    return int(server.sockets[0].getsockname()[1])


async def _copy_late(
    reader: asyncio.StreamReader, writer: asyncio.StreamWriter, seconds: float, earliest: float
) -> None:
    """Copy bytes `seconds` after they arrive, and not before the time `earliest`; then close the other side."""
    queue: asyncio.Queue[_Chunk] = asyncio.Queue()
    clock = asyncio.get_running_loop().time

    async def receive() -> None:
        with suppress(OSError):
            while data := await reader.read(65_536):
                queue.put_nowait((max(clock() + seconds, earliest), data))
        queue.put_nowait((clock() + seconds, b""))

    receiving = asyncio.create_task(receive())
    with suppress(OSError):
        while True:
            due, data = await queue.get()
            await asyncio.sleep(due - clock())
            if not data:
                break
            writer.write(data)
            await writer.drain()
    receiving.cancel()
    writer.close()


async def main(certificate: str, distances: list[int]) -> None:
    """Serve until standard input ends."""
    tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    tls.load_cert_chain(certificate)
    site = await asyncio.start_server(answer_site, "127.0.0.1", 0, ssl=tls)
    engine = await asyncio.start_server(answer_engine, "127.0.0.1", 0)
    port = site.sockets[0].getsockname()[1]
    ports = {str(distance): await start_relay(port, distance / 1_000) for distance in distances}
    print(json.dumps({"engine": engine.sockets[0].getsockname()[1], **ports}), flush=True)
    await asyncio.to_thread(sys.stdin.read)


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1], [int(milliseconds) for milliseconds in sys.argv[2:]]))
