"""The rest of a page is taken out of its tree: nothing is lost, and each part says what it is."""

from __future__ import annotations

import re
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st
from lxml import html

from keyhole.extract.html.boilerplate.segments import segment
from keyhole.extract.html.converter import to_markdown
from keyhole.extract.html.link_resolver import LinkResolver
from keyhole.extract.html.page import read_html
from keyhole.extract.html.rest_parts import MAX_REST_CHARS, take_rest
from keyhole.extract.html.tree import parse_html

URL = "https://example.org/page"
TAGS = ("p", "div", "nav", "section", "ul", "li", "ol", "span", "b", "a", "aside", "blockquote", "h2", "footer")


def split(page: str, *rest_texts: str) -> tuple[str, str]:
    """Return the Markdown of both parts of a page whose blocks with `rest_texts` are the rest."""
    root = parse_html(page)
    segments = segment(root)
    rest = take_rest(root, segments, [block.text not in rest_texts for block in segments.blocks], LinkResolver(URL))
    return to_markdown(root, LinkResolver(URL)), rest


@pytest.mark.parametrize(
    ("element", "kind"),
    [
        ("<nav>Home</nav>", "navigation"),
        ('<div role="navigation">Home</div>', "navigation"),
        ('<div class="breadcrumbs">Home</div>', "navigation"),
        ("<footer>Home</footer>", "footer"),
        ("<form>Home</form>", "form"),
        ('<div id="comments">Home</div>', "comments"),
        ('<div class="related-posts">Home</div>', "related links"),
        ('<div class="social-share">Home</div>', "share links"),
        ('<p class="byline">Home</p>', "byline"),
        ("<figcaption>Home</figcaption>", "captions"),
        ("<aside>Home</aside>", "sidebar"),
        ("<header>Home</header>", "header"),
        ("<article><header>Home</header></article>", "byline"),
        ('<div><a href="/">Home</a></div>', "navigation"),
        ("<div>Home</div>", "other"),
    ],
)
def test_a_part_is_named_by_its_kind(element: str, kind: str) -> None:
    main, rest = split(f"<body>{element}<p>Content</p></body>", "Home")
    assert main == "Content\n"
    assert rest.startswith(f"# [rest: {kind}]\n\n")


def test_a_part_that_belongs_to_a_section_names_the_heading_above_it() -> None:
    _, rest = split(
        "<h2>Pumps</h2><p>Content<div class=byline>By Ann</div><footer>Imprint</footer>", "By Ann", "Imprint"
    )
    assert rest == "# [rest: byline, under “Pumps”]\n\nBy Ann\n\nImprint\n"


def test_a_large_box_is_split_into_the_kinds_inside_it() -> None:
    links, words = "Link " * 40, "Word " * 40
    page = f'<p>Content<div><div class="related">{links}</div><div id="comments">{words}</div></div>'
    _, rest = split(page, links.strip(), words.strip())
    assert re.findall(r"rest: ([a-z ]+)", rest) == ["related links", "comments"]


def test_headings_of_the_page_stand_below_the_line_of_their_part() -> None:
    _, rest = split("<p>Content</p><nav><h1>Menu</h1><p>Home</p></nav>", "Menu", "Home")
    assert rest == "# [rest: navigation]\n\n## Menu\n\nHome\n"


def test_text_after_a_moved_element_stays_and_keeps_apart_from_the_text_before() -> None:
    assert split("<div>one<div>two</div>three</div>", "two") == ("one three\n", "# [rest: other]\n\ntwo\n")
    assert split("<div>one<div>two</div>three</div>", "three") == ("one\n\ntwo\n", "# [rest: other]\n\nthree\n")


def test_items_of_an_ordered_list_keep_their_numbers() -> None:
    main, rest = split("<ol start=4><li>one<li>two<li>three</ol>", "two")
    assert main == "4. one\n6. three\n"
    assert rest == "# [rest: other]\n\n- two\n"


def test_links_of_the_rest_keep_their_addresses() -> None:
    page = """<p>Content<nav><ul><li><a href="/a">A</a><li>to <b><a href="/b">B [1]</a></b> now</ul>
        <a href="/c"><div>C</div><div>D</div></a><a href="javascript:x()">E</a></nav>"""
    _, rest = split(page, "A", "to B [1] now", "C", "D", "E")
    lines = "- [A](https://example.org/a)\n- to [B [1]](https://example.org/b) now\n\n"
    assert rest == f"# [rest: navigation]\n\n{lines}[C](https://example.org/c)\n\n[D](https://example.org/c)\n\nE\n"


