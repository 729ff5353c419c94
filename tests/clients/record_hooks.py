"""Record what real agents give to a hook: `python -m tests.clients.record_hooks FOLDER [AGENT…]`.

Each agent makes the same calls, and a program in place of Keyhole writes each event into a file and answers nothing.
Prints a line for each event: its name, the characters of its longest text, and those of the result that the model got.
Writes the events, shortened and without private folders, as FOLDER/AGENT-CASE.json. `tests/outputs/hooks/payloads` has
such files.
"""

from __future__ import annotations

import json
import re
import sys
import tempfile
from pathlib import Path
from typing import Any, Final

from .fake_model import Step
from .hooked_agents import HOOKED_AGENTS, HookedAgent, run_turn, use_program
from .npm import install_from_npm

LARGE: Final = "seq -f 'line %g of the flood, nothing to see here' 1 5000; sleep 0.3"
"""Prints 214 KB."""
FILE_CASES: Final = ("read-large", "search-large")
MAX_TEXT: Final = 4_000
"""Characters above which a text is shortened to HEAD and TAIL characters."""
HEAD: Final = 2_500
TAIL: Final = 1_000
FAILURE: Final = "PostToolUseFailure"
"""Claude Code's event of a command that fails, which Keyhole's hook is not registered for."""

_PROGRAM: Final = f"""#!{sys.executable}
import pathlib, sys, time
pathlib.Path(sys.argv[0] + f".{{time.time_ns()}}").write_bytes(sys.stdin.buffer.read())
"""
_FOLDERS: Final = {
    r"/?[\w./]*/keyhole-clients-\w+/home": "/home/user",
    r"/?[\w./]*/keyhole-clients-\w+/work": "/home/user/project",
    r"/?[\w./]*/keyhole-clients-\w+": "/home/user/scratch",
    r"-[\w-]*-keyhole-clients-[\w-]+-work": "-home-user-project",
}
"""Patterns of private folders, and what is written in their place."""


def cases(hooked: HookedAgent) -> dict[str, Step]:
    """Return the model's calls by the names of their cases."""
    return {
        "shell-large": hooked.run(LARGE),
        "shell-small": hooked.run("echo small"),
        "shell-failing": hooked.run("echo partial; echo bad >&2; exit 3"),
        "shell-failing-large": hooked.run(f"{LARGE}; exit 3"),
        "mcp-large": (hooked.flood, {}),
        **dict(zip(FILE_CASES, hooked.file_calls, strict=False)),
    }


def record(hooked: HookedAgent, programs: Path) -> tuple[list[Any], list[str]]:
    """Run the calls of an agent; return the events in their order, and the results that the model got."""
    with tempfile.TemporaryDirectory(prefix="keyhole-clients-") as folder:
        program = Path(folder) / "keyhole"
        program.write_text(_PROGRAM, "utf-8")
        program.chmod(0o755)

        def change(file: Path) -> None:
            use_program(program)(file)
            if hooked.name == "claude-code":
                settings = json.loads(file.read_text("utf-8"))
                settings["hooks"][FAILURE] = settings["hooks"]["PostToolUse"]
                file.write_text(json.dumps(settings), "utf-8")

        shown = run_turn(hooked, programs, list(cases(hooked).values()), change)
        files = sorted(program.parent.glob("keyhole.*"))
        return [json.loads(file.read_text("utf-8")) for file in files], shown


def shorten(value: Any) -> Any:
    """Return a value with its long texts cut in the middle, and without private folders."""
    if isinstance(value, dict):
        return {name: shorten(part) for name, part in value.items()}
    if isinstance(value, list):
        return [shorten(part) for part in value]
    if not isinstance(value, str):
        return value
    text = value
    for pattern, public in _FOLDERS.items():
        text = re.sub(pattern, public, text)
    if len(text) <= MAX_TEXT:
        return text
    return f"{text[:HEAD]}\n[{len(text) - HEAD - TAIL:,} characters removed]\n{text[-TAIL:]}"


def longest(value: Any) -> int:
    """Return the length of the longest text in a value."""
    parts = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return len(value) if isinstance(value, str) else max(map(longest, parts), default=0)


def main(folder: Path, names: list[str]) -> None:
    """Record all agents, or those with these names."""
    folder.mkdir(parents=True, exist_ok=True)
    for hooked in HOOKED_AGENTS:
        if names and hooked.name not in names:
            continue
        events, shown = record(hooked, install_from_npm(hooked.agent.packages))
        for case, event, text in zip(cases(hooked), events, shown, strict=True):
            print(f"{hooked.name}-{case}: {longest(event):,} characters, of which the model got {len(text):,}")
            (folder / f"{hooked.name}-{case}.json").write_text(json.dumps(shorten(event), indent=2) + "\n", "utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2:])
