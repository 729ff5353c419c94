"""Compare what commands do in Codex's shell with and without `keyhole hook codex --rewrite-commands`.

    python -m benchmarks.outputs.codex_commands [--case WORD] [--jobs N]

Each command of codex_commands.toml runs twice in an empty folder, as Codex 0.169 runs it: in a session of its own, with
/dev/null as standard input, and with the rest of its process group killed 50 ms after the end of the shell. Compared
are the bytes of its output, its exit status or signal, and the files that it leaves. Both streams of a command are one
pipe, since Codex shows them in one text. It prints how many commands behave the same.
"""

from __future__ import annotations

import argparse
import json
import os
import pty
import re
import select
import signal
import subprocess
import tempfile
import time
import tomllib
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Final

from keyhole.cli.build import open_stores
from keyhole.config.config import Config
from keyhole.outputs.hooks.answer import answer
from keyhole.store.base import LOCAL

TABLE: Final = Path(__file__).with_suffix(".toml")
PATIENCE: Final = 20.0
"""Seconds for a command, which takes less than one."""
AFTER_SHELL: Final = 0.05
"""Seconds in which Codex reads what other processes print after the end of the shell."""
MAX_CHARS: Final = 4_000
"""Characters of a bounded output."""
PROFILE: Final = """\
export PATH="$HOME/bin:$PATH" exported=1
not_exported=2
umask 027
in_profile() { echo "in_profile $1"; }
alias from_profile='echo alias'
[ -z "$GREETING" ] || echo "$GREETING"
[ -z "$WITH_LOGOUT" ] || trap 'echo bye' EXIT
"""
BASH_ENV: Final = "from_bash_env=3\nin_bash_env() { echo in_bash_env; }\n"
ENVIRONMENT: Final = {
    "PATH": "/usr/local/bin:/usr/bin:/bin", "LANG": "C.UTF-8", "LC_ALL": "C.UTF-8", "TERM": "dumb", "NO_COLOR": "1",
    "COLORTERM": "", "PAGER": "cat", "GIT_PAGER": "cat", "GH_PAGER": "cat", "CODEX_CI": "1", "KEYHOLE_CONFIG": "off",
}  # fmt: skip

_LINE_OF_PROCESS = re.compile(rb"(line \d+: +)\d+ ")
"""A shell's message about a process that was killed, with its number."""


