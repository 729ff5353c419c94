"""Read RSS, Atom and JSON Feed: title, link, dates, author, attachments and content of each entry."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC
from email.utils import parsedate_to_datetime
from html.entities import html5
from typing import Any, Final
from urllib.parse import urljoin

from lxml import etree

from keyhole.extract.body import Body
from keyhole.extract.formats.data import read_json
from keyhole.extract.formats.xml import decode_xml, local_name, namespace, parse_xml, read_xml
from keyhole.extract.markup import fragment_to_markdown, lower_headings, to_one_line
from keyhole.records import Document, Metadata
from keyhole.text.clean import clean
from keyhole.text.escape import escape_markdown
from keyhole.text.invalid_characters import unescape

MAX_ENTRIES: Final = 1_000
"""Largest number of entries whose content is read. Of later entries only the other facts are read, because converting
an HTML fragment takes some 0.5 ms. The longest podcast feeds have some 3,000 episodes."""
MAX_ATTACHMENTS: Final = 10
"""Largest number of attachments listed for one entry."""

_FOREIGN_NAMESPACES = frozenset({"http://search.yahoo.com/mrss/", "http://www.itunes.com/dtds/podcast-1.0.dtd"})
"""Namespaces whose `title` and `content` have another meaning. Their elements are used only in the absence of
others."""
_ENTITY = re.compile(r"&([a-zA-Z][a-zA-Z0-9]{1,31});")
_XML_ENTITIES = frozenset({"amp", "lt", "gt", "quot", "apos"})
_INLINE_TAG = re.compile(
    r"</?(?:a|abbr|b|br|code|em|font|i|p|small|span|strong|sub|sup|tt|u)(?:\s[^<>]*)?/?>", re.IGNORECASE
)


@dataclass(slots=True)
class FeedEntry:
    """An entry of a feed, or the feed itself. `content` is HTML unless `is_plain` is True. Missing values are ""."""

    title: str = ""
    link: str = ""
    published: str = ""
    modified: str = ""
    author: str = ""
    content: str = ""
    is_plain: bool = False
    language: str = ""
    attachments: list[str] = field(default_factory=list)


def read_feed(body: Body) -> Document:
    """Read RSS 0.9 to 2.0 and Atom. Broken feeds are read as far as possible.

    A document without entries and title is read as XML.
    """
    root = parse_xml(_ENTITY.sub(_decode_entity, clean(decode_xml(body))))
    if root is None:
        return read_xml(body)
    channel = next((child for child in root if local_name(child) == "channel"), root)
    entries = [element for element in root.iter("{*}item", "{*}entry") if _parent_name(element) != "entry"]
    feed = _parse_entry(channel, body.url)
    if not entries and not feed.title:
        return read_xml(body)
    return _build_document(
        feed, (_parse_entry(element, feed.link or body.url) for element in entries), len(entries), body.url
    )


def read_json_feed(body: Body) -> Document:
    """Read a JSON Feed (1.0 or 1.1). JSON that is not a feed is read as JSON."""
    try:
        feed = json.loads(clean(body.text()))
    except (ValueError, RecursionError):
        return read_json(body)
    items = feed.get("items") if isinstance(feed, dict) else None
    if not isinstance(items, list):
        return read_json(body)
    items = [item for item in items if isinstance(item, dict)]
    head = _parse_json_entry(feed, body.url)
    head.link, head.content, head.is_plain = _get_text(feed, "home_page_url"), _get_text(feed, "description"), True
    return _build_document(head, (_parse_json_entry(item, body.url) for item in items), len(items), body.url)


def _build_document(feed: FeedEntry, entries: Iterator[FeedEntry], count: int, url: str) -> Document:
    title = to_one_line(feed.title)
    parts = [
        f"# {escape_markdown(title)}\n" if title else "",
        *_format_facts(feed),
        _format_content(feed, url, url),
        f"{count:,} {'entry' if count == 1 else 'entries'}\n",
    ]
    for number, entry in enumerate(entries):
        parts += [f"## {escape_markdown(to_one_line(entry.title)) or f'Entry {number + 1}'}\n", *_format_facts(entry)]
        if number < MAX_ENTRIES:
            parts.append(_format_content(entry, entry.link or feed.link or url, url))
    metadata = Metadata(
        title=title, author=to_one_line(feed.author, 200), published=feed.published, modified=feed.modified,
        language=feed.language, site=title[:100], description=to_one_line(fragment_to_markdown(feed.content, url), 500),
    )  # fmt: skip
    text = "\n".join(part for part in parts if part)
    return Document(title=title, text=text, media_type="", language=feed.language, metadata=metadata)


def _format_facts(entry: FeedEntry) -> Iterator[str]:
    """Yield the paragraphs below a heading: URL, dates and author, attachments."""
    if entry.link:
        yield f"<{entry.link}>\n"
    updated = f"updated {entry.modified}" if entry.modified and entry.modified != entry.published else ""
    facts = (entry.published, updated, escape_markdown(to_one_line(entry.author, 200)))
    if any(facts):
        yield f"{' · '.join(filter(None, facts))}\n"
    for attachment in entry.attachments[:MAX_ATTACHMENTS]:
        yield f"Attachment: {attachment}\n"


def _format_content(entry: FeedEntry, base_url: str, address: str) -> str:
    """Return the content as Markdown. Its links are resolved against the entry, and paths on the feed's origin."""
    content = entry.content.strip()
    if not content:
        return ""
    if entry.is_plain:
        return f"{escape_markdown(content)}\n"
    return f"{lower_headings(fragment_to_markdown(content, base_url, address), 2)}\n"


