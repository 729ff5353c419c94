"""An installation with a store and a secret of its own."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.installation import Installation


@pytest.fixture
def installation(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Installation:
    """An installation with an empty store."""
    return Installation(tmp_path / "home", capsys)
