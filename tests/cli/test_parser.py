"""Help and errors of the command line: groups, examples that parse, and suggestions."""

from __future__ import annotations

import argparse
import re
import shlex
import subprocess
import sys
from importlib import import_module
from inspect import signature

import pytest

from keyhole.cli.commands import GROUPS, build_parser
from keyhole.cli.main import COMMANDS, find_command, main

Captured = pytest.CaptureFixture[str]


def commands() -> dict[str, argparse.ArgumentParser]:
    """Return the parser of each command."""
    (action,) = (each for each in build_parser()._actions if isinstance(each, argparse._SubParsersAction))
    return dict(action.choices)


def read_error(capsys: Captured, *words: str) -> str:
    """Return the error message for a wrong command line."""
    with pytest.raises(SystemExit) as caught:
        main(words)
    assert caught.value.code == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    return captured.err


def test_the_help_lists_every_command_once_and_the_exit_codes() -> None:
    text = build_parser().format_help()
    for name in commands():
        assert len(re.findall(rf"^  {name} +\S", text, re.MULTILINE)) == 1, name
    for heading in ("for agents", "from the terminal", "the store", "the server", "setting up"):
        assert f"\n{heading}:\n" in text
    assert "Exit codes: 0 done; 1 the call failed" in text
    assert max(map(len, text.splitlines())) <= 120


def test_a_command_without_a_group_is_listed_last() -> None:
    parser = build_parser()
    parser._groups = {name: [each for each in names if each != "demo"] for name, names in GROUPS.items()}
    assert "more:\n  demo  " in parser.format_help()


def test_every_command_has_a_module_with_run() -> None:
    assert set(COMMANDS) < set(commands())
    for command in commands():
        assert (
            list(signature(import_module(find_command(command).module).run).parameters.values())[1].name == "arguments"
        )


@pytest.mark.parametrize("name", sorted(commands()))
def test_each_command_has_examples_that_parse(name: str) -> None:
    help = commands()[name].format_help()
    examples = re.findall(r"^  ((?:cat \S+ \| )?keyhole .*)$", help.partition("examples:")[2], re.MULTILINE)
    examples += re.findall(r'^  eval "\$\((keyhole .*)\)"', help, re.MULTILINE)
    assert examples
    for example in examples:
        for call in re.split(r" \| | && ", re.sub(r" +(#|>) .*", "", example)):
            words = shlex.split(call)
            if words[0] == "keyhole":
                assert build_parser().parse_args(words[1:]).command == words[1]


def test_an_unknown_command_suggests_the_nearest(capsys: Captured) -> None:
    assert (
        read_error(capsys, "fech", "x") == "keyhole: unknown command 'fech'; did you mean fetch?\nTry: keyhole --help\n"
    )
    assert "did you mean" not in read_error(capsys, "qqqq")


def test_an_unknown_option_or_choice_suggests_the_nearest(capsys: Captured) -> None:
    message = read_error(capsys, "fetch", "https://example.org", "--refrsh")
    assert message == "keyhole fetch: unknown: --refrsh; did you mean --refresh?\nTry: keyhole fetch --help\n"
    assert "unknown --scope 'store'; did you mean stored?" in read_error(capsys, "search", "x", "--scope", "store")
    assert "unknown --kind 'qqq'; choose from web, news" in read_error(capsys, "search", "x", "--kind", "qqq")


def test_a_word_that_is_an_option_without_dashes_suggests_the_option(capsys: Captured) -> None:
    assert "unknown command 'help'; did you mean --help?" in read_error(capsys, "help")
    assert "unknown action 'init'; did you mean --init?" in read_error(capsys, "config", "init")


@pytest.mark.parametrize("name", sorted(set(commands()) - {"artifacts"}))
def test_every_argument_has_a_help_text(name: str) -> None:
    bare = [action.dest for action in commands()[name]._actions if not action.help]
    assert not bare


def test_a_missing_argument_is_named_with_the_usage(capsys: Captured) -> None:
    message = read_error(capsys, "read")
    assert message.startswith("usage: keyhole read")
    assert "keyhole read: the following arguments are required: ID\n" in message


def test_without_a_command_the_help_is_shown_and_2_returned(capsys: Captured) -> None:
    assert main([]) == 2
    assert capsys.readouterr().err.startswith("usage: keyhole COMMAND")


def test_the_parser_loads_nothing_heavy() -> None:
    heavy = [
        "asyncio",
        "pydantic",
        "rich",
        "mcp",
        "platformdirs",
        "tomllib",
        "shtab",
        "sqlite3",
        "ssl",
        "keyhole.records",
    ]
    code = f"import sys, keyhole.cli.main as c; c.build_parser(); print([m for m in {heavy} if m in sys.modules])"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60)
    assert run.stdout.strip() == "[]"


@pytest.mark.parametrize("words", [("hook", "codex", "--unknown"), ("hook", "nobody"), ("hook",)])
def test_wrong_arguments_of_the_hook_do_not_exit_with_2_which_codex_takes_for_an_answer(
    words: tuple[str, ...], capsys: Captured
) -> None:
    with pytest.raises(SystemExit) as caught:
        main(words)
    assert caught.value.code == 1
    assert capsys.readouterr().err.startswith(("keyhole hook: ", "usage: keyhole hook "))
