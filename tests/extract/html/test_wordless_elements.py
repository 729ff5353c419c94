"""Elements without text say what they say: icons, stars, ticks, protected addresses, exact dates and numbers."""

from __future__ import annotations

import time

import pytest

from keyhole.extract import extract
from keyhole.extract.html.page import html_to_markdown, read_html
from tests.support.machine import allowed

URL = "https://example.org/a"


def convert(html: str) -> str:
    return html_to_markdown(html, URL, URL).strip()


@pytest.mark.parametrize(
    ("html", "text"),
    [
        ("<p>Click <svg aria-label='Show options' role=img></svg>, then go.", "Click [Show options], then go."),
        ("<p>Press a<i class=icon title=Menu></i>b", "Press a [Menu] b"),
        ("<p>Press <button aria-label=Menu><svg></svg></button>, then go.", "Press [Menu], then go."),
        ("<p>Rated <span role=img aria-label='4.3 of 5 stars'><svg></svg></span>", "Rated [4.3 of 5 stars]"),
        ("<p><span aria-label='4 of 5'>★★★★☆</span>", "★★★★☆ (4 of 5)"),
        ("Ratings<div class=rating title='4.5 stars'></div>", "Ratings\n\n4.5 stars"),
        ("<p>Follow <a href=/rss aria-label='RSS feed'><svg></svg></a>", "Follow [RSS feed](/rss)"),
        ("<p><span title=required>*</span> Name", "* (required) Name"),
        ("<dl><dt>Pool<dd><svg><title>Closed</title></svg></dl>", "Pool\n: Closed"),
        ("<p>See</p><div role=img aria-label='Map of the quay'></div>", "See\n\nMap of the quay"),
        ("<p>See <img src=a.png role=img aria-label='Map of the quay'>", "See [Image: Map of the quay]"),
        ("<p>Charge <meter value=0.6 max=1>old</meter>", "Charge 0.6 of 1"),
    ],
)
def test_an_element_without_text_is_written_with_its_name(html: str, text: str) -> None:
    assert convert(html) == text


@pytest.mark.parametrize(
    ("cell", "text"),
    [
        ("<svg><title>Included</title><path></path></svg>", "Included"),
        ("<svg role=img aria-label=No></svg>", "No"),
        ("<i class=tick title=supported></i>", "supported"),
        ("<button aria-label=Partly><svg></svg></button>", "Partly"),
        ("<img src=y.png alt=yes>", "[Image: yes]"),
        ("<input type=checkbox checked>", "[x]"),
        ("<input type=checkbox disabled>", "[ ]"),
        ("<span role=checkbox aria-checked=true></span>", "[x]"),
    ],
)
def test_a_tick_in_a_table_is_written_in_every_row(cell: str, text: str) -> None:
    table = f"<table><tr><th>a<th>b<tr><td>yes<td>{cell}<tr><td>c<td>{cell}</table>"
    assert convert(table) == f"| a | b |\n| --- | --- |\n| yes | {text} |\n| c | {text} |"


@pytest.mark.parametrize(
    "icon",
    [
        "<i class=icon title=Menu aria-hidden=true></i>",
        "<span aria-hidden=true><svg aria-label=Menu></svg></span>",
        "<button aria-label=Close><svg></svg></button>",
        "<button aria-label=Copy><svg></svg></button> <button aria-label=Edit></button>",
        "<svg><title>Layer 1</title></svg>",
        "<svg><title>icon-arrow_left</title></svg>",
        "<a href='#a' aria-label='Permalink: words'><svg></svg></a>",
        "<a href='https://x.example/intent/post?u=1' aria-label=Post><svg></svg></a>",
        "<span class=share-bar><a href=/x aria-label=Mail><svg></svg></a></span>",
        "<i aria-label=words></i>",
        f"<i title='{'word ' * 60}'></i>",
    ],
)
def test_icons_that_nobody_hears_or_that_share_the_page_have_no_name(icon: str) -> None:
    assert convert(f"<p>Some words {icon}") == "Some words"


