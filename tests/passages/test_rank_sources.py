"""Passages of several texts are ranked with comparable scores and joined with gap lines."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from keyhole.passages import index_text
from keyhole.passages.gaps import gap_line
from keyhole.passages.index import Index
from keyhole.passages.packing.many_texts import Packer
from keyhole.passages.rank import score_query
from keyhole.passages.rank_sources import ECHO_SHARE, SHORT_CHARS, join_spans, rank_sources, score_together
from keyhole.records import Passage
from keyhole.text.measure import serialized_size

PLAIN = "The committee met in the long hall and spoke about the price of grain, roads and bridges for the county. " * 3
TEXTS = [f"{PLAIN}\n\nThe zebra number {n} came through the gate.\n\n" * 8 for n in range(4)]

PUMPS = "The pump is quiet. Every pump needs oil, and a pump without oil is loud.\n\n" * 9
MILLS = "The mill grinds grain. A mill needs water, and a mill without water stands still.\n\n" * 9


def size_of(text: str, passages: Sequence[Passage]) -> int:
    return serialized_size(join_spans(text, [(p.start, p.end) for p in passages]))


def test_passages_are_ranked_best_first_and_begin_with_windows() -> None:
    texts = [PLAIN + "\n\nThe zebra met a quagga.\n\n" + PLAIN + "\n\nA zebra slept.", PLAIN, ""]
    first, *others = rank_sources(texts, ["zebra quagga"])
    assert others == [(), ()]
    assert [p.score for p in first] == sorted((p.score for p in first), reverse=True)
    assert "quagga" in texts[0][first[0].start : first[0].end]
    assert {p.start for p in first} <= set(index_text(texts[0]).starts)


def test_the_label_of_a_passage_of_a_pdf_file_has_its_page() -> None:
    text = PLAIN + "\n\nThe zebra met a quagga.\n\n" + PLAIN
    (best, *_), (other, *_) = rank_sources([text, text], ["zebra quagga"], pages=[((0, "ii"),), ()])
    assert (best.label, other.label) == (" [page ii]", "")


@pytest.mark.parametrize("texts", [[], [""], ["", "\udc80"], ["..."]])
def test_texts_without_words_have_no_passages(texts: list[str]) -> None:
    assert rank_sources(texts, ["zebra"]) == tuple(() for _ in texts)
    assert rank_sources(texts, [""]) == tuple(() for _ in texts)


def test_a_word_in_every_passage_still_finds_them() -> None:
    assert all(rank_sources(["The zebra.", "A zebra slept."], ["zebra"]))


@pytest.mark.parametrize("max_size", [0, 100, 1_000, 3_000, 10_000, 10**6])
def test_packed_passages_fit_the_size_limit(max_size: int) -> None:
    packed = Packer(TEXTS, rank_sources(TEXTS, ["zebra gate committee"])).pack(max_size).passages
    assert sum(size_of(text, passages) for text, passages in zip(TEXTS, packed, strict=True) if passages) <= max_size


def test_passages_begin_and_end_with_the_definitions_that_they_show_a_part_of() -> None:
    about = "The file is examined when the keeper starts, and again for each run. "
    entries = [f"**gate{n}** *value*\n: Opens gate {n} for the zebra. {about * 3}{n}\n\n" for n in range(30)]
    text = "# Gates\n\n" + "".join(entries)
    begins = {text.index(entry) for entry in entries}
    for passage in rank_sources([text], ["zebra gate"])[0]:
        assert passage.start in {0, *begins}
        assert passage.end in {len(text), *begins}


def test_no_passage_ends_with_a_heading() -> None:
    title = "A heading of the length of a whole sentence, as manuals and news often have it"
    text = "\n\n".join(f"# {title} {n}\n\n## Zebra, {title} {n}\n\n{PLAIN}" for n in range(4))
    for passage in rank_sources([text], ["zebra heading manuals"])[0]:
        assert not text[passage.start : passage.end].rstrip().rsplit("\n", 1)[-1].startswith("#")


def test_a_short_window_is_joined_with_the_next_one() -> None:
    text = "# Zebra\n\n" + PLAIN + "\n\nRead more\n"
    (found,) = rank_sources([text], ["zebra"])
    assert all(len(text[p.start : p.end].strip()) >= SHORT_CHARS for p in found)


def test_a_passage_that_two_phrasings_match_ranks_above_the_best_of_one() -> None:
    both, one = "The zebra has stripes. " + PLAIN, "The quagga quagga quagga. " + PLAIN
    first, second = rank_sources([both, one], ["zebra stripes", "striped zebra", "quagga"])
    assert first[0].score > second[0].score
    assert second[0].coverage > 0.9


def test_the_best_passage_for_each_part_of_a_question_scores_as_high_as_for_the_whole() -> None:
    pumps = "# Pumps\n\n" + "The pump of the keeper needs oil each morning. " * 3 + PLAIN
    mills = PLAIN + "\n\nWind moves the sails."
    question = "How much oil does the keeper give the pump each morning, and what moves the sails?"
    first, second = rank_sources([pumps, mills], [question])
    assert second[0].score == first[0].score
    assert "sails" in mills[second[0].start : second[0].end]


def test_a_passage_has_the_heading_above_it_and_its_share_of_the_query() -> None:
    text = "# Animals\n\n## Stripes\n\n" + PLAIN + "\n\nThe zebra came. " + PLAIN
    best = rank_sources([text], ["zebra unicorn"])[0][0]
    assert best.label == " Stripes"
    assert 0.2 < best.coverage < 0.8


def test_packed_passages_are_in_reading_order_and_adjacent_ones_are_joined() -> None:
    text = "0123456789"
    ((one, two),) = Packer([text], ((Passage(2, 4, 3.0), Passage(4, 5, 2.0), Passage(6, 8, 1.0)),)).pack(1_000).passages
    assert one == Passage(2, 5, 3.0)
    assert two == Passage(6, 8, 1.0)


def test_a_gap_line_has_a_label_unless_it_repeats_the_previous_label_or_span() -> None:
    text = "0123456789"
    assert (
        join_spans(text, [(2, 4), (6, 8)], [" A", " A"])
        == f"{gap_line(0, 2, ' A')}23\n{gap_line(4, 6)}67\n{gap_line(8, 10)}"
    )
    assert gap_line(4, 6, " B") in join_spans(text, [(2, 4), (6, 8)], [" A", " B"])
    assert gap_line(4, 6, " 3") not in join_spans(text, [(2, 4), (6, 8)], [" A", " 3"])


def test_gap_lines_are_lines_of_their_own() -> None:
    assert join_spans("0123456789", [(2, 4), (6, 10)]) == f"{gap_line(0, 2)}23\n{gap_line(4, 6)}6789"
    assert join_spans("0123456789", []) == gap_line(0, 10)
    assert join_spans("01\n3456789", [(0, 3)]) == f"01\n{gap_line(3, 10)}"
    assert join_spans("", []) == ""


def test_a_frequent_word_of_one_page_is_rare_if_other_pages_lack_it() -> None:
    alone = score_query(Index(PUMPS + "Oil."), "pump oil")
    together, _ = score_together([Index(PUMPS + "Oil."), Index(MILLS * 9)], "pump oil")
    assert together.idf[0] > alone.idf[0]


def test_a_single_text_has_the_scores_of_score_query() -> None:
    (together,) = score_together([Index(PUMPS + MILLS)], "water oil")
    assert dict(together.stages)["form"] == score_query(Index(PUMPS + MILLS), "water oil").scores


def test_pages_in_different_languages_share_term_weights() -> None:
    german = "Die Pumpe ist leise, und sie braucht ein wenig Wasser oder Öl, wenn sie nicht laut sein soll.\n\n" * 9
    texts = score_together([Index(MILLS), Index(german)], "water wasser")
    assert len({tuple(round(weight, 9) for weight in each.idf) for each in texts}) == 1


def test_a_text_without_words_of_the_query_has_no_scores() -> None:
    pumps, mills = score_together([Index(PUMPS), Index(MILLS)], "pump")
    assert pumps.scores
    assert mills.scores == []
    assert score_together([], "pump") == []


def test_a_word_of_few_pages_weighs_more_than_a_word_of_all_pages_with_as_many_windows() -> None:
    everywhere = [Index(MILLS + f"Number {number}. The mill has a wheel.") for number in range(3)]
    (first, *_) = score_together([Index(MILLS + "The zebra. " * 3), *everywhere], "zebra wheel")
    zebra, wheel = first.idf
    assert zebra > wheel


def test_a_page_whose_title_has_the_words_of_the_question_gains_score() -> None:
    texts = ["The zebra sleeps. " + PLAIN, "The zebra eats. " + PLAIN]
    (with_name,), (without,) = (ranked[:1] for ranked in rank_sources(texts, ["zebra"], ["Zebras", "Quaggas"]))
    assert with_name.score > 1.5 * without.score


def test_a_passage_that_only_repeats_the_question_ranks_below_the_evidence_of_other_pages() -> None:
    question = "Which stripes does the zebra of the county have?"
    texts = [f"# {question}\n\n{question} Everything you need to know.", "The zebra has stripes. " + PLAIN]
    echo, answer = rank_sources(texts, [question], [question, "Animals"])
    assert max(passage.score for passage in echo) <= ECHO_SHARE * answer[0].score
    assert echo[0].score > 0


def test_if_every_page_repeats_the_question_the_passages_keep_their_scores() -> None:
    question = "could not open the file of the zebra"
    assert rank_sources([f"Error: {question}."], [question])[0][0].score > 0.5
