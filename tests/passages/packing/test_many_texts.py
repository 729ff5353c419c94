"""Passages of several texts share one size limit: best first, without repetition, and none far below the best."""

from __future__ import annotations

import re

import pytest

from keyhole.passages import near_duplicates
from keyhole.passages.packing import many_texts
from keyhole.passages.packing.many_texts import (
    BYTES_PER_CANDIDATE,
    MIN_SCORE_SHARE,
    WEAK_SHARE,
    PackedPassages,
    Packer,
)
from keyhole.passages.rank_sources import join_spans, rank_sources
from keyhole.records import Passage, Ranked
from keyhole.text.measure import serialized_size

PLACES = 8
WIDTH = 100


def text(number: int) -> str:
    """Return rows of a hundred characters; no two rows of any text are alike."""
    rows = (f"Row {number}.{place} of the book: " + f"sack{number * 50 + place} " * 9 for place in range(PLACES * 2))
    return "".join(f"{row:{WIDTH - 1}.{WIDTH - 1}}\n" for row in rows)


def passages(*scores: float) -> tuple[Passage, ...]:
    """Return every other row of a text as a passage, so that none are adjacent."""
    return tuple(Passage(2 * place * WIDTH, (2 * place + 1) * WIDTH, score) for place, score in enumerate(scores))


def pack(ranked: Ranked, max_size: int, header_sizes: list[int] | None = None) -> PackedPassages:
    return Packer([text(number) for number in range(len(ranked))], ranked).pack(max_size, header_sizes)


def size_of(number: int, shown: tuple[Passage, ...]) -> int:
    return serialized_size(join_spans(text(number), [(p.start, p.end) for p in shown])) if shown else 0


def test_every_good_text_gets_its_best_passage_before_any_gets_its_second() -> None:
    shown = pack((passages(3.0, 2.9, 2.8), passages(2.5, 1.9), passages(2.6)), 460).passages
    assert [len(each) for each in shown] == [1, 1, 1]


def test_the_best_passages_of_all_texts_come_first() -> None:
    shown = pack((passages(3.0, 2.9, 2.8), passages(2.0, 1.9)), 460).passages
    assert [len(each) for each in shown] == [3, 0]


def test_a_weak_text_gets_no_space() -> None:
    weak = 3.0 * WEAK_SHARE - 0.1
    assert [len(each) for each in pack((passages(3.0, 0.9, 0.8), passages(weak)), 5_000).passages] == [3, 0]


def test_a_passage_far_below_the_best_score_is_never_packed() -> None:
    assert [len(each) for each in pack((passages(3.0, 3.0 * MIN_SCORE_SHARE - 0.01), ()), 5_000).passages] == [1, 0]


@pytest.mark.parametrize("max_size", [0, 60, 150, 400, 1_000, 3_000, 10_000])
def test_passages_and_headers_fit_the_size_limit(max_size: int) -> None:
    ranked = (passages(*[3.0] * PLACES), passages(*[2.5] * 4), passages(2.0))
    for headers in ([0, 0, 0], [90, 200, 50]):
        result = pack(ranked, max_size, headers)
        size = sum(size_of(n, shown) + headers[n] for n, shown in enumerate(result.passages) if shown)
        assert size <= result.size <= max_size


def test_a_repetition_is_omitted_and_the_next_passage_of_its_text_is_packed() -> None:
    same = text(0)[:WIDTH] + text(1)[WIDTH:]
    ranked = (passages(3.0), passages(2.9, 2.8))
    result = Packer([text(0), same], ranked).pack(5_000)
    assert [p.start for p in result.passages[1]] == [2 * WIDTH]
    assert result.repeats == ((), (0,))


def test_a_repetition_within_one_text_is_omitted_and_not_reported() -> None:
    twice = text(0)[:WIDTH] + "\n" + text(0)[: WIDTH - 1] + text(0)[WIDTH:]
    result = Packer([twice], ((Passage(0, WIDTH, 2.0), Passage(WIDTH, 2 * WIDTH, 1.0)),)).pack(5_000)
    assert result.passages == ((Passage(0, WIDTH, 2.0),),)
    assert result.repeats == ((),)


def test_a_passage_that_does_not_fit_is_cut_after_a_sentence() -> None:
    sentences = (
        "The first sentence says enough to be worth its while, as it has eighty bytes and more. The second is cut."
    )
    ((only,),) = Packer([sentences], ((Passage(0, len(sentences), 1.0),),)).pack(120).passages
    assert sentences[only.start : only.end].strip().endswith("eighty bytes and more.")


def test_adjacent_passages_are_joined_and_keep_the_higher_values() -> None:
    adjacent = (Passage(0, WIDTH, 1.0, coverage=0.5), Passage(WIDTH, 2 * WIDTH, 0.9, coverage=0.7))
    assert Packer([text(0)], (adjacent,)).pack(5_000).passages == ((Passage(0, 2 * WIDTH, 1.0, coverage=0.7),),)


