"""Pages with the marker, hidden or shown by techniques of all kinds, with Chromium's verdicts."""

from __future__ import annotations

from typing import Final

HIDDEN: Final = {
    "far left 600": '<div style="position:absolute;left:-600px;width:300px">MARKER</div>',
    "far left em": '<div style="position:absolute;left:-60em;width:20em">MARKER</div>',
    "margin left -100vw": '<div style="margin-left:-100vw;width:100px">MARKER</div>',
    "translate -110%": '<div style="transform:translateX(-110%)">MARKER</div>',
    "translate -100% block": '<div style="transform:translateX(-100%)">MARKER</div>',
    "top -100%": '<div style="position:fixed;top:-100%">MARKER</div>',
    "scale .05": '<div style="transform:scale(.05)">MARKER</div>',
    "clip inset 49.9": '<div style="clip-path:inset(49.9%)">MARKER</div>',
    "clip inset 49.9 side": '<div style="clip-path:inset(0 49.9% 0 49.9%)">MARKER</div>',
    "clip circle 1px": '<div style="clip-path:circle(1px)">MARKER</div>',
    "clip circle .1%": '<div style="clip-path:circle(.1%)">MARKER</div>',
    "shadow unslotted": '<div><template shadowrootmode="open"><p>x</p></template><p>MARKER</p></div>',
    "shadow wrong slot": (
        '<div><template shadowrootmode="open"><slot name=a></slot></template><p slot=b>MARKER</p></div>'
    ),
    "shadow fallback replaced": '<div><template shadowrootmode="open"><slot>MARKER</slot></template>text</div>',
    "shadow own style hides": (
        '<div><template shadowrootmode="open"><style>p{display:none}</style><p>MARKER</p></template></div>'
    ),
    "shadow host hidden": '<div hidden><template shadowrootmode="open"><p>MARKER</p></template></div>',
    "shadow host style": (
        '<div><template shadowrootmode="open"><style>:host{display:none}</style><p>MARKER</p></template></div>'
    ),
    "slot hidden in shadow": (
        '<div><template shadowrootmode="open"><div hidden><slot></slot></div></template><p>MARKER</p></div>'
    ),
    "supports not unknown": "<style>@supports not (foo:bar){.x{display:none}}</style><p class=x>MARKER</p>",
    "supports known": "<style>@supports (gap:1px){.x{display:none}}</style><p class=x>MARKER</p>",
    "supports selector has": "<style>@supports selector(:has(a)){.x{display:none}}</style><p class=x>MARKER</p>",
    "supports variable": "<style>@supports (--a:b){.x{display:none}}</style><p class=x>MARKER</p>",
    "supports webkit": "<style>@supports (-webkit-appearance:none){.x{display:none}}</style><p class=x>MARKER</p>",
    "supports font tech": "<style>@supports font-tech(color-COLRv1){.x{display:none}}</style><p class=x>MARKER</p>",
    "abbr title": '<p><abbr title="MARKER">M</abbr></p>',
    "title attribute": '<p title="MARKER">M</p>',
    "hsl white": '<div style="color:hsl(0 0% 100%)">MARKER</div>',
    "light-dark again": '<div style="color:light-dark(#fff,#000)">MARKER</div>',
    "height 1px auto": '<div style="height:1px;overflow:auto">MARKER</div>',
    "opacity animation forwards": (
        '<style>@keyframes f{to{opacity:0}}</style><div style="animation:f 1s forwards">MARKER</div>'
    ),
}
VISIBLE: Final = {
    "option": "<select><option>x<option>MARKER</select>",
    "bar full width gradient": (
        '<div style="background:linear-gradient(to right,#36c 100%,transparent 100%);width:300px">'
        '<span style="color:#fff">MARKER</span></div>'
    ),
    "bar sibling behind": (
        '<div style="position:relative;width:300px;height:20px">'
        '<div style="position:absolute;left:0;top:0;width:100%;height:100%;background:#36c"></div>'
        '<span style="position:relative;color:#fff">MARKER</span></div>'
    ),
    "bar full padding": (
        '<div style="width:300px;overflow:hidden">'
        '<div style="width:100%;height:20px;background:#080"><span style="color:white">MARKER</span>'
        "</div></div>"
    ),
    "bar translate full": (
        '<div style="width:300px;overflow:hidden">'
        '<div style="transform:translateX(0%);background:#080;color:#fff">MARKER</div></div>'
    ),
    "bar clip inset zero": '<div style="clip-path:inset(0 0% 0 0);background:#080;color:#fff">MARKER</div>',
    "bar after flex": (
        '<div style="display:flex;width:300px"><div style="flex:0 0 100%;background:#c00;color:#fff">MARKER</div></div>'
    ),
    "bar td bgcolor": (
        '<table width=300><tr><td style="background:#c00;width:100%"><font color=white>MARKER</font></td></tr></table>'
    ),
    "bar scaleX full": '<div style="transform:scaleX(1);background:#080;color:#fff">MARKER</div>',
    "bar max width 0 no overflow": '<div style="max-width:0">MARKER</div>',
    "bar svg full": (
        '<svg width=300 height=20><rect width=300 height=20 fill="#36c"/><text x=5 y=15 fill="#fff">MARKER</text></svg>'
    ),
    "font .1em": '<div style="font-size:.1em">MARKER</div>',
    "font 12%": '<div style="font-size:12%">MARKER</div>',
    "clip inset 40": '<div style="clip-path:inset(0 40% 0 0)">MARKER</div>',
    "line height 0": '<div style="line-height:0">MARKER</div>',
    "line height 1px hidden": '<div style="line-height:1px;overflow:hidden">MARKER</div>',
    "shadow open": '<div><template shadowrootmode="open"><p>MARKER</p></template></div>',
    "shadow slotted": '<div><template shadowrootmode="open"><p><slot></slot></p></template><p>MARKER</p></div>',
    "shadow named slot": (
        '<div><template shadowrootmode="open"><slot name=a></slot></template><p slot=a>MARKER</p></div>'
    ),
    "shadow fallback": '<div><template shadowrootmode="open"><slot>MARKER</slot></template></div>',
    "shadow style not outside": (
        '<div><template shadowrootmode="open"><style>p{display:none}</style><i>x</i></template></div><p>MARKER</p>'
    ),
    "page style not inside": (
        '<style>.k{display:none}</style><div><template shadowrootmode="open"><p class=k>MARKER</p></template></div>'
    ),
    "shadow text slotted": '<div><template shadowrootmode="open"><slot></slot></template>MARKER</div>',
    "shadow nested": (
        '<div><template shadowrootmode="open"><div><template shadowrootmode="open"><p>MARKER</p>'
        "</template></div></template></div>"
    ),
    "slot outside shadow": "<div><slot>MARKER</slot></div>",
    "supports selector unknown": "<style>@supports selector(:foo-bar){.x{display:none}}</style><p class=x>MARKER</p>",
    "supports moz": "<style>@supports (-moz-appearance:none){.x{display:none}}</style><p class=x>MARKER</p>",
    "supports bad value": "<style>@supports (display:foo){.x{display:none}}</style><p class=x>MARKER</p>",
    "letter spacing": '<div style="letter-spacing:-1em">MARKER</div>',
    "word spacing": '<div style="word-spacing:-100px">MARKER</div>',
    "mix blend": '<div style="mix-blend-mode:screen;color:#000">MARKER</div>',
    "columns": '<div style="overflow:hidden;height:20px;columns:1px 1">MARKER</div>',
    "position behind": '<div style="position:relative;z-index:-1">MARKER</div>',
    "inert again": "<div inert>MARKER</div>",
    "aria hidden again": "<div aria-hidden=true>MARKER</div>",
    "textarea again": "<textarea rows=2 cols=30>MARKER</textarea>",
}
UNREADABLE: Final = {
    "font of two pixels": '<div style="font-size:2px">MARKER</div>',
    "font of 2.4 pixels": '<div style="font-size:2.4px">MARKER</div>',
    "box of four pixels": '<div style="width:4px;white-space:nowrap;overflow:hidden">MARKER</div>',
    "zoom of a tenth": '<div style="zoom:.1">MARKER</div>',
}
"""Text that Chromium paints, but that nobody can read."""
