"""Read an HTML page into a Document: parse, read metadata, prune, judge the blocks, convert to Markdown."""

from __future__ import annotations

import re
from typing import Final

from lxml import etree
from lxml.html import HtmlElement

from keyhole.errors import Code, KeyholeError
from keyhole.extract.failures.detect import detect_failure, detect_home_redirect, may_be_failure
from keyhole.extract.html.boilerplate.classify import judge_blocks, read_relations
from keyhole.extract.html.boilerplate.segments import segment
from keyhole.extract.html.converter import to_markdown
from keyhole.extract.html.fragment import find_named_part, read_start
from keyhole.extract.html.link_resolver import LinkResolver, resolve_link
from keyhole.extract.html.metadata import read_metadata
from keyhole.extract.html.part_labels import has_name, head_posts, label_panels, quote_admonitions
from keyhole.extract.html.prune import HIDDEN_PAGE, prune
from keyhole.extract.html.rest_parts import take_rest
from keyhole.extract.html.tree import list_classes, parse_html
from keyhole.extract.html.wordless_elements import EMBEDDED, add_values, count_wordless, name_icons
from keyhole.records import Document, Metadata
from keyhole.text.clean import count_invisible, has_suspect_characters
from keyhole.text.refresh import read_refresh

# Prepare the notes of a page for the search for footnotes.

_ROLES: Final = frozenset({"doc-footnote", "doc-endnote", "doc-endnotes", "note"})
_SIDENOTE: Final = re.compile(r"(?:^|[-_])(?:side|margin)[-_]?notes?$|^remark$", re.IGNORECASE)
"""A class of notes that the style sheet moves into the margin."""
_NUMBERED: Final = "sidenote-number"
"""Class of the mark before a sidenote, which the style sheet numbers (Tufte CSS)."""
_PARAGRAPHS: Final = ("p", "li", "dd", "blockquote", "td")
_MAX_CLASS: Final = 200
"""Characters read of a `class` attribute."""


def prepare_notes(root: HtmlElement) -> None:
    """Rewrite the notes of a pruned tree, in place. No word is lost.

    Brackets around a mark are dropped, because Markdown writes its own. Notes in an `<aside>` are blocks of the text.
    Notes in the margin follow the paragraph that they stand in, instead of interrupting its sentence.
    """
    for sup in root.iter("sup"):
        if (
            len(sup) == 1
            and sup[0].tag == "a"
            and (sup.text or "").strip() == "["
            and (sup[0].tail or "").strip() == "]"
        ):
            sup.text = sup[0].tail = None
    for aside in root.iter("aside", "section"):
        if aside.get("role") in _ROLES or "footnote" in _names(aside):
            aside.tag = "div"
    for number, note in enumerate([each for each in root.iter("span", "small", "aside") if _is_sidenote(each)], 1):
        _move_out(note, number)


def _names(element: HtmlElement) -> list[str]:
    return (element.get("class") or "")[:_MAX_CLASS].split()


def _is_sidenote(element: HtmlElement) -> bool:
    return has_name((element.get("class") or "")[:_MAX_CLASS], _SIDENOTE)


def _move_out(note: HtmlElement, number: int) -> None:
    """Move a note behind its paragraph, with a numbered mark in its place if the page shows a number there."""
    paragraph = next(note.iterancestors(*_PARAGRAPHS), None)
    if paragraph is None or paragraph.getparent() is None:
        return
    mark = note.makeelement("sup")
    if _has_number(note):
        link = etree.SubElement(mark, "a")
        link.text = str(number)
        link.set("href", f"#keyhole-sidenote-{number}")
        note.set("id", f"keyhole-sidenote-{number}")
    note.addprevious(mark)
    mark.tail, note.tail = note.tail, None
    note.tag = "div"
    if paragraph.tag == "p":
        note.tail, paragraph.tail = paragraph.tail, None
        paragraph.addnext(note)
    else:
        paragraph.append(note)


def _has_number(note: HtmlElement) -> bool:
    before = note.getprevious()
    while before is not None and before.tag == "input":
        before = before.getprevious()
    return before is not None and before.tag == "label" and _NUMBERED in _names(before)


# Read an HTML page into a Document: parse, read metadata, prune, judge the blocks, convert to Markdown.

_OUTSIDE_FORMULAS = etree.XPath("descendant::text()[not(ancestor::math)]", smart_strings=False)
SHORT_CHARS: Final = 500
"""Markdown with fewer characters may come from a page that scripts fill. Then text is also read from the page's
data."""

ONLY_EMBEDS: Final = "only_embeds"
"""The notice of a page that hardly has text beside another page or document that it shows."""
MAX_BESIDE: Final = 200
"""Largest length of the text beside it, in characters: a heading and a sentence."""
_LINK = re.compile(r"\[[^\[\]\n]*+\]\(([^()\s]++)\)")

_FIRST_RULES = re.compile(r"\A(?:---\n+)+(?=.)")
"""The lines drawn above the first text of a page, which separated it from a menu."""


