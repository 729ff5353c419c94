"""Write what elements without text say: embedded files, icons, protected addresses, and exact values in attributes.
Count what stays without text.

Embedded files and drawings are marked while a page is pruned, and get their words after its blocks were judged, so that
these words do not change the judgement.
"""

from __future__ import annotations

import re
from collections import Counter
from itertools import islice
from typing import Final
from urllib.parse import unquote

from lxml import etree
from lxml.html import HtmlElement

from keyhole.text.invalid_characters import replace_invalid
from keyhole.text.page_structure import WordlessKind

# Mark the files and pages that a page embeds, which have no text: a link leads to each.

EMBEDDED: Final = "keyhole-embedded"
"""The element in the place of an embedded file or page, with its address (`href`), its name (`title`) and the
element that embeds it (`type`)."""
_ADDRESSES: Final = {
    "iframe": ("src", "data-src", "data-lazy-src"), "frame": ("src",), "embed": ("src",), "object": ("data",),
    "video": ("src", "data-src"), "audio": ("src", "data-src"),
}  # fmt: skip
"""The attributes with the address of each element that embeds a file. Scripts load the address in a `data-src`."""
_NO_FILE: Final = re.compile(r"(?i)\s*(?:about|javascript|data|blob):|\s*$")
_UNSEEN_FRAME: Final = re.compile(
    r"(?i)googletagmanager|doubleclick|googlesyndication|adsystem|adservice|recaptcha|hcaptcha|privacy-mgmt|consent|/plugins/(?:like|follow|share)|[?&]background=1\b"
    r"|platform\.twitter\.com/widgets|/pixel\b|/sync\b"
)
"""Addresses of frames for advertisements, tracking and buttons of other sites."""
_ICON_FILE: Final = re.compile(r"(?i)icon|logo|sprite|cta-")
_UNSEEN_SIZES: Final = frozenset({"0", "1", "0px", "1px"})
_SUFFIX: Final = re.compile(r"\w{1,5}")
MAX_NAME: Final = 120
"""Largest length of the name of an icon or of an embedded file, in characters. A longer one is no name."""


def mark_embedded(root: HtmlElement) -> int:
    """Replace embedded files and pages by `EMBEDDED` elements, in place. Returns the number of those dropped.

    What stands inside is for browsers that cannot show them, and is dropped with them.
    """
    dropped = 0
    for element in list(root.iter(*_ADDRESSES)):
        if element.tag == "embed":
            _move_out(element)
        elif element.tag == "object" and not element.get("data"):
            if next(element.iterdescendants(*_ADDRESSES), None) is not None:
                element.drop_tag()
            continue
        if element.getparent() is None:  # removed with an object around it
            continue
        address = _find_address(element)
        if not address or _is_unseen(element, address):
            dropped += 1
            element.drop_tree()
            continue
        tag, name, tail = element.tag, read_label(element) or _name_file(address), element.tail
        element.clear()
        element.tag, element.tail = EMBEDDED, tail
        element.set("href", address)
        element.set("title", name)
        element.set("type", tag)
    return dropped


def _move_out(embed: HtmlElement) -> None:
    """Move what the parser put into an `<embed>`, which has no end tag, behind it."""
    for child in reversed(embed):
        embed.addnext(child)
    embed.tail, embed.text = f"{embed.text or ''}{embed.tail or ''}", None


def _find_address(element: HtmlElement) -> str:
    """Return the address of an embedded file, "" if there is none that can be fetched."""
    holders = [element, *islice(element.iter("source"), 1)] if element.tag in {"video", "audio"} else [element]
    values = [holder.get(name) or "" for holder in holders for name in _ADDRESSES[element.tag]]
    return next((value for value in values if not _NO_FILE.match(value)), "")


def _is_unseen(element: HtmlElement, address: str) -> bool:
    """Return whether an embedded file says nothing to a reader: an advertisement, a pixel or a moving background."""
    is_silent = any(element.get(name) is not None for name in ("autoplay", "muted", "loop"))
    is_silent = is_silent or "background" in f"{element.get('class')} {element.get('id')}"
    is_background = element.tag == "video" and is_silent and element.get("controls") is None
    is_icon = element.tag == "object" and not read_label(element) and _ICON_FILE.search(address) is not None
    is_small = not _UNSEEN_SIZES.isdisjoint({element.get("width"), element.get("height")})
    return is_background or is_icon or is_small or is_unspoken(element) or _UNSEEN_FRAME.search(address) is not None


