"""Whether a page is the preview of a text for subscribers, by statements, markup and words. Pure; judges no other wall.

A site states it to search engines in JSON-LD, whole text or not, so a statement alone tells nothing: what counts is
whether the part that it names came. After Google's documentation of structured data for paywalled content.
"""

from __future__ import annotations

import re
from typing import Final

from lxml.html import HtmlElement

from keyhole.extract.failures.page_facts import Seen, bears, plain
from keyhole.extract.failures.phrases import PAYWALL_GATES
from keyhole.extract.failures.signatures import PAYWALL_MARKS

MIN_PART: Final = 200
"""Characters of a locked part below which it did not come: a heading and an offer."""
MORE_WORDS: Final = 2.0
"""Times as many words stated as shown: site's own counts differ from ours by a third at most."""
TAIL: Final = 600
"""Characters at the end of a long text where an offer to read on would stand."""

_NOT_FREE = re.compile(r'"isAccessibleForFree"\s*:\s*"?(?:false|no)\b', re.IGNORECASE)
_PART = re.compile(r'"cssSelector"\s*:\s*(?:\[\s*)?"\s*([.#])([\w-]{1,100})')
_WORD_COUNT = re.compile(r'"wordCount"\s*:\s*"?(\d{1,6})')
_MARKED: Final = ("div", "section", "aside", "article", "script", "p", "main", "span", "iframe", "form")
_PIECES = re.compile(r"[^\W_]+")


def is_preview(seen: Seen, most: int) -> bool:
    """Whether only the beginning of a text for subscribers came; `most`: characters that a preview has."""
    stated = _NOT_FREE.search(seen.html) is not None
    if not stated and seen.prose > most:
        return False
    words_and_end = seen.words + "\n" + plain(seen.markdown[-TAIL:])
    gated = any(phrase in words_and_end for phrase in PAYWALL_GATES)
    if not stated:
        return gated and bears(seen.root, PAYWALL_MARKS, ("class", "id", "src"), *_MARKED)
    words = _WORD_COUNT.search(seen.html)
    if words is not None:
        # Words are counted where they are written with spaces; elsewhere the count says nothing.
        return int(words[1]) >= MORE_WORDS * max(50, len(_PIECES.findall(seen.markdown)))
    if seen.prose > most:
        return False
    part = _PART.search(seen.html)
    if part is None:
        return gated
    length = _length(seen.root, part[1], part[2])
    return length < MIN_PART or (gated and length < most // 2)


def _length(root: HtmlElement, kind: str, name: str) -> int:
    """Characters of the elements that a selector of one class or id names."""
    path = "//*[@id=$name]" if kind == "#" else "//*[contains(concat(' ', normalize-space(@class), ' '), $name)]"
    found = root.xpath(path, name=name if kind == "#" else f" {name} ")
    return sum(len(" ".join(element.text_content().split())) for element in found[:50])
