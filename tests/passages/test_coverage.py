"""Words that a question lists are all covered before words are repeated."""

from __future__ import annotations

import pytest

from keyhole.passages import index_text, select
from keyhole.passages.coverage import cover_lists
from keyhole.passages.selection import rank_windows, score_index

NAMES = ("workers", "naptime", "threshold", "scale", "freeze_age", "cost_delay", "cost_limit", "cost_page", "memory")


def manual() -> str:
    """Return a manual of settings whose entries share nearly all words."""
    entries = [
        f"`vacuum_{name}` (integer)\n: Specifies the {name} that the daemon uses when it decides about tables. The "
        f"default is {number} for this setting. It can only be set in the file of the server or on its command line; "
        "tables can override it by their storage parameters, which are described with the statement that makes them."
        for number, name in enumerate(NAMES, start=40)
    ]
    return "# Settings\n\nThese settings control the daemon.\n\n" + "\n\n".join(entries) + "\n\n" + "More. " * 900


@pytest.mark.parametrize("query", ["default of naptime and cost_limit", "default of cost_limit, threshold and memory"])
def test_each_entry_that_a_question_lists_is_shown_in_a_small_result(query: str) -> None:
    shown = select(manual(), query, 1_400).text
    for name in NAMES:
        if name in query:
            assert f"The default is {40 + NAMES.index(name)} " in shown


def test_each_window_is_ranked_once() -> None:
    scored = score_index(index_text(manual()), "default of naptime and cost_limit")
    assert sorted(rank_windows(scored)) == list(range(scored.index.size))
    assert set(cover_lists(scored, scored.order)) == set(scored.order)


def test_a_question_without_a_list_keeps_the_order_of_the_scores() -> None:
    scored = score_index(index_text(manual()), "default of the naptime setting")
    assert rank_windows(scored) == scored.order