def is_unspoken(element: HtmlElement) -> bool:
    """Return whether screen readers skip an element, or the element around it."""
    return any(each.get("aria-hidden") == "true" for each in (element, *element.iterancestors()))


def read_label(element: HtmlElement) -> str:
    """Return the name that an element has for screen readers and tooltips, "" for none."""
    name = " ".join((element.get("aria-label") or element.get("title") or "").split())
    return name if len(name) <= MAX_NAME else ""


def _name_file(address: str) -> str:
    """Return the name of the file at an address, else its host or path."""
    path = re.split("[?#]", address.strip())[0]
    host, _, below = path.partition("//")[2].partition("/")
    file = (below if host else path).rpartition("/")[2]
    is_file = "." in file and _SUFFIX.fullmatch(file.rpartition(".")[2]) is not None
    return unquote(file if is_file else host or path.strip("/"))[:MAX_NAME]


# Count the elements that no text stands for.

_KINDS: Final[dict[str, WordlessKind]] = {
    "iframe": "frame", "frame": "frame", "video": "video", "audio": "audio file", "object": "file", "embed": "file",
}  # fmt: skip
"""The name of the content of each element."""


def count_wordless(root: HtmlElement) -> tuple[tuple[str, int], ...]:
    """Return how many elements of each kind have no text.

    Icons count in the cells of tables with a header, where one without a name leaves the cell blank.
    """
    counts: Counter[WordlessKind] = Counter(_KINDS[element.get("type") or "iframe"] for element in root.iter(EMBEDDED))
    icons = islice((icon for icon in root.iter(ICON, "i", "span") if _is_nameless(icon)), MAX_ICONS)
    cells = {cell for icon in icons for cell in islice(icon.iterancestors(*_CELL_TAGS), 1)}
    blank = [cell for cell in cells if not "".join(_list_texts(cell)).strip()]
    tables = [table for cell in blank for table in islice(cell.iterancestors("table"), 1)]
    has_header = {table: next(table.iter("th"), None) is not None for table in set(tables)}
    if nameless := sum(has_header[table] for table in tables):
        counts["icon without a name"] = nameless
    return tuple(counts.items())


def _is_nameless(element: HtmlElement) -> bool:
    """Return whether an element may be an icon that only a drawing or a style sheet shows."""
    is_drawn = element.tag == ICON or bool(element.get("class"))
    return is_drawn and not len(element) and not element.text and not read_label(element)


# Decode the mail addresses that Cloudflare hides from robots, as its script does.

_PROTECTED: Final = re.compile(r"/cdn-cgi/l/email-protection#([0-9a-fA-F]{4,2000})$")
_CODES: Final = etree.XPath("descendant::*/@data-cfemail")
_PROTECTED_LINKS: Final = etree.XPath("descendant::*/@href[contains(., '/cdn-cgi/l/email-protection')]")


def decode_addresses(root: HtmlElement) -> None:
    """Write the protected mail addresses of a tree as their text and as links, in place."""
    for element in [value.getparent() for value in (*_CODES(root), *_PROTECTED_LINKS(root))]:
        if address := _decode(element.get("data-cfemail") or ""):
            for child in list(element):
                element.remove(child)
            element.text = address
            element.attrib.pop("href", None)
        elif (match := _PROTECTED.search(element.get("href") or "")) and (address := _decode(match[1])):
            element.set("href", f"mailto:{address}")


def _decode(code: str) -> str:
    """Return the text of a code whose first byte is the key of the others, "" if it is none."""
    try:
        key, *others = bytes.fromhex(code)
        return replace_invalid(bytes(byte ^ key for byte in others).decode())
    except ValueError:
        return ""


# Write the names of icons, which have no text, and the exact values that attributes hold.

