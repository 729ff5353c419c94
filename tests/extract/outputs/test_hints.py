"""Paths and URLs in an output."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from keyhole.extract.outputs.hints import MAX_HINT, MAX_HINTS, find_hints


def hints(text: str) -> list[str]:
    return [part.entry for part in find_hints(text)]


def test_absolute_paths_paths_of_files_and_urls_are_hints() -> None:
    text = 'wrote "/srv/app/out" from src/app/main.py:14 and ../lib/b.c; see https://example.com/a?b=c#d.'
    assert hints(text) == ["/srv/app/out", "src/app/main.py", "../lib/b.c", "https://example.com/a?b=c#d"]


def test_other_words_with_a_slash_are_no_hints() -> None:
    assert hints("and/or </div> 3/4 12/05/2026 HTTP/1.1 n/a a/Math.pow(b) x//y") == []


def test_each_hint_is_named_once_where_it_first_occurs() -> None:
    text = "at /srv/a/b\n" * 5
    assert [(part.start, part.end) for part in find_hints(text)] == [(3, 11)]


def test_there_are_at_most_twelve_paths_and_twelve_urls() -> None:
    text = "".join(f"/srv/a/{n} https://example.com/{n}\n" for n in range(50))
    found = hints(text)
    assert len(found) == 2 * MAX_HINTS
    assert sum(hint.startswith("https:") for hint in found) == MAX_HINTS


@given(st.text("/a.b1:- \n<h~", max_size=200))
def test_every_hint_is_verbatim_and_short(text: str) -> None:
    for part in find_hints(text):
        assert text[part.start : part.end] == part.entry
        assert 0 < len(part.entry) <= MAX_HINT
        assert "\n" not in part.entry
