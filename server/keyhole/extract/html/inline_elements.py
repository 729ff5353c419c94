"""Elements within a line, as the soup is told of them: links, emphasis, code, notes. Begins no blocks but formulas."""

from __future__ import annotations

from collections.abc import Callable
from itertools import islice
from typing import Final

from lxml.html import HtmlElement

from keyhole.extract.html import code, footnotes, formulas, inline_rules
from keyhole.extract.html.links import Links, description
from keyhole.extract.html.soup import Soup
from keyhole.text.clean import suspicious
from keyhole.text.escape import escaped

HEADINGS: Final = frozenset({"h1", "h2", "h3", "h4", "h5", "h6"})
_CODE_BLOCKS = ("pre", "p", "div", "table", "ul", "ol", "dl", "li", "blockquote", *sorted(HEADINGS))
_BUTTON_PARTS: Final = 20
"""Texts of a button that are looked at for a word: with more there is one."""
_MATH_REACH: Final = 8
"""Elements at the beginning of a wrapper that holds a formula twice, as `<math>` and as a picture."""

End = Callable[[], None]


class Phrases:
    """The soup of a page, and what is told of the elements within its lines.

    Each method begins an element and says whether its content is to be walked, as it was not told here. What an
    element opens waits on a stack for the element's end.
    """

    def __init__(self, region: HtmlElement, base_url: str) -> None:
        self.soup = Soup(suspicious=suspicious("".join(region.itertext())))
        self._links = Links(base_url)
        self._notes = footnotes.find(region)
        self._open: list[tuple[HtmlElement, End]] = []
        self._explained: set[str] = set()
        self._in_code = False

    def _mark(self, element: HtmlElement, kind: str, **attributes: str) -> bool:
        mark = self.soup.mark(kind, attributes)
        if mark is not None:
            self._open.append((element, lambda: self.soup.end_mark(mark)))
        return True

    def link(self, element: HtmlElement) -> bool:
        if reference := self._notes.references.get(element):
            self.soup.literal(f"[^{reference}]")
            return False
        if inline_rules.is_permalink(element):
            return False
        href = element.get("href")
        # A heading that leads to its own place or to the table of contents is not worth an address.
        address = self._links.absolute(href) if href and not (self.soup.heading and href[0] == "#") else ""
        return self._mark(element, "a", href=address) if address else True

    def image(self, element: HtmlElement) -> bool:
        if tex := formulas.of_image(element):
            beside = element.getparent()
            # Only where it begins: a paragraph of a thousand such pictures would be searched for each.
            if beside is None or not any(near.tag == "math" for near in islice(beside.iter(), _MATH_REACH)):
                self.soup.literal(formulas.harmless(tex))
            return False
        if inline_rules.is_pixel(element):
            return False
        text = description(element.attrib)
        if text and "emoji" in (element.get("class") or "")[: code.MAX_CLASS]:
            self.soup.text(text)
        elif text:
            # Without its address: a client that shows Markdown would fetch it, and so tell the site who reads it.
            self.soup.literal(f"![{escaped(text)}]()")
        return False

    def line_break(self, _element: HtmlElement) -> bool:
        self.soup.line_break()
        return False

    def strong(self, element: HtmlElement) -> bool:
        return self._mark(element, "strong")

    def emphasis(self, element: HtmlElement) -> bool:
        return self._mark(element, "em")

    def deleted(self, element: HtmlElement) -> bool:
        return self._mark(element, "del")

    def quotation(self, element: HtmlElement) -> bool:
        return self._mark(element, "q")

    def code(self, element: HtmlElement) -> bool:
        """Code within a line, or around blocks, where it means nothing; one link around all of it stays a link."""
        if self._in_code:
            return True
        if next(element.iter(*_CODE_BLOCKS), None) is not None:
            self._in_code = True
            self._open.append((element, self._end_code))
            return True
        address = self._links.absolute(inline_rules.only_link(element))
        link = self.soup.mark("a", {"href": address}) if address else None
        broken = next(element.iter("br"), None) is not None
        for number, line in enumerate(code.text_of(element).split("\n") if broken else [element.text_content()]):
            if number:
                self.soup.line_break()
            self.soup.code(line)
        if link is not None:
            self.soup.end_mark(link)
        return False

    def _end_code(self) -> None:
        self._in_code = False

    def script(self, element: HtmlElement) -> bool:
        """A formula that MathJax would set; other scripts are no words."""
        if (element.get("type") or "").startswith("math/tex"):
            self._formula(formulas.of_script(element))
        return False

    def raised(self, element: HtmlElement) -> bool:
        return self.soup.marked("sup") or self.soup.marked("sub") or self._mark(element, element.tag)

    def math(self, element: HtmlElement) -> bool:
        self._formula(formulas.of_math(element))
        return False

    def _formula(self, tex: str) -> None:
        tex = formulas.harmless(tex)
        if tex.startswith("$$") and not self.soup.in_cell and not self.soup.heading:
            self.soup.block("math", tex, {})
        elif tex:
            self.soup.literal(" ".join(tex.split()))

    def reading(self, element: HtmlElement) -> bool:
        """How the characters before are read."""
        return self._mark(element, "rt")

    def button(self, element: HtmlElement) -> bool:
        """A button that only shows a picture does something, and says nothing."""
        parts = list(islice(element.itertext(), _BUTTON_PARTS))
        if len(parts) < _BUTTON_PARTS and all(part.isspace() for part in parts):
            return False
        self.soup.text(" ")
        self._open.append((element, lambda: self.soup.text(" ")))
        return True

    def nothing(self, _element: HtmlElement) -> bool:
        return False

    def box(self, element: HtmlElement) -> bool:
        """A task of a list, done or not."""
        if element.get("type") == "checkbox":
            self.soup.literal("[x] " if element.get("checked") is not None else "[ ] ")
        return False

    def abbreviation(self, element: HtmlElement) -> bool:
        """The long form after the first of each short one."""
        if title := inline_rules.long_form(element, self._explained):
            self._open.append((element, lambda: self.soup.text(f" ({title})")))
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
