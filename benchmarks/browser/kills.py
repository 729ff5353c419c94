"""Kill or hang browsers in eight ways at random moments, and count the processes and profiles that are left.

Run it with `python -m benchmarks.browser.kills [--count 200]`; figures are in benchmarks/README.md.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Awaitable, Callable, Coroutine, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

from keyhole.extensions.browser.chromium import Browser, end_browser, find_browser, start_browser
from tests.support.browser_processes import processes_of

PATIENCE: Final = 10.0
"""Seconds after which a process counts as left."""
SERVER: Final = (
    "import asyncio, sys\nfrom keyhole.extensions.browser.chromium import start_browser\n"
    "async def main():\n    browser = await start_browser(sys.argv[1], 9, 'Keyhole', 60)\n"
    "    print(browser.supervisor.pid, browser.profile, flush=True)\n    await asyncio.sleep(60)\nasyncio.run(main())"
)
ENDLESS: Final = "for (;;);"
GREEDY: Final = "window.a = []; for (;;) a.push(new Uint8Array(5e7).fill(1))"
"""Fills memory outside of the heap of scripts, which has a limit of its own."""


def main() -> None:
    """Run all ways in turn, and print what is left of each."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=200)
    count = parser.parse_args().count
    program = find_browser()
    if program is None:
        sys.exit("no browser: apt-get install chromium-headless-shell")
    moments = random.Random(1)
    seconds: dict[str, list[float]] = {}
    left = profiles = 0
    for number in range(count):
        name = list(WAYS)[number % len(WAYS)]
        processes, profile, took = asyncio.run(WAYS[name](program, moments.uniform(0, 0.3)))
        seconds.setdefault(name, []).append(took)
        left += processes
        profiles += profile
    for name, times in seconds.items():
        median = sorted(times)[len(times) // 2]
        print(f"{name:34} {len(times):4} times, gone after {median:.2f} s, at most {max(times):.2f} s")
    print(f"{count} kills and hangs: {left} processes left, {profiles} profiles left")


Outcome = tuple[int, int, float]
"""Processes and profiles that are left, and the seconds until they were gone."""
Way = Callable[[str, float], Coroutine[Any, Any, Outcome]]


def _in_process(act: Callable[[Browser], Awaitable[None]], *, ends: bool) -> Way:
    """Return a way that acts on a browser of this process. `ends`: this process ends it, not the supervisor."""

    async def run(program: str, moment: float) -> Outcome:
        browser = await start_browser(program, 9, "Keyhole", 60)
        target = await browser.devtools.send("Target.createTarget", {"url": "about:blank"})
        attached = await browser.devtools.send("Target.attachToTarget", {**target, "flatten": True})
        await browser.devtools.send("Runtime.evaluate", {"expression": "1"}, attached["sessionId"])
        await asyncio.sleep(moment)
        seen = _identify(processes_of(browser.supervisor.pid))
        started = time.monotonic()
        await act(browser)
        if ends:
            await end_browser(browser)
        outcome = _wait(browser.supervisor, browser.profile, seen, started)
        if not ends:
            await end_browser(browser)
        return outcome

    return run


async def _kill_server(program: str, moment: float) -> Outcome:
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    command = [sys.executable, "-c", SERVER, program]
    with subprocess.Popen(command, stdout=subprocess.PIPE, env=environment) as server:  # noqa: ASYNC220
        assert server.stdout
        supervisor, profile = server.stdout.readline().decode().split()
        await asyncio.sleep(moment)
        seen = _identify(processes_of(int(supervisor)))
        started = time.monotonic()
        server.kill()
    return _wait(None, profile, seen, started)


async def _evaluate(browser: Browser, script: str) -> None:
    targets = (await browser.devtools.send("Target.getTargets"))["targetInfos"]
    page = next(target for target in reversed(targets) if target["type"] == "page")
    attached = await browser.devtools.send("Target.attachToTarget", {"targetId": page["targetId"], "flatten": True})
    browser.devtools.post("Runtime.evaluate", {"expression": script}, attached["sessionId"])


async def _hang(browser: Browser) -> None:
    await _evaluate(browser, ENDLESS)
    browser.set_deadline(0.5)


async def _hang_and_end(browser: Browser) -> None:
    await _evaluate(browser, ENDLESS)


async def _fill(browser: Browser) -> None:
    await _evaluate(browser, GREEDY)


async def _stop(browser: Browser) -> None:
    for process, name in processes_of(browser.supervisor.pid).items():
        if name != "supervisor":
            with suppress(ProcessLookupError):
                os.kill(process, signal.SIGSTOP)
    browser.set_deadline(0.5)


def _kill(victim: str) -> Callable[[Browser], Awaitable[None]]:
    async def kill(browser: Browser) -> None:
        names = {name: process for process, name in processes_of(browser.supervisor.pid).items()}
        os.kill(names[victim], signal.SIGKILL)

    return kill


WAYS: Final[Mapping[str, Way]] = {
    "server killed": _kill_server,
    "supervisor killed": _in_process(_kill("supervisor"), ends=True),
    "browser killed": _in_process(_kill("browser"), ends=False),
    "renderer killed": _in_process(_kill("renderer"), ends=True),
    "all stopped until the deadline": _in_process(_stop, ends=False),
    "endless script until the deadline": _in_process(_hang, ends=False),
    "endless script, then ended": _in_process(_hang_and_end, ends=True),
    "memory filled": _in_process(_fill, ends=False),
}


def _wait(
    supervisor: subprocess.Popen[bytes] | None, profile: str, seen: set[tuple[int, str]], started: float
) -> Outcome:
    """Wait until the processes and the profile are gone, at most for PATIENCE."""
    while True:
        if supervisor:
            supervisor.poll()
        left = len(seen & _identify(dict(seen)))
        has_profile = Path(profile).exists()
        took = time.monotonic() - started
        if not (left or has_profile) or took > PATIENCE:
            return left, int(has_profile), took
        time.sleep(0.01)


def _identify(processes: Mapping[int, object]) -> set[tuple[int, str]]:
    """Return the living processes of these, each with the time of its start, since ids are used again."""
    found = set()
    for process in processes:
        with suppress(OSError):
            fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
            if fields[0] != "Z":
                found.add((process, fields[19]))
    return found


if __name__ == "__main__":
    main()
