"""Command lines of hooks: quoted for the shell that runs them, and recognized when they are read again."""

from __future__ import annotations

import shlex
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from keyhole.extensions.install.hooks import HOOK_CLIENTS, join_words, parse_line

SPACED = r"C:\Program Files\keyhole\keyhole.exe"


@pytest.mark.parametrize(("shell", "line"), [
    ("posix", "'C:\\Program Files\\keyhole\\keyhole.exe'"),
    ("git bash", "'C:/Program Files/keyhole/keyhole.exe'"),
    ("cmd", '"C:\\Program Files\\keyhole\\keyhole.exe"'),
    ("powershell", "& 'C:\\Program Files\\keyhole\\keyhole.exe'"),
])  # fmt: skip
def test_a_path_with_spaces_is_quoted_for_each_shell(shell: str, line: str) -> None:
    assert join_words([SPACED], shell) == line  # type: ignore[arg-type]
    parsed = parse_line(f"{line} hook codex")
    assert parsed and parsed.words == (SPACED.replace("\\", "/"),) and parsed.text == f"{line} hook codex"


def test_a_path_without_spaces_has_no_quotes_that_a_shell_of_windows_could_misread() -> None:
    assert join_words([r"C:\k\keyhole.exe"], "cmd") == r"C:\k\keyhole.exe"
    assert join_words([r"C:\k\keyhole.exe"], "git bash") == "C:/k/keyhole.exe"


@given(st.text(st.characters(codec="utf-8", exclude_characters="\0\n\r"), min_size=1))
def test_a_posix_shell_reads_any_path_back(name: str) -> None:
    words = [f"/opt/{name}/keyhole", "-m", "keyhole"]
    assert shlex.split(join_words(words, "posix")) == words


def test_the_shell_starts_a_program_in_a_folder_with_spaces_and_quotes(tmp_path: Path) -> None:
    program = tmp_path / 'it\'s a $HOME "folder"' / "keyhole"
    program.parent.mkdir()
    program.symlink_to(sys.executable)
    line = HOOK_CLIENTS["codex"].line([str(program), "-c", "import sys; print(sys.argv[1:])"], "linux")
    done = subprocess.run(["/bin/sh", "-c", line.text], capture_output=True, text=True, check=True)
    assert done.stdout == "['hook', 'codex']\n"


@pytest.mark.parametrize("line", [
    "/opt/x/bin/keyhole hook claude", "keyhole hook codex --budget 2000", "'/a b/keyhole' hook copilot",
    "/usr/bin/python3 -m keyhole hook opencode", "uvx --from keyhole-reader@1.2 keyhole hook claude",
    "& 'C:\\k\\keyhole.exe' hook copilot", '"C:\\a b\\keyhole.exe" hook codex', "  /k/keyhole   hook  claude ",
])  # fmt: skip
def test_hooks_of_keyhole_are_recognized(line: str) -> None:
    assert parse_line(line) is not None


@pytest.mark.parametrize("variables", ["KEYHOLE_HOME=/data ", "A='b c' B=\"d e\"f  C= ", ""])
def test_variables_before_the_program_are_not_a_part_of_it(variables: str) -> None:
    line = parse_line(f"{variables}'/a b/keyhole' hook claude")
    assert line and (line.program, line.words, line.variables) == ("'/a b/keyhole'", ("/a b/keyhole",), variables)
    assert line.text == f"{variables}'/a b/keyhole' hook claude"


@pytest.mark.parametrize("line", [
    "", "prettier", "keyhole", "keyhole bound", "keyhole hook", "keyhole hook cursor", "/opt/other hook claude",
    "echo keyhole hook claude-code", "'keyhole hook claude", None, 3, ["keyhole", "hook", "claude"],
    "keyhole-guard hook claude", "echo hook claude",
    "/\ud800/keyhole hook claude", "/\0/keyhole hook claude", " hook claude",
    "/" + "k" * 9_000 + "/keyhole hook claude",
    "keyhole" + " " * 8_000 + "x", "keyhole" + " hook" * 1_600, "keyhole hook claudette",
])  # fmt: skip
def test_other_commands_are_not(line: object) -> None:
    assert parse_line(line) is None
