"""Test the options of a fetch: the validators of stored pages."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from keyhole.fetch.base import MAX_ETAG, Validators, sanitize_etag, sanitize_last_modified

DATE = "Sun, 06 Nov 1994 08:49:37 GMT"


@pytest.mark.parametrize("etag", ['"1"', 'W/"1"', '""', '"a-b_c:/;,gzip"', '"' + "x" * (MAX_ETAG - 2) + '"'])
def test_a_standard_etag_can_be_sent_back(etag: str) -> None:
    assert sanitize_etag(etag) == etag


@pytest.mark.parametrize(
    "etag",
    ["", "1", '"1', 'w/"1"', '"a b"', '"a"b"', '"a"\r\nX: y', '"a"\n', '"ü"', '"\x00"', '"a", "b"', "*",
     '"' + "x" * MAX_ETAG + '"'],
)  # fmt: skip
def test_any_other_etag_is_dropped(etag: str) -> None:
    assert sanitize_etag(etag) == ""


@pytest.mark.parametrize(
    "date", ["", "yesterday", DATE + "\n", DATE + "\r\nX: y", DATE[:-4], "1994-11-06", "Σ" + DATE[1:]]
)
def test_a_date_in_another_format_is_dropped(date: str) -> None:
    assert sanitize_last_modified(date) == ""
    assert sanitize_last_modified(DATE) == DATE


@given(st.text(max_size=30) | st.from_regex(r'(W/)?"[^"]{0,9}"'), st.text(max_size=30))
def test_any_validator_that_is_sent_is_printable_ascii(etag: str, date: str) -> None:
    for value in (sanitize_etag(etag), sanitize_last_modified(date)):
        assert value.isascii()
        assert value == "" or value.isprintable()


def test_validators_are_sent_to_their_own_url_only() -> None:
    known = Validators("https://a.example/x", '"1"', DATE)
    assert known.request_headers("https://a.example/x") == {"If-None-Match": '"1"', "If-Modified-Since": DATE}
    for other in ("https://a.example/x/", "http://a.example/x", "https://b.example/x", ""):
        assert known.request_headers(other) == {}
