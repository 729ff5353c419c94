"""Render the numbered sources of a search as text and facts.

A source that shows passages has one line about it, and its text between boundary lines. The
other sources follow in one list, a line each. Their snippets follow in one block between boundary lines, a line each.
So text of a page or of an engine stands outside a boundary only in quotation marks, and cannot imitate another source
inside a boundary.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

from keyhole.records import UNDIGESTED, EngineReport, Repeat, Source
from keyhole.render.answer import caveats, join_sentences
from keyhole.render.boundary import END, enclose
from keyhole.render.header import MAX_PLAIN_URL, day_of, form_read, quote_title, site_and_date
from keyhole.render.repeats import short_repeats
from keyhole.text.escape import plain_line
from keyhole.text.escape_url import MAX_URL, shorten_url

MAX_FAULT: Final = 300
"""Bytes of an engine's fault or remark."""
MAX_COPIES: Final = 3
"""Sites with the same text that are named. The others are only counted; `--json` has all URLs."""
MAX_HOST: Final = 60
"""Bytes of the host of a site with the same text."""
MAX_SNIPPET: Final = 300
"""Bytes of a search engine's snippet; engines give about 150 to 300 characters."""
WEAK_MATCH: Final = "Weak match: these pages may not contain the answer."
NO_MATCH: Final = "Nothing matches: no page that was read contains a word of the query."
UNRANKED: Final = "The pages are too long to rank in time: read them by their ids, with a query."


@dataclass(frozen=True, slots=True)
class CitedSource:
    """A source that shows passages."""

    source: Source
    body: str
    """The passages, with gap lines between them."""
    repeats: tuple[int, ...] = ()
    """Numbers of the sources that show a passage with the same text, which is left out here."""
    before: tuple[Repeat, ...] = ()
    """Ranges left out because an earlier call of the session showed them."""


@dataclass(frozen=True, slots=True)
class ListedSource:
    """A source that shows no passages. `snippet` is "" if there is no space for it."""

    source: Source
    snippet: str = ""
    repeats: tuple[int, ...] = ()
    before: tuple[Repeat, ...] = ()


def search_status(
    shown: int,
    total: int,
    reports: Sequence[EngineReport],
    late: int,
    scope: str,
    stored: int = 0,
    notes: str = "",
    brief: bool = False,
    characters: int = 0,
) -> str:
    """Return the status line of a search: the number of sources, how many are from the store, and all failures.

    `characters`: the length of all passages shown. `late`: the number of pages that were not read in time. `brief`:
    leave out reasons and remarks of engines, which could take all the space.
    """
    where = "stored artifacts" if scope == "stored" else "the web"
    left_out = f", {total - shown} not shown: the budget is small" if shown < total else ""
    sources = f"{total} source{'s' if total != 1 else ''}"
    found = f"{stored} of {sources} from the store" if scope == "both" else f"{sources} from {where}"
    if brief:
        reports = [replace(report, fault=report.fault.partition(" (")[0], note="") for report in reports]
    length = f"{characters:,} characters shown." if characters and not brief else ""
    late_line = f"{late} not read in time." if late else ""
    return join_sentences(f"{found}{left_out}.", length, _engines(reports), late_line, notes)


def _engines(reports: Sequence[EngineReport]) -> str:
    """Return which engines failed, the remarks of the others, and which filters were not applied."""
    failed = [f"{report.name}: {plain_line(report.fault, MAX_FAULT)}" for report in reports if report.fault]
    failures = f"{len(reports) - len(failed)} of {len(reports)} engines; {'; '.join(failed)}." if failed else ""
    notes = [f"{report.name}: {plain_line(report.note, MAX_FAULT)}." for report in reports if report.note]
    unapplied: dict[str, list[str]] = {}
    for report in reports:
        for name in report.unapplied:
            unapplied.setdefault(name, []).append(report.name)
    without_news = ", ".join(unapplied.pop("news", []))
    by_engines: dict[str, list[str]] = {}
    for name, engines in unapplied.items():
        by_engines.setdefault(", ".join(engines), []).append(name)
    notes += [f"{', '.join(names)} not applied by {engines}." for engines, names in by_engines.items()]
    notes += [f"No news by {without_news}: web pages instead."] if without_news else []
    return join_sentences(failures, *notes)


def render_sources(
    status: Sequence[str], cited: Sequence[CitedSource], listed: Sequence[ListedSource], secret: bytes,
    next_line: str = "", *, brief: bool,
) -> str:  # fmt: skip
    """Return the whole text of a search's result. `secret` signs the boundaries. `next_line`: names the call that reads
    on. `brief`: leave out titles and facts, for small budgets."""
    parts = ["\n".join(status)]
    parts += [render_cited(each, number, secret, brief=brief) for number, each in enumerate(cited, start=1)]
    if listed:
        rows = list(enumerate(listed, start=len(cited) + 1))
        lines = ["Also found:"] if cited else []
        lines += [render_listed(each, number, brief=brief) for number, each in rows]
        snippets = [f"[{number}] {each.snippet}" for number, each in rows if each.snippet]
        parts.append("\n".join([*lines, *([enclose("\n".join(snippets), secret)] if snippets else [])]))
    return "\n".join(["\n\n".join(parts), *([next_line] if next_line else []), END])


