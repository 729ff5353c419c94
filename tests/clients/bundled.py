"""Packs the bundle for desktop clients with their own tool, unpacks it and starts it as they do. Knows no index."""

from __future__ import annotations

import json
import sys
import zipfile
from pathlib import Path
from typing import Any

from .built import ROOT, environment, run
from .installed import session
from .npm import bring
from .stage import Stage
from .steps import Steps
from .tour import tour

PACKAGES = ("@anthropic-ai/mcpb",)
RESOLVE = """
import { getMcpConfigForManifest } from "@anthropic-ai/mcpb";
const [manifest, extensionPath, userConfig] = process.argv.slice(1).map((word) => JSON.parse(word));
const options = { manifest, extensionPath, userConfig, systemDirs: {}, pathSeparator: "/" };
process.stdout.write(JSON.stringify(await getMcpConfigForManifest(options)));
"""
"""What a desktop client does with a manifest and the answers to its questions, by the library that they share."""


def check(steps: Steps, stage: Stage, programs: Path) -> None:
    """Validate, pack, unpack, start, and call all three tools."""
    npm = bring(PACKAGES)
    unpacked = steps.run("mcpb: the bundle is valid and packs", lambda: _packed(stage.scratch, npm))
    if unpacked:
        steps.run("mcpb: the unpacked bundle serves", lambda: _serves(steps, stage, unpacked, npm, programs))


def _packed(scratch: Path, npm: Path) -> Path:
    laid, packed, unpacked = scratch / "laid", scratch / "keyhole.mcpb", scratch / "bundle"
    run([sys.executable, ROOT / "packaging" / "bundle.py", laid], scratch)
    run([npm / "mcpb", "validate", laid / "manifest.json"], scratch)
    run([npm / "mcpb", "pack", laid, packed], scratch)
    with zipfile.ZipFile(packed) as archive:
        archive.extractall(unpacked)
    return unpacked


def _serves(steps: Steps, stage: Stage, unpacked: Path, npm: Path, programs: Path) -> None:
    manifest = json.loads((unpacked / "manifest.json").read_text("utf-8"))
    endpoint = stage.settings["KEYHOLE_ALLOW_PRIVATE"]
    start = _start(manifest, unpacked, {"allow_private": endpoint}, npm)
    assert start["env"]["KEYHOLE_ALLOW_PRIVATE"] == endpoint, start
    assert start["command"] == "uv", start
    uv = environment(UV_CACHE_DIR=str(stage.scratch / "uv-cache"), **start["env"])
    run([programs / "uv", "sync", "--directory", unpacked], stage.scratch, uv)  # as the client does when it installs
    settings = {**uv, "KEYHOLE_HOME": str(stage.scratch / "bundle-home")}
    with session([programs / "uv", "--offline", *start["args"]], settings, stage.scratch) as call:
        tour(steps, "mcpb", call, stage.page)


def _start(manifest: dict[str, Any], folder: Path, answers: dict[str, str], npm: Path) -> dict[str, Any]:
    words = [json.dumps(word) for word in (manifest, str(folder), answers)]
    found: dict[str, Any] = json.loads(run(["node", "--input-type=module", "-e", RESOLVE, *words], npm.parent))
    return found
