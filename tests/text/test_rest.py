"""The lines above the parts of a page's rest can be read back from the text."""

from __future__ import annotations

from keyhole.text.rest import describe_rest, format_rest_line


def test_a_line_names_the_kind_and_the_heading_above_it() -> None:
    assert format_rest_line("navigation") == "# [rest: navigation]"
    assert format_rest_line("related links", "More news") == "# [rest: related links, under “More news”]"


def test_a_long_heading_is_shortened() -> None:
    line = format_rest_line("comments", "word " * 100)
    assert len(line) < 130
    assert line.endswith("…”]")


def test_the_description_lists_each_kind_once_in_order() -> None:
    lines = [format_rest_line("navigation"), "- [Home](/)", format_rest_line("footer", "A “quoted” word"), "© 2026"]
    lines += [format_rest_line("footer"), "Imprint", "## [rest: form]"]
    assert describe_rest("\n\n".join(lines)) == "navigation, 2 × footer"


def test_a_text_without_parts_has_an_empty_description() -> None:
    assert describe_rest("Nothing here.") == ""
