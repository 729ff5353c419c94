"""Read DOCX and PPTX with the libraries of the extra `office`.

Macros are not run, and external links are not followed.
"""

from __future__ import annotations

import io
import posixpath
import re
import zipfile
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Set
from datetime import date, timedelta
from decimal import Decimal
from functools import lru_cache
from html import escape
from itertools import groupby, islice
from typing import Any, Final
from xml.parsers.expat import ExpatError

from lxml.etree import Element, SubElement, XMLParser, XMLSyntaxError, fromstring, tostring

from keyhole.errors import Code, KeyholeError
from keyhole.extensions.documents.zip_archive import Archive
from keyhole.extract.body import PARSER_ERRORS, Body
from keyhole.extract.formats.xml import local_name, parse_xml
from keyhole.extract.markup import format_table, fragment_to_markdown, to_one_line
from keyhole.records import Document, Metadata
from keyhole.text.clean import clean
from keyhole.text.escape import escape_markdown

MAX_DOCX_BYTES: Final = 10_000_000
"""Largest size of the XML in a Word document, in bytes. A book of 500 pages has some 5 MB. mammoth reads 0.4 MB per
second."""
MAX_FORMULA_DEPTH: Final = 100
"""Levels of a formula that are read."""
MAX_SHIFTED_DECIMALS: Final = 4
"""Decimals of a percentage, or of a number shown in thousands, that are written even if its format has fewer."""
MAX_SERIES: Final = 200
"""Series of a chart that are read."""
MAX_SHAPES: Final = 20_000
"""Largest number of shapes read of one slide. Slides have some ten."""
MAX_NESTING: Final = 20
"""Levels of nested shape groups that are read."""

_STYLES: Final = """
p[style-name='Title'] => h1:fresh
p[style-name='Subtitle'] => p:fresh
p[style-name='Quote'] => blockquote:fresh
p[style-name='Intense Quote'] => blockquote:fresh
p[style-name='Source Code'] => pre:separator('\\n')
p[style-name='HTML Preformatted'] => pre:separator('\\n')
p[style-name='Preformatted Text'] => pre:separator('\\n')
"""
"""Styles that mammoth does not map by default: the titles, quotes and code of Word, LibreOffice and pandoc."""

_W: Final = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
_M: Final = "{http://schemas.openxmlformats.org/officeDocument/2006/math}"
_FALLBACK: Final = "{http://schemas.openxmlformats.org/markup-compatibility/2006}Fallback"
_PREPARED_MARKS: Final = (b":oMath", b":commentReference", b":vanish", b":chart")
_MARK = re.compile("\ue000[0-9]{1,6}\ue001")
_ACCENTS: Final = {
    "\u0300": "grave", "\u0301": "acute", "\u0302": "hat", "\u0303": "tilde", "\u0304": "bar", "\u0305": "bar",
    "\u0306": "breve", "\u0307": "dot", "\u0308": "ddot", "\u030c": "check", "\u20d7": "vec", "\u20db": "dddot",
    "^": "hat", "~": "tilde", "¯": "bar", "‾": "bar", "→": "vec",
}  # fmt: skip
_OPERATORS: Final = {"∑": r"\sum", "∏": r"\prod", "∫": r"\int", "∬": r"\iint", "∮": r"\oint"}
_FENCES: Final = {"": ".", "{": r"\{", "}": r"\}", "‖": r"\|"}
_FUNCTIONS: Final = re.compile(
    "arccos|arcsin|arctan|arg|cosh?|cot|csc|deg|det|dim|exp|gcd|hom|inf|ker|lg|lim|ln|log|max|min|Pr|sec|sinh?|sup|tanh?"
)
_TEX_SIGNS = re.compile(r"[%#$_{}]")
_CONDITION = re.compile(r"(?:\[(?:Red|Blue|Green|Black|White|Cyan|Magenta|Yellow|Color ?\d+)\])*\[[<>=]", re.IGNORECASE)
_FORMAT_PART = re.compile(
    r"""([#0?.,/]+(?:[Ee][+-][#0?]+)?)|"([^"]{0,99})"|\\(.)|\[\$([^]\[-]{0,20})[^]\[]{0,20}\]|\[[^]\[]{0,99}\]|[_*]."""
    r"""|([^"\\\[_*#0?.,/])"""
)
"""A part of a number format (ECMA-376, 18.8.31): digits, or a sign in quotes, after a backslash, of a currency, or
alone."""
_C: Final = "{http://schemas.openxmlformats.org/drawingml/2006/chart}"
_DATE_FORMAT = re.compile("yy|mmm|d[-/.]", re.IGNORECASE)
_RTF_DATA = re.compile(r"(?<![0-9a-fA-F\r\n])(?:[0-9a-fA-F]{2}[\r\n]*+){500,}+")
"""A picture as hexadecimal digits, which would take a second for each megabyte."""
_RTF_HIDDEN = re.compile(r"\\v1?(?![a-zA-Z0-9-])[^{}]*?(?=\\v0|\\plain|[{}]|\Z)")
_RTF_CELL = re.compile(r"(?<!\n)\n{1,9}\|")
"""The end of a cell that contains a paragraph."""
_RTF_TITLE = re.compile(r"\{\\title ([^{}]{1,1000})\}")
_XML_PARTS = re.compile(r".*\.(?:xml|rels)", re.IGNORECASE)
_ENCRYPTED_PACKAGE = "EncryptedPackage".encode("utf-16-le")
_SKIPPED_PARTS = re.compile(
    r"(?:.*/)?(?:embeddings|activeX|ctrlProps|vbaProject|externalLinks|customXml|printerSettings)\b"
)


