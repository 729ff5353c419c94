"""Check that Keyhole's hook bounds the tool results of real agents, and that a broken hook stops nothing."""

from __future__ import annotations

import re
import tempfile
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Final

from keyhole.cli.build import open_stores
from keyhole.config.load import parse_config
from keyhole.store.base import LOCAL
from keyhole.store.calls.base import CallFilters

from . import flood_server
from .fake_model import Step
from .hooked_agents import EDITED_FILE, EDITED_ROW, ROW, HookedAgent, run_turn, use_program
from .model_apis import Json
from .setup import Setup
from .steps import Steps
from .tool_calls import Reply, body, next_call

BUDGET: Final = 4_000
"""Characters of a result that the hook leaves alone, and of a bounded one."""
MAX_WRAPPER: Final = 200
"""Characters that an agent may add to a result."""
MAX_NUMBERS: Final = 1_000
"""Characters that an agent may add to what it read from a file, whose lines it numbers."""
IMPORTANT: Final = "ERROR: no oil is left for the lamp"
STATUS: Final = 3
LARGE: Final = (
    "seq -f 'step %g of the run: nothing to report from here' 1 4000; "
    f"echo '{IMPORTANT}'; "
    "seq -f 'step %g of the run: nothing to report from here' 4001 4060; sleep 0.3"
)
"""Prints 200 KB. The important line is in the part that every agent gives to its hook. opencode 1.18.33 can lose the
end of what a command prints without a pause before it ends."""
LINES: Final = frozenset(f"step {n} of the run: nothing to report from here" for n in range(1, 4_061))
TOTAL: Final = sum(len(line) + 1 for line in (*LINES, IMPORTANT))
SMALL: Final = "two words"

_STATUS = re.compile(rf"exit[a-z ]* {STATUS}\b", re.IGNORECASE)
_FAULTS: Final = """\
#!/bin/sh
echo run >> "$0.runs"
case $(wc -l < "$0.runs" | tr -d ' ') in
1) exit 1 ;;
2) echo '{"hookSpecificOutput": rubbish' ;;
3) exec sleep 60 ;;
4) rm "$0" ;;
esac
"""
"""A program in place of Keyhole that fails in another way at each run, and in the end deletes itself."""


def check(hooked: HookedAgent, steps: Steps, _setup: Setup, programs: Path) -> None:
    """Check the results of a turn with the hook, and of a turn with a broken one."""
    where = f"{hooked.name} --hooks-only"
    script: list[Step] = [
        hooked.run(LARGE),
        _read_on,
        hooked.run(f"echo '{SMALL}'"),
        hooked.run(f"echo '{SMALL}'; exit {STATUS}"),
        hooked.run(f"{LARGE}; exit {STATUS}"),
        (hooked.flood, {}),
        *hooked.file_calls,
        *hooked.name_calls,
        *hooked.edit_calls,
        hooked.run(f"grep -o '{EDITED_ROW}' {EDITED_FILE} || true"),
    ]
    sessions: list[frozenset[str]] = []
    look = partial(_list_sessions, sessions)
    shown = steps.run(f"{where}: a turn with the hook", lambda: run_turn(hooked, programs, script, after=look))
    if shown is not None:
        large, rest, small, failing, failing_large, flood, *files, edited = shown
        checks: dict[str, Callable[[], None]] = {
            "200 KB of a command are bounded, with the important line": partial(_check_bounded, large, IMPORTANT),
            "the call of the Next: line returns lines left out": partial(_check_rest, large, rest),
            "a small result stays as it is": partial(_check_small, small),
            "a failing command keeps its exit status": partial(_check_status, hooked, failing, failing_large),
            "200 KB of another MCP server are bounded": partial(_check_bounded, flood, flood_server.IMPORTANT),
            "the calls of the server and of the hook are one session": partial(_check_sessions, sessions),
        }
        if hooked.file_calls:
            found = files[: len(hooked.file_calls)]
            checks["200 KB of a file, and of a search in it, are bounded"] = partial(_check_files, found)
        if hooked.name_calls:
            found = files[len(hooked.file_calls) :][: len(hooked.name_calls)]
            checks["the names of 200 files that a search found are bounded"] = partial(_check_files, found)
        if hooked.edit_calls:
            read = files[len(hooked.file_calls) + len(hooked.name_calls)]
            checks["a file whose text was bounded can be edited"] = partial(_check_edited, read, edited)
        for name, each in checks.items():
            steps.run(f"{where}: {name}", each)
    steps.run(f"{where}: a hook that crashes, prints rubbish, hangs or is missing", partial(_break, hooked, programs))
    if hooked.built_in_fetch:
        steps.run(f"{where} --prefer: its own web fetch is refused once", partial(_prefer, hooked, programs))
    if hooked.name == "codex":
        steps.run(f"{where}: a hook that the user does not trust is skipped", partial(_distrust, hooked, programs))
        name = f"{where} --rewrite-commands: the whole output is bounded, and the exit status stays"
        steps.run(name, partial(_rewrite, hooked, programs))


