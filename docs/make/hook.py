"""MkDocs hooks: add pages from outside docs/, update generated parts, and convert repository links to site links."""

from __future__ import annotations

import posixpath
import re
import sys
from pathlib import Path
from typing import Any, Final

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files

ROOT: Final = Path(__file__).resolve().parents[2]

PAGES_OUTSIDE_DOCS: Final = {
    "README.md": "index.md",
    "SECURITY.md": "security.md",
    "CHANGELOG.md": "changelog.md",
    "benchmarks/README.md": "figures.md",
}
"""Files outside docs/ that are pages of the site, with their names in the site."""

_LINK: Final = re.compile(r"(!?)\[((?:[^\[\]`]|`[^`]*`)*)\]\(((?!https?:|mailto:|#)[^()\s#]+)(#[^()\s]*)?\)")
_SOURCE: Final = re.compile(r'(srcset=")docs/')
"""The other picture of an element `picture`, in a file at the top of the repository."""
_FENCED: Final = re.compile(r"^(`{3,}|~{3,}).*?^\1\s*$", re.MULTILINE | re.DOTALL)


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the pages from outside docs/."""
    for source, name in PAGES_OUTSIDE_DOCS.items():
        files.append(File.generated(config, name, content=(ROOT / source).read_text(encoding="utf-8")))
    return files


def on_page_markdown(markdown: str, page: Any, **_: Any) -> str:
    """Return a page with its generated parts updated and its links rewritten for the site."""
    sys.path.insert(0, str(ROOT))
    try:
        from tests.support.documentation import render_blocks
    finally:
        sys.path.pop(0)
    names = {name: source for source, name in PAGES_OUTSIDE_DOCS.items()}
    source = names.get(page.file.src_uri, f"docs/{page.file.src_uri}")
    return _SOURCE.sub(r"\1", rewrite_links(render_blocks(markdown), source, page.file.src_uri))


def rewrite_links(markdown: str, source: str, name: str) -> str:
    """Rewrite the links of the repository's file `source`, which is the page `name` of the site.

    A link to a file that is not a page becomes the file's path. Fenced code is unchanged."""

    def rewrite(link: re.Match[str]) -> str:
        mark, label, target, anchor = link[1], link[2], link[3], link[4] or ""
        path = posixpath.normpath(posixpath.join(posixpath.dirname(source), target))
        page = PAGES_OUTSIDE_DOCS.get(path) or (path.removeprefix("docs/") if path.startswith("docs/") else "")
        if page and not page.startswith("make/"):
            return f"{mark}[{label}]({posixpath.relpath(page, posixpath.dirname(name) or '.')}{anchor})"
        return label if label.strip("`") in path else f"{label} (`{path}`)"

    parts, end = [], 0
    for fence in _FENCED.finditer(markdown):
        parts += [_LINK.sub(rewrite, markdown[end : fence.start()]), fence[0]]
        end = fence.end()
    return "".join([*parts, _LINK.sub(rewrite, markdown[end:])])
