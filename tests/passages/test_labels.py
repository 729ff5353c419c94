"""What a gap line says beside its offsets: the heading above, and the header row of a table."""

from __future__ import annotations

import pytest

from keyhole.passages.find import Index
from keyhole.passages.labels import MAX_HEADING_CHARS, MAX_ROW_CHARS, label

PLAIN = "The committee met in the long hall and spoke about the price of grain, roads and bridges for the county. " * 12
TABLE = "| town | souls |\n|---|---|\n" + "".join(
    f"| town number {n} | {n} souls, and some more |\n" for n in range(60)
)


def labelled(text: str, words: str) -> str:
    """The label of the window after the one in which the words stand."""
    index = Index(text)
    return label(index, index.window_at(text.index(words)) + 1)


def test_a_passage_is_labelled_with_the_nearest_heading() -> None:
    assert labelled(f"# A\n\n## Siege\n\n{PLAIN}", "Siege") == " Siege"


def test_a_passage_that_begins_with_its_heading_needs_no_label() -> None:
    text = f"# A\n\n{PLAIN}\n\n## Siege\n\n{PLAIN}"
    index = Index(text)
    assert label(index, index.window_at(text.index("## Siege"))) == ""


def test_a_page_without_headings_has_no_labels() -> None:
    assert labelled(PLAIN, "The committee") == ""


def test_the_label_is_the_headings_words_without_marks_and_links() -> None:
    text = f"## The [siege](http://x.example/a) of `Montreal` *now* ##\n\n{PLAIN}"
    assert labelled(text, "siege") == " The siege of Montreal now"


def test_a_long_heading_is_cut() -> None:
    text = f"## {'Siege ' * 40}\n\n{PLAIN}"
    assert 1 < len(labelled(text, "Siege")) <= 1 + MAX_HEADING_CHARS


def test_a_heading_is_left_out_above_a_passage_of_a_few_words() -> None:
    labels = []
    for times in range(1, 9):
        index = Index("## The long siege of Montreal\n\n" + PLAIN[:106] * times + "He left.\n")
        size = index.end(index.size - 1) - index.starts[index.size - 1]
        labels.append(label(index, index.size - 1))
        assert len(labels[-1]) <= size / 3
    assert "" in labels
    assert " The long siege of Montreal" in labels


@pytest.mark.parametrize("before", ["", PLAIN + "\n\n", "\n\n"])
def test_rows_in_the_middle_of_a_table_are_labelled_with_its_header_row(before: str) -> None:
    assert labelled(before + TABLE, "| town |") == "\n| town | souls |"


def test_the_beginning_of_a_table_is_not_labelled_with_itself() -> None:
    text = PLAIN + "\n\n" + TABLE
    index = Index(text)
    window = index.window_at(text.index("| town |"))
    assert "| town |" not in label(index, window)


def test_prose_after_a_table_is_not_labelled_with_its_header() -> None:
    assert labelled(TABLE + "\n" + PLAIN, "town number 59") == ""


def test_a_table_without_a_rule_has_no_header_row() -> None:
    assert labelled(TABLE.replace("|---|---|\n", ""), "| town |") == ""


def test_a_long_header_row_is_left_out() -> None:
    text = TABLE.replace("| souls |\n|---|", f"| {'souls ' * MAX_ROW_CHARS} |\n|---|")
    index = Index(text)
    assert label(index, index.size - 1) == ""
