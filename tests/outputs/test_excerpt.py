"""The excerpt by which a large output is read: the parts and records are those of the whole text."""

from __future__ import annotations

import json
import re

import pytest

import keyhole
from keyhole.outputs.excerpt import STRETCH_CHARS, read_by_excerpt
from keyhole.outputs.output import Output
from keyhole.outputs.read import read_output
from keyhole.passages.excerpt import query_needles

SHIPS = [{"id": number, "name": f"ship {number}", "port": "x" * (number % 300)} for number in range(2_000)]
DIFF = "".join(
    f"diff --git a/src/f{number}.py b/src/f{number}.py\n--- a/src/f{number}.py\n+++ b/src/f{number}.py\n"
    + "@@ -1,20 +1,20 @@\n"
    + f"-old {number}\n+new {number}\n" * (40 if number == 77 else 10)
    for number in range(600)
)
SOURCE = "".join(f"def step_{number}(value):\n    return value * {number}\n\n\n" for number in range(1_500))


@pytest.mark.parametrize("indent", [None, 2])
def test_the_records_of_large_json_are_whole_in_its_excerpt_unless_they_are_long(indent: int | None) -> None:
    text = json.dumps({"total": len(SHIPS), "ships": SHIPS}, indent=indent)
    read = read_by_excerpt(text, "json", query_needles("ship 1234"))
    found = [json.loads(read.text[start:end]) for start, end in read.records]
    assert SHIPS[1_234] in found
    assert all(ship in SHIPS for ship in found)
    assert sum(end - start for start, end in read.records) > 0.9 * len(read.text)


def test_large_json_is_shown_with_its_shape_and_the_addresses_of_its_records() -> None:
    text = json.dumps({"total": len(SHIPS), "ships": SHIPS})
    shown = keyhole.bound(text, query="ship 1234", budget=1_000).text
    assert "[shape: {total: number, ships: [2000 × {id: number, name, port}]}]" in shown
    assert f"] $.ships[1234]\n{json.dumps(SHIPS[1_234])}" in shown
    for address, line in re.findall(r"\] \$\.ships\[(\d+)\]\n(.*)", shown):
        assert json.JSONDecoder().raw_decode(line)[0] == SHIPS[int(address)]


def test_a_large_diff_names_its_largest_files_and_the_file_of_each_passage() -> None:
    shown = keyhole.bound(DIFF, query="new 211", budget=1_000).text
    assert "src/f77.py +40 -40" in shown
    assert re.search(r", \d+ more\]", shown)
    named = re.findall(r"^\[\S+\] src/f(\d+)\.py:\d+\n[-+](?:old|new) (\d+)$", shown, re.MULTILINE)
    assert "new 211" in shown
    assert named
    assert all(file == line for file, line in named)


def test_a_definition_of_large_source_is_found_by_its_name() -> None:
    assert "def step_1234(value):" in keyhole.bound(SOURCE, query="step_1234", name="steps.py", budget=1_000).text


def test_the_parts_of_an_excerpt_are_those_of_the_whole_text() -> None:
    whole: Output = read_output(DIFF)
    read = read_by_excerpt(DIFF, "diff", query_needles("new 211"))
    assert len(read.text) < len(DIFF) / 2 > STRETCH_CHARS
    assert (read.parts, read.summary_title, read.total) == (whole.parts, whole.summary_title, len(DIFF))
