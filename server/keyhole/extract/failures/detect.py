"""Whether a page that came with success is another page's place-holder: a wall, a challenge, a notice of absence.

Pure. Evidence of different kinds is combined (address, title, form, markup, words, how much text is left), and no
single word decides: a page that writes about such pages is not one. Where text is left that may be of use, the finding
is a notice beside it; only where none is, the page fails by name.
"""

from __future__ import annotations

from typing import Final, NamedTuple

from lxml.html import HtmlElement

from keyhole.errors import Code
from keyhole.extract.failures import phrases as say
from keyhole.extract.failures.page_facts import Seen, bears, first_label, led_home, plain, sections, see, segments
from keyhole.extract.failures.paywall import is_preview
from keyhole.extract.failures.signatures import (
    CONSENT_HOSTS,
    CONSENT_MARKS,
    CONSENT_SEGMENTS,
    LOGIN_HOSTS,
    LOGIN_SEGMENTS,
    MAX_HINTED,
    NOT_FOUND_SEGMENTS,
    PAYWALL_HINTS,
)
from keyhole.text.challenges import CHALLENGE_WIDGETS, MAX_HEAD, challenge_mark

SHORT: Final = 1_500
"""Characters of Markdown up to which a page is looked at whatever its title: real walls have some 50 to 1,100."""
PREVIEW: Final = 2_500
"""Characters up to which a text may be a preview: sites show one to four paragraphs."""
FEW: Final = 300
"""Characters that a page may have around a form or a phrase that is all of it."""
MANY: Final = 800
"""Characters that a login page may have besides its form: help, terms, other ways to log in."""
LEFT: Final = 80
"""Characters of a preview that are still of use: a sentence."""
HOME_PAGE: Final = "home_page"
"""The notice that an address led to the site's first page."""


class Finding(NamedTuple):
    """What a page is instead, why that is said, and whether nothing of use is left."""

    kind: str
    why: str
    fatal: bool


def soft_failure(root: HtmlElement, html: str, markdown: str, url: str, requested_url: str = "") -> Finding | None:
    """What stands in the page's place, or None for a page that is itself. `root` is its unpruned tree."""
    seen = see(root, html, markdown, url, requested_url)
    for judge in (_challenge, _consent, _login, _not_found, _paywall):
        if finding := judge(seen):
            return finding
    return notice_of_address(url, requested_url)


def notice_of_address(url: str, requested_url: str) -> Finding | None:
    """What the address alone tells: a deep one that led to the site's first page."""
    return Finding(HOME_PAGE, "", False) if led_home(url, requested_url) else None


def worth_a_look(html: str, title: str, markdown: str, url: str, requested_url: str) -> bool:
    """Whether a page may be one of these, by signs that cost nothing: most pages are long and have none."""
    length = len(markdown)
    if length <= SHORT or "isAccessibleForFree" in html:
        return True
    if requested_url and url != requested_url and _address_says(url):
        return True
    parts = sections(plain(title))
    if any(part in say.LOGIN_TITLES or part in say.NOT_FOUND_TITLES for part in parts) or _any(say.NOT_FOUND, parts):
        return length <= 4 * SHORT
    return length <= PREVIEW and any(hint in html[:MAX_HINTED] for hint in PAYWALL_HINTS)


def _address_says(url: str) -> bool:
    host, path = first_label(url), segments(url)
    return host in LOGIN_HOSTS | CONSENT_HOSTS or any(
        part in LOGIN_SEGMENTS or part in CONSENT_SEGMENTS or part in NOT_FOUND_SEGMENTS for part in path
    )


def _any(phrases: tuple[str, ...], texts: tuple[str, ...]) -> bool:
    return any(phrase in text for text in texts for phrase in phrases)


def _count(phrases: tuple[str, ...], text: str) -> int:
    return sum(phrase in text for phrase in phrases)


def _challenge(seen: Seen) -> Finding | None:
    if len(seen.markdown) > SHORT:
        return None
    titled = any(part.rstrip(" .…!") in _CHALLENGE_TITLES for part in (*seen.title, *seen.headings[:1]))
    says = _any(say.CHALLENGE, (seen.words,))
    mark = challenge_mark(seen.html, seen.words)
    if mark and (titled or says or seen.prose <= 2 * FEW):
        return Finding(Code.BOT_CHALLENGE, f"the site's protection ({mark}) let no program through", True)
    # A form that asks for a captcha asks for other things too.
    if not says or seen.fields > 1 or seen.passwords or seen.prose > MANY:
        return None
    if titled or (seen.prose <= 2 * FEW and bears(seen.root, CHALLENGE_WIDGETS, ("class", "id"), "div", "form")):
        return Finding(Code.BOT_CHALLENGE, "the site asks for a proof that a person reads it", True)
    return None


