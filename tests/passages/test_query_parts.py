"""A question of several parts is divided, and any other question is not."""

from __future__ import annotations

import pytest

from keyhole.passages.index import Index
from keyhole.passages.query import Query, parse_query
from keyhole.passages.query_parts import OTHER_PART_WEIGHT, divide_query, listed_terms


def parse(text: str) -> Query:
    return parse_query(text, *Index("The committee met in the hall and spoke of the price of grain.").sample)


def own_terms(text: str) -> list[set[str]]:
    """Return for each part of a question the terms that keep their weight."""
    query = parse(text)
    weights = {term.surface: term.weight for term in query.terms}
    return [
        {term.surface for term in part.terms if term.weight == weights[term.surface]} for part in divide_query(query)
    ]


@pytest.mark.parametrize(
    ("question", "first", "second"),
    [
        ("How is the pump started? Where does the well water go?", "pump", "well"),
        ("how is the pump started, and which valve closes the well", "pump", "valve"),
        ("how is the pump started and on which day is the valve closed", "pump", "valve"),
        ("the pump starts when; the valve closes when", "pump", "valve"),
        ("wie startet die Pumpe und welches Ventil schließt den Brunnen", "pumpe", "ventil"),
        ("comment démarrer la pompe et quelle vanne ferme le puits", "pompe", "vanne"),
        ("как запустить насос и какой клапан закрывает скважину", "насос", "клапан"),
        ("水泵什么时候启动，阀门在哪里关闭？", "水泵", "阀门"),
    ],
)
def test_questions_that_end_or_go_on_with_a_question_word_are_divided(question: str, first: str, second: str) -> None:
    one, two = own_terms(question)
    assert first in one - two
    assert second in two - one


@pytest.mark.parametrize(
    "question",
    [
        "how is the pump started",
        "the price of grain and the price of roads",
        "Who founded the town and the county?",
        "What did the ECDC and WHO office ask of the countries?",
        "how many instances I can have per account",
        "which reader suits files such as 3,14;2,71",
        "what is the pump, and why?",
        "",
    ],
)
def test_a_question_of_one_part_is_not_divided(question: str) -> None:
    assert own_terms(question) == []


def test_the_subject_before_a_colon_belongs_to_every_part() -> None:
    one, two = own_terms("valve settings: the option for cold water, and the template for hot steam")
    assert one & two >= {"valve", "settings"}
    assert {"cold", "water"} <= one - two
    assert {"hot", "steam"} <= two - one


def test_each_part_has_the_terms_of_the_others_with_a_small_weight() -> None:
    query = parse("how is the pump started? which valve closes the well?")
    for part in divide_query(query):
        assert [term.surface for term in part.terms] == [term.surface for term in query.terms]
        assert {term.weight for term in part.terms} == {1.0, OTHER_PART_WEIGHT}


def test_a_question_has_at_most_four_parts() -> None:
    words = ["pump", "well", "valve", "steam", "grain", "road", "bridge", "town", "hall", "county", "water", "price"]
    question = " ".join(f"what is {one} {two}?" for one, two in zip(words[::2], words[1::2], strict=True))
    assert len(own_terms(question)) == 4


@pytest.mark.parametrize(
    ("question", "listed"),
    [
        ("default of naptime and cost_limit", {"naptime", "cost_limit"}),
        ("what do fsync, checkpoint_timeout and the wal_buffers do", {"fsync", "checkpoint_timeout", "wal_buffers"}),
        ("der Standardwert von fsync und wal_buffers", {"fsync", "wal_buffers"}),
        ("difference of fsync vs. wal_buffers", {"fsync", "wal_buffers"}),
        ("in which hall did they meet", set()),
        ("", set()),
    ],
)
def test_the_words_that_a_question_lists_are_found(question: str, listed: set[str]) -> None:
    query = parse(question)
    found = {term.surface for term in query.terms if term.needle in listed_terms(query)}
    assert listed <= found
    assert bool(listed) == bool(found)
