"""How large a result each real agent hands its model: `python -m tests.clients.caps [AGENT…]` prints a table.

One turn an agent, in which its model reads ever larger windows of a stored page; the server is not told who asks, so
that it fits nothing to the client. Bounded by the time of a turn, 90 s each.
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from .agents import AGENTS, Agent
from .npm import PINNED, NotBroughtError, bring
from .seen import Turn, play, window_script
from .stage import Stage, set_stage
from .steps import FAULTS

SIZES: Final = (9_000, *range(10_000, 60_000, 2_000), *range(60_000, 200_001, 10_000))
"""Characters of the windows asked for; the last is the largest budget of a call."""


FINE: Final = 100
"""Characters between two windows, where the largest that arrives whole is looked for again."""
STEPS: Final = 25
"""At most so many of them."""


@dataclass(frozen=True, slots=True)
class Cap:
    """What one agent let through."""

    whole: int
    """Characters of the largest result that arrived whole, with no smaller one that did not."""
    asked: int
    """The size of the window in it that was asked for."""
    refused: int | None = None
    """Of the smallest that did not; None where all did."""
    left: int | None = None
    """Characters of it that the model was shown."""
    how: str = ""


def cap_of(turn: Turn, sizes: Iterable[int]) -> Cap:
    """The cap that a turn shows, which read windows of these sizes."""
    whole = asked = 0
    for said, shown, size in zip(turn.said[1:], turn.shown[1:], sizes, strict=False):
        if said not in shown:
            return Cap(whole, asked, len(said), len(shown), _how(said, shown))
        whole, asked = len(said), size
    return Cap(whole, asked)


def _how(said: str, shown: str) -> str:
    """What of a result is left: its beginning, its end, both or neither."""
    edge = 200
    begins, ends = said[:edge] in shown, said[-edge:] in shown
    kept = {(True, True): "head and tail", (True, False): "head", (False, True): "tail", (False, False): "neither end"}
    return kept[begins, ends]


def row(agent: Agent, stage: Stage, programs: Path) -> str:
    """One line of the table."""
    turn = play(agent, stage, programs, window_script(stage.long_page, SIZES), unnamed=True)
    assert len(turn.said) > 1, f"no tool was called: {turn.shown}"
    cap = cap_of(turn, SIZES)
    if cap.refused is not None:
        above = next(size for size in SIZES if size > cap.asked)
        between = range(cap.asked, above + 1, max(FINE, (above - cap.asked) // STEPS))
        with tempfile.TemporaryDirectory(prefix="keyhole-clients-") as scratch, set_stage(Path(scratch)) as fresh:
            cap = cap_of(play(agent, fresh, programs, window_script(fresh.long_page, between), unnamed=True), between)
    version = PINNED["dependencies"][agent.packages[0]]
    rest = "–" if cap.refused is None else f"of {cap.refused:,}: {cap.left:,} ({cap.how})"
    announced = f"`{turn.client['name']}` {turn.client['version']}"
    return f"| {agent.name} {version} | {announced} | {turn.revision} | {cap.whole:,} | {rest} |"


def main(wanted: list[str]) -> int:
    """Print the table."""
    print(f"Measured {datetime.now(UTC):%Y-%m-%d}, results of up to {SIZES[-1]:,} bytes.\n")
    print("| agent | clientInfo | revision | largest whole, characters | first that is cut: characters shown |")
    print("| --- | --- | --- | ---: | --- |")
    for agent in AGENTS:
        if wanted and not any(word in agent.name for word in wanted):
            continue
        try:
            programs = bring(agent.packages)
        except NotBroughtError as reason:
            print(f"| {agent.name} | not tried: {reason} | | | |")
            continue
        with tempfile.TemporaryDirectory(prefix="keyhole-clients-") as scratch, set_stage(Path(scratch)) as stage:
            try:
                print(row(agent, stage, programs), flush=True)
            except FAULTS as fault:
                print(f"| {agent.name} | not measured: {' '.join(str(fault).split())[:200]} | | | |", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
