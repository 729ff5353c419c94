"""Pages of each format that Keyhole reads, whose text is hostile."""

from __future__ import annotations

import io
import zipfile
import zlib
from typing import Final

from benchmarks.extraction.mutations.hostile_pdf import make_pdf
from benchmarks.server.hostile_bodies.attack import (
    CHARACTERS,
    HOST,
    JSON,
    NESTED,
    Attack,
    Body,
    BodyKind,
    Lead,
    SiteReply,
    between,
    containers,
    fetch,
    kind,
    nested,
    numbered,
    numbers,
    runs,
    strings,
)
from keyhole.config.config import Config

LIMIT: Final = Config().max_bytes
OFFICE: Final = "application/vnd.openxmlformats-officedocument."
_END: Final = "\n\nThe mark of the boat ends.\n"


def page(content_type: str, suffix: str = "") -> Lead:
    """Return the lead to a page."""
    target = f"{HOST}/page{suffix}"

    def lead(body: bytes) -> Attack:
        return fetch(f"http://{target}", {target: SiteReply(body, content_type)}, target)

    return lead


HTML: Final = page("text/html; charset=utf-8")
MARKDOWN: Final = page("text/markdown; charset=utf-8")
PLAIN: Final = page("text/plain; charset=utf-8")
XML: Final = page("application/xml")
FEED: Final = page("application/rss+xml")


def _entities(root: str) -> Body:
    """Return a document whose entities grow tenfold with each level; its size is that of a comment after them."""
    levels = "".join(f'<!ENTITY e{n} "{f"&e{n - 1};" * 10}">' for n in range(1, 10))
    start = f'<?xml version="1.0"?><!DOCTYPE {root} [<!ENTITY e0 "boat">{levels}]><{root}><title>t</title>&e9;<!--'
    return between(start, "-x", f"--></{root}>")


def _zipped(**parts: Body) -> Body:
    """Return an archive. Its size is that of the unpacked parts; double underscores in names stand for slashes."""

    def make(size: int) -> bytes:
        file = io.BytesIO()
        with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
            for name, body in parts.items():
                archive.writestr(name.replace("__", "/").replace("_dot_", "."), body(size))
        return file.getvalue()

    return make


