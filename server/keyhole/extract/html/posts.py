"""Write one line with author, date and score above the text of each post and comment of a page.

Forums put these facts into a column beside the post, below it or into a footer, where they look like furniture. A post
without its author cannot be understood, so they are moved to the beginning of its text.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Final

from lxml import etree
from lxml.html import HtmlElement

from keyhole.extract.html.post_facts import Facts, find_facts, has_name, is_author, read_fact

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
