"""A page is split into blocks and boxes with correct counts."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from keyhole.extract.html.boilerplate.classify import judge_blocks
from keyhole.extract.html.boilerplate.segments import BlockPart, TextPlace, join_lists, segment, spread_over_lists
from keyhole.extract.html.prune import prune
from keyhole.extract.html.tree import parse_html

WORDS = st.text("abcdefg é漢", min_size=1, max_size=12)
TAGS = st.sampled_from(
    ["p", "div", "span", "a", "b", "li", "ul", "table", "td", "tr", "pre", "h2", "section", "nav", "br"]
)
TREES = st.recursive(
    WORDS,
    lambda inner: st.builds(
        lambda tag, attribute, children: f"<{tag}{attribute}>{' '.join(children)}</{tag}>",
        TAGS,
        st.sampled_from(["", " class='menu'", " href='/x'", " role='main'", " id='S:1'"]),
        st.lists(inner, max_size=5),
    ),
    max_leaves=40,
)


def read_part(part: BlockPart) -> str:
    element, place = part
    if place is TextPlace.INSIDE:
        return str(element.text_content())
    return (element.text if place is TextPlace.HEAD else element.tail) or ""


def blocks(html: str) -> list[str]:
    return [block.text for block in segment(parse_html(html)).blocks]


@pytest.mark.parametrize(
    ("html", "expected"),
    [
        ("<p>One <b>two</b> three<p>Four", ["One two three", "Four"]),
        ("<div>Before<p>inside</p>after</div>", ["Before", "inside", "after"]),
        ("<ul><li>One<ul><li>Two</ul>tail</ul>", ["One", "Two", "tail"]),
        ("<pre>a\n  b</pre>c", ["a b", "c"]),
        ("<div class=fragment><div class=line>a</div>\n<div class=line>b</div></div>c", ["a b", "c"]),
        ("<table><tr><td>1<td>2<tr><td>3<td>4</table>", ["1 2 3 4"]),
        ("<table><tr><td><p>left</p><td><p>right</p></table>", ["left", "right"]),
        ("<table><tr><td><p>1</p><td>2<tr><td>3<td><ul><li>4</ul></table>", ["1 2 3 4"]),
        ("<figure><img><figcaption><p>A</p><p>caption</p></figcaption></figure>", ["A caption"]),
        ("<a href=/x><div>A card</div><div>its text</div></a>", ["A card", "its text"]),
        ("<p>a<br>b</p>", ["a b"]),
        ("", []),
    ],
)
def test_blocks_end_where_a_reader_sees_a_new_line(html: str, expected: list[str]) -> None:
    assert blocks(f"<body>{html}</body>") == expected


@given(TREES)
def test_every_word_is_in_one_block_once_and_in_order(html: str) -> None:
    root = parse_html(f"<body>{html}</body>")
    parts = [part for block in segment(root).blocks for part in block.parts]
    all_text = "".join(read_part(part) for part in parts)
    assert "".join(all_text.split()) == "".join(root.text_content().split())


def test_sizes_of_boxes_are_sums_over_their_blocks() -> None:
    segments = segment(parse_html("<body><div><p>One.<p>Two <a href=/x>three</a>.</div><p>Four"))
    body = segments.boxes[1]
    assert (body.tag, body.block_count, body.size, body.link_bytes) == ("body", 3, 18, 5)
    assert [box.alike_count for box in segments.boxes if box.tag == "p"] == [2, 2, 1]


def test_links_around_blocks_count_as_links() -> None:
    (block,) = segment(parse_html("<body><a href=/x><div>All of it</div></a>")).blocks
    assert block.link_bytes == block.size


def test_a_block_lists_the_parts_of_the_tree_with_its_text() -> None:
    (block,) = segment(parse_html("<body><p>One <b>two</b> three")).blocks
    assert [place for _, place in block.parts] == [TextPlace.HEAD, TextPlace.INSIDE, TextPlace.TAIL]


def test_a_list_is_joined_to_one_block() -> None:
    segments = segment(parse_html("<body><p>Before<ul><li>One<li>Two <a href=/2>link</a><ol><li>a</ol></ul><p>After"))
    assert [block.text for block in segments.blocks] == ["Before", "One", "Two link", "a", "After"]
    joined = join_lists(segments)
    assert [(block.text, block.link_bytes) for block in joined.blocks] == [
        ("Before", 0),
        ("One Two link a", 4),
        ("After", 0),
    ]
    assert [box.tag for box in joined.boxes] == ["html", "body", "p", "ul", "p"]
    assert spread_over_lists(segments, [False, True, False]) == [False, True, True, True, False]


@given(TREES)
def test_joining_lists_keeps_all_text(html: str) -> None:
    segments = segment(parse_html(f"<body>{html}</body>"))
    joined = join_lists(segments)
    assert " ".join(block.text for block in joined.blocks) == " ".join(block.text for block in segments.blocks)
    assert sum(block.size for block in joined.blocks) == sum(block.size for block in segments.blocks)
    assert len(spread_over_lists(segments, [True] * len(joined.blocks))) == len(segments.blocks)


@given(TREES, st.integers(0, 30))
def test_every_block_is_judged_and_one_is_main(html: str, paragraphs: int) -> None:
    prose = "".join(
        f"<p>Paragraph {n} of the page says something, and ends. It goes on a little.</p>" for n in range(paragraphs)
    )
    root = parse_html(f"<body>{prose}{html}</body>")
    prune(root)
    segments = segment(root)
    is_main = judge_blocks(segments, "https://example.org/")
    assert len(is_main) == len(segments.blocks)
    assert any(is_main) or not is_main
