"""Compute the style of an element, and decide from it whether its box or its text can be seen."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from keyhole.extract.html.visibility.css_values import (
    BLACK,
    CURRENT,
    LINK,
    MAX_DIFFERENCE,
    WHITE,
    WIDTH,
    Colour,
    CssTokens,
    LengthContext,
    blend,
    look_same,
    parse_length,
    parse_tokens,
)
from keyhole.extract.html.visibility.declarations import (
    WIDE_KEYWORDS,
    Declaration,
    Variables,
    parse_declarations,
    resolve,
    resolve_variables,
)
from keyhole.extract.html.visibility.properties import FAR, INHERITED, PARSERS, STILL, CssValue, Transform

if TYPE_CHECKING:
    from lxml.html import HtmlElement

# Visibility of a box, and of the text in it, by its computed style.

StyleValues = Mapping[str, CssValue]
"""Computed values by property. Properties with their initial value may be missing."""

MIN_OPACITY: Final = MAX_DIFFERENCE / 255
"""Opacity up to which black text on white cannot be told from its background."""
MIN_FONT: Final = 2.5
"""Font size in pixels below which letters are dots that nobody can read."""
_MIN_ZOOM: Final = MIN_FONT / 16
FAR_RIGHT: Final = WIDTH + FAR
"""Distance in pixels to the right or down that moves a box off the page. Nobody scrolls there."""
FAR_DOWN: Final = 4_000
_MIN_LETTER: Final = 0.4
"""Width of narrow letters, in font sizes. A negative `text-indent` hides a text only if it is as wide as the text."""
_MOST_CUT: Final = 0.25
"""Size of a clipped box, in font sizes, that shows less than half of a letter."""
_MIN_INDENT: Final = 100
"""Smallest indentation in pixels that hides text."""
IS_DRAWN: Final = "is drawn"
"""Key of a pseudo-property: True for the elements of a drawing, whose text is painted by `fill`."""
_INLINE: Final = frozenset({"inline", "contents", "ruby", "flow"})
"""Values of `display` without a sized box: widths, overflow and transforms do not apply."""


def hides_box(style: StyleValues) -> bool:
    """Return whether an element's style hides it with all that it contains."""
    get = style.get
    display = get("display", "inline")
    if display == "none":
        return True
    if display == "contents":
        return False
    if get("content", False) or get("mask-image", False) or get("clip-path", False):
        return True
    if get("opacity", 1.0) * get("filter", 1.0) <= MIN_OPACITY:
        return True
    if get("clip", False) and get("position") in {"absolute", "fixed"}:
        return True
    zoom = _pixels(get("zoom", 1.0), 1.0)
    if 0 < zoom <= _MIN_ZOOM or (get("content-visibility") == "hidden" and not is_inline(style)):
        return True
    return not is_inline(style) and _is_flattened(style)


def find_escape(style: StyleValues) -> frozenset[str]:
    """Return the values of `position` with which descendants of a clipped or moved element stay visible.

    The result is empty if the element is neither clipped nor moved away.
    """
    is_static = style.get("position", "static") == "static"
    if style.get("display") == "contents" or not (is_moved_away(style) or (not is_inline(style) and is_clipped(style))):
        return frozenset()
    return frozenset({"absolute", "fixed"}) if is_static and is_clipped(style) else frozenset({"fixed"})


def is_inline(style: StyleValues) -> bool:
    """Return whether an element is part of a line, and so has no box with a size of its own."""
    return style.get("display", "inline") in _INLINE


def is_clipped(style: StyleValues) -> bool:
    """Return whether an element clips its content so narrowly in one direction that nobody can read it."""
    get = style.get
    x, y = get("overflow-x", "visible"), get("overflow-y", "visible")
    if x == y == "visible" or str(get("display")).startswith("table"):
        return False
    clips_x = x != "visible" or y not in {"visible", "clip"}
    clips_y = y != "visible" or x not in {"visible", "clip"}
    limit = max(1.0, _MOST_CUT * get("font-size", 16.0))
    is_short = clips_y and (_used_size(style, "height") + get("padding-bottom", 0.0) <= limit or _has_flat_lines(style))
    return is_short or (clips_x and _used_size(style, "width") + get("padding-right", 0.0) <= limit)


def _has_flat_lines(style: StyleValues) -> bool:
    """Return whether the lines of a box have no height, so that a box as high as its content shows nothing."""
    sizes = [style.get(name, "auto") for name in ("height", "min-height")]
    return style.get("line-height", 1.2) <= 0.02 and sizes == ["auto", "auto"] and not style.get("padding-bottom")


def _used_size(style: StyleValues, name: str) -> float:
    """Return an upper bound of a width or height: infinite for `auto`."""
    size = _pixels(style.get(name, "auto"), float("inf"))
    size = min(size, _pixels(style.get(f"max-{name}", "auto"), float("inf")))
    return max(size, _pixels(style.get(f"min-{name}", "auto"), 0.0))


