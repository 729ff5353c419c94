"""Write pages of manuals for the fit of the scorer: `python -m benchmarks.extraction.manuals.training FILE`.

The manuals are others than those that are measured (`catalog.py`). The content of a page is all of it but the
navigation that its generator adds. FILE gets one JSON object per line, in the format that
`benchmarks.extraction.fit_content` reads, with the type "manual". Each manual has a host name of its own, so that all
its pages are in one fold of the cross-validation.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any, Final

from bs4 import BeautifulSoup

from benchmarks.extraction.manuals.catalog import Manual, list_pages, take_evenly
from benchmarks.extraction.manuals.packages import find_manual

KIND: Final = "manual"
COUNT: Final = 12
"""Pages of a manual."""
MAX_BYTES: Final = 400_000
"""Bytes of the longest page, whose words are aligned in seconds."""
MIN_CHARS: Final = 1_500
"""Characters of the shortest content. Shorter pages are redirects, lists of nodes, or judged by landmarks."""
_NO_CONTENT: Final = ("head", "script", "style", "noscript", "nav", "[role=navigation]")
_SPHINX: Final = (".related", ".sphinxsidebar", ".footer", "footer", ".wy-nav-side", ".wy-nav-top")
_TEXINFO: Final = (".header", ".nav-panel", ".contents", ".menu", ".footer", "#footer", "#tocframe")
_DOCBOOK: Final = (".navheader", ".navfooter", ".toc", ".docnav", ".spirit-nav", ".copyright-footer")
_DOXYGEN: Final = ("#top", "#nav-path", "#side-nav", ".header > .summary", ".toc", ".footer", "#MSearchSelectWindow")
_JAVADOC: Final = (".topNav", ".bottomNav", ".subNav", "[role=banner]", "[role=contentinfo]")
MANUALS: Final = (
    Manual("cmake-doc", "Sphinx", "usr/share/doc/cmake-data/html", navigation=_SPHINX),
    Manual("debian-policy", "Sphinx", "usr/share/doc/debian-policy", ("*.html/*.html",), _SPHINX),
    Manual("bind9-doc", "Sphinx", "usr/share/doc/bind9-doc/arm", navigation=_SPHINX),
    Manual("octave-doc", "texi2any", "usr/share/doc/octave", navigation=_TEXINFO),
    Manual("maxima-doc", "texi2any", "usr/share/doc/maxima-doc/html", navigation=_TEXINFO),
    Manual("r-doc-html", "texi2any", "usr/share/doc/r-doc-html/manual", navigation=_TEXINFO),
    Manual("libgtk-3-doc", "gtk-doc", "usr/share/gtk-doc/html", navigation=(".navigation", ".footer", ".toc")),
    Manual("libcommons-lang3-java-doc", "javadoc", "usr/share/doc/libcommons-lang3-java/api", navigation=_JAVADOC),
    Manual("doxygen-doc", "Doxygen", "usr/share/doc/doxygen/html", ("*.html",), _DOXYGEN),
    Manual("libsigc++-2.0-doc", "Doxygen", "usr/share/doc/libsigc++-2.0-doc/reference/html", navigation=_DOXYGEN),
    Manual("libstdc++-12-doc", "DocBook XSL", "usr/share/doc/gcc-12-base/libstdc++/manual", navigation=_DOCBOOK),
    Manual("debian-handbook", "Publican", "usr/share/doc/debian-handbook/html/en-US", navigation=_DOCBOOK),
    Manual("libboost1.74-doc", "BoostBook", "usr/share/doc/libboost1.74-doc/doc/html", navigation=_DOCBOOK),
    Manual("scons-doc", "DocBook XSL", "usr/share/doc/scons/HTML", navigation=_DOCBOOK),
    Manual(
        "qtbase5-doc-html", "QDoc", "usr/share/qt5/doc",
        navigation=(".footer", ".sidebar", ".breadcrumb", "#buildversion", ".navigationbar"),
    ),
    Manual("fp-docs-3.2.2", "fpdoc", "usr/share/doc/fp-docs/3.2.2", navigation=(".bar", ".footer")),
)  # fmt: skip
"""Manuals in the structures of many generators."""


def read_examples(number: int, manual: Manual) -> list[dict[str, Any]]:
    """Return a sample of the pages of a manual with their content."""
    examples = []
    for path in list_pages(find_manual(manual)):
        html = path.read_bytes()[: MAX_BYTES + 1].decode("utf-8", "replace")
        content = read_content(html, manual.navigation)
        if len(html) <= MAX_BYTES and len(content) >= MIN_CHARS:
            url = f"https://www.site-{number}.example/{path.parent.name}/{path.name}"
            examples.append({"id": url, "type": KIND, "url": url, "html": html, "text": content})
    return take_evenly(examples, COUNT)


def read_content(html: str, navigation: tuple[str, ...]) -> str:
    """Return the text of a page without its navigation."""
    soup = BeautifulSoup(html, "html.parser")
    for element in soup.select(", ".join((*_NO_CONTENT, *navigation))):
        element.extract()
    return " ".join(soup.get_text(" ").split())


def main() -> None:
    """Write the examples."""
    with Path(sys.argv[1]).open("w", encoding="utf-8") as file:
        for number, manual in enumerate(MANUALS):
            for example in read_examples(number, manual):
                print(json.dumps(example, ensure_ascii=False), file=file)


if __name__ == "__main__":
    main()
