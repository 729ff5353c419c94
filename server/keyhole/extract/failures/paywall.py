"""Detect previews of texts for subscribers by structured data, markup and phrases.

Sites declare a paywall to search engines in JSON-LD even if they serve the full text. Such a declaration counts only if
the text is incomplete. See Google's documentation of structured data for paywalled content.
"""

from __future__ import annotations

import re
from typing import Final

from lxml.html import HtmlElement

from keyhole.extract.failures.page_facts import PageFacts, has_mark, normalise
from keyhole.extract.failures.phrases import PAYWALL_GATES
from keyhole.extract.failures.signatures import PAYWALL_MARKS

MIN_PART_CHARS: Final = 200
"""Least number of characters of a complete locked part. A shorter one contains only a heading and an offer to
subscribe."""
WORD_COUNT_RATIO: Final = 2.0
"""A text is a preview if the declared word count is at least this many times the number of its words. The counts of
full texts differ by a third at most."""
TAIL_CHARS: Final = 600
"""Number of characters at the end of the text that are searched for an offer to subscribe."""

_NOT_FREE = re.compile(r'"isAccessibleForFree"\s*:\s*"?(?:false|no)\b', re.IGNORECASE)
_PART = re.compile(r'"cssSelector"\s*:\s*(?:\[\s*)?"\s*([.#])([\w-]{1,100})')
_WORD_COUNT = re.compile(r'"wordCount"\s*:\s*"?(\d{1,6})')
_MARKED_TAGS: Final = ("div", "section", "aside", "article", "script", "p", "main", "span", "iframe", "form")
_WORD = re.compile(r"[^\W_]+")


def is_preview(facts: PageFacts, max_chars: int) -> bool:
    """Return whether the page shows only the beginning of a text for subscribers.

    `max_chars` is the largest length of a preview.
    """
    is_declared = _NOT_FREE.search(facts.html) is not None
    if not is_declared and facts.text_chars > max_chars:
        return False
    words_and_end = facts.words + "\n" + normalise(facts.markdown[-TAIL_CHARS:])
    has_gate = any(phrase in words_and_end for phrase in PAYWALL_GATES)
    if not is_declared:
        return has_gate and has_mark(facts.root, PAYWALL_MARKS, ("class", "id", "src"), *_MARKED_TAGS)
    words = _WORD_COUNT.search(facts.html)
    if words is not None:
        # The count is reliable only for languages that separate words by spaces.
        return int(words[1]) >= WORD_COUNT_RATIO * max(50, len(_WORD.findall(facts.markdown)))
    if facts.text_chars > max_chars:
        return False
    part = _PART.search(facts.html)
    if part is None:
        return has_gate
    length = _selected_length(facts.root, part[1], part[2])
    return length < MIN_PART_CHARS or (has_gate and length < max_chars // 2)


def _selected_length(root: HtmlElement, kind: str, name: str) -> int:
    """Return the number of characters of the elements that a class or id selector matches."""
    path = "//*[@id=$name]" if kind == "#" else "//*[contains(concat(' ', normalize-space(@class), ' '), $name)]"
    elements = root.xpath(path, name=name if kind == "#" else f" {name} ")
    return sum(len(" ".join(element.text_content().split())) for element in elements[:50])
