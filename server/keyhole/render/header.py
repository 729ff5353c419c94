"""Render the lines that say what a page is: its address, title, author, site and dates, and the passages that changed.

What a page wrote stands in quotation marks and is short, so that it cannot imitate a line or a word of Keyhole.
"""

from __future__ import annotations

import re
from typing import Final

from keyhole.records import CHANGED, MARKDOWN, RENDERED, SITE, Artifact
from keyhole.text.diff import parse_ranges
from keyhole.text.escape import quote_line
from keyhole.text.escape_url import MAX_URL, shorten_url
from keyhole.text.output_facts import EXIT_STATUS, describe_output, is_output, output_kind

MAX_TITLE: Final = 160
"""Bytes of a title that are shown. Search engines show about 60 characters."""
MAX_PLAIN_URL: Final = 80
"""Bytes of a URL in a small result: enough for most URLs."""
MAX_PLAIN_TITLE: Final = 50
"""Bytes of a title in a small result."""
MAX_BYLINE_NAME: Final = 60
"""Bytes of the name of an author or a site. Longer values are lists of names."""
MAX_RANGES: Final = 3
"""Ranges of new passages in the line. `--json` has up to 20."""

_DAY: Final = re.compile(r"[0-9]{4}(?:-[0-9]{2}(?:-[0-9]{2})?)?")
_SEPARATORS: Final = re.compile(r"[\W_]+")


def title_and_url(artifact: Artifact, form: str = "full") -> str:
    """Return the address and the title of a page, shorter in the form "plain"; for an output, its `output_line`."""
    if is_output(artifact.url):
        return output_line(artifact)
    max_url, max_title = (MAX_URL, MAX_TITLE) if form == "full" else (MAX_PLAIN_URL, MAX_PLAIN_TITLE)
    return f"{shorten_url(artifact.url, max_url)} {quote_line(artifact.title, max_title)}".rstrip()


def output_line(artifact: Artifact) -> str:
    """Return the line that says what an output is: its command, kind and exit status."""
    return describe_output(output_kind(artifact.url), artifact.title, artifact.note(EXIT_STATUS))


def source_line(artifact: Artifact, form: str = "full") -> str:
    """Return the address and the title of a page and, in the form "full", its author, site and dates."""
    byline = _byline(artifact) if form == "full" else []
    return ", ".join([title_and_url(artifact, form), *byline, *form_read(artifact)])


def form_read(artifact: Artifact) -> list[str]:
    """Return which form of the page was read, if not its HTML as the site serves it."""
    forms = {RENDERED: "as a browser showed it", MARKDOWN: "from its Markdown"}
    site = artifact.note(SITE)
    return [words for note, words in forms.items() if artifact.note(note)] + (
        [f"through the API of {site}"] if site else []
    )


def quote_title(title: str) -> str:
    """Return a page's title in quotation marks, as one line in which Markdown is escaped; "" without a title."""
    return quote_line(title, MAX_TITLE)


def changes_line(artifact: Artifact) -> str:
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


def header_facts(artifact: Artifact) -> dict[str, object]:
    """Return the content of the header lines for programs: `about` and `changed`, each only if it is known."""
    named = {
        "author": artifact.author,
        "site": artifact.site,
        "published": artifact.published,
        "modified": artifact.modified,
        "text_from": artifact.note(MARKDOWN),
    }
    about = {name: value for name, value in named.items() if value}
    facts: dict[str, object] = {"about": about} if about else {}
    if artifact.note(RENDERED):
        facts["rendered"] = True
    if artifact.replaces:
        count, ranges = parse_ranges(artifact.note(CHANGED) or "0")
        facts["changed"] = {"since": artifact.replaces, "new": count, "ranges": [list(span) for span in ranges]}
    return facts


def site_and_date(artifact: Artifact, date: str) -> list[str]:
    """Return the site of a source, unless its title or URL contains the name, and the day of `date`."""
    site = _site(artifact)
    return [fact for fact in (site and f"from {_quote_name(site)}", day_of(date)) if fact]


def _site(artifact: Artifact) -> str:
    """Return the name of the site, "" if the title or the URL contains it."""
    shown = _squash(f"{artifact.title} {artifact.url.split('?')[0]}")
    return "" if _squash(artifact.site) in shown else artifact.site


def _byline(artifact: Artifact) -> list[str]:
    """Return author, site and dates, nothing without an author or a date: a site alone is not worth its space."""
    author, site = artifact.author, _site(artifact)
    site = "" if _squash(site) == _squash(author) else site
    published, modified = day_of(artifact.published), day_of(artifact.modified)
    if not (author or published or modified):
        return []
    parts = [
        author and f"by {_quote_name(author)}",
        site and f"from {_quote_name(site)}",
        published and f"published {published}",
        modified and modified != published and f"modified {modified}",
    ]
    return [part for part in parts if part]


def _quote_name(text: str) -> str:
    """Return the name of an author or a site in quotation marks, as one short line."""
    return quote_line(text.rstrip(".,; "), MAX_BYLINE_NAME)


def day_of(date: str) -> str:
    """Return the day of an ISO 8601 date, or its month or year if it has no day; "" for any other text."""
    match = _DAY.match(date)
    return match[0] if match else ""


def _squash(text: str) -> str:
    """Return a text for comparison: lower case, letters and digits only."""
    return _SEPARATORS.sub("", text).casefold()