def _pdf(unit: bytes, pages: int = 1) -> Body:
    """Return a PDF file. Its size is that of the unpacked content."""
    return lambda size: make_pdf(b"BT /F 12 Tf " + unit * (size // len(unit)) + b" ET", pages=pages)


_WORD: Final = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
_DOCX: Final = _zipped(word__document_dot_xml=nested(
    "<w:p>", "</w:p>", start=f'<w:document xmlns:w="{_WORD}"><w:body>', end="</w:body></w:document>"))  # fmt: skip
_EPUB: Final = _zipped(
    **{"META-INF__container_dot_xml": lambda _: b'<container><rootfile full-path="a.opf"/></container>'},
    a_dot_opf=numbered('<package><manifest>', '<item id="i{n}" href="i{n}.html"/>', "</manifest></package>"),
)  # fmt: skip
_SHEET: Final = _zipped(
    xl__workbook_dot_xml=numbered("<workbook><sheets>", '<sheet name="{n}"/>', "</sheets></workbook>")
)
_STYLES: Final = (
    between("<style>", "a{display:none}", "</style><p>words"), between("<style>", ":is(", "</style><p>words"),
    between("<style>", "a ", "</style><p>words"), between("<style>", "@media x{", "</style><p>words"),
    between('<p style="', "--a:var(--a);", '">words'), between('<p class="', "a ", '">words'),
    numbered("<style>", ".c{n}>*~*{color:red}", "</style>" + "<div>" * 200 + "words"),
)  # fmt: skip

_RSS: Final = "<rss><channel><title>t</title>"

KINDS: Final = (
    kind("page-tags", LIMIT, HTML, *(nested(f"<{tag}>", f"</{tag}>", middle="words") for tag in (
        "div", "b", "ul><li", "table><tr><td", "svg", "select", "blockquote", "math", "template", "a href=x"))),
    kind("page-broken", LIMIT, HTML, *runs("<", "</", "<!", "<!--", "<![CDATA[", "&", "&#1", "<a", "<b ", "<p>", "\0")),
    kind("page-attributes", LIMIT, HTML, *(between("<p ", unit, ">words") for unit in ("x ", "x=1 ", "x='", "=", " ")),
         numbered("<p ", "a{n}=1 ", ">words")),
    kind("page-links", LIMIT, HTML, *runs("<a href=x>w</a>", "<img src=x alt=w>"), numbered("", "<a href={n}>w</a> ")),
    kind("page-styles", LIMIT, HTML, *_STYLES),
    kind("page-data", LIMIT, HTML, *(
        between(f"<p>words<script type=application/{name}>", unit, "</script>") for name in ("ld+json", "json")
        for unit in ("[", '{"a":', "1,", '"a",'))),
    kind("page-head", LIMIT, HTML, *(between("<head>", unit, "</head><p>words") for unit in (
        "<link ", "<link rel=alternate type=text/markdown>", "<script ", "<!--", "<meta name=generator ", "<meta ",
        "<link rel=alternate href=' ", "<title>"))),
    kind("markdown-runs", LIMIT, MARKDOWN, *(between("words\n\n", unit, _END) for unit in CHARACTERS)),
    kind("markdown-headings", LIMIT, MARKDOWN, *(
        between(f"# T\n\nwords\n\n## {start}", unit, f"1.0{_END}")
        for start in ("", "a") for unit in ("\u00a0", " #", "`"))),
    kind("markdown-units", LIMIT, MARKDOWN, *runs(
        "> ", "- ", "1. ", "[a](", "![", "](", "<a>", "| a ", "```\n", "# a\n", "**a", "[^1]: ", "<!-- ", "a\n---\n")),
    kind("text-lines", LIMIT, PLAIN, *runs("word ", "a", "\n", " ", "\r", "\t", "9", ".", "a-", "https://a.",
                                        "\u4e2d", "\u0301")),
    kind("csv-cells", LIMIT, page("text/csv", ".csv"), *runs(",", '"', '",', "a,b\n", ",\n", '""')),
    kind("json-nested", LIMIT, page(JSON), *NESTED),
    kind("json-values", LIMIT, page(JSON), *numbers(), *strings(), *containers()),
    kind("xml-nested", LIMIT, XML, nested("<a>", "</a>"), _entities("data"),
         between("<!DOCTYPE a [", '<!ENTITY a "b">', "]><a>&a;</a>"),
         *runs("<a>", "<a b='c'/>", "<!-- ", "<?a ", "<![CDATA[")),
    kind("feed-nested", LIMIT, FEED, nested("<item>", "</item>", start=_RSS, end="</channel></rss>"), _entities("rss"),
         numbered(_RSS, "<item><title>{n}</title></item>", "</channel></rss>"),
         between(f"{_RSS}<item><description>", "&lt;b&gt;", "</description></item></channel></rss>"),
         between(f"{_RSS}<item><title>", "&a;", "</title></item></channel></rss>")),
    kind("pdf-streams", 2 * LIMIT, page("application/pdf"),
         *(_pdf(unit, pages) for unit, pages in ((b"(a)Tj ", 1), (b"(a)Tj ", 50), (b"q ", 1), (b"[", 1)))),
    BodyKind("zip-documents", 10 * LIMIT, (
        (page(f"{OFFICE}wordprocessingml.document"), _DOCX), (page("application/epub+zip"), _EPUB),
        (page(f"{OFFICE}spreadsheetml.sheet"), _SHEET), (page("application/zip"), _zipped(a=between("", "a"))),
        (page("image/svg+xml"), nested("<g>", "</g>", start='<svg xmlns="http://www.w3.org/2000/svg">', end="</svg>")),
        (page("application/octet-stream"), lambda size: zlib.compress(bytes(size))),
    )),
)  # fmt: skip
