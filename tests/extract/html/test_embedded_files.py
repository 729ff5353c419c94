"""Frames, films and documents that a page embeds are links in their place, with their titles or file names."""

from __future__ import annotations

import pytest

from keyhole.extract.html.page import ONLY_EMBEDS, html_to_markdown, read_html

URL = "https://example.org/a"


@pytest.mark.parametrize(
    ("html", "text"),
    [
        ("<p>a</p><iframe src=/tides title='Chart of tides'></iframe><p>b", "a\n\n[Chart of tides](/tides)\n\nb\n"),
        ("<p>a</p><iframe src=about:blank data-src=/map.html></iframe>b", "a\n\n[map.html](/map.html) b\n"),
        ("<p>a</p><iframe src='https://v.example/embed/1?x=2'></iframe>",
         "a\n\n[v.example](https://v.example/embed/1?x=2)\n"),
        ("<p>a<video controls><source src=/a.webm><source src=/a.mp4>film</video><p>b", "a [a.webm](/a.webm)\n\nb\n"),
        ("<p>a<audio src=/horn.mp3 aria-label=Horn></audio>b", "a [Horn](/horn.mp3) b\n"),
        ("<p>a</p><object data=/plan.pdf><p>No plug-in</object>b", "a\n\n[plan.pdf](/plan.pdf) b\n"),
        ("<object><param name=movie value=/x.swf><embed src=/x.swf></object>", "[x.swf](/x.swf)\n"),
        ("<p>a<embed src=/e.pdf>b<p>c</p>d<p>e", "a [e.pdf](/e.pdf) b\n\nc\n\nd\n\ne\n"),
        ("<frameset><frame src=t.html title=Contents><noframes><p>Old <b>text</b></noframes></frameset>",
         "[Contents](/t.html)\n\nOld **text**\n"),
    ],
)  # fmt: skip
def test_what_a_page_embeds_is_a_link_in_its_place(html: str, text: str) -> None:
    assert html_to_markdown(html, URL, URL) == text


@pytest.mark.parametrize(
    "element",
    [
        "<iframe src=/x hidden></iframe>",
        "<iframe src=/x width=1 height=1></iframe>",
        "<iframe src=/x style='display:none'></iframe>",
        "<iframe src=/x aria-hidden=true></iframe>",
        "<iframe src=https://www.googletagmanager.com/ns.html></iframe>",
        "<iframe src='javascript:void(0)'></iframe>",
        "<video src=blob:https://example.org/1></video>",
        "<video src=/background.mp4 autoplay muted loop></video>",
        "<noframes><p>Old text</noframes>",
    ],
)
def test_what_nobody_sees_of_embedded_files_is_left_out(element: str) -> None:
    assert html_to_markdown(f"<body><p>a</p>{element}<p>b</p>", URL) == "a\n\nb\n"


@pytest.mark.parametrize(
    ("html", "notice"),
    [
        ("<h1>Plan</h1><iframe src=/plan.pdf></iframe>", ONLY_EMBEDS),
        ("<object data=/plan.pdf></object>", ONLY_EMBEDS),
        ("<video src=/film.mp4 controls></video>", ""),
        (f"<p>{'A page with text of its own. ' * 10}</p><iframe src=/plan.pdf></iframe>", ""),
    ],
)
def test_a_page_that_only_shows_another_document_says_so(html: str, notice: str) -> None:
    assert read_html(html, URL).notice == notice


def test_embedded_files_of_the_rest_are_listed_at_its_end_and_those_of_the_main_part_stay_in_place() -> None:
    prose = "The quay has a sentence of its own, which is long enough to be content for its readers. " * 6
    page = read_html(
        f"<main><h1>Quay</h1><p>{prose}</p><iframe src=/tides title=Tides></iframe><p>{prose}</p></main>"
        f"<footer><p>Imprint</p><iframe src=/map title='Our map'></iframe><video src=/v.mp4 controls></video></footer>",
        URL,
    )
    assert "[Tides](/tides)" in page.main
    assert page.text.endswith("\n# [rest: embedded files]\n\n- [Our map](/map)\n- [v.mp4](/v.mp4)\n")
    assert page.wordless == (("frame", 2), ("video", 1))
