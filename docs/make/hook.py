"""What MkDocs asks while it builds the site: pages that stand elsewhere in the repository, parts made from the code,
and links that hold in the repository turned into links that hold in the site. Nothing is fetched."""

from __future__ import annotations

import posixpath
import re
import sys
from pathlib import Path
from typing import Any, Final

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files

ROOT: Final = Path(__file__).resolve().parents[2]

ELSEWHERE: Final = {
    "README.md": "index.md",
    "SECURITY.md": "security.md",
    "CHANGELOG.md": "changelog.md",
    "benchmarks/README.md": "figures.md",
}
"""Pages of the site that stand in the repository outside of docs/, under the name that they have in the site."""

_LINK: Final = re.compile(r"(?<!!)\[((?:[^\[\]`]|`[^`]*`)*)\]\(((?!https?:|mailto:|#)[^()\s#]+)(#[^()\s]*)?\)")
_FENCED: Final = re.compile(r"^(`{3,}|~{3,}).*?^\1\s*$", re.MULTILINE | re.DOTALL)


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """The pages that stand elsewhere."""
    for source, name in ELSEWHERE.items():
        files.append(File.generated(config, name, content=(ROOT / source).read_text(encoding="utf-8")))
    return files


def on_page_markdown(markdown: str, page: Any, **_: Any) -> str:
    """A page with its parts made anew and its links those of the site."""
    sys.path.insert(0, str(ROOT))
    try:
        from tests.support.documentation import render_blocks
    finally:
        sys.path.pop(0)
    names = {name: source for source, name in ELSEWHERE.items()}
    source = names.get(page.file.src_uri, f"docs/{page.file.src_uri}")
    return linked(render_blocks(markdown), source, page.file.src_uri)


def linked(markdown: str, source: str, name: str) -> str:
    """Text of the file `source` of the repository as the page `name` of the site says it: a link to a file that is no
    page becomes the file's path. What stands in fences stays."""

    def link(found: re.Match[str]) -> str:
        label, target, anchor = found[1], found[2], found[3] or ""
        path = posixpath.normpath(posixpath.join(posixpath.dirname(source), target))
        page = ELSEWHERE.get(path) or (path.removeprefix("docs/") if path.startswith("docs/") else "")
        if page and not page.startswith("make/"):
            return f"[{label}]({posixpath.relpath(page, posixpath.dirname(name) or '.')}{anchor})"
        return label if label.strip("`") in path else f"{label} (`{path}`)"

    parts, end = [], 0
    for fence in _FENCED.finditer(markdown):
        parts += [_LINK.sub(link, markdown[end : fence.start()]), fence[0]]
        end = fence.end()
    return "".join([*parts, _LINK.sub(link, markdown[end:])])
