"""The input of a command, a file or standard input up to a limit, and the text that it prints."""

from __future__ import annotations

import io
from pathlib import Path

import pytest

from keyhole.cli.text_io import print_bytes, print_text, read_input
from keyhole.errors import Code, KeyholeError


def test_a_file_and_standard_input_are_read_to_their_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "page").write_bytes(b"12345")
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(b"\xff678")))
    assert read_input(str(tmp_path / "page"), 5) == b"12345"
    assert read_input("-", 5) == b"\xff678"


def test_an_input_over_its_limit_and_a_missing_file_are_errors(tmp_path: Path) -> None:
    (tmp_path / "page").write_bytes(b"12345")
    with pytest.raises(KeyholeError) as large:
        read_input(str(tmp_path / "page"), 4)
    with pytest.raises(KeyholeError) as missing:
        read_input(str(tmp_path / "absent"), 4)
    assert (large.value.code, missing.value.code) == (Code.TOO_LARGE, Code.INVALID_ARGUMENT)


def test_a_printed_text_ends_with_one_line_feed(capsys: pytest.CaptureFixture[str]) -> None:
    print_text("a")
    print_text("b\n")
    assert capsys.readouterr().out == "a\nb\n"


def test_bytes_are_printed_unchanged_after_earlier_text(capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    print_text("first")
    print_bytes(b"\xe9\r\n")
    assert capfdbinary.readouterr().out == b"first\n\xe9\r\n"
