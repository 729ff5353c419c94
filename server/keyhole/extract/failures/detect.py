"""Detect failure pages sent with a success status: bot challenges, consent walls, login walls, error pages, paywalls.

Several kinds of evidence are combined: URL, title, form, markup, phrases and length of the text. No single phrase is
enough, because ordinary pages write about logins and paywalls too. A failure page with useful text gets a notice; a
failure page without useful text raises an error.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Final, NamedTuple
from urllib.parse import SplitResult, urlsplit

from lxml.html import HtmlElement

from keyhole.errors import Code
from keyhole.extract.failures import phrases
from keyhole.extract.failures.phrases import (
    CONSENT_HOSTS,
    CONSENT_MARKS,
    CONSENT_SEGMENTS,
    HOME_SEGMENTS,
    LOGIN_HOSTS,
    LOGIN_SEGMENTS,
    MAX_HINT_CHARS,
    NOT_FOUND_SEGMENTS,
    PAYWALL_GATES,
    PAYWALL_HINTS,
    PAYWALL_MARKS,
)
from keyhole.text.challenges import CHALLENGE_WIDGETS, MAX_SEARCHED, find_challenge_mark
from keyhole.text.markdown import LINK

# Facts about a page: title, headings, form fields and visible text. All reads are bounded, so that a large page takes
# no longer than a small one.

MAX_VISIBLE_CHARS: Final = 3_000
"""Characters of visible text that are read. Failure pages have a third of this."""
MAX_NODES: Final = 3_000
"""Largest number of elements visited in each search of the tree."""
MAX_FIELDS: Final = 100
"""Largest number of form fields examined. A login form has five."""

_INVISIBLE_TAGS: Final = frozenset({"script", "style", "template", "svg", "head", "title", "option", "textarea"})
_IGNORED_INPUT_TYPES: Final = frozenset({"hidden", "submit", "button", "image", "checkbox", "radio", "reset", "search"})
_IDENTIFIER = re.compile(
    r"(?i)\b(?:user(?:name)?|login|identifier|account|email|e-mail)\b|loginid|userid|benutzer|usuario|utilisateur"
)
_SECTIONS = re.compile(r"(?<!\s)\s++(?:[|\-–—·•»«›:/]\s+|[|｜]\s*)|[|｜]\s*|:\s+")
_SPACES = re.compile(r"\s+")


@dataclass(frozen=True, slots=True)
class PageFacts:
    """Facts about a page. `title`, `headings` and `words` are normalised by `normalise`."""

    root: HtmlElement
    html: str
    url: str
    requested_url: str
    markdown: str
    """The extracted Markdown."""
    title: tuple[str, ...]
    """The whole title, then its sections."""
    headings: tuple[str, ...]
    words: str
    """The beginning of the visible text, including `<noscript>`."""
    password_fields: int
    identifier_fields: int
    """The number of fields for a user name or e-mail address."""
    fields: int
    """The number of fields that a person fills in."""
    input_names: frozenset[str]
    """The names of all `<input>` elements."""

    @property
    def text_chars(self) -> int:
        """The length of the extracted text in characters, without the URLs of links."""
        return len(LINK.sub(r"\1", self.markdown).strip()) if len(self.markdown) < 20_000 else len(self.markdown)

    @property
    def is_redirected(self) -> bool:
        """True if the final URL and the requested URL are different pages."""
        return url_key(self.url) != url_key(self.requested_url)

    def count_chars_without(self, phrases: tuple[str, ...]) -> int:
        """Count the characters of all lines that are not headings and contain none of the phrases."""
        lines = (line for line in LINK.sub(r"\1", self.markdown[:20_000]).splitlines() if not line.startswith("#"))
        return sum(len(line) for line in map(normalise, lines) if not any(phrase in line for phrase in phrases))


def collect_facts(root: HtmlElement, html: str, markdown: str, url: str, requested_url: str) -> PageFacts:
    """Collect the facts about a page. `root` is its unpruned tree, `markdown` its extracted text."""
    title = normalise(_element_text(next(root.iter("title"), None)))
    fields = list(islice(root.iter("input"), MAX_FIELDS))
    fillable = [field for field in fields if field.get("type", "text")[:20].lower() not in _IGNORED_INPUT_TYPES]
    areas = sum(1 for _ in islice(root.iter("textarea"), 10))
    return PageFacts(
        root=root,
        html=html,
        url=url,
        requested_url=requested_url or url,
        markdown=markdown,
        title=split_title(title),
        headings=tuple(filter(None, (normalise(_element_text(tag)) for tag in islice(root.iter("h1", "h2", "h3"), 3)))),
        words=normalise(" ".join(_iter_visible_text(root))),
        password_fields=sum(field.get("type", "")[:20].lower() == "password" for field in fields),
        identifier_fields=sum(_is_identifier(field) for field in fillable),
        fields=len(fillable) + areas,
        input_names=frozenset(field.get("name", "")[:60] for field in fields),
    )


def has_mark(root: HtmlElement, marks: tuple[str, ...], attributes: tuple[str, ...], *tags: str) -> bool:
    """Return whether an element with one of the tags has one of the marks in one of the attributes."""
    for element in islice(root.iter(*tags), MAX_NODES):
        values = " ".join(element.get(name, "")[:300] for name in attributes).lower()
        if values.strip() and any(mark in values for mark in marks):
            return True
    return False


def normalise(text: str) -> str:
    """Case-fold the text, collapse its white space and straighten its apostrophes, for comparison with phrases."""
    return _SPACES.sub(" ", text.replace("\u2019", "'")).strip().casefold()


def split_title(title: str) -> tuple[str, ...]:
    """Return the whole title and the sections that separators divide it into."""
    return (title, *(part for part in _SECTIONS.split(title[:300]) if part)) if title else ()


def url_key(url: str) -> tuple[str, str, str]:
    """Return a key that is equal for URLs of the same page: host without `www.`, path without last slash, query."""
    parts = _split_url(url)
    return (parts.hostname or "").removeprefix("www."), parts.path.rstrip("/"), parts.query


def path_segments(url: str) -> tuple[str, ...]:
    """Return the segments of a URL's path in lower case."""
    return tuple(part for part in _split_url(url).path.lower().split("/")[:20] if part)


