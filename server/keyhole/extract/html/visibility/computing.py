"""Compute the style of an element from its declarations and the style of its parent."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, NamedTuple

from keyhole.extract.html.visibility.boxes import IS_DRAWN
from keyhole.extract.html.visibility.colours import CURRENT, LINK, WHITE, Colour
from keyhole.extract.html.visibility.declarations import Declaration, Variables, resolve, resolve_variables
from keyhole.extract.html.visibility.lengths import Context, Tokens
from keyhole.extract.html.visibility.properties import INHERITED, PARSERS, Value
from keyhole.extract.html.visibility.shorthands import WIDE_KEYWORDS

Declarations = Mapping[str, Declaration]
"""The winning declarations of an element, by longhand or custom property."""

_BLOCK_TAGS: Final = frozenset({
    "html", "body", "address", "article", "aside", "blockquote", "center", "dd", "details", "dialog", "dir",
    "div", "dl", "dt", "fieldset", "figcaption", "figure", "footer", "form", "frameset", "h1", "h2", "h3",
    "h4", "h5", "h6", "header", "hgroup", "hr", "legend", "listing", "main", "menu", "nav", "ol", "optgroup",
    "option", "p", "plaintext", "pre", "search", "section", "summary", "ul", "xmp",
})  # fmt: skip
_DISPLAY: Final = {
    **dict.fromkeys(_BLOCK_TAGS, "block"), "li": "list-item", "table": "table", "tr": "table-row",
    "td": "table-cell", "th": "table-cell", "caption": "table-caption", "tbody": "table-row-group",
    "thead": "table-header-group", "tfoot": "table-footer-group", "colgroup": "table-column-group",
    "col": "table-column", "button": "inline-block", "input": "inline-block", "select": "inline-block",
    "textarea": "inline-block", "meter": "inline-block", "progress": "inline-block", "marquee": "inline-block",
    "img": "inline-block", "video": "inline-block", "iframe": "inline-block", "canvas": "inline-block",
    "object": "inline-block", "svg": "inline-block", "rt": "block", "text": "block", "g": "block", "slot": "contents",
    **dict.fromkeys(
        ("rp", "noframes", "noembed", "datalist", "area", "param", "template", "script", "style", "head", "title",
         "meta", "link", "base"), "none",
    ),
}  # fmt: skip
"""How browsers display elements without author styles. Other elements are `inline`."""
_FONT_SCALES: Final = {
    "h1": 2.0, "h2": 1.5, "h3": 1.17, "h5": 0.83, "h6": 0.67, "small": 1 / 1.2, "sub": 1 / 1.2, "sup": 1 / 1.2,
    "big": 1.2, "rt": 0.5,
}  # fmt: skip
_FONT_SIZES: Final = {"button": 13.33, "input": 13.33, "select": 13.33, "textarea": 13.33}
_BACKGROUNDS: Final = {
    "mark": Colour(255, 255, 0), "button": Colour(240, 240, 240), "input": WHITE, "textarea": WHITE, "select": WHITE,
}  # fmt: skip
_BLOCKIFYING: Final = frozenset({"flex", "inline-flex", "grid", "inline-grid", "-webkit-box", "-webkit-flex"})

_WIDE: Final = frozenset({"block", "list-item", "flow-root", "flex", "grid"})
"""Values of `display` that make a box as wide as the block around it."""
HAS_ROOM: Final = "has room"
"""Key of a value that is no property: True if a box is wider than its content needs, so that its items can grow."""
_CUTTING: Final = frozenset({"svg", "iframe"})
"""Elements that cut off what is outside of their box."""


class ElementFacts(NamedTuple):
    """Facts of an element that the style sheet of a browser depends on."""

    tag: str = "div"
    hidden: str | None = None
    """The value of the attribute `hidden`."""
    is_closed: bool = False
    """True for a `dialog` without `open` and for a popover."""
    is_link: bool = False


class ComputedStyle(NamedTuple):
    """The style of one element."""

    values: dict[str, Value]
    """Values by property, inherited ones too. Initial values may be missing."""
    variables: Variables
    root_size: float = 16.0


INITIAL: Final = ComputedStyle({}, {})
DARK_ON_MARK: Final = Colour(0, 0, 0)


def compute_style(declarations: Declarations, parent: ComputedStyle, facts: ElementFacts) -> ComputedStyle:
    """Return the computed style of an element."""
    values = {name: value for name, value in parent.values.items() if name in INHERITED or name == IS_DRAWN}
    browser = _browser_style(facts, values)
    values.update(browser)
    variables = resolve_variables(declarations, parent.variables) if declarations else parent.variables
    context = Context(parent.values.get("font-size", 16.0), parent.root_size)
    if "font-size" in declarations:
        _apply("font-size", declarations, values, browser, parent, variables, context)
    size = values.get("font-size", 16.0)
    context = Context(size, size if facts.tag == "html" else parent.root_size)
    for name in declarations:
        if name in PARSERS and name != "font-size":
            _apply(name, declarations, values, browser, parent, variables, context)
    _settle(values, parent)
    return ComputedStyle(values, variables, context.root_size)


def _browser_style(facts: ElementFacts, inherited: Mapping[str, Value]) -> dict[str, Value]:
    """Return the values that a browser's own style sheet sets."""
    style: dict[str, Value] = {"display": _DISPLAY.get(facts.tag, "inline")}
    if facts.is_closed or facts.hidden is not None:
        style["display"] = "none"
    if facts.hidden is not None and facts.hidden.lower() == "until-found":
        style |= {"display": _DISPLAY.get(facts.tag, "inline"), "content-visibility": "hidden"}
    if facts.tag in _FONT_SCALES:
        style["font-size"] = inherited.get("font-size", 16.0) * _FONT_SCALES[facts.tag]
    if facts.tag in _FONT_SIZES:
        style |= {"font-size": _FONT_SIZES[facts.tag], "color": DARK_ON_MARK, "text-indent": 0.0}
    if facts.is_link:
        style["color"] = LINK
    if facts.tag == "mark":
        style["color"] = DARK_ON_MARK
    if facts.tag in _BACKGROUNDS:
        style["background-color"] = _BACKGROUNDS[facts.tag]
    if facts.tag in _CUTTING:
        style |= {"overflow-x": "hidden", "overflow-y": "hidden"}
    if facts.tag == "svg" or inherited.get(IS_DRAWN):
        style[IS_DRAWN] = facts.tag != "foreignobject"
    return style


