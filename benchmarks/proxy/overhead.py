"""Measure what the proxy adds to a call over stdio: time per call, its memory over many calls, and calls out of order.

It also measures how long pings take beside calls with large results.

`python -m benchmarks.proxy.overhead` runs one server directly and behind the proxy, call by call in turns. On a busy
machine the CPU time of the proxy says more than the time of a call.
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
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

CLIENT = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "claude-code", "version": "2.2"}}


def serve() -> None:
    """Serve a tool whose argument is the size of its result, and whether the answers of several calls are shuffled."""
    waiting: list[bytes] = []
    called = 0
    shuffled = random.Random(1)
    for line in sys.stdin.buffer:
        message = json.loads(line)
        if message.get("method") == "initialize":
            result: dict[str, Any] = {"protocolVersion": "2025-06-18", "capabilities": {"tools": {}}, "serverInfo": {}}
        elif message.get("method") == "tools/call":
            arguments = message["params"]["arguments"]
            called += 1
            text = f"call {called:09}\n{_text(arguments['size'])}"[: arguments["size"]]
            result = {"content": [{"type": "text", "text": text}]}
            if arguments.get("group"):
                waiting.append(_answer(message["id"], result))
                if len(waiting) < arguments["group"]:
                    continue
                shuffled.shuffle(waiting)
                sys.stdout.buffer.write(b"".join(waiting))
                sys.stdout.buffer.flush()
                waiting.clear()
                continue
        elif message.get("method") == "ping":
            result = {}
        else:
            continue
        sys.stdout.buffer.write(_answer(message["id"], result))
        sys.stdout.buffer.flush()


def _answer(id: object, result: Any) -> bytes:
    return json.dumps({"jsonrpc": "2.0", "id": id, "result": result}).encode() + b"\n"


_TEXTS: dict[int, str] = {}


def _text(size: int) -> str:
    """Return different log lines of words, as large as `size`."""
    if size not in _TEXTS:
        words = random.Random(2)
        names = ["".join(words.choices("abcdefghijklmnop", k=words.randrange(3, 10))) for _ in range(5_000)]
        lines: list[str] = []
        while len(lines) * 40 < size:
            time_of_day = f"{len(lines) // 3_600 % 24:02}:{len(lines) // 60 % 60:02}:{len(lines) % 60:02}"
            first, second, third = words.choices(names, k=3)
            lines.append(f"2026-11-01T{time_of_day} {first} {second} copied {words.randrange(10**6)} rows to {third}")
        _TEXTS[size] = "\n".join(lines)[:size]
    return _TEXTS[size]


class Server:
    """A client's end of the pipes of a server or of the proxy."""

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        assert process.stdin and process.stdout
        self.process, self._in, self._out = process, process.stdin, process.stdout
        self.last_id = 0
        self.send("initialize", CLIENT)
        self.receive()

    def send(self, method: str, params: Any) -> int:
        self.last_id += 1
        self._in.write(
            json.dumps({"jsonrpc": "2.0", "id": self.last_id, "method": method, "params": params}).encode() + b"\n"
        )
        self._in.flush()
        return self.last_id

    def receive(self) -> bytes:
        return self._out.readline()

    def call(self, **arguments: Any) -> bytes:
        self.send("tools/call", {"name": "text", "arguments": arguments})
        return self.receive()

    def memory(self) -> int:
        """Return the resident bytes of the process."""
        pages = Path(f"/proc/{self.process.pid}/statm").read_text().split()[1]
        return int(pages) * os.sysconf("SC_PAGE_SIZE")

    def cpu(self) -> float:
        """Return the milliseconds of CPU time that the process has used."""
        fields = Path(f"/proc/{self.process.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) * 1_000 / os.sysconf("SC_CLK_TCK")


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


ARGUMENTS: dict[str, Any] = {"path": "/srv/logs/worker/copied.log", "since": "the last rows"}
"""Arguments of a call whose words rank the parts of its result."""


def time_call(server: Server, **arguments: Any) -> float:
    """Return the milliseconds of a call."""
    start = time.perf_counter()
    server.call(**arguments)
    return (time.perf_counter() - start) * 1_000


def measure_calls(counts: Sequence[tuple[int, int]]) -> None:
    """Print the time of calls by the size of their result, directly and through the proxy."""
    print("result                calls   direct p50   proxy p50   proxy p95   added p50   CPU of the proxy")
    with running() as direct, running(*PROXY) as proxied:
        for size, count in counts:
            for label, arguments in (("", {}), (", words", ARGUMENTS)):
                proxied.call(size=size, **arguments)  # the first shortened result loads the store
                plain, added, cpu = [], [], proxied.cpu()
                for _ in range(count):
                    plain.append(time_call(direct, size=size, **arguments))
                    added.append(time_call(proxied, size=size, **arguments))
                cpu = (proxied.cpu() - cpu) / count
                p50, p95 = statistics.median(added), statistics.quantiles(added, n=20)[-1]
                before = statistics.median(plain)
                print(
                    f"{f'{size:,} B{label}':<20} {count:>6} {before:>9.2f} ms {p50:>8.2f} ms {p95:>8.2f} ms "
                    f"{p50 - before:>8.2f} ms {cpu:>15.2f} ms"
                )


def measure_memory(count: int, size: int) -> None:
    """Print the proxy's memory over many calls."""
    with running(*PROXY) as proxied:
        first = min(1_000, count)
        for _ in range(first):
            proxied.call(size=size)
        before = proxied.memory()
        start = time.perf_counter()
        for _ in range(count):
            proxied.call(size=size)
        seconds = time.perf_counter() - start
        after = proxied.memory()
        print(
            f"memory after {first:,} calls of {size:,} B {before / 1e6:.1f} MB, "
            f"after {count:,} more {after / 1e6:.1f} MB"
        )
        print(f"{count / seconds:,.0f} calls a second, one after the other")


def measure_order(group: int, rounds: int) -> None:
    """Print whether concurrent calls whose answers come out of order all get their own."""
    right = 0
    with running(*PROXY) as proxied:
        for _ in range(rounds):
            sizes = {
                proxied.send("tools/call", {"name": "text", "arguments": {"size": 100 + each, "group": group}}): 100
                + each
                for each in range(group)
            }
            for _ in range(group):
                answer = json.loads(proxied.receive())
                right += len(answer["result"]["content"][0]["text"]) == sizes[answer["id"]]
    print(f"{right:,} of {group * rounds:,} answers of {group} concurrent calls reached their callers")


def measure_pings(results: int, size: int) -> None:
    """Print how long pings take directly and through the proxy, beside calls with large results."""
    print(f"{f'pings beside {results} results of {size:,} B':<45}   first        p50        p95        max")
    for label, words in (("direct", ()), ("proxy", PROXY)):
        with running(*words) as server:
            server.call(size=size)  # the server makes its text, and the proxy loads the store
            times = time_pings(server, results, size)
            before = server.memory()
        values = times[0], statistics.median(times), statistics.quantiles(times, n=20)[-1], max(times)
        shown = " ".join(f"{value:>7.1f} ms" for value in values)
        print(f"{label + f', {before / 1e6:.0f} MB of memory afterwards':<45} {shown}")


def time_pings(server: Server, results: int, size: int) -> list[float]:
    """Return the milliseconds of pings, sent every 20 ms from the calls on until their results have arrived."""
    calls = {
        server.send("tools/call", {"name": "text", "arguments": {"size": size, **ARGUMENTS}}) for _ in range(results)
    }
    sent: dict[int, float] = {}
    times: dict[int, float] = {}
    has_all = threading.Event()

    def ping() -> None:
        while not sent or not has_all.wait(0.02):
            sent[server.last_id + 1] = time.perf_counter()
            server.send("ping", {})

    pinging = threading.Thread(target=ping)
    pinging.start()
    while calls or len(times) < len(sent):
        id = json.loads(server.receive())["id"]
        now = time.perf_counter()
        if id in calls:
            calls.remove(id)
        else:
            times[id] = (now - sent[id]) * 1_000
        if not calls and not has_all.is_set():
            has_all.set()
            pinging.join()
    return [times[id] for id in sorted(times)]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--serve", action="store_true", help="run the measured server")
    parser.add_argument("--calls", type=int, default=5_000, help="calls of 1 KB over which the memory is measured")
    parser.add_argument("--bounded", type=int, default=200, help="calls of 100 KB over which the memory is measured")
    parser.add_argument("--pings", action="store_true", help="measure only the pings beside large results")
    arguments = parser.parse_args()
    if arguments.serve:
        serve()
        return
    measure_pings(12, 2_000_000)
    if arguments.pings:
        return
    measure_calls([(1_000, 500), (100_000, 40), (1_000_000, 40)])
    measure_order(100, 10)
    measure_memory(arguments.calls, 1_000)
    measure_memory(arguments.bounded, 100_000)


if __name__ == "__main__":
    main()
