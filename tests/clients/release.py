"""Build and test the published packages: `python -m tests.clients.release` in the root of the checkout.

Builds wheel, sdist and bundle, validates them, installs each outside the checkout and calls all three tools with a
client. Needs the package index and takes a minute and a half. Tools are cached in CLIENTS_CACHE (default:
~/.cache/keyhole-clients). With --release, a placeholder in place of the owner's name is an error.
"""

from __future__ import annotations

import shutil
import sys
import tempfile
from pathlib import Path

from . import bundle_install, wheel_install
from .distributions import ROOT, build, install_tools, run, single_file
from .npm import InstallError
from .setup import open_setup
from .steps import FAULTS, Steps

PLACEHOLDER = ".OWNER/"


def main() -> int:
    """Run all checks; return the exit code."""
    steps = Steps()
    with tempfile.TemporaryDirectory(prefix="keyhole-packaged-") as folder, open_setup(Path(folder)) as setup:
        programs = steps.run("the tools are installed", install_tools)
        if programs is None:
            return steps.finish()
        steps.run("server.json matches the registry's schema", lambda: _check_registry_entry(programs, setup.scratch))
        if "--release" in sys.argv:
            steps.run("server.json names the owner", _check_owner)
        built = steps.run("wheel and sdist: builds are reproducible", lambda: build(programs, setup.scratch))
        if built:
            wheel_install.check(steps, setup, single_file(built, "*.whl"), programs)
        try:
            bundle_install.check(steps, setup, programs)
        except InstallError as reason:
            steps.skip("mcpb", str(reason))
        except FAULTS as fault:
            steps.fail("mcpb", fault)
    return steps.finish()


def _check_registry_entry(programs: Path, scratch: Path) -> None:
    folder = scratch / "registry"
    folder.mkdir()
    shutil.copy(ROOT / "server.json", folder)
    run([programs / "skillsaw", "lint", "--strict", folder], scratch)


def _check_owner() -> None:
    assert PLACEHOLDER not in (ROOT / "server.json").read_text("utf-8"), "OWNER is not set in packaging/listings.py"


if __name__ == "__main__":
    sys.exit(main())
