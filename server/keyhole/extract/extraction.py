"""Extract a Document from a response body: find the reader for its media type and run it."""

from __future__ import annotations

import dataclasses
import gc
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from typing import Final

from keyhole.errors import Code, KeyholeError
from keyhole.extract.body import Body, Reader, looks_binary, match_signature, open_document_formats
from keyhole.extract.media_type import describe_media, known_type, sniff
from keyhole.records import Document
from keyhole.text.clean import clean

_IMAGE_FORMATS: Final = {
    "image/png": "PNG", "image/jpeg": "JPEG", "image/gif": "GIF", "image/webp": "WebP", "image/avif": "AVIF",
    "image/bmp": "BMP", "image/x-icon": "ICO",
}  # fmt: skip
_TEXT_READERS: Final = {
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
    "application/x-keyhole-site+json": "site.read_site",
    "application/json": "data.read_json",
    "text/json": "data.read_json",
    "application/xml": "xml.read_xml",
    "text/xml": "xml.read_xml",
    "text/markdown": "plain_text.read_markdown",
    "text/x-markdown": "plain_text.read_markdown",
    "text/csv": "data.read_delimited",
    "application/csv": "data.read_delimited",
    "application/vnd.ms-excel": "data.read_delimited",
    "text/tab-separated-values": "data.read_delimited",
    "text/tsv": "data.read_delimited",
}
_SUFFIX_READERS: Final = {"+json": "data.read_json", "+xml": "xml.read_xml"}
_HTML_TYPES: Final = frozenset({"text/html", "application/xhtml+xml"})
_PLAIN_TYPES: Final = frozenset(
    {
        "application/yaml", "application/x-yaml", "application/toml", "application/javascript",
        "application/x-javascript", "application/ecmascript", "application/typescript", "application/sql",
        "application/graphql", "application/x-sh", "application/x-httpd-php", "application/x-tex",
        "application/x-subrip", "application/x-bibtex", "application/x-troff-man", "message/rfc822",
    }
)  # fmt: skip
"""Media types outside `text/` that are read as plain text."""

MAX_GZIP_BYTES: Final = 20_000_000
"""Unpacked bytes of a gzip file that are read: twice the largest body that is fetched."""
_GZIP_MARK: Final = b"\x1f\x8b"
_GZIP_WINDOW: Final = 16 + zlib.MAX_WBITS


def extract(body: bytes, *, url: str, content_type: str, requested_url: str = "") -> Document:
    """Extract a Document with clean Markdown or plain text from a response body.

    `url` is the final URL, against which relative links are resolved. `content_type` is the Content-Type header as
    sent. `requested_url` is the URL before redirects; it helps to recognise redirects to a login or to the home page.

    Raises KeyholeError: unsupported_media for formats without a reader, empty_document if no text is left,
    login_required, bot_challenge, consent_required, not_found, paywalled or javascript_required if the server sent
    such a page instead of the requested one, encrypted_document, extraction_failed for damaged files, too_large and
    decompression_bomb for files over the size limits.
    """
    media_type = sniff(body, content_type, url)
    response = Body(body, content_type, url, requested_url)
    if body.startswith(_GZIP_MARK):
        return _extract_gzip(response)
    reader = _find_reader(media_type, response)
    if reader is None and not looks_binary(body, content_type) and match_signature(body) is None:
        # The bytes are text, whatever their type says: `.ts` is both TypeScript and video.
        media_type = sniff(body, f"text/plain;{content_type.partition(';')[2]}", url)
        reader = _find_reader(media_type, response)
    if reader is None:
        raise KeyholeError(
            Code.UNSUPPORTED_MEDIA,
            f"the content is {describe_media(body, media_type)}, {len(body):,} bytes",
            bytes=len(body),
        )
    with _paused_collection():
        document = clean_document(reader(response))
    if not document.text.strip():
        kind = f"{shown}, " if (shown := known_type(media_type)) else ""
        facts = {"refresh": document.metadata.refresh} if document.metadata.refresh else {}
        guess = ", perhaps only pictures" if body.strip() and not facts else ""
        raise KeyholeError(
            Code.EMPTY_DOCUMENT,
            f"the page ({kind}{len(body):,} bytes) contains no text{guess}",
            **facts,
        )
    return dataclasses.replace(document, media_type=media_type)


def _extract_gzip(body: Body) -> Document:

    unpacked, is_cut = _unpack_gzip(body)
    document = extract(unpacked, url=body.url, content_type=body.content_type, requested_url=body.requested_url)
    return dataclasses.replace(document, cut=is_cut or document.cut)


def _unpack_gzip(body: Body) -> tuple[bytes, bool]:
    """Return the beginning of a gzip file's content, and whether there is more.

    Raises KeyholeError if nothing of it can be read, or if it contains a gzip file.
    """
    packed, unpacked = body.data, b""
    while packed.startswith(_GZIP_MARK) and len(unpacked) < MAX_GZIP_BYTES:
        member = zlib.decompressobj(_GZIP_WINDOW)
        try:
            unpacked += member.decompress(packed, MAX_GZIP_BYTES - len(unpacked))
        except zlib.error:
            break
        packed = member.unused_data if member.eof else packed
        if not member.eof:
            break
    if not unpacked or unpacked.startswith(_GZIP_MARK):
        message = f"the gzip archive is damaged or contains another one, {body.size_text}"
        raise KeyholeError(Code.EXTRACTION_FAILED, message, bytes=len(body.data))
    return unpacked, packed.startswith(_GZIP_MARK)


def clean_document(document: Document) -> Document:
    """Remove invisible characters from the document's title and text."""
    title = " ".join(clean(document.title).split())
    main, rest = clean(document.main), document.text[len(document.main) :]
    main_end = len(main) if rest else None
    return dataclasses.replace(document, title=title, text=main + clean(rest), main_end=main_end)


def _find_reader(media_type: str, body: Body) -> Reader | None:
    """Return the reader of a media type, or None for an unsupported type. Reader modules are imported on first use."""
    if match_signature(body.data) is not None:
        if media_type in _IMAGE_FORMATS:
            return lambda body: _read_image(_IMAGE_FORMATS[media_type], body)
        if media_type == "application/x-sphinx-inventory":
            return _load_reader("site.read_inventory")
        return open_document_formats().find_reader(media_type)
    if looks_binary(body.data, body.content_type):
        return None
    if media_type in _HTML_TYPES:
        return _read_html
    by_suffix = (name for suffix, name in _SUFFIX_READERS.items() if media_type.endswith(suffix))
    name = _TEXT_READERS.get(media_type) or next(by_suffix, "")
    if name:
        return _load_reader(name)
    if media_type.startswith("text/") or media_type in _PLAIN_TYPES or media_type.endswith("+yaml"):
        return _load_reader("plain_text.read_plain")
    return None


def _load_reader(name: str) -> Reader:
    module, _, function = name.rpartition(".")
    reader: Reader = getattr(import_module(f"keyhole.extract.formats.{module}"), function)
    return reader


def _read_image(kind: str, body: Body) -> Document:
    from keyhole.extract.formats.image import read_image

    return read_image(kind, body)


def _read_html(body: Body) -> Document:
    from keyhole.extract.html.page import read_html  # lxml is imported on first use

    return read_html(body.text(), body.url, body.requested_url)


@contextmanager
def _paused_collection() -> Iterator[None]:
    """Pause Python's garbage collection while a page is read.

    Collections would examine the objects of the page again and again while they are in use. They would take a tenth of
    the time of most pages, and a fifth of the total time. Their garbage is freed after the page.
    """
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()
