"""Find the reader of an address. The modules of readers are imported on first use."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from keyhole.fetch.permission import WebPlace
from keyhole.runtime.extensions import load_function
from keyhole.sites.site_readers import SiteReader

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


class SiteApis:
    """The implementation of the port `SiteReaders`."""

    def find_reader(self, url: str) -> SiteReader | None:
        """Return the reader of an address, or None if no reader matches. May raise ValueError."""
        for sign, match in _MATCHERS:
            if sign in url:
                reader: SiteReader | None = load_function(f"keyhole.extensions.site_apis.{match}")(url)
                if reader:
                    return reader
        return None

    def further_places(self, owner: WebPlace) -> Iterator[WebPlace]:
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