def _apply(
    name: str,
    declarations: Declarations,
    values: dict[str, Value],
    browser: Mapping[str, Value],
    parent: ComputedStyle,
    variables: Variables,
    context: Context,
) -> None:
    """Set one property to its computed value. A value that is not valid after `var()` counts as `unset`."""
    tokens = resolve(declarations[name], variables)
    keyword = "unset" if tokens is None else _wide_keyword(tokens)
    value: Any = None
    if not keyword and tokens is not None:
        value = PARSERS[name](tokens, context)
        keyword = "unset" if value is None else ""
    if keyword in {"revert", "revert-layer"} and name in browser:
        value = browser[name]
    elif keyword == "inherit" or (keyword in {"unset", "revert", "revert-layer"} and name in INHERITED):
        value = parent.values.get(name)
    if value is None:
        values.pop(name, None)
    elif value == CURRENT and name == "color":
        values[name] = parent.values.get("color", DARK_ON_MARK)
    else:
        values[name] = value


def _wide_keyword(tokens: Tokens) -> str:
    is_keyword = len(tokens) == 1 and tokens[0].type == "ident" and tokens[0].lower_value in WIDE_KEYWORDS
    return str(tokens[0].lower_value) if is_keyword else ""


def _settle(values: dict[str, Value], parent: ComputedStyle) -> None:
    """Turn an inline element that is positioned, floats or stands in a grid into a block, and let flex items grow."""
    is_out = values.get("position") in {"absolute", "fixed"} or values.get("float", "none") != "none"
    around = parent.values.get("display", "block")
    if (is_out or around in _BLOCKIFYING) and values.get("display", "inline") in {"inline", "ruby", "flow"}:
        values["display"] = "block"
    if around not in _BLOCKIFYING and values.get("position") not in {"absolute", "fixed"}:
        _contain(values)
    if parent.values.get("grid-template-rows") and around.endswith("grid") and not is_out:
        values.setdefault("height", 0.0)
    has_room = not is_out and parent.values.get(HAS_ROOM, True)
    is_row = around == "flex" and not parent.values.get("flex-direction", "row").startswith("column")
    if is_row and has_room and values.get("flex-grow", 0.0) > 0:
        values["width"] = "auto"
    elif values.get("position") in {"absolute", "fixed"}:
        has_room = "auto" not in {values.get("left", "auto"), values.get("right", "auto")}
    elif around not in {"block", "list-item"} or values.get("display") not in _WIDE:
        has_room = False
    width = values.get("width", "auto")
    values[HAS_ROOM] = has_room if width == "auto" else width > 1


def _contain(values: dict[str, Value]) -> None:
    """Give a box whose size does not depend on its content no size, and let paint containment cut it off."""
    kinds = values.get("contain", frozenset())
    if "paint" in kinds:
        values["overflow-x"], values["overflow-y"] = (
            each if (each := values.get(f"overflow-{axis}", "visible")) != "visible" else "clip" for axis in "xy"
        )
    kinds = kinds.union(values.get("container-type", ()))
    if "contain-intrinsic-size" in values:
        return
    if "size" in kinds and values.get("height", "auto") == "auto":
        values["height"] = 0.0
    is_shrunk = values.get("float", "none") != "none" or str(values.get("display")).startswith("inline-")
    if is_shrunk and not kinds.isdisjoint({"size", "inline-size"}) and values.get("width", "auto") == "auto":
        values["width"] = 0.0
