"""The sections of a manual are main part together."""

from __future__ import annotations

from keyhole.extract.html.boilerplate.classify import include_sections
from keyhole.extract.html.boilerplate.segments import segment
from keyhole.extract.html.tree import parse_html

SECTION = "<div class='sect1 x'><h2>Title</h2><p>A sentence of the section, {}.</p></div>"
PAGE = f"<body><div>Menu</div><div>{SECTION.format('first')}{SECTION.format('second')}{SECTION.format('third')}</div>"


def judge(html: str, is_main: list[bool]) -> list[bool]:
    return include_sections(segment(parse_html(html)).blocks, is_main)


def test_a_section_beside_sections_of_the_main_part_is_main() -> None:
    assert judge(PAGE, [False, *[True] * 4, False, False]) == [False, *[True] * 6]


def test_a_section_beside_sections_of_the_rest_is_not_main() -> None:
    is_main = [False, True, True, *[False] * 4]
    assert judge(PAGE, is_main) == is_main


def test_a_section_of_links_is_not_added() -> None:
    links = PAGE.replace("<p>A sentence of the section, third.</p>", "<p><a href=/x>See also this page</a></p>")
    is_main = [False, *[True] * 4, False, False]
    assert judge(links, is_main) == is_main


def test_boxes_without_a_heading_or_the_class_of_a_section_are_not_sections() -> None:
    for page in (PAGE.replace("sect1", "box"), PAGE.replace("h2", "b")):
        is_main = [number < 2 for number in range(len(segment(parse_html(page)).blocks))]
        assert judge(page, is_main) == is_main


def test_a_section_may_begin_with_a_menu_of_the_manual_which_is_not_added() -> None:
    menu = "<table><tr><td><a href=/n>Next</a></table><h2>"
    page = PAGE.replace("sect1 x", "subsection").replace("<h2>", menu)
    menus = [False, True, True]
    assert judge(page, [False, *menus, *menus, *[False] * 3]) == [False, *menus * 3]
