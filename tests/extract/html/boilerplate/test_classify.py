"""Removal of boilerplate: content, headings and the title stay."""

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


def read_content(html: str, title: str = "") -> str:
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
    assert read_content("<nav>Home</nav><p>Yes.</p><p>No.</p><footer>Imprint</footer>") == "Yes.No."


def test_a_page_that_has_only_menus_keeps_them() -> None:
    assert read_content("<nav><a href=/a>One</a></nav>") == "One"


def test_a_main_element_with_little_text_does_not_remove_the_rest() -> None:
    assert "The committee" in read_content(f"<main>Teaser</main><p>{PROSE}</p>")


def test_a_page_of_very_many_blocks_loses_only_its_menus_in_bounded_time() -> None:
    start = time.process_time()
    text = read_content(f"<body><nav>Home</nav>{'<p>line of a log</p>' * (MAX_JUDGED_BLOCKS + 1)}")
    assert text.count("line of a log") == MAX_JUDGED_BLOCKS + 1
    assert "Home" not in text
    assert time.process_time() - start < 5


@pytest.mark.parametrize("unclosed", ["<div>", "<b>", "<ul><li>", "<table><tr><td>"])
def test_deep_pages_are_classified_in_bounded_time(unclosed: str) -> None:
    start = time.process_time()
    read_content("<body>" + (unclosed + PROSE) * 1_500)
    assert time.process_time() - start < 5


def test_the_threshold_is_lower_if_probabilities_are_unclear() -> None:
    assert choose_blocks([100, 100], [0.99, 0.2]) == [True, False]
    assert choose_blocks([100, 100, 100], [0.45, 0.4, 0.35]) == [True, True, True]
    assert choose_blocks([], []) == []


@given(st.lists(st.tuples(st.integers(1, 5_000), st.floats(0.001, 0.999)), min_size=1))
def test_kept_blocks_are_those_with_the_highest_probabilities(blocks: list[tuple[int, float]]) -> None:
    probabilities = [probability for _, probability in blocks]
    keep = choose_blocks([size for size, _ in blocks], probabilities)
    assert any(keep)
    least = min(probability for probability, is_kept in zip(probabilities, keep, strict=True) if is_kept)
    assert all(is_kept == (probability >= least) for probability, is_kept in zip(probabilities, keep, strict=True))
