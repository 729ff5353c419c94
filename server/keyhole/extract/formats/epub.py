"""EPUB books: the chapters in the order of the spine, each through the reader of HTML. Opens no other file."""

from __future__ import annotations

import posixpath
from typing import Any, Final
from urllib.parse import unquote

from lxml import etree

from keyhole.errors import Code, KeyholeError
from keyhole.extract.body import Body
from keyhole.extract.decode import decode, tidy
from keyhole.extract.formats.archive import Archive
from keyhole.extract.markup import html_fragment, one_line
from keyhole.records import Document, Metadata
from keyhole.text.escape import escaped

MAX_CHAPTERS: Final = 2_000
"""Documents of a spine: long books have some 200."""

_CONTAINER = "META-INF/container.xml"
_ENCRYPTION = "META-INF/encryption.xml"
_PAGES = frozenset({"application/xhtml+xml", "text/html"})


def read_epub(body: Body) -> Document:
    """Title and author, then the chapters; one that is damaged is named and passed over."""
    archive = Archive(body)
    package_name = _package_name(archive)
    package = _parsed(archive, package_name)
    chapters = _chapters(archive, package, posixpath.dirname(package_name))
    _refuse_locked(archive, chapters)
    metadata = _metadata(package)
    parts = [f"# {escaped(metadata.title)}\n"] if metadata.title else []
    parts += [f"By {escaped(metadata.author)}\n"] if metadata.author else []
    for name in chapters:
        try:
            text = html_fragment(decode(archive.read(name), "application/xhtml+xml"), body.url)
        except KeyholeError as error:
            if error.code is not Code.EXTRACTION_FAILED:
                raise
            text = f"(The chapter {escaped(one_line(name, 100))} is damaged.)"
        if text:
            parts.append(f"{text}\n")
    return Document(
        title=metadata.title, text="\n".join(parts), media_type="", language=metadata.language, metadata=metadata
    )


def _package_name(archive: Archive) -> str:
    container = _parsed(archive, _CONTAINER)
    root_file = container.find(".//{*}rootfile")
    return str(root_file.get("full-path") or "") if root_file is not None else ""


def _parsed(archive: Archive, name: str) -> Any:
    parser = etree.XMLParser(resolve_entities=False, no_network=True, huge_tree=False, recover=True)
    try:
        root = etree.fromstring(archive.read(name), parser)
    except (etree.XMLSyntaxError, ValueError):
        root = None
    if root is None:
        raise archive.damaged(f"its part {name[:100]} cannot be read")
    return root


def _chapters(archive: Archive, package: Any, folder: str) -> list[str]:
    """Names of the parts that the spine lists and that are pages, each once."""
    hrefs = {
        str(item.get("id")): posixpath.normpath(posixpath.join(folder, unquote(item.get("href") or "")))
        for item in package.iterfind(".//{*}manifest/{*}item")
        if item.get("media-type") in _PAGES
    }
    listed = [hrefs.get(str(item.get("idref")), "") for item in package.iterfind(".//{*}spine/{*}itemref")]
    names = set(archive.names)
    chapters = [name for name in dict.fromkeys(listed) if name in names][:MAX_CHAPTERS]
    if not chapters:
        raise archive.damaged("its spine names no chapter that it holds")
    return chapters


def _refuse_locked(archive: Archive, chapters: list[str]) -> None:
    """Rights management encrypts the chapters; fonts alone are often encrypted too, which does not matter here."""
    if _ENCRYPTION not in archive.names:
        return
    references = _parsed(archive, _ENCRYPTION).iterfind(".//{*}CipherReference")
    if not {unquote(reference.get("URI") or "") for reference in references}.isdisjoint(chapters):
        raise KeyholeError(Code.ENCRYPTED_DOCUMENT, "the book's chapters are encrypted by rights management")


def _metadata(package: Any) -> Metadata:
    def said(name: str, limit: int) -> str:
        found = package.iterfind(f".//{{*}}metadata/{{*}}{name}")
        words = [one_line(tidy("".join(element.itertext())), limit) for element in found]
        return one_line(", ".join(words), limit) if name == "creator" else next(iter(words), "")

    modified = package.find(".//{*}meta[@property='dcterms:modified']")
    return Metadata(
        title=said("title", 300), author=said("creator", 200), published=said("date", 40),
        modified=one_line(modified.text or "", 40) if modified is not None else "", language=said("language", 20),
        site=said("publisher", 100), description=one_line(html_fragment(said("description", 2_000), ""), 500),
    )  # fmt: skip
