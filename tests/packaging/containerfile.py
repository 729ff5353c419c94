"""Run the steps of deploy/Containerfile without a container engine: `python tests/packaging/containerfile.py`.

Its RUN, COPY, ENV and CMD instructions are executed in a temporary folder in place of the image's root. If this process
is root, the server runs as the image's user, who may write only to its home. Layers and the base image are not tested.
Needs the package index; takes about two minutes.
"""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import anyio
from mcp import Client

ROOT: Final = Path(__file__).resolve().parents[2]
FILE: Final = ROOT / "deploy" / "Containerfile"
PORT: Final = "8765"
FOLDERS: Final = ("/opt/keyhole", "/var/lib/keyhole", "/wheels", "/build", "/src")
"""Folders of the image; each becomes a folder under the temporary root."""
START_TIMEOUT: Final = 60.0
"""Seconds for the server to start."""


@dataclass(frozen=True, slots=True)
class Instruction:
    """An instruction of the Containerfile, with continuation lines joined."""

    stage: int
    name: str
    value: str

    @property
    def words(self) -> list[str]:
        """The words of an instruction in JSON form."""
        parts: list[str] = json.loads(self.value)
        return parts


def parse_instructions(text: str) -> list[Instruction]:
    """Return the instructions of a Containerfile in order. Each FROM begins a stage."""
    text = re.sub(r"(?m)^\s*#.*\n", "", text)
    text = re.sub(r"\\\n\s*", "", text)
    instructions: list[Instruction] = []
    for line in filter(None, text.splitlines()):
        name, _, value = line.partition(" ")
        stage = (instructions[-1].stage if instructions else 0) + (name == "FROM")
        instructions.append(Instruction(stage, name, value.strip()))
    return instructions


def last_instruction(instructions: Sequence[Instruction], name: str) -> Instruction:
    """Return the last instruction with this name, which overrides earlier ones."""
    return next(instruction for instruction in reversed(instructions) if instruction.name == name)


def relocate(text: str, root: Path) -> str:
    """Return a command of the image, adapted to run under `root` with this Python interpreter."""
    for folder in FOLDERS:
        text = re.sub(rf"(?<![\w.]){folder}\b", f"{root}{folder}", text)
    text = re.sub(r"(?<![\w/.-])pip (?=download|--python)", f"{shlex.quote(sys.executable)} -m pip ", text)
    return re.sub(r"(?<![\w/.-])python (?=-)", f"{shlex.quote(sys.executable)} ", text)


def main() -> int:
    """Build and run the image's steps. Return 0; failures raise."""
    instructions = parse_instructions(FILE.read_text(encoding="utf-8"))
    with tempfile.TemporaryDirectory(prefix="keyhole-image-") as scratch:
        root = Path(scratch)
        root.chmod(0o755)
        build(instructions, root)
        check(instructions, root)
    print("the image was built and its server answered, by the steps of deploy/Containerfile")
    return 0


def build(instructions: Sequence[Instruction], root: Path) -> None:
    """Run the instructions of the build stage."""
    source = root / "src"
    source.mkdir()
    environment = {"PATH": os.environ["PATH"], "HOME": str(root), "LANG": "C.UTF-8"}
    environment |= {name: value for name, value in os.environ.items() if name.lower().startswith(("pip_", "http"))}
    for instruction in (instruction for instruction in instructions if instruction.stage == 1):
        if instruction.name == "ENV":
            environment |= dict(pair.split("=", 1) for pair in shlex.split(instruction.value))
        elif instruction.name == "COPY":
            *names, target = instruction.value.split()
            _copy(names, (source / target).resolve())
        elif instruction.name == "RUN":
            print(f"RUN {instruction.value}", flush=True)
            subprocess.run(relocate(instruction.value, root), shell=True, check=True, cwd=source, env=environment)  # noqa: S602