def read_docx(body: Body) -> Document:
    """Read the headings, lists, tables, links and notes of a Word document."""
    archive, mammoth = Archive(body), import_library("mammoth", body)
    packed = archive.repack(is_text_part)
    if (size := packed.getbuffer().nbytes) > MAX_DOCX_BYTES:
        raise KeyholeError(
            Code.TOO_LARGE, f"the document contains {size:,} bytes of XML, over {MAX_DOCX_BYTES:,}", bytes=size
        )
    try:
        prepared, marked, rest = _prepare_docx(packed)
        pictures = mammoth.images.img_element(lambda _image: {"src": ""})
        html = mammoth.convert_to_html(prepared, style_map=_STYLES, convert_image=pictures).value
        html = _MARK.sub(lambda mark: marked.get(mark[0], ""), html)
        text = clean(fragment_to_markdown(html, body.url, body.url)).strip("\n")
    except (*PARSER_ERRORS, ExpatError) as error:
        raise archive.damage_error("its text cannot be read") from error
    metadata = read_properties(archive)
    main = f"{text}\n" if text else ""
    return Document(
        title=metadata.title, text=main + clean(rest), media_type="", language=metadata.language, metadata=metadata,
        main_end=len(main) if rest else None,
    )  # fmt: skip


def read_pptx(body: Body) -> Document:
    """Read the slides under their numbers: title, texts, tables, descriptions of pictures, speaker notes."""
    archive, pptx = Archive(body), import_library("pptx", body)
    packed = archive.repack(is_text_part)
    try:
        slides = [_format_slide(number, slide) for number, slide in enumerate(pptx.Presentation(packed).slides, 1)]
    except (*PARSER_ERRORS, pptx.exc.PythonPptxError) as error:
        raise archive.damage_error("its slides cannot be read") from error
    metadata = read_properties(archive)
    head = f"# {escape_markdown(metadata.title)}\n\n" if metadata.title else ""
    return Document(
        title=metadata.title, text=head + clean("\n".join(slides)), media_type="", language=metadata.language,
        metadata=metadata,
    )  # fmt: skip


def read_rtf(body: Body) -> Document:
    """Read the paragraphs and tables of an RTF document."""
    striprtf = import_library("striprtf", body)
    source = _RTF_HIDDEN.sub("", _RTF_DATA.sub("", body.data.decode("latin-1")))
    try:
        text = _RTF_CELL.sub("|", clean(striprtf.rtf_to_text(source, errors="replace")))
        title = _RTF_TITLE.search(source)
        name = striprtf.rtf_to_text(f"{{\\rtf1\\ansi {title[1]}}}", errors="replace") if title else ""
    except PARSER_ERRORS as error:
        message = f"the document is damaged: its text cannot be read, {body.size_text}"
        raise KeyholeError(Code.EXTRACTION_FAILED, message, bytes=len(body.data)) from error
    parts = []
    for is_table, lines in groupby(text.split("\n"), lambda line: line.endswith("|")):
        if is_table:
            parts.append(format_table([line.removesuffix("|").split("|") for line in lines]))
        else:
            parts += [f"{escape_markdown(line.strip())}\n" for line in lines if line.strip()]
    return Document(title=to_one_line(name), text="\n".join(parts), media_type="")