def read_html(html: str, url: str, requested_url: str = "") -> Document:
    """Return an HTML page as a Document without blocks and media type.

    Raises KeyholeError: javascript_required if the page has no text until its scripts run, or the code of a failure
    page, such as login_required.
    """
    root = parse_html(html)
    _elements = list(root.iter())  # lxml makes the object of an element anew at each visit unless it is held
    metadata = read_metadata(root, url)
    base = root.find(".//base[@href]")
    base_url = (resolve_link(url, str(base.get("href"))) if base is not None else "") or url
    links = LinkResolver(base_url, url)
    relations = read_relations(root)
    named_part = find_named_part(root, requested_url)
    pruned = prune(root)
    section = read_start(root, named_part)
    removed = dict(pruned.counts)
    if invisible := _count_invisible_chars(root):
        removed["invisible"] = invisible
    name_parts(root)
    segments = segment(root)
    counts = count_wordless(root)
    rest = take_rest(root, segments, judge_blocks(segments, url, metadata.title, relations), links)
    name_icons(root)
    add_values(root)
    markdown = _FIRST_RULES.sub("", to_markdown(root, links))
    main, notice = _check_page(html, links, markdown, metadata, (url, requested_url))
    return Document(
        title=metadata.title,
        text=f"{main}\n{rest}" if rest else main,
        media_type="",
        language=metadata.language,
        removed=tuple(removed.items()),
        wordless=counts,
        notice=notice
        or (HIDDEN_PAGE if pruned.shows_hidden_page else ONLY_EMBEDS if _only_embeds(root, main, links) else ""),
        metadata=metadata,
        main_end=len(main) if rest else None,
        section=section,
    )


def _only_embeds(root: HtmlElement, main: str, links: LinkResolver) -> bool:
    """Return whether the first link of a page of little text leads to a page or document that it embeds."""
    first = _LINK.search(main) if len(main) < 10 * MAX_BESIDE else None
    if first is None or len(_LINK.sub("", main)) > MAX_BESIDE:
        return False
    documents = [each for each in root.iter(EMBEDDED) if each.get("type") not in {"video", "audio"}]
    return any(links.resolve(each.get("href") or "") == first[1] for each in documents)


def name_parts(root: HtmlElement) -> None:
    """Put the names of the parts of a pruned page into these parts, in place: titles, labels, authors of posts."""
    prepare_notes(root)
    classes = list_classes(root)
    names = frozenset(" ".join(classes).split())
    quote_admonitions(root, names)
    label_panels(root, names)
    head_posts(root, classes)


def _count_invisible_chars(root: HtmlElement) -> int:
    """Count the invisible characters outside formulas. Inside formulas they are operators."""
    if not has_suspect_characters(root.text_content()):
        return 0
    has_formulas = next(root.iter("math"), None) is not None
    return sum(map(count_invisible, _OUTSIDE_FORMULAS(root) if has_formulas else root.itertext()))


def html_to_markdown(html: str, base: str, address: str = "") -> str:
    """Convert an HTML fragment to Markdown without failure checks and without removal of boilerplate.

    `base` and `address`: as in `LinkResolver`.
    """
    root = parse_html(html)
    prune(root)
    name_parts(root)
    name_icons(root)
    add_values(root)
    return to_markdown(root, LinkResolver(base, address))


def _check_page(
    html: str, links: LinkResolver, markdown: str, metadata: Metadata, urls: tuple[str, str]
) -> tuple[str, str]:
    """Return the page's Markdown and the name of its notice. Short Markdown is extended by text in the page's data.

    A page that may be a failure is parsed again, because pruning removed its scripts and forms. Raises KeyholeError if
    it is a failure page or a shell without useful text.
    """
    failure = detect_home_redirect(*urls)
    if may_be_failure(html, metadata.title, markdown, *urls):
        root = parse_html(html)
        text = _append_embedded_text(root, links, markdown) if len(markdown) < SHORT_CHARS else markdown
        failure = detect_failure(root, html, text, *urls)
        if failure and failure.is_fatal:
            raise KeyholeError(Code(failure.kind), failure.reason)
        refresh = read_refresh(metadata.refresh)
        if len(text) < SHORT_CHARS and text == markdown and not (refresh and refresh.is_redirect):
            _raise_for_shell(root, markdown)
        markdown = text
    return markdown, str(failure.kind) if failure else ""


def _append_embedded_text(root: HtmlElement, links: LinkResolver, markdown: str) -> str:
    """Append the text in the page's data to its Markdown if the text is long and more than twice as long."""
    from keyhole.extract.html.embedded_data import read_embedded_text

    data = read_embedded_text(root, links)
    return f"{markdown.strip()}\n\n{data}".lstrip() if len(data) > max(SHORT_CHARS, 2 * len(markdown)) else markdown


def _raise_for_shell(root: HtmlElement, markdown: str) -> None:
    from keyhole.extract.failures.js_shell import needs_javascript

    if needs_javascript(root, markdown):
        raise KeyholeError(Code.JAVASCRIPT_REQUIRED, "the page has no text until its scripts run")
