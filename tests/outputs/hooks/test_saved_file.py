"""Files in which a client saved a result: a tool's output may name any file."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from keyhole.outputs.hooks.event import Result
from keyhole.outputs.hooks.saved_file import read_saved, whole_text


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = tmp_path / "results"
    folder.mkdir()
    (folder / "a.txt").write_bytes(b"saved")
    (tmp_path / "private").write_bytes(b"private")
    return folder


def test_a_file_of_the_folder_is_read(folder: Path) -> None:
    assert read_saved(str(folder / "a.txt"), str(folder)) == b"saved"
    assert read_saved(str(folder / "a.txt"), f"{folder}/") == b"saved"


@pytest.mark.parametrize(
    "name", ["{}/../private", "{}/deeper/a.txt", "/etc/passwd", "a.txt", "", "{}", "{}/missing", "{}/\0"]
)
def test_no_other_file_is_read(folder: Path, name: str) -> None:
    assert read_saved(name.format(folder), str(folder)) is None


def test_no_file_is_read_without_a_folder(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder)
    assert read_saved("a.txt", "") is None
    assert read_saved("a.txt", ".") is None


def test_no_link_leads_to_a_file_elsewhere(folder: Path, tmp_path: Path) -> None:
    (folder / "symbolic").symlink_to(tmp_path / "private")
    assert read_saved(str(folder / "symbolic"), str(folder)) is None


def test_a_file_with_a_second_name_is_read(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "task").hardlink_to(folder / "a.txt")
    assert read_saved(str(folder / "a.txt"), str(folder)) == b"saved"


def test_a_pipe_is_not_waited_for(folder: Path) -> None:
    os.mkfifo(folder / "pipe")
    assert read_saved(str(folder / "pipe"), str(folder)) is None


def test_a_file_that_is_empty_or_too_large_is_not_read(folder: Path) -> None:
    (folder / "empty").touch()
    assert read_saved(str(folder / "empty"), str(folder)) is None
    assert read_saved(str(folder / "a.txt"), str(folder), max_bytes=4) is None
    assert read_saved(str(folder / "a.txt"), str(folder), max_bytes=5) == b"saved"


def test_a_file_that_the_client_is_writing_is_read_at_its_end(folder: Path) -> None:
    path = folder / "a.txt"
    found = Result("…d the end", saved=str(path), saved_in=str(folder), saved_end="the end")
    parts = iter((" an", "d the end", "never"))

    def write_on(_seconds: float) -> None:
        with path.open("a") as file:
            file.write(next(parts))

    assert whole_text(found, write_on) == "saved and the end"
    assert next(parts) == "never"


def test_a_file_that_does_not_grow_is_not_waited_for(folder: Path) -> None:
    waits: list[float] = []
    found = Result("", saved=str(folder / "a.txt"), saved_in=str(folder), saved_end="another end")
    assert whole_text(found, waits.append) == "saved"
    assert len(waits) == 1
