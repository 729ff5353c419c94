"""Estimate how many tokens the items of a conversation take, fast enough for megabytes of them. Pure.

The rules: a text takes a token for three bytes of UTF-8, or for one and a half where it has hardly a space, quote or
comma, as in encoded data; an image 1,600; a file one for every 40 characters of its data, at least 1,600; encrypted
reasoning one for four characters. Names and other values take a token each.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from math import ceil
from typing import Any, Final

BYTES_PER_TOKEN: Final = 3.0
"""Bytes of prose, code, logs or JSON per token. Tokenizers take three to four; fewer is cautious."""
DENSE_BYTES_PER_TOKEN: Final = 1.5
"""Bytes of base64 or hexadecimal text per token."""
SEPARATORS: Final = ' \n",;'
MIN_SEPARATORS: Final = 0.02
"""Share of separators in a long text below which it counts as encoded data."""
SAMPLE_CHARS: Final = 500
"""Characters of the beginning and of the end in which separators are counted."""
LONG_TEXT: Final = 200
"""Characters from which the share of separators tells something."""
IMAGE_TOKENS: Final = 1_600
"""Tokens of an image. Anthropic's largest take about 1,600 (width times height / 750), OpenAI's up to 1,105 at high
detail (https://docs.anthropic.com/en/docs/build-with-claude/vision)."""
FILE_CHARS_PER_TOKEN: Final = 40
"""Characters of a file's base64 data per token: a page of a PDF has about 75 KB and takes 1,500 to 3,000 tokens
(https://docs.anthropic.com/en/docs/build-with-claude/pdf-support)."""
ENCRYPTED_CHARS_PER_TOKEN: Final = 4
ITEM_TOKENS: Final = 4
"""Tokens around a message, as OpenAI's cookbook counts them."""

_IMAGES: Final = frozenset({"image", "image_url", "input_image", "computer_screenshot", "image_generation_call"})
_FILES: Final = frozenset({"document", "file", "input_file", "input_audio", "audio", "video"})
_ENCRYPTED: Final = frozenset({"encrypted_content", "signature"})


def estimate_item(item: Mapping[str, Any]) -> int:
    """Return an estimate of the tokens of one item."""
    return ITEM_TOKENS + ceil(_object_tokens(item))


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


def estimate_value(value: object) -> int:
    """Return an estimate of the tokens of a plain value, such as the content of a tool result."""
    return ceil(_tokens(value))


def _tokens(value: object) -> float:
    if isinstance(value, str):
        return estimate_text(value)
    if isinstance(value, Mapping):
        return _object_tokens(value)
    if isinstance(value, list | tuple):
        return sum(map(_tokens, value))
    return 1.0


def _object_tokens(value: Mapping[str, Any]) -> float:
    part_type = value.get("type")
    if part_type in _IMAGES:
        return IMAGE_TOKENS
    if part_type in _FILES and not _is_text_document(value):
        return max(IMAGE_TOKENS, count_chars(value) / FILE_CHARS_PER_TOKEN)
    total = float(len(value))
    for name, each in value.items():
        if not isinstance(each, str):
            total += _tokens(each)
        else:
            total += len(each) / ENCRYPTED_CHARS_PER_TOKEN if name in _ENCRYPTED else estimate_text(each)
    return total


def _is_text_document(value: Mapping[str, Any]) -> bool:
    source = value.get("source")
    return isinstance(source, Mapping) and source.get("type") in ("text", "content")


def estimate_text(text: str) -> float:
    """Return an estimate of the tokens of a text."""
    size = len(text) if text.isascii() else len(text.encode("utf-8", "surrogatepass"))
    if len(text) < LONG_TEXT or size > len(text):
        return size / BYTES_PER_TOKEN
    sample = text if size <= 2 * SAMPLE_CHARS else text[:SAMPLE_CHARS] + text[-SAMPLE_CHARS:]
    is_dense = sum(map(sample.count, SEPARATORS)) < MIN_SEPARATORS * len(sample)
    return size / (DENSE_BYTES_PER_TOKEN if is_dense else BYTES_PER_TOKEN)
