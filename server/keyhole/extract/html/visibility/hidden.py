"""Find the elements and the texts of a page that a reader cannot see."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from itertools import islice
from typing import Final

from lxml import etree
from lxml.html import HtmlElement

from keyhole.extract.html.visibility.cascade import Cascade
from keyhole.extract.html.visibility.computed_style import (
    FORMULA_ATTRIBUTES,
    IS_DRAWN,
    MIN_OPACITY,
    StyleValues,
    find_escape,
    hides_box,
    hides_by_attributes,
    hides_letters,
    is_moved_away,
    is_outside,
    list_drawn_texts,
)
from keyhole.extract.html.visibility.painting import COVERING, Backgrounds, find_covered
from keyhole.extract.html.visibility.selectors import AROUND, OutOfWorkError, Scopes, StyledPage, find_attributes
from keyhole.extract.html.visibility.style_sheets import CssRules, find_sheets

# Controls: find the parts of a page that tabs, accordions and buttons show.

_REFERENCES: Final = {
    attribute: etree.XPath(f"descendant::{path}")
    for attribute, path in (
        *((name, f"*/@{name}") for name in ("aria-controls", "data-target", "data-bs-target", "data-tab-target")),
        ("popovertarget", "*/@popovertarget"), ("commandfor", "*/@commandfor"),
        ("href", "a/@href[starts-with(., '#')]"), ("for", "label/@for"),
    )
}  # fmt: skip
"""The attributes by which controls name what they show. Predicates on elements take several times longer."""
_PANEL_ROLES: Final = frozenset({"tabpanel", "region"})
_CONTROL_ROLES: Final = frozenset({"tab", "button"})
_TOGGLE: Final = re.compile(r"accordion|collaps|toggle|faq|expand|question", re.IGNORECASE)
"""A class or id of the heading of a part of an accordion."""
_MAX_NAMES: Final = 200
"""Characters read of `class` and `id`."""
_BUTTON_REACH: Final = 8
"""Number of elements searched for a button above a folded box."""
_TAB_REACH: Final = 4
"""Number of ancestors of a tab list that may hold its panels."""


def list_references(page: StyledPage) -> dict[str, list[HtmlElement]]:
    """Return the controls of a page by the ids that they name."""
    references: dict[str, list[HtmlElement]] = {}
    for attribute, find_values in _REFERENCES.items():
        for value in find_values(page.root) if page.occurring[f"[{attribute}"] else ():
            for name in value.split():
                references.setdefault(name.removeprefix("#"), []).append(value.getparent())
    return references


def find_revealed(
    root: HtmlElement, hidden: Collection[HtmlElement], references: Callable[[], Mapping[str, list[HtmlElement]]]
) -> set[HtmlElement]:
    """Return the hidden elements that a visible control refers to. `references`: returns the controls by these ids.

    A control in a hidden element counts only if another control shows that element.
    """
    by_id = {element.get("id"): element for element in hidden if element.get("id")}
    controls = references() if by_id else {}
    links = [(control, element) for name, element in by_id.items() for control in controls.get(name, ())]
    links += _find_labels(root, hidden)
    links += _find_tab_lists(root, hidden)
    revealed: set[HtmlElement] = set()
    while True:
        closed = {element for element in hidden if element not in revealed}
        found = {element for control, element in links if element not in revealed and not is_within(control, closed)}
        if not found:
            return revealed
        revealed |= found


def find_unfolded(folded: Iterable[HtmlElement], hidden: Collection[HtmlElement]) -> set[HtmlElement]:
    """Return the parts of an accordion: boxes without height that stand below a visible button, which opens them.

    The first child of a box, such as the content of a grid whose rows fold, has the place of that box.
    """
    found, closed = set(), set(hidden)
    for box in folded:
        around = box.getparent()
        above = box.getprevious() if around is None or around[0] is not box else around.getprevious()
        if above is not None and not is_within(above, closed) and _has_button(above):
            found.add(box)
    return found


def _has_button(element: HtmlElement) -> bool:
    names = f"{element.get('class') or ''} {element.get('id') or ''}"[:_MAX_NAMES]
    if _TOGGLE.search(names):
        return True
    return any(each.tag == "button" or each.get("role") == "button" for each in islice(element.iter(), _BUTTON_REACH))


def _find_labels(root: HtmlElement, hidden: Collection[HtmlElement]) -> list[tuple[HtmlElement, HtmlElement]]:
    """Return pairs of a tab and the hidden panel that names it as its label."""
    panels = [element for element in hidden if element.get("role") in _PANEL_ROLES]
    names = [(name, panel) for panel in panels for name in (panel.get("aria-labelledby") or "").split()]
    if not names:
        return []
    labels: dict[str, HtmlElement] = {}
    for value in find_attributes(root, "id"):
        labels.setdefault(str(value), value.getparent())
    pairs = [(labels[name], panel) for name, panel in names if name in labels]
    return [each for each in pairs if each[0].tag == "button" or each[0].get("role") in _CONTROL_ROLES]


def _find_tab_lists(root: HtmlElement, hidden: Collection[HtmlElement]) -> list[tuple[HtmlElement, HtmlElement]]:
    """Return pairs of a tab list and a hidden panel near it, which need not name each other."""
    panels = [element for element in hidden if element.get("role") == "tabpanel"]
    if not panels:
        return []
    lists: dict[HtmlElement, HtmlElement] = {}
    for value in root.xpath("descendant::*/@role[. = 'tablist']"):
        tab_list = value.getparent()
        for above in islice(tab_list.iterancestors(), _TAB_REACH):
            lists.setdefault(above, tab_list)
    nearest = {panel: next(filter(lists.__contains__, panel.iterancestors()), None) for panel in panels}
    return [(lists[above], panel) for panel, above in nearest.items() if above is not None]


def is_within(element: HtmlElement, closed: Collection[HtmlElement]) -> bool:
    """Return whether an element or one of its ancestors is in `closed`."""
    above: HtmlElement | None = element
    while above is not None:
        if above in closed:
            return True
        above = above.getparent()
    return False


# Estimate what is hidden on a page whose style sheets are too complex to be applied.

_MOST: Final = 0.5
"""An estimate that hides a larger share of a page's text is rejected."""
_BY_ATTRIBUTE: Final = ("hidden", "popover", "srcdoc", *FORMULA_ATTRIBUTES)
_BY_TAG: Final = ("dialog", "rp", "noframes")
"""Elements that browsers hide."""
_TEXTLESS: Final = frozenset({"script", "style", "template", "head", "svg", "noscript"})


