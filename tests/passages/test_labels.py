"""A gap line's label has the heading above the next passage and the header row of its table."""

from __future__ import annotations

import re

import pytest

from keyhole.passages import select
from keyhole.passages.index import Index
from keyhole.passages.labels import MAX_HEADING_CHARS, MAX_ROW_CHARS, gap_label, outline_label

PLAIN = "The committee met in the long hall and spoke about the price of grain, roads and bridges for the county. " * 12
TABLE = "| town | souls |\n|---|---|\n" + "".join(
    f"| town number {n} | {n} souls, and some more |\n" for n in range(60)
)


def label_after(text: str, words: str) -> str:
    """Return the label of the window after the one that contains the words."""
    index = Index(text)
    return gap_label(index, index.window_at(text.index(words)) + 1)


def test_a_passage_is_labelled_with_the_nearest_heading() -> None:
    assert label_after(f"# A\n\n## Siege\n\n{PLAIN}", "Siege") == " Siege"


def test_a_passage_that_begins_with_its_heading_has_no_label() -> None:
    text = f"# A\n\n{PLAIN}\n\n## Siege\n\n{PLAIN}"
    index = Index(text)
    assert gap_label(index, index.window_at(text.index("## Siege"))) == ""


def test_a_page_without_headings_has_no_labels() -> None:
    assert label_after(PLAIN, "The committee") == ""


def test_the_label_has_the_headings_words_without_marks_and_links() -> None:
    text = f"## The [siege](http://x.example/a) of `Montreal` *now* ##\n\n{PLAIN}"
    assert label_after(text, "siege") == " The siege of Montreal now"


@pytest.mark.parametrize(
    ("heading", "label"),
    [
        ("The `json_extract()` function", "The json_extract() function"),
        ("`__init__` and *new*", "__init__ and new"),
        (r"2 \* snake_case", "2 * snake_case"),
        ("[`os.path`](https://example.org/x)", "os.path"),
    ],
)
def test_the_label_keeps_the_signs_of_names(heading: str, label: str) -> None:
    assert label_after(f"## {heading}\n\n{PLAIN}", heading) == f" {label}"


def test_a_heading_is_omitted_above_the_beginning_of_a_passage_that_is_much_shorter() -> None:
    index = Index(f"## The siege of the town\n\n{PLAIN}")
    window = index.window_at(index.text.index("The committee")) + 1
    assert gap_label(index, window, end=index.starts[window] + 40) == ""
    assert gap_label(index, window, end=index.starts[window] + 200) == " The siege of the town"


def test_a_long_heading_is_cut() -> None:
    text = f"## {'Siege ' * 40}\n\n{PLAIN}"
    assert 1 < len(label_after(text, "Siege")) <= 1 + MAX_HEADING_CHARS


def test_a_heading_is_omitted_above_a_much_shorter_passage() -> None:
    labels = []
    for times in range(1, 9):
        index = Index("## The long siege of Montreal\n\n" + PLAIN[:106] * times + "He left.\n")
        size = index.end(index.size - 1) - index.starts[index.size - 1]
        labels.append(gap_label(index, index.size - 1))
        assert len(labels[-1]) <= size / 3
    assert "" in labels
    assert " The long siege of Montreal" in labels


@pytest.mark.parametrize("before", ["", PLAIN + "\n\n", "\n\n"])
def test_rows_in_the_middle_of_a_table_are_labelled_with_its_header_row(before: str) -> None:
    assert label_after(before + TABLE, "| town |") == "\n| town | souls |"


def test_the_beginning_of_a_table_is_not_labelled_with_itself() -> None:
    text = PLAIN + "\n\n" + TABLE
    index = Index(text)
    window = index.window_at(text.index("| town |"))
    assert "| town |" not in gap_label(index, window)


def test_prose_after_a_table_is_not_labelled_with_its_header() -> None:
    assert label_after(TABLE + "\n" + PLAIN, "town number 59") == ""


