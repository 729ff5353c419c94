"""Decide from the computed style of an element whether its box, or the text in it, can be seen."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from keyhole.extract.html.visibility.colours import BLACK, MAX_DIFFERENCE, Colour, blend, look_same
from keyhole.extract.html.visibility.lengths import WIDTH
from keyhole.extract.html.visibility.properties import Value
from keyhole.extract.html.visibility.shapes import FAR, STILL, Transform

Style = Mapping[str, Value]
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
"""Key of a value that is no property: True for the elements of a drawing, whose text is painted by `fill`."""
_INLINE: Final = frozenset({"inline", "contents", "ruby", "flow"})
"""Values of `display` that make no box with a size: widths, overflow and transforms do not apply."""


def hides_box(style: Style) -> bool:
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


def find_escape(style: Style) -> frozenset[str]:
    """Return the positions that a descendant needs to be visible although the element is clipped or moved away.

    The result is empty if the element is neither.
    """
    is_static = style.get("position", "static") == "static"
    if style.get("display") == "contents" or not (is_moved_away(style) or (not is_inline(style) and is_clipped(style))):
        return frozenset()
    return frozenset({"absolute", "fixed"}) if is_static and is_clipped(style) else frozenset({"fixed"})


def is_inline(style: Style) -> bool:
    """Return whether an element is part of a line, and so has no box with a size of its own."""
    return style.get("display", "inline") in _INLINE


def is_clipped(style: Style) -> bool:
    """Return whether an element clips its content in one direction to what nobody can read."""
    get = style.get
    x, y = get("overflow-x", "visible"), get("overflow-y", "visible")
    if x == y == "visible" or str(get("display")).startswith("table"):
        return False
    clips_x = x != "visible" or y not in {"visible", "clip"}
    clips_y = y != "visible" or x not in {"visible", "clip"}
    limit = max(1.0, _MOST_CUT * get("font-size", 16.0))
    is_short = clips_y and (_used_size(style, "height") + get("padding-bottom", 0.0) <= limit or _has_flat_lines(style))
    return is_short or (clips_x and _used_size(style, "width") + get("padding-right", 0.0) <= limit)


def _has_flat_lines(style: Style) -> bool:
    """Return whether the lines of a box have no height, so that a box as high as its content shows nothing."""
    sizes = [style.get(name, "auto") for name in ("height", "min-height")]
    return style.get("line-height", 1.2) <= 0.02 and sizes == ["auto", "auto"] and not style.get("padding-bottom")


def _used_size(style: Style, name: str) -> float:
    """Return an upper bound of a width or height: infinite for `auto`."""
    size = _pixels(style.get(name, "auto"), float("inf"))
    size = min(size, _pixels(style.get(f"max-{name}", "auto"), float("inf")))
    return max(size, _pixels(style.get(f"min-{name}", "auto"), 0.0))


def _pixels(value: float | str, auto: float) -> float:
    return auto if isinstance(value, str) else value


def _is_flattened(style: Style) -> bool:
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


def _find_offset(style: Style) -> tuple[float, float]:
    """Return how far `left`, `right`, `top` and `bottom` move a box to the right and down."""
    get = style.get
    if get("position", "static") in {"static", "sticky", "-webkit-sticky"}:
        return 0.0, 0.0
    left, right, top, bottom = (get(name, "auto") for name in ("left", "right", "top", "bottom"))
    across = left if left != "auto" else -right if right != "auto" else 0.0
    return across, top if top != "auto" else -bottom if bottom != "auto" else 0.0


def _find_moves(style: Style) -> tuple[float, float]:
    """Return how far transformations move a box to the right and down."""
    steps: list[Transform] = [style.get(name, STILL) for name in ("transform", "translate")]
    return sum(step.right for step in steps), sum(step.down for step in steps)


def _is_off(right: float, down: float) -> bool:
    return right <= -FAR or down <= -FAR or right >= FAR_RIGHT or down >= FAR_DOWN


def is_moved_away(style: Style) -> bool:
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
    # A box that is wider than its margin reaches into the page: authors let boxes grow to the edges of the window.
    width = _pixels(get("width", "auto"), 0.0)
    if left + width <= 0 and left <= -FAR and get("float", "none") != "none":
        return True
    return _is_off(min(left + width, 0.0) if left < 0 else left, top)


def _is_anchored_outside(style: Style) -> bool:
    """Return whether `right` or `bottom` place a box of `position: absolute` off the other edge of the page."""
    get = style.get
    right = get("right", "auto") if get("left", "auto") == "auto" else "auto"
    bottom = get("bottom", "auto") if get("top", "auto") == "auto" else "auto"
    return _pixels(right, 0.0) >= FAR_RIGHT or _pixels(bottom, 0.0) >= FAR_DOWN


def hides_letters(style: Style, text_length: int) -> bool:
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


def text_colour(style: Style) -> Colour:
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


def is_painted(style: Style) -> bool:
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
