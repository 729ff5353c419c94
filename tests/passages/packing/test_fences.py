"""Both fences of a code block are shown with every part of it."""

from __future__ import annotations

import pytest

from keyhole.passages import select
from keyhole.passages.blocks import find_code_blocks
from keyhole.passages.packing.fences import add_fences

CODE = "```python\n" + "".join(f"value_{n} = compute({n})\n" for n in range(400)) + "```\n"
TEXT = f"# Pumps\n\nThe pump needs oil.\n\n{CODE}\nIt is done.\n"


@pytest.mark.parametrize("limit", [250, 400, 1_000, 3_000])
def test_a_part_of_a_long_block_is_shown_between_its_fences(limit: int) -> None:
    shown = select(TEXT, "value_200 compute", limit).text
    assert len(shown) <= limit
    assert shown.count("\n```python\n") == 1
    assert shown.count("\n```\n") == 1
    assert shown.index("```python") < shown.index("value_") < shown.index("\n```\n")


def test_fences_that_are_shown_are_not_added() -> None:
    code = find_code_blocks(TEXT)
    assert add_fences(code, [(0, len(TEXT))]) == [(0, len(TEXT))]


def test_the_fences_of_two_parts_of_a_block_are_shown_once() -> None:
    block = find_code_blocks(TEXT)[0]
    parts = [(TEXT.index("value_20 "), TEXT.index("value_30 ")), (TEXT.index("value_50 "), TEXT.index("value_60 "))]
    assert add_fences([block], parts) == [(block.start, block.opening_end), *parts, (block.closing, block.end)]


def test_a_block_that_is_never_closed_has_one_fence() -> None:
    text = "```\n" + "value = 1\n" * 100
    code = find_code_blocks(text)
    assert add_fences(code, [(500, 600)]) == [(0, 4), (500, 600)]
