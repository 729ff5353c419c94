"""Several texts under one room: every text's best first, and no text may crowd out the others."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from keyhole.passages import index_of
from keyhole.passages.pack import gap_line
from keyhole.passages.pack_many import Packing
from keyhole.passages.rank_sources import SHORT_CHARS, join_spans, rank_sources
from keyhole.records import Passage
from keyhole.text.measure import serialized_size

PLAIN = "The committee met in the long hall and spoke about the price of grain, roads and bridges for the county. " * 3
TEXTS = [f"{PLAIN}\n\nThe zebra number {n} came through the gate.\n\n" * 8 for n in range(4)]


def cost(text: str, passages: Sequence[Passage]) -> int:
    return serialized_size(join_spans(text, [(p.start, p.end) for p in passages]))


def test_each_texts_passages_are_ranked_best_first_and_lie_in_its_windows() -> None:
    texts = [PLAIN + "\n\nThe zebra met a quagga.\n\n" + PLAIN + "\n\nA zebra slept.", PLAIN, ""]
    first, *others = rank_sources(texts, ["zebra quagga"])
    assert others == [(), ()]
    assert [p.score for p in first] == sorted((p.score for p in first), reverse=True)
    assert "quagga" in texts[0][first[0].start : first[0].end]
    assert {p.start for p in first} <= set(index_of(texts[0]).starts)


@pytest.mark.parametrize("texts", [[], [""], ["", "\udc80"], ["..."]])
def test_texts_without_words_have_no_passages(texts: list[str]) -> None:
    assert rank_sources(texts, ["zebra"]) == tuple(() for _ in texts)
    assert rank_sources(texts, [""]) == tuple(() for _ in texts)


def test_a_word_that_every_passage_has_still_finds_them() -> None:
    assert all(rank_sources(["The zebra.", "A zebra slept."], ["zebra"]))


@pytest.mark.parametrize("room", [0, 100, 1_000, 3_000, 10_000, 10**6])
def test_what_is_chosen_is_within_the_room(room: int) -> None:
    chosen = Packing(TEXTS, rank_sources(TEXTS, ["zebra gate committee"])).pack(room).chosen
    assert sum(cost(text, passages) for text, passages in zip(TEXTS, chosen, strict=True) if passages) <= room


def test_a_short_window_is_ranked_with_what_follows_it() -> None:
    text = "# Zebra\n\n" + PLAIN + "\n\nRead more\n"
    (found,) = rank_sources([text], ["zebra"])
    assert all(len(text[p.start : p.end].strip()) >= SHORT_CHARS for p in found)


def test_phrasings_agree_on_a_passage_before_one_of_them_has_its_favourite() -> None:
    both, one = "The zebra has stripes. " + PLAIN, "The quagga quagga quagga. " + PLAIN
    first, second = rank_sources([both, one], ["zebra stripes", "striped zebra", "quagga"])
    assert first[0].score > second[0].score
    assert second[0].held > 0.9


def test_a_passage_names_the_heading_above_it_and_what_it_holds_of_the_question() -> None:
    text = "# Animals\n\n## Stripes\n\n" + PLAIN + "\n\nThe zebra came. " + PLAIN
    best = rank_sources([text], ["zebra unicorn"])[0][0]
    assert best.label == " Stripes"
    assert 0.2 < best.held < 0.8


def test_chosen_passages_are_in_reading_order_and_joined_where_they_touch() -> None:
    text = "0123456789"
    ((one, two),) = Packing([text], ((Passage(2, 4, 3.0), Passage(4, 5, 2.0), Passage(6, 8, 1.0)),)).pack(1_000).chosen
    assert one == Passage(2, 5, 3.0)
    assert two == Passage(6, 8, 1.0)


def test_a_gap_line_says_what_stands_above_unless_it_was_just_said_or_shown() -> None:
    text = "0123456789"
    assert (
        join_spans(text, [(2, 4), (6, 8)], [" A", " A"])
        == f"{gap_line(0, 2, ' A')}23\n{gap_line(4, 6)}67\n{gap_line(8, 10)}"
    )
    assert gap_line(4, 6, " B") in join_spans(text, [(2, 4), (6, 8)], [" A", " B"])
    assert gap_line(4, 6, " 3") not in join_spans(text, [(2, 4), (6, 8)], [" A", " 3"])


def test_gaps_stand_on_lines_of_their_own_between_the_spans() -> None:
    assert join_spans("0123456789", [(2, 4), (6, 10)]) == f"{gap_line(0, 2)}23\n{gap_line(4, 6)}6789"
    assert join_spans("0123456789", []) == gap_line(0, 10)
    assert join_spans("01\n3456789", [(0, 3)]) == f"01\n{gap_line(3, 10)}"
    assert join_spans("", []) == ""
