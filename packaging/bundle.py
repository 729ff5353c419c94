"""Write the files of the MCPB bundle for desktop clients: `python packaging/bundle.py FOLDER`, then `mcpb pack FOLDER`.

The bundle contains Keyhole's source, a manifest, and a project file. With uv, the client installs the
dependencies that the project file lists.
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
MCPB: Final = ROOT / "packaging" / "mcpb"


def main() -> int:
    """Write the bundle to the folder named on the command line, which must be empty or absent."""
    if len(sys.argv) != 2:
        print("usage: python packaging/bundle.py FOLDER", file=sys.stderr)
        return 2
    write_bundle(Path(sys.argv[1]))
    return 0


def write_bundle(folder: Path) -> None:
    """Copy every file of the bundle to its place in the folder."""
    shutil.copytree(
        ROOT / "server" / "keyhole", folder / "server" / "keyhole", ignore=shutil.ignore_patterns("__pycache__")
    )
    for source, target in (
        (MCPB / "main.py", "server"),
        *((MCPB / name, "") for name in ("manifest.json", "icon.png")),
    ):
        shutil.copy(source, folder / target)
    for name in ("LICENSE", "README.md"):
        shutil.copy(ROOT / name, folder)
    (folder / "pyproject.toml").write_text(project_file(), encoding="utf-8")


def project_file() -> str:
    """Return the text of the bundle's pyproject.toml, which has the dependencies but no package to build."""
    ours = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    facts = {
        "name": f"{ours['name']}-bundle",
        "version": json.loads((MCPB / "manifest.json").read_text(encoding="utf-8"))["version"],
        "requires-python": ours["requires-python"],
        "dependencies": [*ours["dependencies"], *ours["optional-dependencies"]["office"]],
    }
    return tomlkit.dumps({"project": facts, "tool": {"uv": {"package": False, "constraint-dependencies": pins()}}})


def pins() -> list[str]:
    """Return the exact version of each package in requirements.txt, with its marker, which uv obeys for all of them."""
    lines = (ROOT / "requirements.txt").read_text(encoding="utf-8").splitlines()
    return [line.removesuffix("\\").strip() for line in lines if "==" in line.partition(";")[0]]


if __name__ == "__main__":
    sys.exit(main())
