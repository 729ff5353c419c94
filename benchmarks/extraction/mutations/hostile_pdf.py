"""Make PDF files that are hostile on purpose: bombs, endless and deep content, circles of objects. No I/O."""

from __future__ import annotations

import zlib
from typing import Final

_PAGE: Final = b"<</Type/Page/Parent 2 0 R/MediaBox[0 0 600 800]/Contents 3 0 R/Resources<</Font<</F 4 0 R>>>>>>"
_FONT: Final = b"<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>"


def make_pdf(content: bytes, *, pages: int = 1, page: bytes = _PAGE, extra: tuple[bytes, ...] = ()) -> bytes:
    """Return a PDF file whose pages all draw the same content. `extra`: objects after the last page."""
    packed = zlib.compress(content, 9)
    kids = b" ".join(b"%d 0 R" % (5 + number) for number in range(pages))
    objects = [
        b"<</Type/Catalog/Pages 2 0 R/Outlines %d 0 R>>" % (5 + pages),
        b"<</Type/Pages/Kids[%s]/Count %d>>" % (kids, pages),
        b"<</Length %d/Filter/FlateDecode>>stream\n%s\nendstream" % (len(packed), packed),
        _FONT,
        *[page] * pages,
        *extra,
    ]
    body, offsets = b"%PDF-1.4\n", []
    for number, written in enumerate(objects, 1):
        offsets.append(len(body))
        body += b"%d 0 obj\n%s\nendobj\n" % (number, written)
    table = b"".join(b"%010d 00000 n \n" % offset for offset in offsets)
    size = len(objects) + 1
    return body + b"xref\n0 %d\n0000000000 65535 f \n%strailer<</Size %d/Root 1 0 R>>\nstartxref\n%d\n%%%%EOF" % (
        size, table, size, len(body),
    )  # fmt: skip


def list_hostile() -> dict[str, bytes]:
    """Return hostile files by name."""
    text = b"BT /F 12 Tf (words) Tj ET"
    circle = b"<</Title(a)/First 6 0 R/Next 6 0 R/Count 9>>"
    resources = b"/Resources<</XObject<</X 7 0 R>>>>"
    form = b"<</Type/XObject/Subtype/Form/BBox[0 0 9 9]%s/Length 5>>stream\n/X Do\nendstream" % resources
    drawn = _PAGE.replace(b"/Font", b"/XObject<</X 7 0 R>>/Font")
    return {
        "a stream that unpacks to 500 MB": make_pdf(b" " * 500_000_000),
        "a string of 20 MB": make_pdf(b"BT /F 12 Tf (" + b"a" * 20_000_000 + b") Tj ET"),
        "a million operations": make_pdf(b"BT /F 12 Tf " + b"(a)Tj " * 1_000_000 + b"ET"),
        "two million saved states": make_pdf(b"q " * 2_000_000),
        "deep arrays": make_pdf(b"BT /F 12 Tf " + b"[" * 2_000_000),
        "deep dictionaries": make_pdf(b"/a " + b"<</a " * 500_000 + b"BDC"),
        "no commands": make_pdf(bytes(range(256)) * 4_000),
        "a thousand heavy pages": make_pdf(b"BT /F 12 Tf " + b"(a)Tj " * 200_000 + b"ET", pages=1_000),
        "a circular outline": make_pdf(text, extra=(b"<</First 6 0 R>>", circle)),
        "a circular form": make_pdf(text + b" /X Do", page=drawn, extra=(b"<<>>", form)),
        "a circular page tree": make_pdf(text, page=b"<</Type/Pages/Kids[2 0 R 5 0 R]/Count 99999999>>"),
        "a huge page": make_pdf(text, page=_PAGE.replace(b"600 800", b"1e38 -1e38")),
        "a huge font": make_pdf(b"BT /F 1e38 Tf 1e30 0 0 1e30 1e38 1e38 Tm (words) Tj ET"),
        "a count beyond memory": make_pdf(text).replace(b"/Count 1", b"/Count 2147483647"),
    }
