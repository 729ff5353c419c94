"""Jupyter notebooks: cells, outputs, pictures, and long base64 in other JSON."""

from __future__ import annotations

import base64
import json
import random

import pytest

from keyhole.extract import extract
from keyhole.records import Document

URL = "https://a.example/docs/tides.ipynb"
BYTES = random.Random(7).randbytes(3_000)
PNG = base64.b64encode(b"\x89PNG\r\n\x1a\n" + BYTES).decode()
LINES = "".join(f"{PNG[start : start + 76]}\n" for start in range(0, len(PNG), 76))


def code(source: object, *outputs: object, **fields: object) -> dict[str, object]:
    return {"cell_type": "code", "source": source, "outputs": list(outputs), **fields}


def shown(**data: object) -> dict[str, object]:
    return {"output_type": "display_data", "data": {key.replace("__", "/"): value for key, value in data.items()}}


def read(*cells: object, content_type: str = "application/x-ipynb+json", **metadata: object) -> Document:
    notebook = {"nbformat": 4, "nbformat_minor": 5, "metadata": metadata, "cells": list(cells)}
    return extract(json.dumps(notebook).encode(), url=URL, content_type=content_type)


@pytest.mark.parametrize(
    "content_type", ["application/x-ipynb+json", "application/json", "text/plain", "", "text/html"]
)
def test_a_notebook_is_read_as_its_cells_and_outputs_under_any_type(content_type: str) -> None:
    document = read(
        {"cell_type": "markdown", "source": ["# Tides\n", "See [how](how.md)."]},
        code(["import tide\n", "tide.at(7)"], shown(text__plain=["4.2 m"], image__png=PNG)),
        {"cell_type": "raw", "source": "\\section{A}"},
        content_type=content_type,
    )
    assert document.title == "Tides"
    assert document.text == (
        "# Tides\nSee [how](/docs/how.md).\n\n```python\nimport tide\ntide.at(7)\n```\n\n"
        "```output\n4.2 m\n```\n\n[image/png, 4 KB, left out]\n\n```\n\\section{A}\n```\n"
    )


def test_code_has_the_language_of_the_kernel() -> None:
    assert "```R\nx <- 7\n```" in read(code("x <- 7"), language_info={"name": "R"}).text
    assert "```julia\nx\n```" in read(code("x"), kernelspec={"language": "julia"}).text
    assert "```python\nx\n```" in read(code("x"), kernelspec={"language": "no `name`"}).text


def test_an_output_is_shown_in_its_best_form() -> None:
    table = "<style>b{}</style><table><tr><th>berth</th></tr><tr><td>A|B</td></tr></table>"
    assert "| berth |\n| --- |\n| A\\|B |" in read(code("a", shown(text__plain="  berth", text__html=table))).text
    text = read(code("a", shown(text__plain="<IPython.core.display.HTML object>", text__html="<b>Depth</b>: 7"))).text
    assert "**Depth**: 7" in text
    assert "IPython" not in text
    assert "*depth*" in read(code("a", shown(text__markdown="*depth*", text__plain="<Markdown>"))).text
    assert "```output\nx**2\n```" in read(code("a", shown(text__plain="x**2", text__latex="$x^2$"))).text
    assert "```output\n$x^2$\n```" in read(code("a", shown(text__latex="$x^2$"))).text


def test_streams_and_errors_are_shown_as_in_a_terminal() -> None:
    stream = {"output_type": "stream", "name": "stderr", "text": ["10%|#\r50%|##\r", "100%|####\r\n", "done\n"]}
    error = {"output_type": "error", "ename": "KeyError", "evalue": "'berth'", "traceback": []}
    traced = {**error, "traceback": ["\x1b[0;31mTraceback\x1b[0m", "\x1b[0;31mKeyError\x1b[0m: 'berth'"]}
    text = read(code("a", stream, error, traced)).text
    assert "```output\n100%|####\ndone\n```" in text
    assert "```output\nKeyError: 'berth'\n```" in text
    assert "```output\nTraceback\nKeyError: 'berth'\n```" in text


def test_an_output_without_text_is_named_with_its_type_and_size() -> None:
    figure = {"data": ["1"] * 700}
    text = read(code("a", {"output_type": "display_data", "data": {"application/vnd.plotly.v1+json": figure}})).text
    assert "[application/vnd.plotly.v1+json, 4 KB, left out]" in text
    assert "[image/svg+xml, 1 KB, left out]" in read(code("a", shown(image__svg="", text__plain="<SVG>") | {
        "data": {"image/svg+xml": ["<svg>", "</svg>"]}})).text  # fmt: skip


def test_a_notebook_of_format_3_is_read() -> None:
    cells = [
        {"cell_type": "heading", "level": 2, "source": "Old"},
        {"cell_type": "code", "input": "9", "language": "python", "outputs": [
            {"output_type": "pyout", "text": ["9"], "png": LINES},
            {"output_type": "stream", "text": "words\n"},
        ]},
    ]  # fmt: skip
    body = json.dumps({"nbformat": 3, "metadata": {"name": ""}, "worksheets": [{"cells": cells}]})
    text = extract(body.encode(), url=URL, content_type="").text
    assert text == (
        "## Old\n\n```python\n9\n```\n\n```output\n9\n```\n\n[image/png, 4 KB, left out]\n\n```output\nwords\n```\n"
    )


def test_a_notebook_with_wrong_values_gives_what_can_be_read() -> None:
    text = read(None, 3, code(5, None, {"data": 7}, {"data": {"text/plain": [None]}}), {"cell_type": "markdown"},
                {"cell_type": "markdown", "source": ["fine", None]}, {}).text  # fmt: skip
    assert "fine" in text


@pytest.mark.parametrize("value", [PNG, LINES, f"data:image/png;base64,{PNG}", PNG.replace("+", "-").replace("/", "_")])
@pytest.mark.parametrize("slash", ["/", "\\/"])
@pytest.mark.parametrize("declared", ["application/json", "application/jsonl", "text/plain"])
def test_long_base64_in_json_is_named_with_its_type_and_size(value: str, slash: str, declared: str) -> None:
    body = json.dumps({"name": "tide", "picture": value}).replace("/", slash)
    text = extract(body.encode(), url="https://a.example/x", content_type=declared).text
    assert "[image/png, 4 KB, left out]" in text
    assert len(text) < 300


def test_base64_of_an_unknown_type_is_named_if_it_is_long() -> None:
    def show(value: str) -> str:
        return extract(json.dumps({"a": value}).encode(), url=URL, content_type="application/json").text

    assert '"[base64, 3 KB, left out]"' in show(base64.b64encode(BYTES).decode())
    assert '"a ![x]([image/gif, 1 KB, left out]) b"' in show(f"a ![x](data:image/gif;base64,{PNG[:300]}) b")
    for kept in (base64.b64encode(BYTES[:279]).decode(), "a3f5" * 300, "ACGT" * 500, "word\n" * 500, "1" * 2_000):
        assert json.dumps(kept) in show(kept)
