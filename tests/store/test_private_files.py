"""Folders and files that only their owner can read, whatever the umask is."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from keyhole.store.private_files import make_private_folder, write_private_file

pytestmark = pytest.mark.skipif(os.name != "posix", reason="other systems have no such modes")


@contextmanager
def umask(mask: int) -> Iterator[None]:
    before = os.umask(mask)
    try:
        yield
    finally:
        os.umask(before)


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


@pytest.mark.parametrize("mask", [0, 0o022, 0o277])
def test_a_folder_and_its_missing_parents_are_the_owners_alone(tmp_path: Path, mask: int) -> None:
    tmp_path.chmod(0o755)
    with umask(mask):
        make_private_folder(tmp_path / "a" / "b" / "c")
        make_private_folder(tmp_path / "a" / "b" / "c")
    assert [mode(path) for path in (tmp_path / "a", tmp_path / "a" / "b", tmp_path / "a" / "b" / "c")] == [0o700] * 3
    assert mode(tmp_path) == 0o755


def test_a_folder_is_made_in_the_current_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    make_private_folder("a/b")
    assert (tmp_path / "a" / "b").is_dir()


def test_a_folder_in_the_place_of_a_file_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    for path in (tmp_path / "file", tmp_path / "file" / "folder"):
        with pytest.raises(OSError, match="file"):
            make_private_folder(path)


def test_a_file_is_the_owners_alone_also_if_it_was_open_to_others(tmp_path: Path) -> None:
    path = tmp_path / "file"
    with umask(0):
        write_private_file(path, b"new")
        assert (mode(path), path.read_bytes()) == (0o600, b"new")
        path.chmod(0o644)
        write_private_file(path, b"x")
    assert (mode(path), path.read_bytes()) == (0o600, b"x")


def test_a_pipe_is_written_as_it_is(capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    write_private_file("/dev/stdout", b"text")
    assert capfdbinary.readouterr().out == b"text"
