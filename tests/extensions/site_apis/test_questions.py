"""Questions and discussions. The answers are written from the documentation of the APIs."""

from __future__ import annotations

from typing import Any

import pytest

from keyhole.extensions.site_apis.matchers import find_reader
from tests.extensions.site_apis.reading import read

STACK = "https://api.stackexchange.com/2.3"
OPTIONS = "site=stackoverflow&filter=withbody&pagesize=100"
QUESTION: dict[str, Any] = {
    "question_id": 5, "title": "Why &quot;leak&quot;?", "body": "<p>It <b>leaks</b>.</p>", "score": 3,
    "tags": ["valve"], "creation_date": 1704164645, "last_activity_date": 1704264645,
    "owner": {"display_name": "Ann &amp; Bob"},
}  # fmt: skip
ANSWERS = [
    {"answer_id": 8, "body": "<p>Turn it.</p>", "score": 9, "creation_date": 1704200000, "owner": {}},
    {"answer_id": 9, "body": "<pre><code>seal()</code></pre>", "score": 1, "is_accepted": True,
     "creation_date": 1704300000, "owner": {"display_name": "Eve"}},
]  # fmt: skip
COMMENTS = [{"post_id": 9, "body": "It <i>works</i>.", "score": 2, "creation_date": 1704400000,
             "owner": {"display_name": "Ann"}}]  # fmt: skip
STACK_ANSWERS: dict[str, object] = {
    f"{STACK}/questions/5?{OPTIONS}": {"items": [QUESTION]},
    f"{STACK}/questions/5/answers?order=desc&sort=votes&{OPTIONS}": {"items": ANSWERS, "has_more": False},
    f"{STACK}/posts/5;8;9/comments?order=asc&sort=creation&{OPTIONS}": {"items": COMMENTS},
}


def test_a_question_has_the_accepted_answer_first_and_comments_with_their_post() -> None:
    document, _ = read("https://stackoverflow.com/questions/5/why-leak", STACK_ANSWERS)
    assert document.text.split("\n\n") == [
        '# Why "leak"?',
        "**Ann & Bob** · 2024-01-02 · 3 points · tags: valve",
        "It **leaks**.",
        "## 2 answers",
        "**Eve** · 2024-01-03 · 1 point · accepted answer",
        "```\nseal()\n```",
        "### 1 comment",
        "**Ann** · 2024-01-04 · 2 points",
        "It *works*.",
        "**unknown** · 2024-01-02 · 9 points · answer",
        "Turn it.\n",
    ]


def test_the_address_of_an_answer_leads_to_its_question() -> None:
    answers = STACK_ANSWERS | {f"{STACK}/answers/9?{OPTIONS}": {"items": [{"question_id": 5}]}}
    assert "seal()" in read("https://stackoverflow.com/a/9/123", answers)[0].text


@pytest.mark.parametrize(
    ("url", "site"),
    [
        ("https://pt.stackoverflow.com/questions/5", "pt.stackoverflow"),
        ("https://unix.stackexchange.com/q/5", "unix"),
        ("https://math.meta.stackexchange.com/questions/5/x", "math.meta"),
        ("https://mathoverflow.net/questions/5", "mathoverflow.net"),
    ],
)
def test_each_site_of_the_network_has_its_name(url: str, site: str) -> None:
    reader = find_reader(url, None)
    assert reader
    assert f"site={site}&" in reader.next_requests(())[0].url


def test_more_answers_than_one_page_are_named_as_missing() -> None:
    answers = dict(STACK_ANSWERS)
    answers[f"{STACK}/questions/5/answers?order=desc&sort=votes&{OPTIONS}"] = {"items": ANSWERS, "has_more": True}
    assert read("https://stackoverflow.com/q/5", answers)[0].cut


def test_a_story_of_hacker_news_has_all_replies_in_reading_order() -> None:
    item = {
        "title": "Valves", "url": "https://example.org/valves", "author": "ann", "created_at": "2024-01-02T00:00:00Z",
        "points": 10, "text": None, "children": [
            {"author": "bob", "created_at": "2024-01-03T00:00:00Z", "text": "<p>First", "children": [
                {"author": "eve", "created_at": "2024-01-04T00:00:00Z", "text": "Reply", "children": []}]},
            {"author": None, "created_at": "2024-01-03T00:00:00Z", "text": None, "children": []},
        ],
    }  # fmt: skip
    document, _ = read("https://news.ycombinator.com/item?id=77", {"https://hn.algolia.com/api/v1/items/77": item})
    assert document.text.split("\n\n") == [
        "# Valves", "**ann** · 2024-01-02 · 10 points", "<https://example.org/valves>",
        "**bob** · 2024-01-03", "First", "**eve** · 2024-01-04 · reply, level 1", "Reply\n",
    ]  # fmt: skip


def test_a_story_of_lobsters_has_its_comments() -> None:
    story = {
        "title": "Valves", "url": "https://example.org", "score": 5, "created_at": "2024-01-02T00:00:00.000-05:00",
        "description": "", "submitter_user": "ann", "tags": ["hardware"],
        "comments": [{"comment": "<p>Nice</p>", "depth": 1, "score": 2, "created_at": "2024-01-03T00:00:00.000-05:00",
                      "commenting_user": {"username": "bob"}}],
    }  # fmt: skip
    text = read("https://lobste.rs/s/abc123/valves", {"https://lobste.rs/s/abc123.json": story})[0].text
    assert "**ann** · 2024-01-02 · 5 points · tags: hardware" in text
    assert "**bob** · 2024-01-03 · 2 points · reply, level 1\n\nNice" in text


def topic_post(number: int, **more: Any) -> dict[str, Any]:
    return {"id": 100 + number, "post_number": number, "username": "ann", "created_at": "2024-01-02T00:00:00Z",
            "raw": f"Post {number}", **more}  # fmt: skip


def test_a_topic_of_discourse_has_all_posts_as_they_were_written() -> None:
    base = "https://discuss.example.org"
    first = {
        "title": "Valves", "posts_count": 3, "created_at": "2024-01-02T00:00:00Z",
        "post_stream": {"stream": [101, 102, 103], "posts": [topic_post(1), topic_post(2, reply_to_post_number=1)]},
    }  # fmt: skip
    rest = {"post_stream": {"posts": [topic_post(3, accepted_answer=True, actions_summary=[{"id": 2, "count": 4}])]}}
    answers = {
        f"{base}/t/9.json?include_raw=1": first,
        f"{base}/t/9/posts.json?include_raw=1&post_ids[]=103": rest,
    }
    document, requests = read(f"{base}/t/valves/9/2", answers)
    assert len(requests) == 2
    assert "**ann** · 2024-01-02 · post 2 · to post 1\n\nPost 2" in document.text
    assert "**ann** · 2024-01-02 · 4 likes · accepted answer · post 3\n\nPost 3" in document.text
    assert not document.cut


@pytest.mark.parametrize(
    "url",
    ["https://stackoverflow.com/tags", "https://example.org/questions/5", "https://news.ycombinator.com/newest",
     "https://example.org/t/valves/9", "https://lobste.rs/t/web"],
)  # fmt: skip
def test_other_pages_have_no_reader(url: str) -> None:
    assert find_reader(url, None) is None
