"""The programs that clients run: they start this installation, and what happens when it is gone."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from keyhole._version import __version__
from keyhole.extensions.install.files import BOOT_MODE, boot_folder, is_written, write_boot_files

pytestmark = pytest.mark.skipif(os.name != "posix", reason="a POSIX shell starts the programs")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "it's a home" / "bin"


def run(program: Path, *words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([program, *words], capture_output=True, text=True, input="{}", timeout=60, check=False)


def linked_python(folder: Path) -> Path:
    """Return another path of this interpreter, which can be removed."""
    path = folder / "my python"
    path.symlink_to(sys.executable)
    return path


def test_the_programs_run_this_installation(folder: Path) -> None:
    write_boot_files(folder, sys.executable)
    assert run(folder / "keyhole", "--version").stdout == f"keyhole {__version__}\n"
    help = run(folder / "keyhole-reader", "--help")
    assert (help.returncode, help.stderr) == (0, "") and "keyhole serve" in help.stdout
    assert "max_chars" in run(folder / "keyhole", "config").stdout  # a command that needs other packages
    assert {(folder / name).stat().st_mode & 0o777 for name in os.listdir(folder)} == {BOOT_MODE}  # noqa: PTH208 - names


def test_a_program_that_is_up_to_date_is_not_written_again(folder: Path) -> None:
    assert not is_written(folder, sys.executable)
    write_boot_files(folder, sys.executable)
    before = (folder / "keyhole").stat()
    write_boot_files(folder, sys.executable)
    assert (folder / "keyhole").stat() == before and is_written(folder, sys.executable)
    assert not is_written(folder, "/other/python")


def test_without_the_interpreter_a_hook_succeeds_silently_and_a_server_says_why_not(
    folder: Path, tmp_path: Path
) -> None:
    python = linked_python(tmp_path)
    write_boot_files(folder, str(python))
    python.unlink()
    hook, server = run(folder / "keyhole", "hook", "claude"), run(folder / "keyhole-reader")
    assert (hook.returncode, hook.stdout, hook.stderr) == (0, "", "")
    assert server.returncode == 127 and "install keyhole-reader again" in server.stderr


def test_without_the_package_a_hook_succeeds_silently_and_a_server_says_why_not(folder: Path) -> None:
    write_boot_files(folder, sys.executable)
    for program in folder.iterdir():
        text = program.read_text().replace("keyhole.__main__", "keyhole_removed.__main__")
        program.write_text(text)
    hook, server = run(folder / "keyhole", "hook", "claude"), run(folder / "keyhole-reader")
    assert (hook.returncode, hook.stdout, hook.stderr) == (0, "", "")
    assert server.returncode == 1 and "install keyhole-reader again" in server.stderr


def test_a_program_finds_the_package_where_another_python_has_it(folder: Path) -> None:
    write_boot_files(folder, sys.executable)
    program = folder / "keyhole"
    lines = program.read_text().splitlines()
    moved = ['sys.path.append("/removed")' if line.startswith("sys.path.append") else line for line in lines]
    program.write_text("\n".join(moved))
    assert run(program, "--version").stdout == f"keyhole {__version__}\n"


def test_a_relative_home_folder_gives_an_absolute_path(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    assert boot_folder({"KEYHOLE_HOME": "pages"}) == tmp_path / "pages" / "bin"