def first_host_label(url: str) -> str:
    """Return the leftmost label of a URL's host."""
    return (_split_url(url).hostname or "").partition(".")[0].lower()


def is_home_redirect(url: str, requested_url: str) -> bool:
    """Return whether a request for a page deep in a site ended at the site's home page."""
    final, requested = url_key(url), url_key(requested_url or url)
    deep = [part for part in path_segments(requested_url) if part not in HOME_SEGMENTS and len(part) > 2]
    is_home = (
        all(part in HOME_SEGMENTS or len(part) == 2 for part in path_segments(url)) and len(path_segments(url)) <= 1
    )
    return final[0] == requested[0] and is_home and not final[2] and bool(deep)


def _split_url(url: str) -> SplitResult:
    try:
        parts = urlsplit(url.strip()[:2_000])
        _ = parts.hostname
    except ValueError:
        return SplitResult("", "", "", "", "")
    return parts


def _element_text(element: HtmlElement | None) -> str:
    return " ".join(islice(element.itertext(), 50))[:300] if element is not None else ""


def _is_identifier(field: HtmlElement) -> bool:
    if field.get("type", "")[:20].lower() == "password":
        return False
    input_names = " ".join(field.get(name, "")[:60] for name in ("name", "id", "autocomplete"))
    return _IDENTIFIER.search(input_names.replace("_", " ")) is not None


def _iter_visible_text(root: HtmlElement) -> Iterator[str]:
    chars_left = MAX_VISIBLE_CHARS
    for element in islice(root.iter(), MAX_NODES):
        if chars_left <= 0:
            return
        own = element.text if isinstance(element.tag, str) and element.tag not in _INVISIBLE_TAGS else ""
        for text in (own, element.tail):
            if text and not text.isspace():
                yield text[:MAX_VISIBLE_CHARS]
                chars_left -= len(text)
        if element.tag == "input" and element.get("type", "").lower() == "submit":
            yield element.get("value", "")[:100]


# Detect previews of texts for subscribers by structured data, markup and phrases.

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


# Detect failure pages sent with a success status: bot challenges, consent walls, login walls, error pages,
# paywalls.

SHORT_PAGE: Final = 1_500
"""Pages with at most this many characters of Markdown are always examined. Real walls have some 50 to 1,100."""
MAX_PREVIEW: Final = 2_500
"""Largest length of a preview, in characters. Sites show one to four paragraphs."""
MAX_GATE_TEXT: Final = 300
"""Largest length of a wall's text, in characters."""
MAX_LOGIN_TEXT: Final = 800
"""Largest length of a login page's text, in characters: help, terms, other ways to log in."""
MIN_PREVIEW: Final = 80
"""Least number of characters of a useful preview: one sentence."""
HOME_PAGE: Final = "home_page"
"""Name of the notice about a redirect to the site's home page."""


