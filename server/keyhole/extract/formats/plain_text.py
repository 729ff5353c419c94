"""Read Markdown and plain text. Only inlined images, relative links, HTML and invisible characters change."""

from __future__ import annotations

import re
from binascii import a2b_base64
from typing import Final

from keyhole.extract.body import Body, match_signature
from keyhole.extract.formats.markdown_html import replace_html
from keyhole.extract.html.link_resolver import resolve_link
from keyhole.records import Document
from keyhole.text.clean import clean, count_invisible
from keyhole.text.markdown import parse_blocks, shorten_link

# A relative target, which does not start with a scheme or `#`.
_TARGET: Final = r"(?P<target>(?!#|[A-Za-z][A-Za-z0-9+.-]{0,30}:)[^\s()<>]{1,2000}+)"
# Code spans are matched first, so that links inside them are skipped. Each alternative ends where the next match of its
# kind could start, which keeps the scan linear.
_LINK: Final = re.compile(
    rf"`{{1,3}}[^`\n]{{1,1000}}`{{1,3}}|(?P<before>\]\(<?){_TARGET}(?=[()>]|[ \t\n]{{1,9}}[\"'()])"
)
_DEFINITION: Final = re.compile(rf"^(?P<before> {{0,3}}\[[^\]\[\n]{{1,300}}\]:[ \t]{{1,9}}<?){_TARGET}", re.MULTILINE)
# A target has no spaces, so the scan of an unclosed image ends at the first space.
_DATA_IMAGE: Final = re.compile(r"!\[([^\[\]\n]{0,300})\]\([ \t]?<?data:[^)\s]*+(?:[ \t][^)\n]{0,300})?\)?")
# Lines of base64 may be separated by escaped line breaks, and JSON may escape each slash.
_SIGN: Final = r"(?:[A-Za-z0-9+/_-]|\\/)"
_BASE64: Final = re.compile(
    r"(?:(?<![A-Za-z0-9+/_\\-])|(?<=\\[nr]))(?:data:(?P<kind>[\w.+/\\-]{1,80})[^\s\",]{0,80};base64,)?"
    rf"(?P<run>{_SIGN}{{60,}}+(?:(?:\\r)?\\n{_SIGN}++)*+=*+)"
)
_BREAKS: Final = re.compile(r"\\[nr]|\\")
_VARIED: Final = re.compile(r"(?=.*?[a-z])(?=.*?[A-Z]).*?[0-9]", re.DOTALL)
MIN_BASE64_CHARS: Final = 200
"""Least number of characters of base64 that is left out."""
MIN_UNKNOWN_CHARS: Final = 1_000
"""Characters of base64 that begins with no known signature and is left out. Keys and certificates mostly have fewer."""
TOP_CHARS: Final = 2_000
"""Characters in which the title of a text is searched for."""
_HEADING_LINK: Final = re.compile(r"\[([^\[\]\n]{0,300})\](?:\([^()\n]{0,2000}\)|\[[^\[\]\n]{0,300}\])")
_PICTURE: Final = re.compile(
    r"!\[([^\[\]\n]{0,300})\](?:\([^()\n]{0,2000}\)|\[[^\[\]\n]{0,300}\])|\[Image: ([^\[\]\n]{1,300})\]"
)
_LOGO: Final = re.compile(rf"[\s\[]{{0,99}}(?:{_PICTURE.pattern})")
"""A picture at the beginning of a text."""
_LOGO_SUFFIX: Final = re.compile(r"(?i)\b(?:logo|banner|icon|header|image)\W{0,20}$")
_BADGE: Final = re.compile(r"(?i)badge|shield|status|workflow|coverage|license|version|\bnpm\b|\bpypi\b|\bci\b")
"""Words of the pictures that show the state of a project."""
_UNDERLINED: Final = re.compile(r"(\S[^\n]{0,300})\n=+[ \t]*$", re.MULTILINE)
_FIRST_HEADING: Final = re.compile(r"^#{1,2}[ \t]++(\S[^\n]*)$", re.MULTILINE)
_FRONT_MATTER: Final = re.compile(r"---\n(.{0,5000}?)\n---(?:\n|$)", re.DOTALL)
_TITLE: Final = re.compile(r"^title:[ \t]{0,9}(['\"]?)(\S[^\n]{0,300})\1[ \t]{0,9}$", re.MULTILINE)


def read_plain(body: Body) -> Document:
    """Read plain text, source code and other text formats that have no reader."""
    text = body.text()
    title, cleaned = clean_plain_text(text)
    invisible = count_invisible(text)
    return Document(title=title, text=cleaned, media_type="", removed=(("invisible", invisible),) if invisible else ())


