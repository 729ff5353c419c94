"""Estimate how many tokens the items of a conversation take. Pure.

Texts are estimated as everywhere (render/tokens.py), images and files as their providers count them, and encrypted
reasoning as a token for four characters. Names and other values take a token each.
"""

from __future__ import annotations

import base64
import struct
from collections.abc import Callable, Iterable, Mapping
from math import ceil
from typing import Any, Final

from keyhole.render.tokens import estimate_roughly

# Media: images and files, by the published rules of their providers.
#
# Where models of a provider differ, the rule is that of the models which take more. Sources:
# https://docs.anthropic.com/en/docs/build-with-claude/vision, https://platform.openai.com/docs/guides/images-vision,
# https://ai.google.dev/gemini-api/docs/media-resolution and /tokens.

UNKNOWN_TOKENS: Final = 1_600
"""Tokens of an image of unknown size, such as one at a URL: Anthropic's limit for most models."""
HEADER_CHARS: Final = 65_536
"""Characters of base64 in which the size is looked for. Photos have their preview and their place before it."""
FILE_CHARS_PER_TOKEN: Final = 40
"""Characters of a file's base64 data per token: a page of a PDF has about 75 KB and takes 1,500 to 3,000 tokens."""

ImageSize = tuple[int, int]

_ANTHROPIC_EDGE: Final = 2_576
_ANTHROPIC_MOST: Final = 4_784
_ANTHROPIC_PATCH: Final = 28
"""Pixels of the longest edge, tokens at most, and pixels of the patch of one token."""
_OPENAI_EDGE: Final = 2_048
_OPENAI_SHORT_EDGE: Final = 768
_OPENAI_TILE: Final = 512
_OPENAI_PATCH: Final = 32
_OPENAI_MOST_PATCHES: Final = 1_536
_OPENAI_LOW: Final = 85
_GEMINI_TILE: Final = 768
_GEMINI_TILE_TOKENS: Final = 258
_GEMINI_LEAST: Final = 1_120
"""Tokens of an image at Gemini 3's default resolution. Gemini 2 takes 258 for each tile."""

_IMAGES: Final = frozenset({"image", "image_url", "input_image", "computer_screenshot", "image_generation_call"})
_FILES: Final = frozenset({"document", "file", "input_file", "input_audio", "audio", "video"})


def estimate_media(part: Mapping[str, Any]) -> int | None:
    """Return an estimate of the tokens of an image or a file; None for a part that is neither."""
    inline = part.get("inlineData", part.get("inline_data"))
    if isinstance(inline, Mapping):
        kind = str(inline.get("mimeType", inline.get("mime_type")) or "")
        data = inline.get("data")
        return _image(data, _gemini) if kind.startswith("image/") else _file(data)
    if "fileData" in part or ("file_data" in part and "type" not in part):
        return UNKNOWN_TOKENS
    part_type = part.get("type")
    if part_type in _IMAGES:
        return _estimate_image(part)
    source = part.get("source")
    is_text = isinstance(source, Mapping) and source.get("type") in ("text", "content")
    if (part_type in _FILES and not is_text) or part.get("kind") == "binary":
        return _file(part)
    return None


def _estimate_image(part: Mapping[str, Any]) -> int:
    source = part.get("source")
    if isinstance(source, Mapping):
        return _image(source.get("data"), _anthropic)
    if part.get("detail") == "low":
        return _OPENAI_LOW
    url = part.get("image_url")
    if isinstance(url, Mapping):
        if url.get("detail") == "low":
            return _OPENAI_LOW
        url = url.get("url")
    return _image(url or part.get("result") or part.get("base64") or part.get("data"), _openai)


def _image(data: object, rule: Callable[[ImageSize], int]) -> int:
    size = image_size(data) if isinstance(data, str) else None
    return rule(size) if size else UNKNOWN_TOKENS


