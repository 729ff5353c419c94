"""Write the parts that packages of all registries have: facts, lists and versions with dates."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from keyhole.sites.document import Part, SiteDocument
from keyhole.sites.readers.base import one_line

MAX_VERSIONS: Final = 5_000
"""Versions that are listed, the newest ones; few packages have 3,000."""
URL_END: Final = r"/?(?:[?#].*)?$"
"""A pattern for the end of an address whose query and fragment do not matter."""


def package_document(title: str, parts: Iterable[Part], site: str, author: str = "") -> SiteDocument:
    return SiteDocument(title, tuple(part for part in parts if part.text.strip()), author=author, site=site)


def facts_part(facts: Mapping[str, str | Sequence[str]]) -> Part:
    """Return a list of named facts, without empty ones."""
    lines = []
    for name, value in facts.items():
        text = ", ".join(value) if not isinstance(value, str) else value
        if text.strip():
            lines.append(f"- {name}: {' '.join(text.split())}")
    return Part("\n".join(lines))


def list_part(title: str, entries: Sequence[str]) -> Part:
    lines = "\n".join(f"- {one_line(each)}" for each in entries)
    return Part(f"## {title}\n\n{lines}" if lines else "")


def versions_part(versions: Sequence[tuple[str, str, str]]) -> Part:
    """Return the versions with dates and remarks, the newest first."""
    ordered = sorted(versions, key=lambda each: each[1], reverse=True)
    entries = [" · ".join(part for part in each if part) for each in ordered[:MAX_VERSIONS]]
    more = [f"{len(ordered) - MAX_VERSIONS:,} older versions are not listed."] if len(ordered) > MAX_VERSIONS else []
    return list_part("Versions", [*entries, *more])
