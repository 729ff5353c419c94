"""The words of commands, with their places in the text."""

from __future__ import annotations

import pytest

from keyhole.text.secrets.commands import parse


def words(text: str) -> list[list[str]]:
    return [[word.raw for word in command.words] for command in parse(text) if command.words]


@pytest.mark.parametrize(
    ("text", "commands"),
    [
        ("a b  c", [["a", "b", "c"]]),
        ('a \'b c\' "d \\" e"f g\\ h', [["a", "'b c'", '"d \\" e"f', "g\\ h"]]),
        ("a; b && c || d | e & f\ng", [["a"], ["b"], ["c"], ["d"], ["e"], ["f"], ["g"]]),
        ("a > out 2>&1 b < in", [["a", "b"]]),
        ("a $(b c) d", [["a", "d"], ["b", "c"]]),
        ("a `b c` d", [["a", "d"], ["b", "c"]]),
        ("a <(b) d", [["a", "d"], ["b"]]),
        ("it's a \" text", [["it's", "a", '"', "text"]]),
        ("a \\\n b", [["a", "b"]]),
        ("a $b ${c} d", [["a", "$b", "${c}", "d"]]),
        (") a", [["a"]]),
    ],
)
def test_commands_are_split_as_a_shell_does(text: str, commands: list[list[str]]) -> None:
    assert words(text) == commands
    for command in parse(text):
        assert all(text.startswith(word.raw, word.start) for word in command.words)


def test_a_pipe_leads_from_each_command_of_a_group() -> None:
    last = parse("(a; b) | c")[-1]
    assert [word.value for source in last.sources for word in source.words] == ["a", "b"]


def test_a_here_string_is_no_argument() -> None:
    (command,) = parse("a <<< 'b c' d")
    assert [word.value for word in command.words] == ["a", "d"]
    assert [word.value for word in command.here_strings] == ["b c"]
