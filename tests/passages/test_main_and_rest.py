"""Passages come from the main part of a page, and from its rest if the rest answers better."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from keyhole.passages import cut_to_ranked, index_text, select
from keyhole.passages.labels import gap_label

PUMPS = "The seal of the pump was replaced in spring, and the engineers wrote a long report about its wear. " * 4
MAIN = "# Pumps\n\n" + "".join(f"## Part {n}\n\n{PUMPS}\n\n" for n in range(12))
REST = (
    "\n# [rest: navigation]\n\n- [Home](/)\n- [Products](/products)\n\n"
    "# [rest: footer]\n\n## Contact\n\nWrite to the office in Lucerne by letter; the telephone is answered at noon.\n\n"
    + "Opening hours differ in winter, when the lake road is closed for lorries. " * 8
    + "\n\n## Imprint\n\nThe telephone exchange of Lucerne connects all calls to the director's office at once.\n"
)
TEXT, MAIN_END = MAIN + REST, len(MAIN)
WORDS = st.sampled_from(["pump", "seal", "report", "Lucerne", "telephone", "rest", "navigation", "footer", "zebra"])
QUERIES = st.lists(WORDS, min_size=1, max_size=4).map(" ".join)
PARTS = st.lists(st.sampled_from([PUMPS, "Ponies graze.\n\n", "## Lucerne\n\n", "# Office\n\n", "zebra\n", "| a |\n"]))


def test_a_query_that_the_main_part_answers_is_not_answered_from_the_rest() -> None:
    assert cut_to_ranked(index_text(TEXT, MAIN_END), "seal of the pump").text == MAIN
    assert select(TEXT, "seal of the pump", 2_000, main_end=MAIN_END) == select(MAIN, "seal of the pump", 2_000)


def test_a_query_that_only_the_rest_answers_is_answered_from_it() -> None:
    selection = select(TEXT, "telephone office Lucerne", 2_000, main_end=MAIN_END)
    assert selection.total == len(TEXT)
    assert "telephone is answered at noon" in selection.text
    assert any(end > MAIN_END for _, end in selection.spans)


def test_words_that_only_the_rest_has_are_counted_there_and_not_called_absent() -> None:
    main = MAIN + "The gauge of the zebra house shows four bar in Geneva.\n"
    selection = select(main + REST, "gauge zebra Geneva telephone quagga", 2_000, main_end=len(main))
    terms = {term.term: term for term in selection.terms}
    assert selection.total == len(main)
    assert terms["telephone"].in_rest and terms["telephone"].count == 2
    assert not terms["gauge"].in_rest and not terms["quagga"].count


def test_a_query_that_nothing_answers_gets_the_head_and_tail_of_the_main_part() -> None:
    for query in ("zebra", None, " "):
        selection = select(TEXT, query, 2_000, main_end=MAIN_END)
        assert (selection.strategy, selection.total) == ("head_tail", MAIN_END)


def test_the_words_of_the_lines_above_the_parts_match_no_query() -> None:
    for query in ("navigation", "rest", "footer", "rest of the pump"):
        assert select(TEXT, query, 2_000, main_end=MAIN_END).total == MAIN_END


def test_a_passage_of_the_rest_is_labelled_with_its_part_and_its_heading() -> None:
    index = index_text(TEXT, MAIN_END)
    window = index.window_at(TEXT.rindex("Opening hours"))
    assert gap_label(index, window) == " [rest: footer] Contact"
    assert gap_label(index, index.window_at(TEXT.index("## Imprint"))) == " [rest: footer]"
    assert gap_label(index, index.window_at(TEXT.index("# [rest: footer]"))) == ""
    assert gap_label(index, window, [(TEXT.index("# [rest: footer]"), TEXT.index("Write to"))]) == ""


def test_a_heading_of_the_main_part_that_imitates_a_part_of_the_rest_is_a_heading() -> None:
    text = f"# [rest: form]\n\n{PUMPS}\n\n## Wear\n\n{PUMPS * 2}{REST}"
    index = index_text(text, len(text) - len(REST))
    assert [line.kind for line in index.rest_lines] == ["navigation", "footer"]
    assert gap_label(index, index.window_at(text.index("## Wear") + 500)) == " Wear"


@given(main=PARTS, rest=PARTS, query=QUERIES | st.none(), size=st.integers(0, 4_000))
def test_passages_with_a_rest_are_verbatim_in_order_and_within_the_limit(
    main: list[str], rest: list[str], query: str | None, size: int
) -> None:
    first, second = "".join(main), "".join(rest)
    text = f"{first}\n# [rest: footer]\n\n{second}"
    selection = select(text, query, size, main_end=len(first), shown_before=[(0, len(first) // 2)])
    assert len(selection.text) <= size
    assert selection.total in (len(first), len(text))
    position = 0
    for start, end in selection.spans:
        assert position <= start < end <= selection.total
        assert text[start:end] in selection.text
        position = end


@given(main=PARTS, query=QUERIES | st.none(), size=st.integers(0, 4_000))
def test_without_a_rest_the_end_of_the_main_part_changes_nothing(main: list[str], query: str | None, size: int) -> None:
    text = "".join(main)
    assert select(text, query, size, main_end=None) == select(text, query, size)
