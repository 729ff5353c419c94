"""The PDF files that are measured: manuals of Debian packages with the same text as HTML, and pages printed here."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Final

from bs4 import BeautifulSoup, XMLParsedAsHTMLWarning

NAVIGATION: Final = (
    ".navheader",
    ".navfooter",
    ".toc",
    ".related",
    ".sphinxsidebar",
    ".wy-nav-side",
    ".wy-breadcrumbs",
    ".footer",
    "footer",
    "script",
    "style",
    "head",
    ".navigation",
    ".header:not(:has(.headertitle))",
    "#top",
    "#nav-path",
    "#side-nav",
    "nav",
    ".contents.topic",
    "nav.contents",
    "a.headerlink",
    ".LIST_OF_FIGURES",
    ".ChildLinks",
    "#toctitle",
    "#toc",
    ".clickable-image",
    "title",
)
"""What a generator of HTML adds, or what only one of the two forms has."""


@dataclass(frozen=True, slots=True)
class Pair:
    """A PDF file and the HTML pages with the same text, as paths in a package."""

    package: str
    pdf: str
    html: tuple[str, ...]
    made_with: str
    language: str = "en"
    unseen: bool = False
    """True for a document that nobody looked at while the reader was written."""
    printed: str = ""
    """How the PDF file is made here from the first HTML page: `chromium`, `columns`, `libreoffice` or
    `typst`."""

    @property
    def name(self) -> str:
        """The name of the document in the table."""
        name = self.pdf.rsplit("/", 1)[-1].partition(".pdf")[0] if self.pdf else self.html[0].rsplit("/", 1)[-1]
        return f"{self.package}: {name}"


_DOC: Final = "usr/share/doc/"
_POLICY: Final = f"{_DOC}debian-policy/policy.html/"
_HISTORY: Final = f"{_DOC}debian-history/docs/"


def _history(language: str, *, unseen: bool) -> Pair:
    return Pair(
        "debian-history",
        f"{_HISTORY}project-history.{language}.pdf",
        (f"{_HISTORY}*.{language}.html",),
        "dblatex, XeTeX",
        language,
        unseen,
    )


def _krb5(name: str, *, unseen: bool) -> Pair:
    return Pair(
        "krb5-doc",
        f"{_DOC}krb5-doc/{name}.pdf.gz",
        (f"{_DOC}krb5-doc/{name}/*.html", f"{_DOC}krb5-doc/{name}/*/*.html"),
        "Sphinx, pdfTeX",
        unseen=unseen,
    )


def _nut(name: str, *, unseen: bool) -> Pair:
    pages = (f"{_DOC}nut-doc/html/{name}/*.html", f"{_DOC}nut-doc/html/{name}.html")
    return Pair("nut-doc", f"{_DOC}nut-doc/pdf/{name}.pdf", pages, "dblatex, pdfTeX", unseen=unseen)


PAIRS: Final = (
    Pair(
        "maint-guide-fr",
        f"{_DOC}maint-guide-fr/maint-guide.fr.pdf",
        (f"{_DOC}maint-guide-fr/html/*.html",),
        "dblatex, XeTeX",
        "fr",
    ),
    Pair(
        "debian-faq-it",
        f"{_DOC}debian/FAQ/debian-faq.it.pdf.gz",
        (f"{_DOC}debian/FAQ/it/*.html",),
        "dblatex, XeTeX",
        "it",
    ),
    Pair(
        "developers-reference-ja",
        "usr/share/developers-reference/ja/developers-reference.pdf",
        ("usr/share/developers-reference/ja/*.html",),
        "Sphinx, dvipdfmx",
        "ja",
    ),
    Pair(
        "doxygen-doc",
        f"{_DOC}doxygen/doxygen_manual.pdf",
        (f"{_DOC}doxygen/html/*.html",),
        "Doxygen, pdfTeX",
    ),
    Pair(
        "debian-policy",
        f"{_DOC}debian-policy/policy.pdf.gz",
        (f"{_POLICY}*.html",),
        "Sphinx, XeTeX",
    ),
    Pair(
        "debian-policy",
        f"{_DOC}debian-policy/fhs/fhs-3.0.pdf.gz",
        (f"{_DOC}debian-policy/fhs/*.html",),
        "FOP",
    ),
    Pair(
        "bash-doc",
        f"{_DOC}bash-doc/bash.pdf",
        (f"{_DOC}bash-doc/bash.html", f"{_DOC}bash/bash.html"),
        "groff, Ghostscript",
    ),
    Pair(
        "bird2-doc",
        f"{_DOC}bird2/bird.pdf.gz",
        (f"{_DOC}bird2/bird-*.html",),
        "LinuxDoc, pdfTeX",
    ),
    _history("de", unseen=False),
    _history("ko", unseen=False),
    _history("pt", unseen=False),
    _krb5("admin", unseen=False),
    _nut("user-manual", unseen=False),
    Pair("debian-policy", "", (f"{_POLICY}ch-controlfields.html",), "Chromium", printed="chromium"),
    Pair(
        "debian-policy",
        "",
        (f"{_POLICY}ch-source.html",),
        "Chromium, two columns",
        printed="columns",
    ),
    Pair(
        "debian-policy",
        "",
        (f"{_POLICY}ch-files.html",),
        "Typst",
        printed="typst",
    ),
    Pair(
        "maint-guide-ja",
        f"{_DOC}maint-guide-ja/maint-guide.ja.pdf",
        (f"{_DOC}maint-guide-ja/html/*.html",),
        "dblatex, XeTeX",
        "ja",
        unseen=True,
    ),
    Pair(
        "debian-faq-ru",
        f"{_DOC}debian/FAQ/debian-faq.ru.pdf.gz",
        (f"{_DOC}debian/FAQ/ru/*.html",),
        "dblatex, XeTeX",
        "ru",
        unseen=True,
    ),
    Pair(
        "debian-reference-pt",
        "usr/share/debian-reference/debian-reference.pt.pdf",
        ("usr/share/debian-reference/*.pt.html",),
        "dblatex, XeTeX",
        "pt",
        unseen=True,
    ),
    Pair(
        "gnuplot-doc",
        f"{_DOC}gnuplot/gnuplot.pdf",
        (f"{_DOC}gnuplot/htmldocs/*.html",),
        "pdfTeX",
        unseen=True,
    ),
    Pair(
        "scons-doc",
        f"{_DOC}scons/PDF/scons-user.pdf.gz",
        (f"{_DOC}scons/HTML/*.html",),
        "FOP",
        unseen=True,
    ),
    Pair(
        "zsh-doc",
        f"{_DOC}zsh-common/zsh.pdf",
        (f"{_DOC}zsh-common/html/*.html",),
        "Texinfo, pdfTeX",
        unseen=True,
    ),
    Pair(
        "dblatex-doc",
        f"{_DOC}dblatex/manual.pdf.gz",
        (f"{_DOC}dblatex/xhtml/manual/*.html",),
        "dblatex, pdfTeX",
        unseen=True,
    ),
    Pair(
        "bird2-doc",
        f"{_DOC}bird2/prog.pdf.gz",
        (f"{_DOC}bird2/prog-*.html",),
        "LinuxDoc, pdfTeX",
        unseen=True,
    ),
    _history(
        "fr",
        unseen=True,
    ),
    _history(
        "es",
        unseen=True,
    ),
    _history(
        "lt",
        unseen=True,
    ),
    _history(
        "ru",
        unseen=True,
    ),
    _krb5(
        "appdev",
        unseen=True,
    ),
    _nut(
        "developer-guide",
        unseen=True,
    ),
    Pair(
        "debian-policy",
        "",
        (f"{_POLICY}ch-maintainerscripts.html",),
        "Chromium",
        unseen=True,
        printed="chromium",
    ),
    Pair(
        "debian-policy",
        "",
        (f"{_POLICY}ch-opersys.html",),
        "Chromium, two columns",
        unseen=True,
        printed="columns",
    ),
    Pair(
        "debian-policy",
        "",
        (f"{_POLICY}ch-archive.html",),
        "LibreOffice",
        unseen=True,
        printed="libreoffice",
    ),
    Pair(
        "debian-policy",
        "",
        (f"{_POLICY}ch-relationships.html",),
        "Typst",
        unseen=True,
        printed="typst",
    ),
)


def read_source(pages: list[bytes]) -> BeautifulSoup:
    """Return the pages of a document without what their generator adds."""
    soup = BeautifulSoup("<main></main>", "html.parser")
    for page in pages:
        with warnings.catch_warnings(action="ignore", category=XMLParsedAsHTMLWarning):
            tree = BeautifulSoup(page, "lxml")
        for element in tree.select(", ".join(NAVIGATION)):
            element.extract()
        assert soup.main is not None
        soup.main.append(tree.body or tree)
    return soup
