"""Move the labels of a page to the text that they name: titles of admonitions, names of tabs, authors of posts.

Each then shares the judgement of that text, whether it belongs to the main part.
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

# Admonitions (notes, tips, warnings) become quotes that begin with their title in bold. As a quote, an admonition has a
# beginning and an end in Markdown, and its title shares a paragraph with the text that it names.

_CONTAINERS: Final = frozenset({
    "admonition", "admonitionblock", "theme-admonition", "markdown-alert", "custom-block", "starlight-aside",
    "notecard", "callout", "confluence-information-macro",
})  # fmt: skip
"""Classes of admonitions: Sphinx and MkDocs, Asciidoctor, Docusaurus, GitHub, VitePress, Starlight, MDN, Quarto and
Mintlify, Confluence."""
_KINDS: Final = frozenset({"note", "tip", "hint", "important", "warning", "caution", "danger", "attention", "error"})
"""Classes of admonitions in DocBook. Other pages use these words too, so such an element must have a title."""
_TAGS: Final = ("div", "aside", "section")
_TITLE: Final = re.compile(r"title|heading|header", re.IGNORECASE)
_HEADINGS: Final = frozenset({"h1", "h2", "h3", "h4", "h5", "h6"})
_TITLE_REACH: Final = 12
"""Number of elements searched for the title at the beginning of an admonition: wrappers, and the parts of an icon."""
_MAX_TITLE: Final = 150
"""Characters of a title. A longer text is the admonition itself."""
_MAX_CLASS: Final = 500
"""Characters of `class` that are read."""
_TEXT_BLOCKS: Final = frozenset({"p", "div", "td", "dd"})
"""Elements whose first words can follow the title on the next line."""
_LAYOUT: Final = frozenset({"table", "tbody", "tr", "td", "th"})


def quote_admonitions(root: HtmlElement, names: frozenset[str]) -> None:
    """Rewrite the admonitions of a pruned tree, in place. No word of the tree is lost or moved past another word.

    An element with headings besides its title is a part of the page and stays as it is. `names`: all classes of the
    tree.
    """
    if _CONTAINERS.isdisjoint(names) and _KINDS.isdisjoint(names):
        return
    for element in [each for each in root.iter(*_TAGS) if each.get("class") and _may_be_admonition(each)]:
        title = _find_title(element)
        if title is None and _CONTAINERS.isdisjoint(_names(element)):
            continue
        if any(each is not title for each in element.iter(*sorted(_HEADINGS))) or not _has_words(element):
            continue
        _unfold_table(element)
        icon = _find_icon(element, title)
        if title is None and icon is not None:
            title = _write_icon(icon)
        elif icon is not None:
            icon.drop_tree()
        if title is not None:
            _embolden(element, title)
        element.tag = "blockquote"


def _names(element: HtmlElement) -> list[str]:
    return (element.get("class") or "")[:_MAX_CLASS].split()


def _may_be_admonition(element: HtmlElement) -> bool:
    names = _names(element)
    return not (_CONTAINERS.isdisjoint(names) and _KINDS.isdisjoint(names))


def _find_title(element: HtmlElement) -> HtmlElement | None:
    """Return the element at the beginning of an admonition that holds its title, None if there is none."""
    for inner in islice(element.iterdescendants(), _TITLE_REACH):
        is_title = inner.tag in _HEADINGS or inner.tag == "th" or _TITLE.search(" ".join(_names(inner))) is not None
        if not is_title and inner.text and inner.text.strip():
            return None
        if is_title and 0 < len(inner.text_content().strip()) <= _MAX_TITLE:
            return inner if not any(each.tag in {"p", "ul", "ol", "pre"} for each in inner.iterdescendants()) else None
    return None


def _has_words(element: HtmlElement) -> bool:
    return any(text and not text.isspace() for text in element.itertext())


def _unfold_table(element: HtmlElement) -> None:
    """Turn the table that places an admonition's icon beside its text into blocks."""
    if len(element) == 1 and element[0].tag == "table":
        table = element[0]
        for part in [table, *table.iter(*_LAYOUT)]:
            if next(part.iterancestors("table"), table) is table:
                part.tag = "div"


