"""Read OpenDocument texts, sheets and slides (ODT, ODS, ODP) through HTML."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from html import escape
from itertools import islice
from typing import Any, Final

from keyhole.errors import Code, KeyholeError
from keyhole.extensions.documents.office import MAX_NESTING, name_comment
from keyhole.extensions.documents.workbook import MAX_CELLS, MAX_COLUMNS, mark_hidden
from keyhole.extensions.documents.zip_archive import Archive
from keyhole.extract.body import Body
from keyhole.extract.formats.xml import local_name, namespace, parse_xml
from keyhole.extract.markup import Markdown, format_table, fragment_to_markdown, to_one_line, write_link
from keyhole.records import Document, Metadata
from keyhole.text.clean import clean
from keyhole.text.escape import escape_markdown

MAX_BYTES: Final = 20_000_000
"""Largest size of a document's XML, in bytes. A book of 500 pages has some 5 MB."""
MAX_DEPTH: Final = 5 * MAX_NESTING
"""Levels of elements that are read."""
MAX_REPEATED: Final = 100
"""Repetitions of a cell or a row that are written. A sheet is filled up with a million repeated empty rows."""

_SKIPPED: Final = frozenset({
    "tracked-changes", "annotation-end", "sequence-decls", "variable-decls", "user-field-decls", "forms", "scripts",
    "hidden-text", "title", "desc", "header-left", "footer-left",
})  # fmt: skip
"""Elements whose text is not shown at their place."""
_VALUES: Final = ("string-value", "date-value", "time-value", "boolean-value", "value")
"""Attributes with the value of a cell whose text a program did not write."""
_CODE_STYLES = re.compile("Preformatted|Source_20_Code|Source Code")
_JOINED_CODE = re.compile("</pre>\\s*<pre>")


def read_open_document(body: Body) -> Document:
    """Read the headings, lists, tables, links, notes, comments and formulas of an OpenDocument file."""
    archive = Archive(body)
    if "META-INF/manifest.xml" in archive.names and b"encryption-data" in archive.read("META-INF/manifest.xml"):
        raise KeyholeError(Code.ENCRYPTED_DOCUMENT, f"the document is encrypted with a password, {body.size_text}")
    content = archive.read("content.xml")
    if (size := len(content)) > MAX_BYTES:
        raise KeyholeError(
            Code.TOO_LARGE, f"the document contains {size:,} bytes of XML, over {MAX_BYTES:,}", bytes=size
        )
    root = parse_xml(content)
    if root is None:
        raise archive.damage_error("its text cannot be read")
    styles = parse_xml(archive.read("styles.xml")) if "styles.xml" in archive.names else None
    writer = _Writer(archive, [part for part in (root, styles) if part is not None])
    metadata = _read_metadata(archive)
    if (book := root.find(".//{*}body/{*}spreadsheet")) is not None:
        text, rest = "\n".join(writer.format_sheets(book)), ""
    else:
        html = _JOINED_CODE.sub("\n", writer.write(root.find(".//{*}body")) + writer.write_notes())
        text = f"{clean(fragment_to_markdown(html, body.url, body.url)).strip(chr(10))}\n".lstrip("\n")
        rest = "".join(_read_edges(styles, kind) for kind in ("header", "footer"))
    return Document(
        title=metadata.title, text=clean(text) + clean(rest), media_type="", language=metadata.language,
        metadata=metadata, main_end=len(clean(text)) if rest else None,
    )  # fmt: skip


@dataclass
class _Style:
    """What a style says that matters for a text."""

    parent: str = ""
    is_hidden: bool = False
    tags: list[str] = field(default_factory=list)
    """`b` and `i`."""


