"""Completion of commands, options, choices, files and artifact ids, in the real shells that are installed."""

from __future__ import annotations

import os
import pty
import select
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from keyhole.cli.commands import SHELLS, build_parser
from keyhole.cli.completion import make_completion_script
from keyhole.cli.main import main
from keyhole.config.config import Config
from keyhole.store.base import LOCAL
from keyhole.store.open import open_stores
from tests.support.fakes import artifact

PATIENCE = 30.0
"""Seconds for a shell to show something: a hundred times as long as it takes."""
BASH = """
source /dev/stdin <<< "$SCRIPT"
COMP_WORDS=("$@"); COMP_CWORD=$((${#COMP_WORDS[@]} - 1)); COMPREPLY=()
_shtab_keyhole
printf '%s\\n' "${COMPREPLY[@]}"
"""
ZSH = (
    'autoload -U compinit; compinit -u -d "$HOME/dump"; eval "$SCRIPT"; echo "$_comps[keyhole]"; functions _keyhole_ids'
)


def run(shell: str, command: list[str], folder: Path) -> list[str]:
    """Return the lines that a shell prints; the completion script is in $SCRIPT."""
    program = shutil.which(shell)
    if program is None:
        pytest.skip(f"no {shell} on this machine")
    (folder / "bin").mkdir(exist_ok=True)
    starter = folder / "bin" / "keyhole"
    starter.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m keyhole "$@"\n', encoding="utf-8")
    starter.chmod(0o755)
    environment = {
        "PATH": os.pathsep.join([str(starter.parent), os.environ["PATH"]]),
        "SCRIPT": make_completion_script(build_parser(), shell),
        "HOME": str(folder),
        "KEYHOLE_CONFIG": "off",
        "KEYHOLE_HOME": str(folder / "home"),
    }
    ran = subprocess.run(
        [program, *command], env=environment, cwd=folder, capture_output=True, text=True, timeout=60, check=True
    )
    assert ran.stderr == ""
    return ran.stdout.split("\n")[:-1]


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["fe"], ["fetch"]),
        (["search", "--sc"], ["--scope"]),
        (["search", "--scope", ""], ["web", "stored", "both"]),
        (["artifacts", "li"], ["list"]),
        (["artifacts", "list", "--sort", "t"], ["title"]),
        (["completion", ""], list(SHELLS)),
        (["extract", "pa"], ["page.html"]),
    ],
)
def test_bash_completes(words: list[str], expected: list[str], tmp_path: Path) -> None:
    (tmp_path / "page.html").touch()
    assert run("bash", ["-c", BASH, "bash", "keyhole", *words], tmp_path) == expected


def test_bash_completes_the_ids_of_stored_artifacts(tmp_path: Path) -> None:
    stores = open_stores(Config(home=tmp_path / "home"))
    store, _ = stores.for_tenant(LOCAL)
    store.put(artifact("abcdefghij234567", "A text.\n"), "", ())
    stores.close()
    assert run("bash", ["-c", BASH, "bash", "keyhole", "read", ""], tmp_path) == ["abcdefghij234567"]
    assert run("bash", ["-c", BASH, "bash", "keyhole", "artifacts", "show", "abc"], tmp_path) == ["abcdefghij234567"]


def test_zsh_accepts_the_script(tmp_path: Path) -> None:
    output = run("zsh", ["-f", "-c", ZSH], tmp_path)
    assert output[0] == "_shtab_keyhole"
    assert output[1].startswith("_keyhole_ids")


@pytest.mark.parametrize(
    ("typed", "becomes"),
    [(b"keyhole fe", b"tch "), (b"keyhole search --scope st", b"ored "), (b"keyhole extract pa", b"ge.html ")],
)
def test_zsh_completes_typed_words(typed: bytes, becomes: bytes, tmp_path: Path) -> None:
    program = shutil.which("zsh")
    if program is None:
        pytest.skip("no zsh on this machine")
    (tmp_path / "page.html").touch()
    ours, theirs = pty.openpty()
    environment = {
        "PATH": os.environ["PATH"],
        "HOME": str(tmp_path),
        "SCRIPT": make_completion_script(build_parser(), "zsh"),
        "TERM": "dumb",
    }
    with subprocess.Popen(
        [program, "-f", "-i"], stdin=theirs, stdout=theirs, stderr=theirs, env=environment, cwd=tmp_path
    ) as process:
        os.close(theirs)
        try:
            os.write(ours, b'autoload -U compinit; compinit -u -d "$HOME/dump"; eval "$SCRIPT"; PS1="rea""dy> "\n')
            _until(ours, b"ready> ")
            os.write(ours, typed + b"\t")
            _until(ours, becomes)
        finally:
            process.kill()
            os.close(ours)


def _until(terminal: int, words: bytes) -> None:
    """Read a terminal's output until it contains these words."""
    shown = b""
    while words not in shown:
        assert select.select([terminal], [], [], PATIENCE)[0], shown
        shown += os.read(terminal, 65_536)


def test_fish_completes_commands_and_choices(tmp_path: Path) -> None:
    program = 'echo "$SCRIPT" | source; complete -C "keyhole fe"; complete -C "keyhole search --scope s"'
    output = run("fish", ["--no-config", "-c", program], tmp_path)
    assert [line.split("\t")[0] for line in output] == ["fetch", "stored"]


def test_tcsh_accepts_the_script(tmp_path: Path) -> None:
    (tmp_path / "script").write_text(make_completion_script(build_parser(), "tcsh"), encoding="utf-8")
    output = run("tcsh", ["-f", "-c", "source script; complete keyhole"], tmp_path)
    assert "(serve fetch search" in "".join(output)


@pytest.mark.parametrize("shell", SHELLS)
def test_every_shells_script_contains_every_command(shell: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["completion", shell]) == 0
    output = capsys.readouterr().out
    for name in ("fetch", "search", "read", "extract", "select", "artifacts", "config", "completion"):
        assert name in output
