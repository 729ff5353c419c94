"""`keyhole serve --http --processes N`: one port, several processes."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from http.client import HTTPConnection
from pathlib import Path

import pytest

from tests.support.admission import modern
from tests.support.loopback import PATIENCE
from tests.support.server_process import ACCEPT
from tests.support.waiting import wait_for

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="counts processes by /proc")
COMMAND = (sys.executable, "-m", "keyhole", "serve", "--http", "--port", "0", "--processes", "2")


@contextmanager
def running(home: Path, **settings: str) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """Run two processes; yield their parent and its first line, which ends with the URL."""
    environment = {**os.environ, "KEYHOLE_HOME": str(home), **settings}
    with subprocess.Popen(COMMAND, env=environment, stderr=subprocess.PIPE, text=True) as parent:
        try:
            assert parent.stderr
            yield parent, parent.stderr.readline().strip()
        finally:
            if parent.poll() is None:
                for process in [parent.pid, *children_of(parent.pid)]:
                    os.kill(process, signal.SIGKILL)


def call(url: str) -> int:
    """Make a call over a connection of its own; return the status."""
    body, headers = modern("https://nowhere.invalid/", name="read_artifact")
    body = body.replace(b'"url": "https://nowhere.invalid/"', b'"id": "aaaaaaaaaaaaaaaa"')
    connection = HTTPConnection(url.split("/")[2], timeout=PATIENCE)
    try:
        connection.request("POST", "/mcp", body, {"Content-Type": "application/json", **ACCEPT, **headers})
        return connection.getresponse().status
    except ConnectionError:
        return 0
    finally:
        connection.close()


def children_of(process: int) -> list[int]:
    return [int(child) for child in Path(f"/proc/{process}/task/{process}/children").read_text().split()]


def test_both_processes_answer_and_one_that_ends_is_started_again(tmp_path: Path) -> None:
    with running(tmp_path) as (parent, line):
        url = line.rpartition(" ")[2]
        wait_for(lambda: len(children_of(parent.pid)) == 2)
        assert Counter(call(url) for _ in range(20)) == {200: 20}
        first, second = children_of(parent.pid)
        os.kill(first, signal.SIGKILL)
        wait_for(lambda: len(children_of(parent.pid)) == 2 and first not in children_of(parent.pid))
        assert second in children_of(parent.pid)
        wait_for(lambda: call(url) == 200)
        parent.send_signal(signal.SIGTERM)
        assert parent.wait(PATIENCE) == 0


def test_wrong_settings_end_all_processes(tmp_path: Path) -> None:
    tokens = tmp_path / "tokens"
    tokens.write_text("no token file")
    with running(tmp_path, KEYHOLE_TOKENS_FILE=str(tokens)) as (parent, line):
        assert parent.wait(PATIENCE) == 2
    assert "KEYHOLE_TOKENS_FILE" in line
