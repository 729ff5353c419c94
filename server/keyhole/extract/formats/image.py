"""Describe images by format, size in pixels and embedded text. Pixels are not decoded."""

from __future__ import annotations

import re
import struct
from collections.abc import Iterator
from typing import Final

from keyhole.errors import Code, KeyholeError
from keyhole.extract.body import Body
from keyhole.extract.formats.xml import decode_xml, local_name, parse_xml, read_xml
from keyhole.extract.markup import to_one_line
from keyhole.records import Document, Metadata
from keyhole.text.clean import clean
from keyhole.text.escape import escape_markdown

MAX_PARTS: Final = 1_000
"""Largest number of chunks or segments read of one file. Text comes in the first ones, before the pixels."""
MAX_FIELD_CHARS: Final = 500
"""Largest length of one text field, in characters."""
MAX_SVG_TEXTS: Final = 2_000
"""Largest number of text elements read from an SVG drawing: a chart has some 50, a map some 500."""

PixelSize = tuple[int, int]
Fields = list[tuple[str, str]]


def read_image(kind: str, body: Body) -> Document:
    """Read an image of the format `kind` as a line with its size and a list of its text fields."""
    try:
        (width, height), texts = _READERS[kind](body.data)
    except (struct.error, IndexError, ValueError):
        width = height = 0
        texts = []
    if not width or not height:
        raise KeyholeError(
            Code.EXTRACTION_FAILED,
            f"the {kind} image is damaged: it has no size, {body.size_text}",
            bytes=len(body.data),
        )
    return _build_document(f"Image: {kind}, {width:,} x {height:,} pixels, {body.size_text}", texts)


def _build_document(line: str, texts: Fields) -> Document:
    cleaned = [(name, to_one_line(clean(value), MAX_FIELD_CHARS)) for name, value in texts]
    cleaned = [(name, value) for name, value in dict.fromkeys(cleaned) if value]
    title = next((value for name, value in cleaned if name == "Title"), "")
    fields = dict(reversed(cleaned))
    metadata = Metadata(
        title=title[:300], author=fields.get("Author", "")[:200], description=fields.get("Description", "")
    )
    listed = "".join(f"- {name}: {escape_markdown(value)}\n" for name, value in cleaned)
    text = f"{line}\n\n{listed}" if listed else f"{line}\n"
    return Document(title=title[:300], text=text, media_type="", metadata=metadata)


def _read_png(data: bytes) -> tuple[PixelSize, Fields]:
    texts: Fields = []
    for kind, chunk in _iter_png_chunks(data):
        if kind == b"tEXt":
            name, _, value = chunk.partition(b"\0")
            texts.append((name.decode("latin-1"), value.decode("latin-1")))
        elif kind == b"iTXt":
            name, _, rest = chunk.partition(b"\0")
            if rest[:1] == b"\0":  # not compressed
                texts.append((name.decode("latin-1"), rest[2:].split(b"\0", 2)[-1].decode("utf-8", "replace")))
    keywords = {"Title", "Author", "Description", "Copyright", "Comment", "Source", "Software"}
    width, height = struct.unpack(">II", data[16:24])
    return (width, height), [(name, value) for name, value in texts if name in keywords]


def _iter_png_chunks(data: bytes) -> Iterator[tuple[bytes, bytes]]:
    position = 8
    for _ in range(MAX_PARTS):
        if position + 8 > len(data):
            return
        (length,) = struct.unpack(">I", data[position : position + 4])
        yield data[position + 4 : position + 8], data[position + 8 : position + 8 + min(length, 4 * MAX_FIELD_CHARS)]
        position += 12 + length


def _read_jpeg(data: bytes) -> tuple[PixelSize, Fields]:
    texts: Fields = []
    size = (0, 0)
    position = 2
    for _ in range(MAX_PARTS):
        marker, (length,) = data[position + 1], struct.unpack(">H", data[position + 2 : position + 4])
        segment = data[position + 4 : position + 2 + length]
        if 0xC0 <= marker <= 0xCF and marker not in {0xC4, 0xC8, 0xCC}:
            height, width = struct.unpack(">HH", segment[1:5])
            return (width, height), texts
        if marker == 0xFE:
            texts.append(("Comment", segment[: 4 * MAX_FIELD_CHARS].decode("utf-8", "replace")))
        elif marker == 0xE1 and segment.startswith(b"Exif\0\0"):
            texts += _read_exif(segment[6:])
        position += 2 + length
    return size, texts


