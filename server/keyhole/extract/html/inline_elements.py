"""Write the inline elements of a page to the soup: links, images, emphasis, code, formulas and footnote references."""

from __future__ import annotations

import re
from collections.abc import Callable
from itertools import islice
from typing import Final
from urllib.parse import unquote

from lxml.html import HtmlElement

from keyhole.extract.html import code, footnotes, formulas, images, inline_rules
from keyhole.extract.html.formulas import delimit, strip_style
from keyhole.extract.html.images import ImageRole
from keyhole.extract.html.links import LinkResolver
from keyhole.extract.html.rendered_formulas import read_rendering
from keyhole.extract.html.soup import SoupBuilder
from keyhole.extract.html.tabs import TAB_END, TAB_LABEL
from keyhole.text.clean import has_suspect_characters
from keyhole.text.escape import escape_markdown

# Read the formula that an image shows from its description, its title or its address.

_CLASSES = frozenset({
    "mwe-math-fallback-image-inline", "mwe-math-fallback-image-display", "math", "tex", "latex", "texhtml",
})  # fmt: skip
_DELIMITED = re.compile(
    r"\s*(?:\$\$(?P<a>[^$]+)\$\$|\\\[(?P<b>.+)\\\]|\$(?P<c>[^$]+)\$|\\\((?P<d>.+)\\\))\s*", re.DOTALL
)
_COMMAND = re.compile(r"\\(?:[a-zA-Z]{2,}(?=[\s{}_^\\()\[\]=+,.-]|$)|[,;!{}])|[\w)}]\^[\w{(]|\w_\{")
"""A TeX command, a power or an index. Words with an underscore do not match."""
_ADDRESS = re.compile(
    r"(?:codecogs\.com/\w+\.(?:latex|image)\?|latex\.php\?latex=|equation\?tex=|\?cht=tx&chl=)([^&#]+)"
)
"""The address of a service that draws the formula in its query."""
_MAX_ADDRESS: Final = 4_000
"""Largest length of an address that is read, in characters."""


def read_formula_image(image: HtmlElement) -> str:
    """Return the TeX of a formula's image, or "" for other images."""
    alt = image.get("alt") or ""
    if match := _DELIMITED.fullmatch(alt):
        return delimit(match["a"] or match["b"] or match["c"] or match["d"], is_display=bool(match["a"] or match["b"]))
    tex = strip_style(alt) or strip_style(image.get("title") or "")
    if not _CLASSES.isdisjoint((image.get("class") or "")[:200].split()):
        return delimit(tex, is_display=False)
    parent = image.getparent()
    for above in (parent, None if parent is None else parent.getparent()):
        if above is not None and above.tag == "div" and above.get("class") == "math":
            return delimit(tex, is_display=True)
    if alt and ":\\" not in alt and _COMMAND.search(alt[:_MAX_ADDRESS]):  # ":\\" is in the path of a file
        return delimit(strip_style(alt), is_display=False)
    address = image.get("src") or ""
    if "?" in address and (match := _ADDRESS.search(address[:_MAX_ADDRESS])):
        return delimit(unquote(match[1]).replace("+", " ") if "%" in match[1] else match[1], is_display=False)
    return ""


# Write the inline elements of a page to the soup: links, images, emphasis, code, formulas and footnote references.

HEADINGS: Final = frozenset({"h1", "h2", "h3", "h4", "h5", "h6"})
_CODE_BLOCKS = ("pre", "p", "div", "table", "ul", "ol", "dl", "li", "blockquote", *sorted(HEADINGS))
_BUTTON_TEXTS: Final = 20
"""Number of text nodes of a button that are searched for words. A button with more is assumed to have words."""
_MATH_REACH: Final = 8
"""Number of elements searched at the beginning of a wrapper that may contain a formula as `<math>` and as an image."""

EndAction = Callable[[], None]


