"""RSS, Atom and JSON Feed as their entries: title, link, date, author, and the content as Markdown. Fetches nothing."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC
from email.utils import parsedate_to_datetime
from html import unescape
from html.entities import html5
from typing import Any, Final
from urllib.parse import urljoin

from lxml import etree

from keyhole.extract.body import Body
from keyhole.extract.decode import tidy
from keyhole.extract.formats.data import read_json
from keyhole.extract.formats.xml import local_name, namespace, read_xml, xml_text
from keyhole.extract.markup import html_fragment, lowered, one_line
from keyhole.records import Document, Metadata
from keyhole.text.escape import escaped

MAX_ENTRIES: Final = 1_000
"""Entries whose content is converted; of further ones only title, link and date are given. Each HTML fragment costs
its own parse, some 0.5 ms, and an entry can be 40 bytes; the longest feeds of podcasts have some 3,000 episodes."""
MAX_ATTACHMENTS: Final = 10
"""Attachments named for one entry."""

_FOREIGN = frozenset({"http://search.yahoo.com/mrss/", "http://www.itunes.com/dtds/podcast-1.0.dtd"})
"""Namespaces whose `title` and `content` mean something else; read only where nothing better stands."""
_ENTITY = re.compile(r"&([a-zA-Z][a-zA-Z0-9]{1,31});")
_XML_ENTITIES = frozenset({"amp", "lt", "gt", "quot", "apos"})
_DECLARATION = re.compile(r"^\s*<\?xml[^>]*>")
_INLINE_TAG = re.compile(
    r"</?(?:a|abbr|b|br|code|em|font|i|p|small|span|strong|sub|sup|tt|u)(?:\s[^<>]*)?/?>", re.IGNORECASE
)


@dataclass(slots=True)
class Entry:
    """One entry, or the feed itself: whatever of it was said. `content` is HTML unless `plain`."""

    title: str = ""
    link: str = ""
    published: str = ""
    modified: str = ""
    author: str = ""
    content: str = ""
    plain: bool = False
    language: str = ""
    attachments: list[str] = field(default_factory=list)


def read_feed(body: Body) -> Document:
    """RSS 0.9 to 2.0 and Atom, broken ones as far as they can be read; XML without a single entry stays XML."""
    text = _ENTITY.sub(_character, _DECLARATION.sub("", tidy(xml_text(body)), count=1))
    parser = etree.XMLParser(
        recover=True, resolve_entities=False, no_network=True, huge_tree=False, remove_pis=True, encoding="utf-8"
    )
    try:
        root = etree.fromstring(text.strip().encode("utf-8", "replace"), parser)
    except etree.XMLSyntaxError:
        root = None
    if root is None:
        return read_xml(body)
    channel = next((child for child in root if local_name(child) == "channel"), root)
    entries = [element for element in root.iter("{*}item", "{*}entry") if _parent_name(element) != "entry"]
    feed = _entry(channel, body.url)
    if not entries and not feed.title:
        return read_xml(body)
    return _document(feed, (_entry(element, feed.link or body.url) for element in entries), len(entries), body.url)


def read_json_feed(body: Body) -> Document:
    """A JSON Feed (1.0 and 1.1); what is not one is read as JSON."""
    try:
        feed = json.loads(tidy(body.text()))
    except (ValueError, RecursionError):
        return read_json(body)
    items = feed.get("items") if isinstance(feed, dict) else None
    if not isinstance(items, list):
        return read_json(body)
    items = [item for item in items if isinstance(item, dict)]
    head = _json_entry(feed, body.url)
    head.link, head.content, head.plain = _text(feed, "home_page_url"), _text(feed, "description"), True
    return _document(head, (_json_entry(item, body.url) for item in items), len(items), body.url)


def _document(feed: Entry, entries: Iterator[Entry], count: int, url: str) -> Document:
    title = one_line(feed.title)
    parts = [
        f"# {escaped(title)}\n" if title else "",
        *_facts(feed),
        _content(feed, url),
        f"{count:,} {'entry' if count == 1 else 'entries'}\n",
    ]
    for number, entry in enumerate(entries):
        parts += [f"## {escaped(one_line(entry.title)) or f'Entry {number + 1}'}\n", *_facts(entry)]
        if number < MAX_ENTRIES:
            parts.append(_content(entry, entry.link or feed.link or url))
    metadata = Metadata(
        title=title, author=one_line(feed.author, 200), published=feed.published, modified=feed.modified,
        language=feed.language, site=title[:100], description=one_line(html_fragment(feed.content, url), 500),
    )  # fmt: skip
    text = "\n".join(part for part in parts if part)
    return Document(title=title, text=text, media_type="", language=feed.language, metadata=metadata)


def _facts(entry: Entry) -> Iterator[str]:
    """The lines under a heading: the address, then when and by whom, then what is attached."""
    if entry.link:
        yield f"<{entry.link}>\n"
    changed = f"updated {entry.modified}" if entry.modified and entry.modified != entry.published else ""
    said = " · ".join(part for part in (entry.published, changed, escaped(one_line(entry.author, 200))) if part)
    if said:
        yield f"{said}\n"
    for attachment in entry.attachments[:MAX_ATTACHMENTS]:
        yield f"Attachment: {attachment}\n"


def _content(entry: Entry, base_url: str) -> str:
    content = entry.content.strip()
    if not content:
        return ""
    return f"{escaped(content) if entry.plain else lowered(html_fragment(content, base_url), 2)}\n"


def _entry(element: Any, base_url: str) -> Entry:
    """An `item`, an `entry`, or the head of a feed. Names are matched without their namespaces: feeds mix them up."""
    children: dict[str, Any] = {}
    links: list[Any] = []
    for child in element:
        if not isinstance(child.tag, str) or local_name(child) in {"item", "entry"}:
            continue
        name = local_name(child)
        if name in {"link", "enclosure"}:
            links.append(child)
        known = children.get(name)
        if known is None or (_is_foreign(known) and not _is_foreign(child)):
            children[name] = child
    link, attachments = _links(links, base_url)
    if not link and (guid := _words(children.get("guid"))).startswith(("http://", "https://")):
        link = guid
    content, plain = _body(children)
    author = children.get("author", children.get("creator"))
    named = author.find("{*}name") if author is not None else None
    return Entry(
        title=_plain_title(children.get("title")),
        link=link,
        published=_date(_first(children, "published", "pubDate", "issued", "date")),
        modified=_date(_first(children, "updated", "modified", "lastBuildDate")),
        author=_words(author if named is None else named),
        content=content,
        plain=plain,
        language=one_line(
            _first(children, "language") or element.get("{http://www.w3.org/XML/1998/namespace}lang") or "", 20
        ),
        attachments=attachments,
    )


def _body(children: dict[str, Any]) -> tuple[str, bool]:
    """The fullest statement of an entry, and whether it is text rather than HTML."""
    group = children.get("group")
    nested = group.find("{*}description") if group is not None else None
    for element in (
        *(children.get(name) for name in ("encoded", "content", "description", "summary", "subtitle")),
        nested,
    ):
        if element is None or not (_inside(element) or "").strip():
            continue
        kind = element.get("type") or ""
        if kind == "xhtml" or len(element):
            return etree.tostring(element, encoding="unicode", with_tail=False), False
        return _inside(element) or "", kind in {"text", "text/plain"}
    return "", True


def _links(elements: list[Any], base_url: str) -> tuple[str, list[str]]:
    """The entry's own address, and its attachments as `URL (type, size)`."""
    own, attachments = "", []
    for element in elements:
        target = _address(base_url, element.get("href") or element.get("url") or _words(element))
        relation = element.get("rel") or "alternate"
        if not target:
            continue
        if local_name(element) == "enclosure" or relation == "enclosure":
            size = element.get("length") or ""
            known = (element.get("type"), f"{int(size):,} bytes" if re.fullmatch(r"[1-9][0-9]{0,14}", size) else "")
            said = ", ".join(one_line(part, 80) for part in known if part)
            attachments.append(f"<{target}> ({said})" if said else f"<{target}>")
        elif relation == "alternate" and not own:
            own = target
    return own, attachments


