"""Lays out the bundle for desktop clients: `python packaging/bundle.py FOLDER`, then `mcpb pack FOLDER`.

The bundle is Keyhole's own source with a manifest and a project file that names the packages it needs; the client's uv
brings those. It asks no index for Keyhole itself. Nothing is packed and nothing is published here.
"""

from __future__ import annotations

import json
import shutil
import sys
import tomllib
from pathlib import Path
from typing import Final

import tomlkit

ROOT: Final = Path(__file__).resolve().parents[1]
FACE: Final = ROOT / "packaging" / "mcpb"


def main() -> int:
    """Lay the bundle out in the folder that is named; it must be empty or not be there."""
    if len(sys.argv) != 2:
        print("usage: python packaging/bundle.py FOLDER", file=sys.stderr)
        return 2
    lay_out(Path(sys.argv[1]))
    return 0


def lay_out(folder: Path) -> None:
    """Put every file of the bundle where the manifest says it is."""
    shutil.copytree(
        ROOT / "server" / "keyhole", folder / "server" / "keyhole", ignore=shutil.ignore_patterns("__pycache__")
    )
    for source, target in (
        (FACE / "main.py", "server"),
        *((FACE / name, "") for name in ("manifest.json", "icon.png")),
    ):
        shutil.copy(source, folder / target)
    for name in ("LICENSE", "README.md"):
        shutil.copy(ROOT / name, folder)
    (folder / "pyproject.toml").write_text(project(), encoding="utf-8")


def project() -> str:
    """The bundle's project file: what ours needs, with nothing to be built or installed but that."""
    ours = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    facts = {
        "name": f"{ours['name']}-bundle",
        "version": json.loads((FACE / "manifest.json").read_text(encoding="utf-8"))["version"],
        "requires-python": ours["requires-python"],
        "dependencies": [*ours["dependencies"], *ours["optional-dependencies"]["office"]],
    }
    return tomlkit.dumps({"project": facts, "tool": {"uv": {"package": False}}})


if __name__ == "__main__":
    sys.exit(main())
