"""Tests of the folder lock: shared and exclusive."""

from __future__ import annotations

from pathlib import Path

import pytest

from keyhole.store.sqlite.file import lock_folder


def test_shared_locks_coexist_and_an_exclusive_lock_excludes_all(tmp_path: Path) -> None:
    with lock_folder(tmp_path, 0.0), lock_folder(tmp_path, 0.0), pytest.raises(TimeoutError):  # noqa: SIM117 - they must be held
        with lock_folder(tmp_path, 0.02, exclusive=True):
            pass
    with lock_folder(tmp_path, 0.0, exclusive=True):
        for alone in (False, True):
            with pytest.raises(TimeoutError), lock_folder(tmp_path, 0.02, exclusive=alone):
                pass
    with lock_folder(tmp_path, 0.0, exclusive=True):
        pass


def test_the_lock_leaves_no_file_and_needs_the_folder(tmp_path: Path) -> None:
    with lock_folder(tmp_path, 0.0):
        assert list(tmp_path.iterdir()) == []
    with pytest.raises(FileNotFoundError), lock_folder(tmp_path / "none", 0.0):
        pass
