"""The text that a terminal shows of an output at the end."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from keyhole.outputs.terminal import decode_output, terminal_text
from tests.support.machine import allowed


@pytest.mark.parametrize(
    ("output", "shown"),
    [
        ("plain\nlines\n", "plain\nlines\n"),
        ("windows\r\nlines\r\n", "windows\nlines\n"),
        ("\x1b[1;31mred\x1b[0m text", "red text"),
        ("10 %\r50 %\r100 %\ndone", "100 %\ndone"),
        ("downloading\rdone\n", "doneloading\n"),
        ("downloading\r\x1b[Kdone\n", "done\n"),
        ("\x1b[32m#\x1b[0m 1\r\x1b[32m##\x1b[0m 2\n", "## 2\n"),
        ("N\bNA\bAM\bME\bE _\bx", "NAME x"),
        ("wait |\b/\b-\bok", "wait ok"),
        ("\x1b]0;a window's title\x07after", "after"),
        ("", ""),
    ],
)
def test_the_last_state_of_every_line_is_shown_without_escape_sequences(output: str, shown: str) -> None:
    assert terminal_text(output) == shown


@pytest.mark.parametrize(
    ("data", "text"),
    [
        ("naïve".encode(), "naïve"),
        ("naïve".encode("utf-16"), "naïve"),
        (b"caf\xe9 and \xff", r"caf\xe9 and \xff"),
        (b"", ""),
    ],
)
def test_bytes_are_decoded_and_invalid_ones_become_their_hexadecimal_value(data: bytes, text: str) -> None:
    assert decode_output(data) == text


@given(st.text(st.sampled_from("ab \n\r\x08\x1b[0K1m;"), max_size=60))
def test_any_output_is_read_the_same_way_twice(output: str) -> None:
    shown = terminal_text(output)
    assert not {"\r", "\x08", "\x1b"} & set(shown)
    assert terminal_text(shown) == shown


@given(st.text("aé語Ж \n\t[]:;9m", max_size=60))
def test_an_output_without_control_characters_is_unchanged(output: str) -> None:
    assert terminal_text(output) == output


@pytest.mark.parametrize(
    "output", ["x" * 300_000 + "\ny\r", "x" * 300_000 + "\ry" * 150_000, "\r" * 300_000, "\x08" * 300_000]
)
def test_long_lines_are_read_in_linear_time(output: str) -> None:
    begun = time.process_time()
    terminal_text(output)
    assert time.process_time() - begun < allowed(2)


def test_colours_written_with_a_caret_are_removed_where_there_are_several() -> None:
    assert terminal_text("^[[31mFAILED^[[0m a\n^[[32mPASSED^[[0m b\n") == "FAILED a\nPASSED b\n"
    assert terminal_text("The code ^[[31m is red.\n") == "The code ^[[31m is red.\n"
