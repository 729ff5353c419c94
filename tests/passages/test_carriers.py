"""The lines without which a passage cannot be understood are found above it."""

from __future__ import annotations

import pytest

from keyhole.passages.carriers import (
    SEARCH_LINES,
    find_documented,
    find_group,
    find_header,
    find_post,
    find_signature,
    find_terms,
)
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


def test_a_row_has_the_nearest_row_of_one_cell_above_it() -> None:
    text = "| town | souls |\n| --- | --- |\n| North |\n| a | 1 |\n| South \\| |\n| b | 2 |\n| c | 3 |\n"
    groups = [find_group(Index(text), text.index(row)) for row in ("| a", "| b", "| c", "| North")]
    assert [group and text[slice(*group)] for group in groups] == ["| North |", "| South \\| |", "| South \\| |", None]


def test_the_rows_of_a_table_of_one_column_head_nothing() -> None:
    text = "| town |\n| --- |\n| a |\n| b |\n"
    assert find_group(Index(text), text.index("| b")) is None


def test_a_row_of_the_longest_table_has_its_header() -> None:
    text = "| town | souls |\n|---|---|\n" + "| a town of the north | 12 |\n" * 6_000
    assert find_header(Index(text), text.rindex("| a town")) == (0, len("| town | souls |"))
    assert find_header(Index(text), 0) is None


def post_of(text: str, words: str) -> str | None:
    """Return the line with the author of the post with some words."""
    post = find_post(Index(text), text.index(words))
    return text[slice(*post)] if post else None


def test_a_passage_of_a_post_has_its_author() -> None:
    text = "Begin.\n\n**Ann** · May 2, 2020 · 4\n\nThe pump.\n\nIt runs.\n\n**Bo** · posted 2 years ago\n\nThe well.\n"
    assert post_of(text, "It runs") == "**Ann** · May 2, 2020 · 4"
    assert post_of(text, "The well") == "**Bo** · posted 2 years ago"
    assert post_of(text, "Begin") is None


def test_a_post_of_a_phpbb_forum_has_its_author() -> None:
    lines = [f"[Post](/p{n}) by **[Ann{n}](/u{n})** » Sat Feb 24, 2024 5:3{n} pm\n\nPump {n}.\n\n" for n in range(2)]
    assert (post_of("".join(lines), "Pump 1") or "").startswith("[Post](/p1) by")


def test_one_line_in_bold_is_no_author() -> None:
    assert post_of("**Note** · of the town\n\nThe pump.\n", "The pump") is None


@pytest.mark.parametrize(
    ("source", "line"),
    [
        ("/**\n * Starts it.\n * @since 2.0\n */\npublic void start(int speed) {\n", "public void start(int speed) {"),
        ("// Starts it.\n// @since 2.0\nfunc (p *Pump) Start() error {\n", "func (p *Pump) Start() error {"),
        ("# Starts it.\n# @since 2.0\ndef start\n", "def start"),
        ("/// Starts it.\n/// @since 2.0\npub fn start(&self) {\n", "pub fn start(&self) {"),
        ("-- Starts it.\n-- @since 2.0\nlocal speed = 3\n", "local speed = 3"),
        ("// @since 2.0\n\nfunc Start() {\n", None),
        ("// @since 2.0\n// and on.\n", None),
        ("// @since 2.0\nif (speed) {\n", None),
        ("- @since 2.0 it runs.\n", None),
    ],
)
def test_a_comment_has_the_line_of_code_below_it(source: str, line: str | None) -> None:
    start = source.rindex("\n", 0, source.index("@since")) + 1 if "\n" in source[: source.index("@since")] else 0
    found = find_documented(Index(source), start, source.index("@since") + 6)
    assert (source[slice(*found)] if found else None) == line


def test_a_passage_that_shows_the_function_does_not_name_it() -> None:
    source = "// Starts it.\nfunc Start() {\n}\n"
    assert find_documented(Index(source), 0, len(source)) is None


@pytest.mark.parametrize(
    "signature",
    ["#dump(io, limit = -1) → String", "static close()", "`open!()`", "Foo.bar(a, b): Promise", "int size(char c);"],
)
def test_the_signature_above_a_description_is_found_where_it_is_no_heading(signature: str) -> None:
    text = f"# Wrapper\n\n{signature}\n\nWrites it down and closes it.\n\nThis wraps the content.\n"
    index = Index(text)
    found = find_signature(index, text.index("This wraps"))
    assert found is not None
    assert text[slice(*found)] == signature
    assert find_signature(index, text.index(signature)) is None


@pytest.mark.parametrize(
    "above",
    [
        "close()\n\nAnother entry",
        "close()\n\n# Another",
        "He (it is said) wrote it (all of it).",
        "```\nclose()\n```",
        "def close():\n    raise Closed(self)",
    ],
)
def test_a_line_that_is_no_signature_or_of_another_entry_is_no_carrier(above: str) -> None:
    text = f"# Wrapper\n\n{above}\n\nThis wraps the content.\n"
    assert find_signature(Index(text), text.index("This wraps")) is None


def test_a_branch_of_a_function_is_no_carrier_but_the_function_is() -> None:
    text = (
        "class Pump:\n    def close(self):\n        if late:\n            go()\n        else:\n            return 1\n"
    )
    assert terms_above(text, "return 1") == ["class Pump:", "def close(self):"]
