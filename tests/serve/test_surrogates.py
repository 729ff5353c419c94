"""Lone surrogates in JSON are replaced, and nothing else changes."""

from __future__ import annotations

import json
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from keyhole.serve.surrogates import replace_lone_surrogates

TEXTS = st.text(st.sampled_from('\\u"/dD8c0') | st.characters() | st.sampled_from("\ud800\udbff\udc00\udfff😀"))


@pytest.mark.parametrize(
    ("text", "repaired"),
    [
        (r'"\ud800"', r'"\ufffd"'),
        (r'"a\uDFFFb"', r'"a\ufffdb"'),
        (r'"\ud83d\ude00"', r'"\ud83d\ude00"'),
        (r'"\ude00\ud83d"', r'"\ufffd\ufffd"'),
        (r'"\ud83d\ud83d\ude00"', r'"\ufffd\ud83d\ude00"'),
        (r'"\\ud800"', r'"\\ud800"'),
        (r'"\\\ud800"', r'"\\\ufffd"'),
        (r'"\u0041\n"', r'"\u0041\n"'),
    ],
)
def test_only_lone_surrogates_are_replaced(text: str, repaired: str) -> None:
    assert replace_lone_surrogates(text) == repaired


@given(TEXTS)
def test_every_repaired_text_is_valid_utf_8_and_otherwise_unchanged(text: str) -> None:
    repaired = json.loads(replace_lone_surrogates(json.dumps(text)))
    assert repaired == re.sub("[\ud800-\udfff]", "\ufffd", json.loads(json.dumps(text)))
    repaired.encode("utf-8")
