"""Excerpts of large texts: the ends, the stretches with rare words, verbatim and bounded."""

from __future__ import annotations

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from keyhole.passages.excerpt import Excerpt, ExcerptChooser, make_excerpt, query_needles, word_needles

LINES = [f"{number:06} request served in 3 ms\n" for number in range(20_000)]
LEAST = 2_000
"""Characters of the shortest excerpt: a stretch of each end."""


def excerpt(text: str, query: str = "", max_chars: int = 20_000, piece: int = 50_000) -> Excerpt:
    chooser = ExcerptChooser(query_needles(query), stretch_chars=1_000)
    for start in range(0, len(text), piece):
        chooser.add(text[start : start + piece])
    return make_excerpt(chooser.choose(max_chars), len(text), lambda start, end: text[start:end])


def log_with(lines: dict[int, str]) -> str:
    return "".join(lines.get(number, line) for number, line in enumerate(LINES))


def test_an_excerpt_has_both_ends_of_the_text() -> None:
    text = "".join(LINES)
    chosen = excerpt(text)
    assert chosen.text.startswith(LINES[0])
    assert chosen.text.endswith(LINES[-1])
    assert len(chosen.text) <= 20_000


def test_the_rarest_words_of_the_query_are_chosen_before_its_common_words() -> None:
    text = log_with({9_000: "shard 17 rebalanced\n"})
    assert "shard 17 rebalanced" in excerpt(text, "request for the rebalanced shard").text


def test_failures_are_chosen_without_a_query_the_first_of_many() -> None:
    text = log_with({7_000: "ERROR disk full\n"} | dict.fromkeys(range(7_001, 19_000, 40), "ERROR again\n"))
    assert "ERROR disk full" in excerpt(text).text
    assert "ERROR disk full" in excerpt(text, "request served").text


def test_a_stretch_with_all_words_of_the_query_is_chosen_before_those_with_one_word() -> None:
    words = dict.fromkeys(range(5_000, 9_000, 40), "retry later\n") | dict.fromkeys(
        range(9_000, 15_000, 40), "refused\n"
    )
    text = log_with(words | {15_500: "retry if refused\n"})
    assert "retry if refused" in excerpt(text, "retry refused").text


def test_a_stretch_beside_other_matches_is_chosen_before_a_lone_one() -> None:
    lone = dict.fromkeys(range(2_000, 18_000, 200), "shard moved\n")
    text = log_with(lone | {18_100: "shard moved\n", 18_130: "shard moved at last\n", 18_160: "shard moved\n"})
    assert "shard moved at last" in excerpt(text, "shard").text


def test_words_are_found_in_inflected_forms_and_any_case() -> None:
    text = log_with({11_000: "Rebalancing Shards\n"})
    assert "Rebalancing Shards" in excerpt(text, "shard rebalanced").text


def test_the_words_of_a_command_are_searched_for_as_they_are_written() -> None:
    text = log_with({11_000: "moved shard_17\n", 12_000: "moved shards\n"})
    chooser = ExcerptChooser(word_needles("Shard_17 a"), stretch_chars=1_000)
    chooser.add(text)
    chosen = make_excerpt(chooser.choose(3_000), len(text), lambda start, end: text[start:end])
    assert "shard_17" in chosen.text
    assert "shards" not in chosen.text


@given(
    st.lists(st.sampled_from(["error\n", "shard\n", "x" * 700, "a line\n", "İx\n"]), max_size=200),
    st.sampled_from(["", "shard", "the error"]),
    st.integers(0, 30_000),
    st.integers(1, 5_000),
)
def test_an_excerpt_is_verbatim_bounded_and_names_what_is_missing(
    parts: list[str], query: str, max_chars: int, piece: int
) -> None:
    text = "".join(parts)
    chosen = excerpt(text, query, max_chars, piece)
    assert len(chosen.text) <= max(max_chars, LEAST)
    assert chosen.text == "".join(text[start:end] for start, end in chosen.spans)
    assert all(end < start for (_, end), (start, _) in pairwise(chosen.spans))
    assert sum(missing for _, missing in chosen.joints) + len(chosen.text) == len(text) == chosen.total


def test_a_text_that_fits_is_its_own_excerpt() -> None:
    text = "".join(LINES[:200])
    chosen = excerpt(text)
    assert (chosen.text, chosen.joints) == (text, ())