def _pixels(value: float | str, auto: float) -> float:
    return auto if isinstance(value, str) else value


def _is_flattened(style: StyleValues) -> bool:
    """Return whether transformations leave nothing to see, or move the box off the page."""
    steps: list[Transform] = [style.get(name, STILL) for name in ("transform", "translate", "scale", "rotate")]
    if any(step.is_flat for step in steps):
        return True
    if style.get("backface-visibility") == "hidden" and sum(step.shows_back for step in steps) % 2:
        return True
    right, down = _find_moves(style)
    across, below = _find_offset(style)
    # Dialogs are centred by an offset of half of the page and a move back by half of their size.
    return bool(right or down) and _is_off(across + right, below + down)


def _find_offset(style: StyleValues) -> tuple[float, float]:
    """Return how far `left`, `right`, `top` and `bottom` move a box to the right and down."""
    get = style.get
    if get("position", "static") in {"static", "sticky", "-webkit-sticky"}:
        return 0.0, 0.0
    left, right, top, bottom = (get(name, "auto") for name in ("left", "right", "top", "bottom"))
    across = left if left != "auto" else -right if right != "auto" else 0.0
    return across, top if top != "auto" else -bottom if bottom != "auto" else 0.0


def _find_moves(style: StyleValues) -> tuple[float, float]:
    """Return how far transformations move a box to the right and down."""
    steps: list[Transform] = [style.get(name, STILL) for name in ("transform", "translate")]
    return sum(step.right for step in steps), sum(step.down for step in steps)


def _is_off(right: float, down: float) -> bool:
    return right <= -FAR or down <= -FAR or right >= FAR_RIGHT or down >= FAR_DOWN


def is_moved_away(style: StyleValues) -> bool:
    """Return whether a position or a margin moves the box off the page."""
    get = style.get
    position = get("position", "static")
    if position not in {"static", "relative"} and _is_anchored_outside(style):
        return True
    (across, below), (right, down) = _find_offset(style), _find_moves(style)
    if _is_off(across, below) and _is_off(across + right, below + down):
        return True
    left, top = (_pixels(get(name, 0.0), 0.0) for name in ("margin-left", "margin-top"))
    if is_inline(style):
        return left <= -FAR
    # A negative margin smaller than the width only widens the box, up to the edges of the window; it hides nothing.
    width = _pixels(get("width", "auto"), 0.0)
    if left + width <= 0 and left <= -FAR and get("float", "none") != "none":
        return True
    return _is_off(min(left + width, 0.0) if left < 0 else left, top)


def _is_anchored_outside(style: StyleValues) -> bool:
    """Return whether `right` or `bottom` place a box of `position: absolute` off the other edge of the page."""
    get = style.get
    right = get("right", "auto") if get("left", "auto") == "auto" else "auto"
    bottom = get("bottom", "auto") if get("top", "auto") == "auto" else "auto"
    return _pixels(right, 0.0) >= FAR_RIGHT or _pixels(bottom, 0.0) >= FAR_DOWN


def hides_letters(style: StyleValues, text_length: int) -> bool:
    """Return whether an element's style hides the text directly in it, whatever its colours.

    `text_length` is the number of characters of the element's text.
    """
    get = style.get
    if get("visibility", "visible") != "visible" or get("-webkit-text-security", "none") != "none":
        return True
    adjust = get("font-size-adjust", "auto")
    if get("font-size", 16.0) < MIN_FONT or adjust == 0:
        return True
    indent: float = get("text-indent", 0.0)
    width = text_length * _MIN_LETTER * get("font-size", 16.0)
    is_pushed_out = indent >= WIDTH and (get("overflow-x", "visible") != "visible" or indent >= FAR_RIGHT)
    return indent <= -max(width, _MIN_INDENT) or is_pushed_out


def text_colour(style: StyleValues) -> Colour:
    """Return the colour in which an element's letters are painted."""
    if style.get(IS_DRAWN):
        paint: Colour | str = style.get("fill", BLACK)
        paint = style.get("color", BLACK) if isinstance(paint, str) else paint
        paint = paint._replace(alpha=paint.alpha * style.get("fill-opacity", 1.0))
        stroke = style.get("stroke")
        return stroke if paint.alpha == 0 and isinstance(stroke, Colour) else paint
    fill = style.get("-webkit-text-fill-color", "currentcolor")
    colour = style.get("color", BLACK) if fill == "currentcolor" else fill
    return colour if isinstance(colour, Colour) else BLACK


