"""Code blocks and tables are found by their lines, wherever in a text they stand."""

from __future__ import annotations

import pytest

from keyhole.passages.blocks import find_blocks, find_code_blocks, find_definitions, is_in_code


def code_of(text: str) -> list[str]:
    """Return the code blocks of a text, with their fences."""
    return [text[block.start : block.end] for block in find_code_blocks(text)]


@pytest.mark.parametrize("mark", ["", "  ", "> ", "- ", "3. ", ": ", "> - "])
def test_a_code_block_may_stand_in_a_quote_an_item_or_a_definition(mark: str) -> None:
    block = f"{mark}```python\n  x = 1\n  ```\n"
    assert code_of(f"Before.\n\n{block}\nAfter.") == [block]


def test_a_fence_is_closed_by_one_that_is_as_long() -> None:
    block = "````\n```\ninner\n```\n````\n"
    assert code_of(f"{block}After.\n") == [block]


def test_inline_code_opens_no_block() -> None:
    assert code_of("```x``` is code.\n\nAnd ``` alone is not.") == []


def test_a_block_that_is_never_closed_ends_with_the_text_and_is_none_to_complete() -> None:
    text = "before\n\n```\ncode"
    blocks = find_code_blocks(text)
    assert code_of(text) == ["```\ncode"]
    assert find_blocks(text, blocks) == []


def test_fences_are_no_lines_of_code() -> None:
    text = "a\n```\n# b\n```\nc"
    code = find_code_blocks(text)
    assert [is_in_code(code, text.index(line)) for line in ("a", "```", "# b", "c")] == [False, False, True, False]
    assert not is_in_code(code, text.rindex("```"))


def test_a_table_in_code_is_no_table() -> None:
    text = "| a |\n|---|\n| 1 |\n\n```\n| b |\n```\n"
    found = [text[start:end] for start, end in find_blocks(text, find_code_blocks(text))]
    assert found == ["| a |\n|---|\n| 1 |", "```\n| b |\n```"]


def definitions_of(text: str) -> list[str]:
    """Return the definitions of a text."""
    return [text[start:end].strip() for start, end in find_definitions(text, find_code_blocks(text))]


def test_a_definition_ends_before_the_next_line_that_is_not_indented() -> None:
    first, second = "pump\n: Runs.\n\n  It is of iron.\n: Also a shoe.", "well\n: Deep."
    assert definitions_of(f"Terms:\n\n{first}\n\n{second}\n\nThe end.\n") == [first, second]


def test_a_definition_may_contain_others() -> None:
    inner = "  start\n  : Starts it."
    outer = f"class Pump\n: A pump.\n\n{inner}"
    assert definitions_of(f"{outer}\n\nThe end.\n") == [outer, inner.strip()]


def test_a_line_with_a_colon_in_code_is_no_description() -> None:
    assert definitions_of("```\nx\n: y\n```\n") == []


def test_tildes_under_a_line_are_its_underline_and_no_fence() -> None:
    assert code_of("Pumps\n~~~~~\n\nText.\n\nWells\n~~~~~\n\nText.\n") == []
    assert code_of("A text.\n~~~\ncode\n~~~\n") == ["~~~\ncode\n~~~\n"]