def _parse_entry(element: Any, base_url: str) -> FeedEntry:
    """Parse an `item`, an `entry` or the feed's own facts. Namespaces are ignored, because feeds confuse them."""
    children: dict[str, Any] = {}
    links: list[Any] = []
    for child in element:
        if not isinstance(child.tag, str) or local_name(child) in {"item", "entry"}:
            continue
        name = local_name(child)
        if name in {"link", "enclosure"}:
            links.append(child)
        previous = children.get(name)
        if previous is None or (_is_foreign(previous) and not _is_foreign(child)):
            children[name] = child
    link, attachments = _parse_links(links, base_url)
    if not link and (guid := _one_line_text(children.get("guid"))).startswith(("http://", "https://")):
        link = guid
    content, is_plain = _find_content(children)
    author = children.get("author", children.get("creator"))
    author_name = author.find("{*}name") if author is not None else None
    return FeedEntry(
        title=_title_text(children.get("title")),
        link=link,
        published=_parse_date(_first_text(children, "published", "pubDate", "issued", "date")),
        modified=_parse_date(_first_text(children, "updated", "modified", "lastBuildDate")),
        author=_one_line_text(author if author_name is None else author_name),
        content=content,
        is_plain=is_plain,
        language=to_one_line(
            _first_text(children, "language") or element.get("{http://www.w3.org/XML/1998/namespace}lang") or "", 20
        ),
        attachments=attachments,
    )


def _find_content(children: dict[str, Any]) -> tuple[str, bool]:
    """Return the fullest content of an entry, and whether it is plain text."""
    group = children.get("group")
    nested = group.find("{*}description") if group is not None else None
    for element in (
        *(children.get(name) for name in ("encoded", "content", "description", "summary", "subtitle")),
        nested,
    ):
        if element is None or not (_inner_text(element) or "").strip():
            continue
        kind = element.get("type") or ""
        if kind == "xhtml" or len(element):
            return etree.tostring(element, encoding="unicode", with_tail=False), False
        return _inner_text(element) or "", kind in {"text", "text/plain"}
    return "", True


