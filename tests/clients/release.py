"""Build and test the published packages: `python -m tests.clients.release` in the root of the checkout.

Builds wheel, sdist and bundle, validates them, installs each outside the checkout and calls all three tools with a
client. Needs the package index and takes a minute and a half. Tools are cached in CLIENTS_CACHE (default:
~/.cache/keyhole-clients).
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "packaging"), str(ROOT / "server")]

import listings  # noqa: E402 - found through the line above

from . import bundle_install, plugin_install, wheel_install  # noqa: E402
from .distributions import build, install_tools, run, single_file  # noqa: E402
from .npm import InstallError  # noqa: E402
from .setup import open_setup  # noqa: E402
from .steps import FAULTS, Steps  # noqa: E402


def main() -> int:
    """Run all checks; return the exit code."""
    steps = Steps()
    with tempfile.TemporaryDirectory(prefix="keyhole-packaged-") as folder, open_setup(Path(folder)) as setup:
        programs = steps.run("the tools are installed", install_tools)
        if programs is None:
            return steps.finish()
        steps.run("server.json matches the registry's schema", lambda: _check_registry_entry(programs, setup.scratch))
        built = steps.run("wheel and sdist: builds are reproducible", lambda: build(programs, setup.scratch))
        if built:
            wheel = single_file(built, "*.whl")
            wheel_install.check(steps, setup, wheel, programs)
            plugin_install.check(steps, setup, wheel, programs)
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
    entry = listings.registry(f"io.github.someone/{listings.DISTRIBUTION}")
    (folder / "server.json").write_text(listings.to_json(entry), "utf-8")
    run([programs / "skillsaw", "lint", "--strict", folder], scratch)


if __name__ == "__main__":
    sys.exit(main())
