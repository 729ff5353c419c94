"""The numbered sources of a search as text and facts. Chooses nothing: what is shown of each was decided before.

A source that shows passages has lines of its own and its text inside a boundary. The others stand in one list at the
end, a line each, and what engines say of them in one block after it, a line each too, so that no text of a page or of
an engine ever begins a line outside a boundary, or can pass for another source within one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from keyhole.records import Repeat, Source, Window
from keyhole.render.answer import END, MAX_URL, boundary, notes, read_call, title_line
from keyhole.render.header import day_of, site_and_day
from keyhole.render.repeats import shown_before_briefly
from keyhole.text.escape import plain_line
from keyhole.text.measure import clip

MAX_COPIES: Final = 3
"""Sites named that have the same text; the rest are counted, and `_meta` has their URLs."""
MAX_HOST: Final = 60
"""Bytes of such a site's name."""
MAX_SNIPPET: Final = 300
"""Bytes of what an engine says of a page: engines give some 150 to 300 characters."""
WEAK: Final = "Weak match: these pages may not contain the answer."
NOTHING: Final = "Nothing matches: no page that was read holds a word of the query."


@dataclass(frozen=True, slots=True)
class Cited:
    """A source that shows passages: its text with gap lines, where reading goes on, whose text it repeats."""

    source: Source
    body: str
    mark: str
    following: Window | None
    repeats: tuple[int, ...] = ()
    """Numbers of sources that show what is left out of this one because it is the same."""
    before: tuple[Repeat, ...] = ()
    """What is left out because the session was shown it before."""


@dataclass(frozen=True, slots=True)
class Listed:
    """A source that shows none; `snippet` is "" where there is no room for it."""

    source: Source
    snippet: str = ""
    repeats: tuple[int, ...] = ()
    before: tuple[Repeat, ...] = ()


def results(status: Sequence[str], cited: Sequence[Cited], listed: Sequence[Listed], mark: str, *, brief: bool) -> str:
    """The whole result. `brief`: without titles and facts, for budgets that have no room for them."""
    parts = ["\n".join(status)]
    parts += [cited_text(each, number, brief=brief) for number, each in enumerate(cited, start=1)]
    if listed:
        rows = list(enumerate(listed, start=len(cited) + 1))
        lines = ["Also found:"] if cited else []
        lines += [listed_line(each, number, brief=brief) for number, each in rows]
        snippets = [f"[{number}] {each.snippet}" for number, each in rows if each.snippet]
        parts.append("\n".join([*lines, *([boundary("\n".join(snippets), mark)] if snippets else [])]))
    return "\n\n".join(parts) + f"\n{END}"


def cited_text(cited: Cited, number: int, *, brief: bool) -> str:
    """A source with its passages."""
    source, url = cited.source, clip(cited.source.url, MAX_URL)
    call = read_call(source.artifact.id, cited.following) if source.artifact and source.stored else ""
    facts = "" if brief else _facts_line(cited)
    head = [f"[{number}] {url}"] if brief else [f"[{number}] {title_line(source.title) or 'Untitled'}", url]
    return "\n".join(
        line for line in (*head, facts, boundary(cited.body, cited.mark), call and f"Next: {call}") if line
    )


def listed_line(listed: Listed, number: int, *, brief: bool) -> str:
    """A source without passages."""
    source, artifact = listed.source, listed.source.artifact
    why = f"not read: {source.not_read}" if source.not_read else ""
    earlier = shown_before_briefly(listed.before)
    about = ", ".join(
        fact for fact in (why, "" if brief else day_of(source.date), _shares_with(listed.repeats), earlier) if fact
    )
    id = f' id="{artifact.id}"' if artifact and source.stored else ""
    title = "" if brief else title_line(source.title)
    line = f"[{number}] {clip(source.url, MAX_URL)}" + (f" ({about})" if about else "") + id
    return f"{line} {title}" if title else line


def snippet(text: str, room: int) -> str:
    """An engine's own words for a page, on one line."""
    return plain_line(text, room)


def facts(cited: Sequence[Cited], listed: Sequence[Listed], *, total: int, weak: bool) -> dict[str, object]:
    """The same for programs: what is not known of a source is left out. `total`: sources, also those not shown."""
    sources = [*(each.source for each in cited), *(each.source for each in listed)]
    return {"total": total, "weak": weak, "sources": [_source_facts(source) for source in sources]}


def _facts_line(cited: Cited) -> str:
    source, artifact = cited.source, cited.source.artifact
    if artifact is None:
        return ""
    told = [*site_and_day(artifact, source.date), f"{len(artifact.text):,} characters"]
    if source.stored and not cited.following:
        told.append(f'id="{artifact.id}"')
    same, earlier = _shares_with(cited.repeats), shown_before_briefly(cited.before)
    sentences = [
        ", ".join(told) + ".",
        *notes(artifact, ""),
        _also_at(source.copies),
        f"{same[:1].upper()}{same[1:]}, left out here." if same else "",
        f"{earlier[:1].upper()}{earlier[1:]}." if earlier else "",
    ]
    return " ".join(sentence for sentence in sentences if sentence)


def _also_at(copies: Sequence[str]) -> str:
    hosts = list(dict.fromkeys(clip(_host(url), MAX_HOST) for url in copies))
    more = f" and {len(hosts) - MAX_COPIES} more" if len(hosts) > MAX_COPIES else ""
    return f"Also at: {', '.join(hosts[:MAX_COPIES])}{more}." if hosts else ""


def _host(url: str) -> str:
    # By hand, as urllib refuses some hosts that a page's URL may have.
    return url.partition("://")[2].split("/")[0].rpartition("@")[2].removeprefix("www.") or url


def _shares_with(numbers: Sequence[int]) -> str:
    return f"shares a passage with {', '.join(f'[{number}]' for number in sorted(numbers))}" if numbers else ""


def _source_facts(source: Source) -> dict[str, object]:
    artifact = source.artifact
    known = {
        "url": source.url,
        "title": title_line(source.title),
        "artifact_id": artifact.id if artifact and source.stored else "",
        "date": day_of(source.date),
        "spans": [[*span, score] for span, score in zip(source.spans, source.scores, strict=True)],
        "copies": list(source.copies),
        "not_read": source.not_read,
    }
    return {name: value for name, value in known.items() if value}
