"""The examples in docs/storage/artifacts.md, run in order, print the output shown there."""

from __future__ import annotations

import re
import shlex
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from keyhole.config.config import Config
from tests.support.documentation import ROOT
from tests.support.installation import Installation

PAGE = (ROOT / "docs" / "storage" / "artifacts.md").read_text(encoding="utf-8")
WAL = "Readers do not block writers with WAL.\nA long reader can cause checkpoint starvation.\n"
VACUUM = "The daemon vacuums tables in which enough rows died, and analyzes them.\n"


@pytest.fixture
def in_utc(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("TZ", "UTC")
    time.tzset()
    yield
    monkeypatch.undo()
    time.tzset()


def examples() -> list[tuple[str, str]]:
    """Return each command with its output."""
    blocks = re.findall(r"```console\n(.*?)```", PAGE, re.DOTALL)
    pairs: list[tuple[str, str]] = []
    for line in "".join(blocks).splitlines(keepends=True):
        if line.startswith("$ "):
            pairs.append((line.strip(), ""))
        else:
            pairs[-1] = (pairs[-1][0], pairs[-1][1] + line)
    return pairs


def test_every_example_prints_the_output_on_the_page(
    installation: Installation,
    in_utc: None,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    installation.home.mkdir()
    (installation.home / "secret").write_bytes(b"0" * 32)
    installation.keep(
        WAL + "It is a file.\n" * 347,
        "https://sqlite.org/wal.html",
        title="Write-Ahead Logging",
        fetched_at=1773475200.0,
    )
    url = "https://www.postgresql.org/docs/current/routine-vacuuming.html"
    installation.keep(VACUUM * 255, url, title="PostgreSQL: Routine Vacuuming", fetched_at=1773480360.0)
    count = 0
    for command, output in examples():
        words = shlex.split(command.removeprefix("$ "))
        assert words[:2] == ["keyhole", "artifacts"]
        _, out, err = installation.run(*words[2:])
        pattern = "[^\n]*".join(map(re.escape, output.split("…")))
        assert re.fullmatch(pattern, out + err), f"{command}\n{out}{err}"
        count += 1
    assert count > 10


def test_the_defaults_on_the_page_are_those_of_the_settings() -> None:
    assert f"`KEYHOLE_TTL_DAYS` ({Config().ttl_days:.0f})" in PAGE
    assert f"`KEYHOLE_STORE_MAX_BYTES` ({Config().store_max_bytes // 1024**3} GiB)" in PAGE
