"""Write and recognize the command lines that clients run as hooks, such as `/opt/keyhole/bin/keyhole hook claude`.

Clients run them with a shell: sh or the user's shell on POSIX, and on Windows one that differs by client.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import PureWindowsPath
from typing import Final, Literal

from keyhole.extensions.install.entries import PROGRAM
from keyhole.outputs.hooks.answer import CLIENTS

Shell = Literal["posix", "git bash", "cmd", "powershell"]
MAX_LINE: Final = 8_192
"""Characters of a command line that is read; paths have at most half as many."""
_COMMAND: Final = re.compile(rf"\shook\s+({'|'.join(CLIENTS)})(?!\S)")
_VARIABLES: Final = re.compile(r"""\A(?:[A-Za-z_]\w*=(?:[^\s'"\\]|'[^']*'|"[^"]*")*\s+)*""")
"""Variables before a program, as in `KEYHOLE_HOME=/data keyhole hook claude`."""
_INVALID: Final = re.compile(r"[\0\ud800-\udfff]")
"""Characters that JSON can name and that no command line can have."""


@dataclass(frozen=True, slots=True)
class HookLine:
    """A command line that runs Keyhole as a hook.

    `program`: the quoted program; `words`: the same, unquoted; `variables`: assignments that a user wrote before it.
    """

    program: str
    words: tuple[str, ...]
    client: str
    options: str = ""
    variables: str = ""

    @property
    def text(self) -> str:
        """The whole command line."""
        return f"{self.variables}{self.program} hook {self.client}{self.options}"


def join_words(words: Sequence[str], shell: Shell) -> str:
    """Return the program and its arguments as a shell reads them. No path has a double quote on Windows."""
    if shell == "cmd":
        return " ".join(f'"{word}"' if re.search(r"[^\w:\\/.@=+-]", word) else word for word in words)
    if shell == "powershell":
        return "& " + " ".join("'" + word.replace("'", "''") + "'" for word in words)
    # Slashes work in Git Bash, and in PowerShell, which Claude Code uses where Git Bash is missing.
    return shlex.join(word.replace("\\", "/") if shell == "git bash" else word for word in words)


def parse_line(line: object) -> HookLine | None:
    """Return the parts of a command line; None if it does not run Keyhole as a hook."""
    if not isinstance(line, str) or len(line) > MAX_LINE or _INVALID.search(line):
        return None
    found = _COMMAND.search(line)
    if found is None:
        return None
    command = line[: found.start()].strip()
    program = _VARIABLES.sub("", command, count=1)
    try:
        words = tuple(shlex.split(program.removeprefix("&").replace("\\", "/")))
    except ValueError:  # a quotation mark without its pair
        return None
    is_ours = bool(words) and _name(words[-1]) == PROGRAM
    variables = command.removesuffix(program)
    return HookLine(program, words, found[1], line[found.end() :].rstrip(), variables) if is_ours else None


def _name(word: str) -> str:
    return PureWindowsPath(word.partition("@")[0]).stem
