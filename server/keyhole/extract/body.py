"""The body of a response as format readers receive it: its bytes, its charset and its text. The port to documents."""

from __future__ import annotations

import codecs
import re
from collections.abc import Callable
from dataclasses import dataclass
from itertools import islice
from typing import Final, Protocol

import webencodings

from keyhole.records import Document

# Guess the charset of a text that declares no charset and is not UTF-8.

FALLBACK: Final = "cp1252"
"""The charset that browsers assume for Latin script when none is declared."""
_CANDIDATES: Final = (
    "cp1252", "iso8859-15", "cp1250", "iso8859-2", "cp1257", "iso8859-13", "cp1254", "cp1258",
    "cp1251", "koi8-r", "koi8-u", "iso8859-5", "cp866", "cp1253", "iso8859-7", "cp1255", "iso8859-8", "cp1256",
    "iso8859-6", "cp874", "cp932", "euc-jp", "gb18030", "big5hkscs", "cp949",
)  # fmt: skip
"""Charsets of web pages by their Python names. Of two overlapping charsets only the superset is listed. Charsets that
no website uses (EBCDIC, Macintosh) are left out, because they would always be wrong guesses."""
_SAMPLE_BYTES: Final = 64 * 1024
"""Bytes passed to the detector. With 20,000 characters it is slower than with 1,000, but not more accurate
(benchmarks/extraction/charsets.py)."""
_MIN_HIGH_BYTES: Final = 3
"""Least number of bytes over 127 for a guess. With fewer, the charset cannot be determined (é, ® or й?), and the text
is nearly always Western."""
_HIGH_BYTES: Final = bytes(range(128, 256))
_LETTERS: Final = re.compile(rb"[\xc0-\xff]|[\x80-\xbf]{2}")
"""Letters beyond ASCII. Other bytes over 127 are Western quotes and signs such as §, ½ and •."""
_TEXT_RUN: Final = re.compile(rb"[^<>]+")
_ISO_2022_JP: Final = re.compile(rb"\x1b\$[@B]")
"""The escape sequence of ISO-2022-JP, the only 7-bit charset of the web other than ASCII."""
_OTHER_ALPHABET: Final = re.compile(r"[\u0370-\u0e7f]")
_MIXED: Final = re.compile(r"[A-Za-z][\u0370-\u0e7f]|[\u0370-\u0e7f][A-Za-z]")
MAX_MIXED: Final = 0.3
"""Largest share of non-Latin letters that are next to a Latin letter. A larger share means that the guess is wrong:
`dйjа vu` is French."""


def is_iso_2022_jp(body: bytes) -> bool:
    """Return whether the bytes are ISO-2022-JP, which is also valid ASCII and UTF-8."""
    return body.isascii() and _ISO_2022_JP.search(body) is not None


def detect_charset(body: bytes) -> str:
    """Guess the charset of `body` and return the name of its Python codec. The result is deterministic."""
    if is_iso_2022_jp(body):
        return "iso2022_jp"
    sample = _take_sample(body)
    if len(sample) - len(sample.translate(None, _HIGH_BYTES)) < _MIN_HIGH_BYTES or not _LETTERS.search(sample):
        return FALLBACK
    from chardet import detect as guess  # loading its models takes 0.1 s, and few pages need them

    encoding = guess(sample, include_encodings=_CANDIDATES, compat_names=False, prefer_superset=False)["encoding"]
    if encoding is None:
        return FALLBACK
    text = sample.decode(encoding, "replace")
    is_wrong = len(_MIXED.findall(text)) > len(_OTHER_ALPHABET.findall(text)) * MAX_MIXED
    return FALLBACK if is_wrong else encoding


def _take_sample(body: bytes) -> bytes:
    """Return the first `_SAMPLE_BYTES` bytes of the texts between tags that are not pure ASCII.

    No multi-byte charset uses the bytes of `<` or `>` inside a character, so at most the last character is truncated.
    """
    runs, size = [], 0
    for match in _TEXT_RUN.finditer(body):
        run = match[0]
        if not run.isascii():
            runs.append(run[: _SAMPLE_BYTES - size])
            size += len(runs[-1]) + 1
            if size >= _SAMPLE_BYTES:
                break
    return b"\n".join(runs)


# Choose the charset of a body, decode the body, and recognise binary data.

