"""Two installations, each with a store and a secret of its own."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.installation import Installation


@pytest.fixture
def installation(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Installation:
    """An installation with an empty store."""
    return Installation(tmp_path / "first", capsys)


@pytest.fixture
def second_installation(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Installation:
    """A second installation, with a secret of its own."""
    return Installation(tmp_path / "second", capsys)
