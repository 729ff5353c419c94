"""Pictures of the terminal show what the commands print, the same each time, and load nothing."""

from __future__ import annotations

import sys
from pathlib import Path

import lxml.etree
import pytest

from tests.support.console import known
from tests.support.documentation import DOCS

sys.path.append(str(DOCS / "make"))

import shots


def words(picture: str) -> str:
    """The text of a picture, in order."""
    return " ".join("".join(lxml.etree.fromstring(picture.encode()).itertext()).split())


@pytest.mark.parametrize("name", [name for name, command in shots.COMMANDS.items() if known(command)])
def test_a_picture_shows_what_its_command_prints(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    kept = DOCS / "shots" / f"{name}.svg"
    if name in shots.OF_THE_MACHINE or not kept.exists():
        pytest.skip("it shows the machine that it was made on" if kept.exists() else "no page shows it")
    monkeypatch.setattr(shots, "SHOTS", tmp_path)
    assert shots.main([name]) == 0
    assert words((tmp_path / f"{name}.svg").read_text("utf-8")) == words(kept.read_text("utf-8")), (
        "run: python docs/make/shots.py"
    )


def test_the_same_output_is_the_same_picture_and_loads_nothing() -> None:
    first, second = (shots.drawn("keyhole --version", "\x1b[32mkeyhole\x1b[0m 1\n" * 60) for _ in range(2))
    assert first == second
    assert "@font-face" not in first
    assert "url(http" not in first
    assert "more lines" in words(first)
    assert len(first) < 40_000


def test_a_picture_of_a_command_that_is_not_there_is_named(capsys: pytest.CaptureFixture[str]) -> None:
    shots.COMMANDS["nothing"] = "keyhole nothing-of-the-kind"
    try:
        assert shots.main(["nothing"]) == 1
    finally:
        del shots.COMMANDS["nothing"]
    assert "this version has no `keyhole nothing-of-the-kind`" in capsys.readouterr().err


def test_no_picture_names_a_folder_of_the_machine() -> None:
    home = Path("/somewhere/home")
    assert shots.anywhere(f"{home}/artifacts.db", home) == "~/.local/share/keyhole/artifacts.db"
