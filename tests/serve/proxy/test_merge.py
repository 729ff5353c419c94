"""Names of several servers: prefixes only on collision, never too long, never twice."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from keyhole.serve.proxy.merge import MAX_NAME, literal_prefix, merge_discover, public_names

NAMES = st.lists(st.text("ab_", min_size=1, max_size=70), max_size=5)


@given(st.dictionaries(st.text("ab .", min_size=1, max_size=70), NAMES, max_size=4))
def test_public_names_are_unique_and_prefixed_ones_are_short(names: dict[str, list[str]]) -> None:
    public = public_names(names)
    assert len(set(public.values())) == len(public)
    assert all(len(shown) <= MAX_NAME for (_, name), shown in public.items() if shown != name)
    assert set(public) == {(server, name) for server, own in names.items() for name in own}


def test_a_name_of_one_server_stays_as_it_is() -> None:
    assert public_names({"a": ["x" * 80]}) == {("a", "x" * 80): "x" * 80}


def test_a_prefixed_name_that_is_too_long_ends_with_a_hash() -> None:
    names = public_names({"my server": ["x" * 60], "b": ["x" * 60]})
    assert names["my server", "x" * 60].startswith("my_server_xxx")
    assert {len(name) for name in names.values()} == {MAX_NAME}


def test_a_prefixed_name_is_not_the_name_of_another_tool() -> None:
    names = public_names({"a": ["x", "b_x"], "b": ["x"]})
    assert names["a", "b_x"] == "b_x"
    assert names["b", "x"] != "b_x"


def test_the_servers_agree_on_the_versions_that_all_support() -> None:
    answers: dict[str, dict[str, Any]] = {
        "a": {"supportedVersions": ["3", "2"], "new": 1},
        "b": {"supportedVersions": ["2", "1"]},
    }
    assert merge_discover(answers) == {"supportedVersions": ["2"], "capabilities": {}, "new": 1}


def test_the_beginning_of_a_template_is_literal() -> None:
    assert literal_prefix("log://{day}/x") == "log://"
