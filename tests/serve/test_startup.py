"""A start loads only the modules that it needs. Unlike times, modules are the same on every machine."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from benchmarks.browser.pages.processes import descendants_of
from benchmarks.server import startup
from keyhole.cli.demo_site import recorded_pages, serve

SPARED = (
    *("mcp.client", "mcp.server.mcpserver", "httpx2", "cryptography", "jsonschema", "uvicorn.config"),
    *("rich", "pygments", "numpy"),
)
"""Modules that are never loaded over stdio, not even by a call."""


def test_printing_the_version_loads_nothing_else() -> None:
    program = (
        "import sys; before = set(sys.modules); sys.argv = ['keyhole', '--version']; "
        "from keyhole.__main__ import main; code = main(); print(*set(sys.modules) - before); sys.exit(code)"
    )
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True, timeout=60)
    output, loaded = run.stdout.splitlines()
    assert output.startswith("keyhole ")
    assert set(loaded.split()) == {"__future__", "keyhole", "keyhole.__main__", "keyhole._version"}


@pytest.mark.parametrize("revision", ["2025-06-18", "2026-07-28"])
def test_a_stdio_session_does_not_load_unused_parts_of_the_sdk(tmp_path: Path, revision: str) -> None:
    with serve(recorded_pages()) as port:
        page = f"http://127.0.0.1:{port}/sqlite-wal"
        loaded = _modules_of_a_session(tmp_path, revision, page)
    assert {"mcp.server.lowlevel.server", "keyhole.fetch.client"} <= loaded  # it has listed its tools and fetched
    assert not [module for module in loaded if module.startswith(SPARED)]


@pytest.mark.skipif(sys.platform != "linux", reason="counts child processes by /proc")
@pytest.mark.parametrize("revision", ["2025-06-18", "2026-07-28"])
def test_a_stdio_session_has_no_worker_before_its_first_fetch(tmp_path: Path, revision: str) -> None:
    with serve(recorded_pages()) as port:
        url = f"http://127.0.0.1:{port}/sqlite-wal"
        settings = {"KEYHOLE_HOME": str(tmp_path), "KEYHOLE_ALLOW_PRIVATE": f"127.0.0.1:{port}"}
        calls = _opened(
            [
                ("tools/list", {}),
                ("tools/call", {"name": "read_artifact", "arguments": {"id": "aaaaaaaaaaaaaaaa"}}),
                ("tools/call", {"name": "web_fetch", "arguments": {"url": url}}),
            ],
            revision,
        )
        with subprocess.Popen(
            [sys.executable, "-m", "keyhole", "serve"],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, env={**_bare(), **settings},
        ) as process:  # fmt: skip
            counts = []
            for number, call in enumerate(calls):
                _ask(process, number, *call, revision)
                counts.append(len(descendants_of(process.pid)))
            assert process.stdin
            process.stdin.close()
    assert counts[:-1] == [0] * (len(calls) - 1)
    assert counts[-1] >= 1


def _modules_of_a_session(home: Path, revision: str, page: str) -> set[str]:
    """Return every module that a server loaded while a client listed its tools and fetched a page."""
    settings = {"KEYHOLE_HOME": str(home), "KEYHOLE_ALLOW_PRIVATE": page.split("/")[2]}
    command = [sys.executable, "-X", "importtime", "-m", "keyhole", "serve"]
    errors = home / "imports"
    with errors.open("wb") as output, subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=output, env={**_bare(), **settings}
    ) as process:  # fmt: skip
        calls = [("tools/list", {}), ("tools/call", {"name": "web_fetch", "arguments": {"url": page}})]
        answers = [_ask(process, number, *call, revision) for number, call in enumerate(_opened(calls, revision))]
        assert process.stdin
        process.stdin.close()
    assert "Write-Ahead Logging" in answers[-1]["content"][0]["text"]
    lines = errors.read_text(encoding="utf-8").splitlines()
    return {line.rpartition("|")[2].strip() for line in lines if line.startswith("import time:")}


def _bare() -> dict[str, str]:
    return {name: value for name, value in os.environ.items() if not name.startswith("KEYHOLE_")}


def _opened(calls: list[tuple[str, dict[str, Any]]], revision: str) -> list[tuple[str, dict[str, Any]]]:
    """Return the calls, preceded by `initialize` in the era that has a handshake."""
    client = {"protocolVersion": revision, "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}}
    return calls if revision >= "2026" else [("initialize", client), *calls]


def _ask(
    process: subprocess.Popen[bytes], number: int, method: str, params: dict[str, Any], revision: str
) -> dict[str, Any]:
    if revision >= "2026":
        about = {"protocolVersion": revision, "clientInfo": {"name": "test", "version": "1"}, "clientCapabilities": {}}
        params = {**params, "_meta": {f"io.modelcontextprotocol/{name}": value for name, value in about.items()}}
    assert process.stdin and process.stdout
    message = {"jsonrpc": "2.0", "id": number, "method": method, "params": params}
    process.stdin.write(json.dumps(message).encode() + b"\n")
    if method == "initialize":
        process.stdin.write(b'{"jsonrpc":"2.0","method":"notifications/initialized"}\n')
    process.stdin.flush()
    for line in process.stdout:
        answer = json.loads(line)
        if answer.get("id") == number:
            result: dict[str, Any] = answer["result"]
            return result
    raise AssertionError(f"no answer to {method}")


def test_a_deferred_package_is_complete_when_it_is_used() -> None:
    program = (
        "import sys\nfrom keyhole.runtime.lazy_imports import deferred_imports\n"
        "with deferred_imports(): import mcp.server.lowlevel.server\n"
        "assert 'mcp.client' not in sys.modules; from mcp import Client; from mcp.server import MCPServer, Server; "
        "import mcp; assert mcp.server.Server is Server is mcp.server.lowlevel.server.Server; "
        "assert not hasattr(mcp, 'nothing'); print(Client.__name__, MCPServer.__name__, sorted(mcp.__all__)[0])"
    )
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True, timeout=60)
    assert run.stdout.split()[:2] == ["Client", "MCPServer"]


def test_the_benchmark_prints_the_median_and_slow_percentile_of_version(capsys: pytest.CaptureFixture[str]) -> None:
    print(startup.version_line(startup.version_times(3)))
    assert "of 3 runs" in capsys.readouterr().out
