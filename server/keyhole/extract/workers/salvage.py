"""Salvage the text of a page that a worker did not finish, without tags and scripts.

This code runs in the server on bytes that may have crashed a worker. Every step takes linear time on a bounded input,
and no parser is used.
"""

from __future__ import annotations

import html
import re
from typing import Final

from keyhole.errors import Code, KeyholeError
from keyhole.extract.decode import decode, looks_binary
from keyhole.extract.formats.markdown import clean_plain_text
from keyhole.extract.media_type import match_signature, sniff
from keyhole.passages.words import WORD, fold_word, lower
from keyhole.records import Document, Page

MAX_BYTES: Final = 1_000_000
"""Number of bytes of the body that are read. The text is usually at least a fifth of a page."""
MAX_TEXT: Final = 200_000
"""Largest length of the salvaged text, in characters: that of the largest result."""

_SKIPPED_TAGS: Final = ("script", "style", "template", "noscript", "svg", "iframe", "textarea", "title")
"""Elements whose content is skipped, such as scripts, styles and drawings."""
_TITLE = re.compile(r"<title[^<>]{0,200}>([^<]{0,1000})", re.IGNORECASE)
_TAG_NAME = re.compile(r"/?([a-z][a-z0-9]{0,20})", re.IGNORECASE)
_INLINE_TAGS: Final = frozenset(
    {
        "a", "abbr", "acronym", "b", "bdi", "bdo", "big", "cite", "code", "data", "del", "dfn", "em", "font", "i",
        "ins", "kbd", "label", "mark", "q", "s", "samp", "small", "span", "strike", "strong", "sub", "sup", "time",
        "tt", "u", "var", "wbr",
    }
)  # fmt: skip
"""Elements that do not break a line."""
_END_TAGS = {name: re.compile(f"</{name}", re.IGNORECASE) for name in _SKIPPED_TAGS}
_LONG_REFERENCE = re.compile(r"&#x?[0-9a-f]{9,}", re.IGNORECASE)
"""Character references with too many digits to be valid. Python rejects numbers of thousands of digits."""


def salvage(page: Page, reason: str) -> tuple[Document, str]:
    """Return a document with the bare text of a page and a notice with the reason, and its words.

    Raises KeyholeError (extraction_failed) for binary formats and for pages without text.
    """
    body = page.body[:MAX_BYTES]
    failure = KeyholeError(Code.EXTRACTION_FAILED, reason)
    if match_signature(body) is not None or looks_binary(body, page.content_type):
        raise failure
    media_type = sniff(body, page.content_type, page.url)
    title, text = "", decode(body, page.content_type)
    if "html" in media_type or "xml" in media_type:
        title, text = _find_title(text), strip_tags(text)
    heading, text = clean_plain_text(text[:MAX_TEXT])
    if not text.strip():
        raise failure
    notice = f"Warning {Code.EXTRACTION_FAILED}: {reason}; this is the undigested text."
    words = dict.fromkeys(fold_word(word) for word in WORD.findall(lower(text)))
    return Document(title or heading, text, media_type, notice=notice, cut=True), " ".join(words)


def strip_tags(text: str) -> str:
    """Return a text without tags, comments and `_SKIPPED_TAGS`. Block elements become line breaks."""
    pieces: list[str] = []
    at = 0
    while (start := text.find("<", at)) >= 0:
        pieces.append(text[at:start])
        at, replacement = _skip_markup(text, start)
        pieces.append(replacement)
    pieces.append(text[at:])
    lines = [" ".join(line.split()) for line in _unescape("".join(pieces)).split("\n")]
    return "\n".join(line for line, before in zip(lines, ["", *lines], strict=False) if line or before)


def _skip_markup(text: str, start: int) -> tuple[int, str]:
    """Return the end of the markup that begins at `start`, and the text that replaces it.

    Unclosed markup extends to the end of the text, so that nothing is searched twice.
    """
    name = _TAG_NAME.match(text, start + 1)
    if name is None and text[start + 1 : start + 2] not in {"!", "?"}:
        return start + 1, "<"
    if text.startswith("<!--", start):
        return _find_end(text, "-->", start + 4), ""
    end = _find_end(text, ">", start + 1)
    tag = name[1].lower() if name else ""
    if tag in _END_TAGS and text[start + 1] != "/":
        close = _END_TAGS[tag].search(text, end)
        return (_find_end(text, ">", close.start()) if close else len(text)), "\n\n"
    return end, "" if tag in _INLINE_TAGS else "\n\n"


def _find_end(text: str, mark: str, start: int) -> int:
    position = text.find(mark, start)
    return len(text) if position < 0 else position + len(mark)


def _find_title(text: str) -> str:
    match = _TITLE.search(text[:100_000])
    return " ".join(_unescape(match[1]).split()) if match else ""


def _unescape(text: str) -> str:
    return html.unescape(_LONG_REFERENCE.sub("", text))