def _find_icon(element: HtmlElement, title: HtmlElement | None) -> HtmlElement | None:
    """Return the icon that begins an admonition and names its kind or repeats its title, None if there is none."""
    for inner in islice(element.iterdescendants(), _TITLE_REACH):
        if inner.text and inner.text.strip():
            return None
        if inner.tag == "img" or (inner.tag == "i" and inner.get("title")):
            name = _name_icon(inner)
            is_icon = name.lower() in _KINDS or "icon" in _names(inner) + _names(inner.getparent())
            repeats = title is not None and name == title.text_content().strip()
            return inner if name and (is_icon or repeats) else None
    return None


def _name_icon(icon: HtmlElement) -> str:
    return (icon.get("alt" if icon.tag == "img" else "title") or "").strip(" []")


def _write_icon(icon: HtmlElement) -> HtmlElement:
    """Replace an icon by its alternative text, which then is the title."""
    name, tail = _name_icon(icon), icon.tail
    icon.attrib.clear()
    icon.tag, icon.text, icon.tail = "span", name, tail
    return icon


def _embolden(element: HtmlElement, title: HtmlElement) -> None:
    """Write the title in bold, on a line of its own before the words that follow it."""
    following = _find_following(element, title)
    title.tag = "legend"
    bold = etree.SubElement(title, "strong")
    bold.text, title.text = title.text, None
    bold.extend(list(title)[:-1])
    if following is not None:
        title.remove(bold)
        bold.tail = None
        line_break = title.makeelement("br")
        line_break.tail, following.text = following.text, None
        following[:0] = [bold, line_break]


def _find_following(element: HtmlElement, title: HtmlElement) -> HtmlElement | None:
    """Return the text block directly after the title, None if a list, code or a bare text follows."""
    if title.tail and title.tail.strip():
        return None
    inside = {title, *title.iterdescendants()}
    is_past = False
    for inner in element.iterdescendants():
        if inner in inside:
            is_past = True
        elif is_past and inner.tag not in _TEXT_BLOCKS:
            # A paragraph may begin with an inline element, such as code.
            parent = inner.getparent()
            return parent if parent is not None and parent.tag == "p" else None
        elif is_past and inner.text and inner.text.strip():
            return inner
    return None


# Tabs: the label of each moves above its panel, because a list of labels does not tell which panel is which.

TAB_LABEL: Final = "keyhole-tab-label"
"""The element of a label in its panel. The walk writes it as `=== label`."""
TAB_END: Final = "keyhole-tab-end"
"""The element after the last panel of a tab set, written as `===`."""
_MAX_LABEL: Final = 100
"""Characters of a label. Longer texts are teasers, whose markup must stay."""
_MAX_TABS: Final = 50
"""Largest number of tabs in a set. Tab sets of manuals have up to twenty."""
_REACH: Final = 4
"""Number of ancestors of a list of tabs that are searched for its panels."""
_PANEL_REACH: Final = 8
"""Number of ancestors of a panel that may contain the list of its tabs."""
_PANEL_TAGS: Final = ("div", "section", "article")
_TOGGLES: Final = ("data-toggle", "data-bs-toggle")
_HAS_TAB_LIST: Final = etree.XPath("boolean(descendant-or-self::*/@role[. = 'tablist'])")
_TARGETS: Final = ("aria-controls", "href", "data-target", "data-bs-target")
_LABEL_CLASSES: Final = frozenset({"tabbed-labels", "tabs"})
_PANEL_CLASSES: Final = frozenset({"tabbed-content", "blocks"})
"""Classes of the two halves of a tab set in MkDocs and VitePress, whose labels are `<label>` and whose panels follow in
their order."""
_SETS: Final = frozenset({"tabbed-set", "tab-set", "sd-tab-set", "vp-code-group"})


class _TabSet(NamedTuple):
    """The tabs of a set and their panels, in the same order."""

    tabs: list[HtmlElement]
    panels: list[HtmlElement]


def label_panels(root: HtmlElement, names: frozenset[str]) -> None:
    """Move the labels of tabs into their panels, in place. `names`: all classes of the tree.

    A set is not changed if a tab has no panel, or if a label or a panel has no words, so no word is lost.
    """
    label_sets = [] if _SETS.isdisjoint(names) else _find_label_sets(root)
    for tabs, panels in [*_find_aria_sets(root, "nav" in names), *label_sets]:
        if 0 < len(tabs) == len(panels) <= _MAX_TABS and _is_regular(root, tabs, panels):
            _move_labels(tabs, panels)


