"""Real clients against Keyhole: `python -m tests.clients.run` from the top of the tree.

Installs the clients that package.json pins into CLIENTS_CACHE (by default ~/.cache/keyhole-clients),
gives each a home of its own, and prints a line a step. Exit code 1 if a step failed; a client that npm cannot
bring is skipped.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

from . import claude, codex, inspector, installing
from .npm import NotBroughtError, bring
from .stage import set_stage
from .steps import FAULTS, Steps

CLIENTS = {"inspector": inspector, "codex": codex, "claude": claude, "installing": installing}


def main() -> int:
    """Try every client; the exit code."""
    steps = Steps()
    for name in CLIENTS:
        try:
            programs = bring(CLIENTS[name].PACKAGES)
        except NotBroughtError as reason:
            steps.skip(name, str(reason))
            continue
        # A scratch folder each: no client sees what another stored.
        with tempfile.TemporaryDirectory(prefix="keyhole-clients-") as scratch, set_stage(Path(scratch)) as stage:
            try:
                CLIENTS[name].check(steps, stage, programs)
            except FAULTS as fault:
                steps.fail(name, fault)
    return steps.finish()


if __name__ == "__main__":
    sys.exit(main())
