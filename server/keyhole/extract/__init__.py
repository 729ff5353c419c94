"""From a Page's bytes to a Document: media type -> reader, a table. Pure: no network, no disk."""

from __future__ import annotations

import dataclasses
import sys
from collections.abc import Callable
from importlib import import_module
from types import ModuleType
from typing import Final

from keyhole.errors import Code, KeyholeError
from keyhole.extract.body import Body
from keyhole.extract.decode import looks_binary
from keyhole.extract.media_type import described, signature, sniff
from keyhole.records import Document
from keyhole.text.clean import clean, count_invisible
from keyhole.text.markdown import parse_blocks

__all__ = ["extract", "sniff"]

Reader = Callable[[Body], Document]
"""A Document without blocks; media_type is filled in by `extract`."""

_OPEN_XML: Final = "application/vnd.openxmlformats-officedocument."
_BINARY: Final = {
    "application/pdf": "pdf.read_pdf",
    "application/epub+zip": "epub.read_epub",
    "application/x-ole-storage": "office.read_ole",
    f"{_OPEN_XML}wordprocessingml.document": "office.read_docx",
    f"{_OPEN_XML}presentationml.presentation": "office.read_pptx",
    f"{_OPEN_XML}spreadsheetml.sheet": "office.read_xlsx",
}
"""Readers of binary formats: they are chosen only for bodies with the signature of their format."""
_IMAGES: Final = {
    "image/png": "PNG", "image/jpeg": "JPEG", "image/gif": "GIF", "image/webp": "WebP", "image/avif": "AVIF",
    "image/bmp": "BMP", "image/x-icon": "ICO",
}  # fmt: skip
_TEXT: Final = {
    "image/svg+xml": "image.read_svg",
    "application/feed+json": "feed.read_json_feed",
    "application/feed+xml": "feed.read_feed",
    "application/rss+xml": "feed.read_feed",
    "application/atom+xml": "feed.read_feed",
    "application/jsonl": "data.read_json_lines",
    "application/x-ndjson": "data.read_json_lines",
    "application/ndjson": "data.read_json_lines",
    "application/x-jsonlines": "data.read_json_lines",
    "application/json-seq": "data.read_json_lines",
    "application/json": "data.read_json",
    "text/json": "data.read_json",
    "application/xml": "xml.read_xml",
    "text/xml": "xml.read_xml",
    "text/markdown": "markdown.read_markdown",
    "text/x-markdown": "markdown.read_markdown",
    "text/csv": "delimited.read_delimited",
    "application/csv": "delimited.read_delimited",
    "application/vnd.ms-excel": "delimited.read_delimited",
    "text/tab-separated-values": "delimited.read_delimited",
    "text/tsv": "delimited.read_delimited",
}
_TEXT_ENDINGS: Final = {"+json": "data.read_json", "+xml": "xml.read_xml"}
_HTML_TYPES: Final = frozenset({"text/html", "application/xhtml+xml"})
_PLAIN_TYPES: Final = frozenset(
    {
        "application/yaml", "application/x-yaml", "application/toml", "application/javascript",
        "application/x-javascript", "application/ecmascript", "application/typescript", "application/sql",
        "application/graphql", "application/x-sh", "application/x-httpd-php", "application/x-tex",
        "application/x-subrip", "application/x-bibtex", "application/x-troff-man", "message/rfc822",
    }
)  # fmt: skip


def extract(body: bytes, *, url: str, content_type: str, requested_url: str = "") -> Document:
    """Read a response body as a Document with clean Markdown or plain text.

    `url` is the final URL (links are made absolute against it); `content_type` is the header as sent;
    `requested_url` is what was asked for, and tells a page from what a redirect put in its place.
    Raises KeyholeError: unsupported_media for what is not read, empty_document when nothing is left, the name of
    what stands in the page's place (a login, a consent or bot check, an absence) when it shows nothing else,
    extraction_failed for damaged files, decompression_bomb for archives made to hurt.
    """
    media_type = sniff(body, content_type, url)
    whole = Body(body, content_type, url, requested_url)
    reader = _reader(media_type, whole)
    if reader is None:
        raise KeyholeError(
            Code.UNSUPPORTED_MEDIA,
            f"the content is {described(body, media_type)}, {len(body):,} bytes",
            bytes=len(body),
        )
    document = _as_seen(reader(whole))
    if not document.text.strip():
        raise KeyholeError(Code.EMPTY_DOCUMENT, f"the page ({media_type}, {len(body):,} bytes) holds no text")
    return dataclasses.replace(document, media_type=media_type, blocks=parse_blocks(document.text))


def _as_seen(document: Document) -> Document:
    """A document without what no reader sees, whichever format it came in and wherever its reader found it."""
    title = " ".join(clean(document.title).split())
    return dataclasses.replace(document, title=title, text=clean(document.text))


def _reader(media_type: str, body: Body) -> Reader | None:
    """The reader of a media type; its module is loaded by the first body that needs it."""
    binary = signature(body.data)
    if binary is not None:
        if media_type in _IMAGES:
            return lambda body: _read_image(_IMAGES[media_type], body)
        name = _BINARY.get(media_type, "")
        return _loaded(name) if name else None
    if looks_binary(body.data, body.content_type):
        return None
    if media_type in _HTML_TYPES:
        return _read_html
    name = _TEXT.get(media_type) or next((name for end, name in _TEXT_ENDINGS.items() if media_type.endswith(end)), "")
    if name:
        return _loaded(name)
    if media_type.startswith("text/") or media_type in _PLAIN_TYPES or media_type.endswith("+yaml"):
        return _read_plain
    return None


def _loaded(name: str) -> Reader:
    module, _, function = name.partition(".")
    reader: Reader = getattr(import_module(f"keyhole.extract.formats.{module}"), function)
    return reader


def _read_image(kind: str, body: Body) -> Document:
    from keyhole.extract.formats.image import read_image

    return read_image(kind, body)


def _read_html(body: Body) -> Document:
    from keyhole.extract.html.page import read_html  # parsers are loaded by the first page that needs them

    return read_html(body.text(), body.url, body.requested_url)


def _read_plain(body: Body) -> Document:
    from keyhole.extract.formats.plain import plain_to_text

    text = body.text()
    title, tidied = plain_to_text(text)
    unseen = count_invisible(text)
    return Document(title=title, text=tidied, media_type="", removed=(("invisible", unseen),) if unseen else ())


class _Callable(ModuleType):
    """`keyhole.extract` is this package and, in the public API, its function. Whichever was imported first, the
    name can be called: a module's class may be set, see "Customizing module attribute access" in Python's data
    model."""

    def __call__(self, body: bytes, *, url: str, content_type: str, requested_url: str = "") -> Document:
        return extract(body, url=url, content_type=content_type, requested_url=requested_url)


sys.modules[__name__].__class__ = _Callable
