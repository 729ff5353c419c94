"""From a Page's bytes to a Document: media type -> reader, a table. Pure: no network, no disk."""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import ModuleType

from keyhole.errors import Code, KeyholeError
from keyhole.extract.decode import decode, looks_binary
from keyhole.markdown import blocks
from keyhole.records import Document

Reader = Callable[[str, str], Document]
"""`(decoded text, URL) -> Document` without blocks; media_type is filled in by `extract`."""

_HTML_TYPES = frozenset({"text/html", "application/xhtml+xml"})
_TEXT_TYPES = frozenset(
    {
        "application/json", "application/ld+json", "application/xml", "application/yaml", "application/toml",
        "application/javascript", "application/x-ndjson", "application/sql", "application/x-sh",
    }
)  # fmt: skip
_UNTRUSTED_TYPES = frozenset({"", "text/plain", "application/octet-stream", "application/x-unknown"})
"""Types that servers send for want of a better one; the body's first bytes decide."""


def extract(body: bytes, *, url: str, content_type: str) -> Document:
    """Read a response body as a Document with clean Markdown or plain text.

    `url` is the final URL (links are made absolute against it); `content_type` is the header as sent.
    Raises KeyholeError: unsupported_media for what is not text, empty_document when nothing is left.
    """
    media_type = sniff(body, content_type)
    reader = _reader(media_type)
    if reader is None or looks_binary(body, content_type):
        raise KeyholeError(
            Code.UNSUPPORTED_MEDIA,
            f"the content is {media_type or 'binary'}, {len(body):,} bytes",
            bytes=len(body),
        )
    document = reader(decode(body, content_type), url)
    if not document.text.strip():
        raise KeyholeError(Code.EMPTY_DOCUMENT, f"the page ({media_type}, {len(body):,} bytes) holds no text")
    return Document(
        title=document.title,
        text=document.text,
        media_type=media_type,
        language=document.language,
        blocks=blocks(document.text),
        removed=document.removed,
    )


def sniff(body: bytes, content_type: str) -> str:
    """The media type: the header's, unless it says nothing and the body starts like HTML."""
    named = content_type.partition(";")[0].strip().lower()
    if named in _UNTRUSTED_TYPES:
        start = body[:1_024].lstrip(b"\xef\xbb\xbf \t\r\n").lower()
        if start.startswith((b"<!doctype html", b"<html", b"<head", b"<body")):
            return "text/html"
        if named != "text/plain":
            return "application/octet-stream" if looks_binary(body) else "text/plain"
    return named


def _reader(media_type: str) -> Reader | None:
    if media_type in _HTML_TYPES:
        return _read_html
    structured = media_type.endswith(("+json", "+xml", "+yaml"))
    if media_type.startswith("text/") or media_type in _TEXT_TYPES or structured:
        return _read_plain
    return None


def _read_html(text: str, url: str) -> Document:
    from keyhole.extract.html import html_to_markdown  # parsers are loaded by the first page that needs them

    title, language, markdown, removed = html_to_markdown(text, url)
    return Document(title=title, text=markdown, media_type="", language=language, removed=removed)


def _read_plain(text: str, _url: str) -> Document:
    from keyhole.extract.plain import plain_to_text

    title, tidied = plain_to_text(text)
    return Document(title=title, text=tidied, media_type="")


class _Callable(ModuleType):
    """`keyhole.extract` is this package and, in the public API, its function. Whichever was imported first, the
    name can be called: a module's class may be set, see "Customizing module attribute access" in Python's data
    model."""

    def __call__(self, body: bytes, *, url: str, content_type: str) -> Document:
        return extract(body, url=url, content_type=content_type)


sys.modules[__name__].__class__ = _Callable
