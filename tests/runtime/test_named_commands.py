"""Every command that a message names exists and accepts its arguments, and no message names the package by itself."""

from __future__ import annotations

import ast
import contextlib
import io
import re
import shlex
from collections.abc import Iterator

from benchmarks.source.imports import FILES, PACKAGE, name_of
from keyhole.cli.commands import build_parser

OWNER = PACKAGE / "runtime" / "installation.py"
"""The only file that makes commands for installers."""
COMMAND = re.compile(r"\bkeyhole ([a-z]+\b[^`;,&|>#\"\n()]*)")
INSTALLER = re.compile(r"\b(?:uv (?:tool|pip) (?:un)?install|pipx? (?:un)?install|uvx keyhole)\b")
NAMES = {"ID": "abcdefghijklmnop", "N": "1", "FILE": "/dev/null"}
"""Values for placeholders that not every word can replace."""
WRONG_CHOICE = re.compile(r": unknown \S+ '")
MORE = "arguments are required"
"""A part of the complaint about a command that is only named, without its arguments."""


def texts_of(tree: ast.AST) -> Iterator[str]:
    """Yield the strings of a file but its docstrings; a value that is put in becomes 1."""
    nodes = list(ast.walk(tree))
    skipped = {id(part) for node in nodes if isinstance(node, ast.JoinedStr) for part in node.values}
    skipped |= {id(node.value) for node in nodes if isinstance(node, ast.Expr)}
    for node in nodes:
        if isinstance(node, ast.JoinedStr):
            yield "".join(str(part.value) if isinstance(part, ast.Constant) else "1" for part in node.values)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in skipped:
            yield node.value


def named_texts() -> Iterator[tuple[str, str]]:
    for path in FILES:
        for text in texts_of(ast.parse(path.read_text("utf-8"))):
            yield name_of(path), text


def parse(words: list[str]) -> str:
    """Return the parser's complaint about the words, "" if it accepts them."""
    message = io.StringIO()
    with contextlib.redirect_stderr(message), contextlib.redirect_stdout(message):
        try:
            build_parser().parse_args(words)
        except SystemExit as end:
            return message.getvalue() if end.code else ""
    return ""


def is_command(text: str) -> bool:
    """Return whether a text begins with a command. Prose may follow it, but an option always belongs to it."""
    try:
        words = [NAMES.get(word, word) for word in shlex.split(text)]
    except ValueError:
        words = text.split()
    words[-1] = words[-1].rstrip(".:")
    options = [number for number, word in enumerate(words, start=1) if word.startswith("-")]
    complaints = [parse(words[:end]) for end in range(len(words), max(options, default=1) - 1, -1)]
    return not WRONG_CHOICE.search(parse(words[:2])) and any(not each or MORE in each for each in complaints)


def test_every_command_that_a_message_names_is_one() -> None:
    named = {(name, found[1]) for name, text in named_texts() for found in COMMAND.finditer(text)}
    assert len(named) > 100
    assert sorted(each for each in named if not is_command(each[1])) == []


def test_a_command_that_does_not_exist_is_found() -> None:
    assert is_command("fetch URL stores one")
    assert is_command("tokens new TENANT")
    assert not is_command("fetsh URL")
    assert not is_command("fetch URL --no-such-option")
    assert not is_command("artifacts delete ID")


def test_only_the_installation_names_commands_that_install_the_package() -> None:
    named = {name for name, text in named_texts() if INSTALLER.search(text)}
    assert named <= {name_of(OWNER)}