def _is_regular(root: HtmlElement, tabs: list[HtmlElement], panels: list[HtmlElement]) -> bool:
    """Return whether the labels are short, and the panels have words, are distinct and not within each other."""
    if len(set(panels)) < len(panels) or not all(0 < len(_read_label(tab)) <= _MAX_LABEL for tab in tabs):
        return False
    around = {above for element in (*tabs, *panels) for above in element.iterancestors()}
    is_in_tree = all(element is root or root in element.iterancestors() for element in (*tabs, *panels))
    return is_in_tree and around.isdisjoint((*tabs, *panels)) and all(map(_has_words, panels))


def _read_label(tab: HtmlElement) -> str:
    return " ".join(tab.text_content().split())


def _move_labels(tabs: list[HtmlElement], panels: list[HtmlElement]) -> None:
    for tab, panel in zip(tabs, panels, strict=True):
        line = _make_line(panel, TAB_LABEL, _read_label(tab))
        line.tail, panel.text = panel.text, None
        panel.insert(0, line)
        tab.drop_tree()
    panels[-1].append(_make_line(panels[-1], TAB_END, "==="))


def _make_line(near: HtmlElement, tag: str, text: str) -> HtmlElement:
    line = near.makeelement("p")
    etree.SubElement(line, tag).text = text
    return line


def _find_aria_sets(root: HtmlElement, may_have_toggles: bool) -> Iterator[_TabSet]:
    """Yield the sets whose tabs name their panels, or have as many panels near them."""
    if not may_have_toggles and not _HAS_TAB_LIST(root):
        return
    tab_lists = [
        each for each in root.iter("div", "ul", "ol", "nav") if each.get("role") == "tablist" or _has_toggles(each)
    ]
    if not tab_lists:
        return
    by_id = {name: element for element in root.iter() if (name := element.get("id"))}
    labelled = {
        name: panel
        for panel in root.iter(*_PANEL_TAGS)
        if panel.get("role") == "tabpanel"
        for name in (panel.get("aria-labelledby") or "").split()
    }
    near = _list_panels(root)
    for tab_list in tab_lists:
        tabs = [each for each in tab_list.iterdescendants() if each.get("role") == "tab" or _is_toggle(each)]
        found = [_find_panel(tab, by_id, labelled) for tab in tabs]
        panels = [panel for panel in found if panel is not None]
        if len(panels) < len(tabs):
            panels = next((near[above] for above in islice(tab_list.iterancestors(), _REACH) if above in near), [])
        yield _TabSet(tabs, panels)


def _has_toggles(element: HtmlElement) -> bool:
    """Return whether an element is a list of Bootstrap's tabs."""
    return "nav" in (element.get("class") or "").split() and any(
        map(_is_toggle, islice(element.iter("a", "button"), 1))
    )


def _is_toggle(element: HtmlElement) -> bool:
    return any(element.get(name) in {"tab", "pill"} for name in _TOGGLES) and element.get("role") != "tab"


def _find_panel(
    tab: HtmlElement, by_id: dict[str, HtmlElement], labelled: dict[str, HtmlElement]
) -> HtmlElement | None:
    for name in _TARGETS:
        value = tab.get(name) or ""
        if (name == "aria-controls" or value.startswith("#")) and (
            panel := by_id.get(value.removeprefix("#"))
        ) is not None:
            return panel
    return labelled.get(tab.get("id") or "")


def _list_panels(root: HtmlElement) -> dict[HtmlElement, list[HtmlElement]]:
    """Return, by each near ancestor of panels, the panels in it, without those inside other panels."""
    panels: dict[HtmlElement, list[HtmlElement]] = {}
    for panel in root.iter(*_PANEL_TAGS):
        if panel.get("role") == "tabpanel":
            for above in islice(panel.iterancestors(), _PANEL_REACH):
                if above.get("role") == "tabpanel":
                    break
                panels.setdefault(above, []).append(panel)
    return panels


