"""Read EPUB books as their chapters in reading order."""

from __future__ import annotations

import posixpath
from typing import Any, Final
from urllib.parse import unquote

from keyhole.errors import Code, KeyholeError
from keyhole.extensions.documents.zip_archive import Archive
from keyhole.extract.body import Body, decode
from keyhole.extract.formats.xml import parse_xml
from keyhole.extract.markup import fragment_to_markdown, to_one_line
from keyhole.records import Document, Metadata
from keyhole.text.clean import clean
from keyhole.text.escape import escape_markdown

MAX_CHAPTERS: Final = 2_000
"""Largest number of chapters read. Long books have some 200."""

_CONTAINER = "META-INF/container.xml"
_ENCRYPTION = "META-INF/encryption.xml"
_CHAPTER_TYPES = frozenset({"application/xhtml+xml", "text/html"})


def read_epub(body: Body) -> Document:
    """Read the title, author and chapters of a book. A damaged chapter is replaced by a note."""
    archive = Archive(body)
    package_name = _find_package(archive)
    package = _parse_part(archive, package_name)
    chapters = _list_chapters(archive, package, posixpath.dirname(package_name))
    _refuse_encrypted(archive, chapters)
    metadata = _read_metadata(package)
    parts = [f"# {escape_markdown(metadata.title)}\n"] if metadata.title else []
    parts += [f"By {escape_markdown(metadata.author)}\n"] if metadata.author else []
    for name in chapters:
        try:
            text = fragment_to_markdown(decode(archive.read(name), "application/xhtml+xml"), body.url, body.url)
        except KeyholeError as error:
            if error.code is not Code.EXTRACTION_FAILED:
                raise
            text = f"(The chapter {escape_markdown(to_one_line(name, 100))} is damaged.)"
        if text:
            parts.append(f"{text}\n")
    return Document(
        title=metadata.title, text="\n".join(parts), media_type="", language=metadata.language, metadata=metadata
    )


def _find_package(archive: Archive) -> str:
    container = _parse_part(archive, _CONTAINER)
    root_file = container.find(".//{*}rootfile")
    return str(root_file.get("full-path") or "") if root_file is not None else ""


def _parse_part(archive: Archive, name: str) -> Any:
    root = parse_xml(archive.read(name))
    if root is None:
        raise archive.damage_error(f"its part {name[:100]} cannot be read")
    return root


def _list_chapters(archive: Archive, package: Any, folder: str) -> list[str]:
    """Return the names of the HTML parts in the order of the book's spine, without duplicates."""
    hrefs = {
        str(item.get("id")): posixpath.normpath(posixpath.join(folder, unquote(item.get("href") or "")))
        for item in package.iterfind(".//{*}manifest/{*}item")
        if item.get("media-type") in _CHAPTER_TYPES
    }
    listed = [hrefs.get(str(item.get("idref")), "") for item in package.iterfind(".//{*}spine/{*}itemref")]
    names = set(archive.names)
    chapters = [name for name in dict.fromkeys(listed) if name in names][:MAX_CHAPTERS]
    if not chapters:
        raise archive.damage_error("its spine lists no chapter in the file")
    return chapters


def _refuse_encrypted(archive: Archive, chapters: list[str]) -> None:
    """Raise KeyholeError if chapters are encrypted by rights management. Encrypted fonts are common and are ignored."""
    if _ENCRYPTION not in archive.names:
        return
    references = _parse_part(archive, _ENCRYPTION).iterfind(".//{*}CipherReference")
    if not {unquote(reference.get("URI") or "") for reference in references}.isdisjoint(chapters):
        raise KeyholeError(Code.ENCRYPTED_DOCUMENT, "the book's chapters are encrypted by rights management")


def _read_metadata(package: Any) -> Metadata:
    def field(name: str, limit: int) -> str:
        elements = package.iterfind(f".//{{*}}metadata/{{*}}{name}")
        values = [to_one_line(clean("".join(element.itertext())), limit) for element in elements]
        return to_one_line(", ".join(values), limit) if name == "creator" else next(iter(values), "")

    modified = package.find(".//{*}meta[@property='dcterms:modified']")
    return Metadata(
        title=field("title", 300), author=field("creator", 200), published=field("date", 40),
        modified=to_one_line(modified.text or "", 40) if modified is not None else "", language=field("language", 20),
        site=field("publisher", 100),
        description=to_one_line(fragment_to_markdown(field("description", 2_000), ""), 500),
    )  # fmt: skip
