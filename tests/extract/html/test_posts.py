"""Posts and comments as forums and blogs write them."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from keyhole.extract.html.converter import to_markdown
from keyhole.extract.html.link_resolver import LinkResolver
from keyhole.extract.html.part_labels import head_posts
from keyhole.extract.html.tree import list_classes, parse_html

URL = "https://example.org/thread/1"
BODY = "<p>The pump fails after ten minutes.</p>"
TEXT = "The pump fails after ten minutes."


def markdown(html: str) -> str:
    root = parse_html(f"<body>{html}</body>")
    head_posts(root, list_classes(root))
    return to_markdown(root.find("body"), LinkResolver(URL))


@pytest.mark.parametrize(
    "post",
    [
        '<div itemprop="comment" itemscope itemtype="https://schema.org/Comment"><span itemprop="author" itemscope>'
        '<span itemprop="name">ada</span></span><time itemprop="datePublished">May 2, 2024</time>'
        f'<div itemprop="text">{BODY}</div><span itemprop="upvoteCount">7</span></div>',
        '<article class="message"><div class="user"><a href="/members/ada.7/">A</a><h4><a class="username" '
        'href="/members/ada.7/">ada</a></h4></div><div><time>May 2, 2024</time>'
        f'<div class="body">{BODY}</div><span class="score">7</span></div></article>',
        '<li class="comment"><cite class="fn">ada</cite> <a href="#c7"><span class="comment-date">May 2, 2024</span>'
        "</a>"
        f'{BODY}<span class="votes">7</span></li>',
        f'<div class="answer"><span class="vote-count">7</span><div>{BODY}</div><div><div>edited <time>June 1, 2024'
        f"</time>"
        '</div><div class="signature"><time>May 2, 2024</time> <a href="/users/7/ada">ada</a></div></div></div>',
    ],
    ids=["schema.org", "XenForo", "WordPress", "an edited answer"],
)
def test_one_line_with_author_date_and_score_stands_above_the_text_of_a_post(post: str) -> None:
    text = " ".join(markdown(post + post).split())
    assert text.count(f"**ada** · May 2, 2024 · 7 {TEXT}") == 2


def test_a_reply_within_a_post_has_its_own_line() -> None:
    reply = f'<div class="comment"><a class="author">bob</a>{BODY}</div>'
    text = markdown(f'<div class="comment"><a class="author">ada</a>{BODY}{reply}</div>')
    assert text == f"**ada**\n\n{TEXT}\n\n**bob**\n\n{TEXT}\n"


@pytest.mark.parametrize(
    "html",
    [
        f'<div class="post"><a class="author">ada</a>{BODY}</div>',
        f'<div class="post">{BODY}</div><div class="post">{BODY}</div>',
        '<div class="post"><h3><a href="/a">Pumps</a></h3><a class="author">ada</a><p>A teaser about pumps.</p></div>'
        * 2,
        f'<div class="post"><h1>Pumps</h1><a class="author">ada</a>{BODY}</div>' * 2,
        '<div class="post"><a class="author">ada</a> joined</div>' * 2,
    ],
    ids=["a single post", "no author", "teasers", "whole articles", "no text"],
)
def test_other_elements_stay_as_they_are(html: str) -> None:
    assert "**" not in markdown(html)


_WORDS = st.lists(st.sampled_from(["ada", "bob", "May 2, 2024", "7", "The pump fails.", ""]), max_size=4).map(" ".join)
_TAGS = st.sampled_from([
    '<div class="post">{}</div>', '<div class="comment">{}</div>', '<a class="author">{}</a>', "<time>{}</time>",
    '<span class="score">{}</span>', '<li itemprop="comment">{}</li>', "<p>{}</p>", '<a href="/u/1">{}</a>',
])  # fmt: skip
_TREES = st.recursive(
    _WORDS, lambda inner: st.builds(str.format, _TAGS, st.lists(inner, max_size=4).map("".join)), max_leaves=25
)


@given(_TREES)
def test_no_word_of_a_post_is_lost_or_repeated(html: str) -> None:
    root = parse_html(f"<body>{html}</body>")
    before = Counter(root.text_content().replace("·", " "))
    head_posts(root, list_classes(root))
    after = Counter(root.text_content().replace("·", " "))
    for counts in (before, after):
        for space in " \n":
            del counts[space]
    assert after == before
