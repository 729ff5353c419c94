"""The headings of plain text are found by their form."""

from __future__ import annotations

import pytest

from keyhole.passages.index import Index
from keyhole.passages.labels import gap_label
from keyhole.passages.plain_headings import find_plain_headings

BODY = "The committee met in the long hall,\nand spoke about the price of grain.\n\n" * 4


def headings_of(*lines: str) -> list[str]:
    """Return the headings of a text with these lines, each above some paragraphs."""
    text = "".join(f"{line}\n\n{BODY}" for line in lines)
    return [text[heading.start : heading.end] for heading in find_plain_headings(text)]


@pytest.mark.parametrize(
    "form",
    [
        "Version 4.{} (19 Jan 2020)",
        "Changes with nginx 1.22.{}                         24 May 2022",
        "* Noteworthy changes in release 3.8.{} (2021-09-25) [stable]",
        "tmux 3.{}",
        "v2.9.{}: May 02 2022:",
        "*** Version 3.0.{} stable ***",
        "debian-edu-doc (2.12.{}) unstable; urgency=medium",
        "from 2.7.{} to 2.8.0",
        "2001-12-2{}  Jeff Hobbs  <jeff@example.org>",
        "Sat May 1{} 12:00 2001 Gerard Roudier (gerard@example.org)",
        "2020010{}",
    ],
)
def test_lines_with_a_version_or_a_date_are_headings(form: str) -> None:
    lines = [form.format(number) for number in range(4)]
    assert headings_of(*lines) == lines


@pytest.mark.parametrize(
    "form",
    [
        "* Updated to autoconf 2.5{}, automake 1.9.5, and others",
        "It needs version 2.{} of the pump and nothing else.",
        "(3.19.{}.RC1: 02 Apr 2022)",
        "In 198{} the town had two bridges",
    ],
)
def test_sentences_with_a_version_are_no_headings(form: str) -> None:
    assert headings_of(*(form.format(number) for number in range(4))) == []


def test_sections_have_the_level_of_their_numbers_and_underlines() -> None:
    text = "".join(f"{line}\n\n{BODY}" for line in ("1. Pumps", "1.1. Wells", "1.1.1 Depth", "2. Bridges"))
    assert [heading.level for heading in find_plain_headings(text)] == [2, 3, 4, 2]
    text = "".join(f"{line}\n\n{BODY}" for line in ("Pumps\n=====", "Wells\n-----", "Depth\n~~~~~"))
    assert [heading.level for heading in find_plain_headings(text)] == [1, 2, 3]


def test_lines_in_capitals_are_headings_of_a_manual_page() -> None:
    lines = ["NAME", "SYNOPSIS", "SEE ALSO"]
    assert headings_of(*lines) == lines


def test_two_lines_of_a_form_are_no_headings() -> None:
    assert headings_of("Version 1.0", "Version 2.0") == []


def test_a_list_of_versions_has_no_headings() -> None:
    assert find_plain_headings("\n\n".join(f"release 1.{n}" for n in range(50))) == []


def test_a_text_with_headings_of_markdown_has_no_plain_headings() -> None:
    assert headings_of("# A", "# B", "# C", "Version 1.0", "Version 2.0", "Version 3.0") == []


def test_an_entry_of_plain_text_is_labelled_with_its_version() -> None:
    text = "".join(f"Version 4.{n} (19 Jan 2020)\n\n{BODY * 2}The pump of number {n} is new.\n\n" for n in range(9))
    index = Index(text)
    assert gap_label(index, index.window_at(text.index("number 5"))) == " Version 4.5 (19 Jan 2020)"


COMMENTS = "# The pump is started here,\n# unless the well is dry.\npump = 1\n\n# The valve\nvalve = 2\n\n"


@pytest.mark.parametrize(
    "text",
    [
        COMMENTS,
        "import pump\n\n\ndef start():\n    # One.\n    pump()\n\n    # Two.\n    well()\n",
        "#Port 22\n# Banner\n# none\nListen 80\n",
    ],
)
def test_comments_of_source_code_are_no_headings(text: str) -> None:
    assert Index(text).layout.headings == []


@pytest.mark.parametrize(
    "text",
    [
        "# Town\nThe hall.\n# Pump\nThe pump.\n## Well\nThe well.\n",
        "# Town\n## Pump\n\nThe pump.\n\n## Well\n\nThe well.\n\n## Valve\n\nIt.\n\n## Hall\n\nIt.\n\n## Road\n\nIt.\n",
        f"# Town\n\n```sh\n{COMMENTS}```\n\n# Pump\n\nThe pump.\n\n# Well\n\nThe well.\n",
    ],
)
def test_headings_of_markdown_stay_headings(text: str) -> None:
    assert len(Index(text).layout.headings) >= 3
