"""Kill the server, the proxy or the client with SIGKILL at random points, and count what is wrong afterwards.

`python -m benchmarks.proxy.kills [--points 200] [--seed 1]` prints the counts, and fails if one is wrong (Linux only).
"""

from __future__ import annotations

import argparse
import ctypes
import json
import os
import random
import re
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

VICTIMS: Final = ("server", "proxy", "client")
CALLS: Final = 8
SIZES: Final = (100, 20_000, 200_000)
"""Characters of results: one that passes unchanged, and two that are bounded and stored."""
WINDOW_SECONDS: Final = 1.0
"""Seconds after the calls were sent in which the kill happens: answering all of them takes about as long."""
ANSWER_SECONDS: Final = 0.2
"""Seconds that the server takes for an answer at most, so that kills of it come between its answers."""
END_SECONDS: Final = 20.0
"""Seconds in which all processes must have ended and callers must have their answers."""
PR_SET_CHILD_SUBREAPER: Final = 36
"""Number from <linux/prctl.h>: processes whose parent was killed become children of this process."""
_READ_ON: Final = re.compile(r'read_artifact\(id="([^"]+)"')


@dataclass
class Counts:
    """What was seen over all points. `wrong` must be empty at the end."""

    answers: Counter[str] = field(default_factory=Counter)
    wrong: Counter[str] = field(default_factory=Counter)
    stored: set[str] = field(default_factory=set)
    """Ids of stored results that answers named."""

    def note(self, message: Any) -> None:
        """Count an answer as a whole result, a shortened one, or the code of an error."""
        if "error" in message:
            self.answers[message["error"]["data"]["code"]] += 1
            return
        ids = _READ_ON.findall(message["result"]["content"][0]["text"])
        self.stored.update(ids)
        self.answers["shortened" if ids else "whole"] += 1


