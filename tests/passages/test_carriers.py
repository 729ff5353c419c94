"""The lines without which a passage cannot be understood are found above it."""

from __future__ import annotations

from keyhole.passages.carriers import SEARCH_LINES, find_header, find_terms
from keyhole.passages.index import Index


def terms_above(text: str, words: str) -> list[str]:
    """Return the terms above the place of some words."""
    return [text[start:end] for start, end in find_terms(Index(text), text.index(words))]


def test_a_description_has_its_term() -> None:
    text = "wait_for(timeout)\n: Waits.\n\n  It returns the pump.\n"
    assert terms_above(text, "Waits") == ["wait_for(timeout)"]
    assert terms_above(text, "It returns") == ["wait_for(timeout)"]


def test_the_second_description_of_a_term_has_it_too() -> None:
    assert terms_above("pump\n: One.\n: Two.\n", "Two") == ["pump"]


def test_a_nested_description_has_both_terms_outermost_first() -> None:
    text = "class Pump\n: A pump.\n\n  start(speed)\n  : Starts it.\n\n    It may be slow.\n"
    assert terms_above(text, "It may") == ["class Pump", "start(speed)"]


def test_code_in_a_description_has_its_term() -> None:
    text = "pump\n: Runs.\n\n  ```python\n  if x:\n      run()\n  ```\n"
    assert terms_above(text, "run()") == ["pump"]


def test_a_nested_item_has_the_item_above_it() -> None:
    assert terms_above("- Pumps:\n  - of iron\n  - of wood\n- Wells\n", "of wood") == ["- Pumps:"]


def test_a_method_has_its_class() -> None:
    source = "class Pump:\n    speed = 1\n\n    def start(self):\n        self.run()\n"
    assert terms_above(source, "self.run") == ["class Pump:", "    def start(self):".strip()]


def test_an_option_of_a_manual_page_is_the_term_of_the_text_below_it() -> None:
    assert terms_above("OPTIONS\n       -v, --verbose\n              Print more.\n", "Print") == [
        "OPTIONS",
        "-v, --verbose",
    ]


def test_text_after_a_description_has_no_term() -> None:
    assert terms_above("pump\n: Runs.\n\nAnother paragraph.\n", "Another") == []


def test_a_paragraph_with_an_indent_has_no_term() -> None:
    text = "The committee met in the hall,\nand spoke.\n\n   Then it went home.\n"
    assert terms_above(text, "Then") == []


def test_the_search_for_a_term_is_bounded() -> None:
    text = "pump\n: Runs.\n" + "  It turns.\n" * (SEARCH_LINES + 5)
    assert find_terms(Index(text), len(text) - 5) == []


def test_a_row_of_the_longest_table_has_its_header() -> None:
    text = "| town | souls |\n|---|---|\n" + "| a town of the north | 12 |\n" * 6_000
    assert find_header(Index(text), text.rindex("| a town")) == (0, len("| town | souls |"))
    assert find_header(Index(text), 0) is None
