"""What is published, tried as its users get it: `python -m tests.clients.packaged` from the top of the tree.

Builds wheel, sdist and bundle, checks them with the tools of their catalogues, installs each where no checkout is and
has a client call all three tools. Needs the package index; a minute and a half. Tools are kept in CLIENTS_CACHE (by
default ~/.cache/keyhole-clients). With --release it fails while a placeholder stands where the owner's name belongs.
"""

from __future__ import annotations

import shutil
import sys
import tempfile
from pathlib import Path

from . import bundled, installed
from .built import ROOT, build, only, run, tools
from .npm import NotBroughtError
from .stage import set_stage
from .steps import FAULTS, Steps

PLACEHOLDER = ".OWNER/"


def main() -> int:
    """Try all of it; the exit code."""
    steps = Steps()
    with tempfile.TemporaryDirectory(prefix="keyhole-packaged-") as folder, set_stage(Path(folder)) as stage:
        programs = steps.run("the tools are there", tools)
        if programs is None:
            return steps.finish()
        steps.run("server.json is as the registry's schema says", lambda: _listed(programs, stage.scratch))
        if "--release" in sys.argv:
            steps.run("the owner is named", _owned)
        built = steps.run("wheel and sdist: the same bytes twice", lambda: build(programs, stage.scratch))
        if built:
            installed.check(steps, stage, only(built, "*.whl"), programs)
        try:
            bundled.check(steps, stage, programs)
        except NotBroughtError as reason:
            steps.skip("mcpb", str(reason))
        except FAULTS as fault:
            steps.fail("mcpb", fault)
    return steps.finish()


def _listed(programs: Path, scratch: Path) -> None:
    folder = scratch / "listed"
    folder.mkdir()
    shutil.copy(ROOT / "server.json", folder)
    run([programs / "skillsaw", "lint", "--strict", folder], scratch)


def _owned() -> None:
    assert PLACEHOLDER not in (ROOT / "server.json").read_text("utf-8"), "packaging/listings.py has no owner yet"


if __name__ == "__main__":
    sys.exit(main())
