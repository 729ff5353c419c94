"""Addresses of APIs keep below their base, whatever their parts contain."""

from __future__ import annotations

from urllib.parse import unquote

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from keyhole.fetch.urls import api_address, parse_target

BASE = "https://api.github.com/repos/o/r"
PARTS = st.lists(st.text(st.sampled_from("./\\%2eEfF5cC?#&=a é\0"), max_size=12), max_size=4)


@pytest.mark.parametrize(
    ("segments", "query", "address"),
    [
        (("contents", "docs", "a b.md"), {"ref": "feature/x"}, f"{BASE}/contents/docs/a%20b.md?ref=feature%2Fx"),
        (("git", "trees", "feature%2Fx"), {"recursive": 1}, f"{BASE}/git/trees/feature%2Fx?recursive=1"),
        (("a?b#c&d",), {"ref": "x&token=1"}, f"{BASE}/a%3Fb%23c%26d?ref=x%26token%3D1"),
        ((), {}, BASE),
    ],
)
def test_each_part_is_one_segment_or_value(segments: tuple[str, ...], query: dict[str, str], address: str) -> None:
    assert api_address(BASE, *segments, **query) == address


@pytest.mark.parametrize("segment", ["..", ".", "", "%2e%2e", "a%2f..%2fb", "%252e%252e", "..%5c..", "\0", "a" * 9_000])
def test_a_part_that_leads_elsewhere_is_refused(segment: str) -> None:
    with pytest.raises(ValueError, match="the address has parts"):
        api_address(BASE, "contents", segment)


@given(PARTS, PARTS)
@example(["..%2f..%2f..%2fuser"], [])
def test_every_address_that_is_composed_stays_below_its_base(segments: list[str], values: list[str]) -> None:
    try:
        address = api_address(BASE, *segments, **{f"q{number}": value for number, value in enumerate(values)})
    except ValueError:
        return
    assert parse_target(address).url == address
    path = address.partition("?")[0]
    for _ in range(3):
        assert path == BASE or path.startswith(f"{BASE}/")
        assert ".." not in path.replace("\\", "/").split("/")
        path = unquote(path)
