"""Bytes to text: which charset, and which characters never belong in text. No markup here."""

from __future__ import annotations

import codecs
import re
from itertools import islice

import webencodings

from keyhole.extract.charset import detect, is_iso_2022_jp
from keyhole.text.clean import clean

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

_UTF_8 = re.compile(rb"[\xc2-\xf4][\x80-\xbf]+")
_WESTERN = re.compile(rb"[\xc2\xc3][\x80-\xbf]|\xe2[\x80-\x84][\x80-\xbf]")
"""é, ©, ’ and their like in UTF-8, which in Windows-1252 would be Ã©, Â©, â€™: no words of any language."""
_SURROGATES = tuple(bytes([0xED, second]) for second in range(0xA0, 0xC0))
"""How halves of characters begin that some old programs write (CESU-8): broken, but in UTF-8."""
MANY = 1_000
"""Characters looked at: no page is in one charset for so long and then in another."""
SURE = 4
"""Characters of valid UTF-8 in a body with another name from which on the name is wrong. One in twelve pairs of
bytes of Chinese text happens to be valid, so four of the first four once in 20,000 such texts."""

_SIGNATURES = (b"%PDF-", b"\x89PNG", b"\xff\xd8\xff", b"GIF8", b"PK\x03\x04", b"\x1f\x8b", b"\x7fELF")
MAX_NULS = 0.01
"""Share of NUL bytes in text: a stray one is a fault of a template, one in a hundred is a binary format."""
_CONTROLS = bytes([*range(0x08), *range(0x0E, 0x1B), *range(0x1C, 0x20), 0x7F])
"""What no text of any charset is made of. Backspaces are in old manuals, escapes in logs and in ISO-2022."""
MAX_CONTROLS = 0.03
"""Share of them in text. In compressed and encrypted data, which may have few NULs, it is 0.1."""


def decode(body: bytes, content_type: str) -> str:
    """The text of a body: charset by BOM, header, `<meta>`, then UTF-8 where it fits, else by what the bytes suggest.

    A name that the bytes contradict is passed over.
    """
    for bom, charset in _BOMS:
        if body.startswith(bom):
            return body[len(bom) :].decode(charset, "replace")
    meta = _META.search(body[:_META_REACH])
    header = _CHARSET.search(content_type)
    utf_8 = _is_utf_8(body)
    for label in (header[1] if header else "", meta[1].decode("ascii", "replace") if meta else ""):
        # Labels mean what the WHATWG Encoding standard says, as in browsers, and never what else Python knows by
        # that name: some of its codecs are no charsets, some take quadratic time.
        encoding = webencodings.lookup(label)
        if encoding is None or _is_mistaken(encoding.name, body, utf_8, in_meta=meta is not None):
            continue
        text = body.decode("utf-8", "replace") if encoding.name == "utf-8" else _decoded(encoding, body)
        if not _is_broken(text, body):
            return text
    return body.decode("utf-8" if utf_8 and not is_iso_2022_jp(body) else detect(body), "replace")


def _decoded(encoding: webencodings.Encoding, body: bytes) -> str:
    return str(encoding.codec_info.decode(body, "replace")[0])


def _is_utf_8(body: bytes) -> bool:
    """Whether all of it is; a body cut in the middle of a character still is."""
    try:
        body.decode("utf-8")
    except UnicodeDecodeError as error:
        cut = error.reason == "unexpected end of data" and error.start > 0
        return cut and not body[: error.start].isascii()
    return True


def _is_mistaken(name: str, body: bytes, utf_8: bool, in_meta: bool) -> bool:
    """Whether the body was given the name by mistake, such as a server's default for one that fits UTF-8."""
    if name.startswith("utf-16"):
        # A page whose <meta> can be read as ASCII is not UTF-16 (HTML standard, 13.2.3.2), nor is one without NULs.
        return in_meta or 0 not in body
    if name == "utf-8" or not utf_8:
        return False
    characters = [found[0] for found in islice(_UTF_8.finditer(body), MANY)]
    western = name == "windows-1252" and all(map(_WESTERN.fullmatch, characters))
    return len(characters) >= (1 if western else SURE)


def _is_broken(text: str, body: bytes) -> bool:
    """Whether the text has more places that its charset could not read than characters that are not ASCII, and so
    is in another one. A few broken bytes are no more than that."""
    unread = text.count("\ufffd")
    if unread:
        unread -= body.count(b"\xef\xbf\xbd") + 3 * sum(map(body.count, _SURROGATES))
    return unread > 0 and unread * 2 > len(text) - len(text.encode("ascii", "ignore"))


def tidy(text: str) -> str:
    """One kind of line break, and no characters that neither a person nor a model can read."""
    return clean(text)


def looks_binary(body: bytes, content_type: str = "") -> bool:
    """Whether bytes cannot be text: a known file signature, or many control bytes that no UTF-16 or UTF-32 explains."""
    named = _CHARSET.search(content_type)
    if any(body.startswith(bom) for bom, _ in _BOMS) or (named and named[1].lower().startswith("utf-16")):
        return False
    sample = body[:8_192]
    riff = body.startswith(b"RIFF") and body[8:12] in {b"WAVE", b"AVI ", b"WEBP"}
    controls = len(sample) - len(sample.translate(None, _CONTROLS))
    # Noise is never UTF-8; what is, is text whose controls are dropped.
    noise = controls > len(sample) * MAX_CONTROLS and not _is_utf_8(sample)
    return riff or body.startswith(_SIGNATURES) or sample.count(0) > len(sample) * MAX_NULS or noise
