"""Determine the media type of a body from its first bytes, its Content-Type header and the suffix of its URL."""

from __future__ import annotations

import json
import mimetypes
import re
from typing import Final
from urllib.parse import urlsplit

from keyhole.errors import KeyholeError
from keyhole.extract.body import Body, looks_binary
from keyhole.extract.formats.xml import decode_xml, sniff_root

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

_SIGNATURES: Final = (
    (b"%PDF-", "application/pdf", "a PDF document"),
    (b"# Sphinx inventory version 2", "application/x-sphinx-inventory", "a Sphinx inventory"),
    (b"\x89PNG\r\n\x1a\n", "image/png", "a PNG image"),
    (b"\xff\xd8\xff", "image/jpeg", "a JPEG image"),
    (b"GIF87a", "image/gif", "a GIF image"),
    (b"GIF89a", "image/gif", "a GIF image"),
    (b"\0\0\1\0", "image/x-icon", "an icon"),
    (b"PK\x03\x04", "application/zip", "a ZIP archive"),
    (b"PK\x05\x06", "application/zip", "an empty ZIP archive"),
    (b"\x1f\x8b", "application/gzip", "a gzip archive"),
    (b"BZh", "application/x-bzip2", "a bzip2 archive"),
    (b"\xfd7zXZ\0", "application/x-xz", "an XZ archive"),
    (b"\x28\xb5\x2f\xfd", "application/zstd", "a Zstandard archive"),
    (b"7z\xbc\xaf\x27\x1c", "application/x-7z-compressed", "a 7z archive"),
    (b"Rar!\x1a\x07", "application/vnd.rar", "a RAR archive"),
    (b"\x7fELF", "application/x-elf", "an ELF program"),
    (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "application/x-ole-storage", "an Office document from before 2007"),
    (b"\0asm", "application/wasm", "a WebAssembly module"),
    (b"SQLite format 3\0", "application/vnd.sqlite3", "an SQLite database"),
    (b"wOFF", "font/woff", "a web font"),
    (b"wOF2", "font/woff2", "a web font"),
    (b"\0\1\0\0\0", "font/ttf", "a TrueType font"),
    (b"OTTO\0", "font/otf", "an OpenType font"),
    (b"OggS\0", "application/ogg", "an Ogg recording"),
    (b"fLaC\0", "audio/flac", "a FLAC recording"),
    (b"\x1aE\xdf\xa3", "video/webm", "a Matroska or WebM video"),
    (b"{\\rtf", "application/rtf", "an RTF document"),
    (b"II*\0", "image/tiff", "a TIFF image"),
    (b"MM\0*", "image/tiff", "a TIFF image"),
)
"""First bytes, media type and description, from IANA's media type registry and the specifications of the formats."""

_FTYP_BRANDS: Final = {b"avif": ("image/avif", "an AVIF image"), b"avis": ("image/avif", "an AVIF image")}
_RIFF_FORMATS: Final = {
    b"WEBP": ("image/webp", "a WebP image"), b"WAVE": ("audio/wav", "a WAV recording"),
    b"AVI ": ("video/x-msvideo", "an AVI video"),
}  # fmt: skip
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
        return _sniff_zip(response) if binary[0] == "application/zip" else binary[0]
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
                json.loads(line or "0")
            return media_type
        except (ValueError, RecursionError):
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


def match_signature(body: bytes) -> tuple[str, str] | None:
    """Return the media type and description of a binary format, or None if no signature matches."""
    for start, media_type, name in _SIGNATURES:
        if body.startswith(start):
            return media_type, name
    if body[4:8] == b"ftyp":
        return _FTYP_BRANDS.get(body[8:12], ("video/mp4", "an MP4 video"))
    if body.startswith(b"RIFF") and body[8:12] in _RIFF_FORMATS:
        return _RIFF_FORMATS[body[8:12]]
    if body.startswith(b"BM") and body[6:10] == bytes(4):
        return "image/bmp", "a BMP image"
    if body.startswith(b"ID3") and body[3:4] < b"\x10":
        return "audio/mpeg", "an MP3 recording"
    if body.startswith(b"MZ") and b"\0" in body[:64]:
        return "application/vnd.microsoft.portable-executable", "a Windows program"
    if body[257:262] == b"ustar":
        return "application/x-tar", "a tar archive"
    # Some programs write a line or two before the PDF header, which PDF readers accept.
    return ("application/pdf", "a PDF document") if b"\n%PDF-" in body[:1_024] else None


def describe_media(body: bytes, media_type: str) -> str:
    """Return a description of an unsupported body with its media type."""
    known = match_signature(body)
    name = known[1] if known and known[0] == media_type else ""
    name = name or next((words for start, words in _TYPE_NAMES if media_type.startswith(start)), "")
    shown = known_type(media_type)
    return f"{name} ({shown})" if name and shown else name or shown or "of an unknown type"


def known_type(media_type: str) -> str:
    """Return a common media type as it is, "" for others: an error repeats no word that a server made up."""
    known = {*mimetypes.MimeTypes().types_map[True].values(), *(kind for _, kind, _ in _SIGNATURES), UNKNOWN}
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


def _sniff_zip(body: Body) -> str:
    """Return the media type of the document in a ZIP file. For a damaged file, return a declared document type."""
    from keyhole.extract.formats.zip_archive import Archive  # imports zipfile, which few bodies need

    declared = body.content_type.partition(";")[0].strip().lower()
    try:
        return Archive(body).media_type()
    except KeyholeError:
        documents = ("application/vnd.openxmlformats-", "application/epub+zip")
        return declared if declared.startswith(documents) else "application/zip"
