"""The lines above a page that are shown only where there is something to say: whose it is, when, what changed.

Words and facts of an artifact; decides nothing about it. What a page says of itself stands after a word of ours and
is bounded, so that it cannot pass for another line of the header.
"""

from __future__ import annotations

import re
from typing import Final

from keyhole.records import CHANGED, MARKDOWN, Artifact
from keyhole.text.diff import parse_ranges
from keyhole.text.escape import plain_line

HEADER_FROM: Final = 2_000
"""Bytes. A smaller budget keeps its room for the text."""
MAX_NAME: Final = 60
"""Bytes of an author or a site: longer ones are lists of names."""
MAX_SHOWN: Final = 3
"""New passages named in the line; `_meta` has up to 20."""

_DAY: Final = re.compile(r"[0-9]{4}(?:-[0-9]{2}(?:-[0-9]{2})?)?")
_SQUASHED: Final = re.compile(r"[\W_]+")


def header_lines(artifact: Artifact) -> list[str]:
    """At most two lines: the page's author, site and dates; which passages are new since an earlier fetch."""
    return [line for line in (_byline(artifact), _changes(artifact)) if line]


def header_facts(artifact: Artifact) -> dict[str, object]:
    """The same for programs, under `about` and `changed`; neither where there is nothing to say."""
    named = {
        "author": artifact.author,
        "site": artifact.site,
        "published": artifact.published,
        "modified": artifact.modified,
        "text_from": artifact.note(MARKDOWN),
    }
    about = {name: value for name, value in named.items() if value}
    facts: dict[str, object] = {"about": about} if about else {}
    if artifact.replaces:
        count, ranges = parse_ranges(artifact.note(CHANGED) or "0")
        facts["changed"] = {"since": artifact.replaces, "new": count, "ranges": [list(span) for span in ranges]}
    return facts


def site_and_date(artifact: Artifact, date: str) -> list[str]:
    """A source's site, where its title and address do not say it, and the day of a date."""
    return [fact for fact in (_site(artifact), day_of(date)) if fact]


def _site(artifact: Artifact) -> str:
    site = _name(artifact.site)
    told = _squashed(f"{artifact.title} {artifact.url.split('?')[0]}")
    return "" if _squashed(site) in told else site


def _byline(artifact: Artifact) -> str:
    """Empty where the title and the address say it already; a site alone is not worth a line."""
    author, site = _name(artifact.author), _site(artifact)
    site = "" if _squashed(site) == _squashed(author) else site
    published, modified = day_of(artifact.published), day_of(artifact.modified)
    if not (author or published or modified):
        return ""
    parts = [
        f"by {author}" if author else "",
        f"from {site}" if site else "",
        f"published {published}" if published else "",
        f"modified {modified}" if modified and modified != published else "",
    ]
    line = ", ".join(part for part in parts if part)
    return f"{line[:1].upper()}{line[1:]}." if line else ""


def _changes(artifact: Artifact) -> str:
    if not artifact.replaces:
        return ""
    count, ranges = parse_ranges(artifact.note(CHANGED) or "0")
    since = f'Changed since an earlier fetch (id="{artifact.replaces}")'
    if not count:
        return f"{since}: nothing is new, text was removed or moved."
    # The longest say most; they are named in reading order.
    longest = sorted(sorted(ranges, key=lambda span: span[0] - span[1])[:MAX_SHOWN])
    places = ", ".join(f"{start}:{end}" for start, end in longest)
    more = f" and {count - len(longest)} more" if count > len(longest) else ""
    return f"{since}: new at {places}{more}."


def _name(text: str) -> str:
    return plain_line(text, MAX_NAME).rstrip(".,;")


def day_of(date: str) -> str:
    """The day, or month or year, of an ISO 8601 date; "" for anything else."""
    found = _DAY.match(date)
    return found[0] if found else ""


def _squashed(text: str) -> str:
    return _SQUASHED.sub("", text).casefold()
