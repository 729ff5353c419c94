"""HTML in Markdown becomes Markdown, comments go, and code and placeholders stay."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from keyhole.extract import extract
from keyhole.extract.formats.markdown_html import replace_html
from tests.support.machine import allowed

URL = "https://docs.example/README.md"


@pytest.mark.parametrize(
    ("written", "stored"),
    [
        ('<h1 align="center">Name</h1>\n\ntext\n', "# Name\n\ntext\n"),
        ('<div dir="rtl">\n\n## متن\n\n</div>\n', "## متن\n\n"),
        ('<a id="install"></a>\n## Install\n', "\n## Install\n"),
        ('<p align=center>\n<a href="https://x.example">Docs</a>\n</p>\n', "[Docs](https://x.example)\n"),
        ("Press <kbd>Ctrl</kbd> for H<sub>2</sub>O.<br>More", "Press `Ctrl` for H2O.\nMore"),
        ("See <a href='a b'>it</a>.", "See [it](<a b>)."),
        ('# <img src=x.svg alt="Logo of it" /> Name', "# [Image: Logo of it] Name"),
        ("<details><summary>More</summary>\n\n- a\n\n</details>\n", "**More**\n\n- a\n\n"),
        ("<table><tr><th>a<th>b<tr><td>1<td>2</table>\n", "| a | b |\n| --- | --- |\n| 1 | 2 |\n"),
        ("| a | x<br>y |\n", None),
        ("a <!-- secret --> b\n\n<!-- two\n\nparagraphs -->\nc\n", "a  b\n\nc\n"),
        ("The sign <!-- begins a comment.", None),
        ("`<h1 align=x>` and ``<b>`x`</b>``", None),
        ('```html\n<div dir="rtl">\n```\n', None),
        ("Text:\n\n    <div class=x>\n\n    </div>\n", None),
        ("Copy <source> to <dest>, Vec<a>, <https://x.example> and Map<T>.", None),
        ("<Tabs>\n<Tab>x</Tab>\n</Tabs>\n", None),
        ("a < b and c > d", None),
        ("<pre>\na\n\n b\n</pre>\nend\n", "```\na\n\n b\n```\nend\n"),
    ],
)
def test_html_becomes_markdown_and_code_stays(written: str, stored: str | None) -> None:
    assert replace_html(written, URL) == (written if stored is None else stored)


@given(st.text(st.sampled_from("abc \n#-|&;:()[]!*_\t") | st.characters(exclude_characters="<"), max_size=80))
def test_a_text_without_tags_is_unchanged(text: str) -> None:
    assert replace_html(text, URL) == text
    assert replace_html(f"{text}\n\n1 < 2\n", URL) == f"{text}\n\n1 < 2\n"


@pytest.mark.parametrize(
    ("text", "title"),
    [
        ('<h1 align="center"><img alt="Zephyr" src="z.svg"></h1>\n\n## Install\n', "Zephyr"),
        ('<p align="center"><img alt="Zephyr logo" src="z.svg"></p>\n\n## Install\n\n## Use\n', "Zephyr"),
        ("[![Zephyr](z.svg)](https://z.example)\n\n# Install\n\n# Use\n", "Zephyr"),
        ("![Zephyr](z.svg)\n\n# The Zephyr engine\n\n## Install\n", "The Zephyr engine"),
        ("[![Build status](https://ci.example/b.svg)](https://ci.example)\n\n## Factory\n", "Factory"),
        ("# [Zephyr](https://z.example) [![ci](b.svg)](https://ci.example)\n", "Zephyr"),
        ("# `zephyr` - a **tool** #\n", "zephyr - a tool"),
        ("Zephyr\n======\n\n## Install\n", "Zephyr"),
        ("![](z.svg)\n\n## Install\n", "Install"),
    ],
)
def test_a_readme_is_named_by_its_heading_or_logo(text: str, title: str) -> None:
    assert extract(text.encode(), url=URL, content_type="text/markdown").title == title


@pytest.mark.parametrize(
    "piece",
    ["<a ", "<a href=x>", "<!--", "<b>", "</b>", "<div>\n\n", "<div ", "`<", "``x\n", "<pre>\n", "    <p>\n\n", "<p>x"],
)
def test_no_html_is_slow_to_replace(piece: str) -> None:
    begun = time.process_time()
    replace_html(piece * (100_000 // len(piece)) + "</b></a></div></p>" * 5_000, URL)
    assert time.process_time() - begun < allowed(8)
