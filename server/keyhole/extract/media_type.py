"""Determine the media type of a body from its first bytes, its Content-Type header and the suffix of its URL."""

from __future__ import annotations

import mimetypes
import re
from typing import Final
from urllib.parse import urlsplit

from keyhole.extract.body import SIGNATURES, Body, looks_binary, match_signature, open_document_formats
from keyhole.extract.formats.xml import decode_xml, sniff_root
from keyhole.text.parse_json import parse_json

UNKNOWN: Final = "application/octet-stream"

_GENERIC_TYPES: Final = frozenset(
    {"", "text/plain", UNKNOWN, "application/x-unknown", "application/unknown", "binary/octet-stream"}
    | {"unknown/unknown", "*/*"}
)
"""Types that servers send for files of unknown type, and "" for a header without a valid type. The first bytes of the
body, then the URL, determine the type."""

_SUFFIXES: Final = {
    "json": "application/json", "geojson": "application/geo+json", "jsonl": "application/jsonl",
    "ndjson": "application/x-ndjson", "csv": "text/csv", "tsv": "text/tab-separated-values", "md": "text/markdown",
    "markdown": "text/markdown", "xml": "application/xml", "ipynb": "application/x-ipynb+json", "html": "text/html",
    "htm": "text/html", "xhtml": "application/xhtml+xml",
}  # fmt: skip
"""Media types by URL suffix, for text formats that have their own reader."""
_MARKDOWN_NAMES: Final = frozenset({"llms.txt", "llms-full.txt", "llms-ctx.txt"})
"""Names of files that are Markdown by definition (llmstxt.org), though servers call them plain text."""

_TYPE_NAMES: Final = (
    ("application/vnd.oasis.opendocument.", "an OpenDocument file"), ("audio/", "a recording"), ("video/", "a video"),
    ("font/", "a font"), ("image/", "an image"),
)  # fmt: skip
_HTML_STARTS: Final = (b"<!doctype html", b"<html", b"<head", b"<body")
_JSON_FEED = re.compile(r'"version"\s*:\s*"https?:(?:\\?/){2}jsonfeed\.org\\?/version', re.IGNORECASE)
_FEED_TYPES: Final = frozenset({"application/rss+xml", "application/atom+xml", "application/rdf+xml"})
_XML_TYPES: Final = frozenset({"application/xml", "text/xml", "application/x-xml"})


def sniff(body: bytes, content_type: str, url: str = "") -> str:
    """Return the media type of a body.

    The signature of a binary format takes precedence over the header. If the header is missing or generic, the type is
    that of HTML or XML in the body, else that of the URL's suffix.
    """
    response = Body(body, content_type, url)
    declared = content_type.partition(";")[0].strip().lower()
    declared = declared if all(declared.partition("/")) else ""
    if binary := match_signature(body):
        is_archive = binary[0] == "application/zip"
        return open_document_formats().sniff_archive(response) if is_archive else binary[0]
    start = body[:1_024].lstrip(b"\xef\xbb\xbf \t\r\n").lower()
    is_binary = looks_binary(body, content_type)
    if not is_binary and start.startswith(b"<") and (media_type := _sniff_markup(response, declared, start)):
        return media_type
    is_open = declared in _GENERIC_TYPES or declared == "text/html"
    if is_open and not is_binary and start.startswith((b"{", b"[")):
        declared = _sniff_json(response.text()) or declared
    if declared in _GENERIC_TYPES:
        if is_binary:
            return declared if declared == "text/plain" else UNKNOWN
        declared = type_by_name(url)
    if declared.endswith("json") and _JSON_FEED.search(response.text()[:4_000]):
        return "application/feed+json"
    return declared


def _sniff_json(text: str) -> str:
    """Return the media type of JSON or JSON Lines, "" for other text."""
    text = text.strip("\ufeff \t\r\n")
    for media_type, lines in (("application/json", [text]), ("application/jsonl", text.split("\n"))):
        try:
            for line in lines:
                parse_json(line or "0")
            return media_type
        except ValueError:
            continue
    return ""


def _sniff_markup(body: Body, declared: str, start: bytes) -> str:
    """Return the media type of a body that starts with `<`, or "" to use the declared type.

    Feeds, XHTML and SVG are recognised under any XML type, HTML under a generic or binary type.
    """
    is_generic = declared in _GENERIC_TYPES
    if (is_generic or _is_binary_type(declared)) and start.startswith(_HTML_STARTS):
        return "text/html"
    is_xml = declared in _XML_TYPES or declared.endswith("+xml")
    if not (is_xml or is_generic or (declared == "text/html" and start.startswith((b"<?xml", b"<rss", b"<feed")))):
        return ""
    kind = sniff_root(decode_xml(body)[:40_000])
    if kind == "feed":
        return declared if declared in _FEED_TYPES else "application/feed+xml"
    if kind == "html":
        return "application/xhtml+xml" if is_xml else "text/html"
    if kind == "svg":
        return "image/svg+xml"
    return "application/xml" if is_generic and start.startswith(b"<?xml") else ""


def describe_media(body: bytes, media_type: str) -> str:
    """Return a description of an unsupported body with its media type."""
    known = match_signature(body)
    name = known[1] if known and known[0] == media_type else ""
    name = name or next((words for start, words in _TYPE_NAMES if media_type.startswith(start)), "")
    shown = known_type(media_type)
    return f"{name} ({shown})" if name and shown else name or shown or "of an unknown type"


def known_type(media_type: str) -> str:
    """Return a common media type as it is, "" for others: an error repeats no word that a server made up."""
    known = {*mimetypes.MimeTypes().types_map[True].values(), *(kind for _, kind, _ in SIGNATURES), UNKNOWN}
    return media_type if media_type in known else ""


def type_by_name(url: str) -> str:
    """Return the media type of a text file by the name that its URL ends in."""
    try:
        last = urlsplit(url).path.rpartition("/")[2].lower().removesuffix(".gz")
    except ValueError:
        return "text/plain"
    if last in _MARKDOWN_NAMES:
        return "text/markdown"
    return _SUFFIXES.get(last.rpartition(".")[2] if "." in last else "", "text/plain")


def _is_binary_type(declared: str) -> bool:
    return declared == "application/pdf" or (
        declared.startswith(("image/", "application/vnd.")) and not declared.endswith("+xml")
    )