def serve() -> None:
    """Serve a tool whose argument is the size of its result. The version of the server is its process id."""
    chance = random.Random(os.getpid())
    for line in sys.stdin:
        message = json.loads(line)
        if message["method"] == "initialize":
            info = {"name": "killed", "version": str(os.getpid())}
            result: dict[str, Any] = {
                "protocolVersion": "2025-06-18",
                "capabilities": {"tools": {}},
                "serverInfo": info,
            }
        elif message["method"] == "tools/call":
            size, seed = message["params"]["arguments"]["size"], message["params"]["arguments"]["seed"]
            time.sleep(chance.random() * ANSWER_SECONDS)
            text = "\n".join(f"{seed} row {number} has {number * 7919 % 10_007}" for number in range(size // 20 + 1))
            result = {"content": [{"type": "text", "text": text[:size]}]}
        else:
            continue
        print(json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": result}), flush=True)


def start_proxy(home: Path, **options: Any) -> subprocess.Popen[bytes]:
    """Start the proxy in front of the server of this file."""
    command = [
        sys.executable,
        "-m",
        "keyhole",
        "proxy",
        "--",
        sys.executable,
        "-m",
        "benchmarks.proxy.kills",
        "--serve",
    ]
    env = {**os.environ, "KEYHOLE_HOME": str(home)}
    return subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=env, **options)


def send(proxy: subprocess.Popen[bytes], id: int, method: str, **params: Any) -> None:
    assert proxy.stdin
    message = {"jsonrpc": "2.0", "id": id, "method": method, "params": params}
    proxy.stdin.write(json.dumps(message).encode() + b"\n")
    proxy.stdin.flush()


def greet(proxy: subprocess.Popen[bytes]) -> int:
    """Greet the server through the proxy and return its process id."""
    assert proxy.stdout
    send(proxy, 0, "initialize", protocolVersion="2025-06-18", capabilities={}, clientInfo={"name": "claude-code"})
    return int(json.loads(proxy.stdout.readline())["result"]["serverInfo"]["version"])


def call_all(proxy: subprocess.Popen[bytes], chance: random.Random) -> None:
    for id in range(1, CALLS + 1):
        send(proxy, id, "tools/call", name="rows", arguments={"size": chance.choice(SIZES), "seed": chance.random()})


def be_client(seed: str) -> None:
    """Call the proxy and read its answers until this process is killed. Prints the ids of both other processes."""
    with start_proxy(Path(os.environ["KEYHOLE_HOME"])) as proxy:
        print(greet(proxy), proxy.pid, flush=True)
        call_all(proxy, random.Random(seed))
        assert proxy.stdout
        for _ in proxy.stdout:
            pass


def kill_one(victim: str, home: Path, seed: str, counts: Counts) -> None:
    """Start all processes, kill one of them at a random moment, and count what is wrong afterwards."""
    if victim == "client":
        _kill_client(home, seed, counts)
        return
    chance = random.Random(seed)
    with start_proxy(home, stderr=subprocess.DEVNULL) as proxy:
        server = greet(proxy)
        with suppress(BrokenPipeError):
            call_all(proxy, chance)
        time.sleep(chance.random() * WINDOW_SECONDS)
        os.kill(server if victim == "server" else proxy.pid, signal.SIGKILL)
        ids = _read_answers(proxy, CALLS if victim == "server" else 0, counts)
        if victim == "server":
            counts.wrong["a caller got no answer"] += CALLS - len(set(ids))
            assert proxy.stdin
            proxy.stdin.close()
            ids += _read_answers(proxy, 0, counts)
            counts.wrong["the proxy failed"] += proxy.wait(END_SECONDS) != 0
        counts.wrong["a caller got two answers"] += len(ids) - len(set(ids))
    _expect_ended(server, counts)


def _read_answers(proxy: subprocess.Popen[bytes], count: int, counts: Counts) -> list[int]:
    """Return the ids of answers: `count` of them, or with 0 all until the end of the stream."""
    assert proxy.stdout
    ids: list[int] = []
    while not count or len(ids) < count:
        line = proxy.stdout.readline()
        if not line:
            break
        try:
            message = json.loads(line)
        except ValueError:
            counts.wrong["half a line"] += 1
            continue
        if "id" in message:
            ids.append(message["id"])
            counts.note(message)
    return ids


def _kill_client(home: Path, seed: str, counts: Counts) -> None:
    command = [sys.executable, "-m", "benchmarks.proxy.kills", "--client", seed]
    env = {**os.environ, "KEYHOLE_HOME": str(home)}
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=env) as client:
        assert client.stdout
        others = [int(pid) for pid in client.stdout.readline().split()]
        time.sleep(random.Random(seed).random() * WINDOW_SECONDS)
        client.kill()
    for pid in others:
        _expect_ended(pid, counts)


def _expect_ended(pid: int, counts: Counts) -> None:
    """Wait until a process has ended. One whose parent was killed is waited for as its new parent."""
    deadline = time.monotonic() + END_SECONDS
    while time.monotonic() < deadline:
        with suppress(ChildProcessError):
            os.waitpid(pid, os.WNOHANG)
        if not Path(f"/proc/{pid}").exists():
            return
        time.sleep(0.02)
    state = "zombie" if ") Z " in Path(f"/proc/{pid}/stat").read_text() else "process"
    counts.wrong[f"a {state} is left"] += 1
    with suppress(ProcessLookupError):
        os.kill(pid, signal.SIGKILL)


def check_store(home: Path, counts: Counts) -> None:
    """Count damage in the store, and stored results that were named to the client and cannot be read."""
    env = {**os.environ, "KEYHOLE_HOME": str(home)}
    with start_proxy(home) as proxy:
        assert proxy.stdout
        greet(proxy)
        for number, id in enumerate(sorted(counts.stored), start=1):
            send(proxy, number, "tools/call", name="read_artifact", arguments={"id": id, "offset": 0, "limit": 1_000})
            result = json.loads(proxy.stdout.readline())["result"]
            counts.wrong["a stored result cannot be read"] += bool(result.get("isError"))
        proxy.communicate(timeout=END_SECONDS)
    verify = subprocess.run([sys.executable, "-m", "keyhole", "artifacts", "verify"], env=env, capture_output=True)
    counts.wrong["the store is damaged"] += verify.returncode != 0


def run(points: int, seed: int, home: Path) -> Counts:
    """Kill at this many points, the victims in turns, all with one store."""
    set_option, counts = ctypes.CDLL(None).prctl, Counts()
    set_option(PR_SET_CHILD_SUBREAPER, 1)
    try:
        for point in range(points):
            kill_one(VICTIMS[point % len(VICTIMS)], home, f"{seed}/{point}", counts)
    finally:
        set_option(PR_SET_CHILD_SUBREAPER, 0)
    check_store(home, counts)
    counts.wrong = +counts.wrong
    return counts


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--points", type=int, default=200, help="kills, the victims in turns")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--serve", action="store_true", help="be the server")
    parser.add_argument("--client", help="be the client, with this seed")
    arguments = parser.parse_args()
    if arguments.serve:
        serve()
        return 0
    if arguments.client:
        be_client(arguments.client)
        return 0
    with tempfile.TemporaryDirectory() as home:
        counts = run(arguments.points, arguments.seed, Path(home))
    print(f"{arguments.points} kills, {len(counts.stored)} stored results")
    for name, count in sorted(counts.answers.items()):
        print(f"answers: {name:<24} {count:>6,}")
    for name, count in sorted(counts.wrong.items()):
        print(f"wrong: {name:<26} {count:>6,}")
    print("wrong: nothing" if not counts.wrong else "")
    return 1 if counts.wrong else 0


if __name__ == "__main__":
    raise SystemExit(main())
