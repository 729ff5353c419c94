"""Read questions, topics and stories with their answers: Stack Exchange, Discourse, Hacker News and Lobsters."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Final
from urllib.parse import urlsplit

from keyhole.extensions.site_apis.answer_text import (
    PER_PAGE,
    count_words,
    get_list,
    get_text,
    points,
    post,
    reply_level,
)
from keyhole.extensions.site_apis.site_readers import MAX_REQUESTS, SiteAnswer, SiteReader, SiteRequest
from keyhole.sites.document import Part, PartForm, SiteDocument
from keyhole.text.invalid_characters import unescape

# Stack Exchange: questions with answers and comments (api.stackexchange.com/docs).

_NAMED_SITES: Final = {
    "stackoverflow.com": "stackoverflow", "serverfault.com": "serverfault", "superuser.com": "superuser",
    "askubuntu.com": "askubuntu", "mathoverflow.net": "mathoverflow.net", "stackapps.com": "stackapps",
}  # fmt: skip
_QUESTION = re.compile(r"/(?:questions|q)/(\d+)(?:/|$)")
_ANSWER = re.compile(r"/a/(\d+)(?:/|$)")
_STACK_EXCHANGE: Final = "https://api.stackexchange.com/2.3"


def match_question(url: str) -> SiteReader | None:
    """Return the reader of a question, also for the address of one of its answers; None for any other address."""
    parts = urlsplit(url)
    site = _site_name((parts.hostname or "").removeprefix("www."))
    question, answer = _QUESTION.match(parts.path), _ANSWER.match(parts.path)
    found = question or answer
    return StackExchangeReader(site, found[1], is_answer=not question) if site and found else None


@dataclass(frozen=True, slots=True)
class StackExchangeReader:
    """A question with its answers and comments, the accepted answer first, then by votes."""

    site: str
    id: str
    is_answer: bool = False
    """True if the id is that of an answer."""
    name: str = "stackexchange"

    def next_requests(self, answers: Sequence[SiteAnswer]) -> Sequence[SiteRequest]:
        """Return the question and its answers, and then the comments of all of them."""
        options = f"site={self.site}&filter=withbody&pagesize={PER_PAGE}"
        if self.is_answer and not answers:
            return (SiteRequest(f"{_STACK_EXCHANGE}/answers/{self.id}?{options}"),)
        known = answers[1:] if self.is_answer else answers
        if not known:
            id = _items(answers[0])[0]["question_id"] if self.is_answer else self.id
            question = f"{_STACK_EXCHANGE}/questions/{id}"
            answers_url = f"{question}/answers?order=desc&sort=votes&{options}"
            return (SiteRequest(f"{question}?{options}"), SiteRequest(answers_url))
        if len(known) == 2:
            ids = [_items(known[0])[0]["question_id"], *(each["answer_id"] for each in _items(known[1]))]
            posts = ";".join(map(str, ids[:PER_PAGE]))
            return (
                SiteRequest(
                    f"{_STACK_EXCHANGE}/posts/{posts}/comments?order=asc&sort=creation&{options}",
                    optional=True,
                    label="the comments",
                ),
            )
        return ()

    def document(self, answers: Sequence[SiteAnswer]) -> SiteDocument:
        """Compose question, answers and comments."""
        known = answers[1:] if self.is_answer else answers
        question, replies = _items(known[0])[0], _items(known[1])
        replies.sort(key=lambda each: (not each.get("is_accepted"), -int(each["score"])))
        comments = _items(known[2]) if len(known) > 2 and known[2].found else []
        tags = ", ".join(question.get("tags") or ())
        parts = [*_scored_post(question, question["question_id"], comments, f"tags: {tags}" if tags else "")]
        parts.append(Part(f"## {count_words(len(replies), 'answer')}"))
        for each in replies:
            kind = "accepted answer" if each.get("is_accepted") else "answer"
            parts += _scored_post(each, each["answer_id"], comments, kind)
        return SiteDocument(
            unescape(get_text(question, "title")), tuple(parts),
            author=unescape(get_text(question, "owner", "display_name")), published=_to_date(question["creation_date"]),
            modified=_to_date(question.get("last_activity_date") or question["creation_date"]), site="Stack Exchange",
            cut=any(answer.found and answer.json().get("has_more") for answer in known),
        )  # fmt: skip


def _scored_post(
    entry: Mapping[str, Any], id: object, comments: Sequence[Mapping[str, Any]], *facts: str
) -> Iterator[Part]:
    author = unescape(get_text(entry, "owner", "display_name"))
    yield from post(
        author, _to_date(entry["creation_date"]), get_text(entry, "body"), points(entry["score"]), *facts, form="html"
    )
    own = [each for each in comments if each.get("post_id") == id]
    if own:
        yield Part(f"### {count_words(len(own), 'comment')}")
    for each in own:
        author = unescape(get_text(each, "owner", "display_name"))
        score = points(each["score"]) if each.get("score") else ""
        yield from post(author, _to_date(each["creation_date"]), get_text(each, "body"), score, form="html")


def _items(answer: SiteAnswer) -> list[Mapping[str, Any]]:
    return get_list(answer.json()["items"])


def _site_name(host: str) -> str:
    if host in _NAMED_SITES:
        return _NAMED_SITES[host]
    if host.endswith(".stackexchange.com"):
        return host.removesuffix(".stackexchange.com")
    for name, site in _NAMED_SITES.items():  # pt.stackoverflow.com, meta.superuser.com
        if host.endswith(f".{name}"):
            return f"{host.removesuffix(f'.{name}')}.{site}"
    return ""


def _to_date(seconds: Any) -> str:
    """Return the ISO 8601 day of seconds since the epoch."""
    return datetime.fromtimestamp(int(seconds), UTC).date().isoformat()


# Discourse: topics with the raw text of all posts (docs.discourse.org).

_TOPIC = re.compile(r"(https?://[^/?#]+(?:/[\w-]+)?)/t/(?:[^/?#]+/)?(\d+)(?:/\d+)?/?(?:[?#].*)?$")
_DISCOURSE_HOSTS = re.compile(r"^(?:discourse|discuss|community|forum|forums|users|meta|internals)\.", re.IGNORECASE)
"""Hosts whose `/t/` is most probably a topic of Discourse. Elsewhere the path alone says too little."""


def match_topic(url: str) -> SiteReader | None:
    """Return the reader of a topic, None for any other address."""
    match = _TOPIC.match(url) if _DISCOURSE_HOSTS.match(urlsplit(url).hostname or "") else None
    return DiscourseReader(match[1], match[2]) if match else None


@dataclass(frozen=True, slots=True)
class DiscourseReader:
    """A topic of Discourse with the raw text of all posts."""

    base: str
    id: str
    name: str = "discourse"

    def next_requests(self, answers: Sequence[SiteAnswer]) -> Sequence[SiteRequest]:
        """Return the topic, and then the posts that its answer lacks, some hundred at a time."""
        if not answers:
            return (SiteRequest(f"{self.base}/t/{self.id}.json?include_raw=1"),)
        if len(answers) > 1:
            return ()
        stream = answers[0].json()["post_stream"]
        loaded = {each["id"] for each in get_list(stream["posts"])}
        missing = [each for each in stream["stream"] if each not in loaded]
        groups = [missing[start : start + PER_PAGE] for start in range(0, len(missing), PER_PAGE)]
        posts = f"{self.base}/t/{self.id}/posts.json?include_raw=1&"
        return [
            SiteRequest(posts + "&".join(f"post_ids[]={id}" for id in group)) for group in groups[: MAX_REQUESTS - 1]
        ]

    def document(self, answers: Sequence[SiteAnswer]) -> SiteDocument:
        """Compose the posts in order."""
        topic = answers[0].json()
        posts = [each for answer in answers for each in get_list(answer.json()["post_stream"]["posts"])]
        posts.sort(key=lambda each: int(each["post_number"]))
        parts: list[Part] = []
        for each in posts:
            raw, author = get_text(each, "raw"), get_text(each, "username")
            likes = next((one.get("count", 0) for one in each.get("actions_summary") or () if one.get("id") == 2), 0)
            facts = (
                count_words(likes, "like") if likes else "",
                "accepted answer" if each.get("accepted_answer") else "",
                f"post {each['post_number']}",
                f"to post {each['reply_to_post_number']}" if each.get("reply_to_post_number") else "",
            )
            form: PartForm = "markdown" if raw else "html"
            parts += post(author, get_text(each, "created_at"), raw or get_text(each, "cooked"), *facts, form=form)
        return SiteDocument(
            get_text(topic, "title"), tuple(parts), author=get_text(posts[0], "username"),
            published=get_text(topic, "created_at"), modified=get_text(topic, "last_posted_at"), site="Discourse",
            cut=len(posts) < int(topic["posts_count"]),
        )  # fmt: skip


# Hacker News (hn.algolia.com/api) and Lobsters (addresses with `.json`): stories with all comments.

_HACKER_NEWS = re.compile(r"https?://news\.ycombinator\.com/item\?(?:[^#]*&)?id=(\d+)")
_LOBSTERS = re.compile(r"https?://lobste\.rs/s/([a-z0-9]+)(?:/|$)")


def match_story(url: str) -> SiteReader | None:
    """Return the reader of a story or comment, None for any other address."""
    if match := _HACKER_NEWS.match(url):
        return HackerNewsReader(match[1])
    match = _LOBSTERS.match(url)
    return LobstersReader(match[1]) if match else None


@dataclass(frozen=True, slots=True)
class HackerNewsReader:
    """A story or comment of Hacker News with all comments below it, from the search service of Algolia."""

    id: str
    name: str = "hackernews"

    def next_requests(self, answers: Sequence[SiteAnswer]) -> Sequence[SiteRequest]:
        """Return the one request for the whole tree."""
        return () if answers else (SiteRequest(f"https://hn.algolia.com/api/v1/items/{self.id}"),)

    def document(self, answers: Sequence[SiteAnswer]) -> SiteDocument:
        """Compose the story and its comments."""
        item = answers[0].json()
        title = get_text(item, "title") or f"Comment of {get_text(item, 'author')}"
        score = points(item["points"]) if item.get("points") is not None else ""
        head = post(get_text(item, "author"), get_text(item, "created_at"), get_text(item, "text"), score, form="html")
        link = [Part(f"<{get_text(item, 'url')}>")] if item.get("url") else []
        parts = (*head, *link, *_replies(item["children"]))
        return SiteDocument(
            title, parts, author=get_text(item, "author"), published=get_text(item, "created_at"), site="Hacker News"
        )


@dataclass(frozen=True, slots=True)
class LobstersReader:
    """A story of Lobsters with its comments."""

    id: str
    name: str = "lobsters"

    def next_requests(self, answers: Sequence[SiteAnswer]) -> Sequence[SiteRequest]:
        """Return the one request."""
        return () if answers else (SiteRequest(f"https://lobste.rs/s/{self.id}.json"),)

    def document(self, answers: Sequence[SiteAnswer]) -> SiteDocument:
        """Compose the story and its comments, which are in reading order."""
        story = answers[0].json()
        author, date = _user(story.get("submitter_user")), get_text(story, "created_at")
        tags = ", ".join(map(str, story.get("tags") or ()))
        parts = [
            *post(author, date, get_text(story, "description"), points(story["score"]), f"tags: {tags}", form="html")
        ]
        if story.get("url"):
            parts.append(Part(f"<{story['url']}>"))
        for each in get_list(story["comments"]):
            depth = int(each.get("depth", each.get("indent_level", 0)))
            parts += post(_user(each.get("commenting_user")), get_text(each, "created_at"), get_text(each, "comment"),
                          points(each.get("score", 0)), reply_level(depth), form="html")  # fmt: skip
        return SiteDocument(get_text(story, "title"), tuple(parts), author=author, published=date, site="Lobsters")


def _replies(children: Any) -> Iterator[Part]:
    """Yield the comments of a tree of Hacker News in reading order, each with its depth. Deleted ones have no text."""
    stack = [(each, 0) for each in reversed(get_list(children))]
    while stack:
        comment, depth = stack.pop()
        author, date, text = (get_text(comment, name) for name in ("author", "created_at", "text"))
        if text:
            yield from post(author, date, text, reply_level(depth), form="html")
        stack += [(each, depth + 1) for each in reversed(get_list(comment.get("children") or []))]


def _user(user: object) -> str:
    """Return a user's name, which Lobsters sends as an object or, since 2024, as text."""
    return get_text(user, "username") if isinstance(user, Mapping) else str(user or "")
