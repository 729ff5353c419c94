"""Write tag soup: random tags in any order, odd and huge attributes, deep nesting, broken CSS. No I/O."""

from __future__ import annotations

from random import Random
from typing import Final

TAGS: Final = (
    "table", "tr", "td", "th", "caption", "tbody", "thead", "col", "form", "select", "option", "optgroup", "textarea",
    "input", "button", "label", "svg", "math", "mi", "mtext", "foreignObject", "annotation", "template", "noscript",
    "style", "script", "title", "iframe", "object", "video", "p", "div", "span", "a", "b", "i", "em", "pre", "code",
    "ul", "ol", "li", "dl", "dt", "dd", "h1", "h2", "h7", "main", "article", "section", "nav", "aside", "header",
    "footer", "details", "summary", "dialog", "ruby", "rt", "rp", "blockquote", "q", "br", "hr", "img", "base",
    "meta", "link", "html", "head", "body", "frameset", "frame", "plaintext", "xmp", "listing", "x:y", "a{b}", 'c"d',
    "o:p", "custom-element", "sup", "sub", "del", "ins", "kbd", "font", "center", "marquee", "figure", "figcaption",
    "picture", "source", "audio", "track", "map", "area", "math:mi", "svg:svg",
)  # fmt: skip
ATTRIBUTES: Final = (
    "hidden", "id=a", "id=fn1", "class='note hidden'", "class", "style='display:none'", "style='color:#fff;;:x'",
    "style='width:calc(((1px'", "href=http://[", "href='#fn1'", "href=javascript:x", "src=//[::", "colspan=99999",
    "rowspan=0", "colspan='²'", "start=-9", "start='½'", "value=99999999999999999999", "{u}x=1", "{u=1", "xmlns:a=b",
    "a:b=c", "=x", '"\'', "open", "popover", "itemprop=datePublished", "datetime=9999-99-99", "content='&#11;'",
    "dir=rtl", "type=checkbox", "checked", "role=navigation", "aria-hidden=true", 'data-x=\'{"a":\'', "title='\x0b'",
    "lang='\x00'", "alt='![x](y)'", "encoding=application/x-tex", "name=description", "property=og:title",
    "charset=utf-16", "media=print",
)  # fmt: skip
TEXTS: Final = (
    "words of a page", "The road follows the river, and the keeper waits at every station. ", " ", "\n", "&#11;",
    "&#xB", "&#0;", "&#55357;", "&#56832;", "&#xFFFF;", "&nbsp;", "&", "<", ">", "\x0b", "\x00", "\x1b[31m", "\ufffe",
    "\u202e", "\u200d", "[x](y)", "```", "| a |", "# h", "* ", "1. ", "$x$", "<!--", "-->", "<![CDATA[", "]]>",
    "<?php", "?>", "</", "<!", "</p>", "</script>", '{"@type":', "a{display:none}", "@media{", "}", "/*", "\\", "é",
    "山", "😀",
)  # fmt: skip


def write_soup(rng: Random) -> str:
    """Return a page of up to 300 random pieces, sometimes deep or with a huge attribute."""
    pieces = ["<!doctype html>"] if rng.random() < 0.5 else []
    pieces += [_write_piece(rng) for _ in range(rng.randint(1, 300))]
    if rng.random() < 0.1:
        tag = rng.choice(TAGS)
        pieces.insert(rng.randrange(len(pieces) + 1), f"<{tag}>" * rng.choice((100, 1_000, 5_000)))
    if rng.random() < 0.05:
        pieces.insert(rng.randrange(len(pieces) + 1), f"<p {rng.choice(ATTRIBUTES)} title='{'x ' * 100_000}'>")
    return "".join(pieces)


def _write_piece(rng: Random) -> str:
    kind = rng.random()
    if kind < 0.4:
        attributes = "".join(f" {rng.choice(ATTRIBUTES)}" for _ in range(rng.choice((0, 0, 1, 1, 2, 5))))
        return f"<{rng.choice(TAGS)}{attributes}{rng.choice(('>', '>', '>', '/>', ''))}"
    return f"</{rng.choice(TAGS)}>" if kind < 0.6 else rng.choice(TEXTS)
