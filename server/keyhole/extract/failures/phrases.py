"""Phrases of login, error, consent, paywall and challenge pages in some thirty languages.

Phrases are case-folded, with straight apostrophes and single spaces. Those in `…_TITLES` are compared with the sections
of titles and headings; most others are searched for in the text of a short page. No phrase is enough by itself:
failures/detect.py combines them with other evidence. Sources are the default texts of the systems named in
failures/signatures.py and of WordPress, Drupal, TYPO3, phpBB, MediaWiki, Moodle, Keycloak and Shopify.
"""

from __future__ import annotations

from typing import Final

from keyhole.text.data_file import read_sections

_SECTIONS: Final = read_sections(__file__, "phrases.txt")


def _phrases(section: str) -> tuple[str, ...]:
    text = _SECTIONS[section].replace("\n", "|")
    return tuple(dict.fromkeys(phrase.strip().casefold() for phrase in text.split("|") if phrase.strip()))


LOGIN_TITLES: Final = frozenset(_phrases("login_titles"))
LOGIN_OPENINGS: Final = _phrases("login_openings")
"""Beginnings of titles and headings of login pages."""
LOGIN_GATES: Final = _phrases("login_gates")

NOT_FOUND_TITLES: Final = frozenset(_phrases("not_found_titles"))
NOT_FOUND: Final = _phrases("not_found")
NOT_FOUND_ENDINGS: Final = _phrases("not_found_endings")
"""Endings of short titles and headings that report a missing page or item."""
NOT_FOUND_READER_PHRASES: Final = _phrases("not_found_reader_phrases")
"""Phrases with which an error page addresses its reader."""
HTTP_JARGON: Final = _phrases("http_jargon")
"""Terms of pages that write about HTTP."""

CONSENT_TITLES: Final = _phrases("consent_titles")
CONSENT: Final = _phrases("consent")
CONSENT_GATES: Final = _phrases("consent_gates")

PAYWALL_GATES: Final = _phrases("paywall_gates")

CHALLENGE_TITLES: Final = frozenset(_phrases("challenge_titles"))
CHALLENGE: Final = _phrases("challenge")
