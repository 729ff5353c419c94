"""The faults of fragments are found from the stored text and the page text of a result alone."""

from __future__ import annotations

import pytest

from benchmarks.tasks.fragments import SourceLines, find_faults

TEXT = (
    "# Pumps\n\nIntro.\n\n"
    "wait_for(timeout)\n: Waits for it.\n\n  It returns the pump.\n\n"
    "| town | souls |\n|---|---|\n| A | 1 |\n| B | 2 |\n\n"
    "```python\nx = 1\ny = 2\n```\n\nOutro.\n\n3. The last.\n"
)
CHANGES = "# News\n\n" + "".join(f"## 1.{n}.0 (2024-01-01)\n\nA pump.\n\nA well.\n\n" for n in range(5))


def faults_of(text: str, first: str, last: str, label: str = "", kind: str = "") -> list[str]:
    """Return the kinds of faults of a result that shows one fragment, from the words `first` to the words `last`."""
    start, end = text.index(first), text.index(last) + len(last)
    page_text = f"[…0:{start}]{label}\n{text[start:end]}\n[…{end}:{len(text)}]\n"
    return [fault.kind for fault in find_faults(SourceLines(text, kind), page_text).faults]


def test_a_description_without_its_term_is_a_fault() -> None:
    assert faults_of(TEXT, "It returns", "pump.") == ["definition"]
    assert faults_of(TEXT, "It returns", "pump.", " wait_for(timeout)") == []
    assert faults_of(TEXT, "wait_for", "pump.") == []


def test_a_row_without_its_header_is_a_fault() -> None:
    assert faults_of(TEXT, "| B", "2 |") == ["row"]
    assert faults_of(TEXT, "| B", "2 |", "\n| town | souls |") == []


@pytest.mark.parametrize(("first", "last"), [("y = 2", "y = 2"), ("Intro", "x = 1"), ("y = 2", "Outro.")])
def test_a_code_block_that_is_open_on_one_side_is_a_fault(first: str, last: str) -> None:
    assert "fence" in faults_of(TEXT, first, last)


def test_a_part_of_a_code_block_between_its_fences_is_no_fault() -> None:
    opening, part, closing = (TEXT.index(words) for words in ("```python\n", "y = 2", "```\n\n"))
    shown = f"[…0:{opening}]\n```python\n[…{opening + 10}:{part}]\ny = 2\n```\n[…{closing + 4}:{len(TEXT)}]\n"
    assert find_faults(SourceLines(TEXT), shown).faults == []


def test_a_bare_mark_is_a_fault() -> None:
    assert faults_of(TEXT, "Outro", "3.") == ["mark"]


def test_an_entry_without_its_version_is_a_fault_in_a_changelog() -> None:
    assert faults_of(CHANGES, "A well", "well.", kind="changelog") == ["entry"]
    assert faults_of(CHANGES, "A well", "well.", " 1.0.0 (2024-01-01)", kind="changelog") == []
    assert faults_of(CHANGES, "A well", "well.") == []
