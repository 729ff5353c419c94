"""The pages that the faulty servers send, as the bytes of HTTP responses in several framings."""

from __future__ import annotations

import gzip
import random
from collections.abc import Mapping
from typing import Final

import brotli

from keyhole.runtime.zstd import zstd

SENTENCES: Final = 25
"""Sentences of a page: 2.5 KB of HTML, which every answer can show whole."""
LAST: Final = "This is the last sentence."
"""The end of every page. An answer that lacks it is not the whole page."""
MARKERS: Final = {"/page": "Orchid", "/second": "Larch", "/stray": "Smuggled"}
"""The word that begins every sentence of a page, by path. It tells whose text an answer shows."""

_WORDS: Final = (
    "pump", "valve", "water", "winter", "garden", "stone", "river", "copper", "engine", "lantern", "market", "harbour",
    "silver", "window", "orchard", "timber", "basket", "weaver", "signal", "meadow",
)  # fmt: skip


def page(path: str) -> bytes:
    """Return the HTML of a page, of varied words, so that compression leaves several hundred bytes."""
    choose, marker = random.Random(path).choice, MARKERS[path]  # seeded, the same in every run
    sentences = (f"{marker} {' '.join(choose(_WORDS) for _ in range(12))}." for _ in range(SENTENCES))
    paragraphs = "".join(f"<p>{sentence}</p>\n" for sentence in (*sentences, LAST))
    return f'<!doctype html><html lang="en"><title>{marker}</title><body>\n{paragraphs}</body></html>\n'.encode()


def head(status: str = "200 OK", **headers: str) -> bytes:
    """Return the head of a response. Underscores in header names become hyphens."""
    named = {"Date": "Mon, 02 Nov 2026 08:00:00 GMT", **{n.replace("_", "-"): v for n, v in headers.items()}}
    return "\r\n".join([f"HTTP/1.1 {status}", *(f"{n}: {v}" for n, v in named.items()), "", ""]).encode()


def sized(body: bytes, media_type: str = "text/html; charset=utf-8", **headers: str) -> bytes:
    """Return a response with a Content-Length."""
    return head(Content_Type=media_type, Content_Length=str(len(body)), **headers) + body


def chunked(body: bytes, **headers: str) -> bytes:
    """Return a response in chunks of 200 bytes."""
    pieces = (body[at : at + 200] for at in range(0, len(body), 200))
    chunks = b"".join(b"%x\r\n%s\r\n" % (len(piece), piece) for piece in pieces)
    return head(Content_Type="text/html", Transfer_Encoding="chunked", **headers) + chunks + b"0\r\n\r\n"


def framings(body: bytes) -> Mapping[str, bytes]:
    """Return the response for a page in each framing and coding."""
    hints = b"HTTP/1.1 103 Early Hints\r\nLink: </style.css>; rel=preload\r\n\r\n"
    zipped = gzip.compress(body, mtime=0)
    return {
        "length": sized(body),
        "chunks": chunked(body),
        "until close": head(Content_Type="text/html", Connection="close") + body,
        "gzip": sized(zipped, Content_Encoding="gzip"),
        "gzip in chunks after 103": hints + chunked(zipped, Content_Encoding="gzip"),
        "br": sized(brotli.compress(body), Content_Encoding="br"),
        "zstd": sized(zstd.compress(body), Content_Encoding="zstd"),
    }