MAX_ICONS: Final = 500
"""Icons of a page that are named. The words around each are compared with its name, which takes as long as they are."""
ICON: Final = "keyhole-icon"
"""The element in the place of a drawing with a name (`title`)."""
_ICONS: Final = etree.XPath("descendant::*[@aria-label or @title]")
_TICKS: Final = etree.XPath("descendant::*/@aria-checked")
_ICON_TAGS: Final = frozenset({
    "svg", ICON, "i", "span", "em", "b", "strong", "a", "small", "sup", "font", "ins", "td", "th", "button",
})  # fmt: skip
"""Elements whose name is written if they have no text. Others are named only if their role is that of an image."""
_DRAWN: Final = re.compile(r"(?i)icon|star|rating|score|badge|status|check|mark")
"""Words in the class of a box that a style sheet draws, such as stars."""
_UNNAMED_ROLES: Final = frozenset({"presentation", "none", "button", "progressbar", "status", "tooltip", "separator"})
_MACHINE_NAME: Final = re.compile(
    r"(?i)(?:icon|svg|logo|arrow|chevron|caret|image|asset|group|layer|path|artboard|shape|page|tooltip|untitled|vector|fill)"
    r"s?[ _-]*(?:\d[\d ]*|right|left|up|down|copy)?|.*\blogo|(?:/|https?:).*|[a-z\d]+(?:[-_][a-z\d]+)+"
)
"""The names that drawing programs give, which say nothing."""
_SHARES: Final = re.compile(
    r"(?i)\b(?:social|share|sharing|addtoany|addthis|follow-us)|sharer|/share\b|/intent/|shareArticle|^mailto:\?"
)
_SHARE_REACH: Final = 5
"""Number of elements around an icon whose class may say that they share the page."""
_HEADINGS: Final = frozenset({"h1", "h2", "h3", "h4", "h5", "h6"})
_WORDED: Final = _HEADINGS | {"a", "button", "label", "summary"}
"""Elements whose words say what an icon in them shows."""
_CODE: Final = ("pre", "code", "samp", "kbd", "textarea", "option", "math", "script", "style")
_STARS: Final = re.compile(r"(?i)\d.{0,20}\bstars?\b|\brat(?:ed|ing)\b.{0,20}\d")
_BLOCKS: Final = (
    "p", "td", "th", "li", "dd", "dt", "div", "section", "article", "main", "header", "footer", "nav", "figure",
    "figcaption", "blockquote", "body",
)  # fmt: skip
_SENTENCE_REACH: Final = 20
"""Number of signs before and after a button among which a word shows that it stands in a sentence."""
_CELL_TAGS: Final = frozenset({"td", "th"})
_CARD_REACH: Final = 3
"""Number of elements around the block of an icon that are searched for a word."""
_SHORT_BLOCKS: Final = frozenset({"td", "th", "dd", "dt", "p"})
_CELLS: Final = frozenset({"td", "th", "li", "p"})
_MAX_TEXTS: Final = 40
"""Number of text nodes that are searched for a word."""


def name_icons(root: HtmlElement) -> None:
    """Write the names of icons for readers who see the text only, in place."""
    found = ((element, name) for element in _ICONS(root) if (name := _read_icon(element)))
    icons = [(element, name) for element, name in islice(found, MAX_ICONS) if _is_named(element, name)]
    for element, name in icons:
        if element.getparent() is not None:  # not in an icon that is written already
            _write_name(element, name)


def mark_icon(svg: HtmlElement) -> bool:
    """Replace a drawing with a name, or in a cell, by an `ICON`, in place. Returns whether it did."""
    name, tail = _read_icon(svg), svg.tail
    is_kept = bool(name) or next(svg.iterancestors(*_CELL_TAGS), None) is not None
    if is_kept:
        svg.clear()
        svg.tag, svg.tail = ICON, tail
    if name:
        svg.set("title", name)
    return is_kept


def mark_boxes(root: HtmlElement) -> None:
    """Turn the boxes that a page draws and ticks into checkboxes, in place."""
    for box in [value.getparent() for value in _TICKS(root)]:
        if box.get("role") == "checkbox" and not box.text_content().strip(" \t\r\n"):
            box.tag = "input"
            box.set("type", "checkbox")
            if box.get("aria-checked") == "true":
                box.set("checked", "")


def _read_icon(element: HtmlElement) -> str:
    """Return the name of an icon, "" if the element is none or screen readers skip it."""
    tag = element.tag
    if tag == "svg" and is_unspoken(element):
        return ""
    is_drawn = element.get("role") == "img" or _DRAWN.search((element.get("class") or "")[:200]) is not None
    if tag not in _ICON_TAGS and (not is_drawn or tag not in {"div", "p"}):
        return ""
    if element.get("role") in _UNNAMED_ROLES or (tag == "svg" and next(element.iter("text"), None) is not None):
        return ""
    title = next(element.iterchildren("title"), None) if tag == "svg" else None
    name = element.get("aria-label") or (title is not None and title.text) or element.get("title") or ""
    name = " ".join(name.split())
    return "" if len(name) > MAX_NAME or _MACHINE_NAME.fullmatch(name) else name