def test_a_table_without_a_rule_has_no_header_row() -> None:
    assert label_after(TABLE.replace("|---|---|\n", ""), "| town |") == ""


def test_a_long_header_row_keeps_the_beginning_of_each_cell() -> None:
    text = TABLE.replace("| souls |\n|---|", f"| {'souls ' * MAX_ROW_CHARS} |\n|---|")
    index = Index(text)
    label = gap_label(index, index.size - 1)
    assert label.startswith("\n| town | souls souls")
    assert label.endswith("… |")
    assert len(label) <= MAX_ROW_CHARS + len("\n")


def test_a_header_row_has_the_words_of_its_links() -> None:
    linked = TABLE.replace("| souls |\n", "| [souls](/wiki/Soul) |\n", 1)
    assert label_after(linked, "| town |") == "\n| town | souls |"


DEFINITION = "\n".join(
    f"  The pump needs the oil of the year {n} before it moves the water of the well." for n in range(12)
)


def test_a_passage_in_the_middle_of_a_definition_is_labelled_with_its_term() -> None:
    text = f"{PLAIN}\n\nwait_for(`timeout`)\n: It waits for a pump.\n{DEFINITION}\nother\n: Another one.\n\n{PLAIN}"
    assert label_after(text, "It waits for") == " wait_for(timeout)"
    assert label_after(text, "Another one") == ""


def test_a_section_of_an_entry_is_labelled_with_the_version_above_it() -> None:
    text = f"# News\n\n## 3.4.0 (15 Jan 2025)\n\nFirst words.\n\n### Fixed\n\n{PLAIN}"
    index = Index(text)
    fixed = index.window_at(text.index("### Fixed"))
    assert gap_label(index, fixed) == " 3.4.0 (15 Jan 2025)"
    assert gap_label(index, fixed + 1) == " 3.4.0 (15 Jan 2025) › Fixed"
    assert gap_label(index, fixed + 1, shown=[(0, text.index("First"))]) == " Fixed"


@pytest.mark.parametrize("heading", ["3.11.2", "Version 3.11.2", "v1.2.0 - 2024", "[1.2.0] - 2024-05-01", "curl 8.1.2"])
def test_the_version_of_an_entry_is_shown_above_the_shortest_passage(heading: str) -> None:
    index = Index(f"## {heading}\n\n{PLAIN}")
    window = index.window_at(index.text.index("The committee")) + 1
    assert gap_label(index, window, end=index.starts[window] + 25) == f" {heading}"


def test_the_number_of_a_section_is_no_version() -> None:
    index = Index(f"## 25.1. Routine vacuuming\n\n{PLAIN}")
    window = index.window_at(index.text.index("The committee")) + 1
    assert gap_label(index, window, end=index.starts[window] + 40) == ""


SECTIONS = "".join(f"{'#' * (2 + n % 3)} Part {n}\n\n{PLAIN}\n\n" for n in range(30))


def test_the_gap_without_a_query_names_the_headings_that_it_skips() -> None:
    shown = select(SECTIONS, None, 4_000).text
    gap = re.search(r"^\[…(\d+):(\d+)\] Headings: (.*)$", shown, re.MULTILINE)
    assert gap
    assert len(shown) <= 4_000
    for entry in gap[3].split("; "):
        offset, name = entry.split(": ", 1)
        assert int(gap[1]) <= int(offset) < int(gap[2])
        assert SECTIONS[int(offset) :].lstrip("# ").startswith(f"{name}\n")


@pytest.mark.parametrize(("size", "levels"), [(2_000, {2, 3, 4}), (330, {2, 3}), (190, {2}), (60, {2}), (5, set())])
def test_deeper_headings_are_left_out_of_a_gap_first(size: int, levels: set[int]) -> None:
    label = outline_label(Index(SECTIONS), 0, len(SECTIONS), size, len)
    assert len(label) <= size
    offsets = re.findall(r"(\d+): Part", label)
    assert {SECTIONS[int(offset) :].index(" ") for offset in offsets} == levels
