"""A small run of the benchmark of damaged documents: only Keyhole's own errors are raised, and no worker is killed."""

from __future__ import annotations

import pytest

from benchmarks.extraction.mutations.__main__ import main
from benchmarks.extraction.mutations.mutate import make_document
from benchmarks.extraction.mutations.pdf import main as read_damaged_pdf
from benchmarks.extraction.mutations.seeds import SHARES, read_seeds


def test_damaged_documents_of_every_format_are_read_or_refused(capsys: pytest.CaptureFixture[str]) -> None:
    status = main(["--count", "300", "--seed", "7"])
    printed = capsys.readouterr().out
    assert status == 0, printed
    assert "| all | 300 |" in printed
    assert printed.endswith("15 of 300 documents were also read by workers; unfinished: 0.\n")


def test_damaged_and_hostile_pdf_files_end_in_a_text_or_a_named_error(capsys: pytest.CaptureFixture[str]) -> None:
    status = read_damaged_pdf(["--count", "50", "--seed", "7"])
    printed = capsys.readouterr().out
    assert status == 0, printed
    assert "foreign" not in printed


def test_equal_numbers_give_equal_documents() -> None:
    seeds = read_seeds()
    assert set(seeds) == {*SHARES, "PDF"}
    assert [make_document(seeds, 3, number) for number in range(50)] == [
        make_document(seeds, 3, number) for number in range(50)
    ]
