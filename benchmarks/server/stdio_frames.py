"""Send invalid frames to a real server over stdio, in both protocol eras.

    python -m benchmarks.server.stdio_frames FILE

Each line of FILE is a JSON object with `id` and `case`: `name`, and the frame's bytes as `latin1`, or `gen` for a
generated frame. A server survives a frame if it answers the next `tools/list` within 3 seconds with its three tools and
writes only JSON-RPC lines. Each frame is sent to a new server, after a request that settles its era. Then all frames
are sent to one server in sequence. Takes two minutes. Exits with 1 if a server does not survive a frame, or if a row
cannot be run.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from benchmarks.rows import Check, has_fields, is_latin1, is_text, load_rows, one_of
from benchmarks.server.wire import ERAS, SilentError, Wire, run_server

SECONDS = 3.0
TOOLS = ["web_fetch", "search", "read_artifact"]
GENERATED = {"10MB line": b'{"jsonrpc":"2.0","id":5,"method":"tools/list","params":{"x":"' + b"y" * 10_000_000 + b'"}}'}
FIELDS: dict[str, Check] = {
    "case": lambda case: (
        has_fields({"gen": one_of(*GENERATED)}, {"name": is_text})(case)
        or has_fields({"latin1": is_latin1}, {"name": is_text, "gen": one_of()})(case)
    )
}


def frame(case: dict[str, Any]) -> bytes:
    """Return the bytes of a case, without the final line feed."""
    return GENERATED[case["gen"]] if "gen" in case else str(case["latin1"]).encode("latin-1")


def find_fault(wire: Wire, sent: bytes) -> str:
    """Send a frame; return the fault of the server, or "" if it survives."""
    try:
        wire.raw(sent)
        answer = wire.ask("tools/list", {}, SECONDS)
        names = [tool["name"] for tool in answer["result"]["tools"]]
    except (SilentError, ValueError, KeyError, OSError) as error:
        return f"{type(error).__name__}: {error}"
    return "" if names == TOOLS else f"the tools are {names}"


def run(rows: Sequence[dict[str, Any]], era: str) -> list[str]:
    """Return a line for each frame that breaks a server in one era."""
    wrong = []
    with TemporaryDirectory() as home:
        for together in ([row] for row in rows):
            wrong += [f"{fault} (alone)" for fault in _faults(together, home, era)]
        wrong += _faults(rows, home, era)
    return wrong


def _faults(rows: Sequence[dict[str, Any]], home: str, era: str) -> list[str]:
    with run_server(home, era) as wire:
        wire.ask("tools/list", {})
        faults = [(row, find_fault(wire, frame(row["case"]))) for row in rows]
    return [f"{row['id']} {row['case'].get('name', '')}: {fault}" for row, fault in faults if fault]


def main(arguments: Sequence[str]) -> int:
    """Print one line for each era and one for each fault."""
    rows, failed = load_rows(Path(arguments[0]), FIELDS)
    for era in ERAS:
        wrong = run(rows, era)
        failed += len(wrong)
        print(f"{era}: {len(rows)} frames, {len(wrong)} faults")
        print("".join(f"  {line}\n" for line in wrong), end="")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
