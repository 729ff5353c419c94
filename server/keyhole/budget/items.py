"""Estimate how many tokens the items of a conversation take. Pure.

Texts are estimated as everywhere (tokens.py), images and files as their providers count them (images.py), and encrypted
reasoning as a token for four characters. Names and other values take a token each.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from math import ceil
from typing import Any, Final

from keyhole.budget.images import estimate_media
from keyhole.budget.tokens import estimate_roughly

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
