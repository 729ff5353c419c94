"""Find the reader of an address, and run it in a worker. The modules of readers are imported on first use.

docs/how-it-works/sites.md lists the readers with their sources and limits; a test compares the two.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Any, Final

from keyhole.extensions.site_apis.site_readers import MAX_REQUESTS, SiteAnswer, SiteReader, SiteRequest, compose
from keyhole.fetch.permission import WebPlace, owner_of
from keyhole.runtime.extensions import load_function

_MATCHERS: Final = (
    ("github.com/", "github:match_discussion"),
    ("github.com/", "github:match_repository"),
    ("github.com/", "github:match_gist"),
    ("/-/", "forges:match_forge"),
    ("codeberg.org/", "forges:match_forge"),
    ("pypi.org/", "packages:match_pypi"),
    ("npmjs.com/", "packages:match_npm"),
    ("crates.io/", "packages:match_crates"),
    ("/artifact", "packages:match_maven"),
    ("rubygems.org/", "packages:match_gem"),
    ("/questions/", "questions:match_question"),
    ("/q/", "questions:match_question"),
    ("/a/", "questions:match_question"),
    ("ycombinator.com/", "questions:match_story"),
    ("lobste.rs/", "questions:match_story"),
    ("/t/", "questions:match_topic"),
    ("arxiv.org/", "references:match_reference"),
    ("/rfc", "references:match_reference"),
)
"""Text that every address of a reader contains, and the function that returns the reader for its addresses."""


def find_reader(url: str, names: Collection[str] | None) -> SiteReader | None:
    """Return the reader of an address, or None if no reader matches or its name is not in `names`. `names`: None for
    all readers.

    An address with parts that could lead to another object of an API has no reader.
    """
    with suppress(ValueError):
        for sign, match in _MATCHERS:
            if sign in url:
                reader: SiteReader | None = load_function(f"keyhole.extensions.site_apis.{match}")(url)
                if reader:
                    return reader if names is None or reader.name in names else None
    return None


def places_of(reader: SiteReader) -> tuple[WebPlace, ...]:
    """Return the places that the requests of a reader, and their redirects, may reach."""
    owners = tuple(dict.fromkeys(owner_of(request.url) for request in reader.next_requests(())))
    return (*owners, *(place for owner in owners for place in _further_places(owner)))


def _further_places(owner: WebPlace) -> Iterator[WebPlace]:
    """Yield the other places of an API that one reader asks or that the API leads to."""
    match owner.site, owner.folder:
        case "api.github.com", ("repos", name, repo):
            yield WebPlace("api.github.com", ("repositories",))  # where the API leads for a renamed repository
            yield WebPlace("github.com", (name, repo))  # the diff of a pull request
            yield WebPlace("patch-diff.githubusercontent.com", ("raw", name, repo))
        case "crates.io", _:
            yield WebPlace("static.crates.io", ("readmes",))
        case "pypi.org", (_, name):
            yield WebPlace("pypi.org", ("rss", "project", name))


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
