"""The arrays and objects of JSON have paths, which label passages and count as context of what they contain."""

from __future__ import annotations

import json
import re
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from keyhole.passages.index import Index
from keyhole.passages.json_keys import find_containers, path_at
from keyhole.passages.labels import gap_label
from keyhole.passages.selection import score_text
from tests.support.machine import allowed

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=12,
)


def service(name: str, number: int) -> dict[str, object]:
    return {"host": f"{name}.host{number}.example", "notes": f"The service number {number} answers every request. " * 4}


NAMES = ("pump", "s3-control", "s3", "mill")
DATA = {
    "version": 3,
    "partitions": [
        {"partition": region, "services": {name: service(name, n) for n, name in enumerate(NAMES)}}
        for region in ("north", "south", "east", "west", "middle")
    ],
}
TEXT = f"JSON: object\n\n```json\n{json.dumps(DATA, indent=2)}\n```"


def test_a_passage_of_json_is_labelled_with_the_path_of_its_keys() -> None:
    index = Index(TEXT)
    window = index.window_at(TEXT.index('"pump"', TEXT.index('"east"')))
    within = window + 1
    path = path_at(TEXT, index.containers, index.starts[within], index.end(within))
    assert path.startswith("partitions[2].services")
    assert gap_label(index, within) == f" {path}"


def test_the_path_of_an_offset_is_that_of_the_object_that_has_its_value() -> None:
    containers = find_containers(TEXT, TEXT.index("{"), len(TEXT) - 4)
    at = TEXT.index('"host": "s3.')
    assert path_at(TEXT, containers, at, len(TEXT)) == "partitions[0].services.s3"
    assert path_at(TEXT, containers, TEXT.index('"version"'), len(TEXT)) == ""
    before = TEXT.rindex("}", 0, TEXT.index('"south"'))
    assert path_at(TEXT, containers, before, len(TEXT)) == "partitions", "closing brackets belong to no value"


def test_a_value_names_the_object_that_it_stands_in() -> None:
    """The service of the region that the question names matches better than the same service of the others."""
    regions = ("north", "south", "east", "west", "middle")
    names = [f"{kind}{part}" for kind in ("pump", "gate", "belt", "oven") for part in ("", "house", "works")]
    data = [
        {"region": region, "all": {n: service(n, 7) for n in [*names[:6], "mill", *names[6:]]}} for region in regions
    ]
    text = f"```json\n{json.dumps(data, indent=2)}\n```"
    scored = score_text(text, "notes of the mill in the west")
    index = scored.index
    at = [match.start() for match in re.finditer('"mill": ', text)]
    of_mill = [dict(scored.stages)["context"][index.window_at(each)] for each in at]
    assert of_mill.index(max(of_mill)) == 3


def test_keys_with_other_signs_are_quoted() -> None:
    text = '{"a b": {"c": 1}, "d": [[1], {"e-f": {"g": 2}}]}'
    containers = find_containers(text, 0, len(text))
    assert [each.path for each in containers] == ["", '["a b"]', "d", "d[0]", "d[1]", "d[1].e-f"]


@given(VALUES)
def test_every_array_and_object_is_found_with_its_end(value: object) -> None:
    text = json.dumps(value)
    for container in find_containers(text, 0, len(text)):
        assert isinstance(json.loads(text[container.opening : container.end]), list | dict)


@given(st.text(st.sampled_from('{}[]",:\\a \n')))
def test_invalid_json_is_read_as_far_as_it_goes(text: str) -> None:
    for number, container in enumerate(find_containers(text, 0, len(text))):
        assert container.parent < number
        assert 0 <= container.start <= container.opening < container.end <= len(text)


@pytest.mark.parametrize("text", ["[" * 20_000, '"' * 300_000, '"\\' * 150_000, '{"a":' * 20_000, "[]," * 100_000])
def test_no_text_takes_long(text: str) -> None:
    began = time.perf_counter()
    find_containers(text, 0, len(text))
    assert time.perf_counter() - began < allowed(2.0)
