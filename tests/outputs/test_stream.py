"""Reading an output in blocks: the same text as in one piece, also of long lines, within bounded pieces."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from keyhole.outputs import terminal as stream
from keyhole.outputs.terminal import MAX_LINE, decode_blocks, decode_output, terminal_pieces, terminal_text

SIGNS = [*"ab \n\r\t\x08…[]:12é中😀", "\x1b[31m", "\x1b[K", "\r\n", "\u200d"]
OUTPUTS = st.lists(st.sampled_from(SIGNS), max_size=60).map("".join)


def blocks_of(output: bytes, sizes: list[int]) -> list[bytes]:
    blocks = []
    for size in sizes:
        blocks.append(output[:size])
        output = output[size:]
    return [*blocks, output]


@given(st.binary(max_size=60) | OUTPUTS.map(str.encode) | OUTPUTS.map(lambda text: text.encode("utf-16")), st.data())
def test_blocks_are_decoded_as_one_output(output: bytes, data: st.DataObject) -> None:
    sizes = data.draw(st.lists(st.integers(0, 20), max_size=6))
    assert "".join(decode_blocks(blocks_of(output, sizes), set())) == decode_output(output)


@given(st.lists(OUTPUTS, max_size=5))
def test_the_pieces_of_an_output_are_its_terminal_text(blocks: list[str]) -> None:
    assert "".join(terminal_pieces(blocks, set())) == terminal_text("".join(blocks))


@pytest.fixture
def short_lines(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stream, "MAX_LINE", 100)
    monkeypatch.setattr(stream, "MAX_WORD", 20)
    monkeypatch.setattr(stream, "MAX_SEQUENCE", 20)


@pytest.mark.usefixtures("short_lines")
def test_a_long_line_is_read_in_bounded_pieces_that_end_at_spaces() -> None:
    line = "word " * 500
    pieces = list(terminal_pieces((line[start : start + 30] for start in range(0, len(line), 30)), set()))
    assert "".join(pieces) == line
    assert max(map(len, pieces)) <= 130
    assert all(piece.endswith(" ") for piece in pieces)


@pytest.mark.usefixtures("short_lines")
def test_a_progress_bar_of_any_length_is_its_last_state() -> None:
    blocks = [f"\r{percent:3} % done" for percent in range(101)] + ["\nend\n"]
    assert "".join(terminal_pieces(blocks, set())) == "100 % done\nend\n"


@pytest.mark.usefixtures("short_lines")
@pytest.mark.parametrize("sequence", ["\x1b[38;5;196m", "[…12:345]", "[…9:9]"])
@pytest.mark.parametrize("before", range(96, 106))
def test_a_long_line_is_not_cut_within_a_sequence(sequence: str, before: int) -> None:
    line = "x" * before + sequence + "y" * 50
    assert "".join(terminal_pieces([line[:102], line[102:]], set())) == terminal_text(line)


def test_a_line_of_any_length_without_spaces_is_read() -> None:
    line = "x" * (MAX_LINE + 10)
    pieces = list(terminal_pieces([line, line], set()))
    assert "".join(pieces) == 2 * line
    assert len(pieces) == 2
