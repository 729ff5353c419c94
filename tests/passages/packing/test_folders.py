"""The entries of a summary are summed by folder."""

from __future__ import annotations

import pytest

from keyhole.outputs.output_text import by_folder


def test_entries_are_summed_by_folder_the_deepest_first() -> None:
    entries = ["src/a/one.c +1 -2", "src/a/two.c +3 -4", "src/b/three.c +5 -6", "docs/four.md +7 -8"]
    assert list(by_folder(entries)) == [
        ["src/a/ 2 files +4 -6", "src/b/ 1 file +5 -6", "docs/ 1 file +7 -8"],
        ["src/ 3 files +9 -12", "docs/ 1 file +7 -8"],
    ]


def test_entries_that_are_folders_have_the_sum_of_their_numbers() -> None:
    assert list(by_folder(["src/a/ 12", "src/b/ 30", "docs/ 4"])) == [["src/ 42", "docs/ 4"]]


@pytest.mark.parametrize(
    "entries", [[], ["src/a.c 1"], ["src/a.c 1", "src/b.c 1"], ["src/a.c 1", "b.c 2"], ["12 class A", "src/a.c 1"]]
)
def test_other_entries_are_not_summed(entries: list[str]) -> None:
    assert list(by_folder(entries)) == []
