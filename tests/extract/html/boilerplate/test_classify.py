"""What is kept of a page: its content whole, of the rest as little as can be told apart."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from keyhole.extract.html.boilerplate.classify import MAX_JUDGED_BLOCKS, choose_blocks, drop_boilerplate
from keyhole.extract.html.prune import prune
from keyhole.extract.html.tree import parse_html

PROSE = "The committee met on Tuesday, and after some hours it agreed on the text of the report. "
URL = "https://example.org/2024/report"


def kept(html: str, title: str = "") -> str:
    root = parse_html(html)
    prune(root)
    drop_boilerplate(root, URL, title)
    return " ".join(root.text_content().split())


ARTICLE = f"""<body>
<nav><ul>{"".join(f"<li><a href=/{n}>Section {n}</a></li>" for n in range(12))}</ul></nav>
<main><article><h1>The report</h1>{"".join(f"<p>{n}: {PROSE * 3}</p>" for n in range(8))}
<pre>code = 1</pre><table><tr><th>Year<th>Votes<tr><td>1999<td>12</table></article></main>
<aside class="related"><h3>More stories</h3>{"".join(f"<a href=/s{n}>Story number {n}</a>" for n in range(9))}</aside>
<footer><p>Copyright Example. <a href=/privacy>Privacy</a> <a href=/terms>Terms</a></p></footer></body>"""


def test_an_article_is_kept_without_menus_teasers_and_footer() -> None:
    text = kept(ARTICLE)
    assert all(f"{number}: The committee" in text for number in range(8))
    assert "code = 1" in text
    assert "1999" in text
    assert "Section 4" not in text
    assert "Story number" not in text
    assert "Privacy" not in text


def test_the_line_that_is_the_title_and_headings_of_what_is_kept_stay() -> None:
    page = ARTICLE.replace("<main>", "<div class=banner><div>The town's report</div></div><main>")
    assert "The town's report" in kept(page, "The town's report")
    assert "The report" in kept(page)


def test_a_short_page_loses_only_what_is_marked_as_apart() -> None:
    assert kept("<nav>Home</nav><p>Yes.</p><p>No.</p><footer>Imprint</footer>") == "Yes.No."


def test_a_page_of_nothing_but_menus_keeps_them() -> None:
    assert kept("<nav><a href=/a>One</a></nav>") == "One"


def test_a_main_part_with_little_text_is_not_taken_for_the_page() -> None:
    assert "The committee" in kept(f"<main>Teaser</main><p>{PROSE}</p>")


def test_a_page_of_very_many_blocks_is_kept_but_for_its_menus_in_time() -> None:
    start = time.process_time()
    text = kept(f"<body><nav>Home</nav>{'<p>line of a log</p>' * (MAX_JUDGED_BLOCKS + 1)}")
    assert text.count("line of a log") == MAX_JUDGED_BLOCKS + 1
    assert "Home" not in text
    assert time.process_time() - start < 5


@pytest.mark.parametrize("unclosed", ["<div>", "<b>", "<ul><li>", "<table><tr><td>"])
def test_deep_pages_are_judged_in_time(unclosed: str) -> None:
    start = time.process_time()
    kept("<body>" + (unclosed + PROSE) * 1_500)
    assert time.process_time() - start < 5


def test_a_clear_page_gets_a_high_threshold_and_an_unclear_one_keeps_more() -> None:
    assert choose_blocks([100, 100], [0.99, 0.2]) == [True, False]
    assert choose_blocks([100, 100, 100], [0.45, 0.4, 0.35]) == [True, True, True]
    assert choose_blocks([], []) == []


@given(st.lists(st.tuples(st.integers(1, 5_000), st.floats(0.001, 0.999)), min_size=1))
def test_no_block_is_dropped_for_one_that_is_less_likely(blocks: list[tuple[int, float]]) -> None:
    chances = [chance for _, chance in blocks]
    keep = choose_blocks([size for size, _ in blocks], chances)
    assert any(keep)
    least = min(chance for chance, kept in zip(chances, keep, strict=True) if kept)
    assert all(kept == (chance >= least) for chance, kept in zip(chances, keep, strict=True))
