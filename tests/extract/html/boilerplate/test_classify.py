"""The main part of a page: it contains the content, its headings and the title."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from keyhole.extract.html.boilerplate.classify import MAX_JUDGED_BLOCKS, choose_threshold, judge_blocks
from keyhole.extract.html.boilerplate.segments import segment
from keyhole.extract.html.prune import prune
from keyhole.extract.html.tree import parse_html
from tests.support.machine import allowed

PROSE = "The committee met on Tuesday, and after some hours it agreed on the text of the report. "
URL = "https://example.org/2024/report"


def read_content(html: str, title: str = "") -> str:
    root = parse_html(html)
    prune(root)
    segments = segment(root)
    is_main = judge_blocks(segments, URL, title)
    return "\n".join(block.text for block, main in zip(segments.blocks, is_main, strict=True) if main)


ARTICLE = f"""<body>
<nav><ul>{"".join(f"<li><a href=/{n}>Section {n}</a></li>" for n in range(12))}</ul></nav>
<main><article><h1>The report</h1>{"".join(f"<p>{n}: {PROSE * 3}</p>" for n in range(8))}
<pre>code = 1</pre><table><tr><th>Year<th>Votes<tr><td>1999<td>12</table></article></main>
<aside class="related"><h3>More stories</h3>{"".join(f"<a href=/s{n}>Story number {n}</a>" for n in range(9))}</aside>
<footer><p>Copyright Example. <a href=/privacy>Privacy</a> <a href=/terms>Terms</a></p></footer></body>"""


def test_an_article_is_kept_without_menus_teasers_and_footer() -> None:
    text = read_content(ARTICLE)
    assert all(f"{number}: The committee" in text for number in range(8))
    assert "code = 1" in text
    assert "1999" in text
    assert "Section 4" not in text
    assert "Story number" not in text
    assert "Privacy" not in text


def test_the_title_and_the_headings_of_kept_blocks_stay() -> None:
    page = ARTICLE.replace("<main>", "<div class=banner><div>The town's report</div></div><main>")
    assert "The town's report" in read_content(page, "The town's report")
    assert "The report" in read_content(page)


def test_a_short_page_loses_only_marked_boilerplate() -> None:
    assert read_content("<nav>Home</nav><p>Yes.</p><p>No.</p><footer>Imprint</footer>") == "Yes.\nNo."


def test_a_page_that_has_only_menus_keeps_them() -> None:
    assert read_content("<nav><a href=/a>One</a></nav>") == "One"


def test_a_main_element_with_little_text_does_not_remove_the_rest() -> None:
    assert "The committee" in read_content(f"<main>Teaser</main><p>{PROSE}</p>")


def test_a_page_of_very_many_blocks_loses_only_its_menus_in_bounded_time() -> None:
    start = time.process_time()
    text = read_content(f"<body><nav>Home</nav>{'<p>line of a log</p>' * (MAX_JUDGED_BLOCKS + 1)}")
    assert text.count("line of a log") == MAX_JUDGED_BLOCKS + 1
    assert "Home" not in text
    assert time.process_time() - start < allowed(5)


@pytest.mark.parametrize("unclosed", ["<div>", "<b>", "<ul><li>", "<table><tr><td>"])
def test_deep_pages_are_classified_in_bounded_time(unclosed: str) -> None:
    start = time.process_time()
    read_content("<body>" + (unclosed + PROSE) * 1_500)
    assert time.process_time() - start < allowed(5)


SECTION = f"""<section><h2>Types</h2><p>{PROSE * 2}</p>
<table><tr><th>Name<th>Size<th>Range<tr><td>smallint<td>2 bytes<td>-32768 to +32767<tr><td>bigint<td><p>8 bytes</p><td>
<ul><li>large</ul></table><p>The call is equivalent to:</p><pre>x = 1</pre>
<ol><li>One<li><p>Two <a href=/2>link</a></p></ol>
<dl><dt>term<dd>meaning</dl></section>"""


def test_the_tables_code_and_lists_of_a_manual_are_in_the_main_part_as_a_whole() -> None:
    text = read_content(f"<nav><a href=/>Up</a> <a href=/n>Next</a></nav><div id=docContent>{SECTION * 4}</div>")
    assert text.count("smallint 2 bytes -32768 to +32767 bigint 8 bytes large") == 4
    for part in ("x = 1", "is equivalent to:", "One", "Two link", "term", "meaning"):
        assert text.count(part) == 4


@given(st.integers(0, 12), st.integers(0, 12))
def test_the_items_of_a_list_are_judged_as_one(links: int, sentences: int) -> None:
    items = [f"<li><a href=/{n}>Item {n} of links</a>" for n in range(links)]
    items += [f"<li>Item {n} of sentences, which says something." for n in range(sentences)]
    text = read_content(ARTICLE.replace("<pre>", f"<ul>{''.join(items)}</ul><pre>"))
    assert text.count("Item ") in {0, links + sentences}


def test_the_threshold_is_lower_if_probabilities_are_unclear() -> None:
    assert choose_threshold([100, 100], [0.99, 0.2]) == 0.99
    assert choose_threshold([100, 100, 100], [0.45, 0.4, 0.35]) == 0.35
    assert choose_threshold([], []) == 1.0


@given(st.lists(st.tuples(st.integers(1, 5_000), st.floats(0.001, 0.999)), min_size=1))
def test_the_threshold_is_the_probability_of_a_block(blocks: list[tuple[int, float]]) -> None:
    sizes, probabilities = [size for size, _ in blocks], [probability for _, probability in blocks]
    assert choose_threshold(sizes, probabilities) in probabilities