class SoftFailure(NamedTuple):
    """A failure that a server sent with a success status."""

    kind: str
    """A Code, or HOME_PAGE."""
    reason: str
    """The error message, or "" if the failure is never fatal."""
    is_fatal: bool
    """True if the page has no useful text."""


def detect_failure(
    root: HtmlElement, html: str, markdown: str, url: str, requested_url: str = ""
) -> SoftFailure | None:
    """Return the failure of a failure page, or None for other pages. `root` is the page's unpruned tree."""
    facts = collect_facts(root, html, markdown, url, requested_url)
    for detect in (_detect_challenge, _detect_consent_wall, _detect_login_wall, _detect_not_found, _detect_paywall):
        if failure := detect(facts):
            return failure
    return detect_home_redirect(url, requested_url)


def detect_home_redirect(url: str, requested_url: str) -> SoftFailure | None:
    """Return the HOME_PAGE failure if a request for a deep page ended at the site's home page, else None."""
    return SoftFailure(HOME_PAGE, "", False) if is_home_redirect(url, requested_url) else None


def may_be_failure(html: str, title: str, markdown: str, url: str, requested_url: str) -> bool:
    """Return whether `detect_failure` must examine the page. This check is cheap and excludes most long pages."""
    length = len(markdown)
    if length <= SHORT_PAGE or "isAccessibleForFree" in html:
        return True
    if requested_url and url != requested_url and _is_failure_url(url):
        return True
    parts = split_title(normalise(title))
    if any(part in phrases.LOGIN_TITLES or part in phrases.NOT_FOUND_TITLES for part in parts) or _contains_any(
        phrases.NOT_FOUND, parts
    ):
        return length <= 4 * SHORT_PAGE
    if length > MAX_PREVIEW:
        return False
    beginning = html[:MAX_HINT_CHARS]
    return any(hint in beginning for hint in PAYWALL_HINTS)


def _is_failure_url(url: str) -> bool:
    host, path = first_host_label(url), path_segments(url)
    return host in LOGIN_HOSTS | CONSENT_HOSTS or any(
        part in LOGIN_SEGMENTS or part in CONSENT_SEGMENTS or part in NOT_FOUND_SEGMENTS for part in path
    )


def _contains_any(needles: tuple[str, ...], texts: tuple[str, ...]) -> bool:
    lines = "\n".join(texts)
    return any(needle in lines for needle in needles)


def _count_phrases(needles: tuple[str, ...], text: str) -> int:
    return sum(needle in text for needle in needles)


def _detect_challenge(facts: PageFacts) -> SoftFailure | None:
    if len(facts.markdown) > SHORT_PAGE:
        return None
    has_title = any(part.rstrip(" .…!") in _CHALLENGE_TITLES for part in (*facts.title, *facts.headings[:1]))
    has_phrase = _contains_any(phrases.CHALLENGE, (facts.words,))
    mark = find_challenge_mark(facts.html, facts.words)
    if mark and (has_title or has_phrase or facts.text_chars <= 2 * MAX_GATE_TEXT):
        return SoftFailure(Code.BOT_CHALLENGE, f"the site's bot protection ({mark}) blocked the request", True)
    # A form with a captcha usually has other fields too, and is not a challenge.
    if not has_phrase or facts.fields > 1 or facts.password_fields or facts.text_chars > MAX_LOGIN_TEXT:
        return None
    if has_title or (
        facts.text_chars <= 2 * MAX_GATE_TEXT
        and has_mark(facts.root, CHALLENGE_WIDGETS, ("class", "id"), "div", "form")
    ):
        return SoftFailure(Code.BOT_CHALLENGE, "the site asks for proof that its visitor is human", True)
    return None


_CHALLENGE_TITLES = frozenset(title.rstrip(" .…!") for title in phrases.CHALLENGE_TITLES)


def _detect_consent_wall(facts: PageFacts) -> SoftFailure | None:
    host, path = first_host_label(facts.url), path_segments(facts.url)
    has_url = host in CONSENT_HOSTS or any(part in CONSENT_SEGMENTS for part in path)
    has_title = any(part.startswith(phrases.CONSENT_TITLES) for part in (*facts.title, *facts.headings[:1]))
    has_gate = _contains_any(phrases.CONSENT_GATES, (facts.words,))
    if not (has_url or has_title or has_gate) or facts.password_fields:
        return None
    head = facts.html[:MAX_SEARCHED].lower()
    has_platform = any(mark in head for mark in CONSENT_MARKS)
    count = _count_phrases(phrases.CONSENT, facts.words)
    if not count or count + has_platform < 2:
        return None
    if facts.count_chars_without((*phrases.CONSENT, *phrases.CONSENT_GATES)) > (
        2 * MAX_GATE_TEXT if has_url else MAX_GATE_TEXT
    ):
        return None
    return SoftFailure(Code.CONSENT_REQUIRED, "the site shows a cookie consent form instead of the page", True)


