"""What can be saved of a page that no reader finished: its decoded text, bounded, without tags and scripts. Pure.

Runs in the server on bytes that have just defeated a worker, so every step is linear in a bounded input and uses no
parser: it looks for the next `<` or `>` and never looks twice.
"""

from __future__ import annotations

import html
import re
from typing import Final

from keyhole.errors import Code, KeyholeError
from keyhole.extract.decode import decode, looks_binary
from keyhole.extract.formats.plain import plain_to_text
from keyhole.extract.media_type import signature, sniff
from keyhole.passages.words import WORD, fold_word, lower
from keyhole.records import Document, Page

MAX_BYTES: Final = 1_000_000
"""Bytes of the body looked at: the text of a page stands in a fifth of its markup or more, rarely less."""
MAX_TEXT: Final = 200_000
"""Characters kept: as much as the largest result may show."""

_UNSEEN: Final = ("script", "style", "template", "noscript", "svg", "iframe", "textarea", "title")
"""Elements whose content is left out: programs, styles, drawings and what browsers do not show."""
_TITLE = re.compile(r"<title[^<>]{0,200}>([^<]{0,1000})", re.IGNORECASE)
_TAG_NAME = re.compile(r"/?([a-z][a-z0-9]{0,20})", re.IGNORECASE)
_INLINE: Final = frozenset(
    {
        "a", "abbr", "acronym", "b", "bdi", "bdo", "big", "cite", "code", "data", "del", "dfn", "em", "font", "i",
        "ins", "kbd", "label", "mark", "q", "s", "samp", "small", "span", "strike", "strong", "sub", "sup", "time",
        "tt", "u", "var", "wbr",
    }
)  # fmt: skip
"""Elements that do not break a line."""
_ENDS = {name: re.compile(f"</{name}", re.IGNORECASE) for name in _UNSEEN}
_ENDLESS = re.compile(r"&#x?[0-9a-f]{9,}", re.IGNORECASE)
"""References to no character: Python refuses to read a number of thousands of digits."""


def salvage(page: Page, reason: str) -> tuple[Document, str]:
    """The undigested text of a page and its words, with a notice that says why. Raises KeyholeError
    (extraction_failed) for binary formats and where no text is found."""
    body = page.body[:MAX_BYTES]
    failed = KeyholeError(Code.EXTRACTION_FAILED, reason)
    if signature(body) is not None or looks_binary(body, page.content_type):
        raise failed
    media_type = sniff(body, page.content_type, page.url)
    title, text = "", decode(body, page.content_type)
    if "html" in media_type or "xml" in media_type:
        title, text = _title(text), without_tags(text)
    named, text = plain_to_text(text[:MAX_TEXT])
    if not text.strip():
        raise failed
    notice = f"Warning {Code.EXTRACTION_FAILED}: {reason}; this is the undigested text."
    words = dict.fromkeys(fold_word(word) for word in WORD.findall(lower(text)))
    return Document(title or named, text, media_type, notice=notice, cut=True), " ".join(words)


def without_tags(text: str) -> str:
    """The text of markup: tags, comments and unseen elements left out, references resolved, blocks set apart."""
    pieces: list[str] = []
    at = 0
    while (start := text.find("<", at)) >= 0:
        pieces.append(text[at:start])
        at, between = _past(text, start)
        pieces.append(between)
    pieces.append(text[at:])
    lines = [" ".join(line.split()) for line in _unescape("".join(pieces)).split("\n")]
    return "\n".join(line for line, before in zip(lines, ["", *lines], strict=False) if line or before)


def _past(text: str, start: int) -> tuple[int, str]:
    """Where the markup that begins at `start` ends, and what stands for it. Unclosed markup takes the rest, so that
    no stretch is searched twice."""
    name = _TAG_NAME.match(text, start + 1)
    if name is None and text[start + 1 : start + 2] not in {"!", "?"}:
        return start + 1, "<"
    if text.startswith("<!--", start):
        return _after(text, "-->", start + 4), ""
    end = _after(text, ">", start + 1)
    tag = name[1].lower() if name else ""
    if tag in _ENDS and text[start + 1] != "/":
        close = _ENDS[tag].search(text, end)
        return (_after(text, ">", close.start()) if close else len(text)), "\n\n"
    return end, "" if tag in _INLINE else "\n\n"


def _after(text: str, mark: str, start: int) -> int:
    found = text.find(mark, start)
    return len(text) if found < 0 else found + len(mark)


def _title(text: str) -> str:
    found = _TITLE.search(text[:100_000])
    return " ".join(_unescape(found[1]).split()) if found else ""


def _unescape(text: str) -> str:
    return html.unescape(_ENDLESS.sub("", text))
