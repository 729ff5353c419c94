"""The plugin of opencode replaces what the hook answers, and leaves the result alone after any failure."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from keyhole.extensions.install.hooks import HOOK_CLIENTS, plugin_text

NODE = shutil.which("node")
pytestmark = pytest.mark.skipif(NODE is None, reason="needs Node.js, as a stand-in for opencode's runtime")
DRIVER = """
import { readFileSync } from "node:fs";
import { BoundOutputs } from "./keyhole.mjs";
const hooks = await BoundOutputs({ directory: "/work" });
const { input, output } = JSON.parse(readFileSync("event.json", "utf8"));
await hooks["tool.execute.after"](input, output);
console.log(JSON.stringify(output));
"""
RESULT = {"title": "t", "output": "ü" * 200_000, "metadata": {"outputPath": "/x"}}
INPUT = {"tool": "bash", "sessionID": "s", "callID": "c", "args": {"command": "ls"}}


def run_plugin(folder: Path, program: str, output: object = RESULT, seconds: str = "10") -> Any:
    """Return the result of a tool after the plugin has run this Python program as the hook."""
    words = [sys.executable, "-c", program] if program else [str(folder / "absent")]
    text = plugin_text(HOOK_CLIENTS["opencode"].line(words, "linux"))
    (folder / "keyhole.mjs").write_text(text.replace("SECONDS = 10", f"SECONDS = {seconds}"), "utf-8")
    (folder / "driver.mjs").write_text(DRIVER, "utf-8")
    (folder / "event.json").write_text(json.dumps({"input": INPUT, "output": output}), "utf-8")
    done = subprocess.run(
        [str(NODE), "driver.mjs"], cwd=folder, capture_output=True, text=True, encoding="utf-8", timeout=60, check=True
    )
    return json.loads(done.stdout)


def test_the_hook_gets_the_whole_event_and_replaces_what_it_answers(tmp_path: Path) -> None:
    program = (
        "import json, sys; event = json.loads(sys.stdin.buffer.read()); "
        "shown = [sys.argv[1:], event['input']['tool'], event['directory'], len(event['output']['output'])]; "
        "print(json.dumps({'output': {'output': json.dumps(shown)}}))"
    )
    replaced = run_plugin(tmp_path, program)
    assert json.loads(replaced["output"]) == [["hook", "opencode"], "bash", "/work", 200_000]
    assert (replaced["title"], replaced["metadata"]) == (RESULT["title"], RESULT["metadata"])


def test_the_result_of_an_mcp_tool_is_replaced_too(tmp_path: Path) -> None:
    program = 'print(\'{"output": {"content": [{"type": "text", "text": "short"}]}}\')'
    replaced = run_plugin(tmp_path, program, {"content": [{"type": "text", "text": "long"}], "isError": False})
    assert replaced == {"content": [{"type": "text", "text": "short"}], "isError": False}


@pytest.mark.parametrize(("program", "seconds"), [
    ("", "10"), ("pass", "10"), ("raise SystemExit(3)", "10"), ("print('not JSON')", "10"), ("print('null')", "10"),
    ("print('{}')", "10"), ("import sys; sys.stdin.close(); print('{\"output\": {}}')", "10"),
    ("print('{\"output\": {\"output\": \"late\"}}'); raise SystemExit(1)", "10"),
    ("import sys; print('{\"output\": {\"output\": \"x\"}}', flush=True); input(); input()", "0.2"),
    ("import threading; threading.Event().wait()", "0.2"),
])  # fmt: skip
def test_the_result_is_left_alone_after_a_failure(tmp_path: Path, program: str, seconds: str) -> None:
    assert run_plugin(tmp_path, program, seconds=seconds) == RESULT