class _Writer:
    """Writes elements as HTML."""

    def __init__(self, archive: Archive, parts: list[Any]) -> None:
        """Read the styles of the document. `parts`: the roots of its content and of its styles."""
        self._archive = archive
        self._notes: list[str] = []
        self._slides = 0
        self._styles: dict[str, _Style] = {}
        self._numbered: set[str] = set()
        for part in parts:
            for style in part.iter("{*}style"):
                self._styles.setdefault(_get(style, "name"), _read_style(style))
            for style in part.iter("{*}list-style"):
                if len(style) and local_name(style[0]) == "list-level-style-number":
                    self._numbered.add(_get(style, "name"))
        self._forms: dict[str, Callable[[Any, int], str]] = {
            "h": self._write_heading, "p": self._write_paragraph, "span": self._write_span, "a": self._write_link,
            "s": lambda element, _: " " * min(1_000, _count(element, "c")), "tab": lambda *_: "\t",
            "line-break": lambda *_: "<br>", "list": self._write_list, "note": self._write_note,
            "annotation": lambda element, _: f" {escape(_read_comment(element))} ", "page": self._write_slide,
            "table": self._write_table, "object": self._write_object, "image": self._write_image,
            "notes": self._write_speaker_notes, "list-item": lambda *values: f"<li>{self._write_inner(*values)}</li>",
            "list-header": lambda *values: f"<li>{self._write_inner(*values)}</li>",
        }  # fmt: skip

    def write(self, element: Any, depth: int = 0) -> str:
        """Return an element as HTML, "" for what is not shown."""
        name = local_name(element)
        style = self._styles.get(_get(element, "style-name"), _Style())
        is_hidden = style.is_hidden or _get(element, "display") == "none" or _get(element, "is-hidden") == "true"
        if depth > MAX_DEPTH or not name or name in _SKIPPED or is_hidden:
            return ""
        return self._forms.get(name, self._write_inner)(element, depth + 1)

    def write_notes(self) -> str:
        """Return the notes that were referred to, as mammoth writes them."""
        notes = (f'<li id="note-{number}">{note}</li>' for number, note in enumerate(self._notes, 1))
        return f"<ol>{''.join(notes)}</ol>" if self._notes else ""

    def format_sheets(self, book: Any) -> Iterator[str]:
        """Yield the sheets of a workbook under their names as tables."""
        cells_left = MAX_CELLS
        for sheet in book.iterfind("{*}table"):
            rows = list(self._read_rows(sheet, cells_left))
            cells_left -= sum(len(row) + 1 for row in rows)
            hidden = " (hidden)" if self._styles.get(_get(sheet, "style-name"), _Style()).is_hidden else ""
            name = escape_markdown(to_one_line(_get(sheet, "name")))
            yield f"## {name}{hidden}\n\n{format_table(rows) or '(an empty sheet)' + chr(10)}"
            if cells_left <= 0:
                yield f"(The workbook is longer: only its first {MAX_CELLS:,} cells are read.)\n"
                return

    def _read_rows(self, sheet: Any, cells_left: int) -> Iterator[list[str]]:
        merged: dict[int, tuple[int, str]] = {}
        hidden = _find_hidden_columns(sheet)
        for row in sheet.iter("{*}table-row"):
            cells: list[str] = []
            for cell in row.iterfind("./*"):
                column = len(cells)
                text = self._read_cell(cell)
                if (rows := _count(cell, "number-rows-spanned")) > 1 and text:
                    merged[column] = rows, text
                elif column in merged:
                    text = merged[column][1]
                cells += [text] * min(
                    _count(cell, "number-columns-repeated"), MAX_COLUMNS if not text else MAX_REPEATED
                )
                if len(cells) > MAX_COLUMNS:
                    break
            merged = {column: (left - 1, text) for column, (left, text) in merged.items() if left > 1}
            while cells and not cells[-1]:
                cells.pop()
            for _ in range(min(_count(row, "number-rows-repeated"), MAX_REPEATED) if cells else 0):
                if (cells_left := cells_left - len(cells)) <= 0:
                    return
                is_hidden = _get(row, "visibility") in {"collapse", "filter"}
                yield mark_hidden(cells, {1} if is_hidden else hidden)
                hidden = set()

    def _read_cell(self, cell: Any) -> str:
        """Return the text of a cell as it is shown, with its link and comment."""
        text = "\n".join("".join(_iter_text(each)) for each in cell.iterfind("{*}p")).strip()
        text = text or next((value for name in _VALUES if (value := _get(cell, name))), "")
        link = cell.find("{*}p//{*}a")
        address = _get(link, "href") if link is not None else ""
        if address.startswith(("http://", "https://", "mailto:", "ftp://")) and text and address != text:
            text = write_link(" ".join(text.split()), address)
        if (comment := cell.find("{*}annotation")) is not None:
            plain = text if isinstance(text, Markdown) else escape_markdown(text)
            text = Markdown(f"{plain} {escape_markdown(_read_comment(comment))}".strip())
        return text

    def _write_inner(self, element: Any, depth: int) -> str:
        has_text = namespace(element).endswith(":text:1.0")
        pieces = [escape(element.text or "") if has_text else ""]
        for child in element:
            pieces += [self.write(child, depth), escape(child.tail or "") if has_text else ""]
        return "".join(pieces)

    def _write_heading(self, element: Any, depth: int) -> str:
        level = min(6, _count(element, "outline-level"))
        return f"<h{level}>{self._write_inner(element, depth)}</h{level}>"

    def _write_paragraph(self, element: Any, depth: int) -> str:
        name = _get(element, "style-name")
        names = f"{name} {self._styles.get(name, _Style()).parent}"
        tag = "h1" if names.split(" ")[0] == "Title" or names.endswith(" Title") else "p"
        tag = "pre" if _CODE_STYLES.search(names) else tag
        return f"<{tag}>{self._write_inner(element, depth)}</{tag}>"

    def _write_span(self, element: Any, depth: int) -> str:
        inner = self._write_inner(element, depth)
        for tag in self._styles.get(_get(element, "style-name"), _Style()).tags if inner.strip() else ():
            inner = f"<{tag}>{inner}</{tag}>"
        return inner

    def _write_link(self, element: Any, depth: int) -> str:
        return f'<a href="{escape(_get(element, "href"))}">{self._write_inner(element, depth)}</a>'

    def _write_list(self, element: Any, depth: int) -> str:
        outer = [element, *islice(element.iterancestors("{*}list"), MAX_NESTING)]
        name = next((name for each in outer if (name := _get(each, "style-name"))), "")
        tag = "ol" if name in self._numbered else "ul"
        return f"<{tag}>{self._write_inner(element, depth)}</{tag}>"

    def _write_note(self, element: Any, depth: int) -> str:
        body = element.find("{*}note-body")
        self._notes.append("" if body is None else self._write_inner(body, depth))
        number = len(self._notes)
        return f'<sup><a href="#note-{number}" id="note-ref-{number}">[{number}]</a></sup>'

    def _write_slide(self, element: Any, depth: int) -> str:
        self._slides += 1
        title = next((each for each in element if _get(each, "class") == "title"), None)
        name = "" if title is None else to_one_line(" ".join("".join(_iter_text(each)) for each in title.iter("{*}p")))
        if title is not None:
            element.remove(title)
        heading = f"Slide {self._slides}{': ' if name else ''}{escape(name)}"
        return f"<h2>{heading}</h2>{self._write_inner(element, depth)}"

    def _write_speaker_notes(self, element: Any, depth: int) -> str:
        boxes = (each for each in element if _get(each, "class") == "notes")
        text = "".join(self._write_inner(each, depth) for each in boxes)
        return f"<p>Notes:</p>{text}" if re.sub("<[^<>]*>", "", text).strip() else ""

    def _write_table(self, element: Any, depth: int) -> str:
        rows = []
        for row in element.iter("{*}table-row"):
            if next(row.iterancestors("{*}table")) is not element:
                continue
            tag = "th" if local_name(row.getparent()) == "table-header-rows" else "td"
            cells = (each for each in row if local_name(each) == "table-cell")
            rows.append("".join(self._write_cell(cell, tag, depth) for cell in cells))
        return f"<table>{''.join(f'<tr>{row}</tr>' for row in rows)}</table>"

    def _write_cell(self, cell: Any, tag: str, depth: int) -> str:
        spans = f'colspan="{_count(cell, "number-columns-spanned")}" rowspan="{_count(cell, "number-rows-spanned")}"'
        written = f"<{tag} {spans}>{self._write_inner(cell, depth)}</{tag}>"
        return written * min(MAX_REPEATED, _count(cell, "number-columns-repeated"))

    def _write_object(self, element: Any, depth: int) -> str:
        """Write a formula or the values of a chart, which are documents of their own."""
        name = f"{_get(element, 'href').removeprefix('./').rstrip('/')}/content.xml"
        root = parse_xml(self._archive.read(name)) if name in self._archive.names else element.find("{*}math")
        if root is None:
            return ""
        math = root if local_name(root) == "math" else root.find(".//{*}math")
        if math is not None:
            return f" {_write_mathml(math)} "
        table = root.find(".//{*}table")
        return "" if table is None else self._write_table(table, depth)

    def _write_image(self, element: Any, _depth: int) -> str:
        frame = element.getparent()
        alt = next((each.text for name in ("desc", "title") if (each := frame.find(f"{{*}}{name}")) is not None), "")
        return f'<img src="" alt="{escape(alt or "")}">' if frame.find("{*}object") is None else ""


