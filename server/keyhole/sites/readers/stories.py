"""Read stories of Hacker News (hn.algolia.com/api) and Lobsters (addresses with `.json`) with all comments."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from keyhole.sites.document import Part, SiteDocument
from keyhole.sites.readers.base import Answer, Request, SiteReader, get_list, get_text, points, post, reply_level

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

    def next_requests(self, answers: Sequence[Answer]) -> Sequence[Request]:
        """Return the one request for the whole tree."""
        return () if answers else (Request(f"https://hn.algolia.com/api/v1/items/{self.id}"),)

    def document(self, answers: Sequence[Answer]) -> SiteDocument:
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

    def next_requests(self, answers: Sequence[Answer]) -> Sequence[Request]:
        """Return the one request."""
        return () if answers else (Request(f"https://lobste.rs/s/{self.id}.json"),)

    def document(self, answers: Sequence[Answer]) -> SiteDocument:
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
