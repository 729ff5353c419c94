"""The command line helps: commands in groups, examples that parse, and the nearest to what is not known."""

from __future__ import annotations

import argparse
import re
import shlex
import subprocess
import sys

import pytest

from keyhole.cli.commands import GROUPS, parser
from keyhole.cli.main import RUNS, main

Captured = pytest.CaptureFixture[str]


def commands() -> dict[str, argparse.ArgumentParser]:
    """Every command's own parser."""
    (action,) = (each for each in parser()._actions if isinstance(each, argparse._SubParsersAction))
    return dict(action.choices)


def refused(capsys: Captured, *words: str) -> str:
    """What is said of a wrong command line."""
    with pytest.raises(SystemExit) as caught:
        main(words)
    assert caught.value.code == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    return captured.err


def test_the_help_names_every_command_once_under_a_heading_and_says_the_exit_codes() -> None:
    told = parser().format_help()
    for name in commands():
        assert len(re.findall(rf"^  {name} +\S", told, re.MULTILINE)) == 1, name
    for heading in ("for agents", "from the terminal", "the store", "the server", "setting up"):
        assert f"\n{heading}:\n" in told
    assert "Exit codes: 0 done; 1 the call failed" in told
    assert max(map(len, told.splitlines())) <= 120


def test_a_command_that_no_group_names_is_in_the_help_all_the_same() -> None:
    whole = parser()
    whole._groups = {name: [each for each in names if each != "demo"] for name, names in GROUPS.items()}
    assert "more:\n  demo  " in whole.format_help()


def test_every_command_is_run_by_something() -> None:
    assert set(commands()) == set(RUNS)


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
                assert parser().parse_args(words[1:]).verb == words[1]


def test_a_command_that_there_is_not_suggests_the_nearest(capsys: Captured) -> None:
    assert refused(capsys, "fech", "x") == "keyhole: unknown command 'fech'; did you mean fetch?\nTry: keyhole --help\n"
    assert "did you mean" not in refused(capsys, "qqqq")


def test_an_option_or_choice_that_there_is_not_suggests_the_nearest(capsys: Captured) -> None:
    told = refused(capsys, "fetch", "https://example.org", "--refrsh")
    assert told == "keyhole fetch: unknown: --refrsh; did you mean --refresh?\nTry: keyhole fetch --help\n"
    assert "unknown --scope 'store'; did you mean stored?" in refused(capsys, "search", "x", "--scope", "store")
    assert "unknown --kind 'qqq'; it is one of web, news" in refused(capsys, "search", "x", "--kind", "qqq")


def test_a_word_that_is_an_option_suggests_it(capsys: Captured) -> None:
    assert "unknown command 'help'; did you mean --help?" in refused(capsys, "help")
    assert "unknown action 'init'; did you mean --init?" in refused(capsys, "config", "init")


@pytest.mark.parametrize("name", sorted(set(commands()) - {"artifacts"}))
def test_every_argument_of_a_command_has_its_help(name: str) -> None:
    bare = [action.dest for action in commands()[name]._actions if not action.help]
    assert not bare


def test_what_is_missing_is_named_with_the_usage(capsys: Captured) -> None:
    told = refused(capsys, "read")
    assert told.startswith("usage: keyhole read")
    assert "keyhole read: the following arguments are required: ID\n" in told


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
    code = f"import sys, keyhole.cli.main; keyhole.cli.main.parser(); print([m for m in {heavy} if m in sys.modules])"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60)
    assert run.stdout.strip() == "[]"
