"""Measure what the proxy adds to a call over stdio: time per call, its memory over many calls, and calls out of order.

`python -m benchmarks.proxy.overhead` runs one server directly and behind the proxy, in turns on one machine.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

CLIENT = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "claude-code", "version": "2.2"}}


def serve() -> None:
    """Serve a tool whose argument is the size of its result, and whether the answers of several calls are shuffled."""
    waiting: list[bytes] = []
    shuffled = random.Random(1)
    for line in sys.stdin.buffer:
        message = json.loads(line)
        if message.get("method") == "initialize":
            result: dict[str, Any] = {"protocolVersion": "2025-06-18", "capabilities": {"tools": {}}, "serverInfo": {}}
        elif message.get("method") == "tools/call":
            arguments = message["params"]["arguments"]
            result = {"content": [{"type": "text", "text": _text(arguments["size"])}]}
            if arguments.get("group"):
                waiting.append(_answer(message["id"], result))
                if len(waiting) < arguments["group"]:
                    continue
                shuffled.shuffle(waiting)
                sys.stdout.buffer.write(b"".join(waiting))
                sys.stdout.buffer.flush()
                waiting.clear()
                continue
        else:
            continue
        sys.stdout.buffer.write(_answer(message["id"], result))
        sys.stdout.buffer.flush()


def _answer(id: object, result: Any) -> bytes:
    return json.dumps({"jsonrpc": "2.0", "id": id, "result": result}).encode() + b"\n"


_TEXTS: dict[int, str] = {}


def _text(size: int) -> str:
    """Return log lines of words, as large as `size`."""
    if size not in _TEXTS:
        words = random.Random(2)
        lines: list[str] = []
        while sum(map(len, lines)) + len(lines) < min(size, 10_000):
            name = "".join(words.choice("abcdefghijklmnop") for _ in range(6))
            lines.append(f"2026-11-01T10:00:{len(lines) % 60:02} worker {name} copied {words.randrange(10**6)} rows")
        text = "\n".join(lines)
        _TEXTS[size] = (text * (size // len(text) + 1))[:size]
    return _TEXTS[size]


class Server:
    """A client's end of the pipes of a server or of the proxy."""

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        assert process.stdin and process.stdout
        self.process, self._in, self._out = process, process.stdin, process.stdout
        self._id = 0
        self.send("initialize", CLIENT)
        self.receive()

    def send(self, method: str, params: Any) -> int:
        self._id += 1
        self._in.write(
            json.dumps({"jsonrpc": "2.0", "id": self._id, "method": method, "params": params}).encode() + b"\n"
        )
        self._in.flush()
        return self._id

    def receive(self) -> bytes:
        return self._out.readline()

    def call(self, **arguments: Any) -> bytes:
        self.send("tools/call", {"name": "text", "arguments": arguments})
        return self.receive()

    def memory(self) -> int:
        """Return the resident bytes of the process."""
        pages = Path(f"/proc/{self.process.pid}/statm").read_text().split()[1]
        return int(pages) * os.sysconf("SC_PAGE_SIZE")


@contextmanager
def running(*words: str) -> Iterator[Server]:
    """Run the server behind these words of a command line."""
    command = [*words, sys.executable, "-m", "benchmarks.proxy.overhead", "--serve"]
    with tempfile.TemporaryDirectory() as home:
        env = {**os.environ, "KEYHOLE_HOME": home}
        process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=env)
        try:
            yield Server(process)
        finally:
            process.communicate()


PROXY = (sys.executable, "-m", "keyhole", "proxy", "--")


def time_calls(server: Server, count: int, size: int) -> list[float]:
    """Return the milliseconds of each call."""
    times = []
    for _ in range(count):
        start = time.perf_counter()
        server.call(size=size)
        times.append((time.perf_counter() - start) * 1_000)
    return times


def measure_calls(counts: Sequence[tuple[int, int]]) -> None:
    """Print the time of calls by the size of their result, directly and through the proxy."""
    print("result       calls   direct p50   proxy p50   proxy p95   added p50")
    with running() as direct, running(*PROXY) as proxied:
        for size, count in counts:
            proxied.call(size=size)  # the first shortened result loads the store
            plain, added = time_calls(direct, count, size), time_calls(proxied, count, size)
            p50, p95 = statistics.median(added), statistics.quantiles(added, n=20)[-1]
            before = statistics.median(plain)
            print(f"{size:>9,} B {count:>6} {before:>9.2f} ms {p50:>8.2f} ms {p95:>8.2f} ms {p50 - before:>8.2f} ms")


def measure_memory(count: int) -> None:
    """Print the proxy's memory over many calls of 1 KB."""
    with running(*PROXY) as proxied:
        time_calls(proxied, 1_000, 1_000)
        before = proxied.memory()
        start = time.perf_counter()
        time_calls(proxied, count, 1_000)
        seconds = time.perf_counter() - start
        print(f"memory after 1,000 calls {before / 1e6:.1f} MB, after {count:,} more {proxied.memory() / 1e6:.1f} MB")
        print(f"{count / seconds:,.0f} calls a second, one after the other")


def measure_order(group: int, rounds: int) -> None:
    """Print whether concurrent calls whose answers come out of order all get their own."""
    right = 0
    with running(*PROXY) as proxied:
        for number in range(rounds):
            sizes = {
                proxied.send("tools/call", {"name": "text", "arguments": {"size": 100 + each, "group": group}}): 100
                + each
                for each in range(group)
            }
            for _ in range(group):
                answer = json.loads(proxied.receive())
                right += len(answer["result"]["content"][0]["text"]) == sizes[answer["id"]]
            assert number < rounds
    print(f"{right:,} of {group * rounds:,} answers of {group} concurrent calls reached their callers")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--serve", action="store_true", help="run the measured server")
    parser.add_argument("--calls", type=int, default=5_000, help="calls of which the memory is measured")
    arguments = parser.parse_args()
    if arguments.serve:
        serve()
        return
    measure_calls([(1_000, 500), (100_000, 20), (1_000_000, 10)])
    measure_order(100, 10)
    measure_memory(arguments.calls)


if __name__ == "__main__":
    main()
