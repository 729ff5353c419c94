"""The start and the end of a browser: nothing of it is left, whatever dies first."""

from __future__ import annotations

import asyncio
import gc
import os
import signal
import subprocess
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest

from keyhole.extensions.browser.chromium import (
    FLAGS,
    Browser,
    DevToolsError,
    browser_command,
    end_browser,
    find_browser,
    start_browser,
)
from tests.support.browser_processes import processes_of
from tests.support.chromium import MISSING
from tests.support.waiting import wait_for

PROGRAM = find_browser()
needs_browser = pytest.mark.skipif(PROGRAM is None, reason=MISSING)


def test_a_named_program_is_found_and_a_missing_one_is_not(tmp_path: Path) -> None:
    program = tmp_path / "browser"
    program.touch(mode=0o755)
    assert find_browser(str(program)) == str(program)
    assert find_browser(str(tmp_path / "other")) is None


def test_the_command_has_all_flags_the_profile_and_the_proxy() -> None:
    command = browser_command("chromium", "/profile", 1234, "Agent/1 (+https://x)")
    assert set(FLAGS) < set(command)
    own = {"--user-data-dir=/profile", "--proxy-server=http://127.0.0.1:1234", "--user-agent=Agent/1 (+https://x)"}
    assert own < set(command)
    assert "--no-sandbox" not in command
    assert all(FLAGS.values())


async def open_page(browser: Browser) -> str:
    """Open an empty page and return its session."""
    target = await browser.devtools.send("Target.createTarget", {"url": "about:blank"})
    attached = await browser.devtools.send("Target.attachToTarget", {**target, "flatten": True})
    await browser.devtools.send("Runtime.evaluate", {"expression": "1"}, attached["sessionId"])
    return str(attached["sessionId"])


def run(act: Callable[[Browser], Awaitable[object]], seconds: float = 60) -> None:
    """Start a browser, act on it, end it, and check that nothing of it is left."""

    async def start_and_end() -> Browser:
        browser = await start_browser(str(PROGRAM), 9, "Keyhole-Test/1", seconds)
        try:
            await open_page(browser)
            assert {"supervisor", "browser", "zygote", "renderer"} <= set(processes_of(browser.supervisor.pid).values())
            await act(browser)
        finally:
            await end_browser(browser)
        return browser

    ended = asyncio.run(start_and_end())
    wait_for(lambda: not processes_of(ended.supervisor.pid))
    assert not Path(ended.profile).exists()


@needs_browser
def test_ending_a_browser_leaves_no_process_and_no_profile() -> None:
    async def use(browser: Browser) -> None:
        assert browser.is_alive
        assert (await browser.devtools.send("Browser.getVersion"))["userAgent"] == "Keyhole-Test/1"
        with pytest.raises(DevToolsError, match="wasn't found"):
            await browser.devtools.send("No.suchMethod")

    run(use)


@needs_browser
def test_a_browser_that_is_killed_takes_its_processes_with_it() -> None:
    async def kill(browser: Browser) -> None:
        endless = {"expression": "new Promise(() => 0)", "awaitPromise": True}
        waiting = asyncio.create_task(browser.devtools.send("Runtime.evaluate", endless, await open_page(browser)))
        names = {name: process for process, name in processes_of(browser.supervisor.pid).items()}
        os.kill(names["browser"], signal.SIGKILL)
        with pytest.raises(DevToolsError, match="the browser ended"):
            await waiting
        with pytest.raises(DevToolsError, match="the browser ended"):
            await browser.devtools.send("Browser.getVersion")
        wait_for(lambda: not processes_of(browser.supervisor.pid))

    run(kill)


@needs_browser
def test_nothing_is_left_when_the_supervisor_is_killed() -> None:
    async def kill(browser: Browser) -> None:
        os.kill(browser.supervisor.pid, signal.SIGKILL)
        wait_for(lambda: not browser.is_alive)

    run(kill)


@needs_browser
def test_the_supervisor_ends_a_browser_that_does_not_respond_at_the_deadline() -> None:
    async def stop(browser: Browser) -> None:
        for process, name in processes_of(browser.supervisor.pid).items():
            if name != "supervisor":
                os.kill(process, signal.SIGSTOP)
        browser.set_deadline(0.2)
        wait_for(lambda: not browser.is_alive)
        assert not processes_of(browser.supervisor.pid)

    run(stop)


@needs_browser
def test_nothing_is_left_when_the_server_is_killed() -> None:
    code = (
        "import asyncio, sys\nfrom keyhole.extensions.browser.chromium import start_browser\n"
        "async def main():\n    browser = await start_browser(sys.argv[1], 9, 'Keyhole-Test/1', 60)\n"
        "    print(browser.supervisor.pid, browser.profile, flush=True)\n    await asyncio.sleep(60)\n"
        "asyncio.run(main())"
    )
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    with subprocess.Popen(
        [sys.executable, "-c", code, str(PROGRAM)], stdout=subprocess.PIPE, env=environment
    ) as server:
        assert server.stdout
        supervisor, profile = server.stdout.readline().decode().split()
        assert "browser" in processes_of(int(supervisor)).values()
        server.kill()
    wait_for(lambda: not processes_of(int(supervisor)) and not Path(profile).exists())


def test_a_program_that_is_no_browser_is_an_error(tmp_path: Path) -> None:
    async def start() -> None:
        await start_browser("/bin/true", 9, "Keyhole-Test/1", 60)

    with pytest.raises(DevToolsError, match="the browser ended"):
        asyncio.run(start())


def test_a_start_that_is_cancelled_at_any_moment_leaves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = tmp_path / "browser"
    program.write_text("#!/bin/sh\nexec sleep 60\n")
    program.chmod(0o755)
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))

    async def cancel_after(turns: int) -> None:
        starting = asyncio.create_task(start_browser(str(program), 9, "Keyhole-Test/1", 60))
        for turn in range(turns + 2):
            await asyncio.sleep(0)
            if turn >= turns:  # at a deadline, the call and the page are cancelled one after the other
                starting.cancel()
        await asyncio.wait([starting])
        assert starting.cancelled()

    open_files = Path("/proc/self/fd")
    gc.collect()  # closes what earlier tests left
    before = len(list(open_files.iterdir()))
    for turns in range(5):
        asyncio.run(cancel_after(turns))
        gc.collect()  # warns of what was not closed
        assert len(list(open_files.iterdir())) == before
        assert [path.name for path in tmp_path.iterdir()] == ["browser"]
