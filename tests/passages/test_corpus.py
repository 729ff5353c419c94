"""Scores of several texts compare: how rare a word is, is told by all of them together."""

from __future__ import annotations

from keyhole.passages.corpus import scored_together
from keyhole.passages.find import Index
from keyhole.passages.rank import score

PUMPS = "The pump is quiet. Every pump needs oil, and a pump without oil is loud.\n\n" * 9
MILLS = "The mill grinds grain. A mill needs water, and a mill without water stands still.\n\n" * 9


def test_a_word_that_fills_its_page_is_rare_where_other_pages_lack_it() -> None:
    alone = score(Index(PUMPS + "Oil."), "pump oil")
    together, _ = scored_together([Index(PUMPS + "Oil."), Index(MILLS * 9)], "pump oil")
    assert together.idf[0] > alone.idf[0]


def test_one_text_alone_has_the_scores_of_a_page() -> None:
    (together,) = scored_together([Index(PUMPS + MILLS)], "water oil")
    assert dict(together.stages)["form"] == score(Index(PUMPS + MILLS), "water oil").scores


def test_a_page_of_another_language_has_the_same_weights() -> None:
    german = "Die Pumpe ist leise, und sie braucht ein wenig Wasser oder Öl, wenn sie nicht laut sein soll.\n\n" * 9
    texts = scored_together([Index(MILLS), Index(german)], "water wasser")
    assert len({tuple(round(weight, 9) for weight in each.idf) for each in texts}) == 1


def test_a_text_without_any_word_of_the_query_has_no_scores() -> None:
    pumps, mills = scored_together([Index(PUMPS), Index(MILLS)], "pump")
    assert pumps.scores
    assert mills.scores == []
    assert scored_together([], "pump") == []
