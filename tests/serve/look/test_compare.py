"""Two fetches of a page side by side: lost and new lines are marked, and both texts are complete."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from keyhole.serve.look.compare import compare
from keyhole.serve.text_view.view import StoredText, TextView
from tests.support.fakes import artifact
from tests.support.look import NOW, empty_look, page_client, words_of

LINES = st.lists(st.sampled_from(["", "alpha", "beta", "gamma", "delta ü"]), max_size=12).map("\n".join)


def stored(text: str) -> StoredText:
    return StoredText(artifact(text=text), len(text), lambda start, end: text[start:end])


def marked(view: TextView) -> list[str]:
    return [line for segment in view.segments if segment.shown for line in segment.text.split("\n") if line]


@given(LINES, LINES)
def test_both_texts_are_complete_and_only_lines_that_the_other_lacks_are_marked(old: str, new: str) -> None:
    found = compare(stored(old), stored(new))
    for view, text, other in ((found.old, old, new), (found.new, new, old)):
        assert "".join(segment.text for segment in view.segments) == text
        lines, others = text.split("\n"), other.split("\n")
        assert sorted(marked(view)) == sorted(
            line for line in set(lines) - {""} for _ in range(lines.count(line) - others.count(line))
        )


def test_equal_texts_have_no_change() -> None:
    assert compare(stored("a\nb\n"), stored("a\nb\n")).is_equal
    assert not compare(stored("a\nb\n"), stored("a\n")).is_equal


def test_the_page_shows_what_is_gone_and_what_is_new() -> None:
    look = empty_look()
    look.store.put(replace(artifact("a" * 16, "Same.\n\nThe limit is 5.\n"), fetched_at=NOW - 900), "")
    look.store.put(replace(artifact("b" * 16, "Same.\n\nThe limit is 7.\n"), fetched_at=NOW - 60), "")
    words = words_of(page_client(look).get(f"/compare?old={'a' * 16}&new={'b' * 16}").text)
    assert "Gone: 7 to 22 The limit is 5." in words
    assert "New: 7 to 22 The limit is 7." in words
    assert "Unchanged: 0 to 7 (7 characters) Same." in words


def test_an_unknown_text_is_not_found() -> None:
    assert page_client(empty_look()).get("/compare?old=x&new=y").status_code == 404