def read_ole(body: Body) -> Document:
    """Raise KeyholeError for a document that is encrypted or in a legacy Office format."""
    if _ENCRYPTED_PACKAGE in body.data:
        raise KeyholeError(Code.ENCRYPTED_DOCUMENT, f"the document is encrypted with a password, {body.size_text}")
    raise KeyholeError(
        Code.UNSUPPORTED_MEDIA,
        f"the content is an Office document from before 2007 (application/x-ole-storage), {body.size_text}",
        bytes=len(body.data),
    )


def import_library(name: str, body: Body) -> Any:
    """Import a library of the extra `office`. Raises KeyholeError if it is not installed."""
    try:
        if name == "mammoth":
            import mammoth

            return mammoth
        if name == "pptx":
            import pptx
            import pptx.exc

            return pptx
        if name == "striprtf":
            import striprtf.striprtf

            return striprtf.striprtf
        import openpyxl
        import openpyxl.utils.exceptions
    except ImportError as error:
        raise KeyholeError(
            Code.UNSUPPORTED_MEDIA,
            f"Office documents need Keyhole's extra [office], whose command `keyhole doctor` prints ({body.size_text})",
            bytes=len(body.data),
            extra="office",
        ) from error
    return openpyxl


def is_text_part(name: str) -> bool:
    """Return whether a part is XML needed for the text, and not a picture, macro, embedded file or linked workbook."""
    return _XML_PARTS.fullmatch(name) is not None and _SKIPPED_PARTS.match(name) is None


# Formulas, comments, hidden text, headers and footers of Word documents, which mammoth does not read.


def _prepare_docx(packed: io.BytesIO) -> tuple[io.BytesIO, dict[str, str], str]:
    """Return the document for mammoth, the HTML of its marks, and its headers and footers as Markdown.

    Formulas and charts become marks, comments become text, and hidden text is removed.
    """
    marked: dict[str, str] = {}
    prepared = io.BytesIO()
    with zipfile.ZipFile(packed) as old, zipfile.ZipFile(prepared, "w") as new:
        comments = {
            str(each.get(f"{_W}id")): name_comment(each.get(f"{_W}author") or "", " ".join(_read_lines(each)))
            for each in _parse_part(old, "word/comments.xml").iter(f"{_W}comment")
        }
        targets = read_relationships(old, "word/document.xml")
        charts = {key: name for key, (kind, name) in targets.items() if kind == "chart" and name in old.namelist()}
        charts = {key: _write_chart(parse_xml(old.read(name))) for key, name in charts.items()}
        styles = _parse_part(old, "word/styles.xml").iter(f"{_W}style")
        hidden = {style.get(f"{_W}styleId") for style in styles if _is_on(style.find(f"{_W}rPr/{_W}vanish"))}
        for name in old.namelist():
            part = old.read(name)
            if name.startswith("word/") and (hidden or any(mark in part for mark in _PREPARED_MARKS)):
                part = _prepare_part(part, comments, hidden, charts, marked)
            new.writestr(zipfile.ZipInfo(name), part)
    prepared.seek(0)
    with zipfile.ZipFile(prepared) as archive:
        rest = "".join(_read_edges(archive, kind) for kind in ("header", "footer"))
    prepared.seek(0)
    return prepared, marked, rest


