"""The benchmark of manuals: what it reads from a page, what it finds missing, and a sample of pages it measures."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections import Counter
from pathlib import Path

import pytest

from benchmarks.extraction.manuals import packages, training
from benchmarks.extraction.manuals.__main__ import Figures, list_excesses, measure
from benchmarks.extraction.manuals.catalog import MANUALS, Manual, list_pages
from benchmarks.extraction.manuals.matching import KINDS, find_missing, list_parts
from benchmarks.extraction.manuals.page_parts import read_page
from tests.support.documentation import ROOT

DPKG_DEB = shutil.which("dpkg-deb") or ""
SAMPLE = {
    "docbook": "DocBook XSL",
    "doxygen": "Doxygen",
    "hand-written": "hand-written HTML",
    "javadoc": "javadoc",
    "sphinx": "Sphinx",
    "texinfo": "texi2any",
}
"""Pages of fixtures/manuals, with the generator whose structure they have."""
PAGE = b"""<nav><ul><li>Home</li></ul></nav><h1>Title <a href="#t">#</a></h1>
<table><tr><th>name<th>value</tr><tr><td>one<td>1</tr><tr><td>two<td>1</tr></table>
<pre>if x:\n    y *= 2</pre><ul><li>first item<ul><li>inner</ul><li><p>second item</p><p>more</p></ul>
<p hidden>hidden</p><table role=presentation><tr><td>layout<td>2</tr></table>"""
TEXT = (
    "# Title\n\n| name | value |\n| --- | --- |\n| one | 1 |\n| two | 1 |\n\n```\nif x:\n    y *= 2\n```\n\n"
    "- first item\n  - inner\n- second item\n\n  more\n- Home\n"
)


def list_missing_texts(markdown: str) -> dict[str, list[str]]:
    missing = find_missing(read_page(PAGE), markdown)
    return {kind: [" ".join(part.text.split()) for part in parts] for kind, parts in missing.items() if parts}


@pytest.mark.parametrize("name", SAMPLE)
def test_a_page_in_the_structure_of_a_generator_loses_no_cell_code_heading_or_item(name: str) -> None:
    manual = next(manual for manual in MANUALS if manual.generator == SAMPLE[name])
    html = (ROOT / "fixtures" / "manuals" / f"{name}.html").read_bytes()
    figures = measure(html, f"https://manuals.example/{name}.html", manual)
    assert figures.lines == ()
    assert figures.main["cells"] >= 12
    assert all(figures.main[kind] for kind in KINDS)


def test_the_parts_of_a_page_are_its_visible_cells_code_headings_and_items() -> None:
    page = read_page(PAGE)
    texts = {kind: [part.text.split() for part in list_parts(page, kind)] for kind in KINDS}
    assert texts == {
        "cells": [["name"], ["value"], ["one"], ["1"], ["two"], ["1"]],
        "code blocks": [["if", "x:", "y", "*=", "2"]],
        "headings": [["Title"]],
        "list items": [["Home"], ["first", "item"], ["inner"], ["second", "item"]],
    }
    assert [part.navigation for part in page.items] == [True, False, False, False]


def test_nothing_is_missing_from_a_complete_text() -> None:
    assert list_missing_texts(TEXT) == {}


@pytest.mark.parametrize(
    ("old", "new", "missing"),
    [
        ("| two | 1 |\n", "", {"cells": ["two", "1"]}),
        ("| two | 1 |", "| two | |", {"cells": ["1"]}),
        ("| two | 1 |\n", "\ntwo\n\nother\n\n1\n", {"cells": ["two", "1"]}),
        ("| one | 1 |", "| 1 | one |", {"cells": ["1"]}),
        ("    y *= 2", "  y *= 2", {"code blocks": ["if x: y *= 2"]}),
        ("    y *= 2\n", "", {"code blocks": ["if x: y *= 2"]}),
        ("# Title\n", "", {"headings": ["Title"]}),
        ("- inner", "- within", {"list items": ["inner"]}),
        ("- Home\n", "", {"list items": ["Home"]}),
    ],
)
def test_a_part_that_is_absent_changed_or_out_of_order_is_missing(
    old: str, new: str, missing: dict[str, list[str]]
) -> None:
    assert old in TEXT
    assert list_missing_texts(TEXT.replace(old, new, 1)) == missing


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("| one | 1 |", r"| **one** | [1](https://example.com/a_(b)) |"),
        ("- second item", "1. second\n   *item*"),
        ("# Title", "**Title**"),
        ("if x:", "# before\nif x:"),
    ],
)
def test_the_markup_around_a_part_does_not_matter(old: str, new: str) -> None:
    assert list_missing_texts(TEXT.replace(old, new, 1)) == {}


def test_the_title_of_an_admonition_counts_as_a_paragraph() -> None:
    page = read_page(b'<body><div class="note"><h3>Note</h3><p>Save first.</p></div></body>', ())
    assert find_missing(page, "> **Note**\n> Save first.\n")["headings"] == []
    assert len(find_missing(page, "> Save first.\n")["headings"]) == 1


def test_the_labels_of_footnotes_in_a_cell_count_as_in_the_page() -> None:
    notes = b"<table><tr><th>name</tr><tr><td><p><sup>[a]</sup> one note</p><p><sup>[b]</sup> two</p></tr></table>"
    page = read_page(notes)
    assert find_missing(page, "| name |\n| --- |\n| [^a]: one note<br>[^b]: two |\n")["cells"] == []
    assert len(find_missing(page, "| name |\n| --- |\n| [^a]: one note<br>[^b]: |\n")["cells"]) == 1


def test_a_part_is_found_only_as_often_as_it_occurs() -> None:
    page = read_page(b"<ul><li>a long text<li>a long text</ul>")
    assert len(find_missing(page, "- a long text\n")["list items"]) == 1


def test_a_page_that_is_not_read_misses_all_of_its_parts() -> None:
    html = b"<title>Just a moment...</title><form id=challenge-form></form><h1>Checking your browser</h1>"
    figures = measure(html, "https://manuals.example/", MANUALS[0])
    assert figures.lines[0].startswith("https://manuals.example/: ")
    assert figures.missing_main["headings"] == figures.missing_whole["headings"] == 1


@pytest.mark.skipif(not DPKG_DEB, reason="dpkg-deb is not installed")
def test_a_package_is_unpacked_once_without_being_installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    page = tmp_path / "build" / "usr" / "share" / "doc" / "page.html"
    page.parent.mkdir(parents=True)
    page.write_text("<p>text</p>")
    (tmp_path / "build" / "DEBIAN").mkdir()
    control = "Package: manual-doc\nVersion: 1:2.0\nArchitecture: all\nMaintainer: m <m@example.org>\nDescription: d\n"
    (tmp_path / "build" / "DEBIAN" / "control").write_text(control)
    name = "manual-doc_1%3a2.0_all.deb"
    subprocess.run([DPKG_DEB, "-b", tmp_path / "build", tmp_path / name], check=True, capture_output=True)
    calls = tmp_path / "calls"
    apt_get = tmp_path / "bin" / "apt-get"
    apt_get.parent.mkdir()
    apt_get.write_text(
        f"#!/bin/sh\necho \"$2\" >>'{calls}'\n"
        f"case $2 in --print-uris) echo \"'http://debian.example/{name}' {name} 1\" ;;\n"
        f"*) cp '{tmp_path / name}' . ;; esac\n"
    )
    apt_get.chmod(0o755)
    monkeypatch.setenv("PATH", str(apt_get.parent), prepend=os.pathsep)
    monkeypatch.setattr(packages, "CACHE", tmp_path / "cache")
    manual = packages.find_manual(Manual("manual-doc", "", "usr/share/doc"))
    assert manual.name == "manual-doc 1:2.0"
    assert [path.name for path in list_pages(manual)] == ["page.html"]
    assert packages.find_manual(Manual("manual-doc", "", "usr/share/doc")) == manual
    assert calls.read_text().split() == ["--print-uris", "-qq", "--print-uris"]


def test_limits_hold_for_the_main_part_and_for_the_whole_text() -> None:
    none: Counter[str] = Counter()
    counts = Counter(dict.fromkeys(KINDS, 1_000))
    assert not list(list_excesses(Figures(1, counts, counts, Counter(cells=5, headings=9), none)))
    assert list(list_excesses(Figures(1, counts, counts, Counter(cells=6), Counter({"code blocks": 1})))) == [
        "cells missing from the main part: 6 of 1,000, allowed 0.5%",
        "code blocks missing from the text: 1 of 1,000, allowed 0.0%",
    ]


def test_pages_are_sampled_evenly_without_redirects(tmp_path: Path) -> None:
    for number in range(120):
        (tmp_path / f"{number:03}.html").write_text("<p>text</p>")
    (tmp_path / "002.html").write_text('<meta http-equiv="refresh" content="0;url=003.html">')
    names = [path.name for path in list_pages(Manual("m", "", str(tmp_path)))]
    assert (names[:3], len(names)) == (["000.html", "004.html", "006.html"], 59)
    assert list_pages(Manual("m", "", str(tmp_path / "none"))) == []


def test_the_scorer_is_fitted_to_other_manuals_than_those_that_are_measured() -> None:
    assert not {manual.name for manual in MANUALS} & {manual.name for manual in training.MANUALS}


def test_the_content_of_a_page_that_the_scorer_is_fitted_to_has_no_navigation() -> None:
    html = "<head><title>T</title></head><nav>Menu</nav><div class=toc>Contents</div><h1>Title</h1><p>Text <b>of</b> it"
    assert training.read_content(html, (".toc",)) == "Title Text of it"