def _json_entry(item: dict[str, Any], base_url: str) -> Entry:
    authors = item.get("authors") if isinstance(item.get("authors"), list) else [item.get("author")]
    files = item.get("attachments") if isinstance(item.get("attachments"), list) else []
    markup = _text(item, "content_html")
    return Entry(
        title=_text(item, "title"),
        link=_address(base_url, _text(item, "url") or _text(item, "external_url")),
        published=_text(item, "date_published")[:40],
        modified=_text(item, "date_modified")[:40],
        author=", ".join(_text(author, "name") for author in authors or [] if isinstance(author, dict)),
        content=markup or _text(item, "content_text") or _text(item, "summary"),
        plain=not markup,
        language=_text(item, "language")[:20],
        attachments=[
            f"<{_address(base_url, _text(file, 'url'))}> ({one_line(_text(file, 'mime_type'), 80)})"
            for file in files or []
            if isinstance(file, dict) and _address(base_url, _text(file, "url"))
        ],
    )


def _text(item: dict[str, Any], key: str) -> str:
    value = item.get(key)
    return tidy(value) if isinstance(value, str) else ""


def _first(children: dict[str, Any], *names: str) -> str:
    return next((words for name in names if (words := _words(children.get(name)))), "")


def _plain_title(element: Any) -> str:
    """A title without its markup, which both formats allow and none marks reliably."""
    words = _words(element)
    return " ".join(_INLINE_TAG.sub("", unescape(words) if "&" in words else words).split())


def _date(stated: str) -> str:
    """ISO 8601; what cannot be read as a date stays as it was said."""
    if not stated or stated[:4].isdigit():
        return one_line(stated, 40)
    try:
        moment = parsedate_to_datetime(stated)
    except (ValueError, TypeError, IndexError, OverflowError):
        return one_line(stated, 40)
    return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).isoformat()


def _address(base_url: str, reference: str) -> str:
    try:
        joined = urljoin(base_url, reference.strip())
    except ValueError:
        return ""
    usable = reference.strip() and joined.lower().startswith(("http://", "https://"))
    return re.sub(r"[\s<>]", "", joined)[:2_000] if usable else ""


def _character(entity: re.Match[str]) -> str:
    """HTML's named characters, which XML does not know: feeds use them undeclared."""
    if entity[1] in _XML_ENTITIES:
        return entity[0]
    return html5.get(f"{entity[1]};", entity[0])


def _parent_name(element: Any) -> str:
    parent = element.getparent()
    return "" if parent is None else local_name(parent)


def _is_foreign(element: Any) -> bool:
    return namespace(element) in _FOREIGN


def _inside(element: Any) -> str | None:
    return None if element is None else "".join(element.itertext())


def _words(element: Any) -> str:
    return " ".join((_inside(element) or "").split())
