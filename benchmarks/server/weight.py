"""Weigh an installation: the size of each package on the disk, beside PyPI's mcp-server-fetch.

    python -m benchmarks.server.weight [--least 1.0]

Installs this tree and mcp-server-fetch into virtual environments, and prints the packages of at least `--least` MB with
the reason for each, and the totals without pip. Sizes include the compiled modules.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
import venv
from importlib.metadata import Distribution, distributions
from pathlib import Path
from typing import Final

from benchmarks.server.startup import PEER_VERSION

ROOT: Final = Path(__file__).resolve().parents[2]
INSTALLERS: Final = frozenset({"pip", "setuptools"})


def main() -> int:
    """Install, and print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--least", type=float, default=1.0)
    least = parser.parse_args().least
    with tempfile.TemporaryDirectory() as scratch:
        ours = install(Path(scratch) / "keyhole", str(ROOT))
        theirs = install(Path(scratch) / "peer", f"mcp-server-fetch=={PEER_VERSION}")
        print("| package | MB | needed by |\n|---|---:|---|")
        for name, size in sorted(ours.items(), key=lambda item: -item[1][0]):
            if size[0] >= least:
                print(f"| {name} | {size[0]:.1f} | {size[1]} |")
        small = [size for size, _ in ours.values() if size < least]
        print(f"| {len(small)} smaller ones | {sum(small):.1f} | |")
        totals = [sum(size for size, _ in each.values()) for each in (ours, theirs)]
        print(f"\nAll {len(ours)} packages: {totals[0]:.0f} MB; mcp-server-fetch {PEER_VERSION}: {len(theirs)}, "
              f"{totals[1]:.0f} MB.")  # fmt: skip
    return 0


def install(folder: Path, package: str) -> dict[str, tuple[float, str]]:
    """Install a package into a new environment; return size in MB and dependants of each package."""
    venv.create(folder, with_pip=True)
    subprocess.run([folder / "bin" / "pip", "install", "-q", package], capture_output=True, check=True)
    (site,) = folder.glob("lib/python*/site-packages")
    found = {each.metadata["Name"]: each for each in distributions(path=[str(site)])}
    return {
        name: (size_of(each), ", ".join(dependants(name, found)))
        for name, each in found.items()
        if name not in INSTALLERS
    }


def size_of(distribution: Distribution) -> float:
    """Return the size of a package's files in MB."""
    paths = [Path(str(distribution.locate_file(file))) for file in distribution.files or ()]
    return sum(path.stat().st_size for path in paths if path.is_file()) / 1_000_000


def dependants(name: str, found: dict[str, Distribution]) -> list[str]:
    """Return the packages that require a package, unless an extra does."""
    return sorted(
        other
        for other, distribution in found.items()
        if any(normalize(each) == normalize(name) and "extra ==" not in each for each in distribution.requires or ())
    )


def normalize(requirement: str) -> str:
    """Return the name of a requirement in the form that the index compares."""
    name = requirement
    for separator in " ;<>=!~[(":
        name = name.split(separator)[0]
    return name.lower().replace("_", "-").replace(".", "-")


if __name__ == "__main__":
    sys.exit(main())
