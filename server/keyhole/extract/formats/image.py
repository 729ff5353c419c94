"""Images as a description: format, size in pixels, and the words that the file itself holds. Decodes no pixels."""

from __future__ import annotations

import re
import struct
from collections.abc import Iterator
from typing import Final

from keyhole.errors import Code, KeyholeError
from keyhole.extract.body import Body
from keyhole.extract.decode import tidy
from keyhole.extract.formats.xml import local_name, read_xml, xml_text
from keyhole.extract.markup import one_line
from keyhole.records import Document, Metadata
from keyhole.text.escape import escaped

MAX_PARTS: Final = 1_000
"""Chunks, segments or boxes of one file that are looked at: words stand among the first, before the pixels."""
MAX_WORDS: Final = 500
"""Characters of one description."""
MAX_SVG_TEXTS: Final = 2_000
"""Text elements of a drawing that are given: a chart has some 50, a map some 500."""

Size = tuple[int, int]
Words = list[tuple[str, str]]


def read_image(kind: str, body: Body) -> Document:
    """One line that says what the image is, then the descriptions in it."""
    try:
        (width, height), words = _READERS[kind](body.data)
    except (struct.error, IndexError, ValueError):
        width = height = 0
        words = []
    if not width or not height:
        raise KeyholeError(
            Code.EXTRACTION_FAILED, f"the {kind} image is damaged: it names no size, {body.size}", bytes=len(body.data)
        )
    return _described(f"Image: {kind}, {width:,} x {height:,} pixels, {body.size}", words)


def _described(line: str, words: Words) -> Document:
    clean = [(name, one_line(tidy(value), MAX_WORDS)) for name, value in words]
    clean = [(name, value) for name, value in dict.fromkeys(clean) if value]
    title = next((value for name, value in clean if name == "Title"), "")
    said = dict(reversed(clean))
    metadata = Metadata(title=title[:300], author=said.get("Author", "")[:200], description=said.get("Description", ""))
    listed = "".join(f"- {name}: {escaped(value)}\n" for name, value in clean)
    text = f"{line}\n\n{listed}" if listed else f"{line}\n"
    return Document(title=title[:300], text=text, media_type="", metadata=metadata)


def _png(data: bytes) -> tuple[Size, Words]:
    words: Words = []
    for kind, chunk in _png_chunks(data):
        if kind == b"tEXt":
            name, _, value = chunk.partition(b"\0")
            words.append((name.decode("latin-1"), value.decode("latin-1")))
        elif kind == b"iTXt":
            name, _, rest = chunk.partition(b"\0")
            if rest[:1] == b"\0":  # not compressed
                words.append((name.decode("latin-1"), rest[2:].split(b"\0", 2)[-1].decode("utf-8", "replace")))
    wanted = {"Title", "Author", "Description", "Copyright", "Comment", "Source", "Software"}
    width, height = struct.unpack(">II", data[16:24])
    return (width, height), [(name, value) for name, value in words if name in wanted]


def _png_chunks(data: bytes) -> Iterator[tuple[bytes, bytes]]:
    position = 8
    for _ in range(MAX_PARTS):
        if position + 8 > len(data):
            return
        (length,) = struct.unpack(">I", data[position : position + 4])
        yield data[position + 4 : position + 8], data[position + 8 : position + 8 + min(length, 4 * MAX_WORDS)]
        position += 12 + length


def _jpeg(data: bytes) -> tuple[Size, Words]:
    words: Words = []
    size = (0, 0)
    position = 2
    for _ in range(MAX_PARTS):
        marker, (length,) = data[position + 1], struct.unpack(">H", data[position + 2 : position + 4])
        segment = data[position + 4 : position + 2 + length]
        if 0xC0 <= marker <= 0xCF and marker not in {0xC4, 0xC8, 0xCC}:
            height, width = struct.unpack(">HH", segment[1:5])
            return (width, height), words
        if marker == 0xFE:
            words.append(("Comment", segment[: 4 * MAX_WORDS].decode("utf-8", "replace")))
        elif marker == 0xE1 and segment.startswith(b"Exif\0\0"):
            words += _exif(segment[6:])
        position += 2 + length
    return size, words


