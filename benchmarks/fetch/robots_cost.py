"""Measure the cost of robots.txt: the first and second page of a slow site, with and without it.

    python -m benchmarks.fetch.robots_cost [MILLISECONDS]

A server on loopback answers every request after this delay (default 50 ms).
"""

from __future__ import annotations

import asyncio
import sys
import time
from statistics import median

from keyhole.config.config import Config
from keyhole.fetch.client import HttpFetcher

RUNS = 9
RULES = b"User-agent: *\nDisallow: /private\n" + b"".join(b"Disallow: /area%d/*/edit\n" % n for n in range(200))


async def serve(delay: float) -> asyncio.Server:
    """Start a server with a robots.txt and a page."""

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = await reader.readuntil(b"\r\n\r\n")
        await asyncio.sleep(delay)
        body = RULES if head.startswith(b"GET /robots.txt") else b"<p>A page."
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\nConnection: close\r\n\r\n" % len(body) + body)
        await writer.drain()
        writer.close()

    return await asyncio.start_server(answer, "127.0.0.1", 0)


async def measure(endpoint: str, robots: str) -> tuple[float, float]:
    """Return the milliseconds of the first and second page that a fetcher fetches."""
    config = Config(allow_private=frozenset({endpoint}), robots=robots)
    async with HttpFetcher(config, "Keyhole/1", unlimited=frozenset()) as fetcher:
        times = [time.perf_counter()]
        for page in "12":
            await fetcher.fetch(f"http://{endpoint}/{page}")
            times.append(time.perf_counter())
    return (times[1] - times[0]) * 1_000, (times[2] - times[1]) * 1_000


async def main(milliseconds: float) -> None:
    """Print the table."""
    server = await serve(milliseconds / 1_000)
    endpoint = f"127.0.0.1:{server.sockets[0].getsockname()[1]}"
    await measure(endpoint, "on")  # loads the parser, which happens once per process
    print("| robots.txt | first page, ms | second page, ms |\n| --- | ---: | ---: |")
    for robots in ("off", "on"):
        runs = [await measure(endpoint, robots) for _ in range(RUNS)]
        first, second = (median(column) for column in zip(*runs, strict=True))
        print(f"| {robots} | {first:.0f} | {second:.0f} |")
    server.close()


if __name__ == "__main__":
    asyncio.run(main(float(sys.argv[1]) if len(sys.argv) > 1 else 50.0))
