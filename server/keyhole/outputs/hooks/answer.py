"""Answer a client's event about a tool call: bound the result if it is over the budget, in the client's own form."""

from __future__ import annotations

import os
import sys

TYPE_CHECKING = False  # type checkers read it as True; importing `typing` would take a fifth of the time of most events
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any, Final

    from keyhole.outputs.hooks.event import Result, Source

CLIENTS: Final = ("claude", "codex", "copilot", "opencode")
DEFAULT_BUDGET: Final = 4_000
"""Characters of a bounded result, as in `keyhole bound`. A result of at most this length is left alone."""
MIN_BUDGET: Final = 800
"""Characters that the note of a client and a bounded text of its least size need."""
MAX_EVENT: Final = 64 * 1024 * 1024
"""Greatest event that is read, in bytes."""
PREFER_KEY: Final = "keyhole_prefer"
"""The key that `--prefer` adds to an event for the server. Its value is the name under which Keyhole is registered."""
SAVED_WORDS: Final = (b"aved to", b"persistedOutputPath", b"outputPath", b"PreToolUse")
"""Words of short events that may need an answer: they name a file with the whole text, or precede a command."""


def answer(data: bytes, client: str, budget: int, environment: Mapping[str, str], *, rewrites: bool = False) -> bytes:
    """Return the answer of a client's hook to an event, b"" to leave the result alone. Raises for a broken event."""
    budget = max(MIN_BUDGET, budget)
    is_short = len(data) <= budget and not any(word in data for word in SAVED_WORDS)
    if is_short or len(data) > MAX_EVENT:
        return b""
    import json

    event = json.loads(data)
    if not isinstance(event, dict) or "cursor_version" in event:  # Cursor runs the hooks of Claude Code too
        return b""
    reply = _rewrite(event) if rewrites and client == "codex" else None
    reply = reply or _replace(event, client, budget, environment)
    return json.dumps(reply).encode() if reply else b""


def _rewrite(event: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """Return the answer that runs a command of Codex through `keyhole shell`, None for any other event.

    On Windows, Codex runs commands with PowerShell, but `rewrite` quotes for POSIX shells only.
    """
    if os.name != "posix":
        return None
    from keyhole.outputs.hooks.codex import rewrite

    return rewrite(event, (sys.executable, "-P", "-m", "keyhole"))


def _replace(
    event: Mapping[str, Any], client: str, budget: int, environment: Mapping[str, str]
) -> Mapping[str, Any] | None:
    """Return the answer that bounds the result of an event, None to leave it alone."""
    from importlib import import_module

    from keyhole.outputs.hooks.event import read_source

    dialect = import_module(f"keyhole.outputs.hooks.{client}")
    found = dialect.find(event, environment)
    text = _bounded(found, budget, environment, read_source(event, client)) if found else ""
    return dialect.answer(event, text) if text else None


def _bounded(found: Result, budget: int, environment: Mapping[str, str], source: Source) -> str:
    """Return the bounded text of a result, "" to leave the result alone."""
    from keyhole.outputs.hooks.saved_file import complete, whole_text

    found = complete(found) if found.transcript else found
    output = whole_text(found) if found.saved else found.text
    if output is None or len(output) <= max(budget, found.least):
        return ""
    from keyhole.outputs.hooks.keep import bound_and_keep

    return bound_and_keep(found, output, budget, environment, source)