def estimate(cascade: Cascade, forgiven: Collection[HtmlElement]) -> tuple[dict[HtmlElement, None], bool]:
    """Return the elements hidden by attributes or by the last names of hiding rules, and whether that is doubtful.

    This hides too much rather than too little, because the style sheets may be made to exhaust the work. If it would
    hide most of the page, only rules of a single name count, which is doubtful.
    """
    root = cascade.page.root
    styled = [style.getparent() for style in find_attributes(root, "style")]
    by_attributes = [*styled, *find_by_attributes(cascade.page)]
    certain = [element for element in by_attributes if hides_by_attributes(element.tag, element.attrib)]
    hidden: dict[HtmlElement, None] = {}
    for only_simple in (False, True):
        boxes = [*certain, *cascade.list_possibly_hidden(only_simple=only_simple)]
        hidden = {each: None for each in boxes if each not in forgiven and each.tag not in {"html", "body"}}
        if not hides_most(root, hidden):
            return hidden, only_simple
    return hidden, True


def hides_most(root: HtmlElement, boxes: Collection[HtmlElement]) -> bool:
    """Return whether elements hold most of a page's text."""
    shown = total = 0
    stack = [(root, False)]
    while stack:
        element, is_hidden = stack.pop()
        if element.tag in _TEXTLESS or not isinstance(element.tag, str):
            continue
        is_hidden = is_hidden or element in boxes
        length = len(own_text(element))
        total += length
        shown += 0 if is_hidden else length
        stack += ((child, is_hidden) for child in element)
    return shown < (1 - _MOST) * total


