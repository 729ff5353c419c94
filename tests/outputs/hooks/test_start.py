"""The modules that a hook imports: it runs at each tool call, and its imports take most of its time."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.hook_events import LONG, recorded

SLOW = {
    "argparse", "ast", "asyncio", "dataclasses", "datetime", "httpx", "idna", "inspect", "ipaddress", "logging",
    "lxml", "pathlib", "platformdirs", "shutil", "socket", "sqlite3", "sqlite_utils", "ssl", "subprocess", "tempfile",
    "threading", "tomllib", "tokenize", "unicodedata", "urllib", "backports",
}  # fmt: skip
"""Libraries that no hook needs, and that take a millisecond or more."""
OUTPUTS = {
    "keyhole.cli.hook_command", "keyhole.config.folders", "keyhole.outputs", "keyhole.passages.excerpt",
    "keyhole.passages.gaps", "keyhole.render.boundary", "keyhole.serve.shared", "keyhole.store.ids",
    "keyhole.store.private_files", "keyhole.store.spool", "keyhole.text",
}  # fmt: skip
"""Modules of Keyhole beside the hook's own, with all below them."""
PROGRAM = """
import sys
before = set(sys.modules)
from keyhole.__main__ import main
sys.argv[1:] = ["hook", "claude"]
main()
print("\\n".join(sorted(set(sys.modules) - before)), file=sys.stderr)
"""


def imported(event: object, home: Path) -> set[str]:
    """Return the modules that a hook imports for an event."""
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM],
        input=json.dumps(event).encode(),
        capture_output=True,
        env={"KEYHOLE_HOME": str(home), "HOME": str(home)},
        timeout=60,
        check=True,
    )
    return set(done.stderr.decode().split())


@pytest.fixture
def home(tmp_path: Path) -> Path:
    (tmp_path / "secret").write_bytes(b"s" * 32)
    return tmp_path


def test_a_small_result_needs_no_import(home: Path) -> None:
    own = {"keyhole", "keyhole.__main__", "keyhole._version"} | {
        "keyhole.cli",
        "keyhole.outputs",
        "keyhole.outputs.hooks",
    }
    assert imported(recorded("claude-shell-small"), home) - {"__future__", "gc"} == own | {
        "keyhole.cli.hook_command",
        "keyhole.outputs.hooks.answer",
    }


@pytest.mark.parametrize("output", [LONG, "✓ checked\n" * 9_000], ids=["long", "an excerpt"])
def test_a_long_result_needs_only_what_reads_outputs(home: Path, output: str) -> None:
    event = recorded("claude-shell-small")
    event["tool_response"]["stdout"] = output
    modules = imported(event, home)
    assert "keyhole.outputs.render" in modules
    assert {module.split(".")[0] for module in modules} & SLOW == set()
    known = OUTPUTS | {"keyhole.__main__", "keyhole._version"}
    folders = {name.rpartition(".")[0] for name in known} | {"keyhole.cli", "keyhole"}
    others = {module for module in modules if module.startswith("keyhole") and module not in folders}
    assert {module for module in others if not any(f"{module}.".startswith(f"{name}.") for name in known)} == set()