_BOMS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_CHARSET = re.compile(r"charset\s*+=\s*+[\"']?\s*+([\w.:-]{1,40})", re.IGNORECASE)
_META = re.compile(rb"<meta[^>]{0,400}?charset\s*+=\s*+[\"']?\s*+([\w.:-]{1,40})", re.IGNORECASE)
_META_BYTES = 4_096
"""Bytes searched for a `<meta charset>`. The HTML standard requires it in the first 1,024, but some pages put it
later."""

_UTF_16_BYTES = 4_096
"""Bytes that are examined for UTF-16 without a mark."""
_UTF_8_SEQUENCE = re.compile(rb"[\xc2-\xf4][\x80-\xbf]+")
# é, ©, ’ and similar in UTF-8. Decoded as Windows-1252 they become Ã©, Â©, â€™, which occur in no language.
_WESTERN_SEQUENCE = re.compile(rb"[\xc2\xc3][\x80-\xbf]|\xe2[\x80-\x84][\x80-\xbf]")
_SURROGATES = tuple(bytes([0xED, second]) for second in range(0xA0, 0xC0))
"""First two bytes of encoded surrogates, which some old programs write (CESU-8). Such text is broken UTF-8, not another
charset."""
MAX_SEQUENCES = 1_000
"""Largest number of multi-byte sequences examined. Pages do not change their charset after so many."""
MIN_SEQUENCES = 4
"""Number of valid UTF-8 sequences that disproves a declared charset other than UTF-8. One in twelve byte pairs of
Chinese text is valid UTF-8 by chance, so the first four are all valid in 1 of 20,000 such texts."""

_BINARY_STARTS = (b"%PDF-", b"\x89PNG", b"\xff\xd8\xff", b"GIF8", b"PK\x03\x04", b"\x1f\x8b", b"\x7fELF")
MAX_NULS = 0.01
"""Largest share of NUL bytes in text. A single NUL is a template error; one in a hundred bytes means a binary
format."""
_CONTROL_BYTES = bytes([*range(0x08), *range(0x0E, 0x1B), *range(0x1C, 0x20), 0x7F])
"""Control bytes that no charset uses in text. Backspace (old manuals) and escape (logs, ISO-2022) are left out."""
MAX_CONTROLS = 0.03
"""Largest share of `_CONTROL_BYTES` in text. In compressed and encrypted data it is 0.1."""


def decode(body: bytes, content_type: str) -> str:
    """Decode a body by the charset of its BOM, header or `<meta>`, else as UTF-8 if valid, else by a guessed charset.

    A declared charset is ignored if the bytes contradict it.
    """
    for bom, charset in _BOMS:
        if body.startswith(bom):
            return body[len(bom) :].decode(charset, "replace")
    if 0 in body[:_UTF_16_BYTES] and (charset := find_utf_16(body)):
        return body.decode(charset, "replace")
    meta = _META.search(body[:_META_BYTES])
    header = _CHARSET.search(content_type)
    is_utf_8 = _is_utf_8(body)
    for label in (header[1] if header else "", meta[1].decode("ascii", "replace") if meta else ""):
        # The WHATWG Encoding standard defines the labels, as in browsers. Python's own lookup also finds codecs that
        # are not charsets, and some that take quadratic time.
        encoding = webencodings.lookup(label)
        if encoding is None or _is_wrong_charset(encoding.name, body, is_utf_8, has_meta=meta is not None):
            continue
        text = (
            body.decode("utf-8", "replace")
            if encoding.name == "utf-8"
            else str(encoding.codec_info.decode(body, "replace")[0])
        )
        if not _is_garbled(text, body):
            return text
    return body.decode("utf-8" if is_utf_8 and not is_iso_2022_jp(body) else detect_charset(body), "replace")