def _file(value: object) -> int:
    return max(UNKNOWN_TOKENS, _count_chars(value) // FILE_CHARS_PER_TOKEN)


def _count_chars(value: object) -> int:
    if isinstance(value, str):
        return len(value)
    return sum(map(_count_chars, value.values())) if isinstance(value, Mapping) else 0


def _anthropic(size: ImageSize) -> int:
    """Return a token for each patch, after scaling to the longest edge."""
    width, height = _scale(size, _ANTHROPIC_EDGE / max(size))
    return min(_ANTHROPIC_MOST, ceil(width / _ANTHROPIC_PATCH) * ceil(height / _ANTHROPIC_PATCH))


def _openai(size: ImageSize) -> int:
    """Return the larger number of two rules: by tiles of 512 pixels, and by patches of 32."""
    width, height = _scale(size, _OPENAI_EDGE / max(size))
    width, height = _scale((width, height), _OPENAI_SHORT_EDGE / min(width, height))
    tiles = ceil(width / _OPENAI_TILE) * ceil(height / _OPENAI_TILE)
    patches = ceil(size[0] / _OPENAI_PATCH) * ceil(size[1] / _OPENAI_PATCH)
    return max(_OPENAI_LOW + 2 * _OPENAI_LOW * tiles, min(_OPENAI_MOST_PATCHES, patches))


def _gemini(size: ImageSize) -> int:
    tiles = ceil(size[0] / _GEMINI_TILE) * ceil(size[1] / _GEMINI_TILE)
    return max(_GEMINI_LEAST, _GEMINI_TILE_TOKENS * tiles)


def _scale(size: ImageSize, factor: float) -> ImageSize:
    """Scale a size by `factor`, unless that enlarges it."""
    return size if factor >= 1 else (max(1, round(size[0] * factor)), max(1, round(size[1] * factor)))


def image_size(data: str) -> ImageSize | None:
    """Return width and height of a PNG, GIF, WebP or JPEG image in base64, also as a data URL; None if unknown."""
    start = data.find(",") + 1 if data.startswith("data:") else 0
    head = data[start : start + HEADER_CHARS]
    try:
        return _read_size(base64.b64decode(head[: len(head) // 4 * 4]))
    except (ValueError, struct.error):  # no base64, or cut off
        return None


def _read_size(head: bytes) -> ImageSize | None:
    size: ImageSize | None = None
    if head.startswith(b"\x89PNG"):
        size = struct.unpack(">II", head[16:24])
    elif head.startswith(b"GIF8"):
        size = struct.unpack("<HH", head[6:10])
    elif head.startswith(b"RIFF") and head[8:12] == b"WEBP":
        size = _webp_size(head)
    elif head.startswith(b"\xff\xd8"):
        size = _jpeg_size(head)
    return size if size and min(size) > 0 else None


def _webp_size(head: bytes) -> ImageSize | None:
    kind = head[12:16]
    if kind == b"VP8X":
        return int.from_bytes(head[24:27], "little") + 1, int.from_bytes(head[27:30], "little") + 1
    if kind == b"VP8L":
        bits = int.from_bytes(head[21:25], "little")
        return (bits & 0x3FFF) + 1, (bits >> 14 & 0x3FFF) + 1
    width, height = struct.unpack("<HH", head[26:30])
    return width & 0x3FFF, height & 0x3FFF


def _jpeg_size(head: bytes) -> ImageSize | None:
    """Return the size in the first frame header, after segments with their lengths."""
    at = 2
    while at + 9 < len(head) and head[at] == 0xFF:
        marker, length = head[at + 1], int.from_bytes(head[at + 2 : at + 4], "big")
        if 0xC0 <= marker <= 0xCF and marker not in (0xC4, 0xC8, 0xCC):
            height, width = struct.unpack(">HH", head[at + 5 : at + 9])
            return width, height
        at += 2 + length
    return None


# Items: their texts, media and other values together.

ENCRYPTED_CHARS_PER_TOKEN: Final = 4
ITEM_TOKENS: Final = 4
"""Tokens around a message, as OpenAI's cookbook counts them."""

_ENCRYPTED: Final = frozenset({"encrypted_content", "signature", "thoughtSignature", "thought_signature"})


def estimate_item(item: Mapping[str, Any]) -> int:
    """Return an estimate of the tokens of one item, given as plain values."""
    return ITEM_TOKENS + ceil(_object_tokens(item))


def estimate_value(value: object) -> int:
    """Return an estimate of the tokens of a plain value, such as the content of a tool result."""
    return ceil(_tokens(value))


def count_chars(value: object) -> int:
    """Return the characters of all texts in an item."""
    if isinstance(value, str):
        return len(value)
    values: Iterable[object] = (
        value.values() if isinstance(value, Mapping) else value if isinstance(value, list) else ()
    )
    count = 0
    for each in values:
        count += len(each) if isinstance(each, str) else count_chars(each)
    return count


def _tokens(value: object) -> float:
    if isinstance(value, str):
        return estimate_roughly(value)
    if isinstance(value, Mapping):
        return _object_tokens(value)
    if isinstance(value, list | tuple):
        return sum(map(_tokens, value))
    return 1.0


def _object_tokens(value: Mapping[str, Any]) -> float:
    media = estimate_media(value)
    if media is not None:
        return media
    total = float(len(value))
    for name, each in value.items():
        if not isinstance(each, str):
            total += _tokens(each)
        else:
            total += len(each) / ENCRYPTED_CHARS_PER_TOKEN if name in _ENCRYPTED else estimate_roughly(each)
    return total
