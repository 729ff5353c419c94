"""`keyhole forget` removes every trace of what real programs have stored, also while a server runs."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import zlib
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from http.client import HTTPConnection
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlsplit

import pytest

from keyhole.cli.commands import parse_date
from keyhole.cli.main import main
from keyhole.config.config import Config
from keyhole.runtime.zstd import zstd
from keyhole.store.base import LOCAL
from keyhole.store.filters import ALL
from keyhole.store.forget import find
from keyhole.store.open import open_stores
from tests.extensions.proxy.client import SERVER, PipeClient, running
from tests.store.calls.samples import call
from tests.support.fakes import artifact
from tests.support.hook_events import recorded
from tests.support.loopback import PATIENCE, Call, Responder, Site, response, serve
from tests.support.waiting import wait_for

Captured = pytest.CaptureFixture[str]

CANARY: Final = "quetzalcanari"
"""A word that is its own stem, so that it is also found in the search index."""
OTHER: Final = "zanzibarlemur"
OUTPUT: Final = "".join(f"{number} the {CANARY} sings\n" for number in range(400))
_FRAMES: Final[tuple[tuple[bytes, Callable[[bytes], bytes]], ...]] = (
    (b"\x28\xb5\x2f\xfd", lambda data: _unzstd(data)),
    *((b"\x78" + flags, lambda data: _inflate(data)) for flags in (b"\x01", b"\x5e", b"\x9c", b"\xda")),
)
"""The beginnings of compressed data in texts and calls, and the functions that read them."""


def _unzstd(data: bytes) -> bytes:
    found, decompressor = bytearray(), zstd.ZstdDecompressor()
    with suppress(zstd.ZstdError):
        for start in range(0, len(data), 512):
            if not decompressor.eof:
                found += decompressor.decompress(data[start : start + 512])
    return bytes(found)


def _inflate(data: bytes) -> bytes:
    with suppress(zlib.error):
        return zlib.decompressobj().decompress(data)
    return b""


def holders(home: Path, word: str = CANARY) -> set[str]:
    """Return the names of the files that contain a word, also in compressed data at any place."""
    return {path.name for path in home.rglob("*") if path.is_file() and _contains(path.read_bytes(), word.encode())}


def _contains(data: bytes, word: bytes) -> bool:
    if word in data.lower():
        return True
    for magic, unpack in _FRAMES:
        at = data.find(magic)
        while at >= 0:
            if word in unpack(data[at : at + 65_536]).lower():
                return True
            at = data.find(magic, at + 1)
    return False


def talk(site: Site) -> Responder:
    """Answer every path with a page about its last part."""

    def answer(call: Call) -> None:
        name = call.path.rpartition("/")[2]
        links = f'<a href="/{name}-next">next</a>'
        body = f"<title>{name}</title><main><h1>{name}</h1><p>The {name} sings at dawn.</p>{links}</main>"
        call.send(response(body.encode(), Content_Type="text/html"))

    return answer


@dataclass
class Installed:
    """A home folder, and a site on loopback that its programs may read."""

    home: Path
    site: Site

    def environment(self) -> dict[str, str]:
        own = {"KEYHOLE_CONFIG": "off", "KEYHOLE_HOME": str(self.home), "KEYHOLE_ALLOW_PRIVATE": self.site.endpoint}
        return {**os.environ, **own, "KEYHOLE_ENGINES": "searxng"}

    def command(self, *words: str) -> list[str]:
        return [sys.executable, "-m", "keyhole", *words]

    def run(self, *words: str, stdin: str = "") -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            self.command(*words), input=stdin, env=self.environment(), capture_output=True, text=True, timeout=PATIENCE,
            check=False,
        )  # fmt: skip

    def fill(self, server: PipeClient) -> None:
        """Let every program that stores something store the canary."""
        server.greet(name="reader", version="1")  # a name that its later calls have too
        url = self.site.url(f"/{CANARY}")
        text = shown(server.call(1, "web_fetch", url=url, query=f"the {CANARY} sings"))
        server.call(2, "read_artifact", id=text.rpartition('id="')[2].partition('"')[0], query=CANARY)
        server.call(3, "search", query=CANARY, scope="stored")
        self.run("run", "--", sys.executable, "-c", f"print({OUTPUT!r})")
        self.run("bound", "-", "--of", f"sing {CANARY}", stdin=OUTPUT.replace("the", "a"))
        event = recorded("claude-shell-small")
        event["tool_response"]["stdout"] = OUTPUT.replace("sings", "sang")
        self.run("hook", "claude", stdin=json.dumps(event))
        with running(self.command("proxy", "--", *SERVER), self.environment()) as client:
            client.greet()
            client.call(1, "big", lines=3_000, about=CANARY)
        messages = [{"role": "user", "content": "Sing"}]
        for number in range(12):
            function = {"name": "sing", "arguments": "{}"}
            calls = [{"id": f"c{number}", "type": "function", "function": function}]
            messages.append({"role": "assistant", "content": None, "tool_calls": calls})  # type: ignore[dict-item]
            messages.append({"role": "tool", "tool_call_id": f"c{number}", "content": f"{number}\n{OUTPUT * 3}"})
        assert self.run("compact", "-", "--max-tokens", "30000", stdin=json.dumps(messages)).returncode == 0

    def look(self, word: str) -> None:
        """Look at the calls with a word, as `keyhole look` shows them."""
        with subprocess.Popen(
            self.command("look", "--no-open"), env=self.environment(), stdout=subprocess.PIPE, stderr=subprocess.PIPE
        ) as process:
            try:
                assert process.stdout
                link = urlsplit(process.stdout.readline().decode().strip())
                connection = HTTPConnection(link.netloc, timeout=PATIENCE)
                connection.request("GET", f"{link.path}?{link.query}")
                cookie = connection.getresponse()
                cookie.read()
                headers = {"Cookie": (cookie.getheader("Set-Cookie") or "").split(";")[0]}
                connection.request("GET", f"/?words={word}", headers=headers)
                assert word in connection.getresponse().read().decode()
                connection.close()
            finally:
                process.kill()


def shown(message: Any) -> str:
    return str(message["result"]["content"][0]["text"])


@pytest.fixture
def installed(tmp_path: Path) -> Iterator[Installed]:
    with serve(talk) as site:
        yield Installed(tmp_path / "home", site)


@pytest.mark.skipif(os.name != "posix", reason="keyhole run needs POSIX signals")
def test_after_forgetting_everything_no_file_of_the_home_folder_has_a_trace_while_servers_run(
    installed: Installed,
) -> None:
    with running(installed.command("serve"), installed.environment()) as server:
        installed.fill(server)
        installed.look(CANARY)
        wait_for(lambda: "calls.db" in holders(installed.home) or "calls.db-wal" in holders(installed.home))
        assert holders(installed.home) >= {"artifacts.db"}
        sleeper = f"import sys, time; print({OUTPUT!r}, flush=True); sys.stdin.read()"
        with running(installed.command("run", "--", sys.executable, "-c", sleeper), installed.environment()) as command:
            wait_for(lambda: any(name.endswith(".running") for name in holders(installed.home)))
            done = installed.run("forget", "--all", "--yes", "--json")
            assert (done.returncode, done.stderr) == (0, "")
            counts = json.loads(done.stdout)
            assert counts["texts"] >= 3 and counts["calls"] >= 5 and counts["known_urls"] >= 1 and counts["files"] >= 1
            assert holders(installed.home) == set()
            # The server goes on, and does not write back what it remembers of the session.
            answer = shown(server.call(4, "web_fetch", url=installed.site.url(f"/{OTHER}"), query=OTHER))
            assert CANARY not in answer
            assert command.process.stdin
            command.process.stdin.close()  # the command ends, whose output began before
            command.process.wait(PATIENCE)
            command.process.stdin = None
    assert installed.run("artifacts", "list").returncode == 0  # adopts what would be left
    assert holders(installed.home) == set()
    assert holders(installed.home, OTHER) & {"artifacts.db", "calls.db", "calls.db-wal"}


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a home folder with texts and calls of two sites and two clients."""
    folder = tmp_path / "home"
    monkeypatch.setenv("KEYHOLE_HOME", str(folder))
    monkeypatch.setenv("KEYHOLE_CONFIG", "off")
    stores = open_stores(Config(home=folder))
    store, log = stores.for_tenant(LOCAL)[0], stores.calls_for(LOCAL)
    for number, (name, client) in enumerate([("one", "cursor 1.0"), ("two", "codex 2.0")]):
        url = f"https://{name}.example/{name}-page"
        at = parse_date(f"2026-0{number + 1}-15")
        store.put(artifact(id=name, text=f"{name}-text", url=url, requested_url=url, fetched_at=at), f"{name}-stem")
        log.add(call(name, client=client, target=url, started_at=at + 9e9, query=f"{name}-query"))
    stores.close()
    return folder


