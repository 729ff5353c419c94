"""Make the texts in which every log looks for words and sites, and the SQL conditions of filters."""

from __future__ import annotations

from typing import Any, Final
from urllib.parse import urlsplit

from keyhole.store.calls.record import OK, CallFilters, CallRecord
from keyhole.store.calls.rows import to_storable
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


def sql_conditions(filters: CallFilters, place: str, contains: str, reads: str) -> tuple[list[str], list[Any]]:
    """Return the conditions in SQL that filters set for a row of `calls`, and their values.

    `place`: the placeholder of a value, such as `?`. `contains`: the condition that the column `{column}` contains a
    value, with its placeholder. `reads`: the condition that a call read a text.
    """
    conditions: list[str] = []
    values: list[Any] = []
    equal = {name: getattr(filters, name) for name in ("session", "client", "tool", "outcome", "miss", "follows")}
    if filters.outcome == "error":
        # Each failed call is a miss, and the index of misses is in the order of the list.
        equal["outcome"] = ""
        conditions.append(f"calls.miss <> '' AND calls.outcome <> '{OK}'")
    elif filters.misses_only or filters.miss:
        conditions.append("calls.miss <> ''")
    if filters.follows:
        conditions.append("calls.follows <> ''")  # the condition of the index
    for name, value in equal.items():
        if value:
            conditions.append(f"calls.{name} = {place}")
            values.append(to_storable(value))
    if filters.text:
        conditions.append(reads)
        values.append(to_storable(filters.text))
    for column, wanted in (("sites", [wanted_site(filters)]), ("words", wanted_words(filters))):
        for text in filter(None, wanted):
            conditions.append(contains.format(column=column))
            values.append(to_storable(text))
    return conditions, values
