"""Every command's help has an example that works: one of each command is run, and the others are parsed."""

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from typing import Final

import pytest

from keyhole.cli.demo_site import recorded_pages
from tests.support.agents_at_work import Workplace, serve_pages
from tests.support.console import capture_parser
from tests.support.hook_events import recorded
from tests.support.reference import iter_commands

PAGE: Final = "https://www.sqlite.org/wal.html"
"""The address in the examples of `fetch`. The recorded page is served on loopback instead."""
RUN: Final = (
    "keyhole serve",
    f"keyhole fetch {PAGE} --query 'checkpoint starvation'",
    "keyhole search 'checkpoint starvation' --scope stored --explain",
    "keyhole read ID --query 'wraparound' --explain",
    "cat page.html | keyhole extract - --url https://example.org/page | keyhole select - -q 'opening hours'",
    "keyhole select page.html --query 'checkpoint starvation' --explain",
    "keyhole bound build.log --query 'linker error' --budget 2000",
    "keyhole run --query 'linker error' --timeout 600 -- make -j8",
    "keyhole shell /bin/bash '' 'make -j8'",
    "keyhole compact request.json --max-tokens 100000",
    "keyhole artifacts list --site postgresql.org --sort size",
    "keyhole artifacts show ID > page.md",
    "keyhole artifacts search 'vacuum threshold'",
    "keyhole artifacts pin ID",
    "keyhole artifacts unpin ID",
    "keyhole artifacts verify",
    "keyhole artifacts stats",
    "keyhole artifacts gc",
    "keyhole artifacts rm --older-than 30d",
    "keyhole look --export session.html",
    "keyhole forget --site intranet.example --yes",
    "keyhole models",
    "keyhole proxy -- npx -y @modelcontextprotocol/server-filesystem ~/notes",
    "keyhole server status",
    "keyhole tokens new alice --days 90 --file tokens.json",
    "keyhole config --changed",
    "keyhole install codex --dry-run",
    "keyhole uninstall --all --dry-run",
    "cat event.json | keyhole hook claude",
    "keyhole doctor --offline --json",
    "keyhole completion zsh > ~/.zfunc/_keyhole",
    "keyhole demo",
)
"""One example of each command, in an order in which each finds what it needs."""


def examples() -> list[tuple[str, str]]:
    """Return each command with each of its examples, without their comments."""
    return [
        (name, re.sub(r"\s+# .*", "", line.strip()))
        for name, _, parser in iter_commands(capture_parser())
        for line in (parser.epilog or "").splitlines()[1:]
    ]


@pytest.fixture(scope="module")
def workplace(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Workplace]:
    """Yield a user's folder with the files that the examples name, and a site with the recorded pages."""
    folder = tmp_path_factory.mktemp("examples")
    (folder / "page.html").write_bytes(recorded_pages()["sqlite-wal"].body)
    (folder / "build.log").write_text("".join(f"step {number}\n" for number in range(2_000)) + "linker error\n")
    (folder / "Makefile").write_text("all:\n\t@echo linker error\n")
    (folder / "event.json").write_text(json.dumps(recorded("claude-shell-small")))
    (folder / "request.json").write_text(json.dumps({"messages": [{"role": "user", "content": "Hello."}]}))
    (folder / ".zfunc").mkdir()
    python = shlex.quote(sys.executable)
    for program, words in (("keyhole", '"$@"'), ("npx", "serve")):  # any MCP server stands for the one that npx starts
        (folder / program).write_text(f"#!/bin/sh\nexec {python} -m keyhole {words}\n")
        (folder / program).chmod(0o700)
    with serve_pages() as site:
        yield Workplace(folder / "home", site)


def run(workplace: Workplace, line: str) -> str:
    """Run a line in a shell as a user would, with no input, and return what it prints."""
    folder = workplace.home.parent
    environment = {**workplace.environment(), "HOME": str(folder), "XDG_CONFIG_HOME": str(folder)}
    environment["PATH"] = f"{folder}:{environment['PATH']}"
    line = line.replace(PAGE, workplace.site.url("/sqlite-wal"))
    command = ["/bin/sh", "-c", line]
    done = subprocess.run(
        command, cwd=folder, env=environment, stdin=subprocess.DEVNULL, timeout=120, text=True, capture_output=True
    )
    assert done.returncode == 0, f"{line}\n{done.stdout}\n{done.stderr}"
    return done.stdout


def test_one_example_of_each_command_is_run() -> None:
    commands = {name for name, _, _ in iter_commands(capture_parser())}
    assert {name for name, example in examples() if example in RUN} == commands


@pytest.mark.skipif(os.name != "posix", reason="needs a POSIX shell")
def test_an_example_of_each_command_works(workplace: Workplace) -> None:
    id = ""
    for example in RUN:
        printed = run(workplace, example.replace("ID", id))
        if example.startswith("keyhole fetch"):
            assert "checkpoint starvation" in printed
            id = json.loads(run(workplace, "keyhole artifacts list --json"))[0]["id"]


def test_every_example_is_a_valid_command_line() -> None:
    parser = capture_parser()
    for _, example in examples():
        for part in re.split(r" \| | > | && |\$\(|\)", example):
            words = shlex.split(re.sub(r"^eval \"|\"$", "", part)) if part.startswith("keyhole ") else []
            if words:
                parser.parse_args(words[1:])
