"""Read topics of Discourse with the raw text of all posts (docs.discourse.org)."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from urllib.parse import urlsplit

from keyhole.sites.document import Form, Part, SiteDocument
from keyhole.sites.readers.base import (
    MAX_REQUESTS,
    PER_PAGE,
    Answer,
    Request,
    SiteReader,
    count_words,
    get_list,
    get_text,
    post,
)

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

    def next_requests(self, answers: Sequence[Answer]) -> Sequence[Request]:
        """Return the topic, and then the posts that its answer lacks, some hundred at a time."""
        if not answers:
            return (Request(f"{self.base}/t/{self.id}.json?include_raw=1"),)
        if len(answers) > 1:
            return ()
        stream = answers[0].json()["post_stream"]
        loaded = {each["id"] for each in get_list(stream["posts"])}
        missing = [each for each in stream["stream"] if each not in loaded]
        groups = [missing[start : start + PER_PAGE] for start in range(0, len(missing), PER_PAGE)]
        posts = f"{self.base}/t/{self.id}/posts.json?include_raw=1&"
        return [Request(posts + "&".join(f"post_ids[]={id}" for id in group)) for group in groups[: MAX_REQUESTS - 1]]

    def document(self, answers: Sequence[Answer]) -> SiteDocument:
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
            form: Form = "markdown" if raw else "html"
            parts += post(author, get_text(each, "created_at"), raw or get_text(each, "cooked"), *facts, form=form)
        return SiteDocument(
            get_text(topic, "title"), tuple(parts), author=get_text(posts[0], "username"),
            published=get_text(topic, "created_at"), modified=get_text(topic, "last_posted_at"), site="Discourse",
            cut=len(posts) < int(topic["posts_count"]),
        )  # fmt: skip