def _parse_links(elements: list[Any], base_url: str) -> tuple[str, list[str]]:
    """Return the entry's own URL, and its attachments as `URL (type, size)`."""
    own, attachments = "", []
    for element in elements:
        target = _resolve_url(base_url, element.get("href") or element.get("url") or _one_line_text(element))
        relation = element.get("rel") or "alternate"
        if not target:
            continue
        if local_name(element) == "enclosure" or relation == "enclosure":
            size = element.get("length") or ""
            details = (element.get("type"), f"{int(size):,} bytes" if re.fullmatch(r"[1-9][0-9]{0,14}", size) else "")
            note = ", ".join(to_one_line(part, 80) for part in details if part)
            attachments.append(f"<{target}> ({note})" if note else f"<{target}>")
        elif relation == "alternate" and not own:
            own = target
    return own, attachments


def _parse_json_entry(item: dict[str, Any], base_url: str) -> FeedEntry:
    authors = item.get("authors") if isinstance(item.get("authors"), list) else [item.get("author")]
    files = item.get("attachments") if isinstance(item.get("attachments"), list) else []
    markup = _get_text(item, "content_html")
    return FeedEntry(
        title=_get_text(item, "title"),
        link=_resolve_url(base_url, _get_text(item, "url") or _get_text(item, "external_url")),
        published=_get_text(item, "date_published")[:40],
        modified=_get_text(item, "date_modified")[:40],
        author=", ".join(_get_text(author, "name") for author in authors or [] if isinstance(author, dict)),
        content=markup or _get_text(item, "content_text") or _get_text(item, "summary"),
        is_plain=not markup,
        language=_get_text(item, "language")[:20],
        attachments=[
            f"<{_resolve_url(base_url, _get_text(file, 'url'))}> ({to_one_line(_get_text(file, 'mime_type'), 80)})"
            for file in files or []
            if isinstance(file, dict) and _resolve_url(base_url, _get_text(file, "url"))
        ],
    )


def _get_text(item: dict[str, Any], key: str) -> str:
    value = item.get(key)
    return clean(value) if isinstance(value, str) else ""


def _first_text(children: dict[str, Any], *names: str) -> str:
    return next((words for name in names if (words := _one_line_text(children.get(name)))), "")


def _title_text(element: Any) -> str:
    """Return a title without markup. RSS and Atom allow markup in titles, and feeds do not declare it reliably."""
    words = _one_line_text(element)
    return " ".join(_INLINE_TAG.sub("", unescape(words)).split())


def _parse_date(text: str) -> str:
    """Return a date in ISO 8601, or as one line of at most 40 characters if it cannot be parsed."""
    if not text or text[:4].isdigit():
        return to_one_line(text, 40)
    try:
        moment = parsedate_to_datetime(text)
    except (ValueError, TypeError, IndexError, OverflowError):
        return to_one_line(text, 40)
    return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).isoformat()


def _resolve_url(base_url: str, reference: str) -> str:
    try:
        url = urljoin(base_url, reference.strip())
    except ValueError:
        return ""
    is_usable = reference.strip() and url.lower().startswith(("http://", "https://"))
    return re.sub(r"[\s<>]", "", url)[:2_000] if is_usable else ""


def _decode_entity(entity: re.Match[str]) -> str:
    """Decode a named HTML entity, which feeds use without a declaration. Entities of XML are unchanged."""
    if entity[1] in _XML_ENTITIES:
        return entity[0]
    return html5.get(f"{entity[1]};", entity[0])


def _parent_name(element: Any) -> str:
    parent = element.getparent()
    return "" if parent is None else local_name(parent)


def _is_foreign(element: Any) -> bool:
    return namespace(element) in _FOREIGN_NAMESPACES


def _inner_text(element: Any) -> str | None:
    return None if element is None else "".join(element.itertext())


def _one_line_text(element: Any) -> str:
    return " ".join((_inner_text(element) or "").split())
