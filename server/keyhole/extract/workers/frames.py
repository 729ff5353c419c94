"""What server and worker say to each other, as bytes: a JSON head and a raw body, each with its length. Pure.

A worker has read a hostile page, so nothing it says is trusted: its answers are data, bounded before they are read
and checked field by field, and cannot make the server run or load anything.
"""

from __future__ import annotations

import json
import re
import struct
from dataclasses import asdict
from typing import Any, Final

from keyhole.errors import Code, KeyholeError
from keyhole.records import Document, Metadata

LENGTHS: Final = struct.Struct("!II")
"""The lengths of head and body, before them."""
MAX_ANSWER: Final = 100_000_000
"""Bytes of an answer: 20 MB of text in three-byte characters, with its words once more, stays below it."""
MAX_MESSAGE: Final = 1_000
"""Characters of a named failure's message that are taken over, and of each of its facts."""
MAX_FACTS: Final = 10
"""Facts of a named failure that are taken over: more than any has."""
BROKEN: Final = "reading broke off"
_NAME: Final = re.compile(r"[a-z_]{0,40}")


class UnreadError(KeyholeError):
    """A worker did not finish a page, so that its text may still be shown as it is; the message says why."""

    def __init__(self, reason: str) -> None:
        super().__init__(Code.EXTRACTION_FAILED, reason)


class OutOfTimeError(UnreadError):
    """A worker was killed because its time was over: with more of it, the page may be read."""


def pack(head: dict[str, Any], body: bytes = b"") -> tuple[bytes, bytes]:
    """A message as lengths and head, and its body, so that a large one is not copied."""
    encoded = _encode(json.dumps(head, ensure_ascii=False, separators=(",", ":")))
    return LENGTHS.pack(len(encoded), len(body)) + encoded, body


def lengths(prefix: bytes, most: int = MAX_ANSWER) -> tuple[int, int]:
    """The lengths of a message's head and body. Raises UnreadError when they come to more than `most`."""
    head, body = LENGTHS.unpack(prefix)
    if head + body > most:
        raise UnreadError("reading gave more text than is allowed")
    return head, body


def head_of(encoded: bytes) -> dict[str, Any]:
    """A message's head. Raises UnreadError for anything but a JSON object."""
    try:
        head = json.loads(_decode(encoded))
    except (ValueError, RecursionError) as error:
        raise UnreadError(BROKEN) from error
    if not isinstance(head, dict):
        raise UnreadError(BROKEN)
    return head


def document_message(document: Document, words: str) -> tuple[dict[str, Any], bytes]:
    """A worker's answer for a page that it read."""
    head = {
        "title": document.title,
        "media_type": document.media_type,
        "language": document.language,
        "removed": document.removed,
        "notice": document.notice,
        "metadata": asdict(document.metadata),
        "words": words,
    }
    return head, _encode(document.text)


def failure_message(error: KeyholeError) -> dict[str, Any]:
    """A worker's answer for a page that has a named failure."""
    return {"code": str(error.code), "message": error.message, "facts": error.facts}


def answer_in(head: dict[str, Any], text: bytes) -> tuple[Document, str] | KeyholeError:
    """The document of an answer and its words, or the failure that it names. Raises UnreadError for what is neither."""
    try:
        if "unread" in head:
            raise UnreadError(_text(head["unread"])[:MAX_MESSAGE])
        if "code" in head:
            facts = {_text(key): _plain(value) for key, value in list(head["facts"].items())[:MAX_FACTS]}
            return KeyholeError(Code(head["code"]), _text(head["message"])[:MAX_MESSAGE], **facts)
        document = Document(
            title=_text(head["title"]),
            text=_decode(text),
            media_type=_text(head["media_type"]),
            language=_text(head["language"]),
            removed=tuple((_text(what), int(count)) for what, count in head["removed"]),
            notice=_name(head["notice"]),
            metadata=Metadata(**{name: _text(value) for name, value in head["metadata"].items()}),
        )
        return document, _text(head["words"])
    except (ValueError, TypeError, LookupError, AttributeError, OverflowError) as error:
        raise UnreadError(BROKEN) from error


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise TypeError("not a string")
    return value


def _name(value: object) -> str:
    """A notice's name. A line of words would be shown as ours, and a page must not write one."""
    if not isinstance(value, str) or not _NAME.fullmatch(value):
        raise TypeError("not a name")
    return value


def _plain(value: object) -> str | int | float:
    if not isinstance(value, str | int | float):
        raise TypeError("not a plain value")
    return value[:MAX_MESSAGE] if isinstance(value, str) else value


def _encode(text: str) -> bytes:
    """UTF-8 that carries lone surrogates too, which a page can hold and no other encoding would return."""
    return text.encode("utf-8", "surrogatepass")


def _decode(encoded: bytes) -> str:
    return encoded.decode("utf-8", "surrogatepass")
