"""List the programs that take secrets as arguments, and which of their arguments these are."""

from __future__ import annotations

from functools import cache
from typing import Final

from keyhole.text.data_file import read_lines

WRAPPERS: Final = frozenset({
    "sudo", "doas", "env", "nohup", "time", "timeout", "nice", "ionice", "xargs", "watch", "strace", "ssh", "su",
    "runuser", "chroot", "setsid", "exec", "eval", "command", "builtin", "sh", "bash", "dash", "zsh", "ksh", "fish",
    "ash", "docker", "podman", "nerdctl", "kubectl", "oc", "nsenter", "systemd-run", "flatpak-spawn", "wsl", "if",
    "then", "else", "elif", "while", "until", "do", "{", "!", "+", "#", "%", "parallel", "find", "tmux", "screen",
    "script", "expect", "stdbuf", "unbuffer", "trap", "cmd",
})  # fmt: skip
"""Programs and words before a command that runs."""

_SEPARATORS: Final = {ord(char): " " for char in "\"'`;|&()<>/\\$"}
TABLE: Final = "\n".join(read_lines(__file__, "programs.txt"))
"""A line: programs, `|` and words of a command of theirs (`a/b` is one of both), a colon, and the secrets:

`-p`: the value of an option. `-p~`: only a value without a space before it. `-u[:]`: what follows the first colon in
the value. `-C_`: an option whose value is no secret. `#2`: the second argument that is no option, after the words of
the command. `#last`: the last one. `#*[/]`: in each, what follows the slash, up to an `@`. `#1?`: unless it is a common
word. `@password`: the argument after this word. `*`: the argument after the name of a secret. `=`: what follows `=` in
each argument. `<`: what is read from standard input. `<[:]`: what follows the colon there.
"""


USER_OPTIONS: Final = frozenset({"-u", "-U", "-l", "--user", "--username", "--login"})
PASSWORD_OPTIONS: Final = frozenset({"-p", "-P", "-w", "-pw", "-pass"})
"""Options with the name and the password of a user. With both, a program that is not in the table takes a password."""


def mentions_program(text: str) -> bool:
    """Return False if a text certainly contains no command that takes a secret as an argument."""
    if any(f" {option} " in text for option in PASSWORD_OPTIONS):
        return True
    return not _programs().isdisjoint(text.translate(_SEPARATORS).split())


@cache
def _programs() -> frozenset[str]:
    heads = (line.partition(": ")[0].partition(" | ")[0] for line in TABLE.splitlines())
    return frozenset(name for head in heads for name in head.split())
