"""`keyhole look`: it prints a link, opens the browser, serves until Ctrl-C, and writes exported files."""

from __future__ import annotations

import os
import re
import shlex
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing, contextmanager
from http.client import HTTPConnection
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from keyhole.cli.main import main
from keyhole.config.config import Config
from keyhole.store.base import LOCAL
from keyhole.store.open import open_stores
from tests.store.calls import samples
from tests.support.loopback import PATIENCE
from tests.support.waiting import wait_for

Captured = pytest.CaptureFixture[str]


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a home folder whose log has one call."""
    folder = tmp_path / "home"
    monkeypatch.setenv("KEYHOLE_HOME", str(folder))
    stores = open_stores(Config(home=folder))
    stores.for_tenant(LOCAL)  # creates the folder
    stores.calls_for(LOCAL).add(samples.call("c1", "s1", query="zebra crossing", started_at=9e9))
    stores.close()
    return folder


@contextmanager
def looking(home: Path, *options: str, browser: str = "") -> Iterator[tuple[subprocess.Popen[bytes], str]]:
    """Run the command, and yield its process and the link that it prints."""
    process = subprocess.Popen(
        [sys.executable, "-m", "keyhole", "look", *options],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env={**os.environ, "KEYHOLE_CONFIG": "off", "KEYHOLE_HOME": str(home), "BROWSER": browser},
    )
    try:
        assert process.stdout
        yield process, process.stdout.readline().decode().strip()
    finally:
        process.kill()
        process.communicate()


def get(link: str, cookie: str = "") -> tuple[int, str, str]:
    """Return status, cookie and body of a GET."""
    parts = urlsplit(link)
    connection = HTTPConnection(parts.netloc, timeout=PATIENCE)
    try:
        connection.request("GET", f"{parts.path}?{parts.query}", headers={"Cookie": cookie} if cookie else {})
        answer = connection.getresponse()
        return answer.status, (answer.getheader("Set-Cookie") or "").split(";")[0], answer.read().decode()
    finally:
        connection.close()


def test_the_command_serves_the_pages_and_opens_them_in_the_browser_until_ctrl_c(home: Path) -> None:
    opened, browser = home / "opened", home / "browser.py"
    browser.write_text("import pathlib, sys; pathlib.Path(sys.argv[1]).write_text(sys.argv[2])")
    with looking(home, browser=f"{shlex.join([sys.executable, str(browser), str(opened)])} %s") as (process, link):
        assert re.fullmatch(r"http://127\.0\.0\.1:\d+/\?token=[\w-]{43}", link)
        wait_for(lambda: opened.exists() and bool(opened.read_text()))
        once = opened.read_text()
        assert once != link
        status, cookie, _ = get(once)
        assert (status, get(once)[0], get(link)[0]) == (200, 403, 200)
        page = urlsplit(link)._replace(query="words=zebra").geturl()
        assert "zebra crossing" in get(page, cookie)[2]
        assert get(page)[0] == 403
        with closing(HTTPConnection(urlsplit(link).netloc, timeout=PATIENCE)) as stream:  # of a page that is open
            stream.request("GET", "/live", headers={"Cookie": cookie})
            assert stream.getresponse().read(6) == b"retry:"
            process.send_signal(signal.SIGINT)
            _, errors = process.communicate(timeout=PATIENCE)
        assert process.returncode == 0
        assert errors.decode().splitlines() == ["keyhole: the pages are served at this link until Ctrl-C"]


@pytest.mark.parametrize(
    ("words", "fault"),
    [
        (["--session", "x"], "--session and --call need --export"),
        (["--port", "99999"], "a port is from 0 to 65,535"),
        (["--export", "{home}/none/x.html"], "cannot be written: No such file"),
        (["--export", "x.html", "--session", "none"], "no session none"),
    ],
)
def test_a_wrong_command_line_is_refused(home: Path, capsys: Captured, words: list[str], fault: str) -> None:
    assert main(["look", *(word.format(home=home) for word in words)]) == 2
    assert fault in capsys.readouterr().err


def test_the_newest_session_is_exported_to_a_file(home: Path, capsys: Captured) -> None:
    path = home / "session.html"
    assert main(["look", "--export", str(path)]) == 0
    assert f"{path}: {path.stat().st_size:,} bytes" in capsys.readouterr().out
    assert "zebra crossing" in path.read_text(encoding="utf-8")


def test_each_tenant_has_calls_of_its_own(home: Path, capsys: Captured) -> None:
    assert main(["look", "--tenant", "other", "--export", str(home / "other.html")]) == 2
    assert "the log has no calls yet" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("setting", "value", "words"),
    [("KEYHOLE_RECORD", "off", "new calls are not shown"), ("KEYHOLE_STORE", "memory", "none are shown")],
)
def test_settings_that_record_nothing_are_named(
    home: Path, capsys: Captured, monkeypatch: pytest.MonkeyPatch, setting: str, value: str, words: str
) -> None:
    monkeypatch.setenv(setting, value)
    main(["look", "--export", str(home / "x.html")])
    assert setting in (errors := capsys.readouterr().err) and words in errors
