"""Readers of objects that sites offer through an API: which reader reads an address, and which names there are.

docs/how-it-works/sites.md lists them with their sources and limits; a test compares the two.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from contextlib import suppress
from typing import Final

from keyhole.sites.readers.base import SiteReader
from keyhole.sites.readers.crates import match_crates
from keyhole.sites.readers.discourse import match_topic
from keyhole.sites.readers.forges import match_forge
from keyhole.sites.readers.github_discussion import match_discussion
from keyhole.sites.readers.github_repository import match_gist, match_repository
from keyhole.sites.readers.maven import match_maven
from keyhole.sites.readers.npm import match_npm
from keyhole.sites.readers.pypi import match_pypi
from keyhole.sites.readers.references import match_reference
from keyhole.sites.readers.rubygems import match_gem
from keyhole.sites.readers.stackexchange import match_question
from keyhole.sites.readers.stories import match_story

_MATCHERS: Final[tuple[Callable[[str], SiteReader | None], ...]] = (
    match_discussion, match_repository, match_gist, match_forge, match_pypi, match_npm, match_crates, match_maven,
    match_gem, match_question, match_story, match_topic, match_reference,
)  # fmt: skip


def find_reader(url: str, names: Collection[str] | None) -> SiteReader | None:
    """Return the reader of an address, None if there is none or its name is not among `names`. None allows all.

    An address with parts that could lead to another object of an API has no reader.
    """
    with suppress(ValueError):
        for match in _MATCHERS:
            if reader := match(url):
                return reader if names is None or reader.name in names else None
    return None