def _read_style(style: Any) -> _Style:
    read = _Style(_get(style, "parent-style-name"))
    for properties in style:
        read.is_hidden |= _get(properties, "display") in {"none", "false"}
        if local_name(properties) == "text-properties":
            read.tags += ["b"] if _get(properties, "font-weight") == "bold" else []
            read.tags += ["i"] if _get(properties, "font-style") == "italic" else []
    return read


def _read_comment(element: Any) -> str:
    lines = ["".join(_iter_text(each)) for each in element.iter("{*}p")]
    return name_comment(element.findtext("{*}creator") or "", " ".join(lines))


def _iter_text(element: Any) -> Iterator[str]:
    """Yield the text of a paragraph, with its spaces and without its comments."""
    yield element.text or ""
    for child in element:
        name = local_name(child)
        if name in {"s", "tab", "line-break"}:
            yield " " * min(1_000, _count(child, "c"))
        elif name not in _SKIPPED and name != "annotation":
            yield from _iter_text(child)
        yield child.tail or ""


def _read_edges(styles: Any, kind: str) -> str:
    """Return each distinct line of the headers or footers, below the heading of this part."""
    lines: dict[str, None] = {}
    for edge in styles.iter(f"{{*}}{kind}") if styles is not None else ():
        if _get(edge, "display") != "false":
            lines |= dict.fromkeys(to_one_line("".join(_iter_text(each)), 5_000) for each in edge.iter("{*}p"))
    texts = [escape_markdown(line) for line in lines if line and not line.isdigit()]
    return "".join([f"\n# [rest: {kind}]\n", *(f"\n{text}\n" for text in texts)]) if texts else ""


