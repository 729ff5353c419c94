"""Terminal screenshots are reproducible and load no fonts."""

from __future__ import annotations

import sys
from pathlib import Path

import lxml.etree
import pytest

from tests.support.documentation import DOCS

sys.path.append(str(DOCS / "make"))

import shots


def words(picture: str) -> str:
    """Return the text of a screenshot, in order."""
    return " ".join("".join(lxml.etree.fromstring(picture.encode()).itertext()).split())


def test_a_screenshot_is_reproducible_and_loads_no_fonts() -> None:
    first, second = (shots.draw("keyhole --version", "\x1b[32mkeyhole\x1b[0m 1\n" * 60) for _ in range(2))
    assert first == second
    assert "@font-face" not in first
    assert "url(http" not in first
    assert "more lines" in words(first)
    assert len(first) < 40_000


def test_a_command_that_does_not_exist_is_reported(capsys: pytest.CaptureFixture[str]) -> None:
    shots.COMMANDS["nothing"] = "keyhole nothing-of-the-kind"
    try:
        assert shots.main(["nothing"]) == 1
    finally:
        del shots.COMMANDS["nothing"]
    assert "this version has no `keyhole nothing-of-the-kind`" in capsys.readouterr().err


def test_folders_of_the_machine_are_replaced() -> None:
    home = Path("/somewhere/home")
    assert shots.replace_folders(f"{home}/artifacts.db", home) == "~/.local/share/keyhole/artifacts.db"
