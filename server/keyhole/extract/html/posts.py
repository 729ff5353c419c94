"""Write one line with author, date and score above the text of each post and comment of a page.

Forums put these facts into a column beside the post, below it or into a footer, where they look like furniture. A post
without its author cannot be understood, so they are moved to the beginning of its text.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from functools import lru_cache
from itertools import islice
from typing import Final, NamedTuple

from lxml import etree
from lxml.html import HtmlElement

# Facts of a post: its author, date and score, found among its elements.

_AUTHOR_PROPERTIES: Final = frozenset({"author", "creator"})
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
    if element.tag != "a" and element.get("itemprop") not in {*_AUTHOR_PROPERTIES, "name"}:
        return False
    marks = [element, *islice(element.iterancestors(), _MARK_REACH)]
    return any(each.get("itemprop") in _AUTHOR_PROPERTIES for each in marks) and _is_name(element)


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


# Posts of a page, and the line above each.

_TAGS: Final = ("article", "div", "li", "section", "table")
_HEADINGS: Final = ("h1", "h2", "h3", "h4", "h5", "h6")
_TYPES: Final = frozenset({"Comment", "DiscussionForumPosting", "Answer", "Question", "UserComments"})
"""Types of schema.org whose items are posts."""
_PROPERTIES: Final = frozenset({"comment", "suggestedAnswer", "acceptedAnswer"})
"""Values of `itemprop` that mark a post."""
_POST: Final = re.compile(
    r"(?:^|[-_])(?:comments?|posts?|message|msg|reply|answer)(?:[-_]?(?:item|container|wrapper|row|content|\d+))?$"
    r"|^blockpost$|^p\d+$",
    re.IGNORECASE,
)
"""A name in the `class` or `id` of a post. A page must have at least `_MIN_ALIKE` such elements."""
_MIN_ALIKE: Final = 2
_MAX_NAMES: Final = 300
"""Characters read of `class` and `id`. Meaningful names come first."""
_MIN_TEXT: Final = 20
"""Characters of a post besides its facts, without white space."""
_BODY_SHARE: Final = 0.6
"""The body of a post is the smallest element with this share of the text around it."""
_BODY_TAGS: Final = frozenset({"article", "div", "section", "table", "tbody", "tr", "td", "li"})
_MAX_DEPTH: Final = 12
"""Number of elements within one another that are searched for the body. Posts of forums need up to six."""

_Posts = dict[HtmlElement, None]


def head_posts(root: HtmlElement) -> None:
    """Move author, date and score of each post of a pruned tree to the beginning of its text, in place.

    The words stay the same. A post without an author, or with hardly any text, is not changed.
    """
    posts = _find_posts(root)
    for post in posts:
        facts = find_facts(list(_iter_own(post, posts)))
        if facts is not None:
            _write_head(post, facts, posts)


def _find_posts(root: HtmlElement) -> _Posts:
    """Return the posts of a page in document order: elements that are marked as posts, and those alike named as posts.

    A post names its author, and does not have the heading of the page.
    """
    marked: set[HtmlElement] = set()
    named: dict[HtmlElement, tuple[str, str]] = {}
    for element in root.iter(*_TAGS):
        if (element.get("itemtype") or "").rpartition("/")[2] in _TYPES or element.get("itemprop") in _PROPERTIES:
            marked.add(element)
        elif has_name(f"{element.get('class') or ''} {element.get('id') or ''}"[:_MAX_NAMES], _POST):
            named[element] = (element.tag, (element.get("class") or "").partition(" ")[0])
    counts = Counter(named.values())
    found = marked | {element for element, kind in named.items() if counts[kind] >= _MIN_ALIKE}
    if not found:
        return {}
    outermost = [element for element in found if found.isdisjoint(element.iterancestors())]
    found &= _list_around(inner for post in outermost for inner in post.iter() if is_author(inner))
    found -= _list_around(root.iter("h1"))
    found -= _list_around(filter(_leads_away, root.iter(*_HEADINGS))) - marked
    return {element: None for element in root.iter(*_TAGS) if element in found}


def _list_around(elements: Iterable[HtmlElement]) -> set[HtmlElement]:
    """Return all ancestors of elements, in linear time."""
    around: set[HtmlElement] = set()
    for element in elements:
        for above in element.iterancestors():
            if above in around:
                break
            around.add(above)
    return around


def _leads_away(heading: HtmlElement) -> bool:
    """Return whether a heading is a link to an article, as in a teaser, and not to the author of a post."""
    links = [*heading.iter("a"), *heading.iterancestors("a")]
    return any(link.get("href") and not is_author(link) for link in links)


def _iter_own(post: HtmlElement, posts: _Posts) -> Iterator[HtmlElement]:
    """Yield the elements of a post without those of the posts within it."""
    stack = list(reversed(post))
    while stack:
        element = stack.pop()
        if element not in posts:
            yield element
            stack.extend(reversed(element))


def _write_head(post: HtmlElement, facts: Facts, posts: _Posts) -> None:
    """Move the facts of a post to a line of their own at the beginning of its body."""
    parts = [fact for fact in facts if fact is not None]
    words = [read_fact(fact) for fact in parts]
    if _count_own(post, posts) - sum(map(len, words)) < _MIN_TEXT:
        return
    for fact in parts:
        fact.drop_tree()
    line = post.makeelement("legend")
    etree.SubElement(line, "strong").text = words[0]
    line[0].tail = "".join(f" · {word}" for word in words[1:])
    body = _find_body(post, posts)
    line.tail, body.text = body.text, None
    body.insert(0, line)


def _find_body(post: HtmlElement, posts: _Posts) -> HtmlElement:
    body, size = post, _count_own(post, posts)
    for _ in range(_MAX_DEPTH):
        sizes = ((each, _count_own(each, posts)) for each in body if each.tag in _BODY_TAGS and each not in posts)
        inner = next(((each, count) for each, count in sizes if count >= max(1, _BODY_SHARE * size)), None)
        if inner is None:
            break
        body, size = inner
    return body


def _count_own(element: HtmlElement, posts: _Posts) -> int:
    """Return the number of characters of an element's text without the posts within it and without white space."""
    own = [element, *_iter_own(element, posts)]
    texts = [text for each in own for text in (each.text or "", *(inner.tail or "" for inner in each))]
    return len("".join("".join(texts).split()))
