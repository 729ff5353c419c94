"""Test Keyhole with real clients: `python -m tests.clients.run [OPTION…] [CLIENT…]` in the root of the checkout.

Installs the clients that package.json pins into CLIENTS_CACHE (default: ~/.cache/keyhole-clients), gives each a
separate home, and prints a line per step and a table at the end. The exit code is 1 if a step failed. A client that
npm or pip cannot install is skipped with the reason.

`--shared`: the clients start keyhole-reader, which connects them to a server that they share, not `keyhole serve`.
`--half 1` and `--half 2`: every second client, so that two processes can test them at the same time.
`--install`: only install the clients.
"""

from __future__ import annotations

import argparse
import signal
import sys
import tempfile
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

from . import (
    agent_turns,
    apps,
    claude,
    codex,
    conformance,
    fuzz,
    hook_trust,
    inspector,
    install_command,
    look,
    output_hooks,
    proxied_clients,
    proxied_servers,
    scanners,
    sign_in,
    visibility,
)
from .agents import AGENTS
from .hooked_agents import HOOKED_AGENTS
from .npm import InstallError, install_from_npm
from .setup import Setup, open_setup
from .steps import FAULTS, Steps

Check = Callable[[Steps, Setup, Path], None]

PROXIED = [agent for agent in AGENTS if agent.name in ("codex exec gpt-5", "claude -p")]
"""The agents whose turns also go through the proxy."""

CLIENTS: dict[str, tuple[Sequence[str], Check]] = {
    "conformance": (conformance.PACKAGES, conformance.check),
    "inspector": (inspector.PACKAGES, inspector.check),
    "apps": (apps.PACKAGES, apps.check),
    "look": (look.PACKAGES, look.check),
    "codex": (codex.PACKAGES, codex.check),
    "claude": (claude.PACKAGES, claude.check),
    **{agent.name: (agent.packages, partial(agent_turns.check, agent)) for agent in AGENTS},
    "installing": (install_command.PACKAGES, install_command.check),
    **{f"{each.name} --hooks-only": (each.agent.packages, partial(output_hooks.check, each)) for each in HOOKED_AGENTS},
    "proxied servers": (proxied_servers.PACKAGES, proxied_servers.check),
    "inspector proxy": (inspector.PACKAGES, proxied_clients.check_inspector),
    **{f"{agent.name} proxy": (agent.packages, partial(proxied_clients.check_agent, agent)) for agent in PROXIED},
    "sign-in": (inspector.PACKAGES, sign_in.check_sdk),
    "codex sign-in": (codex.PACKAGES, sign_in.check_codex),
    "codex trust": (codex.PACKAGES, hook_trust.check),
    "fuzz": ((), fuzz.check),
    "scanners": ((), scanners.check),
    "visibility": ((), visibility.check),
}
"""The npm packages and the check of each client."""


def main(words: Sequence[str] = ()) -> int:
    """Check every client, or the named ones; return the exit code."""
    options = _arguments(words)
    steps = Steps()
    names = [name for name in CLIENTS if not options.clients or name in options.clients]
    if options.half:
        names = names[options.half - 1 :: 2]
    for name in names:
        packages, check = CLIENTS[name]
        with steps.group(name):
            try:
                programs = install_from_npm(packages) if packages else Path()
            except InstallError as reason:
                steps.skip(name, str(reason))
                continue
            if not options.install:
                _check_client(steps, name, check, programs, shared=options.shared)
    return steps.finish()


def _check_client(steps: Steps, name: str, check: Check, programs: Path, *, shared: bool) -> None:
    """Check a client in a separate folder, so that no client sees what another stored."""
    with (
        tempfile.TemporaryDirectory(prefix="keyhole-clients-") as scratch,
        open_setup(Path(scratch), shared=shared) as setup,
    ):
        try:
            check(steps, setup, programs)
        except FAULTS as fault:
            steps.fail(name, fault)


def _arguments(words: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("clients", nargs="*", metavar="CLIENT", help=", ".join(CLIENTS))
    parser.add_argument("--shared", action="store_true")
    parser.add_argument("--half", type=int, choices=(1, 2))
    parser.add_argument("--install", action="store_true")
    return parser.parse_args(words)


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # so that started programs are stopped too
    sys.exit(main(sys.argv[1:]))
