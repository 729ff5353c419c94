"""Salvage the text of a page that a worker did not finish, without tags, scripts and hidden text.

This code runs in another worker, on bytes that may have crashed the first. Every step takes linear time on a bounded
input, and no parser of documents is used.
"""

from __future__ import annotations

import re
from typing import Final

from keyhole.errors import Code, KeyholeError
from keyhole.extract.decode import decode, looks_binary
from keyhole.extract.formats.markdown import clean_plain_text
from keyhole.extract.media_type import match_signature, sniff
from keyhole.extract.workers.frames import MAX_SALVAGED
from keyhole.extract.workers.strip_tags import strip_tags
from keyhole.passages.words import WORD, fold_word
from keyhole.records import UNDIGESTED, Document
from keyhole.text.invalid_characters import unescape
from keyhole.text.lower_case import lower

MAX_TEXT: Final = 200_000
"""Largest length of the salvaged text, in characters: that of the largest result."""

_FEED_TYPES: Final = frozenset(
    {"application/feed+xml", "application/rss+xml", "application/atom+xml", "application/rdf+xml"}
)
_TITLE = re.compile(r"<title[^<>]{0,200}>([^<]{0,1000})", re.IGNORECASE)


def salvage(body: bytes, url: str, content_type: str, reason: str) -> tuple[Document, str]:
    """Return a document with the bare text of a page and the notice UNDIGESTED, and its words.

    Raises KeyholeError (extraction_failed) with the reason for binary formats and for pages without text.
    """
    body = body[:MAX_SALVAGED]
    failure = KeyholeError(Code.EXTRACTION_FAILED, reason)
    if match_signature(body) is not None or looks_binary(body, content_type):
        raise failure
    media_type = sniff(body, content_type, url)
    title, text = "", decode(body, content_type)
    if "html" in media_type or "xml" in media_type:
        title, text = _find_title(text), strip_tags(text, media_type)
    if media_type in _FEED_TYPES:  # the entries contain HTML as text
        text = strip_tags(text)
    heading, text = clean_plain_text(text[:MAX_TEXT])
    if not text.strip():
        raise failure
    words = dict.fromkeys(fold_word(word) for word in WORD.findall(lower(text)))
    return Document(title or heading, text, media_type, notice=UNDIGESTED, cut=True), " ".join(words)


def _find_title(text: str) -> str:
    match = _TITLE.search(text[:100_000])
    return " ".join(unescape(match[1]).split()) if match else ""
