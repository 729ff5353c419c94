"""Several texts under one room: every text's best first, and no text may crowd out the others."""

from __future__ import annotations

import pytest

from keyhole.measure import serialized_size
from keyhole.passages import index_of
from keyhole.passages.across import SHARE_CAP, join_spans, pack_across, rank_sources
from keyhole.passages.pack import gap_line
from keyhole.records import Passage

PLAIN = "The committee met in the long hall and spoke about the price of grain, roads and bridges for the county. " * 3
TEXTS = [f"{PLAIN}\n\nThe zebra number {n} came through the gate.\n\n" * 8 for n in range(4)]


def cost(text: str, passages: list[Passage]) -> int:
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


def test_every_text_gets_its_best_before_any_its_second() -> None:
    ranked = rank_sources(TEXTS, ["zebra gate"])
    assert all(len(passages) > 2 for passages in ranked)
    sizes = [serialized_size(text[p[0].start : p[0].end]) + 2 * 40 for text, p in zip(TEXTS, ranked, strict=True)]
    chosen = pack_across(TEXTS, ranked, sum(sizes))
    for passages, best in zip(chosen, ranked, strict=True):
        assert any(p.start <= best[0].start and best[0].end <= p.end for p in passages)


@pytest.mark.parametrize("room", [0, 100, 1_000, 3_000, 10_000, 10**6])
def test_all_of_it_is_within_the_room_and_no_text_takes_more_than_twice_its_share(room: int) -> None:
    ranked = rank_sources(TEXTS, ["zebra gate committee"])
    chosen = pack_across(TEXTS, ranked, room)
    taken = [cost(text, passages) for text, passages in zip(TEXTS, chosen, strict=True) if passages]
    assert sum(taken) <= room
    assert all(size <= SHARE_CAP * room // len(TEXTS) for size in taken)


def test_a_long_page_leaves_room_for_the_others() -> None:
    texts = [TEXTS[0] * 20, *TEXTS[1:]]
    chosen = pack_across(texts, rank_sources(texts, ["zebra"]), 4_000)
    assert all(chosen)


def test_what_one_text_cannot_use_goes_to_the_others_up_to_twice_the_share() -> None:
    texts = [TEXTS[0] * 5, PLAIN]
    (taken, nothing) = pack_across(texts, rank_sources(texts, ["zebra"]), 4_000)
    assert nothing == []
    assert cost(texts[0], taken) > 4_000 // 2


def test_chosen_passages_are_in_reading_order_and_joined_where_they_touch() -> None:
    text = "0123456789"
    ((one, two),) = pack_across([text], [[Passage(6, 8, 1.0), Passage(2, 4, 3.0), Passage(4, 5, 2.0)]], 1_000)
    assert one == Passage(2, 5, 3.0)
    assert two == Passage(6, 8, 1.0)


def test_gaps_stand_on_lines_of_their_own_between_the_spans() -> None:
    assert join_spans("0123456789", [(2, 4), (6, 10)]) == f"{gap_line(0, 2)}23\n{gap_line(4, 6)}6789"
    assert join_spans("0123456789", []) == gap_line(0, 10)
    assert join_spans("01\n3456789", [(0, 3)]) == f"01\n{gap_line(3, 10)}"
    assert join_spans("", []) == ""
