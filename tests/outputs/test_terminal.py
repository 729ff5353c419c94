"""The text that a terminal shows of an output at the end."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from keyhole.outputs.terminal import INVALID, changes_of, decode_output, terminal_text
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
        ("\x1b[2K\x1b[1Glinking 1\x1b[2K\x1b[1Glinking 2\nerror\n", "linking 2\nerror\n"),
        ("step 1\n\x1b[1A\x1b[2Kstep 2\n\x1b[1A\x1b[2Kstep 3\nERROR\n", "step 3\nERROR\n"),
        ("a 0\nb 0\n\x1b[2A\x1b[2Ka 1\n\x1b[2Kb 1\n", "a 1\nb 1\n"),
        ("above\x1b[9Afirst\n", "first\n"),
        ("one\x1b[2Ktwo\r\x1b[K\rx\n", "x\n"),
        ("a.py\0b c.py\0", "a.py\nb c.py\n"),
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
        ("Datei prüfung.dll\r\n".encode("utf-16-le"), "Datei prüfung.dll\r\n"),
        ("Datei prüfung.dll\r\n".encode("utf-16-be"), "Datei prüfung.dll\r\n"),
        ("für Datei prüfung.dll".encode("cp1252"), "für Datei prüfung.dll"),
        ("错误：拒绝访问文件 a.dll，检查".encode("gb18030"), "错误：拒绝访问文件 a.dll，检查"),
        (b"\x7fELF\x01\xe9a\xe9b", "\x7fELF\x01\\xe9a\\xe9b"),
        (b"", ""),
    ],
)
def test_bytes_are_decoded_and_invalid_ones_become_their_hexadecimal_value(data: bytes, text: str) -> None:
    assert decode_output(data) == text


@given(st.text(st.sampled_from("ab \n\r\x08\x1b[02K1GAm;"), max_size=60))
def test_any_output_is_read_the_same_way_twice(output: str) -> None:
    shown = terminal_text(output)
    assert not {"\r", "\x08", "\x1b"} & set(shown)
    assert terminal_text(shown) == shown


@pytest.mark.parametrize(
    ("output", "changes"),
    [
        ("plain\ttext ✔️ é\n", set()),
        ("\x1b[1mbold\x1b[0m\n", {"no escape sequences"}),
        ("^[[1mbold^[[0m and ^[[2mdim^[[0m\n", {"no escape sequences"}),
        ("a\0b", {"NUL as LF"}),
        ("a\0\0\0\0b\x01", {"no NUL", "no control characters"}),
        ("a\fb", {"no control characters"}),
        ("a\r\nb\u2028c", {"CRLF as LF", "U+2028 as LF"}),
        ("a\rb\n", {"redrawn lines as last shown"}),
        ("a\x08b\n", {"redrawn lines as last shown"}),
        ("a\x85b", {"NEL as LF"}),
        ("a\u2800b", {"blank Braille cells as spaces"}),
        *((f"a{sign}b", {"no invisible characters"}) for sign in "\u202e\u200b\u200d\ufeff\xad\x9c\U000e0041"),
    ],
)
def test_what_the_stored_text_lacks_is_named(output: str, changes: set[str]) -> None:
    assert set(changes_of(output, terminal_text(output))) == changes


@pytest.mark.parametrize(
    ("data", "changes"),
    [
        ("naïve \\x".encode(), set()),
        ("naïve \\x".encode("utf-16"), {"utf-16 as UTF-8"}),
        ("“Schöne” Grüße".encode("cp1252"), {"cp1252 as UTF-8"}),
        (b"caf\xe9", {INVALID}),
    ],
)
def test_what_decoding_changes_is_named(data: bytes, changes: set[str]) -> None:
    found: set[str] = set()
    decode_output(data, found)
    assert found == changes


@given(st.text("a\n\r\x08\x1b[m\0\f\x85\u2028\u200b\u200d✔\ufe0f\u2800\ue000\x9b^\ufdd0", max_size=40))
def test_a_stored_text_that_differs_from_the_output_says_how(output: str) -> None:
    text = terminal_text(output)
    assert (text == output) is (not set(changes_of(output, text)))


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