def _copy(names: Sequence[str], target: Path) -> None:
    for name in names:
        if (ROOT / name).is_dir():
            shutil.copytree(ROOT / name, target, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy(ROOT / name, target)


def check(instructions: Sequence[Instruction], root: Path) -> None:
    """Run the server as the image does, check its health and its tools, and stop it."""
    user = int(last_instruction(instructions, "USER").value.partition(":")[0])
    home = root / "var/lib/keyhole"
    home.mkdir(parents=True, mode=0o700)
    tokens = root / "tokens"
    before = _tree(root / "opt")
    program = relocate(last_instruction(instructions, "ENTRYPOINT").words[0], root)
    made = _run(
        [program, "tokens", "new", "alice", "--file", str(tokens)], {"KEYHOLE_CONFIG": "off", "KEYHOLE_HOME": str(home)}
    )
    token = max(made.split(), key=len)
    if os.geteuid() == 0:
        for path in (home, tokens):
            os.chown(path, user, user)
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    environment = {
        **dict(
            pair.split("=", 1)
            for instruction in instructions
            if instruction.stage == 2 and instruction.name == "ENV"
            for pair in instruction.value.split()
        ),
        "KEYHOLE_CONFIG": "off",
        "KEYHOLE_HOME": str(home),
        "KEYHOLE_ALLOWED_HOSTS": "127.0.0.1:*",
        "KEYHOLE_TOKENS_FILE": str(tokens),
    }
    command = [*_run_as(user), program, *last_instruction(instructions, "CMD").words, "--port", str(port)]
    with subprocess.Popen(command, env=environment, cwd=home) as server:
        try:
            health = [relocate(word, root).replace(PORT, str(port)) for word in _health(instructions)]
            _wait_for(health, server)
            names = anyio.run(_tools, f"http://127.0.0.1:{port}/mcp", token)
            assert names == ["web_fetch", "search", "read_artifact"], names
            server.send_signal(getattr(signal, last_instruction(instructions, "STOPSIGNAL").value))
            assert server.wait(timeout=30) == 0
        finally:
            server.kill()
    assert _tree(root / "opt") == before, "the server wrote to /opt"


def _run_as(user: int) -> list[str]:
    """Return the command prefix that runs a program as the image's user, if this process is root.

    The user may read every file, because the interpreter may be in a folder of root, but may write only to its own."""
    if os.geteuid() != 0:
        return []
    capabilities = "-all,+dac_read_search"
    identity = [f"--reuid={user}", f"--regid={user}", "--clear-groups", "--no-new-privs"]
    return ["setpriv", *identity, f"--inh-caps={capabilities}", f"--ambient-caps={capabilities}"]


def _health(instructions: Sequence[Instruction]) -> list[str]:
    command: list[str] = json.loads(last_instruction(instructions, "HEALTHCHECK").value.partition(" CMD ")[2])
    return command


def _wait_for(health: Sequence[str], server: subprocess.Popen[bytes]) -> None:
    end = time.monotonic() + START_TIMEOUT
    while subprocess.run(health, capture_output=True, check=False).returncode:
        assert server.poll() is None, f"the server ended with {server.returncode}"
        assert time.monotonic() < end, "the server does not answer"
        time.sleep(0.2)


async def _tools(url: str, token: str) -> list[str]:
    import httpx2
    from mcp.client.streamable_http import streamable_http_client

    async with (
        httpx2.AsyncClient(headers={"authorization": f"Bearer {token}"}) as http,
        Client(streamable_http_client(url, http_client=http)) as client,
    ):
        return [tool.name for tool in (await client.list_tools()).tools]


def _run(command: Sequence[str], environment: Mapping[str, str]) -> str:
    return subprocess.run(command, env=dict(environment), check=True, capture_output=True, text=True).stdout


def _tree(folder: Path) -> set[tuple[str, int]]:
    return {(str(path), path.stat().st_mtime_ns) for path in folder.rglob("*") if path.is_file()}


if __name__ == "__main__":
    sys.exit(main())