def is_painted(style: StyleValues) -> bool:
    """Return whether text is painted in other ways than by its colour: a shadow, an outline, a background."""
    get = style.get
    if style.get(IS_DRAWN):
        stroke = get("stroke")
        return stroke == "currentcolor" or (
            isinstance(stroke, Colour) and stroke.alpha != 0 and stroke != text_colour(style)
        )
    if get("text-shadow", False) or _pixels(get("-webkit-text-stroke-width", 0.0), 1.0) > 0:
        return True
    background = get("background-color")
    has_colour = isinstance(background, Colour) and background.alpha > 0
    return get("background-clip") == "text" and (get("background-image", "none") != "none" or has_colour)


def is_lost_in(colour: Colour, background: Colour, opacity: float = 1.0) -> bool:
    """Return whether text of a colour cannot be told from an opaque background."""
    return colour.alpha * opacity == 0 or look_same(blend(colour, background, opacity), background)


# The computed style of an element, from its declarations and the style of its parent.

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
"""Key of a pseudo-property: True if a box is wider than its content needs, so that its items can grow."""
_CUTTING: Final = frozenset({"svg", "iframe"})
"""Elements that cut off content outside of their box."""


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

    values: dict[str, CssValue]
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
    context = LengthContext(parent.values.get("font-size", 16.0), parent.root_size)
    if "font-size" in declarations:
        _apply("font-size", declarations, values, browser, parent, variables, context)
    size = values.get("font-size", 16.0)
    context = LengthContext(size, size if facts.tag == "html" else parent.root_size)
    for name in declarations:
        if name in PARSERS and name != "font-size":
            _apply(name, declarations, values, browser, parent, variables, context)
    _settle(values, parent)
    return ComputedStyle(values, variables, context.root_size)


def _browser_style(facts: ElementFacts, inherited: Mapping[str, CssValue]) -> dict[str, CssValue]:
    """Return the values that a browser's own style sheet sets."""
    style: dict[str, CssValue] = {"display": _DISPLAY.get(facts.tag, "inline")}
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
    values: dict[str, CssValue],
    browser: Mapping[str, CssValue],
    parent: ComputedStyle,
    variables: Variables,
    context: LengthContext,
) -> None:
    """Set one property to its computed value. A value that is not valid after `var()` counts as `unset`."""
    tokens = resolve(declarations[name], variables)
    keyword = "unset" if tokens is None else _wide_keyword(tokens)
    value: Any = None
    if not keyword and tokens is not None:
        value = PARSERS[name](tokens, context)
        keyword = "unset" if value is None else ""
    if keyword == "revert" and name in browser:
        value = browser[name]
    elif keyword == "inherit" or (keyword in {"unset", "revert"} and name in INHERITED):
        value = parent.values.get(name)
    if value is None:
        values.pop(name, None)
    elif value == CURRENT and name == "color":
        values[name] = parent.values.get("color", DARK_ON_MARK)
    else:
        values[name] = value


def _wide_keyword(tokens: CssTokens) -> str:
    is_keyword = len(tokens) == 1 and tokens[0].type == "ident" and tokens[0].lower_value in WIDE_KEYWORDS
    return str(tokens[0].lower_value) if is_keyword else ""


def _settle(values: dict[str, CssValue], parent: ComputedStyle) -> None:
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


def _contain(values: dict[str, CssValue]) -> None:
    """Set the size of a box with size containment to zero, and clip the content of a box with paint containment."""
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


# Start tags: decide from one alone whether its element is hidden, without a tree and without style sheets.

MAX_STYLE: Final = 20_000
"""Number of characters read of a style attribute. A longer one holds images."""


def hides_by_attributes(tag: str, attributes: Mapping[str, str]) -> bool:
    """Return whether the attributes of an element hide it with its text. Never raises.

    Names are in lower case. Descendants that show their text again are not considered.
    """
    if tag == "input" and attributes.get("type", "").lower() == "hidden":
        return True
    facts = describe(tag, attributes)
    style = compute_style(cascade_block(attributes.get("style", "")), INITIAL, facts).values
    if hides_box(style) or find_escape(style) or hides_letters(style, 0):
        return True
    colour, background = text_colour(style), style.get("background-color")
    if is_painted(style) or style.get("background-image", "none") != "none":
        return False
    if not isinstance(background, Colour) or background.alpha < 1:
        return colour.alpha == 0
    return is_lost_in(colour, background)


def describe(tag: str, attributes: Mapping[str, str]) -> ElementFacts:
    """Return the facts of an element that a browser's style sheet depends on."""
    is_closed = (tag == "dialog" and "open" not in attributes) or attributes.get("popover") is not None
    is_link = tag == "a" and "href" in attributes
    return ElementFacts(tag, attributes.get("hidden"), is_closed, is_link)