def render_cited(cited: CitedSource, number: int, secret: bytes, *, brief: bool) -> str:
    """Return the lines of a source with its passages."""
    source = cited.source
    head = _address(source, number, brief=brief)
    if not brief and (about := _describe(cited)):
        head += f", {about}"
    elif brief and source.artifact:
        id = f'id="{source.artifact.id}"' if source.stored else ""
        head = join_sentences(head, id, *caveats(source.artifact, brief=True))
    return f"{head}\n{enclose(cited.body, secret)}"


def render_listed(listed: ListedSource, number: int, *, brief: bool) -> str:
    """Return the line of a source without passages."""
    source, artifact = listed.source, listed.source.artifact
    reason = f"not read: {source.not_read}" if source.not_read else ""
    day = "" if brief else day_of(source.date)
    undigested = UNDIGESTED if artifact and artifact.notice == UNDIGESTED else ""
    facts = (reason, undigested, day, _shared_passage(listed.repeats), short_repeats(listed.before))
    about = ", ".join(fact for fact in facts if fact)
    return join_sentences(
        _address(source, number, brief=brief),
        f"({about})" if about else "",
        f'id="{artifact.id}"' if artifact and source.stored else "",
    )


def shorten_snippet(text: str, size: int) -> str:
    """Return a search engine's snippet as one plain line of at most `size` bytes."""
    return plain_line(text, size)


def search_facts(cited: Sequence[CitedSource], listed: Sequence[ListedSource]) -> dict[str, object]:
    """Return the facts that a program needs to read on: the ids of the stored sources, in the order of the answer."""
    sources = [*(each.source for each in cited), *(each.source for each in listed)]
    return {"artifact_ids": [each.artifact.id for each in sources if each.artifact and each.stored]}


def search_details(
    cited: Sequence[CitedSource], listed: Sequence[ListedSource], *, total: int, weak: bool
) -> dict[str, object]:
    """Return the details of all sources shown. `total` counts all sources, also those not shown."""
    sources = [*(each.source for each in cited), *(each.source for each in listed)]
    return {"total": total, "weak": weak, "sources": [_source_details(source) for source in sources]}


def _describe(cited: CitedSource) -> str:
    """Return a source's site, date, length and id, its caveats, copies and repeats."""
    source, artifact = cited.source, cited.source.artifact
    if artifact is None:
        return ""
    facts = [*site_and_date(artifact, source.date), f"{len(artifact.main):,} characters", *form_read(artifact)]
    if source.stored:
        facts.append(f'id="{artifact.id}"')
    same, earlier = _shared_passage(cited.repeats), short_repeats(cited.before)
    sentences = [
        ", ".join(facts) + ".",
        *caveats(artifact),
        _also_at(source.copies),
        f"{same[:1].upper()}{same[1:]}, left out here." if same else "",
        f"{earlier[:1].upper()}{earlier[1:]}." if earlier else "",
    ]
    return join_sentences(*sentences)


def _address(source: Source, number: int, *, brief: bool) -> str:
    """Return a source's number and address, and its title unless `brief`."""
    url = shorten_url(source.url, MAX_PLAIN_URL if brief else MAX_URL)
    return join_sentences(f"[{number}] {url}", "" if brief else quote_title(source.title))


def _also_at(copies: Sequence[str]) -> str:
    """Return the sentence that names other sites with the same text."""
    hosts = list(dict.fromkeys(shorten_url(_host(url), MAX_HOST) for url in copies))
    more = f" and {len(hosts) - MAX_COPIES} more" if len(hosts) > MAX_COPIES else ""
    return f"Also at: {', '.join(hosts[:MAX_COPIES])}{more}." if hosts else ""


def _host(url: str) -> str:
    # Not urllib, which raises ValueError for some URLs that pages have.
    return url.partition("://")[2].split("/")[0].rpartition("@")[2].removeprefix("www.") or url


def _shared_passage(numbers: Sequence[int]) -> str:
    return f"shares a passage with {', '.join(f'[{number}]' for number in sorted(numbers))}" if numbers else ""


def _source_details(source: Source) -> dict[str, object]:
    """Return the details of one source, without empty ones."""
    artifact = source.artifact
    facts = {
        "url": source.url,
        "title": source.title,
        "artifact_id": artifact.id if artifact and source.stored else "",
        "date": day_of(source.date),
        "spans": [[*span, score] for span, score in zip(source.spans, source.scores, strict=True)],
        "copies": list(source.copies),
        "not_read": source.not_read,
    }
    return {name: value for name, value in facts.items() if value}