def test_tables_and_code_of_the_rest_are_converted_whole() -> None:
    page = "<p>Content<aside><table><tr><th>a<th>b<tr><td>1<td>2</table><pre>x\n  y</pre></aside>"
    _, rest = split(page, "a b 1 2", "x y")
    assert rest == "# [rest: sidebar]\n\n| a | b |\n| --- | --- |\n| 1 | 2 |\n\n```\nx\n  y\n```\n"


def test_boxes_of_sentences_are_converted_like_the_main_part() -> None:
    sentence = "A comment with <b>bold</b> words, and more than a line of text, so that it counts as prose, surely."
    _, rest = split(f"<p>Content<div id=comments><p>{sentence}</div>", sentence.replace("<b>", "").replace("</b>", ""))
    assert "with **bold** words" in rest


def test_text_of_the_rest_cannot_imitate_structure() -> None:
    page = "<p>Content<nav><p># [rest: footer]</p><p>--</p><p>`x` &lt;b&gt; ![a](b)</p></nav>"
    _, rest = split(page, "# [rest: footer]", "--", "`x` <b> ![a](b)")
    assert rest == "# [rest: navigation]\n\n\\# [rest: footer]\n\n\\--\n\n\\`x\\` &lt;b> !&#91;a]&#40;b)\n"


def test_deeply_nested_inline_elements_of_the_rest_keep_their_text() -> None:
    page = f"<p>Content<nav>{'<b>' * 300}deep{'</b>' * 300}</nav>"
    assert "deep" in split(page, "deep")[1]


def test_a_page_that_is_all_main_has_no_rest() -> None:
    assert split("<p>one") == ("one\n", "")


def test_the_text_is_the_main_part_and_then_the_rest() -> None:
    document = read_html("<nav>Home</nav><p>Content</p>", URL)
    assert document.main == "Content\n"
    assert document.text == "Content\n\n# [rest: navigation]\n\nHome\n"
    assert read_html("<p>Content</p>", URL).main_end is None


def test_a_very_long_rest_is_cut_and_says_so() -> None:
    links = "".join(f"<li><a href='/{number}'>Entry {number}</a>" for number in range(20_000))
    document = read_html(f"<main><p>{'Content. ' * 300}</p></main><nav><ul>{links}</ul></nav>", URL)
    rest = document.text[len(document.main) :]
    assert MAX_REST_CHARS - 1_000 < len(rest) < MAX_REST_CHARS + 100
    assert re.search(r"\n# \[rest: cut here, [\d,]+ more characters were not kept\]\n\Z", rest)


@st.composite
def trees(draw: st.DrawFn) -> str:
    """Return a page whose words are numbered, each in an element of its own or before or after one."""
    pieces: list[str] = []
    open_tags: list[str] = []
    for number in range(draw(st.integers(1, 40))):
        pieces.append(f"w{number} " if draw(st.booleans()) else "")
        closes = draw(st.booleans())
        if open_tags and closes:
            pieces.append(f"</{open_tags.pop()}>")
        else:
            open_tags.append(draw(st.sampled_from(TAGS)))
            pieces.append(f"<{open_tags[-1]}>")
    return f"<body>{''.join(pieces)}</body>"


@given(trees(), st.randoms())
def test_no_word_is_lost_or_doubled_by_any_judgement(page: str, random: Random) -> None:
    root = parse_html(page)
    words = re.findall(r"w\d+", html.tostring(root, encoding="unicode"))
    segments = segment(root)
    is_main = [number == 0 or random.random() < 0.5 for number in range(len(segments.blocks))]
    main_words = [
        word for block, main in zip(segments.blocks, is_main, strict=True) if main for word in block.text.split()
    ]
    rest = take_rest(root, segments, is_main, LinkResolver(URL))
    found = re.findall(r"w\d+", to_markdown(root, LinkResolver(URL)))
    moved = re.findall(r"w\d+", re.sub(r"(?m)^# \[rest.*", "", rest))
    assert found == main_words
    assert sorted(found + moved) == sorted(words)
