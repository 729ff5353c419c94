"""Pack the MCPB bundle with the official tool, unpack it, and start it as a desktop client does."""

from __future__ import annotations

import json
import sys
import zipfile
from pathlib import Path
from typing import Any

from .distributions import ROOT, environment, run
from .npm import install_from_npm
from .setup import Setup
from .steps import Steps
from .tool_calls import check_tools
from .wheel_install import connect

PACKAGES = ("@anthropic-ai/mcpb",)
RESOLVE = """
import { getMcpConfigForManifest } from "@anthropic-ai/mcpb";
const [manifest, extensionPath, userConfig] = process.argv.slice(1).map((word) => JSON.parse(word));
const options = { manifest, extensionPath, userConfig, systemDirs: {}, pathSeparator: "/" };
process.stdout.write(JSON.stringify(await getMcpConfigForManifest(options)));
"""
"""Node program that resolves a manifest and the user's settings to a command, with the library of desktop clients."""


def check(steps: Steps, setup: Setup, programs: Path) -> None:
    """Validate, pack, unpack and start the bundle, and call all three tools."""
    npm = install_from_npm(PACKAGES)
    unpacked = steps.run("mcpb: the bundle is valid and packs", lambda: _pack(setup.scratch, npm))
    if unpacked:
        steps.run("mcpb: the unpacked bundle serves", lambda: _check_server(steps, setup, unpacked, npm, programs))


def _pack(scratch: Path, npm: Path) -> Path:
    source, packed, unpacked = scratch / "source", scratch / "keyhole.mcpb", scratch / "bundle"
    run([sys.executable, ROOT / "packaging" / "bundle.py", source], scratch)
    run([npm / "mcpb", "validate", source / "manifest.json"], scratch)
    run([npm / "mcpb", "pack", source, packed], scratch)
    with zipfile.ZipFile(packed) as archive:
        archive.extractall(unpacked)
    return unpacked


def _check_server(steps: Steps, setup: Setup, unpacked: Path, npm: Path, programs: Path) -> None:
    manifest = json.loads((unpacked / "manifest.json").read_text("utf-8"))
    endpoint = setup.settings["KEYHOLE_ALLOW_PRIVATE"]
    start = _start_command(manifest, unpacked, {"allow_private": endpoint}, npm)
    assert start["env"]["KEYHOLE_ALLOW_PRIVATE"] == endpoint, start
    assert start["command"] == "uv", start
    uv = environment(UV_CACHE_DIR=str(setup.scratch / "uv-cache"), **start["env"])
    run([programs / "uv", "sync", "--directory", unpacked], setup.scratch, uv)  # as the client does when it installs
    settings = {**uv, "KEYHOLE_HOME": str(setup.scratch / "bundle-home")}
    with connect([programs / "uv", "--offline", *start["args"]], settings, setup.scratch) as call:
        check_tools(steps, "mcpb", call, setup.page)


def _start_command(manifest: dict[str, Any], folder: Path, answers: dict[str, str], npm: Path) -> dict[str, Any]:
    words = [json.dumps(word) for word in (manifest, str(folder), answers)]
    found: dict[str, Any] = json.loads(run(["node", "--input-type=module", "-e", RESOLVE, *words], npm.parent))
    return found