def test_negative_scores_make_no_text_poor() -> None:
    assert all(pack((passages(-1.0), passages(-9.0)), 5_000).passages)


def test_only_as_many_passages_of_a_huge_text_are_examined_as_may_fit(monkeypatch: pytest.MonkeyPatch) -> None:
    examined: list[str] = []

    def record(text: str) -> list[str]:
        examined.append(text)
        return real(text)

    real = near_duplicates.shingles
    monkeypatch.setattr(many_texts, "shingles", record)
    huge = "".join(
        f"{f'Row {place} of the book: sack{place} and sill{place}. ' * 3:{WIDTH - 1}.{WIDTH - 1}}\n"
        for place in range(20_000)
    )
    ranked = tuple(Passage(place * WIDTH, (place + 1) * WIDTH, 1.0) for place in range(0, 20_000, 2))
    max_size = 2_000
    assert Packer([huge], (ranked,)).pack(max_size).passages[0]
    assert len(examined) <= max_size // BYTES_PER_CANDIDATE


def test_a_part_of_a_code_block_is_packed_with_both_of_its_fences() -> None:
    code = "```python\n" + "".join(f"pump_{n} = compute({n})\n" for n in range(90)) + "```\n"
    texts = [f"# Pumps\n\nThe pump needs oil.\n\n{code}\nIt is done.\n"]
    for size in range(150, 900, 50):
        packed = Packer(texts, rank_sources(texts, ["pump_60"])).pack(size)
        spans = [(each.start, each.end) for each in packed.passages[0]]
        shown = join_spans(texts[0], spans, [each.label for each in packed.passages[0]])
        assert serialized_size(shown) <= size
        assert shown.count("```python\n") == shown.count("```\n") == ("pump_" in shown)


@pytest.mark.parametrize("max_size", range(300, 900, 25))
def test_a_truncated_passage_never_ends_with_a_heading(max_size: int) -> None:
    text = "".join(
        f"## The heading of section {n}\n\nThe zebra of section {n} sleeps in its stable. " for n in range(12)
    )
    whole = (Passage(0, len(text), 1.0),)
    (shown,) = Packer([text], (whole,)).pack(max_size).passages[0]
    assert not text[: shown.end].rstrip().rsplit("\n", 1)[-1].startswith("#")


def test_passages_that_overlap_are_joined() -> None:
    text = " ".join(f"Word{n}" for n in range(300))
    ranked = ((Passage(0, 500, 2.0), Passage(400, 900, 1.0)),)
    (shown,) = Packer([text], ranked).pack(5_000).passages[0]
    assert (shown.start, shown.end) == (0, 900)


def test_a_passage_that_repeats_another_of_its_text_except_for_numbers_is_not_packed() -> None:
    template = (
        "Section {0}. There are 1000 pages of listings for you. Log in to see page {0} of the book that you want. \n\n"
    )
    made = "".join(template.format(n) for n in range(12))
    edges = [match.start() for match in re.finditer("Section", made)]
    ranked = tuple(Passage(start, end, 1.0) for start, end in zip(edges, [*edges[1:], len(made)], strict=True))
    assert len(Packer([made], (ranked,)).pack(5_000).passages[0]) == 1
    assert [
        len(each) for each in Packer([made, made.replace("12", "13")], (ranked[:1], ranked[4:5])).pack(5_000).passages
    ] == [1, 1]


def test_rows_of_data_that_differ_only_in_numbers_are_packed() -> None:
    rows = "".join(f"| {n} | gate | {n * 7919} | {n * 104729} |\n" for n in range(10, 90))
    ranked = (Passage(0, 300, 1.0), Passage(600, 900, 0.9))
    assert len(Packer([rows], (ranked,)).pack(5_000).passages[0]) == 2


def test_a_passage_that_matches_more_than_the_one_it_resembles_is_packed() -> None:
    template = "The mill number {0} stands by the river and grinds all the grain of the farms of district {0}.\n\n"
    text = "".join(template.format(n) for n in range(9))
    size = len(template.format(1))
    same, more = (Passage(4 * size, 5 * size, 0.9, coverage=share) for share in (0.5, 0.8))
    first = Passage(0, size, 1.0, coverage=0.5)
    assert len(Packer([text], ((first, same),)).pack(5_000).passages[0]) == 1
    assert len(Packer([text], ((first, more),)).pack(5_000).passages[0]) == 2


def test_blocks_of_code_that_differ_only_in_numbers_are_packed() -> None:
    block = "```\nlog app{0} begins with the size of the file of the app\nand the log of app{0} ends with it\n```\n"
    text = "".join(block.format(n) for n in range(10, 19))
    size = len(block.format(10))
    ranked = (Passage(0, size, 1.0), Passage(3 * size, 4 * size, 0.9))
    assert len(Packer([text], (ranked,)).pack(5_000).passages[0]) == 2