def _is_named(element: HtmlElement, name: str) -> bool:
    """Return whether the name of an icon is to be written: no words in it or near it say the same."""
    if (
        element.getparent() is None
        or next(element.iterdescendants("img", "input", "select", EMBEDDED), None) is not None
    ):
        return False
    if element.get("onclick") is not None or _has_word(element) or is_unspoken(element):
        return False
    above = list(element.iterancestors())
    if any(each.tag in _CODE for each in above):
        return False
    holder = next((each for each in (element, *above) if each.tag in _WORDED), None)
    if any(each.tag in _HEADINGS and _has_word(each) for each in above):
        return False
    if holder is not None and (_has_word(holder) or not _is_worth_a_link(holder)):
        return False
    scope = above[0]
    if element.tag == "a" and scope.tag not in _CELLS and len(above) > 1:
        scope = above[1]  # a link over a card, whose heading says the same
    block = next(element.iterancestors(*_BLOCKS), scope)
    is_bare = block.tag not in _CELL_TAGS and not "".join(_list_texts(element)).strip()
    if is_bare and not any(map(_has_word, [block, *islice(block.iterancestors(), _CARD_REACH)])):
        return False  # what is left of a card that was taken out as a part of the rest
    is_picture = element.get("role") == "img" and element.tag == "div"
    is_told = is_picture or block.tag in _SHORT_BLOCKS or _STARS.search(name) is not None
    if not is_told and not any(map(str.isalnum, _join_line(block))):
        return False  # a bar of icons, which acts on the page or leads to other sites
    if f" {_join_words(name)} " in f" {_join_words(' '.join(_list_texts(scope)))} ":
        return False
    names = [f"{each.get('class') or ''} {each.get('id') or ''}"[:200] for each in (element, *above[:_SHARE_REACH])]
    return not any(map(_SHARES.search, names))


def _is_worth_a_link(holder: HtmlElement) -> bool:
    """Return whether a link without words leads elsewhere. A button acts on the page, except in cells and sentences."""
    if holder.tag == "a":
        href = holder.get("href") or ""
        return "#" not in href and not _SHARES.search(href)
    is_in_cell = next(holder.iterancestors("td", "th"), None) is not None
    return holder.tag != "button" or is_in_cell or _is_in_sentence(holder)


def _is_in_sentence(element: HtmlElement) -> bool:
    """Return whether words stand right before and after an element."""
    sides = _read_before(element)[-_SENTENCE_REACH:], (element.tail or "")[:_SENTENCE_REACH]
    return all(any(map(str.isalnum, side)) for side in sides)


def _read_before(element: HtmlElement) -> str:
    """Return the text right before an element, up to the element before it."""
    parent, before = element.getparent(), element.getprevious()
    return (before.tail if before is not None else parent.text if parent is not None else "") or ""


def _list_texts(element: HtmlElement) -> list[str]:
    return list(islice(element.itertext(), _MAX_TEXTS))


def _has_word(element: HtmlElement) -> bool:
    return any(char.isalnum() for text in _list_texts(element) for char in text)


def _join_line(block: HtmlElement) -> str:
    """Return the text of a block outside the blocks and the code in it."""
    inline = ["".join(_list_texts(child)) for child in block if child.tag not in _BLOCKS and child.tag != "pre"]
    return "".join([block.text or "", *inline, *(child.tail or "" for child in block)])


def _join_words(text: str) -> str:
    return " ".join(re.findall(r"\w+", text.casefold()))


def _write_name(element: HtmlElement, name: str) -> None:
    """Write the name of an icon: in brackets beside the words of a sentence, and after signs such as stars."""
    signs = " ".join("".join(_list_texts(element)).split())
    signs = "".join(sign for sign in signs if not "\ue000" <= sign <= "\uf8ff")  # of an icon font
    parent, ahead, after = element.getparent(), _read_before(element), element.tail or ""
    beside = "".join([parent.text or "", *(each.tail or "" for each in parent)])
    if signs and element.tag == "a":
        return
    words = f"{signs} ({name})" if signs else name
    if element.tag not in {"a", "td", "th", "div", "p"} and (element.tag != "button" or _is_in_sentence(element)):
        is_in_sentence = not signs and any(map(str.isalnum, beside))
        if is_in_sentence:
            words = f"[{name}]"
        before_words, after_words = ahead[-1:].isalnum(), after[:1].isalnum()
        words = f"{' ' * before_words}{words}{' ' * after_words}" if is_in_sentence or signs else f" {words} "
        element.attrib.clear()
        element.tag = "span"
    for child in list(element):
        element.remove(child)
    element.text = words


