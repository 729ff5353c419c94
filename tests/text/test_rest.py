"""The lines above the parts of a page's rest can be read back from the text."""

from __future__ import annotations

from keyhole.text.rest import blank_rest_lines, describe_rest, find_rest_lines, format_rest_cut, format_rest_line


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


def test_lines_are_found_only_in_the_rest() -> None:
    text = "# [rest: form]\n\nPumps.\n\n# [rest: footer]\n\nImprint\n"
    (line,) = find_rest_lines(text, 24)
    assert (text[line.start : line.end], line.kind) == ("# [rest: footer]", "footer")
    assert find_rest_lines(text, None) == ()


def test_lines_of_the_rest_are_replaced_by_as_many_spaces() -> None:
    text = f"# [rest: form]\n\n# [rest: footer, under “A”]\n\nImprint\n{format_rest_cut(5)}\n"
    blank = blank_rest_lines(text, 16)
    assert len(blank) == len(text)
    assert blank.split() == ["#", "[rest:", "form]", "Imprint"]
    assert blank_rest_lines(text, None) == text