def find_by_attributes(page: StyledPage) -> list[HtmlElement]:
    """Return the elements that browsers hide by their name or by an attribute other than `style`."""
    occurring = [name for name in _BY_ATTRIBUTE if page.occurring[f"[{name}"]]
    by_attribute = [value.getparent() for name in occurring for value in find_attributes(page.root, name)]
    return [*by_attribute, *page.root.iter(*_BY_TAG)]


def own_text(element: HtmlElement) -> str:
    """Return the text directly in an element, not that in the elements inside it."""
    parts = [element.text or "", *(child.tail or "" for child in element)]
    return "".join(parts).strip()


# Find the cells of tables that stand in collapsed columns.

_MOST_COLUMNS: Final = 200
"""Number of columns of a table that are looked at."""
_ROW_GROUPS: Final = ("thead", "tbody", "tfoot")
COLUMNS: Final = ("col", "colgroup")


def find_collapsed_cells(collapsed: Collection[HtmlElement]) -> Iterator[HtmlElement]:
    """Yield the cells whose columns are all collapsed, given the collapsed `<col>` and `<colgroup>` elements."""
    for table in {table for each in collapsed for table in islice(each.iterancestors("table"), 1)}:
        columns = _find_columns(table, collapsed)
        for group in (table, *table.iterchildren(*_ROW_GROUPS)):
            yield from _find_cells(group, columns)


def _find_columns(table: HtmlElement, collapsed: Collection[HtmlElement]) -> set[int]:
    """Return the numbers of a table's collapsed columns."""
    found: set[int] = set()
    place = 0
    for element in table.iterchildren(*COLUMNS):
        for column in list(element.iterchildren("col")) or [element]:
            end = min(place + _read_span(column, "span"), _MOST_COLUMNS)
            if column in collapsed or element in collapsed:
                found.update(range(place, end))
            place = end
    return found


def _find_cells(group: HtmlElement, collapsed: set[int]) -> Iterator[HtmlElement]:
    """Yield the cells of a group of rows that stand in given columns alone."""
    taken: dict[int, int] = {}  # the rows that cells from above still take, by column
    for row in group.iterchildren("tr"):
        place = 0
        for cell in row.iterchildren("td", "th"):
            while taken.get(place, 0) > 0:
                place += 1
            width, height = _read_span(cell, "colspan"), _read_span(cell, "rowspan")
            columns = range(place, min(place + width, _MOST_COLUMNS))
            if columns and collapsed.issuperset(columns):
                yield cell
            taken.update((column, height) for column in columns)
            place += width
        taken = {column: rows - 1 for column, rows in taken.items() if rows > 1}


def _read_span(element: HtmlElement, name: str) -> int:
    value = (element.get(name) or "").strip()
    return min(max(int(value), 1), _MOST_COLUMNS) if value.isdecimal() and len(value) < 10 else 1


# Find the elements and the texts of a page that a reader cannot see.

MAX_WORK: Final = 1_000_000
"""Number of comparisons of elements with selectors per page. They take about a second; pages need up to 800,000."""

_MAX_ROUNDS: Final = 4
"""Largest nesting of controls that is followed: tabs in a tab, a fold in a dialog."""
_COLOURED: Final = ("body", "font")
"""Elements whose attributes may give their text a colour."""
_FORMULA_SHEET: Final = "maction>*+*{display:none}mphantom{visibility:hidden}"
"""The part of a browser's own style sheet that hides parts of a formula (MathML Core, A)."""
_QUIRKS: Final = ("-//w3c//dtd html 3.2", "-//w3c//dtd html 4.0 ", "-//ietf", "-//netscape", "-//microsoft")
"""Beginnings of the public identifiers of old documents, whose class names browsers compare without case."""


