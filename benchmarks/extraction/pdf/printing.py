"""Print an HTML page as a PDF file with Chromium, also in two columns, with LibreOffice, or with Typst."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path
from tempfile import TemporaryDirectory

from bs4 import BeautifulSoup, Tag

_TIMEOUT = 120
_COLUMNS = (
    "<style>main, .body, div[role=main] {columns: 2; column-gap: 2em; font-size: 9pt} "
    ".related, .sphinxsidebar {display: none}</style>"
)
_SIGNS = re.compile(r"([\\#$*_`<>@~\[\]=+/-])")


def print_page(page: bytes, way: str) -> bytes | None:
    """Return the PDF file of a page, None where the program is missing.

    `way`: `chromium`, `columns`, `libreoffice` or `typst`.
    """
    if way == "typst":
        return _print_with_typst(page)
    if way == "libreoffice":
        return _print_with_libreoffice(page)
    chromium = shutil.which("chromium")
    if chromium is None:
        return None
    with TemporaryDirectory() as folder:
        source, target = Path(folder, "page.html"), Path(folder, "page.pdf")
        source.write_bytes(page + (_COLUMNS.encode() if way == "columns" else b""))
        subprocess.run(
            [
                chromium, "--headless", "--no-sandbox", "--disable-gpu", f"--user-data-dir={folder}/profile",
                f"--print-to-pdf={target}", source.as_uri(),
            ],
            check=True, capture_output=True, timeout=_TIMEOUT,
        )  # fmt: skip
        return target.read_bytes()


def _print_with_libreoffice(page: bytes) -> bytes | None:
    office = shutil.which("soffice")
    if office is None:
        return None
    with TemporaryDirectory() as folder:
        source = Path(folder, "page.html")
        source.write_bytes(page)
        subprocess.run(
            [
                office, f"-env:UserInstallation=file://{folder}/profile", "--headless", "--convert-to", "pdf",
                "--outdir", folder, str(source),
            ],
            check=True, capture_output=True, timeout=_TIMEOUT,
        )  # fmt: skip
        return Path(folder, "page.pdf").read_bytes()


def _print_with_typst(page: bytes) -> bytes | None:
    try:
        import typst
    except ImportError:
        return None
    soup = BeautifulSoup(page, "lxml")
    body = soup.select_one("[role=main], .body, body")
    assert body is not None
    text = '#set page(numbering: "1", header: [Debian Policy Manual])\n#set par(justify: true)\n\n' + _write(body)
    return bytes(typst.compile(text.encode()))


def _write(element: Tag) -> str:
    """Return the headings, paragraphs, lists, code and tables of an element as Typst."""
    parts: list[str] = []
    for child in element.find_all(recursive=False):
        name = child.name
        if name in {"h1", "h2", "h3", "h4"}:
            parts.append(f"{'=' * int(name[1])} {_escape(child)}")
        elif name == "pre":
            parts.append(f"```\n{child.get_text().strip()}\n```")
        elif name in {"ul", "ol"}:
            parts.append("\n".join(f"- {_escape(item)}" for item in child.find_all("li", recursive=False)))
        elif name == "table":
            rows = [row.find_all(["td", "th"]) for row in child.find_all("tr")]
            cells = ", ".join(f"[{_escape(cell)}]" for row in rows for cell in row)
            parts.append(f"#table(columns: {max(map(len, rows), default=1)}, {cells})")
        elif name in {"p", "dt"}:
            parts.append(_escape(child))
        else:
            parts.append(_write(child))
    return "\n\n".join(part for part in parts if part)


def _escape(element: Tag) -> str:
    for link in element.select("a.headerlink"):
        link.extract()
    return _SIGNS.sub(r"\\\1", " ".join(element.get_text().split()))
