"""Read Jupyter notebooks (nbformat 3 to 5): cells as Markdown and code, and the texts of their outputs."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any, Final

from keyhole.extract.formats.plain_text import clean_plain_text, describe_left_out, format_markdown, name_base64
from keyhole.extract.markup import fence_code, fragment_to_markdown
from keyhole.records import Document
from keyhole.text.clean import clean

_OLD_KEYS: Final = {
    "text": "text/plain", "html": "text/html", "latex": "text/latex", "png": "image/png", "jpeg": "image/jpeg",
    "svg": "image/svg+xml", "pdf": "application/pdf",
}  # fmt: skip
"""Names of the forms of an output before nbformat 4, which stand beside its other values."""
_PICTURES: Final = ("image/", "video/", "audio/", "application/pdf")


def is_notebook(value: object) -> bool:
    """Return whether a JSON value is a notebook: a format version, and cells or sheets of cells."""
    return isinstance(value, dict) and "nbformat" in value and bool({"cells", "worksheets"} & value.keys())


def read_notebook(notebook: Mapping[str, Any], url: str) -> Document:
    """Return the document of a notebook that `is_notebook` accepts. Cells of an unknown form are left out."""
    metadata = _to_dict(notebook.get("metadata"))
    names = (_to_dict(metadata.get("language_info")).get("name"), _to_dict(metadata.get("kernelspec")).get("language"))
    language = next((name for name in names if isinstance(name, str) and name.isalnum()), "python")
    sheets = [notebook, *_to_dicts(notebook.get("worksheets"))]
    cells = [cell for sheet in sheets for cell in _to_dicts(sheet.get("cells"))]
    parts = [part.strip("\n") for cell in cells for part in _format_cell(cell, language, url)]
    text = "\n\n".join(part for part in parts if part.strip()) + "\n"
    title = metadata.get("title")
    return Document(title=title if isinstance(title, str) else clean_plain_text(text)[0], text=text, media_type="")


def _format_cell(cell: Mapping[str, Any], language: str, url: str) -> Iterator[str]:
    kind, source = cell.get("cell_type"), clean(_join(cell.get("source", cell.get("input"))))
    if kind == "markdown":
        yield format_markdown(source, url)
    elif kind == "heading":
        level = cell.get("level")
        yield f"{'#' * int(level if isinstance(level, str) and level.isdigit() else 1)} {source}"
    elif kind == "code":
        name = cell.get("language")
        yield fence_code(source, name if isinstance(name, str) and name.isalnum() else language) if source else ""
        for output in _to_dicts(cell.get("outputs")):
            yield from _format_output(output)
    elif source:
        yield fence_code(source, "")


def _format_output(output: Mapping[str, Any]) -> Iterator[str]:
    """Yield the best text of an output, and the names of its pictures."""
    old = {kind: output[key] for key, kind in _OLD_KEYS.items() if key in output}
    forms = _to_dict(output.get("data")) or old
    if output.get("output_type") in {"error", "pyerr"}:
        raised = ": ".join(filter(None, (_join(output.get("ename")), _join(output.get("evalue")))))
        forms = {"text/plain": _join(output.get("traceback"), "\n") or raised}
    markdown, html = _join(forms.get("text/markdown")), _join(forms.get("text/html"))
    plain = _join(forms.get("text/plain")) or _join(forms.get("text/latex"))
    if not markdown and (
        "<table" in html or not plain or plain.startswith("<")
    ):  # `<IPython.core.display.HTML object>`
        markdown = fragment_to_markdown(html, "")
    if markdown.strip():
        yield format_markdown(clean(markdown), "")
    elif plain.strip():
        yield fence_code(name_base64(clean(_overwrite(plain))), "output")
    for kind, value in forms.items():
        is_picture = kind.startswith(_PICTURES)
        if is_picture or not (markdown.strip() or plain.strip()):
            content = _join(value) or json.dumps(value)
            yield describe_left_out(kind, len(content) * 3 // 4 if is_picture and "<" not in content else len(content))


def _overwrite(text: str) -> str:
    """Return a text as a terminal shows it: a carriage return begins the line anew, as progress bars do."""
    lines = text.replace("\r\n", "\n").split("\n")
    return "\n".join(line.rstrip("\r").rpartition("\r")[2] for line in lines)


def _join(value: object, between: str = "") -> str:
    """Return a text that may be a list of lines, "" for other values."""
    lines = value if isinstance(value, list) else [value]
    return between.join(line for line in lines if isinstance(line, str))


def _to_dict(value: object) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _to_dicts(value: object) -> list[dict[str, Any]]:
    return [each for each in value if isinstance(each, dict)] if isinstance(value, list) else []
