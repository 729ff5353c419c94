"""Find the author, the date and the score of a post among its elements."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from functools import lru_cache
from itertools import islice
from typing import Final, NamedTuple

from lxml.html import HtmlElement

_PROPERTIES: Final = frozenset({"author", "creator"})
"""Values of `itemprop` that mark an author."""
_AUTHOR: Final = re.compile(
    r"author|user[-_]?name|poster|nickname|creator|^(?:fn|user|member|hnuser)$|user-?link", re.I
)
_PROFILE: Final = re.compile(r"/(?:u|users?|members?|profiles?|people|author)[/?=.]|profile\.php|viewprofile", re.I)
"""The address of an author's page."""
_DATE: Final = re.compile(r"date|time|posted|published|\bage\b", re.IGNORECASE)
_DATE_TEXT: Final = re.compile(
    r"\d{4}[-/.]\d{1,2}[-/.]\d{1,2}|\d{1,2}[-/. ]\w{3,9}[-/., ]+\d{4}|\w{3,9}\.? \d{1,2},? \d{4}"
)
_SCORE: Final = re.compile(r"score|votes?(?:[-_]?count)?$|points|upvote", re.IGNORECASE)
_MAX_CHARS: Final = 60
"""Characters of an author, a date or a score. The longest dates have about forty."""
_MAX_CLASS: Final = 200
"""Characters read of a `class` attribute. Meaningful names come first."""
_MAX_TEXTS: Final = 12
"""Number of text nodes read of an element. Such a fact has one to five, with those of white space."""
_MARK_REACH: Final = 3
"""Number of ancestors of a name that may be marked as an author."""
_MAX_DATES: Final = 20
"""Number of dates of a post that are compared. A post has one to three."""

_Test = Callable[[HtmlElement], bool]


class Facts(NamedTuple):
    """The elements that hold the facts of a post. Date and score may be missing."""

    author: HtmlElement
    date: HtmlElement | None
    score: HtmlElement | None


def find_facts(elements: list[HtmlElement]) -> Facts | None:
    """Return the facts among the elements of a post, None if no author is among them."""
    author = next(_find_all(elements, _AUTHOR_TESTS), None)
    if author is None:
        return None
    related = {author, *author.iterdescendants(), *author.iterancestors()}
    others = [each for each in elements if each not in related]
    date = _find_date(others, author)
    if date is not None:
        related |= {date, *date.iterdescendants(), *date.iterancestors()}
    score = next(_find_all([each for each in others if each not in related], (_is_score,)), None)
    return Facts(author, date, score)


def read_fact(element: HtmlElement) -> str:
    """Return the text of an element in one line, "" if it is too long for an author, a date or a score."""
    parts = list(islice(element.itertext(), _MAX_TEXTS + 1))
    words = " ".join("".join(parts).split())
    return words if len(parts) <= _MAX_TEXTS and len(words) <= _MAX_CHARS else ""


def is_author(element: HtmlElement) -> bool:
    """Return whether an element holds the name of an author."""
    return bool(element.attrib) and any(is_fact(element) for is_fact in _AUTHOR_TESTS)


def _find_all(elements: list[HtmlElement], tests: tuple[_Test, ...]) -> Iterator[HtmlElement]:
    """Yield the elements that pass a test: the first in `tests` that any element passes."""
    for is_fact in tests:
        found = [each for each in elements if is_fact(each)]
        if found:
            yield from found
            return


def _find_date(elements: list[HtmlElement], author: HtmlElement) -> HtmlElement | None:
    """Return the date in the smallest element with the author, because an answer may also say when it was edited."""
    dates = list(islice(_find_all(elements, _DATE_TESTS), _MAX_DATES))
    if len(dates) > 1:
        around = [set(date.iterancestors()) for date in dates]
        for above in author.iterancestors():
            for date, ancestors in zip(dates, around, strict=True):
                if above in ancestors:
                    return date
    return dates[0] if dates else None


def _has_class(element: HtmlElement, pattern: re.Pattern[str]) -> bool:
    classes = element.get("class")
    return classes is not None and has_name(classes[:_MAX_CLASS], pattern)


@lru_cache(maxsize=2_000)
def has_name(names: str, pattern: re.Pattern[str]) -> bool:
    """Return whether the pattern is in one of the names of a `class` attribute. Pages repeat few values many times."""
    return any(map(pattern.search, names.split()))


def _is_name(element: HtmlElement) -> bool:
    """Return whether an element can hold a name alone. A single letter stands for a picture."""
    name = read_fact(element)
    return len(name) > 1 and all(read_fact(inner) in {"", name} for inner in element.iterdescendants())


def _is_marked_author(element: HtmlElement) -> bool:
    """Return whether an element is the name of an author marked up for search engines, or a link around it."""
    if element.tag != "a" and element.get("itemprop") not in {*_PROPERTIES, "name"}:
        return False
    marks = [element, *islice(element.iterancestors(), _MARK_REACH)]
    return any(each.get("itemprop") in _PROPERTIES for each in marks) and _is_name(element)


def _is_named_author(element: HtmlElement) -> bool:
    return (element.get("rel") == "author" or _has_class(element, _AUTHOR)) and _is_name(element)


def _is_profile_link(element: HtmlElement) -> bool:
    return element.tag == "a" and _PROFILE.search(element.get("href") or "") is not None and _is_name(element)


_AUTHOR_TESTS: Final = (_is_marked_author, _is_named_author, _is_profile_link)
"""The most certain first."""


def _is_marked_date(element: HtmlElement) -> bool:
    return element.get("itemprop") in {"datePublished", "dateCreated"} and bool(read_fact(element))


def _is_time(element: HtmlElement) -> bool:
    return element.tag == "time" and bool(read_fact(element))


def _is_named_date(element: HtmlElement) -> bool:
    return _has_class(element, _DATE) and any(map(str.isdigit, read_fact(element)))


def _is_date_text(element: HtmlElement) -> bool:
    """Return whether the text is a date, outside of a list of facts about the author."""
    is_alone = len(element) <= 1 and element.tag not in {"dd", "li"}
    return is_alone and _DATE_TEXT.match(read_fact(element)) is not None


_DATE_TESTS: Final = (_is_marked_date, _is_time, _is_named_date, _is_date_text)
"""The most certain first."""


def _is_score(element: HtmlElement) -> bool:
    is_named = element.get("itemprop") == "upvoteCount" or _has_class(element, _SCORE)
    return is_named and len(element) == 0 and any(map(str.isdigit, read_fact(element)))