def _read_on(shown: Sequence[str]) -> tuple[str, Json]:
    return next_call(shown[0]) if "\nNext: " in shown[0] else ("read_artifact", {"id": "none"})


def _check_bounded(text: str, important: str) -> None:
    assert len(text) <= BUDGET + MAX_WRAPPER, f"{len(text)} characters: {text[:300]}"
    assert important in body(Reply(text, {}, False)), text


def _check_files(shown: Sequence[str]) -> None:
    for text in shown:
        assert len(text) <= BUDGET + MAX_NUMBERS and "untrusted text" in text, f"{len(text)} characters: {text[:300]}"


def _check_edited(read: str, edited: str) -> None:
    _check_files([read])
    assert ROW not in read and EDITED_ROW in edited, f"{read[:500]} … {edited}"


def _check_rest(large: str, rest: str) -> None:
    new = LINES.intersection(body(Reply(rest, {}, False)).splitlines()).difference(large.splitlines())
    assert len(new) >= 5, f"{len(new)} new lines: {rest[:500]}"


def _list_sessions(sessions: list[frozenset[str]], home: Path) -> None:
    """Add the origins of the calls of each session in a log."""
    stores = open_stores(parse_config({"KEYHOLE_HOME": str(home)}))
    try:
        log = stores.calls_for(LOCAL)
        filters = (CallFilters(session=session.id) for session in log.sessions(9))
        sessions += [frozenset(call.origin for call in log.calls(99, each)) for each in filters]
    finally:
        stores.close()


def _check_sessions(sessions: Sequence[frozenset[str]]) -> None:
    assert list(map(set, sessions)) == [{"hook", "tool"}], sessions


def _check_small(text: str) -> None:
    assert SMALL in text and "untrusted" not in text and len(text) <= len(SMALL) + MAX_WRAPPER, text


def _check_status(hooked: HookedAgent, failing: str, failing_large: str) -> None:
    _check_small(failing)
    assert _STATUS.search(failing) or not hooked.tells_status, failing
    assert _STATUS.search(failing_large), failing_large[:500]


def _prefer(hooked: HookedAgent, programs: Path) -> None:
    """Check that the first call is refused and the second one runs, and that none is refused without a server."""
    fetch = hooked.built_in_fetch
    assert fetch
    script = [_unknown, fetch, fetch]
    _, first, second = run_turn(hooked, programs, script, options=["--prefer"], shared=True)
    assert "web_fetch(url=" in first and "refused only once" in first, first[:500]
    assert "refused only once" not in second, second[:500]
    (alone,) = run_turn(hooked, programs, [fetch], options=["--prefer"])
    assert "refused only once" not in alone, alone[:500]


def _unknown(_shown: Sequence[str]) -> tuple[str, Json]:
    return "read_artifact", {"id": "none"}


def _break(hooked: HookedAgent, programs: Path) -> None:
    words = [f"answer {n}" for n in range(5)]
    with tempfile.TemporaryDirectory(prefix="keyhole-clients-") as folder:
        program = Path(folder) / "keyhole"
        program.write_text(_FAULTS, "utf-8")
        program.chmod(0o755)
        shown = run_turn(hooked, programs, [hooked.run(f"echo '{each}'") for each in words], use_program(program))
        assert not program.exists(), "the program was not run once per call"
    for word, text in zip(words, shown, strict=True):
        assert word in text and len(text) <= len(word) + MAX_WRAPPER, text


def _distrust(hooked: HookedAgent, programs: Path) -> None:
    (text,) = run_turn(hooked, programs, [hooked.run(LARGE)], trusts=False)
    assert len(text) > BUDGET + MAX_WRAPPER and "untrusted text" not in text, text[:300]


def _rewrite(hooked: HookedAgent, programs: Path) -> None:
    script = [
        hooked.run(LARGE),
        _read_on,
        hooked.run(f"echo '{SMALL}'; exit {STATUS}"),
        hooked.run("echo killed; kill -9 $$"),
        hooked.run("setsid sh -c 'sleep 0.5; echo tick && echo ticked > ticks' & echo started"),
        hooked.run("for i in $(seq 100); do [ -s ticks ] && break; sleep 0.1; done; cat ticks"),
    ]
    large, rest, failing, killed, started, ticks = run_turn(hooked, programs, script, options=["--rewrite-commands"])
    _check_bounded(large, IMPORTANT)
    _check_rest(large, rest)
    assert f"{TOTAL:,} characters" in large, large[:500]
    _check_status(hooked, failing, failing)
    assert re.search(r"code (137|-1)\nOriginal token count: \d+\nOutput:\nkilled\n", killed), killed
    assert started.rstrip().endswith("\nstarted") and ticks.rstrip().endswith("\nticked"), f"{started} … {ticks}"
