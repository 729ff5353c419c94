"""What of a page is kept: the artifact of a page and its document, and how it stands to the one before. Pure."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from keyhole._version import __version__
from keyhole.fetch.validators import Validators, safe_date, safe_etag
from keyhole.records import CHANGED, READER, Artifact, Document, Page
from keyhole.text.diff import new_ranges, noted

TOLD: Final = frozenset({"hidden", "invisible"})
"""What is told of a page's left-out parts: scripts, comments and menus are on every page."""


def artifact_of(page: Page, document: Document, id: str) -> Artifact:
    """A page and what was read in it, under an id."""
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
        etag=safe_etag(page.etag),
        last_modified=safe_date(page.last_modified),
        author=about.author,
        published=about.published,
        modified=about.modified,
        site=about.site,
        notes=((READER, __version__), *_told(document)),
    )


def validators(artifact: Artifact | None) -> Validators | None:
    """What may be asked about an artifact; None where its text must be had again, whatever the site would say.

    A text that was cut would stay so, and one that another version read would miss what this one reads better.
    """
    if artifact is None or artifact.cut or artifact.note(READER) != __version__:
        return None
    etag, date = safe_etag(artifact.etag), safe_date(artifact.last_modified)
    return Validators(artifact.url, etag, date) if etag or date else None


def _told(document: Document) -> list[tuple[str, str]]:
    """What every later result says of the document: what it is only, and what was left out."""
    notice = [("notice", document.notice)] if document.notice else []
    return notice + [(kind, str(count)) for kind, count in document.removed if kind in TOLD]


def follow(artifact: Artifact, previous: Artifact | None) -> Artifact:
    """An artifact that knows the one which the same request gave before, and what is new since.

    What it knows is stored with it, so that every later result says the same. The same text again keeps what it
    knew. Two texts of which one was cut, or read from another format or by another version, tell nothing of the page.
    """
    if previous is None or not _comparable(previous, artifact):
        return artifact
    if previous.id == artifact.id:
        known = tuple((name, value) for name, value in previous.notes if name == CHANGED)
        return replace(artifact, replaces=previous.replaces, notes=(*artifact.notes, *known))
    note = (CHANGED, noted(new_ranges(previous.text, artifact.text)))
    return replace(artifact, replaces=previous.id, notes=(*artifact.notes, note))


def _comparable(previous: Artifact, artifact: Artifact) -> bool:
    same_reading = previous.media_type == artifact.media_type and previous.note(READER) == artifact.note(READER)
    return same_reading and not previous.cut