def stored(home: Path) -> tuple[set[str], set[str]]:
    """Return the ids of the stored texts and calls."""
    stores = open_stores(Config(home=home))
    try:
        found = find(stores.for_tenant(LOCAL)[0], stores.calls_for(LOCAL), ALL)
        return set(found.texts), set(found.calls.ids)
    finally:
        stores.close()


@pytest.mark.parametrize(
    ("words", "texts", "calls"),
    [
        (["--site", "one.example"], {"two"}, {"two"}),
        (["--url", "https://ONE.example/one-page#top"], {"two"}, {"two"}),
        (["--before", "2026-02-01"], {"two"}, {"one", "two"}),
        (["--client", "cursor"], {"one", "two"}, {"two"}),
        (["--site", "one.example", "--client", "codex"], {"one", "two"}, {"one", "two"}),
        (["--site", "one.example", "--site", "two.example"], set(), set()),
        (["--all"], set(), set()),
    ],
)
def test_conditions_are_combined(home: Path, words: list[str], texts: set[str], calls: set[str]) -> None:
    assert main(["forget", *words, "--yes"]) == 0
    assert stored(home) == (texts, calls)
    gone = {"one", "two"} - texts
    assert not any(holders(home, f"{name}-text") for name in gone)
    assert not any(holders(home, f"{name}-query") for name in {"one", "two"} - calls)
    assert not any(holders(home, f"{name}-stem") for name in gone)


