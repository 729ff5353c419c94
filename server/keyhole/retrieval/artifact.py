"""Make an artifact from a page and its document, and link it to the earlier artifact of the same requested URL."""

from __future__ import annotations

import re
from contextlib import suppress
from dataclasses import replace
from typing import Final

from keyhole._version import __version__
from keyhole.errors import KeyholeError
from keyhole.fetch.base import Validators, sanitize_etag, sanitize_last_modified
from keyhole.fetch.urls import parse_target, resolve_url
from keyhole.records import (
    CHANGED,
    READER,
    REFRESH,
    RENDERED,
    REST,
    SITE,
    SITE_FAULT,
    UNDIGESTED,
    WORDLESS,
    Artifact,
    Document,
    Page,
)
from keyhole.text.diff import find_new_ranges, format_ranges
from keyhole.text.page_structure import PAGES, describe_rest, describe_wordless, format_page_starts
from keyhole.text.refresh import Refresh, parse_refresh, read_refresh
from keyhole.text.sections import SECTION

COUNTED_PARTS: Final = frozenset({"hidden", "invisible"})
"""Kinds of removed parts whose number is stored, for `--explain`. Scripts, comments and menus are on every page."""
LITTLE_TEXT: Final = 500
"""Characters of a page that only says that it moved. Such notes have 20 to 200."""
MAX_LINKED: Final = 8_000
"""Characters of such a note with the addresses of its links."""
_LINK_TARGET: Final = re.compile(r"\]\([^()\s]{0,2000}\)")


def make_artifact(page: Page, document: Document, id: str) -> Artifact:
    """Return the artifact of a page and the document extracted from it."""
    about = document.metadata
    return Artifact(
        id=id,
        url=page.url,
        requested_url=page.requested_url.strip(),
        title=document.title,
        text=document.text,
        media_type=document.media_type,
        language=document.language,
        fetched_at=page.fetched_at,
        cut=page.cut or document.cut,
        etag=sanitize_etag(page.etag),
        last_modified_header=sanitize_last_modified(page.last_modified),
        author=about.author,
        published=about.published,
        modified=about.modified,
        site=about.site,
        notes=((READER, __version__), *_document_notes(document), *_page_notes(page, document)),
        main_end=document.main_end or None,
    )


def _page_notes(page: Page, document: Document) -> list[tuple[str, str]]:
    refresh = find_refresh(page, document.metadata.refresh)
    # A refresh of a page with a text at once is for readers without scripts, or only reloads it with a parameter.
    names_refresh = refresh and (refresh.seconds or has_little_text(document.main))
    notes = (
        (RENDERED, "yes" if page.rendered else ""),
        (SITE, page.reader),
        (SITE_FAULT, page.reader_fault),
        (REFRESH, str(refresh) if names_refresh else ""),
    )
    return [(name, value) for name, value in notes if value]


def find_refresh(page: Page, written: str) -> Refresh | None:
    """Return where a page sends its reader: as its reader wrote it, or by the Refresh header; None for nowhere else."""
    if refresh := read_refresh(written) or parse_refresh(page.refresh):
        with suppress(KeyholeError):
            own = parse_target(page.url)
            target = resolve_url(own, refresh.target)
            part = f"#{refresh.target.partition('#')[2]}" if "#" in refresh.target else ""
            return refresh._replace(target=target.url + part) if target != own else None
    return None


def has_little_text(text: str) -> bool:
    """Return True if a text can be no more than a note that the page is elsewhere; links count without addresses."""
    return len(text) <= MAX_LINKED and len(_LINK_TARGET.sub("", text)) <= LITTLE_TEXT


def is_fresh(artifact: Artifact, since: float) -> bool:
    """Return whether an artifact can be shown without a request: it was fetched since this time, and could be
    extracted."""
    return artifact.notice != UNDIGESTED and artifact.fetched_at >= since


def validators(artifact: Artifact | None) -> Validators | None:
    """Return the validators of a conditional request for an artifact; None if its text must be fetched again.

    A truncated text must be fetched again to be complete, and a text that another version extracted misses the
    improvements of this version.
    """
    if artifact is None or artifact.cut or artifact.note(READER) != __version__:
        return None
    etag, date = sanitize_etag(artifact.etag), sanitize_last_modified(artifact.last_modified_header)
    return Validators(artifact.url, etag, date) if etag or date else None


def _document_notes(document: Document) -> list[tuple[str, str]]:
    """Return the notes of a document: its notice, its rest, pages and named part, and the numbers of hidden parts."""
    rest = describe_rest(document.text[document.main_end :]) if document.main_end else ""
    pages = format_page_starts(document.pages)
    wordless = describe_wordless(document.wordless)
    values = (
        ("notice", document.notice),
        (REST, rest),
        (PAGES, pages),
        (SECTION, document.section),
        (WORDLESS, wordless),
    )
    return [(name, value) for name, value in values if value] + [
        (kind, str(count)) for kind, count in document.removed if kind in COUNTED_PARTS
    ]


def link_to_previous(artifact: Artifact, previous: Artifact | None) -> Artifact:
    """Return the artifact with the previous one's id in `replaces`, and a note that lists the new passages.

    If both have the same id, `replaces` and the note are copied from the previous one. Two texts are not compared if
    the previous one was truncated, or if their formats or the extracting versions differ. Only the main parts are
    compared, because menus and links to other pages differ at every visit.
    """
    if previous is None or not _is_comparable(previous, artifact):
        return artifact
    if previous.id == artifact.id:
        known = tuple((name, value) for name, value in previous.notes if name == CHANGED)
        return replace(artifact, replaces=previous.replaces, notes=(*artifact.notes, *known))
    note = (CHANGED, format_ranges(find_new_ranges(previous.main, artifact.main)))
    return replace(artifact, replaces=previous.id, notes=(*artifact.notes, note))


def _is_comparable(previous: Artifact, artifact: Artifact) -> bool:
    same_reading = previous.media_type == artifact.media_type and previous.note(READER) == artifact.note(READER)
    return same_reading and not previous.cut