def cascade_block(css: str) -> dict[str, Declaration]:
    """Return the winning declarations of one block by property."""
    if not css or css.isspace():
        return {}
    winners: dict[str, Declaration] = {}
    for declaration in parse_declarations(css[:MAX_STYLE]):
        current = winners.get(declaration.name)
        if current is None or declaration.is_important or not current.is_important:
            winners[declaration.name] = declaration
    return winners


# Drawings and formulas: attributes that style their text, and text outside of its drawing.

_ATTRIBUTES: Final = (
    "clip-path", "color", "display", "fill", "fill-opacity", "filter", "font-size", "opacity", "stroke", "transform",
    "visibility",
)  # fmt: skip
"""Attributes of drawings that are read as the CSS properties of the same name (SVG 2, 6.6)."""
_SIZED: Final = ("width", "height")
_FORMULA: Final = {"mathcolor": "color", "mathbackground": "background-color", "mathsize": "font-size"}
"""Attributes of formulas, and the properties that they set (MathML Core, 2.1.3)."""
FORMULA_ATTRIBUTES: Final = tuple(_FORMULA)
_TAGS: Final = {
    **dict.fromkeys(("math", "mi", "mn", "mo", "mtext", "ms", "mrow", "mstyle", "merror"), FORMULA_ATTRIBUTES),
    **dict.fromkeys(("text", "tspan", "textpath", "g"), _ATTRIBUTES), "svg": (*_ATTRIBUTES, *_SIZED), "iframe": _SIZED,
}  # fmt: skip
_PLAIN: Final = frozenset({"font-size", "mathsize", *_SIZED})
"""Lengths that may lack a unit in attributes."""
_NUMBERS: Final = re.compile(r"-?\d+(?:\.\d+)?")
_NUMBER: Final = re.compile(r"\s*(-?\d+(?:\.\d+)?)(?:px)?\s*")
_GAP: Final = re.compile(r"(?<=\d)\s+(?=[-.\d])")
_STEP: Final = re.compile(r"(?<=translate\()[^()]*")
SHAPES: Final = ("rect", "circle", "ellipse", "path", "polygon", "polyline", "line", "image", "use")
"""Elements that may be painted behind text."""


def drawing_hints(element: HtmlElement) -> list[Declaration]:
    """Return the declarations that the attributes of a drawing or a frame stand for. Style sheets override them."""
    names = _TAGS.get(element.tag)
    if names is None:
        return []
    return [each for name in names if (value := element.get(name)) for each in _read_attribute(name, value)]


def _read_attribute(name: str, value: str) -> tuple[Declaration, ...]:
    if name in _PLAIN and (number := _NUMBER.fullmatch(value)):
        value = f"{number[1]}px"
    elif name == "transform":
        value = _STEP.sub(lambda match: ",".join(f"{each}px" for each in match[0].split(",")), _GAP.sub(",", value))
    return parse_declarations(f"{_FORMULA.get(name, name)}:{value}") if ";" not in value else ()


def list_drawn_texts(root: HtmlElement) -> list[HtmlElement]:
    """Return the elements of drawings that hold text."""
    texts = list(root.iter("text"))
    found = dict.fromkeys(texts)
    for text in texts:
        found.update(dict.fromkeys(text.iter("tspan", "textpath")))
        found.update((above, None) for above in text.iterancestors("g", "svg"))
    return list(found)


def is_outside(text: HtmlElement, length: int, style_of: Callable[[HtmlElement], StyleValues]) -> bool:
    """Return whether `x` and `y` place a text of a length outside of its drawing, which cuts it off."""
    around = [text, *text.iterancestors()]
    svg = next((each for each in around if each.tag == "svg"), text)
    inside = around[: around.index(svg)]
    edges, style = style_of(svg), style_of(text)
    is_moved = any(each.get("dx") or each.get("dy") or "transform" in style_of(each) for each in inside)
    if not inside or is_moved or edges.get("overflow-x") != "hidden":
        return False
    box = [float(each) for each in _NUMBERS.findall(svg.get("viewbox") or "")]
    size = style.get("font-size", 16.0)
    # Letters are at most as wide as high, and an anchor may be at both ends and at the top and bottom.
    for number, (name, side, reach) in enumerate((("x", "width", length * size), ("y", "height", size))):
        start, extent, slack = 0.0, edges.get(side, "auto"), 0.0
        if len(box) == 4:
            start, extent, slack = box[number], box[number + 2], box[number + 2]
        extent = math.inf if isinstance(extent, str) else extent
        place = _read_length(text.get(name), LengthContext(size, percent_base=extent))
        if place is not None and (place + reach <= start - slack or place - reach >= start + extent + slack):
            return True
    return False


def _read_length(value: str | None, context: LengthContext) -> float | None:
    number = _NUMBER.fullmatch(value or "")
    return float(number[1]) if number else parse_length(parse_tokens(value or ""), context)
