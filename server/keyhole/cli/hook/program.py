"""Run `keyhole hook CLIENT`: read an event, bound its result if it is over the budget, and print the client's answer.

The client must not notice a hook that has nothing to say. So whatever goes wrong, nothing is printed, the exit status
is 0 and the result stays as it is.
"""

from __future__ import annotations

import gc
import os
import sys

TYPE_CHECKING = False  # type checkers read it as True; importing `typing` would take a fifth of the time of most events
if TYPE_CHECKING:
    import argparse
    from collections.abc import Mapping, Sequence
    from typing import Any, Final

    from keyhole.cli.hook.event import Result, Source
    from keyhole.config.config import Config

CLIENTS: Final = ("claude", "codex", "copilot", "opencode")
DEFAULT_BUDGET: Final = 4_000
"""Characters of a bounded result, as in `keyhole bound`. A result of at most this length is left alone."""
MIN_BUDGET: Final = 800
"""Characters that the note of a client and a bounded text of its least size need."""
MIN_SHARED: Final = 8_000
"""Bytes of an event from which a shared server is asked. Most shorter ones are left alone, which takes no import."""
MAX_EVENT: Final = 64 * 1024 * 1024
"""Greatest event that is read, in bytes."""
BUILT_IN: Final = (b"WebFetch", b"WebSearch", b"web_fetch", b"webfetch", b"websearch")
"""Words of the events that `--prefer` asks the server about: the names of clients' own tools for the web."""
PREFER_KEY: Final = "keyhole_prefer"
"""The key that `--prefer` adds to an event for the server. Its value is the name under which Keyhole is registered."""
SAVED_WORDS: Final = (b"aved to", b"persistedOutputPath", b"outputPath", b"PreToolUse")
"""Words of short events that may need an answer: they name a file with the whole text, or precede a command."""


def is_plain(words: Sequence[str]) -> bool:
    """Return whether the words after `keyhole hook` need no parser: a client, with `--budget N` or `--prefer NAME`."""
    if len(words) not in (1, 3) or words[0] not in CLIENTS:
        return False
    if words[1:2] == ["--budget"]:
        return words[2].isascii() and words[2].isdigit() and len(words[2]) < 10
    return words[1:2] in ([], ["--prefer"])


def run_plain(words: Sequence[str]) -> int:
    """Answer the event on standard input for the words of `is_plain`, and return 0."""
    gc.disable()  # collecting takes a twentieth of the time, and the process ends at once
    option, value = (words[1], words[2]) if len(words) > 1 else ("", "")
    if option == "--prefer":
        return _answer_input(words[0], DEFAULT_BUDGET, prefers=value)
    return _answer_input(words[0], int(value) if option else DEFAULT_BUDGET)


def run(_config: Config, arguments: argparse.Namespace) -> int:
    """Answer the event on standard input, and return 0."""
    prefers = arguments.prefer or ""
    return _answer_input(arguments.client, arguments.budget, rewrites=arguments.rewrite_commands, prefers=prefers)


def _answer_input(client: str, budget: int, *, rewrites: bool = False, prefers: str = "") -> int:
    try:
        data = sys.stdin.buffer.read(MAX_EVENT + 1)
        reply = None
        if prefers:
            reply = _refusal(data, client, prefers)
        elif not rewrites and len(data) > MIN_SHARED:
            from keyhole.serve.shared.hook_client import ask_server

            reply = ask_server(data, client, budget, os.environ)
        if reply is None:
            reply = answer(data, client, budget, os.environ, rewrites=rewrites)
        if reply:
            sys.stdout.buffer.write(reply)
            sys.stdout.flush()
    except Exception:  # noqa: BLE001, S110 - the result of the tool stays as it is
        pass
    return 0


def _refusal(data: bytes, client: str, server: str) -> bytes:
    """Return the answer of the running shared server that refuses a built-in call for the web, b"" if there is none.

    `server`: the name under which Keyhole is registered.
    """
    if len(data) > MAX_EVENT or not any(word in data for word in BUILT_IN):
        return b""
    import json

    from keyhole.serve.shared.hook_client import ask_server

    event = {**json.loads(data), PREFER_KEY: server}
    return ask_server(json.dumps(event).encode(), client, DEFAULT_BUDGET, os.environ) or b""


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
    from keyhole.cli.hook.codex import rewrite

    return rewrite(event, (sys.executable, "-P", "-m", "keyhole"))


def _replace(
    event: Mapping[str, Any], client: str, budget: int, environment: Mapping[str, str]
) -> Mapping[str, Any] | None:
    """Return the answer that bounds the result of an event, None to leave it alone."""
    from importlib import import_module

    from keyhole.cli.hook.event import read_source

    dialect = import_module(f"keyhole.cli.hook.{client}")
    found = dialect.find(event, environment)
    text = _bounded(found, budget, environment, read_source(event, client)) if found else ""
    return dialect.answer(event, text) if text else None


def _bounded(found: Result, budget: int, environment: Mapping[str, str], source: Source) -> str:
    """Return the bounded text of a result, "" to leave the result alone."""
    from keyhole.cli.hook.saved_file import whole_text
    from keyhole.cli.hook.transcript import complete

    found = complete(found) if found.transcript else found
    output = whole_text(found) if found.saved else found.text
    if output is None or len(output) <= max(budget, found.least):
        return ""
    from keyhole.cli.hook.keep import bound_and_keep

    return bound_and_keep(found, output, budget, environment, source)
