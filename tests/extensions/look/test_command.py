"""`keyhole look`: it prints a link, opens the browser, serves until Ctrl-C, and writes exported files."""

from __future__ import annotations

import json
import os
import re
import shlex
import signal
import stat
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing, contextmanager
from html import unescape
from http.client import HTTPConnection
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from keyhole.cli.main import main
from keyhole.config.config import Config
from keyhole.extensions.look.access import USED
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


BROWSER = """
import json, os, pathlib, re, sys, time, urllib.error, urllib.request
for stream in (1, 2):  # those of the command end with it
    os.dup2(os.open(os.devnull, os.O_WRONLY), stream)
folder, address = pathlib.Path(sys.argv[1]), sys.argv[2]
(folder / "address").write_text(address)
for _ in range(3_000):
    if (folder / "go").exists():
        break
    time.sleep(0.01)
found = re.search('url=([^"]+)"', urllib.request.urlopen(address).read().decode()) if address[:5] == "file:" else None
link = found[1] if found else address
try:
    answer = urllib.request.urlopen(link)
except urllib.error.HTTPError as error:
    answer = error
cookie = (answer.headers["Set-Cookie"] or "").split(";")[0]
(folder / "part").write_text(json.dumps([answer.status, cookie, answer.read().decode()]))
(folder / "part").rename(folder / "answer")
"""
"""A browser that opens an address when the file `go` exists, and keeps the address and its answer in files."""
THIEF = """
for turn in $(seq 300); do
    for file in /proc/[0-9]*/cmdline; do
        line=$(tr '\\0' ' ' < $file 2>/dev/null)
        case $line in
        *"$1"/browser.py*file://*|*"$1"/browser.py*token=*)
            echo "saw $line"
            path=$(echo "$line" | sed 's/.*file:..//; s/ *$//')
            cat "$path" 2>&1
            ls "$(dirname "$path")" 2>&1
            exit 0;;
        esac
    done
done
"""
"""Polls the command lines of all processes for the address that the browser of a folder opens, and tries to read it.

The folder is the argument: the browser of another test may not have ended yet."""


class Visit:
    """A folder with a browser that opens an address when it is told."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        folder.mkdir()
        (folder / "browser.py").write_text(BROWSER)
        self.command = f"{shlex.join([sys.executable, str(folder / 'browser.py'), str(folder)])} %s"

    def address(self) -> str:
        """Return the address with which the browser was started."""
        wait_for(lambda: (self.folder / "address").exists() and (self.folder / "address").read_text())
        return (self.folder / "address").read_text()

    def open(self) -> tuple[int, str, str]:
        """Let the browser open the address, and return status, cookie and text of the answer."""
        (self.folder / "go").touch()
        wait_for((self.folder / "answer").exists)
        status, cookie, text = json.loads((self.folder / "answer").read_text())
        return status, cookie, text


@pytest.fixture
def visit(tmp_path: Path) -> Iterator[Visit]:
    yield (visit := Visit(tmp_path / "visit"))
    (visit.folder / "go").touch()


def file_of(address: str) -> Path:
    """Return the path of the file that an address names."""
    return Path(address.removeprefix("file://"))


def test_the_command_serves_the_pages_and_opens_them_in_the_browser_until_ctrl_c(home: Path, visit: Visit) -> None:
    with looking(home, browser=visit.command) as (process, link):
        assert re.fullmatch(r"http://127\.0\.0\.1:\d+/\?token=[\w-]{43}", link)
        file = file_of(visit.address())
        assert [stat.S_IMODE(path.stat().st_mode) for path in (file, file.parent)] == [0o600, 0o700]
        status, cookie, _ = visit.open()
        assert (status, get(link)[0], file.parent.exists()) == (200, 200, False)
        page = urlsplit(link)._replace(query="words=zebra").geturl()
        assert "zebra crossing" in get(page, cookie)[2]
        assert get(page)[0] == 403
        with closing(HTTPConnection(urlsplit(link).netloc, timeout=PATIENCE)) as stream:  # of a page that is open
            stream.request("GET", f"/live?since={'9' * 5_000}", headers={"Cookie": cookie})
            assert stream.getresponse().read(6) == b"retry:"
            process.send_signal(signal.SIGINT)
            _, errors = process.communicate(timeout=PATIENCE)
        assert process.returncode == 0
        assert errors.decode().splitlines() == ["keyhole: the pages are served at this link until Ctrl-C"]


@pytest.mark.skipif(
    sys.platform != "linux" or os.geteuid() != 0, reason="only root of Linux can be a second user, who polls /proc"
)
def test_another_user_of_the_machine_learns_no_link_from_the_command_line_of_the_browser(
    home: Path, visit: Visit
) -> None:
    nobody = 65_534
    with looking(home, browser=visit.command) as (_, link):
        visit.address()
        seen = subprocess.run(
            ["/bin/sh", "-s", str(visit.folder)], input=THIEF, capture_output=True, text=True, timeout=PATIENCE,
            check=True, cwd="/", user=nobody, group=nobody, extra_groups=[],
        ).stdout  # fmt: skip
        assert "saw " in seen and "browser.py" in seen and "open.html" in seen
        assert "token=" not in seen and seen.count("Permission denied") == 2
        assert visit.open()[0] == 200
        assert get(link)[0] == 200


def test_a_link_that_another_program_used_first_ends_its_session_and_a_new_link_is_printed(
    home: Path, visit: Visit
) -> None:
    with looking(home, browser=visit.command) as (process, link):
        stolen_link = unescape(file_of(visit.address()).read_text().partition("url=")[2].partition('"')[0])
        status, stolen, _ = get(stolen_link)
        assert status == 200
        assert get(urlsplit(link)._replace(query="").geturl(), stolen)[0] == 200
        status, cookie, text = get(stolen_link)
        assert (status, cookie, text) == (403, "", USED)
        assert process.stdout and process.stderr
        new_link = process.stdout.readline().decode().strip()
        assert new_link != link
        page = urlsplit(link)._replace(query="").geturl()
        assert [get(page, stolen)[0], get(link)[0], get(stolen_link)[0], get(new_link)[0]] == [403, 403, 403, 200]
        process.send_signal(signal.SIGINT)
        errors = process.communicate(timeout=PATIENCE)[1].decode().splitlines()
        assert errors[1:] == [
            "keyhole: another program used the link of the browser first; all sessions were ended, and this link is new"
        ]


@pytest.mark.parametrize("ending", [signal.SIGINT, signal.SIGTERM])
def test_an_unused_file_is_removed_at_the_end(home: Path, visit: Visit, ending: signal.Signals) -> None:
    with looking(home, browser=visit.command) as (process, _):
        file = file_of(visit.address())
        assert file.exists()
        process.send_signal(ending)
        process.communicate(timeout=PATIENCE)
        assert not file.parent.exists()


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
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


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
