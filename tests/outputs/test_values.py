"""The lines of data with rare values and with the largest numbers are found, and records are counted."""

from __future__ import annotations

import json
import random
import re
from typing import Any

import pytest

from keyhole.outputs.bound import bound
from keyhole.outputs.fields import (
    Data,
    is_table,
    read_json_lines,
    read_number,
    read_numbers,
    read_stanzas,
    read_table,
    read_values,
)
from keyhole.outputs.read import read_output
from keyhole.outputs.values import TELLING_WEIGHT, count_values, find_extremes


def lines_of(text: str, kind: str) -> list[str]:
    marks = read_output(text, kind=kind).marks
    return [text[start:end].strip() for start, end, weight in marks if weight == TELLING_WEIGHT]


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


PORTS = ["Oslo", "Kiel", "Riga"]
ROWS_OF_SHIPS = [
    (number, f"ship {number}", PORTS[number % 3], 90210 if number == 41 else 80 + number % 7) for number in range(60)
]


def bars(rows: list[tuple[object, ...]]) -> str:
    return "".join("│ " + " │ ".join(f"{cell:<8}" for cell in row) + " │\n" for row in rows)


def psql(rows: list[tuple[object, ...]]) -> str:
    return "".join(" " + " | ".join(f"{cell:<8}" for cell in row) + "\n" for row in rows)


def ruled(rows: list[tuple[object, ...]]) -> str:
    lines = ["  ".join(f"{cell:<8}" for cell in row) for row in rows]
    return "\n".join([lines[0], "  ".join(["-" * 8] * len(rows[0])), *lines[1:]]) + "\n"


def spaced(rows: list[tuple[object, ...]]) -> str:
    return "".join("   ".join(f"{cell:<8}" for cell in row).rstrip() + "\n" for row in rows)


@pytest.mark.parametrize("form", [bars, psql, ruled, spaced])
def test_the_columns_of_tables_of_several_programs_are_read(form: object) -> None:
    assert callable(form)
    text = form([("id", "name", "port", "weight"), *ROWS_OF_SHIPS])
    data = read_table(text)
    assert list(data.fields) == ["id", "name", "port", "weight"]
    assert data.fields["port"].values[:4] == ["Oslo", "Kiel", "Riga", "Oslo"]
    assert data.header is not None
    assert "weight" in text[slice(*data.header)]
    assert len(data.records) == 60
    assert is_table(text.splitlines())
    assert "90210" in bound(text, budget=800).text


def test_a_list_without_a_header_is_a_table_if_a_column_has_numbers() -> None:
    text = "total 77\n" + "".join(f"-rw-r--r-- 1 ann ann {n * 3 + 7} May 2 2026 f{n}.txt\n" for n in range(40))
    assert read_table(text).fields["\x004"].values[2] == "13"
    assert not is_table(text.splitlines())
    assert read_table("the words of a text\nthat is no table of any kind\n" * 30).fields == {}
    assert read_table("a,b\n" * 5).fields == {}


@pytest.mark.parametrize(
    ("value", "number"),
    [("12", 12), ("1,204", 1204), ("-3.5", -3.5), ("2K", 2000), ("3 ms", 0.003), ("time=7", 7), ("5%", 5)],
)
def test_numbers_with_units_are_read(value: str, number: float) -> None:
    assert read_number(value) == pytest.approx(number)


@pytest.mark.parametrize("value", ["", "12:30", "v3", "3 apples", "1.2.3", "-"])
def test_other_values_are_no_numbers(value: str) -> None:
    assert read_number(value) is None


def test_the_largest_numbers_of_an_uneven_field_are_found_and_a_total_is_none_of_them() -> None:
    sizes = [10 + number % 9 for number in range(50)]
    sizes[20], sizes[30] = 170, 150
    text = "".join(f"{size:>6} file{number}.py\n" for number, size in enumerate(sizes)) + f"{sum(sizes):>6} total\n"
    field = next(iter(read_table(text).fields.values()))
    assert [each.value for each in find_extremes("size", field, 2)] == ["170", "150"]


def test_values_inside_objects_and_arrays_are_fields_of_the_record() -> None:
    values = [{"state": {"name": "up"}, "tags": [{"key": "a"}, {"key": "b"}]} for _ in range(20)]
    fields = read_values(values, [(number, number + 1) for number in range(20)]).fields
    assert fields["state.name"].values == ["up"] * 20
    assert fields["tags.key"].values[:2] == ["a", "b"]
    assert fields["tags.key"].lines[2] == (1, 2)


