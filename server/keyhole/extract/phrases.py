"""Words within a line as Markdown: links, images, emphasis, code, formulas, notes. Begins no blocks but formulas."""

from __future__ import annotations

from collections.abc import Callable
from itertools import islice
from typing import Final

from lxml.html import HtmlElement

from keyhole.extract import code, footnotes, formulas, inline
from keyhole.extract.links import Links, description, label
from keyhole.extract.writer import Mark, Writer

HEADINGS: Final = frozenset({"h1", "h2", "h3", "h4", "h5", "h6"})
_CODE_BLOCKS = ("pre", "p", "div", "table", "ul", "ol", "dl", "li", "blockquote", *sorted(HEADINGS))
_BUTTON_PARTS: Final = 20
"""Texts of a button that are looked at for a word: with more there is one."""

End = Callable[[], None]


class Phrases:
    """The writer of a page, and what the elements within its lines become.

    Each method begins an element and says whether its content is to be walked, as it was not written here. What an
    element opens waits on a stack for the element's end.
    """

    def __init__(self, region: HtmlElement, base_url: str) -> None:
        self.writer = Writer()
        self._links = Links(base_url)
        self._notes = footnotes.find(region)
        self._open: list[tuple[HtmlElement, End]] = []
        self._explained: set[str] = set()

    def _mark(self, element: HtmlElement, kind: str, before: str, after: str) -> bool:
        mark = self.writer.open(kind, before, after)
        if mark is not None:
            self._open.append((element, lambda: self.writer.close(mark)))
        return True

    def link(self, element: HtmlElement) -> bool:
        if reference := self._notes.references.get(element):
            self.writer.parts.append(f"[^{reference}]")
            return False
        if inline.is_permalink(element):
            return False
        href = element.get("href")
        # A heading that leads to its own place or to the table of contents is not worth an address.
        address = self._links.absolute(href) if href and not (self.writer.heading and href[0] == "#") else ""
        if address and (mark := self.writer.open("a", "[", f"]({address})")) is not None:
            self._open.append((element, lambda: self._end_link(mark)))
        return True

    def _end_link(self, mark: Mark) -> None:
        if not mark.used and any("[" in part or "]" in part for part in self.writer.parts[mark.start :]):
            words = self.writer.taken(mark)
            self.writer.parts.append(label(words))
        self.writer.close(mark)

    def image(self, element: HtmlElement) -> bool:
        writer = self.writer
        if tex := formulas.of_image(element):
            beside = element.getparent()
            if beside is None or next(beside.iter("math"), None) is None:
                writer.parts.append(tex)
            return False
        if inline.is_pixel(element):
            return False
        text, source = description(element.attrib), self._links.image(element.attrib)
        if text and "emoji" in (element.get("class") or "")[: code.MAX_CLASS]:
            writer.text(text)
        else:
            writer.parts.append(f"![{text}]({source})" if source else f"[IMAGE: {text}]")
        return False

    def line_break(self, _element: HtmlElement) -> bool:
        self.writer.line_break()
        return False

    def strong(self, element: HtmlElement) -> bool:
        return self._mark(element, "strong", "**", "**")

    def emphasis(self, element: HtmlElement) -> bool:
        return self._mark(element, "em", "*", "*")

    def deleted(self, element: HtmlElement) -> bool:
        return self._mark(element, "del", "~~", "~~")

    def quotation(self, element: HtmlElement) -> bool:
        return self._mark(element, "q", "“", "”")

    def code(self, element: HtmlElement) -> bool:
        """Code within a line, or around blocks, where it means nothing; one link around all of it stays a link."""
        if any(mark.kind == "code" for mark in self.writer.marks):
            return True
        if next(element.iter(*_CODE_BLOCKS), None) is not None:
            return self._mark(element, "code", "", "")
        address = self._links.absolute(inline.only_link(element))
        mark = self.writer.open("a", "[", f"]({address})") if address else None
        broken = next(element.iter("br"), None) is not None
        for number, line in enumerate(code.text_of(element).split("\n") if broken else [element.text_content()]):
            if number:
                self.writer.line_break()
            self.writer.code(line)
        if mark is not None:
            self.writer.close(mark)
        return False

    def script(self, element: HtmlElement) -> bool:
        """A formula that MathJax would set; other scripts are no words."""
        if (element.get("type") or "").startswith("math/tex"):
            self._formula(formulas.of_script(element))
        return False

    def raised(self, element: HtmlElement) -> bool:
        mark = self.writer.open("script", "", "")
        if mark is not None:
            self._open.append((element, lambda: self._end_raised(mark, element.tag)))
        return True

    def _end_raised(self, mark: Mark, tag: str) -> None:
        self.writer.marks.remove(mark)
        if mark.used:
            return
        words = self.writer.taken(mark)
        before = self.writer.parts[-1][-20:] if self.writer.parts else ""
        if written := inline.raised(words, before, low=tag == "sub"):
            self.writer.parts.append(written)

    def math(self, element: HtmlElement) -> bool:
        self._formula(formulas.of_math(element))
        return False

    def _formula(self, tex: str) -> None:
        if tex.startswith("$$") and not self.writer.one_line and not self.writer.heading:
            self.writer.flush()
            self.writer.parts.append(tex)
            self.writer.flush()
        elif tex:
            self.writer.parts.append(" ".join(tex.split()))

    def reading(self, element: HtmlElement) -> bool:
        """How the characters before are read."""
        return self._mark(element, "rt", "(", ")")

    def button(self, element: HtmlElement) -> bool:
        """A button that only shows a picture does something, and says nothing."""
        parts = list(islice(element.itertext(), _BUTTON_PARTS))
        if len(parts) < _BUTTON_PARTS and all(part.isspace() for part in parts):
            return False
        self.writer.text(" ")
        self._open.append((element, lambda: self.writer.text(" ")))
        return True

    def nothing(self, _element: HtmlElement) -> bool:
        return False

    def box(self, element: HtmlElement) -> bool:
        """A task of a list, done or not."""
        if element.get("type") == "checkbox":
            self.writer.parts.append("[x] " if element.get("checked") is not None else "[ ] ")
        return False

    def abbreviation(self, element: HtmlElement) -> bool:
        """The long form after the first of each short one."""
        if title := inline.long_form(element, self._explained):
            self._open.append((element, lambda: self.writer.text(f" ({title})")))
        return True


PHRASES: Final[dict[str, Callable[[Phrases, HtmlElement], bool]]] = {
    **dict.fromkeys(("b", "strong"), Phrases.strong),
    **dict.fromkeys(("i", "em"), Phrases.emphasis),
    **dict.fromkeys(("del", "s", "strike"), Phrases.deleted),
    **dict.fromkeys(("code", "kbd", "samp", "tt"), Phrases.code),
    **dict.fromkeys(("sup", "sub"), Phrases.raised),
    **dict.fromkeys(("rp", "style", "template"), Phrases.nothing),
    "a": Phrases.link,
    "img": Phrases.image,
    "br": Phrases.line_break,
    "q": Phrases.quotation,
    "script": Phrases.script,
    "math": Phrases.math,
    "rt": Phrases.reading,
    "input": Phrases.box,
    "button": Phrases.button,
    "abbr": Phrases.abbreviation,
}
"""What begins each element within a line."""