def _detect_login_wall(facts: PageFacts) -> SoftFailure | None:
    if facts.input_names & {"SAMLRequest", "wresult"} and facts.text_chars <= MAX_GATE_TEXT:
        return SoftFailure(Code.LOGIN_REQUIRED, "the page redirects to a login", True)
    was_redirected = facts.is_redirected and _is_login_url(facts.url) and not _is_login_url(facts.requested_url)
    has_title = any(part in phrases.LOGIN_TITLES or part.startswith(_LOGIN_OPENINGS) for part in facts.title)
    has_heading = any(part in phrases.LOGIN_TITLES or part.startswith(_LOGIN_OPENINGS) for part in facts.headings[:1])
    is_login_page = (
        was_redirected
        or has_title
        or (has_heading and facts.text_chars <= 2 * MAX_GATE_TEXT)
        or (_is_login_url(facts.url) and facts.text_chars <= MAX_GATE_TEXT)
    )
    has_form = facts.password_fields > 0 or (facts.identifier_fields == 1 and facts.fields <= 2)
    has_gate = _contains_any(phrases.LOGIN_GATES, (facts.words,))
    max_text = 3 * MAX_LOGIN_TEXT if was_redirected else MAX_LOGIN_TEXT
    if (is_login_page and has_form and facts.text_chars <= max_text) or (
        has_gate and (is_login_page or has_form) and facts.text_chars <= MAX_GATE_TEXT
    ):
        return SoftFailure(Code.LOGIN_REQUIRED, "the site shows a login form instead of the page", True)
    if was_redirected and (has_form or has_gate or has_title):
        return SoftFailure(Code.LOGIN_REQUIRED, "", False)
    return None


_LOGIN_OPENINGS = tuple(f"{opening} " for opening in phrases.LOGIN_OPENINGS)


def _is_login_url(url: str) -> bool:
    return first_host_label(url) in LOGIN_HOSTS or any(part in LOGIN_SEGMENTS for part in path_segments(url))


def _detect_not_found(facts: PageFacts) -> SoftFailure | None:
    in_title, in_heading = _reports_missing(facts.title), _reports_missing(facts.headings)
    has_title = in_title or any(part in phrases.NOT_FOUND_TITLES for part in facts.title)
    has_heading = in_heading or any(part in phrases.NOT_FOUND_TITLES for part in facts.headings)
    was_redirected = facts.is_redirected and any(part in NOT_FOUND_SEGMENTS for part in path_segments(facts.url))
    if not (has_title or has_heading or was_redirected) or (not was_redirected and _is_technical(facts)):
        return None
    # An error page addresses its reader; a page about missing pages does not.
    words = facts.words[:SHORT_PAGE]
    is_reported = in_title or in_heading or _contains_any(phrases.NOT_FOUND, (words,))
    addresses_reader = is_reported and _contains_any(phrases.NOT_FOUND_READER_PHRASES, (words,))
    is_bare = facts.text_chars <= MAX_GATE_TEXT // 2 and (in_title or was_redirected or (has_title and in_heading))
    if not addresses_reader and not is_bare and not (was_redirected and (has_title or has_heading)):
        return None
    return SoftFailure(
        Code.NOT_FOUND,
        "the server reported success, but the page says that it does not exist",
        facts.text_chars <= MAX_LOGIN_TEXT,
    )


def _reports_missing(texts: tuple[str, ...]) -> bool:
    """Return whether a title or heading says that a page or item is missing."""
    return _contains_any(phrases.NOT_FOUND, texts) or any(
        len(text) <= 60 and text.rstrip(" .!…").endswith(phrases.NOT_FOUND_ENDINGS) for text in texts
    )


def _is_technical(facts: PageFacts) -> bool:
    """Return whether the page writes about HTTP or shows code."""
    return _contains_any(phrases.HTTP_JARGON, (facts.words,)) or "```" in facts.markdown


def _detect_paywall(facts: PageFacts) -> SoftFailure | None:
    if not is_preview(facts, MAX_PREVIEW):
        return None
    is_fatal = facts.count_chars_without(phrases.PAYWALL_GATES) < MIN_PREVIEW
    return SoftFailure(Code.PAYWALLED, "the page is for subscribers and shows no useful text", is_fatal)
