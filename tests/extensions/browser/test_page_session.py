"""Which frames belong to the site of a page. test_render.py drives a real page."""

from __future__ import annotations

import pytest

from keyhole.extensions.browser.page_session import is_same_site

PAGE = "https://www.example.org/page"


@pytest.mark.parametrize(
    ("frame", "is_same"),
    [
        ("https://www.example.org/frame", True),
        ("https://example.org/frame", True),
        ("https://docs.example.org/frame", True),
        ("about:srcdoc", True),
        ("https://example.com/", False),
        ("https://badexample.org/", False),
        ("https://org/", False),
    ],
)
def test_a_frame_belongs_to_the_site_if_one_host_is_below_the_other(frame: str, is_same: bool) -> None:
    assert is_same_site(frame, PAGE) == is_same