class InlineWriter:
    """A writer of a page's inline elements to a `SoupBuilder`.

    Each `start_…` method begins an element and returns whether its content must be walked. The stack `_open_elements`
    contains the actions to run at the end of each element.
    """

    def __init__(self, region: HtmlElement, links: LinkResolver) -> None:
        self.soup = SoupBuilder(has_suspect_characters=has_suspect_characters(region.text_content()))
        self._links = links
        self._footnotes = footnotes.find_footnotes(region, self._links)
        self._open_elements: list[tuple[HtmlElement, EndAction]] = []
        self._is_in_code = False

    def _open_mark(self, element: HtmlElement, kind: str, **attributes: str) -> bool:
        mark = self.soup.open_mark(kind, attributes)
        if mark is not None:
            self._open_elements.append((element, lambda: self.soup.close_mark(mark)))
        return True

    def start_link(self, element: HtmlElement) -> bool:
        """Begin a link. Only its text is written of a link to a place on the page itself."""
        href = element.get("href")
        if not href:
            return self._open_mark(element, "span")
        address = self._links.resolve(href)
        if "#" in href:
            if element in self._footnotes.references:
                self.soup.add_markdown(f"[^{self._footnotes.references[element]}]")
                return False
            if element in self._footnotes.unmatched:
                # Without brackets, a reference would be a power.
                self.soup.add_text(f"[{self._footnotes.unmatched[element]}]")
                return False
            if inline_rules.is_permalink(element, is_same_page=not address):
                return False
        # A link without an address is plain text, which the soup keeps apart from other links.
        return self._open_mark(element, "a", href=address) if address else self._open_mark(element, "span")

    def start_image(self, element: HtmlElement) -> bool:
        if tex := read_formula_image(element):
            parent = element.getparent()
            # Search only the beginning: a paragraph of a thousand such images is searched for each image.
            if parent is None or not any(near.tag == "math" for near in islice(parent.iter(), _MATH_REACH)):
                self.soup.add_markdown(formulas.escape_formula(tex))
            return False
        text = images.read_alt_text(element.attrib)
        role = images.find_role(element, text)
        if role is ImageRole.WORD:
            self.soup.keep_apart()
            self.soup.add_text(text)
            self.soup.keep_apart()
        elif role is ImageRole.PICTURE:
            # Leave out the URL: a client that renders Markdown would fetch it and reveal the reader to the site.
            self.soup.add_markdown(f"![{escape_markdown(text)}]()")
        elif not images.is_pixel(element):
            self.soup.keep_apart()
        return False

    def start_line_break(self, _element: HtmlElement) -> bool:
        self.soup.add_line_break()
        return False

    def start_strong(self, element: HtmlElement) -> bool:
        return self._open_mark(element, "strong")

    def start_emphasis(self, element: HtmlElement) -> bool:
        return self._open_mark(element, "em")

    def start_deletion(self, element: HtmlElement) -> bool:
        return self._open_mark(element, "del")

    def start_quotation(self, element: HtmlElement) -> bool:
        return self._open_mark(element, "q")

    def start_code(self, element: HtmlElement) -> bool:
        """Write inline code, and a link that contains all of it. `<code>` around blocks is ignored."""
        if self._is_in_code:
            return True
        if next(element.iter(*_CODE_BLOCKS), None) is not None:
            self._is_in_code = True
            self._open_elements.append((element, self._end_code))
            return True
        address = self._links.resolve(inline_rules.find_only_link(element))
        link = self.soup.open_mark("a", {"href": address}) if address else None
        has_breaks = next(element.iter("br"), None) is not None
        for number, line in enumerate(code.read_code(element).split("\n") if has_breaks else [element.text_content()]):
            if number:
                self.soup.add_line_break()
            self.soup.add_code(line)
        if link is not None:
            self.soup.close_mark(link)
        return False

    def _end_code(self) -> None:
        self._is_in_code = False

    def start_script(self, element: HtmlElement) -> bool:
        """Write the TeX of a MathJax script and skip other scripts."""
        if (element.get("type") or "").startswith("math/tex"):
            self._write_formula(formulas.read_mathjax_script(element))
        return False

    def start_sup_sub(self, element: HtmlElement) -> bool:
        return self.soup.has_mark("sup") or self.soup.has_mark("sub") or self._open_mark(element, element.tag)

    def start_rendering(self, element: HtmlElement) -> bool:
        """Write a formula that a script of the page has rendered, or nothing if its source follows."""
        formula = read_rendering(element)
        if formula:
            self._write_formula(formula)
        return formula is None

    def start_math(self, element: HtmlElement) -> bool:
        self._write_formula(formulas.read_mathml(element))
        return False

    def _write_formula(self, tex: str) -> None:
        tex = formulas.escape_formula(tex)
        if tex.startswith("$$") and not self.soup.is_in_cell and not self.soup.heading_level:
            self.soup.add_block("math", tex, {})
        elif tex:
            self.soup.add_markdown(" ".join(tex.split()))

    def start_ruby_text(self, element: HtmlElement) -> bool:
        """Write the pronunciation of the preceding characters."""
        return self._open_mark(element, "rt")

    def start_button(self, element: HtmlElement) -> bool:
        """Write the words of a button. A button without words is skipped."""
        parts = list(islice(element.itertext(), _BUTTON_TEXTS))
        if len(parts) < _BUTTON_TEXTS and all(part.isspace() for part in parts):
            return False
        self.soup.add_text(" ")
        self._open_elements.append((element, lambda: self.soup.add_text(" ")))
        return True

    def skip(self, _element: HtmlElement) -> bool:
        return False

    def start_input(self, element: HtmlElement) -> bool:
        """Write the checkbox of a task list."""
        if element.get("type") == "checkbox":
            self.soup.add_markdown("[x] " if element.get("checked") is not None else "[ ] ")
        return False

    def start_tab_label(self, _element: HtmlElement) -> bool:
        self.soup.add_markdown("=== ")
        return True

    def start_tab_end(self, _element: HtmlElement) -> bool:
        if not self.soup.is_in_cell:
            self.soup.add_block("tab_end", "===", {})
        return False


INLINE_ELEMENTS: Final[dict[str, Callable[[InlineWriter, HtmlElement], bool]]] = {
    **dict.fromkeys(("b", "strong"), InlineWriter.start_strong),
    **dict.fromkeys(("i", "em"), InlineWriter.start_emphasis),
    **dict.fromkeys(("del", "s", "strike"), InlineWriter.start_deletion),
    **dict.fromkeys(("code", "kbd", "samp", "tt"), InlineWriter.start_code),
    **dict.fromkeys(("sup", "sub"), InlineWriter.start_sup_sub),
    **dict.fromkeys(("rp", "style", "template"), InlineWriter.skip),
    "a": InlineWriter.start_link,
    "img": InlineWriter.start_image,
    "br": InlineWriter.start_line_break,
    "q": InlineWriter.start_quotation,
    "script": InlineWriter.start_script,
    **dict.fromkeys(("math", "m:math", "mml:math"), InlineWriter.start_math),
    "mjx-container": InlineWriter.start_rendering,
    "rt": InlineWriter.start_ruby_text,
    "input": InlineWriter.start_input,
    "button": InlineWriter.start_button,
    TAB_LABEL: InlineWriter.start_tab_label,
    TAB_END: InlineWriter.start_tab_end,
}
"""The method that begins each inline element."""
