"""Run `keyhole hook CLIENT`: read an event, and print the client's answer if its result is over the budget.

The client must not notice a hook that has nothing to say. So whatever goes wrong, nothing is printed, the exit status
is 0 and the result stays as it is.
"""

from __future__ import annotations

import gc
import os
import sys

from keyhole.outputs.hooks.answer import CLIENTS, DEFAULT_BUDGET, MAX_EVENT, PREFER_KEY, answer

TYPE_CHECKING = False  # type checkers read it as True; importing `typing` would take a fifth of the time of most events
if TYPE_CHECKING:
    import argparse
    from collections.abc import Sequence
    from typing import Any, Final

    from keyhole.config.config import Config

MIN_SHARED: Final = 8_000
"""Bytes of an event from which a shared server is asked. Most shorter ones are left alone, which takes no import."""
BUILT_IN: Final = (b"WebFetch", b"WebSearch", b"web_fetch", b"webfetch", b"websearch")
"""Words of the events that `--prefer` asks the server about: the names of clients' own tools for the web."""
DESCRIPTION: Final = """\
Answer a client's event about a tool call. `keyhole install CLIENT` makes the client run this command after each
tool call. The long result of a command, a file, a search or another server's tool is replaced by its most important
lines and the call that reads the rest. Any other result, and every event that is not understood, is left alone: nothing
is printed.

--prefer answers the event before a call of the client's own web fetch: it names the call of Keyhole to make instead,
while the shared server answers and has a client in this folder.

--rewrite-commands also answers Codex's event before a command. Codex runs a changed command only if the hook approves
it, so every command runs without asking the user.
Exit codes: 0 for every event; 1 wrong command line."""


def add_hook(commands: Any) -> None:
    """Add `keyhole hook` to the parser's commands."""
    hook = commands.add_parser(
        "hook",
        help="answer a client's event about a tool call, and bound a long result",
        description=DESCRIPTION,
        examples=("cat event.json | keyhole hook claude",),
    )
    # Codex gives the model the message of a hook that exits with 2, in place of the tool's result; it ignores 1.
    hook.usage_status = 1
    hook.add_argument("client", choices=CLIENTS, help="the client whose event is on standard input")
    hook.add_argument(
        "--budget",
        type=int,
        default=DEFAULT_BUDGET,
        metavar="N",
        help="most characters of the result, default 4000; a shorter result is left alone",
    )
    hook.add_argument(
        "--prefer",
        metavar="NAME",
        help="refuse the client's own web fetch once for each address, while the server named NAME answers",
    )
    hook.add_argument(
        "--rewrite-commands",
        action="store_true",
        help="codex only: approve every command and run it with `keyhole shell`, which gets the whole output",
    )


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