def test_records_are_counted_by_the_values_of_fields_with_few_of_them() -> None:
    lines = [
        json.dumps({"id": n, "state": "lost" if n in (3, 9) else "sent", "code": 503 if n == 4 else 200})
        for n in range(40)
    ]
    data = read_json_lines("\n".join(lines))
    assert count_values(data) == ("state: 38 sent, 2 lost", "code: 39 × 200, 1 × 503")
    assert count_values(data, ["503"])[0] == "code: 39 × 200, 1 × 503"
    assert count_values(Data({})) == ()
    assert "[state: 38 sent, 2 lost" in bound("\n".join(lines), budget=900).text


def test_the_record_of_json_in_one_line_that_differs_from_the_others_is_shown() -> None:
    random.seed(7)
    jobs = [
        {"id": n, "name": f"build {n}", "status": {"exit": 0, "log": "x" * random.randrange(60)}} for n in range(900)
    ]
    jobs[613]["status"] = {"exit": 137, "log": "Killed: out of memory while linking"}
    for indent in (None, 2):
        text = json.dumps(jobs, indent=indent)
        shown = bound(text, budget=1_500).text
        assert "Killed: out of memory while linking" in shown
        assert "$[613] name=build 613" in shown or '"name": "build 613"' in shown


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


def test_the_status_line_of_a_response_is_shown_and_its_records_are_read_below_many_headers() -> None:
    head = "HTTP/2 422\n" + "".join(f"x-header-{number}: {'v' * 60}\n" for number in range(40)) + "\n"
    rows = [{"row": n, "code": "negative" if n == 38 else "unknown", "detail": "d" * 40} for n in range(90)]
    shown = bound(head + json.dumps({"errors": rows}), budget=1_000).text
    assert "HTTP/2 422\n" in shown
    assert '"row": 38, "code": "negative"' in shown


def test_a_passage_inside_a_record_is_named_by_its_whole_address() -> None:
    paths: dict[str, dict[str, Any]] = {
        f"/v1/{name}": {
            method: {"summary": "s" * 200, "responses": {"200": {"description": "d" * 200}}}
            for method in ("get", "post")
        }
        for name in ("orders", "users", "carts", "refunds", "stock", "coupons", "sessions", "reports")
    }
    paths["/v1/refunds"]["post"]["responses"]["409"] = {"description": "refunded in full " * 9}
    text = json.dumps({"paths": paths})
    shown = bound(text, query="refunded in full", budget=1_200).text
    assert '$.paths["/v1/refunds"].post' in shown


def test_the_numbers_of_a_field_are_read_unless_too_many_values_are_words() -> None:
    values = ["12", "1.5K", "down", "٣", "1,024", "-3 ms"]
    assert read_numbers(values, 1) == [12.0, 1_500.0, 3.0, 1_024.0, -0.003]
    assert read_numbers(values, 0) is None
    assert read_numbers([], 0) == []


def dpkg() -> str:
    return "\n".join(
        f"Package: berth-{number}\nStatus: install ok installed\nInstalled-Size: {number * 37 % 900}\n"
        f"Version: 3.{number}-1\nDescription: ropes for berth {number}\n Shown where failures\n .\n are of no use.\n"
        + "Essential: yes\n"
        * (number == 31)
        for number in range(60)
    )


@pytest.mark.parametrize("query", ["which package is essential", None])
def test_stanzas_of_fields_are_records_that_their_first_line_names(query: str | None) -> None:
    shown = bound(dpkg(), query=query, budget=1_000).text
    before = shown.split("Essential: yes\n")[0]
    assert shown.startswith("Output (text)")
    assert re.findall("Package: .*", before)[-1] == "Package: berth-31"


def test_paragraphs_that_begin_with_other_words_or_have_one_field_are_no_records() -> None:
    assert not read_stanzas("".join(f"Error: {n}\n  at line {n}\n\n" for n in range(20))).records
    log = "a line that is no field\n" * 9
    assert not read_stanzas("".join(f"{log}Server: nginx\nDate: {n}\nAge: 3\n\n" for n in range(20))).records
    assert not read_stanzas("".join(f"Step{n}: a\nb: 1\nc: 2\nd: 3\n\n" for n in range(20))).records