@dataclass(frozen=True, slots=True)
class Case:
    """A command of the table, whose head describes the fields."""

    name: str
    script: str
    shell: Sequence[str] = ("/bin/bash", "-c")
    variables: Mapping[str, str] = field(default_factory=dict)
    until: str = ""
    terminal: bool = False
    large: bool = False
    differs: str = ""


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a command did: its output, its exit status (the negative number of a signal), and the files that it left."""

    output: bytes
    status: int
    files: Mapping[str, bytes]

    def describe(self) -> str:
        """Return the outcome on one line."""
        return f"{self.status} {self.output[:400]!r} {dict(self.files)}"


def read_cases() -> list[Case]:
    """Return the commands of the table, and some that are too long for it."""
    long = [Case(f"a command of {size:,} bytes", f"echo {'x' * size} | wc -c") for size in (20_000, 115_000, 130_000)]
    return [Case(**row) for row in tomllib.loads(TABLE.read_text("utf-8"))["case"]] + long


def compare(case: Case, folder: Path) -> str:
    """Run a command without and with Keyhole in new folders, and return what differs, "" if nothing does."""
    without = run_case(case, folder / "a", case.script)
    try:
        with_keyhole = run_case(case, folder / "b", rewrite(case.script))
    except TimeoutError as error:
        return f"{without.describe()}\n    {error}"
    if case.large:
        stored = read_stored(with_keyhole.output.decode(), folder / "b" / "keyhole")
        if stored != without.output.decode():
            return f"stored: {stored[:300]!r}"
        with_keyhole = replace(with_keyhole, output=without.output)
    return "" if without == with_keyhole else f"{without.describe()}\n    {with_keyhole.describe()}"


def rewrite(script: str) -> str:
    """Return the command that the hook makes of a script, the script itself if the hook leaves it alone."""
    event = {"hook_event_name": "PreToolUse", "tool_name": "Bash", "tool_input": {"command": script}}
    reply = answer(json.dumps(event).encode(), "codex", MAX_CHARS, {}, rewrites=True)
    return str(json.loads(reply)["hookSpecificOutput"]["updatedInput"]["command"]) if reply else script


def run_case(case: Case, folder: Path, command: str) -> Outcome:
    """Run a command of a case in a new folder, as Codex does."""
    home, work = folder / "home", folder / "work"
    work.mkdir(parents=True)
    home.mkdir()
    for name in (".profile", ".zprofile"):
        (home / name).write_text(PROFILE, "utf-8")
    (home / "bash-env").write_text(BASH_ENV, "utf-8")
    variables = {name: _expand(value, home) for name, value in case.variables.items()}
    environment = {**ENVIRONMENT, "HOME": str(home), "KEYHOLE_HOME": str(folder / "keyhole"), **variables}
    reading, writing = pty.openpty() if case.terminal else os.pipe()
    process = subprocess.Popen(
        [*case.shell, command], cwd=work, env=environment, stdin=writing if case.terminal else subprocess.DEVNULL,
        stdout=writing, stderr=writing, start_new_session=True,
    )  # fmt: skip
    os.close(writing)
    output, status = _read(process, reading)
    try:
        _wait_for(work, case.until, reading)
    finally:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        os.close(reading)
    return Outcome(
        _LINE_OF_PROCESS.sub(rb"\1N ", output.replace(bytes(folder), b"FOLDER")), status, _read_files(work, folder)
    )


def _expand(value: str, home: Path) -> str:
    """Return the value of a variable: `x*40000` is repeated, and `bash-env` is a file of the home folder."""
    if repeated := re.fullmatch(r"(.)\*(\d+)", value):
        return repeated[1] * int(repeated[2])
    return str(home / value) if value == "bash-env" else value


def _read(process: subprocess.Popen[bytes], reading: int) -> tuple[bytes, int]:
    """Read the output of a command until AFTER_SHELL after its end, and return it with the exit status."""
    output, limit, deadline = bytearray(), time.monotonic() + PATIENCE, 0.0
    while True:
        if not deadline and process.poll() is not None:
            deadline = time.monotonic() + AFTER_SHELL
        now = time.monotonic()
        if now > limit:
            raise TimeoutError(f"the command takes more than {PATIENCE:.0f} s: {bytes(output[-300:])!r}")
        ready, _, _ = select.select([reading], [], [], max(0.0, deadline - now) if deadline else 0.002)
        if ready and (block := _read_block(reading)):
            output += block
        elif ready or (deadline and now >= deadline):
            return bytes(output), process.wait(PATIENCE)


def _read_block(reading: int) -> bytes:
    try:
        return os.read(reading, 1 << 20)
    except OSError:  # the last process has closed the terminal
        return b""


def _wait_for(work: Path, name: str, reading: int) -> None:
    """Wait until a process of the background has written a file, and drop what it prints."""
    limit = time.monotonic() + PATIENCE
    while name and not ((work / name).exists() and (work / name).stat().st_size):
        if time.monotonic() > limit:
            raise TimeoutError(f"nothing writes {name}: a process of the background has ended")
        if not (select.select([reading], [], [], 0.01)[0] and _read_block(reading)):
            time.sleep(0.01)


def _read_files(work: Path, folder: Path) -> dict[str, bytes]:
    """Return the mode and the content of each file that a command left."""
    found = {}
    for path in sorted(work.rglob("*")):
        if ".git" not in path.parts:
            content = bytes(path.readlink()) if path.is_symlink() else path.read_bytes() if path.is_file() else b""
            name = os.fsencode(path.relative_to(work)).decode("ascii", "backslashreplace")
            found[name] = f"{path.lstat().st_mode:o} ".encode() + content.replace(bytes(folder), b"FOLDER")
    return found


def read_stored(output: str, home: Path) -> str:
    """Return the stored text of a bounded output."""
    found = re.search(r'read_artifact\(id="(\w+)"', output)
    assert found and len(output) <= MAX_CHARS, output[:300]
    with closing(open_stores(Config(home=home))) as stores:
        stored = stores.for_tenant(LOCAL)[0].get(found[1])
    assert stored is not None, output[:300]
    return stored.text


def main(words: Sequence[str] | None = None) -> int:
    """Compare all commands, print what differs and the number of equal ones, and return 1 if one should be equal."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.outputs.codex_commands")
    parser.add_argument("--case", default="", metavar="WORD", help="only commands whose name contains this")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), metavar="N")
    arguments = parser.parse_args(words)
    cases = [case for case in read_cases() if arguments.case in case.name]
    with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(arguments.jobs) as pool:
        differences = list(pool.map(compare, cases, [Path(folder, str(number)) for number in range(len(cases))]))
    for case, difference in zip(cases, differences, strict=True):
        if difference or case.differs:
            print(f"{case.name}: {case.differs or 'DIFFERS'}\n    {difference or 'is the same'}")
    print(f"{differences.count('')} of {len(cases)} commands behave the same with Keyhole")
    return int(any(bool(difference) != bool(case.differs) for case, difference in zip(cases, differences, strict=True)))


if __name__ == "__main__":
    raise SystemExit(main())