def _prepare_part(
    part: bytes, comments: Mapping[str, str], hidden: Set[str], charts: Mapping[str, str], marked: dict[str, str]
) -> bytes:
    """Return a part for mammoth. Adds the HTML of its marks to `marked`. Damaged parts stay as they are."""
    try:
        root = fromstring(part, XMLParser(resolve_entities=False, no_network=True, huge_tree=True))
    except XMLSyntaxError:
        return part
    for run in list(root.iter(f"{_W}r")):
        named = {style.get(f"{_W}val") for style in run.iterfind(f"{_W}rPr/{_W}rStyle")}
        named |= {style.get(f"{_W}val") for style in run.iterfind(f"../{_W}pPr/{_W}pStyle")}
        vanish = run.find(f"{_W}rPr/{_W}vanish")
        if _is_on(vanish) or (vanish is None and not hidden.isdisjoint(named)):
            run.getparent().remove(run)
    for reference in root.iter(f"{_W}commentReference"):
        reference.tag, reference.text = f"{_W}t", " " + comments.get(reference.get(f"{_W}id"), "")
    for chart in list(root.iter(f"{_C}chart")):
        drawing = next(chart.iterancestors(f"{_W}drawing"), None)
        html = next((charts[value] for value in chart.attrib.values() if value in charts), "")
        if drawing is not None and html:
            _place_mark(drawing, html, marked)
    for formula in list(root.iter(f"{_M}oMath")):
        if (parent := formula.getparent()) is None:
            continue
        shape = " display='block'" if parent.tag == f"{_M}oMathPara" else ""
        note = f"<annotation encoding='application/x-tex'>{escape(_write_tex(formula))}</annotation>"
        html = f"<math{shape}><semantics><mrow></mrow>{note}</semantics></math>"
        formula.clear()
        formula.tag = f"{_W}r"
        _place_mark(SubElement(formula, f"{_W}t"), html, marked)
    for paragraph in root.iter(f"{_M}oMathPara"):
        is_inline = paragraph.getparent().tag == f"{_W}p"
        paragraph.tag = f"{_W}ins" if is_inline else f"{_W}p"  # mammoth reads an insertion as its content
    return bytes(tostring(root, encoding="utf-8"))


def _place_mark(element: Any, html: str, marked: dict[str, str]) -> None:
    """Replace an element of a run by a mark for the HTML."""
    mark = f"\ue000{len(marked)}\ue001"
    marked[mark] = html
    element.clear()
    element.tag, element.text = f"{_W}t", mark


def _write_chart(space: Any) -> str:
    """Return a chart as HTML."""
    title, rows = ("", []) if space is None else _read_chart(space)
    cells = (f"<tr>{''.join(f'<td>{escape(cell)}</td>' for cell in row)}</tr>" for row in rows)
    table = "".join(cells).replace("td>", "th>", 2 * len(rows[0]) if rows else 0)
    return f"</p><p>Chart{': ' if title else ''}{escape(title)}</p><table>{table}</table><p>"


def _read_edges(archive: zipfile.ZipFile, kind: str) -> str:
    """Return each distinct line of the headers or footers that pages show, below the heading of this part."""
    document, targets = _parse_part(archive, "word/document.xml"), read_relationships(archive, "word/document.xml")
    lines: dict[str, None] = {}
    for reference in document.iter(f"{_W}{kind}Reference"):
        switch = {
            "first": reference.getparent().find(f"{_W}titlePg"),
            "even": _parse_part(archive, "word/settings.xml").find(f"{_W}evenAndOddHeaders"),
        }
        place = reference.get(f"{_W}type")
        if place not in switch or _is_on(switch[place]):
            number = next((value for value in reference.attrib.values() if value in targets), "")
            lines |= dict.fromkeys(_read_lines(_parse_part(archive, targets.get(number, ("", ""))[1])))
    texts = [escape_markdown(_MARK.sub("", line)) for line in lines if not line.isdigit()]
    return "".join([f"\n# [rest: {kind}]\n", *(f"\n{text}\n" for text in texts)]) if texts else ""


def _read_lines(root: Any) -> Iterator[str]:
    """Yield the paragraphs of a part on one line each."""
    for paragraph in root.iter(f"{_W}p"):
        words = [
            each.text or " "
            for each in paragraph.iter(f"{_W}t", f"{_W}tab", f"{_W}br")
            if next(each.iterancestors(f"{_W}p")) is paragraph and next(each.iterancestors(_FALLBACK), None) is None
        ]
        if line := to_one_line("".join(words), 5_000):
            yield line


