"""Describe a rule that a provider enforces on a conversation, and check the rules of a table."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

Item = Mapping[str, Any]
Items = Sequence[Item]


@dataclass(frozen=True, slots=True)
class Rule:
    """A rule, where it is documented, and the function that yields what breaks it in a conversation."""

    name: str
    source: str
    find: Callable[[Items], Iterator[str]]
    is_repaired: bool = False
    """True if `keyhole.compact` leaves out what breaks it, in conversations that it understands."""


def check(rules: Sequence[Rule], items: Items) -> list[str]:
    """Return the faults of a conversation: the name of a rule, and the id or place of what breaks it."""
    return [f"{rule.name}: {fault}" for rule in rules for fault in rule.find(items)]


def sign(value: object) -> str:
    """Return the signature that the test conversations give to a thought or part, as base64 without padding."""
    return "Sig/" + hashlib.sha256(repr(value).encode("utf-8", "replace")).hexdigest()[:20]


def is_signed(value: object, signature: object) -> bool:
    """Return False if a signature of the test conversations belongs to another value."""
    return not str(signature).startswith("Sig/") or signature == sign(value)


def parts_of(content: object) -> list[Item]:
    """Return the parts of a content that are objects. A text is one part."""
    if isinstance(content, str):
        return [{"type": "text", "text": content}]
    return [part for part in content if isinstance(part, Mapping)] if isinstance(content, list) else []
