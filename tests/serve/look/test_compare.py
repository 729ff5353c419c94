"""Two fetches of a page side by side: lost and new lines are marked, and both texts are complete."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from keyhole.serve.look.compare import compare, find_changed_words
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


WORDS = st.lists(st.sampled_from(["a", "b", "c d", "e\nf", ""]), max_size=10).map(" ".join)


@given(WORDS, WORDS)
def test_changed_lines_without_the_marked_words_have_the_same_words(old: str, new: str) -> None:
    found = compare(stored(old), stored(new))
    rest = []
    for view, text in ((found.old, old), (found.new, new)):
        assert "".join(segment.text for segment in view.segments) == text
        assert not any(piece.marked for segment in view.segments if not segment.shown for piece in segment.pieces)
        shown = [piece for segment in view.segments if segment.shown for piece in segment.pieces]
        rest.append(" ".join(piece.text for piece in shown if not piece.marked).split())
    has_marks = any(piece.marked for view in (found.old, found.new) for each in view.segments for piece in each.pieces)
    assert rest[0] == rest[1] or not has_marks


def test_the_words_that_differ_in_a_changed_line_are_marked() -> None:
    found = compare(stored("Same.\nThe limit is 5 by default.\n"), stored("Same.\nThe limit is now 7 by default.\n"))
    marked = [
        [piece.text for segment in view.segments for piece in segment.pieces if piece.marked]
        for view in (found.old, found.new)
    ]
    assert marked == [["5"], ["now", "7"]]


def test_no_words_are_marked_if_all_differ() -> None:
    assert find_changed_words("a b", ((0, 3),), "c", ((0, 1),)) == ((), ())


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
