"""Damage documents at random: bytes, order, characters, charsets, members of archives, objects of PDF files. No I/O."""

from __future__ import annotations

import io
import re
import zipfile
import zlib
from random import Random
from typing import Final

from benchmarks.extraction.mutations.seeds import Seed, choose_seed
from benchmarks.extraction.mutations.soup import TEXTS, write_soup
from keyhole.extract.body import PARSER_ERRORS

SIGNS: Final = (
    *(text.encode("utf-8") for text in TEXTS), b"\xff", b"\xed\xa0\xbd", b"\xc0\x80", b"&#x110000;",
    b"&#99999999999999999999;", b"&x;", b"<!DOCTYPE a [<!ENTITY x 'y'>]>",
)  # fmt: skip
"""Pieces that are inserted: control characters, references to them, markup and broken UTF-8."""
CHARSETS: Final = ("utf-16", "utf-32", "shift_jis", "iso-8859-1", "utf-7", "idna", "gb18030", "iso-2022-jp", "x", "")
HTML: Final = frozenset({"HTML", "XHTML"})
ARCHIVES: Final = frozenset({"EPUB", "Office"})
SOUP_SHARE: Final = 0.4
"""Share of the HTML documents that are tag soup and not a damaged page."""
_STREAM = re.compile(rb"stream\r?\n(.*?)\r?\nendstream", re.DOTALL)


def make_document(seeds: dict[str, list[Seed]], seed: int, number: int, form: str = "") -> Seed:
    """Return document `number` of a series, of any format or of `form`. Equal arguments give equal documents."""
    rng = Random(f"{seed}:{number}")
    document = rng.choice(seeds[form]) if form else choose_seed(seeds, rng)
    if document.format in HTML and rng.random() < SOUP_SHARE:
        document = document._replace(body=write_soup(rng).encode("utf-8", "surrogatepass"))
    other = choose_seed(seeds, rng) if rng.random() < 0.2 else rng.choice(seeds[document.format])
    if document.format in ARCHIVES and rng.random() < 0.8:
        document = document._replace(body=_damage_member(document.body, rng))
    elif document.format == "PDF" and rng.random() < 0.6:
        document = document._replace(body=_damage_stream(document.body, rng))
    else:
        document = document._replace(body=_damage(document.body, other.body, rng))
    return _confuse_type(document, rng)


def _damage(body: bytes, other: bytes, rng: Random) -> bytes:
    """Return a body after one to six random mutations."""
    for _ in range(rng.choice((0, 1, 1, 2, 3, 6))):
        body = rng.choice((_flip, _truncate, _duplicate, _insert, _insert, _delete, _swap))(body, rng)
        if rng.random() < 0.15:
            body = body[: rng.randint(0, len(body))] + other[rng.randint(0, len(other)) :]
    return body


def _flip(body: bytes, rng: Random) -> bytes:
    changed = bytearray(body)
    for _ in range(rng.choice((1, 3, 30)) if body else 0):
        changed[rng.randrange(len(changed))] ^= 1 << rng.randrange(8)
    return bytes(changed)


def _truncate(body: bytes, rng: Random) -> bytes:
    return body[: rng.randint(0, len(body))]


def _duplicate(body: bytes, rng: Random) -> bytes:
    start = rng.randint(0, len(body))
    piece = body[start : start + rng.choice((10, 100, 1_000))]
    return body[:start] + piece * rng.choice((2, 10, 100 if len(piece) < 200 else 3)) + body[start:]


def _insert(body: bytes, rng: Random) -> bytes:
    for _ in range(rng.choice((1, 3, 20))):
        at = rng.randint(0, len(body))
        body = body[:at] + rng.choice(SIGNS) + body[at:]
    return body


def _delete(body: bytes, rng: Random) -> bytes:
    start = rng.randint(0, len(body))
    return body[:start] + body[start + rng.choice((1, 10, 200)) :]


def _swap(body: bytes, rng: Random) -> bytes:
    first, second, third = sorted(rng.randint(0, len(body)) for _ in range(3))
    return body[:first] + body[second:third] + body[first:second] + body[third:]


def _damage_member(body: bytes, rng: Random) -> bytes:
    """Return an archive with damaged, missing or doubled members that are packed correctly."""
    packed = io.BytesIO()
    try:
        with zipfile.ZipFile(io.BytesIO(body)) as old, zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as new:
            names = old.namelist()
            chosen = set(rng.sample(names, min(len(names), rng.choice((1, 1, 2, 4)))))
            for name in names:
                content = old.read(name)
                if name in chosen and rng.random() < 0.1:
                    continue
                new.writestr(name, _damage(content, content, rng) if name in chosen else content)
    except (zipfile.BadZipFile, zlib.error, EOFError, *PARSER_ERRORS):
        return _flip(body, rng)  # one of the fixtures is damaged already
    return packed.getvalue()


def _damage_stream(body: bytes, rng: Random) -> bytes:
    """Return a PDF file with a damaged stream that is packed correctly, or with damaged objects around it."""
    streams = list(_STREAM.finditer(body))
    if not streams or rng.random() < 0.4:
        return _damage(body, body, rng)
    stream = rng.choice(streams)
    try:
        content = zlib.compress(_damage(zlib.decompress(stream[1]), b"", rng))
    except zlib.error:
        content = _flip(stream[1], rng)
    return body[: stream.start(1)] + content + body[stream.end(1) :]


def _confuse_type(document: Seed, rng: Random) -> Seed:
    """Return the document, sometimes with another charset, or declared as another format."""
    if document.format not in ARCHIVES | {"PDF", "image"} and rng.random() < 0.1:
        charset = rng.choice(CHARSETS)
        document = document._replace(content_type=f"{document.content_type.partition(';')[0]}; charset={charset}")
    if rng.random() < 0.03:
        document = document._replace(
            content_type=rng.choice(("text/html", "", "text/plain", "application/octet-stream"))
        )
    return document