def _find_hidden_columns(sheet: Any) -> set[int]:
    hidden: set[int] = set()
    place = 1
    for column in sheet.iter("{*}table-column"):
        end = min(place + _count(column, "number-columns-repeated"), MAX_COLUMNS)
        hidden |= set(range(place, end)) if _get(column, "visibility") == "collapse" else set()
        place = end
    return hidden


def _write_mathml(math: Any) -> str:
    """Return MathML without namespaces."""
    inner = "".join(_write_mathml(each) for each in math if local_name(each) != "annotation")
    return f"<{local_name(math)}>{escape(math.text or '')}{inner}</{local_name(math)}>" + escape(
        (math.tail or "").strip()
    )


def _get(element: Any, name: str) -> str:
    """Return the attribute with this local name, "" without one."""
    return next((str(value) for key, value in element.attrib.items() if key.rpartition("}")[2] == name), "")


def _count(element: Any, name: str) -> int:
    value = _get(element, name)
    return int(value) if value.isascii() and value.isdigit() and len(value) < 9 else 1


def _read_metadata(archive: Archive) -> Metadata:
    root = parse_xml(archive.read("meta.xml")) if "meta.xml" in archive.names else None

    def read(name: str, limit: int) -> str:
        found = None if root is None else root.find(f".//{{*}}{name}")
        return "" if found is None else to_one_line(clean(found.text or ""), limit)

    return Metadata(
        title=read("title", 300), author=read("initial-creator", 200) or read("creator", 200),
        published=read("creation-date", 40), modified=read("date", 40), language=read("language", 20),
        description=read("description", 500),
    )  # fmt: skip