def clean_plain_text(text: str) -> tuple[str, str]:
    """Return the title and the cleaned text of a plain text. The title is the first heading near the top, or ""."""
    cleaned = _DATA_IMAGE.sub(lambda match: f"[IMAGE: {match[1]}]", clean(text))
    heading = _FIRST_HEADING.search(cleaned[:TOP_CHARS])
    return (_read_words(heading[1].rstrip("# \t")) if heading else ""), cleaned


def read_markdown(body: Body) -> Document:
    """Read Markdown. The title comes from the front matter, else from the first heading or the logo above it."""
    _, cleaned = clean_plain_text(body.text())
    front_matter = _FRONT_MATTER.match(cleaned)
    start = front_matter.end() if front_matter else 0
    text = replace_html(cleaned[start:], body.url)
    title = _find_title(text)
    if front_matter and (match := _TITLE.search(front_matter[1])):
        title = match[2].removesuffix(match[1]).rstrip()
    return Document(title=title, text=resolve_links(cleaned[:start] + text, body.url), media_type="")


def name_base64(text: str) -> str:
    """Replace each long run of base64 in JSON by its type and size: `[image/png, 3 KB, left out]`."""
    return _BASE64.sub(_name_run, text)


def _name_run(run: re.Match[str]) -> str:
    encoded = _BREAKS.sub("", run["run"]).rstrip("=")
    head = encoded[: min(400, len(encoded) // 4 * 4)]
    known = match_signature(a2b_base64(head.replace("-", "+").replace("_", "/")))
    kind = (run["kind"] or "").replace("\\", "") or (known[0] if known else "")
    if len(encoded) < (MIN_BASE64_CHARS if kind else MIN_UNKNOWN_CHARS) or not _VARIED.match(encoded[:1_000]):
        return run[0]
    return describe_left_out(kind or "base64", len(encoded) * 3 // 4)


def describe_left_out(kind: str, size: int) -> str:
    """Return the name of a value that is not shown. `size`: its bytes."""
    return f"[{kind}, {-(-size // 1_000):,} KB, left out]"


def format_markdown(text: str, url: str) -> str:
    """Return a Markdown text without HTML, inlined pictures and relative links. `url`: the address of the text."""
    return resolve_links(replace_html(clean_plain_text(text)[1], url), url)


def _find_title(markdown: str) -> str:
    """Return the name of a Markdown text: its only heading of the first level, or else the logo that it begins with.

    Without a logo it is the first heading near the top.
    """
    underlined = _UNDERLINED.match(markdown.lstrip()[:TOP_CHARS])
    if underlined:
        return _read_words(underlined[1])
    first = _FIRST_HEADING.search(markdown[:TOP_CHARS])
    is_named = first is not None and first[0].startswith("# ") and _count_names(markdown) == 1
    logo = None if is_named else _LOGO.match(markdown[: first.start() if first else TOP_CHARS])
    name = ""
    if logo and not _BADGE.search(logo[0]):
        name = _LOGO_SUFFIX.sub("", logo[1] or logo[2] or "").strip(" \t\n-–—:|,.")
    return name or (_read_words(first[1].rstrip("# \t")) if first else "")


def _count_names(markdown: str) -> int:
    """Return the number of headings of the first level."""
    headings = (block for block in parse_blocks(markdown) if block.kind == "heading")
    return sum(markdown[block.start : block.end].lstrip().partition(" ")[0] == "#" for block in headings)


def _read_words(heading: str) -> str:
    """Return the words of a heading without the addresses of links, marks of code, and pictures beside words."""
    without = _HEADING_LINK.sub(r"\1", _PICTURE.sub("", heading)).strip()
    words = without or _HEADING_LINK.sub(r"\1", _PICTURE.sub(lambda match: match[1] or match[2] or "", heading))
    return " ".join(words.replace("`", "").replace("**", "").split())


def resolve_links(text: str, base: str) -> str:
    """Resolve the relative link and image targets of a Markdown text.

    On the origin of `base`, targets become paths from its root; elsewhere and in link definitions, absolute URLs. Code,
    absolute targets and those that cannot be resolved are unchanged.
    """
    if not base or ("](" not in text and "]:" not in text):
        return text

    def resolve(match: re.Match[str], address: str = base) -> str:
        target = match["target"]
        if target is None:
            return match[0]
        return match["before"] + (shorten_link(resolve_link(base, target), address) or target)

    def resolve_all(piece: str) -> str:
        return _DEFINITION.sub(lambda match: resolve(match, ""), _LINK.sub(resolve, piece))

    pieces, position = [], 0
    for block in parse_blocks(text):
        if block.kind == "code":
            pieces += [resolve_all(text[position : block.start]), text[block.start : block.end]]
            position = block.end
    return "".join([*pieces, resolve_all(text[position:])])
