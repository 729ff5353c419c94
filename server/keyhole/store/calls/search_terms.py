"""Make the texts in which a log looks for words and sites, and match them, alike in every log."""

from __future__ import annotations

from typing import Final
from urllib.parse import urlsplit

from keyhole.store.calls.record import CallFilters, CallRecord
from keyhole.text.sites import to_ascii

MAX_WORDS: Final = 8_000
"""Characters of a call in which words are looked for: the arguments, and the titles and URLs of twenty sources."""


def words_of(record: CallRecord) -> str:
    """Return the arguments, titles and URLs of a call in one text without regard to case."""
    call = record.summary
    facts = [call.tool, call.query, call.target, record.arguments]
    facts += [fact for text in record.texts for fact in (text.title, text.url)]
    return "\n".join(dict.fromkeys(filter(None, facts))).casefold()[:MAX_WORDS]


def sites_of(record: CallRecord) -> str:
    """Return the hosts of a call's target and texts, each between a dot and a space: `.docs.python.org .pypi.org `."""
    urls = [record.summary.target, *(text.url for text in record.texts)]
    return "".join(f".{host} " for host in dict.fromkeys(map(site_of, urls)) if host)


def site_of(url: str) -> str:
    """Return the host of a web address, "" for anything else."""
    if not url.startswith(("http://", "https://")):
        return ""
    try:
        return to_ascii(urlsplit(url).hostname or "")
    except ValueError:
        return ""


def wanted_words(filters: CallFilters) -> tuple[str, ...]:
    """Return the texts that `words_of` a call must contain."""
    return tuple(filters.words.casefold().split())


def wanted_site(filters: CallFilters) -> str:
    """Return the text that `sites_of` a call must contain, "" for any. The dot before a host lets subdomains match."""
    host = site_of(filters.site) or to_ascii(filters.site.strip())
    return f".{host.removeprefix('www.')} " if host else ""
