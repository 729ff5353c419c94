"""List the manuals of Debian packages that are measured, and sample their pages."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final, TypeVar

Item = TypeVar("Item")
SAMPLE: Final = 60
"""Pages of a manual. They take about ten seconds, so that all manuals take under three minutes on two cores."""
_MAX_BYTES: Final = 1_500_000
"""Bytes of the longest page that is measured. Longer ones repeat a whole manual on one page."""


@dataclass(frozen=True, slots=True)
class Manual:
    """A manual, and the parts of its pages that its generator adds to find one's way and that are not its content."""

    name: str
    """The name of the Debian package, or of a folder."""
    generator: str
    folder: str
    """The folder of its pages, in the package or absolute."""
    patterns: tuple[str, ...] = ("**/*.html",)
    """The pages, relative to the folder."""
    navigation: tuple[str, ...] = ()
    """CSS selectors of headers, footers, menus and tables of contents, besides `nav` and `role=navigation`."""
    code: str = "pre"
    """CSS selector of code blocks."""


MANUALS: Final = (
    Manual(
        "postgresql-doc-15", "DocBook XSL", "usr/share/doc/postgresql-doc-15/html",
        navigation=(".navheader", ".navfooter", ".toc"),
    ),
    Manual(
        "python3.11-doc", "Sphinx", "usr/share/doc/python3.11/html",
        navigation=("body > .footer", ".related", ".sphinxsidebar", ".mobile-nav"),
    ),
    Manual(
        "git-doc", "AsciiDoc", "usr/share/doc/git-doc",
        navigation=("#footer", "#toc"),
    ),
    Manual(
        "sqlite3-doc", "hand-written HTML", "usr/share/doc/sqlite3",
        navigation=(".menu", ".searchmenu", ".tagline", ".fancy_toc"),
    ),
    Manual(
        "openjdk-17-doc", "javadoc", "usr/share/doc/openjdk-17-jre-headless/api",
        navigation=("[role=banner]", "[role=contentinfo]"),
    ),
    Manual(
        "rust-doc", "rustdoc and mdBook", "usr/share/doc/rust-doc/html",
        ("std/**/*.html", "book/*.html", "reference/**/*.html", "nomicon/*.html"),
        navigation=("#menu-bar", "form"),
    ),
    Manual(
        "nodejs-doc", "Node.js's own", "usr/share/doc/nodejs/api",
        navigation=("#column2", "#column1 > header", "#toc"),
    ),
    Manual(
        "libeigen3-doc", "Doxygen", "usr/share/doc/libeigen3-dev/html",
        ("*.html",), navigation=("#top", "#nav-path", ".header > .summary", ".toc"), code="pre, div.fragment",
    ),
    Manual(
        "apache2-doc", "XSLT of Apache", "usr/share/doc/apache2-doc/manual/en",
        navigation=("#page-header", "#path", "#footer", "#quickview", ".toplang", ".bottomlang", ".top", ".up"),
    ),
    Manual(
        "libglib2.0-doc", "gtk-doc", "usr/share/gtk-doc/html",
        ("gio/*.html", "glib/*.html", "gobject/*.html"),
        navigation=("table.navigation", "body > .footer", ".toc"),
    ),
    Manual(
        "zsh-doc", "texi2any", "usr/share/doc/zsh-common/html",
        navigation=(".header", "table.menu", ".contents"),
    ),
)  # fmt: skip


def list_pages(manual: Manual) -> list[Path]:
    """Return an even sample of a manual's pages, in order of their names; empty without such pages.

    Pages that only redirect to another page are left out.
    """
    folder = Path(manual.folder)
    paths = sorted({path for pattern in manual.patterns for path in folder.glob(pattern)})
    sample = take_evenly([path for path in paths if path.is_file() and path.stat().st_size <= _MAX_BYTES], SAMPLE)
    return [path for path in sample if not _redirects(path)]


def take_evenly(items: Sequence[Item], count: int) -> list[Item]:
    """Return at most `count` of the items, at even distances."""
    step = max(1.0, len(items) / count)
    return [items[int(index * step)] for index in range(min(count, len(items)))]


def _redirects(path: Path) -> bool:
    return b'http-equiv="refresh"' in path.read_bytes()[:2_000]
