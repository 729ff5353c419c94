"""Find the parts of a page in a Markdown text, each at a place of its own, and list the missing ones."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Sequence
from difflib import SequenceMatcher
from typing import Final

from benchmarks.extraction.manuals.page_parts import PageParts, Part, make_cell_key, make_key
from benchmarks.extraction.manuals.text_units import Unit, read_units

KINDS: Final = ("cells", "code blocks", "headings", "list items")
MIN_RUN: Final = 12
"""Characters of the shortest text that is looked for within other text. Shorter ones may be found by chance."""
_EMPTY_LINES = re.compile(r"\n{2,}")
_FIELDS: Final = {"code blocks": "code", "headings": "headings", "list items": "items"}


def list_parts(page: PageParts, kind: str) -> list[Part]:
    """Return the parts of one kind in order."""
    if kind == "cells":
        return [cell for table in page.tables for row in table for cell in row]
    parts: tuple[Part, ...] = getattr(page, _FIELDS[kind])
    return list(parts)


def find_missing(page: PageParts, markdown: str) -> dict[str, list[Part]]:
    """Return the parts of each kind that a Markdown text does not contain."""
    units = read_units(markdown)
    return {
        "cells": find_missing_cells(page.tables, units),
        "code blocks": find_missing_code(page.code, units),
        "headings": find_missing_headings(page.headings, units),
        "list items": find_missing_items(page.items, units),
    }


class Leftover:
    """The text of the units that no part was found in yet. A stretch is found only once."""

    def __init__(self, units: Iterable[Unit]) -> None:
        self._text = "".join(unit.key for unit in units)

    def take(self, key: str) -> bool:
        """Remove a stretch and return True, or return False if there is none."""
        start = self._text.find(key)
        if not key or start < 0:
            return False
        self._text = self._text[:start] + "\n" + self._text[start + len(key) :]
        return True


def find_missing_cells(tables: Iterable[Sequence[Sequence[Part]]], units: Sequence[Unit]) -> list[Part]:
    """Return the cells that are missing.

    A row is found as a row of a Markdown table with the same cells, or else most of the same cells in the same order.
    Tables that did not become Markdown tables are looked for as a whole, then row by row, then cell by cell: in these
    steps the texts of the cells must follow each other without anything in between.
    """
    rows = [
        (number, row, [make_cell_key(cell.text) for cell in row])
        for number, table in enumerate(tables)
        for row in table
    ]
    places: dict[tuple[str, ...], list[int]] = defaultdict(list)
    for index, unit in enumerate(units):
        if unit.kind == "row":
            places[unit.cells].append(index)
    free = {index for indexes in places.values() for index in indexes}
    unmatched = []
    for number, row, keys in rows:
        indexes = places.get(tuple(keys), [])
        if indexes:
            free.discard(indexes.pop(0))
        else:
            unmatched.append((number, row, keys))
    leftover_rows = []
    for number, row, keys in unmatched:
        place, matched = _find_similar_row(keys, units, free)
        free.discard(place)
        left = [index for index in range(len(keys)) if index not in matched]
        if left:
            leftover_rows.append((number, [row[index] for index in left], [keys[index] for index in left]))
    leftover = Leftover(unit for index, unit in enumerate(units) if unit.kind != "row" or index in free)
    return _find_missing_runs(leftover_rows, leftover)


def _find_similar_row(keys: Sequence[str], units: Sequence[Unit], free: Iterable[int]) -> tuple[int, set[int]]:
    """Return the free row with most of the cells, at least half of them, and the positions of the cells found there."""
    best: tuple[int, set[int]] = (-1, set())
    for index in free:
        if not set(keys) & set(units[index].cells):
            continue
        blocks = SequenceMatcher(None, keys, units[index].cells, autojunk=False).get_matching_blocks()
        matched = {block.a + offset for block in blocks for offset in range(block.size)}
        if len(matched) > len(best[1]) and 2 * len(matched) >= len(keys):
            best = index, matched
    return best


def _find_missing_runs(rows: Iterable[tuple[int, list[Part], list[str]]], leftover: Leftover) -> list[Part]:
    tables: dict[int, list[tuple[list[Part], list[str]]]] = defaultdict(list)
    for number, row, keys in rows:
        tables[number].append((row, keys))
    missing = []
    for table in tables.values():
        if leftover.take("".join("".join(keys) for _, keys in table)):
            continue
        for row, keys in table:
            run = "".join(keys)
            if len(run) >= MIN_RUN and leftover.take(run):
                continue
            missing += [
                cell for cell, key in zip(row, keys, strict=True) if len(key) < MIN_RUN or not leftover.take(key)
            ]
    return missing


def find_missing_code(blocks: Iterable[Part], units: Sequence[Unit]) -> list[Part]:
    """Return the code blocks whose lines are missing: in a code block or a table cell, or as one line of other text.

    A cell has no empty lines.
    """
    places = defaultdict(list)
    for unit in units:
        if unit.kind == "code":
            places[unit.code].append(unit)
    used: set[int] = set()
    unmatched = []
    for block in blocks:
        if same := places.get(block.text):
            used.add(id(same.pop(0)))
        else:
            unmatched.append(block)
    lines = [f"\n{unit.code}\n" for unit in units if unit.code and id(unit) not in used]
    leftover = Leftover(unit for unit in units if unit.kind != "code")
    missing = []
    for block in unmatched:
        texts = [f"\n{text}\n" for text in (block.text, _EMPTY_LINES.sub("\n", block.text))]
        within = next(((index, text) for text in texts for index, code in enumerate(lines) if text in code), None)
        if within is not None:
            lines[within[0]] = lines[within[0]].replace(within[1], "\n\0\n", 1)
        elif "\n" in block.text or not leftover.take(make_key(block.text)):
            missing.append(block)
    return missing


def find_missing_headings(parts: Iterable[Part], units: Sequence[Unit]) -> list[Part]:
    """Return the headings that are missing: as a heading or paragraph, or within other text if long."""
    unmatched, others = _take_equal(parts, [unit for unit in units if unit.kind == "heading"])
    return _find_missing_lines(unmatched, others + [unit for unit in units if unit.kind != "heading"])


def find_missing_items(parts: Iterable[Part], units: Sequence[Unit]) -> list[Part]:
    """Return the list items that are missing: as an item or paragraph, or within other text if long."""
    unmatched, others = _take_equal(parts, [unit for unit in units if unit.item])
    others += [unit for unit in units if not unit.item and unit.kind != "row"]
    cells = [Unit("text", line) for unit in units for line in unit.lines]
    return _find_missing_lines(unmatched, others + cells)


def _find_missing_lines(parts: Iterable[Part], units: Sequence[Unit]) -> list[Part]:
    unmatched, free = _take_equal(parts, units)
    leftover = Leftover(free)
    return [
        part
        for part in unmatched
        if not any(len(key) >= MIN_RUN and leftover.take(key) for key in map(make_key, (part.text, part.described)))
    ]


def _take_equal(parts: Iterable[Part], units: Sequence[Unit]) -> tuple[list[Part], list[Unit]]:
    """Match each part with a unit of the same text; return the parts and the units without a match.

    The number of a list item may be part of its text or not.
    """
    places: dict[str, list[int]] = defaultdict(list)
    for index, unit in enumerate(units):
        for key in {unit.key, unit.number + unit.key}:
            places[key].append(index)
    used: set[int] = set()
    unmatched = []
    for part in parts:
        same = [index for text in (part.text, part.described) for index in places.get(make_key(text), ())]
        place = next((index for index in same if index not in used), None)
        if place is None:
            unmatched.append(part)
        else:
            used.add(place)
    return unmatched, [unit for index, unit in enumerate(units) if index not in used]