@dataclass(slots=True)
class Hidden:
    """The invisible parts of a page."""

    boxes: dict[HtmlElement, None] = field(default_factory=dict)
    """Elements that are hidden with all that they contain."""
    letters: dict[HtmlElement, None] = field(default_factory=dict)
    """Elements whose own text is hidden. Elements inside may be visible."""
    veils: dict[HtmlElement, None] = field(default_factory=dict)
    """Elements at which `visibility: hidden` or the like begins. Elements inside may show their text again."""
    faded: dict[HtmlElement, None] = field(default_factory=dict)
    """The boxes that only their opacity or their height hides. Scripts often fade or unfold such boxes."""
    is_estimate: bool = False
    """True if the style sheets are too complex to be applied, so that elements are judged by their names alone."""
    is_doubtful: bool = False
    """True if the estimate hid most of the page and was replaced by one that may show hidden text."""


class Visibility:
    """The visibility of a page's elements. The tree must be complete: selectors look at scripts and comments too."""

    def __init__(self, root: HtmlElement, scopes: Scopes | None = None, work: int = MAX_WORK) -> None:
        rules, scopes = CssRules(), scopes or {}
        if next(root.iter("maction", "mphantom"), None) is not None:
            rules.read(_FORMULA_SHEET)
        for number, (sheet, css) in enumerate(find_sheets(root)):
            if css is None:
                rules.has_unread_sheets = True
            else:
                rules.read(css, scope=scopes.get(sheet, ""), around=_select_parent(sheet, css, number))
        self._root = root
        self._work = work
        self._rules = rules
        self._candidates: dict[HtmlElement, None] | None = None
        self._cascade = Cascade(rules, StyledPage(root, work, scopes, quirks=_is_in_quirks_mode(root)))

    def find_hidden(self, forgiven: Iterable[HtmlElement] = ()) -> Hidden:
        """Return the hidden elements and texts. `forgiven` elements count as visible: scripts will show them."""
        try:
            return self._find_hidden(set(forgiven))
        except OutOfWorkError:
            return self._estimate(set(forgiven))

    def find_styles(self, pattern: re.Pattern[str]) -> dict[HtmlElement, StyleValues]:
        """Return the styles of the elements with a declaration that a pattern finds, {} if that takes too much work."""
        try:
            return {each: self._cascade.style(each).values for each in self._cascade.find_by_block(pattern)}
        except OutOfWorkError:
            return {}

    def _find_hidden(self, forgiven: set[HtmlElement]) -> Hidden:
        if self._candidates is None:
            self._candidates = self._find_candidates()
        candidates = self._candidates
        if not candidates and not self._may_cover:
            return Hidden()
        for _ in range(_MAX_ROUNDS):
            hidden = self._judge(candidates, forgiven)
            concealing = [*hidden.boxes, *hidden.veils]
            if not concealing:
                break
            revealed = find_revealed(self._root, concealing, lambda: self._references) | self._find_ticked(hidden)
            revealed |= find_unfolded(filter(self._only_folds, hidden.faded), concealing)
            if revealed <= forgiven:
                break
            forgiven |= revealed
        return hidden

    @cached_property
    def _references(self) -> dict[str, list[HtmlElement]]:
        return list_references(self._cascade.page)

    @cached_property
    def _may_cover(self) -> Collection[HtmlElement]:
        """Return the elements that may cover text, if all style sheets are known."""
        return () if self._rules.has_unread_sheets else self._cascade.find_by_block(COVERING)

    def _find_candidates(self) -> dict[HtmlElement, None]:
        """Return the elements with content that rules or attributes may hide."""
        found = [
            style.getparent() for style in find_attributes(self._root, "style") if self._cascade.may_hide(str(style))
        ]
        found += find_by_attributes(self._cascade.page)
        if not self._rules.has_unread_sheets:
            found += (value.getparent() for value in find_attributes(self._root, "bgcolor"))
            found += (each for each in self._root.iter(*_COLOURED) if not {"color", "text"}.isdisjoint(each.attrib))
        found += list_drawn_texts(self._root)
        for element in self._cascade.find_candidates():
            found.append(element)
            if self._cascade.style(element).values.get("grid-template-rows"):
                found += element.iterchildren("*")
        return {each: None for each in found if len(each) or each.text or is_field(each) or each.tag in COLUMNS}

    def _judge(self, candidates: Iterable[HtmlElement], forgiven: set[HtmlElement]) -> Hidden:
        cascade, hidden = self._cascade, Hidden()
        if cascade.forgiven != forgiven:
            cascade.forgiven = forgiven
            cascade.forget_styles()
        visible = self._hide_boxes(candidates, forgiven, hidden)
        columns = {each for each in visible if each.tag in COLUMNS and self._is_collapsed(each)}
        hidden.boxes.update(dict.fromkeys(find_collapsed_cells(columns)))
        hidden.veils = dict.fromkeys(filter(self._is_veil, visible))
        backgrounds = Backgrounds(cascade)
        judged: set[HtmlElement] = set()
        for element in visible:
            if (
                element not in judged
                and (not self._rules.has_unread_sheets or self._may_hide_text(element, backgrounds))
                and not is_within(element, hidden.boxes)
            ):
                for inner in self._iter_text_holders(element, hidden, judged):
                    if self._hides_own_text(inner, backgrounds):
                        (hidden.boxes if inner.tag == "input" else hidden.letters)[inner] = None
        if self._may_cover:
            below = find_covered(self._may_cover, cascade, hidden.boxes)
            covered = {each: None for each in below if not is_within(each, forgiven)}
            if covered and not hides_most(self._root, covered):
                hidden.letters.update(covered)
        return hidden

    def _hide_boxes(
        self, candidates: Iterable[HtmlElement], forgiven: set[HtmlElement], hidden: Hidden
    ) -> list[HtmlElement]:
        """Add the candidates that are hidden with all that they contain, and return the others outside of them."""
        visible = []
        for element in candidates:
            if element in forgiven:
                visible.append(element)
            elif is_within(element, hidden.boxes):
                continue
            elif self._hides_box(element):
                hidden.boxes[element] = None
                if self._only_fades(element):
                    hidden.faded[element] = None
            elif not self._is_pulled_up(element) and (escape := find_escape(self._cascade.style(element).values)):
                self._hide_except(element, escape, hidden)
                if self._only_folds(element) and element in hidden.boxes:
                    hidden.faded[element] = None
            else:
                visible.append(element)
        return visible

    def _is_pulled_up(self, element: HtmlElement) -> bool:
        """Return whether a negative margin moves a floating element back over those before it, as columns do."""
        style = self._cascade.style(element).values
        return (
            style.get("float", "none") != "none"
            and style.get("margin-left", 0.0) != 0.0
            and any(
                self._cascade.style(each).values.get("float", "none") != "none"
                for each in element.itersiblings("*", preceding=True)
            )
        )

    def _may_hide_text(self, element: HtmlElement, backgrounds: Backgrounds) -> bool:
        """Return whether an element's style hides text in it, whether or not it has text of its own."""
        return hides_letters(self._cascade.style(element).values, 0) or backgrounds.conceals_text(element)

    def _is_collapsed(self, element: HtmlElement) -> bool:
        style = self._cascade.style(element).values
        return style.get("visibility") == "collapse" and style.get("display", "").startswith(("table-row", "table-col"))

    def _hides_box(self, element: HtmlElement) -> bool:
        style = self._cascade.style(element).values
        if hides_box(style) or (self._is_collapsed(element) and element.tag not in COLUMNS):
            return True
        if style.get("opacity", 1.0) * style.get("filter", 1.0) > 0.5:
            return False
        return self._opacity(element) <= MIN_OPACITY

    def _only_fades(self, element: HtmlElement) -> bool:
        """Return whether a hidden element is hidden only by its opacity."""
        style = {**self._cascade.style(element).values, "opacity": 1.0, "filter": 1.0}
        return not hides_box(style) and not find_escape(style)

    def _only_folds(self, element: HtmlElement) -> bool:
        """Return whether an element in the flow of the page is hidden only because its height is zero."""
        style = self._cascade.style(element).values
        return style.get("position", "static") in {"static", "relative"} and not is_moved_away(style)

    def _hide_except(self, element: HtmlElement, escape: frozenset[str], hidden: Hidden) -> None:
        """Hide an element, but not the descendants that `position: absolute` or `fixed` places outside of it."""
        outside = {
            inner
            for inner in element.iterdescendants("*")
            if (inner.get("style") or inner.get("class") or inner.get("id"))
            and self._cascade.style(inner).values.get("position") in escape
        }
        around = {above for inner in outside for above in inner.iterancestors()}
        stack = [element]
        while stack:
            inner = stack.pop()
            if inner not in around:
                hidden.boxes[inner] = None
                continue
            hidden.letters[inner] = None
            stack += (child for child in inner.iterchildren("*") if child not in outside)

    def _is_veil(self, element: HtmlElement) -> bool:
        """Return whether text becomes invisible at an element, while its parent is still visible."""
        parent = element.getparent()
        is_hiding = self._cascade.style(element).values.get("visibility", "visible") != "visible"
        return is_hiding and (
            parent is None or self._cascade.style(parent).values.get("visibility", "visible") == "visible"
        )

    def _opacity(self, element: HtmlElement) -> float:
        """Return the opacity of an element within all of its ancestors."""
        opacity = 1.0
        for each in [element, *element.iterancestors()]:
            style = self._cascade.style(each).values
            opacity *= style.get("opacity", 1.0) * style.get("filter", 1.0)
        return opacity

    def _iter_text_holders(
        self, element: HtmlElement, hidden: Hidden, judged: set[HtmlElement]
    ) -> Iterator[HtmlElement]:
        """Yield the elements with text of their own in a part of the page, without those in hidden boxes."""
        stack = [element]
        while stack:
            inner = stack.pop()
            if inner in hidden.boxes or inner in judged or not isinstance(inner.tag, str):
                continue
            judged.add(inner)
            if own_text(inner) or (inner.tag == "input" and inner.get("value")):
                yield inner
            stack += inner

    def _hides_own_text(self, element: HtmlElement, backgrounds: Backgrounds) -> bool:
        style, length = self._cascade.style(element).values, len(own_text(element))
        if style.get(IS_DRAWN) and is_outside(element, length, lambda each: self._cascade.style(each).values):
            return True
        return hides_letters(style, length) or backgrounds.conceals_text(element)

    def _find_ticked(self, hidden: Hidden) -> set[HtmlElement]:
        """Return the hidden boxes that a checkbox with a label shows, by the selector `:checked`."""
        if not hidden.boxes or not any(":checked" in rule.selector for rule in self._rules.rules):
            return set()
        ticked = self._cascade.tick_boxes(self._work)
        try:
            return {element for element in hidden.boxes if not hides_box(ticked.style(element).values)}
        except OutOfWorkError:
            return set()

    def _estimate(self, forgiven: set[HtmlElement]) -> Hidden:
        boxes, is_doubtful = estimate(self._cascade, forgiven)
        return Hidden(boxes, is_estimate=True, is_doubtful=is_doubtful)


def _select_parent(sheet: HtmlElement, css: str, number: int) -> str:
    """Return a selector of the element around a style sheet, as far as `@scope` may need it."""
    parent = sheet.getparent()
    if "@scope" not in css or parent is None:
        return ":root"
    parent.set(AROUND, parent.get(AROUND) or str(number))
    return f'[{AROUND}="{parent.get(AROUND)}"]'


def is_field(element: HtmlElement) -> bool:
    """Return whether an element shows words that are not its text."""
    return element.tag in {"input", "textarea", "iframe"}


def _is_in_quirks_mode(root: HtmlElement) -> bool:
    """Return whether browsers read a page like those of the 1990s: its document type is missing or old."""
    info = root.getroottree().docinfo
    public = (info.public_id or "").lower()
    return not info.doctype or public.startswith(_QUIRKS)
