"""Tests of the home folder: one permanent secret, readable by its owner alone."""

from __future__ import annotations

import stat
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Barrier

import pytest

from keyhole.store.home import SECRET_BYTES, home_folder, open_home


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def test_the_secret_is_created_once(tmp_path: Path) -> None:
    secret = open_home(tmp_path / "home")
    assert len(secret) == SECRET_BYTES
    assert open_home(tmp_path / "home") == secret
    assert (tmp_path / "home" / "secret").read_bytes() == secret


def test_every_installation_has_a_secret_of_its_own(tmp_path: Path) -> None:
    assert len({open_home(tmp_path / str(n)) for n in range(5)}) == 5


def test_only_the_owner_has_access(tmp_path: Path) -> None:
    folder = tmp_path / "some where" / "keyhole"
    open_home(folder)
    assert mode(folder) == 0o700
    assert mode(folder / "secret") == 0o600


def test_permissions_of_an_existing_home_folder_are_restricted(tmp_path: Path) -> None:
    folder = tmp_path / "home"
    folder.mkdir(mode=0o755)
    secret = open_home(folder)
    assert mode(folder) == 0o700
    folder.chmod(0o750)
    (folder / "artifacts.db").touch()
    assert open_home(folder) == secret
    assert mode(folder) == 0o700


def test_a_folder_with_other_files_is_not_changed_but_logged(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    folder = tmp_path / "shared"
    folder.mkdir(mode=0o755)
    (folder / "thesis.tex").touch()
    open_home(folder)
    assert mode(folder) == 0o755
    assert "other users can read" in caplog.text


def test_only_the_secret_is_left_in_the_folder(tmp_path: Path) -> None:
    open_home(tmp_path)
    open_home(tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["secret"]


def test_temporary_files_of_killed_processes_are_removed(tmp_path: Path) -> None:
    for name in (".secret-abc", ".secret-xyz"):
        (tmp_path / name).write_bytes(b"half")
    (tmp_path / ".secret.2-abc").write_bytes(b"of another that may still be made")
    open_home(tmp_path)
    assert {path.name for path in tmp_path.iterdir()} == {"secret", ".secret.2-abc"}


@pytest.mark.parametrize("rest", [b"", b"short", b"x" * 33])
def test_a_damaged_secret_is_replaced(tmp_path: Path, rest: bytes) -> None:
    (tmp_path / "secret").write_bytes(rest)
    secret = open_home(tmp_path)
    assert len(secret) == SECRET_BYTES
    assert open_home(tmp_path) == secret


@pytest.mark.parametrize("damaged", [False, True])
def test_servers_that_start_at_once_agree_on_one_secret(tmp_path: Path, damaged: bool) -> None:
    for attempt in range(10):
        folder = tmp_path / str(attempt)
        if damaged:
            folder.mkdir()
            (folder / "secret").write_bytes(b"short")
        start = Barrier(4)

        def open_with_the_others(folder: Path = folder, start: Barrier = start) -> bytes:
            start.wait()
            return open_home(folder)

        with ThreadPoolExecutor(4) as pool:
            secrets = {future.result() for future in [pool.submit(open_with_the_others) for _ in range(4)]}
        assert secrets == {open_home(folder)}


def test_an_unusable_folder_raises_oserror(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("not a folder")
    with pytest.raises(OSError, match="file"):
        open_home(tmp_path / "file")
    with pytest.raises(OSError, match="file"):
        open_home(tmp_path / "file" / "below")


def test_the_configured_folder_is_used_with_its_tilde_expanded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", "/home/somebody")
    assert home_folder(Path("~/keyhole data")) == Path("/home/somebody/keyhole data")
    assert home_folder(Path("/srv/keyhole")) == Path("/srv/keyhole")


def test_the_default_folder_is_the_platforms() -> None:
    folder = home_folder(None)
    assert folder.is_absolute()
    assert folder.name == "keyhole"
