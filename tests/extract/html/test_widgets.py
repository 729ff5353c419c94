"""The options of a list are kept, and the one that a closed list shows is named first."""

from __future__ import annotations

import pytest

from keyhole.extract.html.page import html_to_markdown


@pytest.mark.parametrize(
    ("html", "words"),
    [
        ("<select><option>North<option>South<option>East</select>", "North (of North, South, East)"),
        ("<select><option>North<option selected>South</select>", "South (of North, South)"),
        ("<select><option>North</select>", "North"),
        ("<select><option value=1 label=North><option><option>South</select>", "North (of North, South)"),
        ("<select><option><option>South</select>", "(of South)"),
        ("<select multiple><option>North<option>South</select>", "North, South"),
        ("<select size=4><option>North<option>South</select>", "North, South"),
        ("<select></select>", ""),
    ],
    ids=str,
)
def test_every_option_of_a_list_is_kept(html: str, words: str) -> None:
    page = html_to_markdown(f"<body><p>Region: {html}</p></body>", "https://example.org/")
    assert page == f"Region: {words}".rstrip() + "\n"


@pytest.mark.parametrize(
    ("html", "text"),
    [
        ("<ul><li><input type=checkbox id=dark><label for=dark></label><li>a</ul>", "- a\n"),
        ("<ul><li><input type=checkbox id=m><label for=m>a</label><ul><li>b</ul></ul>", "- a\n  - b\n"),
        ("<ul><li><input type=checkbox disabled> a<ul><li><input type=checkbox> b</ul></ul>", "- [ ] a\n  - [ ] b\n"),
        ("<ul><li><label><input type=checkbox id=t checked>a</label></ul>", "- [x] a\n"),
    ],
)
def test_the_boxes_of_tasks_stay_and_the_switches_of_a_page_go(html: str, text: str) -> None:
    assert html_to_markdown(html, "https://e.org/") == text
