"""Replace the HTML in a Markdown text by Markdown, and drop its comments. Code stays as it is.

Most READMEs begin with a centred heading or logo in HTML, of which a reader needs the words, links and levels.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from keyhole.extract.markup import fragment_to_markdown
from keyhole.text.invalid_characters import unescape
from keyhole.text.markdown import line_ranges, parse_blocks

_BLOCK_NAMES: Final = (
    "address|article|aside|blockquote|body|center|dd|details|dialog|dir|div|dl|dt|fieldset|figcaption|figure|footer|"
    "form|h[1-6]|header|hr|html|legend|li|main|menu|nav|ol|p|picture|pre|script|section|style|summary|table|tbody|td|"
    "tfoot|th|thead|tr|ul"
)
_INLINE_NAMES: Final = (
    "a|abbr|b|big|br|code|del|em|font|i|img|ins|kbd|mark|q|s|samp|small|source|span|strike|strong|sub|sup|tt|u|var"
)
_BLOCK_START: Final = re.compile(
    rf" {{0,3}}<(?P<close>/?)(?P<name>{_BLOCK_NAMES})(?=[\s>/]|$)(?P<attributes>[^<>]{{0,3000}}+)"
)
"""The beginning of a block of HTML (CommonMark 4.6), in lower case: `<Table>` is a component of a program."""
_RAW_NAMES: Final = frozenset({"pre", "script", "style"})
"""Blocks that a blank line does not end."""
_COMMENT_START: Final = re.compile(r" {0,3}<!--")
_INLINE: Final = re.compile(
    r"(?P<code>``[^\n]{1,1000}?``|`[^`\n]{1,1000}`)|(?P<comment><!--)"
    rf"|<(?P<close>/?)(?P<name>{_INLINE_NAMES}|{_BLOCK_NAMES})(?P<attributes>(?:[\s/][^<>]{{0,3000}}+)?+)>"
)
_NAME: Final = re.compile(r"</?[a-z][a-z1-6]{0,12}")
_ATTRIBUTE: Final = re.compile(r"\b(alt|href)\s{0,9}=\s{0,9}(?:\"([^\"]*)\"|'([^']*)'|([^\s\"'>]+))")
_CODE_NAMES: Final = frozenset({"code", "kbd", "samp", "tt"})
_EMPTY_NAMES: Final = frozenset({"br", "hr"})
"""Elements without an end."""
_INDENTS: Final = "    ", "\t"


def replace_html(markdown: str, url: str) -> str:
    """Return a Markdown text with its HTML as Markdown. `url`: the address of the text, which resolves its links."""
    if "<" not in markdown:
        return markdown
    names = frozenset(_NAME.findall(markdown))
    pieces, position = list[str](), 0
    for block in parse_blocks(markdown):
        if block.kind == "code":
            pieces += [*_replace(markdown[position : block.start], url, names), markdown[block.start : block.end]]
            position = block.end
    return "".join([*pieces, *_replace(markdown[position:], url, names)])


def _replace(text: str, url: str, names: frozenset[str]) -> Iterator[str]:
    """Yield the pieces of a text without fenced code."""
    if "<" not in text:
        yield text
        return
    is_dropped = False
    for kind, piece in _divide(text, names):
        if kind == "html":
            converted = fragment_to_markdown(piece, url, url)
            yield f"{converted}\n" if converted else ""
            is_dropped = not converted
        elif kind == "comment":
            is_dropped = True
        elif piece:
            yield piece if kind == "code" else _replace_inline(piece.lstrip("\n") if is_dropped else piece, names)
            is_dropped = False


def _divide(text: str, names: frozenset[str]) -> Iterator[tuple[str, str]]:
    """Yield the kind and text of each piece: "html" for a block, "code" for indented lines, "comment", and "text".

    A block of HTML ends with a blank line, unless it is verbatim.
    """
    kind, begin, last, follows_blank = "text", 0, "", True
    for start, end in line_ranges(text):
        line = text[start:end]
        if not last:
            new, last = _read_kind(line, kind, names, follows_blank=follows_blank)
            follows_blank = not line.strip()
            if new != kind or last:
                yield kind, text[begin:start]
                kind, begin = new, start
        if last and (found := text.find(last, start, end)) >= 0:
            after = found + len(last) if kind == "comment" else end
            after += text[after:end] == "\n"
            yield kind, text[begin:after]
            kind, begin, last = "text", after, ""
    yield kind, text[begin:]


def _read_kind(line: str, kind: str, names: frozenset[str], *, follows_blank: bool) -> tuple[str, str]:
    """Return the kind of a line after one of `kind`, and the sign that ends its block, "" for a blank line."""
    if not line.strip():
        return ("code" if kind == "code" else "text"), ""
    if kind == "html":
        return kind, ""
    if line.startswith(_INDENTS):
        return ("code" if follows_blank else kind), ""
    if _COMMENT_START.match(line):
        return "comment", "-->"
    block = _BLOCK_START.match(line)
    if block is None or not _is_element(block, names):
        return "text", ""
    return "html", f"</{block['name']}>" if block["name"] in _RAW_NAMES and not block["close"] else ""


def _is_element(tag: re.Match[str], names: frozenset[str]) -> bool:
    """Return whether a tag is HTML and no placeholder such as `<source>`: with attributes, or with its other end."""
    if tag["close"]:
        return f"<{tag['name']}" in names
    return tag["name"] in _EMPTY_NAMES or bool(tag["attributes"].strip("/ ")) or f"</{tag['name']}" in names


def _replace_inline(text: str, names: frozenset[str]) -> str:
    """Return paragraphs with links, code and pictures in HTML as Markdown, and without other tags."""
    pieces, position, link = list[str](), 0, (0, "")
    while tag := _INLINE.search(text, position):
        pieces.append(text[position : tag.start()])
        position = tag.end()
        if tag["comment"]:
            end = text.find("-->", position)
            if end < 0:
                pieces.append(text[tag.start() :])
                return "".join(pieces)
            position = end + len("-->")
        elif tag["code"] or not _is_element(tag, names):
            pieces.append(tag[0])
        elif tag["name"] == "a" and not tag["close"]:
            link = len(pieces), _read_attribute(tag, "href")
            pieces.append("")
        elif tag["name"] == "a":
            (place, address), link = link, (0, "")
            if address and "".join(pieces[place:]).strip():
                pieces[place] = "["
                pieces.append(f"](<{address}>)" if set(" ()") & set(address) else f"]({address})")
        else:
            pieces.append(_replace_tag(tag, text))
    return "".join([*pieces, text[position:]])


def _replace_tag(tag: re.Match[str], text: str) -> str:
    name = tag["name"]
    if name == "img":
        description = " ".join(_read_attribute(tag, "alt").replace("[", "(").replace("]", ")").split())
        return f"[Image: {description}]" if description else ""
    if name in _CODE_NAMES:
        return "`"
    if name == "br":
        is_in_row = text.startswith("|", text.rfind("\n", 0, tag.start()) + 1)
        return "<br>" if is_in_row else "" if text.startswith("\n", tag.end()) else "\n"
    return "" if re.fullmatch(_INLINE_NAMES, name) else " "


def _read_attribute(tag: re.Match[str], name: str) -> str:
    found = next((each for each in _ATTRIBUTE.finditer(tag["attributes"]) if each[1] == name), None)
    return unescape(found[2] or found[3] or found[4] or "").strip() if found else ""