def _parse_part(archive: zipfile.ZipFile, name: str) -> Any:
    """Return the root of a part, an empty element for a missing one."""
    root = parse_xml(archive.read(name)) if name in archive.namelist() else None
    return Element("none") if root is None else root


def _is_on(switch: Any) -> bool:
    return switch is not None and switch.get(f"{_W}val") not in {"0", "false", "off"}


# Formulas of Word (ECMA-376, part 1, 22.1) as TeX.


def _write_tex(element: Any, depth: int = 0) -> str:
    """Return a formula or a part of one as TeX. Signs stay as they are written."""
    name = local_name(element)
    if depth > MAX_FORMULA_DEPTH or name.endswith("Pr"):
        return ""
    if name == "r":
        return _write_signs(element)
    values = {
        local_name(value): str(value.get(f"{_M}val", ""))
        for properties in element
        if local_name(properties).endswith("Pr")
        for value in properties
    }
    parts = [(local_name(child), _write_tex(child, depth + 1)) for child in element]
    texts = [text for child, text in parts if not child.endswith("Pr")]
    match name:
        case "m" | "eqArr":
            kind = "matrix" if name == "m" else "aligned"
            rows = r" \\ ".join(texts)
            return rf"\begin{{{kind}}} {rows} \end{{{kind}}}"
        case "mr":
            return " & ".join(texts)
        case "d":
            first, last = (values.get(key, sign) for key, sign in (("begChr", "("), ("endChr", ")")))
            inner = values.get("sepChr", "|").join(texts)
            return rf"\left{_FENCES.get(first, first)}{inner}\right{_FENCES.get(last, last)}"
    write = _TEX_FORMS.get(name)
    return write(values, defaultdict(str, parts)) if write else "".join(texts)


def _write_signs(run: Any) -> str:
    text = "".join(each.text or "" for each in run.iter(f"{_M}t"))
    signs = _TEX_SIGNS.sub(r"\\\g<0>", text.replace("\\", "∖"))
    return rf"\text{{{signs}}}" if run.find(f"{_M}rPr/{_M}nor") is not None and signs.strip() else signs


def _group(tex: str) -> str:
    return tex if len(tex) == 1 else f"{{{tex}}}"


def _write_scripts(parts: Mapping[str, str]) -> str:
    sub = f"_{_group(parts['sub'])}" if parts["sub"] else ""
    return f"{sub}^{_group(parts['sup'])}" if parts["sup"] else sub


def _write_fraction(values: Mapping[str, str], parts: Mapping[str, str]) -> str:
    top, bottom, kind = parts["num"], parts["den"], values.get("type")
    if kind in {"lin", "skw"}:
        return f"{_group(top)}/{_group(bottom)}"
    return rf"{{{top} \atop {bottom}}}" if kind == "noBar" else rf"\frac{{{top}}}{{{bottom}}}"


def _write_root(_values: Mapping[str, str], parts: Mapping[str, str]) -> str:
    degree = f"[{parts['deg']}]" if parts["deg"] else ""
    return rf"\sqrt{degree}{{{parts['e']}}}"


def _write_accent(values: Mapping[str, str], parts: Mapping[str, str]) -> str:
    sign = values.get("chr", "\u0302")
    return rf"\{_ACCENTS[sign]}{{{parts['e']}}}" if sign in _ACCENTS else rf"\overset{{{sign}}}{{{parts['e']}}}"


def _write_base(tex: str) -> str:
    name = _write_name(tex)
    return _group(tex) if name == tex else name


def _write_name(name: str) -> str:
    return rf"\{name}" if _FUNCTIONS.fullmatch(name) else name