def find_utf_16(body: bytes) -> str:
    """Return the charset of UTF-16 without a mark, "" for other data.

    In the wrong byte order a space or line break becomes another character, and the text has control characters.
    """
    sample = body[: min(_UTF_16_BYTES, len(body) // 2 * 2)]
    if sample.count(0) <= len(sample) * MAX_NULS and _is_utf_8(sample):
        return ""
    for charset in ("utf-16-le", "utf-16-be"):
        try:
            text = sample.decode(charset)
        except UnicodeDecodeError as error:
            if error.reason != "unexpected end of data":
                continue
            text = sample[: error.start].decode(charset)
        if (" " in text or "\n" in text or text.isascii()) and all(c.isprintable() or c.isspace() for c in text):
            return charset
    return ""


def _is_utf_8(body: bytes) -> bool:
    """Return whether the body is UTF-8. A body truncated inside a character counts as UTF-8."""
    try:
        body.decode("utf-8")
    except UnicodeDecodeError as error:
        is_truncated = error.reason == "unexpected end of data" and error.start > 0
        return is_truncated and not body[: error.start].isascii()
    return True


def _is_wrong_charset(name: str, body: bytes, is_utf_8: bool, has_meta: bool) -> bool:
    """Return whether the declared charset `name` is a mistake, such as a server default sent with UTF-8."""
    if name.startswith("utf-16"):
        # A body whose <meta> can be read as ASCII is not UTF-16 (HTML standard, 13.2.3.2). A body without NULs is not
        # UTF-16 either.
        return has_meta or 0 not in body
    if name == "utf-8" or not is_utf_8:
        return False
    sequences = [match[0] for match in islice(_UTF_8_SEQUENCE.finditer(body), MAX_SEQUENCES)]
    is_western = name == "windows-1252" and all(map(_WESTERN_SEQUENCE.fullmatch, sequences))
    return len(sequences) >= (1 if is_western else MIN_SEQUENCES)


def _is_garbled(text: str, body: bytes) -> bool:
    """Return whether decoding replaced more sequences than the text has other non-ASCII characters.

    In that case the charset is wrong. With fewer replacements, the body only has some broken bytes.
    """
    replaced = text.count("\ufffd")
    if replaced:
        replaced -= body.count(b"\xef\xbf\xbd") + 3 * sum(map(body.count, _SURROGATES))
    return replaced > 0 and replaced * 2 > len(text) - len(text.encode("ascii", "ignore"))


def looks_binary(body: bytes, content_type: str = "") -> bool:
    """Return whether the bytes are not text: they have a file signature, or many NUL or control bytes.

    UTF-16 and UTF-32 are recognised by a BOM; without a BOM, UTF-16 is recognised by the header.
    """
    declared = _CHARSET.search(content_type)
    if any(body.startswith(bom) for bom, _ in _BOMS) or (declared and declared[1].lower().startswith("utf-16")):
        return False
    sample = body[:8_192]
    if 0 in sample and find_utf_16(body):
        return False
    is_riff = body.startswith(b"RIFF") and body[8:12] in {b"WAVE", b"AVI ", b"WEBP"}
    controls = len(sample) - len(sample.translate(None, _CONTROL_BYTES))
    # Compressed data is never valid UTF-8. In valid UTF-8 the control characters are removed later.
    is_noise = controls > len(sample) * MAX_CONTROLS and not _is_utf_8(sample)
    return is_riff or body.startswith(_BINARY_STARTS) or sample.count(0) > len(sample) * MAX_NULS or is_noise


# Signatures of binary formats.

SIGNATURES: Final = (
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


def match_signature(body: bytes) -> tuple[str, str] | None:
    """Return the media type and description of a binary format, or None if no signature matches."""
    for start, media_type, name in SIGNATURES:
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


# The body, its readers, and the exceptions that parsers of binary formats raise.


@dataclass(frozen=True, slots=True)
class Body:
    """A response body as received, with its Content-Type header and final URL."""

    data: bytes
    content_type: str
    url: str
    requested_url: str = ""
    """The URL before redirects, or ""."""
    is_hurried: bool = False
    """True if the whole took too long, so that only a beginning is to be read, in a second or two."""

    def text(self) -> str:
        """Decode the bytes to text. Never raises."""
        return decode(self.data, self.content_type)

    @property
    def size_text(self) -> str:
        """The size of the body for messages, such as "1,234 bytes"."""
        return f"{len(self.data):,} bytes"


Reader = Callable[[Body], Document]
"""A function that reads a body into a Document. `extract` fills in `media_type` and `blocks` afterwards."""


class DocumentFormats(Protocol):
    """Recognises and reads PDF files, office documents and books. The extension `documents` implements it."""

    def sniff_archive(self, body: Body) -> str:
        """Return the media type of the document in a ZIP file, or `application/zip` for other archives."""
        ...

    def find_reader(self, media_type: str) -> Reader | None:
        """Return the reader of a media type, or None for an unsupported type."""
        ...


def open_document_formats() -> DocumentFormats:
    """Return the implementation of the port, which few bodies need."""
    from keyhole.runtime.extensions import open_port

    formats: DocumentFormats = open_port("documents")
    return formats


PARSER_ERRORS: Final = (
    ArithmeticError,
    AssertionError,
    AttributeError,
    LookupError,
    OSError,
    RuntimeError,
    SyntaxError,
    TypeError,
    ValueError,
)
"""Built-in exceptions that libraries for binary formats raise on malformed files, in addition to their own
exceptions."""
