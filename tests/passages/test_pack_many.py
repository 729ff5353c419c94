"""One room for several texts: breadth first, nobody crowded out, nothing twice, nothing that is far below the best."""

from __future__ import annotations

import pytest

from keyhole.passages import near_duplicates, pack_many
from keyhole.passages.pack_many import FLOOR, GOOD_SHARE, LOOKED_AT, SHARE_CAP, Packed, Packing
from keyhole.passages.rank_sources import join_spans
from keyhole.records import Passage, Ranked
from keyhole.text.measure import serialized_size

PLACES = 8
WIDTH = 100


def text(number: int) -> str:
    """Passages of a hundred characters, no two alike in any text."""
    rows = (f"Row {number}.{place} of the book: " + f"sack{number * 50 + place} " * 9 for place in range(PLACES * 2))
    return "".join(f"{row:{WIDTH - 1}.{WIDTH - 1}}\n" for row in rows)


def passages(*scores: float) -> tuple[Passage, ...]:
    """Every other row of a text, so that none touch."""
    return tuple(Passage(2 * place * WIDTH, (2 * place + 1) * WIDTH, score) for place, score in enumerate(scores))


def packed(ranked: Ranked, room: int, opening: list[int] | None = None) -> Packed:
    return Packing([text(number) for number in range(len(ranked))], ranked).pack(room, opening)


def cost(number: int, chosen: tuple[Passage, ...]) -> int:
    return serialized_size(join_spans(text(number), [(p.start, p.end) for p in chosen])) if chosen else 0


def test_every_good_text_gets_its_best_before_any_its_second() -> None:
    chosen = packed((passages(3.0, 2.9, 2.8), passages(2.0, 1.9), passages(2.1)), 460).chosen
    assert [len(each) for each in chosen] == [1, 1, 1]


def test_a_text_far_below_the_best_gets_nothing_before_the_others_have_all_they_can_use() -> None:
    poor = 3.0 * GOOD_SHARE - 0.1
    assert [len(each) for each in packed((passages(3.0, 0.9, 0.8), passages(poor)), 450).chosen] == [3, 0]
    assert [len(each) for each in packed((passages(3.0, 0.9, 0.8), passages(poor)), 5_000).chosen] == [3, 1]


def test_what_has_almost_nothing_of_the_best_score_is_never_shown() -> None:
    assert [len(each) for each in packed((passages(3.0, 3.0 * FLOOR - 0.01), ()), 5_000).chosen] == [1, 0]


def test_no_text_takes_more_than_twice_its_share_while_another_has_more_to_show() -> None:
    many, few = passages(*[3.0] * PLACES), passages(*[2.0] * PLACES)
    room = 1_500
    chosen = packed((many, few, few), room).chosen
    assert all(chosen)
    assert cost(0, chosen[0]) <= SHARE_CAP * room // 3


def test_what_the_others_cannot_use_goes_to_the_best() -> None:
    chosen = packed((passages(*[3.0] * PLACES), passages(2.0), passages(2.0)), 1_300).chosen
    assert [len(each) for each in chosen[1:]] == [1, 1]
    assert cost(0, chosen[0]) > SHARE_CAP * 1_300 // 3


@pytest.mark.parametrize("room", [0, 60, 150, 400, 1_000, 3_000, 10_000])
def test_all_of_it_is_within_the_room_with_the_words_around_it(room: int) -> None:
    ranked = (passages(*[3.0] * PLACES), passages(*[2.5] * 4), passages(2.0))
    for opening in ([0, 0, 0], [90, 200, 50]):
        result = packed(ranked, room, opening)
        spent = sum(cost(n, chosen) + opening[n] for n, chosen in enumerate(result.chosen) if chosen)
        assert spent <= result.spent <= room


def test_a_passage_that_is_shown_already_is_left_out_and_its_text_gets_the_next_one() -> None:
    same = text(0)[:WIDTH] + text(1)[WIDTH:]
    ranked = (passages(3.0), passages(2.9, 2.8))
    result = Packing([text(0), same], ranked).pack(5_000)
    assert [p.start for p in result.chosen[1]] == [2 * WIDTH]
    assert result.repeats == ((), (0,))


def test_a_repetition_within_one_text_is_shown_once_and_not_told() -> None:
    twice = text(0)[:WIDTH] + "\n" + text(0)[: WIDTH - 1] + text(0)[WIDTH:]
    result = Packing([twice], ((Passage(0, WIDTH, 2.0), Passage(WIDTH, 2 * WIDTH, 1.0)),)).pack(5_000)
    assert result.chosen == ((Passage(0, WIDTH, 2.0),),)
    assert result.repeats == ((),)


def test_a_passage_that_does_not_fit_is_shown_up_to_the_end_of_a_sentence() -> None:
    sentences = (
        "The first sentence says enough to be worth its while, as it has eighty bytes and more. The second is cut."
    )
    ((only,),) = Packing([sentences], ((Passage(0, len(sentences), 1.0),),)).pack(120).chosen
    assert sentences[only.start : only.end].strip().endswith("eighty bytes and more.")


def test_passages_that_touch_are_joined_and_keep_the_best_of_both() -> None:
    touching = (Passage(0, WIDTH, 1.0, held=0.5), Passage(WIDTH, 2 * WIDTH, 0.9, held=0.7))
    assert Packing([text(0)], (touching,)).pack(5_000).chosen == ((Passage(0, 2 * WIDTH, 1.0, held=0.7),),)


def test_negative_scores_make_no_text_poor() -> None:
    assert all(packed((passages(-1.0), passages(-9.0)), 5_000).chosen)


def test_of_a_huge_text_only_as_much_is_looked_at_as_the_room_may_hold(monkeypatch: pytest.MonkeyPatch) -> None:
    looked: list[str] = []

    def counted(text: str) -> list[str]:
        looked.append(text)
        return real(text)

    real = near_duplicates.runs
    monkeypatch.setattr(pack_many, "runs", counted)
    huge = "".join(
        f"{f'Row {place} of the book: sack{place} and sill{place}. ' * 3:{WIDTH - 1}.{WIDTH - 1}}\n"
        for place in range(20_000)
    )
    ranked = tuple(Passage(place * WIDTH, (place + 1) * WIDTH, 1.0) for place in range(0, 20_000, 2))
    room = 2_000
    assert Packing([huge], (ranked,)).pack(room).chosen[0]
    assert len(looked) <= room // LOOKED_AT