_TEX_FORMS: Final[dict[str, Callable[[Mapping[str, str], Mapping[str, str]], str]]] = {
    "f": _write_fraction,
    "rad": _write_root,
    "acc": _write_accent,
    **dict.fromkeys(("sSup", "sSub", "sSubSup"), lambda _, parts: _write_base(parts["e"]) + _write_scripts(parts)),
    "sPre": lambda _, parts: f"{{}}{_write_scripts(parts)}{parts['e']}",
    "nary": lambda values, parts: (
        f"{_OPERATORS.get(sign := values.get('chr', '∫'), sign)}{_write_scripts(parts)} {parts['e']}"
    ),
    "func": lambda _, parts: f"{_write_name(parts['fName'])} {parts['e']}",
    "limLow": lambda _, parts: f"{_write_name(parts['e'])}_{_group(parts['lim'])}",
    "limUpp": lambda _, parts: f"{_write_name(parts['e'])}^{_group(parts['lim'])}",
    "bar": lambda values, parts: rf"\{'over' if values.get('pos') == 'top' else 'under'}line{{{parts['e']}}}",
    "groupChr": lambda values, parts: rf"\{'over' if values.get('pos') == 'top' else 'under'}brace{{{parts['e']}}}",
    "borderBox": lambda _, parts: rf"\boxed{{{parts['e']}}}",
    "phant": lambda values, parts: "" if values.get("show") in {"0", "off", "false"} else parts["e"],
}
"""The TeX of an element by the values of its properties and the TeX of its parts."""


# Charts of slides and documents as tables of their values.


def _read_chart(space: Any) -> tuple[str, list[list[str]]]:
    """Return the title of a chart, and its series as the columns of a table beside their categories."""
    columns: list[tuple[str, dict[int, str]]] = []
    categories: dict[int, str] = {}
    for series in islice(space.iter(f"{_C}ser"), MAX_SERIES):
        own = _read_points(series, "cat", "xVal")
        if own != categories or not columns:
            categories = own
            columns.append(("", categories))
        name = to_one_line("".join(str(each.text) for each in series.iterfind(f"{_C}tx//{_C}v")))
        columns.append((name, _read_points(series, "val", "yVal")))
        if sizes := _read_points(series, "bubbleSize"):
            columns.append((f"{name} (size)", sizes))
    places = sorted({place for _, points in columns for place in points})
    rows = [[name for name, _ in columns], *([points.get(place, "") for _, points in columns] for place in places)]
    title = space.find(f"{_C}chart/{_C}title")
    words = [] if title is None else [str(each.text) for each in title.iter("{*}t", f"{_C}v")]
    return to_one_line("".join(words)), rows if places else []


def _read_points(series: Any, *names: str) -> dict[int, str]:
    """Return the cached values of a series by their places. The first level of several is the most exact one."""
    found = next((each for name in names if (each := series.find(f"{_C}{name}")) is not None), None)
    if found is None:
        return {}
    level = found.find(f".//{_C}lvl")
    level = found if level is None else level
    code = found.findtext(f".//{_C}formatCode") or "General"
    return {
        int(point.get("idx")): _format_point(point.findtext(f"{_C}v") or "", code) for point in level.iter(f"{_C}pt")
    }


def _format_point(text: str, number_format: str) -> str:
    try:
        number = float(text)
        if _DATE_FORMAT.search(number_format):
            return (date(1899, 12, 30) + timedelta(days=number)).isoformat()
    except (ValueError, OverflowError):
        return text
    return format_number(int(number) if number.is_integer() else number, number_format)


def _format_slide(number: int, slide: Any) -> str:
    title = slide.shapes.title
    heading = escape_markdown(to_one_line(title.text_frame.text)) if title is not None else ""
    hidden = " (hidden)" if slide._element.get("show") in {"0", "false"} else ""
    parts = [f"## Slide {number}{': ' if heading else ''}{heading}{hidden}\n"]
    remaining = iter(range(MAX_SHAPES))
    parts += _format_shapes(slide.shapes, 0 if title is None else title.shape_id, remaining, 0)
    notes = slide.notes_slide.notes_text_frame if slide.has_notes_slide else None
    if notes is not None and notes.text.strip():
        parts.append(f"Notes: {escape_markdown(notes.text.strip())}\n")
    return "\n".join(parts)


