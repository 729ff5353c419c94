"""Builds and runs what deploy/Containerfile says, without a container engine: `python tests/packaging/containerfile.py`.

Its own RUN, COPY, ENV and CMD lines are taken from the file and carried out in a folder that stands for the image's
root. The server runs as the image's user where this runs as root, with nothing writable but its home. What cannot be
done so, layers and the base image, is not looked at. Needs the package index; takes about two minutes.
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
"""Of the image: each is a folder under the one that stands for its root."""
START: Final = 60.0
"""Seconds for the server to answer."""


@dataclass(frozen=True, slots=True)
class Instruction:
    """One line of the file, continuations joined."""

    stage: int
    name: str
    value: str

    @property
    def words(self) -> list[str]:
        """The value of an instruction in JSON form."""
        found: list[str] = json.loads(self.value)
        return found


def instructions(text: str) -> list[Instruction]:
    """What a Containerfile says, in its order; a stage begins with FROM."""
    text = re.sub(r"(?m)^\s*#.*\n", "", text)
    text = re.sub(r"\\\n\s*", "", text)
    found: list[Instruction] = []
    for line in filter(None, text.splitlines()):
        name, _, value = line.partition(" ")
        stage = (found[-1].stage if found else 0) + (name == "FROM")
        found.append(Instruction(stage, name, value.strip()))
    return found


def last(found: Sequence[Instruction], name: str) -> Instruction:
    """The last instruction of a name: the one that holds."""
    return next(one for one in reversed(found) if one.name == name)


def placed(text: str, root: Path) -> str:
    """A command of the image with its folders under another root, by the Python that runs this."""
    for folder in FOLDERS:
        text = re.sub(rf"(?<![\w.]){folder}\b", f"{root}{folder}", text)
    text = re.sub(r"(?<![\w/.-])pip (?=download|--python)", f"{shlex.quote(sys.executable)} -m pip ", text)
    return re.sub(r"(?<![\w/.-])python (?=-)", f"{shlex.quote(sys.executable)} ", text)


def main() -> int:
    """Build and run; 0 when all of it went well."""
    found = instructions(FILE.read_text(encoding="utf-8"))
    with tempfile.TemporaryDirectory(prefix="keyhole-image-") as scratch:
        root = Path(scratch)
        root.chmod(0o755)
        build(found, root)
        check(found, root)
    print("built and served as deploy/Containerfile says")
    return 0


def build(found: Sequence[Instruction], root: Path) -> None:
    """Carry out the stage that builds."""
    source = root / "src"
    source.mkdir()
    environment = {"PATH": os.environ["PATH"], "HOME": str(root), "LANG": "C.UTF-8"}
    environment |= {name: value for name, value in os.environ.items() if name.lower().startswith(("pip_", "http"))}
    for one in (one for one in found if one.stage == 1):
        if one.name == "ENV":
            environment |= dict(pair.split("=", 1) for pair in shlex.split(one.value))
        elif one.name == "COPY":
            *names, target = one.value.split()
            _copy(names, (source / target).resolve())
        elif one.name == "RUN":
            print(f"RUN {one.value}", flush=True)
            subprocess.run(placed(one.value, root), shell=True, check=True, cwd=source, env=environment)  # noqa: S602


def _copy(names: Sequence[str], target: Path) -> None:
    for name in names:
        if (ROOT / name).is_dir():
            shutil.copytree(ROOT / name, target, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy(ROOT / name, target)


def check(found: Sequence[Instruction], root: Path) -> None:
    """Run the server as the image does, ask for its health and its tools, and stop it."""
    user = int(last(found, "USER").value.partition(":")[0])
    home = root / "var/lib/keyhole"
    home.mkdir(parents=True, mode=0o700)
    tokens = root / "tokens"
    before = _tree(root / "opt")
    program = placed(last(found, "ENTRYPOINT").words[0], root)
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
            pair.split("=", 1) for one in found if one.stage == 2 and one.name == "ENV" for pair in one.value.split()
        ),
        "KEYHOLE_CONFIG": "off",
        "KEYHOLE_HOME": str(home),
        "KEYHOLE_ALLOWED_HOSTS": "127.0.0.1:*",
        "KEYHOLE_TOKENS_FILE": str(tokens),
    }
    command = [*_as(user), program, *last(found, "CMD").words, "--port", str(port)]
    with subprocess.Popen(command, env=environment, cwd=home) as server:
        try:
            health = [placed(word, root).replace(PORT, str(port)) for word in _health(found)]
            _wait_for(health, server)
            names = anyio.run(_tools, f"http://127.0.0.1:{port}/mcp", token)
            assert names == ["web_fetch", "search", "read_artifact"], names
            server.send_signal(getattr(signal, last(found, "STOPSIGNAL").value))
            assert server.wait(timeout=30) == 0
        finally:
            server.kill()
    assert _tree(root / "opt") == before, "the server wrote beside its own files"


def _as(user: int) -> list[str]:
    """What runs a command as the image's user. It may read everything, since the interpreter that stands for the
    image's may be in a folder of root's, and write nothing that is not its own."""
    if os.geteuid() != 0:
        return []
    may = "-all,+dac_read_search"
    who = [f"--reuid={user}", f"--regid={user}", "--clear-groups", "--no-new-privs"]
    return ["setpriv", *who, f"--inh-caps={may}", f"--ambient-caps={may}"]


def _health(found: Sequence[Instruction]) -> list[str]:
    command: list[str] = json.loads(last(found, "HEALTHCHECK").value.partition(" CMD ")[2])
    return command


def _wait_for(health: Sequence[str], server: subprocess.Popen[bytes]) -> None:
    until = time.monotonic() + START
    while subprocess.run(health, capture_output=True, check=False).returncode:
        assert server.poll() is None, f"the server ended with {server.returncode}"
        assert time.monotonic() < until, "the server does not answer"
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
