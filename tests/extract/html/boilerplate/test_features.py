"""Each block has a row of features that tells its place, its purpose and the page around it."""

from __future__ import annotations

from itertools import chain

from hypothesis import given
from hypothesis import strategies as st

from keyhole.extract.html.boilerplate.classify import score_blocks
from keyhole.extract.html.boilerplate.features import (
    BOX_KINDS,
    FEATURE_GROUPS,
    TEXT_KINDS,
    compute_features,
    match_names,
    match_text_kinds,
)
from keyhole.extract.html.boilerplate.segments import join_lists, segment
from keyhole.extract.html.tree import parse_html

URL = "https://example.org/forum/the-long-report"
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


def read_rows(html: str) -> list[dict[str, float]]:
    segments = join_lists(segment(parse_html(f"<body>{html}</body>")))
    names = [*chain(*FEATURE_GROUPS)]
    return [dict(zip(names, chain(*row), strict=True)) for row in compute_features(segments, URL)]


def list_kinds(bits: int, kinds: tuple[str, ...]) -> list[str]:
    return [kind for number, kind in enumerate(kinds) if bits >> number & 1]


@given(TREES)
def test_each_row_has_a_number_for_each_feature_name(html: str) -> None:
    segments = segment(parse_html(f"<body>{html}</body>"))
    rows = compute_features(segments, URL)
    assert len(rows) == len(segments.blocks)
    assert all([len(group) for group in row] == [len(names) for names in FEATURE_GROUPS] for row in rows)
    assert all(0 < chance < 1 for chance in score_blocks(segments, URL))


def test_a_block_knows_the_boxes_and_landmarks_around_it() -> None:
    (row,) = read_rows("<main><div class='comment-list'><div><p>Text</p></div></div></main>")
    assert row["inside main"] == 1
    assert row["inside nav"] == 0
    assert row["boxes to comment"] == 2
    assert row["boxes to share"] == 9


def test_a_block_knows_the_heading_above_it_and_its_kind() -> None:
    title, text, related, link = read_rows("<h1>The report</h1><p>Text<h3>Related stories</h3><p>Another")
    assert (title["text in title"], text["heading level"], text["heading kinds"]) == (1, 1, 0)
    assert (link["heading level"], link["blocks from heading"]) == (3, 1)
    assert link["heading kinds"] == related["text kinds"] > 0


def test_a_block_knows_the_distance_to_the_prose_around_it() -> None:
    prose = "A sentence of the article, which is long enough to be prose, and which has its marks as well."
    _, label, _ = read_rows(f"<p>{prose}<p>Label<p>{prose}")
    assert (label["prose before blocks"], label["prose after blocks"]) == (0, 0)
    assert label["prose before size"] == label["prose after size"] > 4


def test_blocks_that_look_alike_are_counted_together() -> None:
    first, _, other = read_rows("<div><p class=a>One<p class=a>Two<p>Three</div>")
    assert first["like count"] > other["like count"]


def test_names_and_words_tell_their_kinds() -> None:
    assert [BOX_KINDS[kind] for kind in sorted(match_names("site-footer ad")[0])] == ["foot", "promo"]
    assert match_names("loaded")[0] == frozenset()
    assert list_kinds(match_text_kinds("Weitere Artikel: Ähnliche"), TEXT_KINDS) == ["related"]
    assert match_text_kinds("") == 0
