"""The arguments of `keyhole hook`."""

from __future__ import annotations

from typing import Any, Final

from keyhole.cli.hook.program import CLIENTS, DEFAULT_BUDGET

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
