"""Tests of the home folder: one permanent secret, readable by its owner alone."""

from __future__ import annotations

import errno
import os
import stat
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Barrier

import pytest

from keyhole.store.home import SECRET_BYTES, WRITE_CHECKS, boundary_secret, home_folder, open_home


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


@pytest.mark.parametrize("name", ["bin", "shared"])
def test_the_folders_of_programs_and_of_shared_servers_are_keyholes_own(tmp_path: Path, name: str) -> None:
    folder = tmp_path / "home"
    folder.mkdir(mode=0o755)
    (folder / name).mkdir()
    open_home(folder)
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
    os.utime(tmp_path / "secret", (0, 0))
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


# File systems without hard links.


def no_hard_links(source: Path, target: Path) -> None:
    raise PermissionError(errno.EPERM, "Operation not permitted")


@pytest.mark.parametrize(
    "error", [PermissionError(errno.EPERM, "no"), OSError(errno.ENOTSUP, "no"), NotImplementedError(), AttributeError()]
)
def test_without_hard_links_there_is_one_private_secret(tmp_path: Path, error: Exception) -> None:
    def link(source: Path, target: Path) -> None:
        raise error

    secret = open_home(tmp_path, link)
    assert [open_home(tmp_path, link), open_home(tmp_path)] == [secret, secret]
    assert [path.name for path in tmp_path.iterdir()] == ["secret"]
    assert mode(tmp_path / "secret") == 0o600


@pytest.mark.parametrize("damaged", [False, True])
def test_without_hard_links_servers_that_start_at_once_agree_on_one_secret(tmp_path: Path, damaged: bool) -> None:
    for attempt in range(10):
        folder = tmp_path / str(attempt)
        folder.mkdir()
        if damaged:
            (folder / "secret").write_bytes(b"short")
        start = Barrier(4)

        def link_with_the_others(source: Path, target: Path, start: Barrier = start) -> None:
            start.wait()
            no_hard_links(source, target)

        with ThreadPoolExecutor(4) as pool:
            opened = [pool.submit(open_home, folder, link_with_the_others) for _ in range(4)]
            assert {future.result() for future in opened} == {open_home(folder)}


def test_without_hard_links_processes_that_start_at_once_agree_on_one_secret(tmp_path: Path) -> None:
    script = (
        "import os, sys; from pathlib import Path; from keyhole.store.home import open_home\n"
        "def link(*_): print(flush=True); sys.stdin.readline(); raise PermissionError\n"
        "print(open_home(Path(sys.argv[1]), link).hex())"
    )
    command = [sys.executable, "-c", script, str(tmp_path)]
    children = [
        subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) for _ in range(3)
    ]  # fmt: skip
    for child in children:
        assert child.stdout is not None
        child.stdout.readline()  # it is about to create the secret
    for child in children:
        assert child.stdin is not None
        print(file=child.stdin, flush=True)
    answers = [child.communicate(timeout=30)[0] for child in children]
    assert set(answers) == {f"{open_home(tmp_path).hex()}\n"}


def test_a_secret_that_another_server_is_writing_is_awaited(tmp_path: Path) -> None:
    (tmp_path / "secret").touch()
    pauses = []

    def write_meanwhile(seconds: float) -> None:
        pauses.append(seconds)
        if len(pauses) == 3:
            (tmp_path / "secret").write_bytes(b"x" * SECRET_BYTES)

    assert open_home(tmp_path, sleep=write_meanwhile) == b"x" * SECRET_BYTES
    assert len(pauses) == 3


def test_a_secret_that_stays_empty_is_replaced_after_a_limited_time(tmp_path: Path) -> None:
    (tmp_path / "secret").touch()
    pauses: list[float] = []
    assert len(open_home(tmp_path, sleep=pauses.append)) == SECRET_BYTES
    assert len(pauses) == WRITE_CHECKS
    assert (tmp_path / "secret.2").exists()


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


def test_the_boundary_of_a_text_that_is_not_stored_has_the_secret_of_the_installation(tmp_path: Path) -> None:
    secret = open_home(tmp_path)

    assert boundary_secret(tmp_path) == secret


def test_an_installation_without_a_secret_gets_a_random_boundary_and_no_file(tmp_path: Path) -> None:
    assert boundary_secret(tmp_path) != boundary_secret(tmp_path)
    assert not list(tmp_path.iterdir())
