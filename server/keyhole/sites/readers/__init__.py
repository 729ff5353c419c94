"""Readers of objects that sites offer through an API: which reader reads an address, and which names there are.

docs/how-it-works/sites.md lists them with their sources and limits; a test compares the two.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import Final

from keyhole.sites.readers.base import SiteReader
from keyhole.sites.readers.forges import match_forge
from keyhole.sites.readers.github_discussion import match_discussion
from keyhole.sites.readers.github_repository import match_gist, match_repository
from keyhole.sites.readers.packages import match_package
from keyhole.sites.readers.questions import match_question
from keyhole.sites.readers.references import match_reference

_MATCHERS: Final[tuple[Callable[[str], SiteReader | None], ...]] = (
    match_discussion, match_repository, match_gist, match_forge, match_package, match_question, match_reference,
)  # fmt: skip


def find_reader(url: str, names: Collection[str] | None) -> SiteReader | None:
    """Return the reader of an address, None if there is none or its name is not among `names`. None allows all."""
    for match in _MATCHERS:
        if reader := match(url):
            return reader if names is None or reader.name in names else None
    return None
