"""Code blocks and tables are shown with the sentence before them, and short sections whole."""

from __future__ import annotations

import pytest

from keyhole.passages import select
from keyhole.passages.index import Index
from keyhole.passages.packing.units import SHORT_SECTION_CHARS, complete_units, units_of
from keyhole.passages.query import parse_query
from keyhole.passages.rank import WindowScores

FILLER = "".join(
    f"The committee number {n} met in the long hall and spoke about roads, bridges and grain.\n\n" for n in range(40)
)
CODE = "```sql\n" + "".join(f"SET column_{n} = {n} + a_longer_name;\n" for n in range(50)) + "```\n\n"
TABLE = "| town | souls |\n|---|---|\n" + "".join(f"| town {n} | {n * 37 % 1000} |\n" for n in range(40)) + "\n"
LEAD_IN = (
    "The zebra is configured in its own file, which lies beside the others. Nobody else writes to it, so it may be "
    "edited while the server runs, and it is read again after every change. It looks as follows:\n\n"
)


@pytest.mark.parametrize("block", [CODE, TABLE], ids=["code", "table"])
def test_the_sentence_before_a_block_brings_the_whole_block(block: str) -> None:
    page = FILLER + LEAD_IN + block + FILLER
    assert LEAD_IN + block.rstrip("\n") in select(page, "zebra configured file", 6_000).text


def test_a_hit_in_a_block_brings_the_sentence_before_it() -> None:
    page = FILLER + LEAD_IN + CODE + FILLER
    assert LEAD_IN + CODE.rstrip("\n") in select(page, "column_47", 6_000).text


def test_a_long_block_is_not_completed_but_begun() -> None:
    page = FILLER + LEAD_IN + CODE + FILLER
    shown = select(page, "zebra configured file", 1_500).text
    assert "SET column_1 " in shown
    assert "column_49" not in shown


def test_a_short_section_is_shown_whole() -> None:
    sentence = "It grazes by the river in the evening, when the lamps are lit and the watch walks along. "
    section = "## The zebra\n\nThe animal lives in the town of Montreal.\n\n" + (sentence * 2 + "\n\n") * 4
    assert len(section) < SHORT_SECTION_CHARS
    page = "# Town\n\n" + FILLER + section + "## The hall\n\n" + FILLER
    assert section.rstrip("\n") in select(page, "which animal lives in Montreal", 4_000).text


def test_a_unit_of_a_poor_window_is_not_completed() -> None:
    index = Index(FILLER + LEAD_IN + CODE + FILLER)
    block = index.window_at(len(FILLER + LEAD_IN))
    scores = [0.0] * index.size
    scored = WindowScores(index, parse_query("zebra", *index.sample), [], [], 1.0, [("links", scores)])
    scores[0], scores[block] = 1.0, 0.1
    assert list(complete_units(scored, [0, block], 9_000)) == [0, block]
    scores[block] = 0.9
    assert len(list(complete_units(scored, [0, block], 9_000))) > 2


def test_a_window_far_from_blocks_and_headings_has_no_unit() -> None:
    index = Index(FILLER + LEAD_IN + CODE + FILLER)
    assert list(units_of(index, 0)) == []


def test_code_with_rows_inside_is_one_block() -> None:
    text = "```\n| a |\n| b |\n```\n\n| c |\n|---|\n| d |\n\nend"
    blocks = [text[start:end] for start, end in Index(text).blocks]
    assert blocks == ["```\n| a |\n| b |\n```", "| c |\n|---|\n| d |"]


def test_a_block_that_is_never_closed_ends_with_the_text() -> None:
    text = "before\n\n```\ncode"
    assert [text[start:end] for start, end in Index(text).blocks] == []


def test_a_definition_that_answers_is_shown_whole() -> None:
    sentence = "It grazes by the river in the evening, when the lamps are lit and the watch walks along. "
    definition = "zebra\n: The animal lives in the town of Montreal.\n\n" + f"  {sentence * 2}\n\n" * 4
    page = "# Town\n\n" + FILLER + definition + "Words after it. " + FILLER
    assert definition.rstrip() in select(page, "which animal lives in Montreal", 4_000).text


def test_a_list_that_answers_is_shown_whole() -> None:
    items = "".join(f"- The animal number {n} grazes by the river, when the lamps are lit.\n" for n in range(14))
    listed = f"The animals that live in Montreal are these:\n\n{items}"
    page = "# Town\n\n" + FILLER + listed + "\nWords after it. " + FILLER
    assert listed in select(page, "animals that live in Montreal", 4_500).text


def test_a_section_with_the_words_of_the_query_as_its_heading_is_shown_whole() -> None:
    sentence = "It is slow, and the watch walks along the river when the lamps are lit. "
    section = "## Feed a zebra in winter\n\n" + (sentence * 3 + "\n\n") * 8
    assert len(section) > SHORT_SECTION_CHARS
    page = "# Town\n\n" + FILLER + section + "## The hall\n\n" + FILLER
    assert section.rstrip("\n") in select(page, "feed a zebra in winter", 6_000).text


def entries(form: str) -> str:
    """Return a page of nine entries, each in a window of its own."""
    return "".join(
        form.format(number=number, text="it grazes by the river in the evening and " * 9) for number in range(9)
    )


@pytest.mark.parametrize(
    "form",
    [
        "- `zebra{number}`: {text}\n",
        "{number}. `zebra{number}`: {text}\n",
        "| zebra{number} | {text} |\n",
        "## zebra{number}\n\n{text}\n\n",
        "zebra{number}\n: {text}\n\n",
    ],
    ids=["item", "step", "row", "section", "definition"],
)
def test_the_entry_between_two_shown_entries_is_shown(form: str) -> None:
    index = Index(entries(form))
    first, between, last = (index.window_at(index.text.index(f"zebra{number}")) for number in (3, 4, 5))
    assert (between, last) == (first + 1, first + 2)
    assert complete(index, [first, last]) == [first, last, between]
    assert complete(index, [first, last + 1]) == [first, last + 1]


def test_a_record_of_json_between_two_shown_records_is_shown() -> None:
    records = ",\n".join(f'  {{\n    "name": "zebra{number}",\n    "note": "{"n" * 340}"\n  }}' for number in range(9))
    index = Index(f"```json\n[\n{records}\n]\n```\n")
    assert complete(index, [3, 5]) == [3, 5, 4]


def test_a_paragraph_between_two_shown_ones_is_not_shown() -> None:
    index = Index(entries("The zebra{number}: {text}\n\n"))
    assert complete(index, [3, 5]) == [3, 5]


def complete(index: Index, order: list[int]) -> list[int]:
    """Return the windows of `order` with those that complete their runs of entries; no unit is worth completing."""
    scores = [0.0] * index.size
    scores[0] = 1.0
    scored = WindowScores(index, parse_query("lion", *index.sample), [], [], 1.0, [("links", scores)])
    return list(complete_units(scored, order, 9_000))