def _find_label_sets(root: HtmlElement) -> Iterator[_TabSet]:
    """Yield the sets whose tabs are the labels of radio buttons, as MkDocs, Sphinx and VitePress write them."""
    for element in root.iter("div"):
        names = set((element.get("class") or "").split())
        if _SETS.isdisjoint(names):
            continue
        halves = [_find_child(element, classes) for classes in (_LABEL_CLASSES, _PANEL_CLASSES)]
        if halves[0] is not None and halves[1] is not None:
            yield _TabSet([each for each in halves[0] if each.tag == "label"], list(halves[1]))
        else:
            labels = [each for each in element if each.tag == "label"]
            yield _TabSet(labels, [each for each in element if each.tag == "div"])


def _find_child(element: HtmlElement, classes: frozenset[str]) -> HtmlElement | None:
    return next((each for each in element if not classes.isdisjoint((each.get("class") or "").split())), None)


# Posts: one line with author, date and score above the text of each post and comment. Forums put these facts into a
# column beside the post, below it or into a footer, where they look like furniture. A post without its author cannot be
# understood.

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
_MAX_POST_CLASS: Final = 200
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
    return classes is not None and has_name(classes[:_MAX_POST_CLASS], pattern)


@lru_cache(maxsize=8_192)
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
"""Tests for the name of an author, the most certain first."""


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
"""Tests for a date, the most certain first."""


def _is_score(element: HtmlElement) -> bool:
    is_named = element.get("itemprop") == "upvoteCount" or _has_class(element, _SCORE)
    return is_named and len(element) == 0 and any(map(str.isdigit, read_fact(element)))


# Posts of a page, and the line above each.

_POST_TAGS: Final = ("article", "div", "li", "section", "table")
_POST_HEADINGS: Final = ("h1", "h2", "h3", "h4", "h5", "h6")
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
_IDS: Final = etree.XPath("descendant-or-self::*/@id", smart_strings=False)
_HAS_ITEMS: Final = etree.XPath("boolean(descendant::*/@itemtype or descendant::*/@itemprop)")
_POST_PARTS: Final = ("comment", "post", "message", "msg", "reply", "answer", *(f" p{digit}" for digit in range(10)))
"""A part of each such name, in lower case, which is quick to find in the names of a page."""
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


def head_posts(root: HtmlElement, classes: frozenset[str]) -> None:
    """Move author, date and score of each post of a pruned tree to the beginning of its text, in place.

    The words stay the same. A post without an author, or with hardly any text, is not changed. `classes`: all values
    of `class` in the tree.
    """
    posts = _find_posts(root, classes)
    for post in posts:
        facts = find_facts(list(_iter_own(post, posts)))
        if facts is not None:
            _write_head(post, facts, posts)


def _find_posts(root: HtmlElement, classes: frozenset[str]) -> _Posts:
    """Return the posts of a page in document order: elements that are marked as posts, and those alike named as posts.

    A post names its author, and does not have the heading of the page.
    """
    marked: set[HtmlElement] = set()
    named: dict[HtmlElement, tuple[str, str]] = {}
    has_items = _HAS_ITEMS(root)
    names = " ".join(("", *classes, *_IDS(root))).lower()
    if not has_items and not any(map(names.__contains__, _POST_PARTS)):
        return {}
    for element in root.iter(*_POST_TAGS):
        if has_items and (
            (element.get("itemtype") or "").rpartition("/")[2] in _TYPES or element.get("itemprop") in _PROPERTIES
        ):
            marked.add(element)
            continue
        own, identifier = element.get("class") or "", element.get("id")
        if has_name((f"{own} {identifier}" if identifier else own)[:_MAX_NAMES], _POST):
            named[element] = (element.tag, own.partition(" ")[0])
    counts = Counter(named.values())
    found = marked | {element for element, kind in named.items() if counts[kind] >= _MIN_ALIKE}
    if not found:
        return {}
    outermost = [element for element in found if found.isdisjoint(element.iterancestors())]
    found &= _list_around(inner for post in outermost for inner in post.iter() if is_author(inner))
    found -= _list_around(root.iter("h1"))
    found -= _list_around(filter(_leads_away, root.iter(*_POST_HEADINGS))) - marked
    return {element: None for element in root.iter(*_POST_TAGS) if element in found}


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
