"""Name the program of a command line, as a person would: `git diff` for `cd repo && git diff --stat | head`."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Sequence
from typing import Final

MAX_NAME: Final = 40
"""Characters of a name."""
UNKNOWN: Final = "output"
"""The name if there is no command line."""
_SETUP: Final = frozenset(
    {"cd", "pushd", "popd", "export", "unset", "set", "source", ".", ":", "true", "echo", "ulimit"}
)
"""Commands that prepare the one that matters."""
_WRAPPERS: Final = frozenset({
    "sudo", "doas", "env", "time", "nice", "ionice", "nohup", "exec", "command", "stdbuf", "timeout", "npx", "bunx",
    "uvx", "xvfb-run",
})  # fmt: skip
"""Programs that run the command after them."""
_RUNNERS: Final = {"uv": "run", "poetry": "run", "pipenv": "run", "bundle": "exec"}
"""Programs that run the command after one word."""
_WITH_SUBCOMMANDS: Final = frozenset({
    "git", "npm", "pnpm", "yarn", "bun", "cargo", "go", "docker", "podman", "kubectl", "helm", "pip", "uv", "poetry",
    "gh", "terraform", "dotnet", "mvn", "gradle", "gradlew", "apt", "apt-get", "brew", "systemctl", "conda", "deno",
    "rustup", "aws", "gcloud", "az", "keyhole",
})  # fmt: skip
"""Programs whose next word says what they do."""
_VALUED: Final = frozenset({"-C", "-c", "-n", "--namespace", "--context", "--prefix"})
"""Options of these programs that a value follows."""
_SUBCOMMAND: Final = re.compile(r"[a-z][a-z0-9:-]{0,20}")
_ASSIGNMENT: Final = re.compile(r"\w+=")
_OPERATOR: Final = re.compile(r"[();<>|&\n]+")


def program_name(command: str) -> str:
    """Return the name of the program that a command line is about, with its subcommand, without its folder."""
    commands = [words for words in _commands(command) if words]
    main = next((words for words in commands if _base(words[0]) not in _SETUP), commands[0] if commands else [])
    if not main:
        return UNKNOWN
    name = _base(main[0])
    options = {number for number, word in enumerate(main) if word in _VALUED}
    rest = [word for number, word in enumerate(main[1:], 1) if not word.startswith("-") and number - 1 not in options]
    follows = rest[0] if rest else ""
    if name in _WITH_SUBCOMMANDS and _SUBCOMMAND.fullmatch(follows):
        name = f"{name} {follows}"
    return name[:MAX_NAME] or UNKNOWN


def _commands(line: str) -> Iterator[Sequence[str]]:
    """Yield the words of each command of a line, from its program on."""
    words: list[str] = []
    for token in [*_tokens(line), ";"]:
        if _OPERATOR.fullmatch(token):
            yield _from_program(words)
            words = []
        else:
            words.append(token)


def _tokens(line: str) -> list[str]:
    lexer = shlex.shlex(line, posix=True, punctuation_chars="();<>|&\n")
    lexer.whitespace, lexer.whitespace_split = " \t\r", True
    lexer.commenters, lexer.escape = "", ""  # Windows has backslashes in paths
    try:
        return list(lexer)
    except ValueError:  # a quote without its end, as in a shortened command line
        return line.split()


def _from_program(words: Sequence[str]) -> Sequence[str]:
    """Return the words without assignments, wrappers and their options before the program."""
    rest = list(words)
    while len(rest) > 1:
        name = _base(rest[0])
        if _ASSIGNMENT.match(rest[0]):
            rest = rest[1:]
        elif name in _WRAPPERS:
            rest = rest[1:]
            while len(rest) > 1 and (rest[0].startswith("-") or rest[0].rstrip("smhd").replace(".", "").isdecimal()):
                rest = rest[1:]
        elif len(rest) > 2 and _RUNNERS.get(name) == rest[1]:
            rest = rest[2:]
        else:
            break
    return rest


def _base(word: str) -> str:
    return word.replace("\\", "/").rpartition("/")[2]
