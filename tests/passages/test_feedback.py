"""The second round: where the words and names of the best windows lead on the same page."""

from __future__ import annotations

from keyhole.passages.feedback import with_feedback
from keyhole.passages.find import Index
from keyhole.passages.rank import Scored, score

PLAIN = "The committee met in the long hall and spoke about the price of grain, roads and bridges for the county. " * 4
ROOM = "\n\n" + PLAIN + "\n\n"


def gained(text: str, query: str, stage: str) -> tuple[Scored, list[float]]:
    """What a stage added to each window."""
    found = with_feedback(score(Index(text), query))
    names = [name for name, _ in found.stages]
    at = names.index(stage)
    before, after = found.stages[at - 1][1], found.stages[at][1]
    return found, [new - old for new, old in zip(after, before, strict=True)]


def test_a_name_in_the_best_window_raises_the_other_place_that_has_it() -> None:
    text = ROOM * 6 + "The bridge was drawn by Wilhelmine Okonkwo." + ROOM * 12
    text += "Okonkwo was born in Lagos." + ROOM * 12 + "Someone was born in Paris." + ROOM * 6
    found, more = gained(text, "where was who drew the bridge drawn", "feedback")
    lagos, paris = (found.index.window_at(text.index(city)) for city in ("Lagos", "Paris"))
    assert more[lagos] > more[paris]
    assert more[lagos] > 0


def test_a_section_named_in_the_best_window_has_its_opening_raised() -> None:
    text = "# Guide\n\n" + ROOM * 6 + "The zebra is described under Quagga hunting." + ROOM * 6
    text += "## Quagga hunting\n\nIt ended long ago.\n\n" + PLAIN * 6 + "\n\n## Fishing\n\nIt goes on.\n\n" + PLAIN * 6
    found, more = gained(text, "zebra described", "links")
    opening, other = (found.index.window_at(text.index(words)) for words in ("It ended", "It goes on"))
    assert more[opening] > 0
    assert more[other] == 0


def test_a_title_that_is_only_part_of_a_word_is_no_mention() -> None:
    text = "# Guide\n\n" + ROOM * 6 + "The zebra is among the quaggalike ones." + ROOM * 6
    text += "## Quagga\n\nIt ended long ago.\n\n" + PLAIN * 6
    _, more = gained(text, "zebra", "links")
    assert set(more) == {0.0}


def test_nothing_found_has_no_second_round() -> None:
    assert with_feedback(score(Index(ROOM), "zebra")).stages == []


def test_no_window_loses_by_the_second_round() -> None:
    text = ROOM * 6 + "The bridge was drawn by Wilhelmine Okonkwo." + ROOM * 3 + "Okonkwo was born in Lagos." + ROOM
    for stage in ("feedback", "links"):
        assert min(gained(text, "bridge", stage)[1]) >= 0
