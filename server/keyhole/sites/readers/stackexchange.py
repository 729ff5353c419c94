"""Read questions of Stack Exchange with answers and comments (api.stackexchange.com/docs)."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Final
from urllib.parse import urlsplit

from keyhole.sites.document import Part, SiteDocument
from keyhole.sites.readers.base import (
    PER_PAGE,
    Answer,
    Request,
    SiteReader,
    count_words,
    get_list,
    get_text,
    points,
    post,
)
from keyhole.text.invalid_characters import unescape

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

    def next_requests(self, answers: Sequence[Answer]) -> Sequence[Request]:
        """Return the question and its answers, and then the comments of all of them."""
        options = f"site={self.site}&filter=withbody&pagesize={PER_PAGE}"
        if self.is_answer and not answers:
            return (Request(f"{_STACK_EXCHANGE}/answers/{self.id}?{options}"),)
        known = answers[1:] if self.is_answer else answers
        if not known:
            id = _items(answers[0])[0]["question_id"] if self.is_answer else self.id
            return (Request(f"{_STACK_EXCHANGE}/questions/{id}?{options}"),
                    Request(f"{_STACK_EXCHANGE}/questions/{id}/answers?order=desc&sort=votes&{options}"))  # fmt: skip
        if len(known) == 2:
            ids = [_items(known[0])[0]["question_id"], *(each["answer_id"] for each in _items(known[1]))]
            posts = ";".join(map(str, ids[:PER_PAGE]))
            return (
                Request(
                    f"{_STACK_EXCHANGE}/posts/{posts}/comments?order=asc&sort=creation&{options}",
                    optional=True,
                    label="the comments",
                ),
            )
        return ()

    def document(self, answers: Sequence[Answer]) -> SiteDocument:
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


def _items(answer: Answer) -> list[Mapping[str, Any]]:
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