@pytest.mark.parametrize(
    "html",
    [
        "<ul><li><a href=https://s.example aria-label=Friends><svg></svg></a></ul><p>words",
        "<div><a href=/card aria-label='Read more'></a><p>words</p></div>",
        "<p><a href=/x>words<svg aria-label='(new tab)'></svg></a>",
    ],
)
def test_bars_of_icons_and_icons_beside_the_words_of_a_link_stay_as_they_are(html: str) -> None:
    assert convert(html).replace("[words](/x)", "words") == "words"


@pytest.mark.parametrize(
    ("html", "text"),
    [
        ("<pre>npm i <a href=/cdn-cgi/l/email-protection data-cfemail=b5ddd4c7d7dac0c7f5809b849b87>[email]</a></pre>",
         "```\nnpm i harbour@5.1.2\n```"),
        ("<p><a href=/cdn-cgi/l/email-protection#b5d1d0c6def5d0cdd4d8c5d9d09bdac7d2>the desk</a>",
         "[the desk](mailto:desk@example.org)"),
        ("<p><span data-cfemail=zz>kept</span>", "kept"),
    ],
)  # fmt: skip
def test_protected_mail_addresses_are_decoded(html: str, text: str) -> None:
    assert convert(html) == text


@pytest.mark.parametrize(
    ("html", "text"),
    [
        ("<time datetime=2026-03-14T10:00:00Z>8 months ago</time>", "8 months ago (2026-03-14)"),
        ("<time datetime=2026-03-14T10:00:00Z>3 hours ago</time>", "3 hours ago (2026-03-14 10:00)"),
        ("<time datetime=2026-05-02>2 May 2026</time>", "2 May 2026"),
        ("<time datetime=PT2H>2 h</time> <time datetime=2026-05-02></time>", "2 h"),
        ("<relative-time datetime=2026-05-02></relative-time>", "2026-05-02"),
        ("<span title='14 March 2026, 10:00'>yesterday</span>", "yesterday (14 March 2026, 10:00)"),
        ("<span title=2024-05-02T10:00><a href=/i>3 months ago</a></span>", "[3 months ago](/i) (2024-05-02)"),
        ("<span title=2026-03-14><time datetime=2026-03-14>8 mo.</time></span>", "8 mo. (2026-03-14)"),
        ("<span title='1,234,567'>1.2M</span> <b title='48 213 stars'>48k</b>", "1.2M (1,234,567) **48k (48 213)**"),
        ("<a href=/w title='2024 Summer Olympics'>Paris</a>", "[Paris](/w)"),
        ("<abbr title='Harbour Post'>HC</abbr>, <abbr title='Harbour Post'>HC</abbr>", "HC (Harbour Post), HC"),
        ("World Wide Web (<abbr title='World Wide Web'>WWW</abbr>)", "World Wide Web (WWW)"),
        ("sort(<abbr title='Keyword-only separator'>*</abbr>, key)", "sort(*, key)"),
        ("<code><abbr title=Long>L</abbr></code>", "`L`"),
    ],
)  # fmt: skip
def test_exact_values_of_attributes_stand_in_brackets(html: str, text: str) -> None:
    assert convert(f"<p>{html}") == text


def test_a_page_of_icons_alone_is_read_in_a_time_that_does_not_grow_with_their_square() -> None:
    icons = "<svg aria-label='Open sea'></svg>" * 5_000
    started = time.process_time()
    extract(
        f"<body><table><tr><td>Chart<td>{icons}</table>".encode(), url="https://a.example/", content_type="text/html"
    )
    assert time.process_time() - started < allowed(4)


@pytest.mark.parametrize(
    ("cell", "count"),
    [
        ("<svg><path></path></svg>", 1),
        ("<i class='fa fa-check'></i>", 1),
        ("<span class=tick></span> <span class=tick></span>", 1),
        ("<svg aria-label=Yes></svg>", 0),
        ("<svg></svg> yes", 0),
        ("<span></span>", 0),
    ],
)
def test_cells_with_only_a_nameless_icon_are_counted(cell: str, count: int) -> None:
    page = read_html(f"<p>Words<table><tr><th>a<th>b<tr><td>c<td>{cell}</table><table><tr><td>{cell}</table>", URL)
    assert dict(page.wordless).get("icon without a name", 0) == count
