"""Real clients against Keyhole: `python -m tests.clients.run` from the top of the tree.

Installs the clients that package.json pins into CLIENTS_CACHE (by default ~/.cache/keyhole-clients),
gives each a home of its own, and prints a line a step and a table at the end. Exit code 1 if a step failed; a client
that npm or pip cannot bring is skipped, and says why. Names after the command choose among them.
"""

from __future__ import annotations

import signal
import sys
import tempfile
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

from . import claude, codex, conformance, fuzz, inspector, installing, scanners, seen
from .agents import AGENTS
from .npm import NotBroughtError, bring
from .stage import Stage, set_stage
from .steps import FAULTS, Steps

Check = Callable[[Steps, Stage, Path], None]

CLIENTS: dict[str, tuple[Sequence[str], Check]] = {
    "conformance": (conformance.PACKAGES, conformance.check),
    "inspector": (inspector.PACKAGES, inspector.check),
    "codex": (codex.PACKAGES, codex.check),
    "claude": (claude.PACKAGES, claude.check),
    **{agent.name: (agent.packages, partial(seen.check, agent)) for agent in AGENTS},
    "installing": (installing.PACKAGES, installing.check),
    "fuzz": ((), fuzz.check),
    "scanners": ((), scanners.check),
}
"""Each with what npm is to bring for it."""


def main(wanted: Sequence[str] = ()) -> int:
    """Try every client, or those that are named; the exit code."""
    steps = Steps()
    for name, (packages, check) in CLIENTS.items():
        if wanted and name not in wanted:
            continue
        with steps.of(name):
            try:
                programs = bring(packages) if packages else Path()
            except NotBroughtError as reason:
                steps.skip(name, str(reason))
                continue
            # A scratch folder each: no client sees what another stored.
            with tempfile.TemporaryDirectory(prefix="keyhole-clients-") as scratch, set_stage(Path(scratch)) as stage:
                try:
                    check(steps, stage, programs)
                except FAULTS as fault:
                    steps.fail(name, fault)
    return steps.finish()


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # so that what was started is ended too
    sys.exit(main(sys.argv[1:]))