def _exif(tiff: bytes) -> Words:
    """The words of the first directory (TIFF 6.0, section 2): what the picture shows, and whose it is."""
    names = {0x010E: "Description", 0x013B: "Author", 0x8298: "Copyright"}
    order = {b"II": "<", b"MM": ">"}.get(tiff[:2])
    if order is None:
        return []
    words: Words = []
    try:
        (start,) = struct.unpack(f"{order}I", tiff[4:8])
        (count,) = struct.unpack(f"{order}H", tiff[start : start + 2])
        for number in range(min(count, 100)):
            field = tiff[start + 2 + 12 * number : start + 14 + 12 * number]
            tag, kind, length, offset = struct.unpack(f"{order}HHII", field)
            if tag in names and kind == 2:
                value = field[8 : 8 + length] if length <= 4 else tiff[offset : offset + min(length, 4 * MAX_WORDS)]
                words.append((names[tag], value.rstrip(b"\0").decode("utf-8", "replace")))
    except struct.error:
        pass  # a directory cut short: what was found of it counts
    return words


def _gif(data: bytes) -> tuple[Size, Words]:
    width, height = struct.unpack("<HH", data[6:10])
    return (width, height), []


def _webp(data: bytes) -> tuple[Size, Words]:
    kind = data[12:16]
    if kind == b"VP8X":
        return (1 + int.from_bytes(data[24:27], "little"), 1 + int.from_bytes(data[27:30], "little")), []
    if kind == b"VP8L":
        (bits,) = struct.unpack("<I", data[21:25])
        return (1 + (bits & 0x3FFF), 1 + (bits >> 14 & 0x3FFF)), []
    width, height = struct.unpack("<HH", data[26:30])
    return (width & 0x3FFF, height & 0x3FFF), []


def _avif(data: bytes) -> tuple[Size, Words]:
    """The largest `ispe` property: the smaller ones are thumbnails and alpha planes."""
    found = [struct.unpack(">II", match[1]) for match in re.finditer(rb"ispe\0{4}(.{8})", data[:65_536], re.DOTALL)]
    width, height = max(found, key=lambda size: size[0] * size[1], default=(0, 0))
    return (width, height), []


def _bmp(data: bytes) -> tuple[Size, Words]:
    if struct.unpack("<I", data[14:18])[0] == 12:
        width, height = struct.unpack("<HH", data[18:22])
    else:
        width, height = struct.unpack("<ii", data[18:26])
    return (abs(width), abs(height)), []


def _ico(data: bytes) -> tuple[Size, Words]:
    (count,) = struct.unpack("<H", data[4:6])
    sizes = [(data[6 + 16 * n] or 256, data[7 + 16 * n] or 256) for n in range(min(count, 100))]
    return max(sizes), [("Sizes", ", ".join(f"{width} x {height}" for width, height in sizes))]


_READERS = {
    "PNG": _png, "JPEG": _jpeg, "GIF": _gif, "WebP": _webp, "AVIF": _avif, "BMP": _bmp, "ICO": _ico,
}  # fmt: skip


def read_svg(body: Body) -> Document:
    """A drawing's title, description and texts in order. Scripts, links and entities are not followed."""
    from lxml import etree

    text = re.sub(r"^\s*<\?xml[^>]*>", "", tidy(xml_text(body)), count=1).strip()
    parser = etree.XMLParser(
        recover=True, resolve_entities=False, no_network=True, huge_tree=False, remove_pis=True, encoding="utf-8"
    )
    try:
        root = etree.fromstring(text.encode("utf-8", "replace"), parser)
    except etree.XMLSyntaxError:
        root = None
    if root is None or local_name(root) != "svg":
        return read_xml(body)  # named so, but no drawing
    words: Words = []
    names = {"title": "Title", "desc": "Description", "text": "Text"}
    for element in root.iter("{*}title", "{*}desc", "{*}text"):
        if len(words) == MAX_SVG_TEXTS:
            break
        words.append((names[local_name(element)], " ".join(element.itertext())))
    return _described(f"Image: SVG{_svg_size(root)}, {body.size}", words)


def _svg_size(root: object) -> str:
    """Width and height as stated, else those of the view box."""
    get = getattr(root, "get")  # noqa: B009 - lxml has no types
    box = re.findall(r"[-+.\w]{1,20}", str(get("viewBox") or "")[:100])
    stated = [str(get(name) or "").strip().removesuffix("px") for name in ("width", "height")]
    numbers = stated if all(re.fullmatch(r"[0-9.]{1,10}", value) for value in stated) else box[2:4]
    return f", {numbers[0]} x {numbers[1]} pixels" if len(numbers) == 2 else ""
