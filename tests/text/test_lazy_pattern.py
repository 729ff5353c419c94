"""Patterns that are compiled when they are first used."""

from __future__ import annotations

import re

import pytest

from keyhole.text.lazy_pattern import lazy_pattern


def test_a_pattern_has_the_methods_of_a_compiled_one() -> None:
    pattern = lazy_pattern(r"(?P<word>a+)", re.IGNORECASE)
    found = pattern.search("xAa")
    assert found is not None and found["word"] == "Aa"
    assert pattern.sub("b", "aXA") == "bXb"
    assert pattern.groupindex == {"word": 1}
    assert pattern.search == pattern.search


def test_a_wrong_pattern_is_an_error_only_when_it_is_used() -> None:
    pattern = lazy_pattern("(")
    with pytest.raises(re.error):
        pattern.search("a")
