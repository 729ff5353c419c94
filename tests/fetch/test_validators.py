"""What a site said a text is known by: only what is safe to send back, and only to the URL that gave it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from keyhole.fetch.validators import MAX_ETAG, Validators, sanitize_etag, sanitize_last_modified

DATE = "Sun, 06 Nov 1994 08:49:37 GMT"


@pytest.mark.parametrize("etag", ['"1"', 'W/"1"', '""', '"a-b_c:/;,gzip"', '"' + "x" * (MAX_ETAG - 2) + '"'])
def test_an_etag_of_the_standard_can_be_sent_back(etag: str) -> None:
    assert sanitize_etag(etag) == etag


@pytest.mark.parametrize(
    "etag",
    ["", "1", '"1', 'w/"1"', '"a b"', '"a"b"', '"a"\r\nX: y', '"a"\n', '"ü"', '"\x00"', '"a", "b"', "*",
     '"' + "x" * MAX_ETAG + '"'],
)  # fmt: skip
def test_no_other_etag_is_sent(etag: str) -> None:
    assert sanitize_etag(etag) == ""


@pytest.mark.parametrize(
    "date", ["", "yesterday", DATE + "\n", DATE + "\r\nX: y", DATE[:-4], "1994-11-06", "Σ" + DATE[1:]]
)
def test_no_date_but_that_of_the_standard_is_sent(date: str) -> None:
    assert sanitize_last_modified(date) == ""
    assert sanitize_last_modified(DATE) == DATE


@given(st.text(max_size=30) | st.from_regex(r'(W/)?"[^"]{0,9}"'), st.text(max_size=30))
def test_whatever_a_site_says_what_is_sent_is_printable_ascii(etag: str, date: str) -> None:
    for value in (sanitize_etag(etag), sanitize_last_modified(date)):
        assert value.isascii()
        assert value == "" or value.isprintable()


def test_the_validators_go_to_their_own_url_alone() -> None:
    known = Validators("https://a.example/x", '"1"', DATE)
    assert known.request_headers("https://a.example/x") == {"If-None-Match": '"1"', "If-Modified-Since": DATE}
    for other in ("https://a.example/x/", "http://a.example/x", "https://b.example/x", ""):
        assert known.request_headers(other) == {}
