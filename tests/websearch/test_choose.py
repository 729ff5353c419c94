"""Hits are chosen by rank and by the rare words of the question; probable copies come last."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from keyhole.records import Hit
from keyhole.websearch.choose import choose_hits, match_words

WORDS = st.text(st.sampled_from("abé zebra日本"), max_size=12)
HITS = st.lists(
    st.builds(lambda path, title, text: Hit(f"https://a.example/{path}", title, text, "x"), WORDS, WORDS, WORDS)
)


def hit(name: str, title: str = "", snippet: str = "") -> Hit:
    return Hit(f"https://{name}.example/{name}.html", title or f"Title {name}", snippet or f"Snippet {name}", "fake")


def names(hits: list[Hit]) -> str:
    return " ".join(each.url.partition("://")[2].partition(".")[0] for each in hits)


def test_hits_without_words_of_the_question_keep_their_order() -> None:
    assert names(choose_hits([hit("a"), hit("b"), hit("c")], ["zebra"])) == "a b c"
    assert choose_hits([], ["zebra"]) == []


def test_a_hit_with_the_rare_word_of_the_question_moves_up() -> None:
    hits = [hit("a"), hit("b"), hit("c", "All about pumps"), hit("d", "Zebras and pumps"), hit("e", "More pumps")]
    assert names(choose_hits(hits, ["How do zebras pump?"])).split()[0] == "d"


def test_the_words_of_an_address_count() -> None:
    hits = [hit("a"), hit("b"), hit("wal", "Write-Ahead Logging")]
    assert names(choose_hits(hits, ["a database in WAL mode"])).split()[0] != "b"


def test_a_title_that_repeats_the_question_is_no_better_than_one_with_half_of_it() -> None:
    question = "How many stripes has the zebra of the county?"
    hits = [hit("a", "Stripes of zebras in a county"), hit("b", question, question), hit("c")]
    assert names(choose_hits(hits, [question])) == "a b c"


def test_a_hit_with_the_title_and_snippet_of_another_comes_last() -> None:
    hits = [hit("a", "Zebras", "All of them."), hit("b", "Zebras", "All of them."), hit("c"), hit("d")]
    assert names(choose_hits(hits, ["zebra"])) == "a c d b"


@given(HITS, st.lists(WORDS, min_size=1, max_size=3))
def test_every_hit_is_chosen_once_and_shares_are_between_0_and_1(hits: list[Hit], phrasings: list[str]) -> None:
    chosen = choose_hits(hits, phrasings)
    assert sorted(map(repr, chosen)) == sorted(map(repr, hits))
    assert chosen == choose_hits(hits, phrasings)
    assert all(0 <= share <= 1.0001 for share in match_words(hits, [("zebra",), ("a", "b")]))
