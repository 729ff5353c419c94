"""Markdown as its author wrote it: kept as it is, but relative links are made absolute, so that they can be fetched.

Code keeps its characters. A link whose target cannot be made absolute stays as it was.
"""

from __future__ import annotations

import re
from typing import Final

from keyhole.extract.body import Body
from keyhole.extract.formats.plain import plain_to_text
from keyhole.extract.html.links import absolute
from keyhole.records import Document
from keyhole.text.markdown import blocks

# What begins with a scheme or names a place in the text is no relative address.
_TARGET: Final = r"(?P<target>(?!#|[A-Za-z][A-Za-z0-9+.-]{0,30}:)[^\s()<>]{1,2000}+)"
# A code span is matched first, so that nothing inside one is taken for a link; each alternative ends where the next
# one of its kind could begin, which keeps the scan linear.
_LINK: Final = re.compile(
    rf"`{{1,3}}[^`\n]{{1,1000}}`{{1,3}}|(?P<before>\]\(<?){_TARGET}(?=[()>]|[ \t\n]{{1,9}}[\"'()])"
)
_DEFINITION: Final = re.compile(rf"^(?P<before> {{0,3}}\[[^\]\[\n]{{1,300}}\]:[ \t]{{1,9}}<?){_TARGET}", re.MULTILINE)
_FRONT_MATTER: Final = re.compile(r"---\n(.{0,5000}?)\n---(?:\n|$)", re.DOTALL)
_TITLE: Final = re.compile(r"^title:[ \t]{0,9}(['\"]?)(\S[^\n]{0,300})\1[ \t]{0,9}$", re.MULTILINE)


def read_markdown(body: Body) -> Document:
    """Markdown with the title of its front matter, else of its first heading."""
    title, text = plain_to_text(body.text())
    front = _FRONT_MATTER.match(text)
    named = _TITLE.search(front[1]) if front else None
    if named:
        title = named[2].removesuffix(named[1]).rstrip()
    return Document(title=title, text=absolute_links(text, body.url), media_type="")


def absolute_links(text: str, base: str) -> str:
    """The same Markdown with the targets of its links and images absolute, outside code."""
    if not base or ("](" not in text and "]:" not in text):
        return text

    def link(match: re.Match[str]) -> str:
        target = match["target"]
        return match[0] if target is None else match["before"] + (absolute(base, target) or target)

    def linked(piece: str) -> str:
        return _DEFINITION.sub(link, _LINK.sub(link, piece))

    pieces, position = [], 0
    for block in blocks(text):
        if block.kind == "code":
            pieces += [linked(text[position : block.start]), text[block.start : block.end]]
            position = block.end
    return "".join([*pieces, linked(text[position:])])
