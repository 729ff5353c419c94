"""The lines of data with rare values, and with numbers far from the others, are found."""

from __future__ import annotations

import json

import pytest

from keyhole.outputs.marks import find_telling_values
from keyhole.outputs.read import read_output


def lines_of(text: str, kind: str) -> list[str]:
    return [text[start:end].strip() for start, end in find_telling_values(text, kind)]


ORDERS = [
    (number, "refunded" if number == 61 else "shipped", -40 if number == 33 else 18 + number % 7)
    for number in range(90)
]
ROWS = [f"{number},{status},{heat}" for number, status, heat in ORDERS]


def test_the_rare_value_and_the_far_number_of_a_table_are_found() -> None:
    text = "\n".join(["id,status,heat", *ROWS]) + "\n"
    assert lines_of(text, "csv") == [ROWS[33], ROWS[61]]


def test_the_same_is_found_in_json_lines() -> None:
    lines = [json.dumps({"id": number, "status": status, "heat": heat}) for number, status, heat in ORDERS]
    assert lines_of("\n".join(lines), "jsonl") == [lines[33], lines[61]]


@pytest.mark.parametrize("kind", ["json", "yaml"])
def test_the_same_and_a_field_that_few_records_have_are_found_by_their_keys(kind: str) -> None:
    records = [
        {"name": f"web-{number}", "status": status, "heat": heat, **({"reason": "no memory"} if number == 12 else {})}
        for number, status, heat in ORDERS
    ]
    text = json.dumps(records, indent=2)
    if kind == "yaml":
        text = "".join(
            "".join(f"{'- ' if key == 'name' else '  '}{key}: {value}\n" for key, value in each.items())
            for each in records
        )
    found = [line.replace('"', "").rstrip(",") for line in lines_of(text, kind)]
    assert found == ["reason: no memory", "heat: -40", "status: refunded"]


def test_the_rare_value_of_a_table_set_with_spaces_is_found() -> None:
    pods = [
        f"web-{number:<4} 1/1    {'Pending' if number == 17 else 'Running'}   {number % 9}d" for number in range(60)
    ]
    text = "\n".join(["NAME     READY  STATUS    AGE", *pods]) + "\n"
    assert lines_of(text, "log") == [pods[17].strip()]
    assert pods[17].strip() in [text[start:end].strip() for start, end, weight in read_output(text).marks if weight > 6]


@pytest.mark.parametrize(
    "text",
    [
        "",
        "a text\nof lines\n" * 20,
        "id,name\n" + "".join(f"{number},town {number}\n" for number in range(60)),
        "id,size\n" + "".join(f"{number},{number * 7 % 50}\n" for number in range(60)),
        "id,state\n" + "".join(f"{number},{'abcdef'[number % 6]}\n" for number in range(60)),
    ],
)
def test_data_without_exceptions_has_no_telling_lines(text: str) -> None:
    assert lines_of(text, "csv") == []
    assert lines_of(text, "log") == []
