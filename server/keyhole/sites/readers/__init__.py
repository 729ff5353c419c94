"""Read objects that sites offer through an API: find the reader of an address, and run it in a worker.

docs/how-it-works/sites.md lists them with their sources and limits; a test compares the two.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import suppress
from typing import Any, Final

from keyhole.sites.readers.base import MAX_REQUESTS, SiteAnswer, SiteReader, SiteRequest, compose
from keyhole.sites.readers.forges import match_forge
from keyhole.sites.readers.github import match_discussion, match_gist, match_repository
from keyhole.sites.readers.packages import match_crates, match_gem, match_maven, match_npm, match_pypi
from keyhole.sites.readers.questions import match_question, match_story, match_topic
from keyhole.sites.readers.references import match_reference

_MATCHERS: Final[tuple[Callable[[str], SiteReader | None], ...]] = (
    match_discussion, match_repository, match_gist, match_forge, match_pypi, match_npm, match_crates, match_maven,
    match_gem, match_question, match_story, match_topic, match_reference,
)  # fmt: skip


def find_reader(url: str, names: Collection[str] | None) -> SiteReader | None:
    """Return the reader of an address, or None if no reader matches or its name is not in `names`. `names`: None for
    all readers.

    An address with parts that could lead to another object of an API has no reader.
    """
    with suppress(ValueError):
        for match in _MATCHERS:
            if reader := match(url):
                return reader if names is None or reader.name in names else None
    return None


# Steps: a worker gives a reader the answers of an API, and what comes back from there is checked.

_FORMS: Final = (ValueError, TypeError, KeyError, IndexError, AttributeError, StopIteration)
"""What readers raise for answers of another form than they know."""


def continue_reading(arguments: Mapping[str, Any], bodies: Sequence[bytes]) -> tuple[dict[str, Any], bytes]:
    """Return the next requests of the reader of `url`, or the composed document; b"" if an answer has another form.

    `answers`: request, final address and label of each answer, whose bodies are `bodies`.
    """
    reader = find_reader(arguments["url"], None)
    answers = [
        SiteAnswer(request, url, body, label)
        for (request, url, label), body in zip(arguments["answers"], bodies, strict=True)
    ]
    with suppress(*_FORMS):
        if reader and (requests := reader.next_requests(answers)):
            return {"requests": [[each.url, each.optional, each.label] for each in requests]}, b""
        if reader:
            return {}, compose(reader, answers).encode()
    return {}, b""


def read_requests(values: Mapping[str, Any]) -> tuple[SiteRequest, ...]:
    """Return the requests in a worker's result, or () if they have another form. Their places are checked later."""
    rows = values.get("requests")
    with suppress(ValueError, TypeError):
        return tuple(
            SiteRequest(str(url), bool(optional), str(label))
            for url, optional, label in (rows if isinstance(rows, list) else [])[:MAX_REQUESTS]
        )
    return ()
