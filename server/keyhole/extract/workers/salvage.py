"""Salvage the text of a page that a worker did not finish, without tags, scripts and hidden text.

This code runs in another worker, on bytes that may have crashed the first. Every step takes linear time on a bounded
input. No parser of documents is used, except for the first pages of a PDF file.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Final

from keyhole.errors import Code, KeyholeError
from keyhole.extract.body import Body, Reader, decode, looks_binary, match_signature, open_document_formats
from keyhole.extract.extraction import clean_document
from keyhole.extract.formats.plain_text import clean_plain_text
from keyhole.extract.html.visibility.computed_style import hides_by_attributes
from keyhole.extract.media_type import sniff
from keyhole.passages.words import WORD, fold_word
from keyhole.records import UNDIGESTED, Document
from keyhole.text.invalid_characters import unescape
from keyhole.text.letters import lower

# Simple selectors that the style sheets of the page hide, found without a tree. Only rules that always apply are read,
# and only selectors of one name, class or id, or of a name with a class. Other selectors need a tree.

MAX_SHEETS: Final = 400_000
"""Largest length of style sheets read per page, in characters. Pages have about 50,000."""
MAX_BLOCKS: Final = 2_000
"""Largest number of blocks of declarations that are parsed, each in some 0.1 ms."""

_COMMENT = re.compile(r"/\*.*?(?:\*/|\Z)", re.DOTALL)
_BRACE = re.compile(r"[{}]")
_TRANSPARENT = re.compile(r"@layer\b|@media\s*(?:only\s+)?(?:all|screen)\s*\Z", re.IGNORECASE)
"""Rules whose inner rules apply to every screen."""
_SIMPLE = re.compile(r"[a-z][\w-]*(?:\.[\w-]+)?|[.#][\w-]+", re.IGNORECASE)
_HIDING_WORDS = re.compile(
    r"display|visib|opacity|size|clip|colou?r|indent|position|transform|scale|filter|overflow|\\"
)
"""Words without which a block does not hide anything."""

Selectors = frozenset[str]
"""Selectors such as `nav`, `.note`, `#menu` and `p.note`."""


def find_hidden_selectors(css: str) -> Selectors:
    """Return the simple selectors of the rules that hide. A later rule with the same selector may show it again."""
    hidden: set[str] = set()
    css = _COMMENT.sub(" ", css[:MAX_SHEETS])
    start = depth = blocks = 0
    prelude = ""
    for brace in _BRACE.finditer(css):
        text, start = css[start : brace.start()], brace.end()
        if depth == 1 and prelude and _HIDING_WORDS.search(text) and blocks < MAX_BLOCKS:
            blocks += 1
            selectors = {name.strip() for name in prelude.split(",")}
            change = hidden.update if hides_by_attributes("span", {"style": text}) else hidden.difference_update
            change(name for name in selectors if _SIMPLE.fullmatch(name))
        prelude = text.rpartition(";")[2].strip() if brace[0] == "{" and depth == 0 else ""
        if _TRANSPARENT.match(prelude):
            prelude = ""
        elif brace[0] == "{":
            depth += 1
        else:
            depth = max(0, depth - 1)
    return frozenset(hidden)


def matches(selectors: Selectors, tag: str, attributes: Mapping[str, str]) -> bool:
    """Return whether any of the selectors matches an element."""
    if not selectors:
        return False
    classes = attributes.get("class", "").split()
    keys = (
        tag,
        f"#{attributes.get('id', '')}",
        *(f".{each}" for each in classes),
        *(f"{tag}.{each}" for each in classes),
    )
    return not selectors.isdisjoint(keys)


# Strip the tags of a page, together with the text that a reader cannot see, in linear time and without a parser.

_TAG = re.compile(
    r"<(/?)([a-z][^\s/>]*+)((?:[^>=]++|=\s*+(?:\"[^\"]*+(?:\"|\Z)|'[^']*+(?:'|\Z))?+)*+)(?:>|\Z)", re.IGNORECASE
)
"""A tag with its slash, name and attributes. An unclosed tag extends to the end of the text, as in a browser."""
_ATTRIBUTE = re.compile(r"([^\s=/>][^\s=/>]*+)(?:\s*+=\s*+(?:\"([^\"]*+)\"?|'([^']*+)'?|([^\s>]*+)))?+")
_INLINE_TAGS: Final = frozenset(
    {
        "a", "abbr", "acronym", "b", "bdi", "bdo", "big", "cite", "code", "data", "del", "dfn", "em", "font", "i",
        "ins", "kbd", "label", "mark", "q", "s", "samp", "small", "span", "strike", "strong", "sub", "sup", "time",
        "tt", "u", "var", "wbr",
    }
)  # fmt: skip
"""Elements that do not break a line."""
_RAW_TAGS: Final = ("script", "style", "noscript", "iframe", "textarea", "title", "noembed", "noframes")
"""Elements whose content is no markup and is not shown."""
_XML_RAW_TAGS: Final = ("script", "style")
_UNSEEN_TAGS: Final = frozenset(
    {"template", "svg", "object", "canvas", "audio", "video", "datalist", "annotation", "annotation-xml"}
)
"""Elements whose content is markup that browsers do not show as text of the page."""
_PAGE_TAGS: Final = frozenset({"html", "body"})
"""Elements whose own hiding is ignored: a script shows the page when it has loaded."""
_VOID_TAGS: Final = frozenset(
    {
        "area", "base", "basefont", "bgsound", "br", "col", "embed", "frame", "hr", "img", "input", "keygen", "link",
        "meta", "param", "source", "track", "wbr",
    }
)  # fmt: skip
_HIDING: Final = frozenset({"hidden", "popover", "style"})
"""Attributes that can hide an element. Other elements are not examined, which would take some time each."""
_SIBLING_TAGS: Final = frozenset({"li", "dt", "dd", "option", "tr", "td", "th", "tbody", "rt", "rp"})
"""Elements that end where the next element of their name begins."""
_PARAGRAPH_ENDS: Final = frozenset(
    {
        "address", "article", "aside", "blockquote", "center", "dd", "details", "dialog", "dir", "div", "dl", "dt",
        "fieldset", "figcaption", "figure", "footer", "form", "h1", "h2", "h3", "h4", "h5", "h6", "header", "hgroup",
        "li", "listing", "main", "menu", "nav", "ol", "p", "pre", "search", "section", "summary", "table", "ul",
    }
)  # fmt: skip
"""Elements that cannot be inside of a paragraph and end it (HTML standard, 13.2.6.4.7)."""
_TABLE_TAGS: Final = frozenset({"caption", "tbody", "td", "tfoot", "th", "thead", "tr"})
_SCOPE_TAGS: Final = (
    "table", "td", "th", "caption", "template", "object", "marquee", "applet", "button", "select", "math",
)  # fmt: skip
"""Elements whose content cannot close an element outside of them (HTML standard, 13.2.4.2)."""
_SPECIAL_TAGS: Final = _PARAGRAPH_ENDS | _TABLE_TAGS | frozenset(_SCOPE_TAGS) - {"math"}
"""Elements that the end tags of other elements, such as `</span>`, do not close."""
_FORMATTING_TAGS: Final = frozenset(
    {"a", "b", "big", "code", "em", "font", "i", "nobr", "s", "small", "strike", "strong", "tt", "u"}
)
"""Elements that browsers open again after the end of their parent (HTML standard, 13.2.4.3)."""
_UNCERTAIN_TAGS: Final = _FORMATTING_TAGS | {"math", "svg"}
"""Elements that may end before a hidden element inside them does, or after their parent does."""
_END_TAGS = {name: re.compile(rf"</{name}(?=[\s/>]|\Z)", re.IGNORECASE) for name in _RAW_TAGS}
_SCRIPT = re.compile("<script", re.IGNORECASE)
_CDATA: Final = "<![CDATA["


def strip_tags(text: str, media_type: str = "text/html") -> str:
    """Return the text that a page shows, without tags and comments. Block elements become line breaks.

    In XML other than XHTML, only scripts and styles are hidden.
    """
    reader = _Reader(media_type)
    _read(text, reader)
    if selectors := find_hidden_selectors("\n".join(reader.sheets)):
        reader = _Reader(media_type, selectors)
        _read(text, reader)
    lines = [" ".join(line.split()) for line in unescape("".join(reader.pieces)).split("\n")]
    return "\n".join(line for line, before in zip(lines, ["", *lines], strict=False) if line or before)


class _Reader:
    """The visible text read so far, and the elements that are open behind it."""

    def __init__(self, media_type: str, selectors: Selectors = frozenset()) -> None:
        self.is_html = "html" in media_type
        self.is_xml = "xml" in media_type
        self.pieces: list[str] = []
        self.sheets: list[str] = []
        self._selectors = selectors
        self._open: list[str] = []
        self._positions: dict[str, list[int]] = {}
        """The positions of the open elements of each name in `_open`."""
        self._specials: list[int] = []
        """The positions of elements of `_SPECIAL_TAGS` in `_open`."""
        self._hidden_at: int | None = None
        """The position of the outermost hidden element in `_open`."""

    def add(self, text: str) -> None:
        """Add a text, unless it is hidden."""
        if self._hidden_at is None:
            self.pieces.append(text)

    def start(self, name: str, attributes: Mapping[str, str], is_empty: bool) -> None:
        """Open an element."""
        self._add_break(name)
        if name in _VOID_TAGS or is_empty or self._is_ignored(name):
            return
        if name in _PARAGRAPH_ENDS:
            self.end("p")
        if name in _SIBLING_TAGS and self._open and self._open[-1] == name:
            self.end(name)
        if self._hidden_at is None and self._is_hidden(name, attributes):
            self._hidden_at = len(self._open)
        self._positions.setdefault(name, []).append(len(self._open))
        if name in _SPECIAL_TAGS:
            self._specials.append(len(self._open))
        self._open.append(name)

    def _is_ignored(self, name: str) -> bool:
        """Return whether browsers ignore a start tag: a form in a form, and parts of a table outside of one."""
        is_open = self._positions.get
        return (
            bool(is_open("form"))
            if name == "form"
            else name in _TABLE_TAGS and not (is_open("table") or is_open("math"))
        )

    def end(self, name: str) -> None:
        """Close the innermost open element of a name, with all elements in it."""
        self._add_break(name)
        positions = self._positions.get(name)
        if not positions or name in _PAGE_TAGS or not self._may_close(name, positions[-1]):
            return
        at = positions[-1]
        if name in _FORMATTING_TAGS:
            positions.pop()
            self._open[at] = ""  # the elements in it stay open
        while len(self._open) > at and name not in _FORMATTING_TAGS:
            self._drop_last()
        if self._hidden_at is not None and at <= self._hidden_at:
            self._hidden_at = None

    def _drop_last(self) -> None:
        if name := self._open.pop():
            self._positions[name].pop()
        while self._specials and self._specials[-1] >= len(self._open):
            self._specials.pop()

    def _may_close(self, name: str, position: int) -> bool:
        """Return whether an end tag closes the element at a position of `_open`, as far as the standard is certain."""
        is_around = self._hidden_at is not None and position < self._hidden_at
        if is_around and not _UNCERTAIN_TAGS.isdisjoint({name, self._open[self._hidden_at or 0]}):
            return False
        if name == "form" and position < len(self._open) - 1:
            return False  # the elements in between stay in the form
        if name not in _SPECIAL_TAGS and name not in _FORMATTING_TAGS:
            return not self._specials or self._specials[-1] <= position
        barriers: tuple[str, ...] = _SCOPE_TAGS
        if name == "table" or name in _TABLE_TAGS:
            barriers = ("template",) if name == "table" else ("template", "table")
        elif name == "li":
            barriers = (*_SCOPE_TAGS, "ol", "ul")
        return all(each[-1] <= position for tag in barriers if (each := self._positions.get(tag)))

    def _add_break(self, name: str) -> None:
        self.add("" if name in _INLINE_TAGS else "\n\n")

    def _is_hidden(self, name: str, attributes: Mapping[str, str]) -> bool:
        if not self.is_html or name in _PAGE_TAGS:
            return False
        return (
            name in _UNSEEN_TAGS
            or ((name == "dialog" or not _HIDING.isdisjoint(attributes)) and hides_by_attributes(name, attributes))
            or matches(self._selectors, name, attributes)
        )


def _read(text: str, reader: _Reader) -> None:
    at = 0
    while (start := text.find("<", at)) >= 0:
        reader.add(text[at:start])
        at = _read_markup(text, start, reader)
    reader.add(text[at:])


def _read_markup(text: str, start: int, reader: _Reader) -> int:
    """Read the markup that begins at `start`, and return its end. Nothing is searched twice."""
    if text.startswith("<!--", start):
        return _find_end(text, "-->", start + 2)
    if reader.is_xml and text.startswith(_CDATA, start):
        end = _find_end(text, "]]>", start)
        reader.add(text[start + len(_CDATA) : end].removesuffix("]]>"))
        return end
    tag = _TAG.match(text, start)
    if tag is None:
        if text[start + 1 : start + 2] in {"!", "?", "/"}:
            return _find_end(text, ">", start + 1)
        reader.add("<")
        return start + 1
    name = tag[2].lower()
    if tag[1]:
        reader.end(name)
        return tag.end()
    attributes, is_empty = _read_attributes(tag[3]), reader.is_xml and tag[3].endswith("/")
    if name not in (_RAW_TAGS if reader.is_html else _XML_RAW_TAGS) or is_empty:
        reader.start(name, attributes, is_empty)
        return tag.end()
    end = _find_raw_end(text, name, tag.end())
    if name == "style" and "print" not in attributes.get("media", ""):
        reader.sheets.append(text[tag.end() : end])
    reader.add("\n\n")
    return _find_end(text, ">", end)


def _find_raw_end(text: str, name: str, start: int) -> int:
    """Return the start of the end tag of an element without markup.

    A comment in a script may contain another script with its end tag (HTML standard, 13.2.5.27).
    """
    close = _END_TAGS[name].search(text, start)
    if close and name == "script":
        comment = text.find("<!--", max(start, text.rfind("-->", start, close.start())), close.start())
        if comment >= 0 and _SCRIPT.search(text, comment, close.start()):
            close = _END_TAGS[name].search(text, _find_end(text, "-->", close.end()))
    return close.start() if close else len(text)


def _read_attributes(source: str) -> dict[str, str]:
    """Return the attributes of a tag. Of several with one name, the first counts."""
    attributes: dict[str, str] = {}
    for name, *values in _ATTRIBUTE.findall(source):
        value = "".join(values)
        attributes.setdefault(name.lower(), unescape(value))
    return attributes


def _find_end(text: str, mark: str, start: int) -> int:
    position = text.find(mark, start)
    return len(text) if position < 0 else position + len(mark)


MAX_BYTES: Final = 1_000_000
"""Bytes of a body that are read. The text is usually at least a fifth of a page."""
# Salvage the text of a page that a worker did not finish, without tags, scripts and hidden text.

MAX_TEXT: Final = 200_000
"""Largest length of the salvaged text, in characters: that of the largest result."""

_PDF: Final = "application/pdf"
_FEED_TYPES: Final = frozenset(
    {"application/feed+xml", "application/rss+xml", "application/atom+xml", "application/rdf+xml"}
)
_TITLE = re.compile(r"<title[^<>]{0,200}>([^<]{0,1000})", re.IGNORECASE)


def salvage(body: bytes, url: str, content_type: str, reason: str) -> tuple[Document, str]:
    """Return a document with the bare text of a page and the notice UNDIGESTED, and its words.

    Of a PDF file, return the first pages. Raises KeyholeError (extraction_failed) with the reason for other binary
    formats and for pages without text.
    """
    signature = match_signature(body)
    if signature and signature[0] == _PDF and (reader := open_document_formats().find_reader(_PDF)):
        return _read_first_pages(reader, Body(body, content_type, url, is_hurried=True), reason)
    body = body[:MAX_BYTES]
    failure = KeyholeError(Code.EXTRACTION_FAILED, reason)
    if signature is not None or looks_binary(body, content_type):
        raise failure
    media_type = sniff(body, content_type, url)
    title, text = "", decode(body, content_type)
    if "html" in media_type or "xml" in media_type:
        title, text = _find_title(text), strip_tags(text, media_type)
    if media_type in _FEED_TYPES:  # the entries contain HTML as text
        text = strip_tags(text)
    heading, text = clean_plain_text(text[:MAX_TEXT])
    if not text.strip():
        raise failure
    return Document(title or heading, text, media_type, notice=UNDIGESTED, cut=True), _list_words(text)


def _read_first_pages(reader: Reader, body: Body, reason: str) -> tuple[Document, str]:
    try:
        document = clean_document(reader(body))
    except KeyholeError as error:
        raise KeyholeError(Code.EXTRACTION_FAILED, reason) from error
    return replace(document, media_type=_PDF, cut=True), _list_words(document.main)


def _list_words(text: str) -> str:
    return " ".join(dict.fromkeys(fold_word(word) for word in WORD.findall(lower(text))))


def _find_title(text: str) -> str:
    match = _TITLE.search(text[:100_000])
    return " ".join(unescape(match[1]).split()) if match else ""
