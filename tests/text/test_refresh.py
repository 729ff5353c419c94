"""Where a page sends its reader: the forms of `Refresh`, and scripts that set the location."""

from __future__ import annotations

import pytest

from keyhole.text.refresh import Refresh, find_location, parse_refresh, read_refresh


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("0;URL=new", Refresh(0, "new")),
        (" 5 ; url = '/new' ", Refresh(5, "/new")),
        ('3;url="/new"; and more', Refresh(3, "/new")),
        ("0,/new", Refresh(0, "/new")),
        ("0 /new", Refresh(0, "/new")),
        ("2.9;url=/new?a=1;b", Refresh(2, "/new?a=1;b")),
        (";url=/new", Refresh(0, "/new")),
        ("60", None),
        ("60;", None),
        ("0;url=", None),
        ("soon", None),
    ],
)
def test_a_refresh_has_seconds_and_perhaps_an_address(value: str, expected: Refresh | None) -> None:
    assert parse_refresh(value) == expected


@pytest.mark.parametrize(
    ("script", "seconds", "target"),
    [
        ("location='/new'", 0, "/new"),
        ('window.location.replace("/new" + location.hash);', 0, "/new"),
        ("var a = location.hash; document.location.href = '/new' + a", 0, "/new"),
        ("if (mobile) { location.assign('/m') }", 11, "/m"),
        ("setTimeout(function () { location.href = '/new' }, 3000)", 11, "/new"),
    ],
)
def test_a_script_that_sets_the_location_sends_the_reader_on(script: str, seconds: int, target: str) -> None:
    assert find_location(script) == Refresh(seconds, target)


@pytest.mark.parametrize(
    "script", ["", "if (location.href == '/new') go()", "location = `/${name}`", "relocation='/x'"]
)
def test_a_script_that_only_reads_or_computes_the_location_does_not(script: str) -> None:
    assert find_location(script) is None


def test_a_refresh_is_read_as_it_was_written() -> None:
    assert read_refresh(str(Refresh(3, "https://a.example/x y"))) == Refresh(3, "https://a.example/x y")
    assert [read_refresh(text) for text in ("", "x https://a.example", "3", f"{'9' * 20} x")] == [None] * 4
