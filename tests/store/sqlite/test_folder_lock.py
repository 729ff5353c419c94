"""The gate in front of the store's file: many pass together, or one alone."""

from __future__ import annotations

from pathlib import Path

import pytest

from keyhole.store.sqlite.folder_lock import passing


def test_many_pass_together_and_nobody_beside_one_alone(tmp_path: Path) -> None:
    with passing(tmp_path, 0.0), passing(tmp_path, 0.0), pytest.raises(TimeoutError):  # noqa: SIM117 - they must be held
        with passing(tmp_path, 0.02, alone=True):
            pass
    with passing(tmp_path, 0.0, alone=True):
        for alone in (False, True):
            with pytest.raises(TimeoutError), passing(tmp_path, 0.02, alone=alone):
                pass
    with passing(tmp_path, 0.0, alone=True):
        pass


def test_it_leaves_nothing_behind_and_needs_its_folder(tmp_path: Path) -> None:
    with passing(tmp_path, 0.0):
        assert list(tmp_path.iterdir()) == []
    with pytest.raises(FileNotFoundError), passing(tmp_path / "none", 0.0):
        pass