def _format_shapes(shapes: Any, title_id: int, remaining: Iterator[int], depth: int) -> Iterator[str]:
    for shape in shapes:
        if next(remaining, None) is None or depth > MAX_NESTING:
            return
        if hasattr(shape, "shapes"):
            yield from _format_shapes(shape.shapes, title_id, remaining, depth + 1)
        elif getattr(shape, "has_chart", False):
            title, rows = _read_chart(shape.chart._chartSpace)
            yield f"Chart{': ' if title else ''}{escape_markdown(title)}\n\n{format_table(rows)}"
        elif getattr(shape, "has_table", False):
            rows = [[cell.text for cell in row.cells] for row in shape.table.rows]
            yield format_table(rows)
        elif getattr(shape, "has_text_frame", False):
            if shape.shape_id != title_id and (text := _format_paragraphs(shape)):
                yield text
        elif alt := to_one_line(shape._element.xpath("string(.//p:cNvPr/@descr)")):
            yield f"[IMAGE: {escape_markdown(alt)}]\n"


def _format_paragraphs(shape: Any) -> str:
    """Format the paragraphs of a body placeholder as nested list items, and those of other shapes as lines."""
    is_body = bool(shape.is_placeholder) and shape.placeholder_format.idx > 0
    lines = [
        f"{'  ' * paragraph.level + '- ' if is_body else ''}{escape_markdown(to_one_line(paragraph.text, 5_000))}"
        for paragraph in shape.text_frame.paragraphs
        if paragraph.text.strip()
    ]
    return "".join(f"{line}\n" for line in lines)


def read_relationships(archive: zipfile.ZipFile, name: str) -> dict[str, tuple[str, str]]:
    """Return the type and the target of each relationship of a part: an address, or the name of a part."""
    folder, stem = posixpath.split(name)
    path = f"{folder}/_rels/{stem}.rels"
    root = parse_xml(archive.read(path)) if path in archive.namelist() else None
    targets = {}
    for each in root if root is not None else ():
        target = str(each.get("Target"))
        if each.get("TargetMode") != "External":
            target = posixpath.normpath(posixpath.join("/", folder, target)).lstrip("/")
        targets[str(each.get("Id"))] = str(each.get("Type")).rpartition("/")[2], target
    return targets


def name_comment(author: str, text: str) -> str:
    """Return the text of a comment as it stands at its place, on one line."""
    by = f" by {to_one_line(author, 100)}" if author.strip() else ""
    return f"[Comment{by}: {to_one_line(text, 5_000)}]"


def format_number(value: float, number_format: str) -> str:
    """Return a number with the percent, currency and other signs of its format. Only shifted decimals are rounded."""
    before, after, shift, decimals = _read_format(number_format)
    if not shift:
        return f"{before}{value}{after}"
    shifted = round(Decimal(str(value)).scaleb(shift), max(decimals, MAX_SHIFTED_DECIMALS)).normalize()
    return f"{before}{shifted:.{max(decimals, -int(shifted.as_tuple().exponent))}f}{after}"


@lru_cache(maxsize=1_000)
def _read_format(number_format: str) -> tuple[str, str, int, int]:
    """Return the signs before and after a number, the power of ten that it is multiplied by, and its decimals."""
    section = number_format.partition(";")[0]
    if _CONDITION.match(section):
        return "", "", 0, 0
    parts = _FORMAT_PART.findall(section)
    places = [place for place, (digits, *_) in enumerate(parts) if digits]
    if not places:
        return "", "", 0, 0
    signs = ["".join(part[1:]) for part in parts]
    before, after = "".join(signs[: places[0]]), "".join(signs[places[-1] + 1 :])
    number = "".join(digits for digits, *_ in parts)
    thousands = len(number) - len(number.rstrip(","))
    return before, after, 2 * section.count("%") - 3 * thousands, len(number.rstrip(",").partition(".")[2])


def read_properties(archive: Archive) -> Metadata:
    """Return the title, author, dates and language in the core properties (ECMA-376, part 2, 8.3)."""
    if "docProps/core.xml" not in archive.names:
        return Metadata()
    root = parse_xml(archive.read("docProps/core.xml"))
    if root is None:
        return Metadata()

    def read(name: str, limit: int) -> str:
        return to_one_line(clean(str(root.findtext(f"{{*}}{name}") or "")), limit)

    return Metadata(
        title=read("title", 300), author=read("creator", 200), published=read("created", 40),
        modified=read("modified", 40), language=read("language", 20), description=read("description", 500),
    )  # fmt: skip