_CHALLENGE_TITLES = frozenset(title.rstrip(" .…!") for title in say.CHALLENGE_TITLES)


def _consent(seen: Seen) -> Finding | None:
    host, path = first_label(seen.url), segments(seen.url)
    placed = host in CONSENT_HOSTS or any(part in CONSENT_SEGMENTS for part in path)
    titled = any(part.startswith(say.CONSENT_TITLES) for part in (*seen.title, *seen.headings[:1]))
    gated = _any(say.CONSENT_GATES, (seen.words,))
    if not (placed or titled or gated) or seen.passwords:
        return None
    head = seen.html[:MAX_HEAD].lower()
    marked = any(mark in head for mark in CONSENT_MARKS)
    words = _count(say.CONSENT, seen.words)
    if not words or words + marked < 2:
        return None
    if seen.rest((*say.CONSENT, *say.CONSENT_GATES)) > (2 * FEW if placed else FEW):
        return None
    return Finding(Code.CONSENT_REQUIRED, "the site shows a choice about cookies in the page's place", True)


def _login(seen: Seen) -> Finding | None:
    if seen.names & {"SAMLRequest", "wresult"} and seen.prose <= FEW:
        return Finding(Code.LOGIN_REQUIRED, "the page passes its reader on to a login", True)
    moved = seen.redirected and _login_address(seen.url) and not _login_address(seen.requested_url)
    titled = any(part in say.LOGIN_TITLES or part.startswith(_LOGIN_OPENINGS) for part in seen.title)
    headed = any(part in say.LOGIN_TITLES or part.startswith(_LOGIN_OPENINGS) for part in seen.headings[:1])
    place = moved or titled or (headed and seen.prose <= 2 * FEW) or (_login_address(seen.url) and seen.prose <= FEW)
    form = seen.passwords > 0 or (seen.identifiers == 1 and seen.fields <= 2)
    gate = _any(say.LOGIN_GATES, (seen.words,))
    walled = (
        (place and form and seen.prose <= (3 * MANY if moved else MANY))
        or (gate and place and seen.prose <= FEW)
        or (gate and form and seen.prose <= FEW)
    )
    if walled:
        return Finding(Code.LOGIN_REQUIRED, "a login form stands in the page's place", True)
    if moved and (form or gate or titled):
        return Finding(Code.LOGIN_REQUIRED, "", False)
    return None


_LOGIN_OPENINGS = tuple(f"{opening} " for opening in say.LOGIN_OPENINGS)


def _login_address(url: str) -> bool:
    return first_label(url) in LOGIN_HOSTS or any(part in LOGIN_SEGMENTS for part in segments(url))


def _not_found(seen: Seen) -> Finding | None:
    named = _names_absence(seen.title), _names_absence(seen.headings)
    titled = named[0] or any(part in say.NOT_FOUND_TITLES for part in seen.title)
    headed = named[1] or any(part in say.NOT_FOUND_TITLES for part in seen.headings)
    moved = seen.redirected and any(part in NOT_FOUND_SEGMENTS for part in segments(seen.url))
    if not (titled or headed or moved) or (not moved and _is_technical(seen)):
        return None
    # The page speaks to its reader of what was asked for; a page about missing pages does not.
    words = seen.words[:SHORT]
    speaks = _any(say.NOT_FOUND_ADDRESSES, (words,)) and (any(named) or _any(say.NOT_FOUND, (words,)))
    bare = seen.prose <= FEW // 2 and (named[0] or moved or (titled and named[1]))
    if not speaks and not bare and not (moved and (titled or headed)):
        return None
    return Finding(
        Code.NOT_FOUND, "the answer was a success, but the page says that nothing is there", seen.prose <= MANY
    )


def _names_absence(texts: tuple[str, ...]) -> bool:
    """Whether a title or heading says that something is not there."""
    return _any(say.NOT_FOUND, texts) or any(
        len(text) <= 60 and text.rstrip(" .!…").endswith(say.NOT_FOUND_ENDINGS) for text in texts
    )


def _is_technical(seen: Seen) -> bool:
    return _any(say.TECHNICAL, (seen.words,)) or "```" in seen.markdown


def _paywall(seen: Seen) -> Finding | None:
    if not is_preview(seen, PREVIEW):
        return None
    fatal = seen.rest(say.PAYWALL_GATES) < LEFT
    return Finding(Code.PAYWALLED, "the page is for subscribers and shows nothing of its text", fatal)