def _read_exif(tiff: bytes) -> Fields:
    """Return the text fields in the first image file directory of Exif data (TIFF 6.0, section 2)."""
    names = {0x010E: "Description", 0x013B: "Author", 0x8298: "Copyright"}
    order = {b"II": "<", b"MM": ">"}.get(tiff[:2])
    if order is None:
        return []
    texts: Fields = []
    try:
        (start,) = struct.unpack(f"{order}I", tiff[4:8])
        (count,) = struct.unpack(f"{order}H", tiff[start : start + 2])
        for number in range(min(count, 100)):
            field = tiff[start + 2 + 12 * number : start + 14 + 12 * number]
            tag, kind, length, offset = struct.unpack(f"{order}HHII", field)
            if tag in names and kind == 2:
                value = (
                    field[8 : 8 + length] if length <= 4 else tiff[offset : offset + min(length, 4 * MAX_FIELD_CHARS)]
                )
                texts.append((names[tag], value.rstrip(b"\0").decode("utf-8", "replace")))
    except struct.error:
        pass  # a truncated directory: keep the fields read so far
    return texts


def _read_gif(data: bytes) -> tuple[PixelSize, Fields]:
    width, height = struct.unpack("<HH", data[6:10])
    return (width, height), []


def _read_webp(data: bytes) -> tuple[PixelSize, Fields]:
    kind = data[12:16]
    if kind == b"VP8X":
        return (1 + int.from_bytes(data[24:27], "little"), 1 + int.from_bytes(data[27:30], "little")), []
    if kind == b"VP8L":
        (bits,) = struct.unpack("<I", data[21:25])
        return (1 + (bits & 0x3FFF), 1 + (bits >> 14 & 0x3FFF)), []
    width, height = struct.unpack("<HH", data[26:30])
    return (width & 0x3FFF, height & 0x3FFF), []


def _read_avif(data: bytes) -> tuple[PixelSize, Fields]:
    """Return the size in the largest `ispe` property. Smaller ones belong to thumbnails and alpha planes."""
    sizes = [struct.unpack(">II", match[1]) for match in re.finditer(rb"ispe\0{4}(.{8})", data[:65_536], re.DOTALL)]
    width, height = max(sizes, key=lambda size: size[0] * size[1], default=(0, 0))
    return (width, height), []


def _read_bmp(data: bytes) -> tuple[PixelSize, Fields]:
    if struct.unpack("<I", data[14:18])[0] == 12:
        width, height = struct.unpack("<HH", data[18:22])
    else:
        width, height = struct.unpack("<ii", data[18:26])
    return (abs(width), abs(height)), []


def _read_ico(data: bytes) -> tuple[PixelSize, Fields]:
    (count,) = struct.unpack("<H", data[4:6])
    sizes = [(data[6 + 16 * n] or 256, data[7 + 16 * n] or 256) for n in range(min(count, 100))]
    return max(sizes), [("Sizes", ", ".join(f"{width} x {height}" for width, height in sizes))]


_READERS = {
    "PNG": _read_png, "JPEG": _read_jpeg, "GIF": _read_gif, "WebP": _read_webp, "AVIF": _read_avif, "BMP": _read_bmp,
    "ICO": _read_ico,
}  # fmt: skip


def read_svg(body: Body) -> Document:
    """Read the title, description and texts of an SVG drawing in document order. Nothing is fetched."""
    root = parse_xml(clean(decode_xml(body)))
    if root is None or local_name(root) != "svg":
        return read_xml(body)  # declared as SVG by mistake
    texts: Fields = []
    names = {"title": "Title", "desc": "Description", "text": "Text"}
    for element in root.iter("{*}title", "{*}desc", "{*}text"):
        if len(texts) == MAX_SVG_TEXTS:
            break
        texts.append((names[local_name(element)], " ".join(element.itertext())))
    return _build_document(f"Image: SVG{_describe_svg_size(root)}, {body.size_text}", texts)


def _describe_svg_size(root: object) -> str:
    """Return the declared width and height as text, else those of the view box, else ""."""
    get = getattr(root, "get")  # noqa: B009 - lxml has no types
    box = re.findall(r"[-+.\w]{1,20}", str(get("viewBox") or "")[:100])
    declared = [str(get(name) or "").strip().removesuffix("px") for name in ("width", "height")]
    numbers = declared if all(re.fullmatch(r"[0-9.]{1,10}", value) for value in declared) else box[2:4]
    return f", {numbers[0]} x {numbers[1]} pixels" if len(numbers) == 2 else ""
