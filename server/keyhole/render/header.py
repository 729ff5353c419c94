"""Render the optional header lines of a page: its author, site and dates, and the passages that changed.

Text that comes from the page follows a word of Keyhole and is short, so that it cannot imitate another header line.
"""

from __future__ import annotations

import re
from typing import Final

from keyhole.records import CHANGED, MARKDOWN, Artifact
from keyhole.text.diff import parse_ranges
from keyhole.text.escape import plain_line

HEADER_FROM: Final = 2_000
"""Bytes. Smaller budgets have no optional header lines: all space is for the text."""
MAX_BYLINE_NAME: Final = 60
"""Bytes of the name of an author or a site. Longer values are lists of names."""
MAX_RANGES: Final = 3
"""Ranges of new passages in the line. `_meta` has up to 20."""

_DAY: Final = re.compile(r"[0-9]{4}(?:-[0-9]{2}(?:-[0-9]{2})?)?")
_SEPARATORS: Final = re.compile(r"[\W_]+")


def header_lines(artifact: Artifact) -> list[str]:
    """Return at most two lines: the page's author, site and dates, and the passages new since an earlier fetch."""
    return [line for line in (_byline(artifact), _changes(artifact)) if line]


def header_facts(artifact: Artifact) -> dict[str, object]:
    """Return the content of the header lines as facts for programs: `about` and `changed`, each only if it is known."""
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
    """Return the site of a source, unless its title or URL contains the name, and the day of `date`."""
    return [fact for fact in (_site(artifact), day_of(date)) if fact]


def _site(artifact: Artifact) -> str:
    """Return the name of the site, "" if the title or the URL contains it."""
    site = _name(artifact.site)
    shown = _squash(f"{artifact.title} {artifact.url.split('?')[0]}")
    return "" if _squash(site) in shown else site


def _byline(artifact: Artifact) -> str:
    """Return the line with author, site and dates, "" without an author or a date: a site alone is not worth a line."""
    author, site = _name(artifact.author), _site(artifact)
    site = "" if _squash(site) == _squash(author) else site
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
    """Return the line that names the new passages, "" if the page did not change."""
    if not artifact.replaces:
        return ""
    count, ranges = parse_ranges(artifact.note(CHANGED) or "0")
    since = f'Changed since an earlier fetch (id="{artifact.replaces}")'
    if not count:
        return f"{since}: nothing is new, text was removed or moved."
    # The longest ranges, in reading order.
    longest = sorted(sorted(ranges, key=lambda span: span[0] - span[1])[:MAX_RANGES])
    places = ", ".join(f"{start}:{end}" for start, end in longest)
    more = f" and {count - len(longest)} more" if count > len(longest) else ""
    return f"{since}: new at {places}{more}."


def _name(text: str) -> str:
    """Return the name of an author or a site as one short line."""
    return plain_line(text, MAX_BYLINE_NAME).rstrip(".,;")


def day_of(date: str) -> str:
    """Return the day of an ISO 8601 date, or its month or year if it has no day; "" for any other text."""
    match = _DAY.match(date)
    return match[0] if match else ""


def _squash(text: str) -> str:
    """Return a text for comparison: lower case, letters and digits only."""
    return _SEPARATORS.sub("", text).casefold()
