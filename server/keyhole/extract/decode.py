"""Bytes to text: which charset, and which characters never belong in text. No markup here."""

from __future__ import annotations

import codecs
import re

import webencodings

from keyhole.clean import clean

_BOMS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_CHARSET = re.compile(r"charset\s*=\s*[\"']?\s*([\w.:-]{1,40})", re.IGNORECASE)
_META = re.compile(rb"<meta[^>]{0,400}?charset\s*=\s*[\"']?\s*([\w.:-]{1,40})", re.IGNORECASE)
_META_REACH = 4_096
"""Bytes searched for a `<meta charset>`: the HTML standard asks for the first 1,024, pages exceed it."""

_SIGNATURES = (b"%PDF-", b"\x89PNG", b"\xff\xd8\xff", b"GIF8", b"PK\x03\x04", b"\x1f\x8b", b"\x7fELF")
MAX_NULS = 0.01
"""Share of NUL bytes in text: a stray one is a fault of a template, one in a hundred is a binary format."""


def decode(body: bytes, content_type: str) -> str:
    """The text of a body: charset by BOM, header, `<meta>`, then UTF-8 where it fits, else Windows-1252."""
    for bom, charset in _BOMS:
        if body.startswith(bom):
            return body[len(bom) :].decode(charset, "replace")
    meta = _META.search(body[:_META_REACH])
    header = _CHARSET.search(content_type)
    for label in (header[1] if header else "", meta[1].decode("ascii", "replace") if meta else ""):
        # Labels mean what the WHATWG Encoding standard says, as in browsers, and never what else Python knows by
        # that name: some of its codecs are no charsets, some take quadratic time.
        encoding = webencodings.lookup(label)
        if encoding is not None:
            # A page whose <meta> can be read as ASCII is not UTF-16 (HTML standard, 13.2.3.2).
            utf_16 = meta is not None and encoding.name.startswith("utf-16")
            return body.decode("utf-8", "replace") if utf_16 else str(encoding.codec_info.decode(body, "replace")[0])
    try:
        return body.decode("utf-8")
    except UnicodeDecodeError as error:
        # A body cut in the middle of a character is still UTF-8.
        cut = error.reason == "unexpected end of data" and error.start > 0 and not body[: error.start].isascii()
        return body.decode("utf-8" if cut else "cp1252", "replace")


def tidy(text: str) -> str:
    """One kind of line break, and no characters that neither a person nor a model can read."""
    return clean(text)


def looks_binary(body: bytes, content_type: str = "") -> bool:
    """Whether bytes cannot be text: a known file signature, or many NUL bytes that no UTF-16 or UTF-32 explains."""
    named = _CHARSET.search(content_type)
    if any(body.startswith(bom) for bom, _ in _BOMS) or (named and named[1].lower().startswith("utf-16")):
        return False
    sample = body[:8_192]
    riff = body.startswith(b"RIFF") and body[8:12] in {b"WAVE", b"AVI ", b"WEBP"}
    return riff or body.startswith(_SIGNATURES) or sample.count(0) > len(sample) * MAX_NULS