_VALUED: Final = etree.XPath("descendant::*[@datetime or @title]")
_DAY: Final = re.compile(r"\s*(\d{4}-\d\d-\d\d)(?:[T ](\d\d:\d\d))?")
_CLOCK: Final = re.compile(r"(?i)\b(?:\d+ ?[hms]|an hour|hours?|hrs?|minutes?|mins?|seconds?|secs?|now)\b")
_YEAR: Final = re.compile(r"\b(?:19|20)\d\d\b")
_SHORTENED: Final = re.compile(
    r"(?i)[^\w\s]?\d[\d.,]*\s?(?:k|m|b|t|bn|mn|mio\.?|mrd\.?|tsd\.?|million|billion|thousand)\+?"
)
_FULL_NUMBER: Final = re.compile(r"\D{0,3}(\d{1,3}(?:[.,' \u00a0\u202f]\d{3})+|\d{4,})\b")
_MAX_VALUED: Final = 60
"""Largest length of a text that stands for an exact value, in characters, and of a date in a title."""
_DATED: Final = frozenset(
    {"time", "span", "small", "abbr", "div", "td", "dd", "em", "strong", "b", "i", "p", "bdi", "li", "a"}
)


def add_values(root: HtmlElement) -> None:
    """Add the exact dates and numbers, and the long forms of abbreviations, that attributes hold in brackets."""
    explained: set[str] = set()
    written: list[tuple[HtmlElement, str]] = []
    for element in _VALUED(root):
        if element.tag == "abbr" and (title := _read_long_form(element)) and title not in explained:
            explained.add(title)
            written.append((element, title))
        elif value := _read_value(element):
            written.append((element, value))
    done: set[HtmlElement] = set()
    for element, value in reversed(written):  # the inner ones first, which are closer to their text
        if element not in done and not any(each.tag in _CODE for each in element.iterancestors()):
            done.update(element.iterancestors())
            _append(element, value)


def _read_long_form(element: HtmlElement) -> str:
    """Return the title of an abbreviation, "" if it is a value or stands beside it anyway."""
    title = " ".join((element.get("title") or "").split())
    parent = element.getparent()
    if not title or len(title) > MAX_NAME or parent is None or not _has_word(element) or _read_value(element):
        return ""
    near = " ".join("".join(islice(parent.itertext(), _MAX_TEXTS)).split()).casefold()
    return "" if title.casefold() in near or (not _has_word(element) and not near) else title


def _read_value(element: HtmlElement) -> str:
    """Return the exact date or number of an element whose text shows less, "" for none."""
    text = " ".join("".join(islice(element.itertext(), _MAX_TEXTS)).split())
    if len(text) > _MAX_VALUED or element.tag in {"ins", "del"}:
        return ""
    title = " ".join((element.get("title") or "").split())
    if _SHORTENED.fullmatch(text) and (number := _FULL_NUMBER.match(title)):
        return number[1]
    if _YEAR.search(text) or not (text or "-" in element.tag):  # only scripts fill an element of their own
        return ""
    for source in (element.get("datetime") or "", title):
        if day := _DAY.match(source):
            return f"{day[1]} {day[2]}" if day[2] and _CLOCK.search(text) else day[1]
    return title if element.tag in _DATED and _is_date(title) and text not in title else ""


def _is_date(title: str) -> bool:
    """Return whether a title is a date: a year, a day, and at most a few short words."""
    words = re.findall(r"[^\W\d_]+", title)
    numbers = re.findall(r"\d+", title)
    is_short = len(title) <= _MAX_VALUED and len(words) <= 5 and max(map(len, words), default=0) <= 10
    return is_short and len(numbers) > 1 and _YEAR.search(title) is not None


def _append(element: HtmlElement, value: str) -> None:
    """Write a value in brackets behind the text of an element, or alone if it has none."""
    if not len(element):
        text = (element.text or "").rstrip()
        element.text = f"{text} ({value})" if text else value
    else:
        last = element[-1]
        last.tail = f"{(last.tail or '').rstrip()} ({value})"
