"""Tell the language of a page if a query is in another one. Pure.

Ranking compares words, so a question in another language finds nothing but names and numbers.
"""

from __future__ import annotations

import re
from collections import Counter
from typing import Final

from keyhole.passages.index import Index
from keyhole.passages.languages import FUNCTION_WORDS, count_function_words
from keyhole.passages.words import HAN, HANGUL, KANA, WORD
from keyhole.text.letters import lower

NAMES: Final = {
    "ar": "Arabic", "cs": "Czech", "da": "Danish", "de": "German", "el": "Greek", "en": "English", "es": "Spanish",
    "fa": "Persian", "fi": "Finnish", "fr": "French", "hi": "Hindi", "hu": "Hungarian", "id": "Indonesian",
    "it": "Italian", "nl": "Dutch", "no": "Norwegian", "pl": "Polish", "pt": "Portuguese", "ro": "Romanian",
    "ru": "Russian", "sv": "Swedish", "tr": "Turkish", "uk": "Ukrainian", "vi": "Vietnamese",
}  # fmt: skip
"""The English name of each language that is told by its function words."""

SCRIPTS: Final = {
    "Japanese": KANA,
    "Chinese": HAN,
    "Korean": HANGUL,
    "Thai": re.compile("[\u0e00-\u0e7f]"),
    "Greek": re.compile("[\u0370-\u03ff\u1f00-\u1fff]"),
    "Hebrew": re.compile("[\u05d0-\u05ea]"),
    "Georgian": re.compile("[\u10a0-\u10ff]"),
    "Armenian": re.compile("[\u0530-\u058f]"),
    "cyrillic": re.compile("[\u0400-\u04ff]"),
    "arabic": re.compile("[\u0600-\u06ff]"),
    "devanagari": re.compile("[\u0900-\u097f]"),
}
"""Scripts other than the Latin one, named by their language where there is one."""

LATIN: Final = "latin"
BY_FUNCTION_WORDS: Final = frozenset((LATIN, "cyrillic", "arabic", "devanagari"))
"""Scripts of several languages."""

SCRIPT_SHARE: Final = 0.2
"""Share of the letters that makes a script the text's own: manuals in Russian or Japanese contain much Latin code."""

MAX_SCRIPT_CHARS: Final = 200_000
"""Characters in which the script or the language of the query is looked for, to bound the time."""

KANA_SHARE: Final = 0.05
"""Share of the letters above which a text in Han characters is Japanese."""

PAGE_SHARE: Final = 0.1
"""Minimum share of a language's function words on a page. Prose has 0.25 to 0.5, pages of code less than 0.1."""

PAGE_LEAD: Final = 1.3
"""A page has this many times as many function words of its language as of any other. Else a related one is possible."""

QUERY_LEAD: Final = 2
QUERY_SHARE: Final = 1 / 3
"""A query is in another language if it has `QUERY_LEAD` function words more of that language than of the page's. A lead
of one is enough if it is more than this share of the words: "Los Angeles population" is not Spanish."""

MIXED_SHARE: Final = 0.05
"""A page is in a second language too if it has this share of the first one's function words that only the second has.
English manuals have 0.02; a Polish manual with an English licence at its end has 0.08."""

_RUSSIAN_LETTER: Final = re.compile("[ыэ]")
"""Letters of Russian and Belarusian that Bulgarian, Serbian and Macedonian lack, whose function words are similar."""


def page_language_if_other(index: Index, query: str) -> str:
    """Return the English name of the page's language if the query is in another one; "" if that is not certain."""
    sample = index.sample_text
    page, asked = find_script(sample), find_script(query)
    language = _language_by_words(index, sample) if page in BY_FUNCTION_WORDS else ""
    name = NAMES.get(language, "") if page in BY_FUNCTION_WORDS else page
    if not asked or (asked, page) == ("Chinese", "Japanese"):  # a query in Han characters may be Japanese
        return ""
    if asked != page:
        return name if find_script_share(index.text, asked) < SCRIPT_SHARE else ""
    other = _other_language(query, language) if language else ""
    return name if other and not _is_mixed(index.text, language, other) else ""


def find_script_share(text: str, script: str) -> float:
    """Return the share of a script in the letters of a text; 0 for the Latin script, which is on nearly every page."""
    text = text[:MAX_SCRIPT_CHARS]
    letters = sum(map(str.isalpha, text))
    return len(SCRIPTS[script].findall(text)) / letters if letters and script in SCRIPTS else 0.0


def find_script(text: str) -> str:
    """Return the script of a text: a key of `SCRIPTS`, `LATIN`, or "" for a text without letters."""
    letters = sum(map(str.isalpha, text))
    counts = {name: len(pattern.findall(text)) for name, pattern in SCRIPTS.items()}
    if counts["Japanese"] > KANA_SHARE * letters:
        return "Japanese"
    most = max(counts, key=lambda name: counts[name])
    return most if counts[most] > SCRIPT_SHARE * letters else LATIN if letters else ""


def _language_by_words(index: Index, sample: str) -> str:
    """Return the language with the most function words on the page, or "" if another one has nearly as many."""
    counts, words = index.sample
    (language, most), (_, second) = sorted(counts.items(), key=lambda item: (-item[1], item[0]))[:2]
    if most < PAGE_SHARE * max(words, 1) or most < PAGE_LEAD * second:
        return ""
    return "" if language == "ru" and not _RUSSIAN_LETTER.search(sample) else language


def _other_language(query: str, page_language: str) -> str:
    """Return the language of which a query has more function words than of the page's; "" if there is none."""
    words = WORD.findall(lower(query))
    counts = count_function_words(words)
    other = max(counts, key=counts.__getitem__)
    lead = counts[other] - counts[page_language]
    return other if lead >= QUERY_LEAD or (lead > 0 and lead > QUERY_SHARE * len(words)) else ""


def _is_mixed(text: str, language: str, other: str) -> bool:
    """Return whether a text whose sample is in one language is partly in another, as an incomplete translation."""
    words = Counter(WORD.findall(lower(text[:MAX_SCRIPT_CHARS])))
    own = FUNCTION_WORDS[language]
    seconds = sum(words[word] for word in FUNCTION_WORDS[other] - own)
    return seconds >= MIXED_SHARE * sum(words[word] for word in own)