def test_it_says_what_it_would_delete_and_does_nothing_without_a_yes(
    home: Path, capsys: Captured, monkeypatch: pytest.MonkeyPatch
) -> None:
    expected = "This deletes 1 texts, 1 calls, all known URLs, vectors and copies of damaged files."
    assert main(["forget", "--site", "one.example"]) == 2
    assert f"{expected} Add --yes to confirm" in capsys.readouterr().err
    for answer, code in (("n", 1), ("", 1), ("y", 0)):
        monkeypatch.setattr("sys.stdin", Terminal(answer))
        assert main(["forget", "--site", "one.example"]) == code
        assert expected in (printed := capsys.readouterr()).err
        assert ("nothing was deleted" in printed.err) is (code == 1)
    assert "Deleted: 1 texts, 1 calls, 0 addresses of dropped texts, 0 known URLs, 0 vectors, 0 files." in printed.out
    assert stored(home) == ({"two"}, {"two"})


class Terminal:
    """A standard input at which a person types one line."""

    def __init__(self, line: str) -> None:
        self._line = line

    def isatty(self) -> bool:
        return True

    def readline(self) -> str:
        return f"{self._line}\n"


@pytest.mark.parametrize(
    ("words", "fault"),
    [
        ([], "forget needs --all, or one or more of"),
        (["--all", "--site", "one.example"], "forget needs --all, or one or more of"),
        (["--site", ""], "a condition is empty"),
    ],
)
def test_a_wrong_command_line_is_refused(home: Path, capsys: Captured, words: list[str], fault: str) -> None:
    assert main(["forget", "--yes", *words]) == 2
    assert fault in capsys.readouterr().err
    assert stored(home)[0] == {"one", "two"}


def test_a_date_that_is_none_is_refused(home: Path, capsys: Captured) -> None:
    with pytest.raises(SystemExit):
        main(["forget", "--before", "yesterday"])
    assert "is not a date such as 2026-01-31" in capsys.readouterr().err


def test_a_store_in_memory_ends_with_its_process(home: Path, capsys: Captured, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KEYHOLE_STORE", "memory")
    assert main(["forget", "--all", "--yes"]) == 2
    assert "end the server" in capsys.readouterr().err


def test_copies_of_a_damaged_store_are_removed(home: Path) -> None:
    for name in ("artifacts.db.damaged-1", "calls.db.damaged-2", "calls.db.damaged-2-wal"):
        (home / name).write_text(CANARY)
    (home / "spool").mkdir(exist_ok=True)
    (home / "spool" / "x.damaged").write_text(CANARY)
    assert main(["forget", "--site", "none.example", "--yes"]) == 0
    assert holders(home) == set()
    assert stored(home)[0] == {"one", "two"}


def test_what_is_left_in_files_for_the_store_is_stored_if_it_is_not_in_the_scope(home: Path) -> None:
    from keyhole.store.spool import spool_folder, write

    write(spool_folder(home), "z" * 16, "output:text", "kept text", title="make", now=1_000.0, notes={})
    assert main(["forget", "--site", "one.example", "--yes"]) == 0
    assert stored(home)[0] == {"two", "z" * 16}


def test_rm_says_that_calls_and_known_urls_remain(home: Path, capsys: Captured) -> None:
    assert main(["artifacts", "rm", "--all", "--yes"]) == 0
    assert "`keyhole forget` removes those too" in capsys.readouterr().err
    assert stored(home) == (set(), {"one", "two"})
