"""Find the tables of a PDF page: by the lines around their cells, or by rows whose pieces stand below each other."""

from __future__ import annotations

import itertools
import re
from bisect import bisect_right
from collections.abc import Sequence
from typing import Final

from keyhole.extensions.documents.pdf.page_parts import (
    PdfLine,
    PdfRow,
    PdfRule,
    PdfTable,
    PdfWord,
    have_same_columns,
    is_rtl,
    make_line,
)

# Ruled tables: the cells between drawn vertical and horizontal lines.

NEAR: Final = 4.0
"""Largest distance of two lines that are one border, in points. Browsers leave 2 pixels between the cells."""
MAX_RULES: Final = 4_000
"""Largest number of lines of a page that are searched for tables. A plot has more."""
MIN_CELLS: Final = 4
"""Smallest number of cells with text."""
MANY_COLUMNS: Final = 6
MIN_FILLED: Final = 0.2
"""Smallest share of the cells with text in a table of more than `MANY_COLUMNS`. Music, plans and plots have fewer."""
MAX_COLUMNS: Final = 60
"""Largest number of columns whose borders are not drawn. A page with more has a drawing."""
MIN_BODY_ROWS: Final = 6
"""Smallest number of rows without lines between them, in a table that has such lines elsewhere. Fewer lines of text may
be one cell's."""


def find_ruled_tables(
    rules: Sequence[PdfRule],
    merged: Sequence[PdfRule],
    words: Sequence[PdfWord],
    page: int,
    last_columns: Sequence[float] = (),
) -> tuple[list[PdfTable], set[int]]:
    """Return the tables of a page, and the identities of the words in them.

    `merged`: the drawn lines as `merge_rules` joins them. `last_columns`: the lines between the columns of the last
    table of the page before, which may go on with one row.
    """
    tables: list[PdfTable] = []
    used: set[int] = set()
    if not 4 <= len(rules) <= MAX_RULES:
        return tables, used
    remaining = words
    borders = find_borders(rules, merged, words)
    for group in _group([*merged, *borders]):
        grid = _Grid(group)
        if all(rule in borders for rule in group if rule.left == rule.right):
            grid.extend(remaining)
        inside = grid.fill(remaining, page, () if tables else last_columns)
        if inside:
            tables.append(inside[0])
            used |= inside[1]
            remaining = [word for word in words if id(word) not in used]
    return tables, used


def merge_rules(rules: Sequence[PdfRule]) -> list[PdfRule]:
    """Join the lines that continue each other."""
    joined: list[PdfRule] = []
    for vertical in (False, True):
        turned = [
            PdfRule(r.top, r.left, r.bottom, r.right) if vertical else r
            for r in rules
            if (r.left == r.right) == vertical
        ]
        merged: list[PdfRule] = []
        for rule in sorted(turned, key=lambda r: (round(r.top / 2), r.left)):
            last = merged[-1] if merged else None
            meets = last and last.left - NEAR <= rule.right and rule.left <= last.right + NEAR
            if last and meets and abs(last.top - rule.top) <= 2:
                merged[-1] = PdfRule(min(last.left, rule.left), last.top, max(last.right, rule.right), last.top)
            else:
                merged.append(rule)
        joined += [PdfRule(r.top, r.left, r.bottom, r.right) if vertical else r for r in merged]
    return joined


def find_borders(rules: Sequence[PdfRule], merged: Sequence[PdfRule], words: Sequence[PdfWord]) -> list[PdfRule]:
    """Return the borders of columns without vertical lines, in tables whose horizontal lines are drawn by cell."""
    across = [rule for rule in merged if rule.left != rule.right]
    borders: list[PdfRule] = []
    for x, tops in _find_joints(rules).items():
        ends = [rule for rule in across if any(abs(rule.top - top) <= 2 for top in tops) and rule.left < x < rule.right]
        if len(tops) < 2 or not ends:
            continue
        left, right = min(rule.left for rule in ends), max(rule.right for rule in ends)
        places = _cluster([r.top for r in across if left - NEAR <= r.left <= x <= r.right <= right + NEAR])
        drawn = [r for r in merged if r.left == r.right and left - NEAR <= r.left <= right + NEAR]
        if any(abs(rule.left - x) <= NEAR for rule in drawn):
            continue  # the border is drawn where the table has it
        crossing = [(word.top + word.bottom) / 2 for word in words if word.left < x - 2 and word.right > x + 2]
        inside = [word for word in words if left < word.right and word.left < right]
        for top, bottom in itertools.pairwise(places):
            is_row = any(abs(place - joint) <= 2 for joint in tops for place in (top, bottom))
            is_drawn = any(rule.top < bottom - 2 and rule.bottom > top + 2 for rule in drawn)
            is_filled = _is_filled(inside, top, bottom)
            if is_row and is_filled and not is_drawn and not any(top < middle < bottom for middle in crossing):
                borders.append(PdfRule(x, top, x, bottom))
    return borders


def _is_filled(words: Sequence[PdfWord], top: float, bottom: float) -> bool:
    """Return whether the words between two heights are one row: some, without the gap between two tables."""
    inside = sorted((word for word in words if top < (word.top + word.bottom) / 2 < bottom), key=lambda word: word.top)
    ends = [top, *(word.bottom for word in inside)]
    return bool(inside) and all(
        word.top - end <= ROW_GAP * (word.bottom - word.top) for end, word in zip(ends, inside, strict=False)
    )


def _find_joints(rules: Sequence[PdfRule]) -> dict[float, list[float]]:
    """Return the places where one line ends and another begins at the same height, with these heights."""
    joints: dict[float, list[float]] = {}
    across = sorted((r for r in rules if r.left != r.right), key=lambda r: (round(r.top), r.left))
    for first, second in itertools.pairwise(across):
        if abs(first.top - second.top) <= 1 and abs(first.right - second.left) <= 2 and second.right > first.right + 2:
            x = (first.right + second.left) / 2
            near = next((each for each in joints if abs(each - x) <= 2), x)
            joints.setdefault(near, []).append(first.top)
            if len(joints) > MAX_COLUMNS:
                return {}
    return joints


def _touch(first: PdfRule, second: PdfRule) -> bool:
    return (
        first.left <= second.right + NEAR
        and second.left <= first.right + NEAR
        and first.top <= second.bottom + NEAR
        and second.top <= first.bottom + NEAR
    )


def _group(rules: list[PdfRule]) -> list[list[PdfRule]]:
    """Return the groups of lines that touch each other."""
    groups: list[tuple[PdfRule, list[PdfRule]]] = []  # with the box around each
    for rule in sorted(rules, key=lambda r: r.top):
        box, members = rule, [rule]
        apart = []
        for other_box, others in groups:
            if _touch(other_box, rule) and any(_touch(other, rule) for other in others):
                members += others
                box = PdfRule(
                    min(box.left, other_box.left), min(box.top, other_box.top),
                    max(box.right, other_box.right), max(box.bottom, other_box.bottom),
                )  # fmt: skip
            else:
                apart.append((other_box, others))
        groups = [*apart, (box, members)]
    return [members for _, members in groups if len(members) >= 4]


def _cluster(values: Sequence[float]) -> list[float]:
    """Return the positions in order. Of several that are near each other, only the first is kept."""
    result: list[float] = []
    for value in sorted(values):
        if not result or value - result[-1] > NEAR:
            result.append(value)
    return result


class _Grid:
    """The rows and columns between lines."""

    def __init__(self, rules: list[PdfRule]) -> None:
        self._across = [rule for rule in rules if rule.left != rule.right]
        self._down = [rule for rule in rules if rule.left == rule.right]
        self._xs = _cluster([rule.left for rule in self._down])
        self._ys = _cluster([rule.top for rule in self._across])
        if self._down and self._ys:  # a side without a line
            self._ys = _cluster([*self._ys, min(r.top for r in self._down), max(r.bottom for r in self._down)])
        if self._across and self._xs:
            self._xs = _cluster([*self._xs, min(r.left for r in self._across), max(r.right for r in self._across)])

    def extend(self, words: Sequence[PdfWord]) -> None:
        """Add the header above the first line and the row below the last, where only horizontal lines are drawn."""
        if len(self._xs) < 3 or len(self._ys) < 2:
            return
        for edge, side in ((self._ys[0], -1), (self._ys[-1], 1)):
            if row := self._find_row(words, edge, side):
                end = min(word.top for word in row) - NEAR if side < 0 else max(word.bottom for word in row) + NEAR
                self._ys = sorted([*self._ys, end])
                self._down += [PdfRule(x, min(end, edge), x, max(end, edge)) for x in self._xs]

    def _find_row(self, words: Sequence[PdfWord], edge: float, side: int) -> list[PdfWord]:
        """Return the next row above (-1) or below (1) a line if it has each column's cell and is no prose."""
        first, last = self._xs[0] - NEAR, self._xs[-1] + NEAR
        beside = [(word.top - edge if side > 0 else edge - word.bottom, word) for word in words]
        near = [
            (distance, word) for distance, word in beside
            if -NEAR < distance < ROW_GAP * (word.bottom - word.top) and first < word.right and word.left < last
        ]  # fmt: skip
        nearest = min((distance for distance, _ in near), default=0.0)
        row = sorted((word for distance, word in near if distance < nearest + NEAR), key=lambda word: word.left)
        columns = {bisect_right(self._xs, (word.left + word.right) / 2) for word in row}
        crosses = any(word.left < x - 2 and word.right > x + 2 for word in row for x in self._xs)
        gaps = [right.left - left.right for left, right in itertools.pairwise(row)]
        is_header = any(word.style.bold for word in row) or any(gap > row[0].style.size for gap in gaps)
        return row if is_header and not crosses and len(columns) == len(self._xs) - 1 else []

    def fill(
        self, words: Sequence[PdfWord], page: int, last_columns: Sequence[float]
    ) -> tuple[PdfTable, set[int]] | None:
        """Return the table and its words, None if the lines enclose no table."""
        xs, ys = self._xs, self._ys
        goes_on = have_same_columns(xs, last_columns)
        if len(xs) < 3 or len(ys) < (2 if goes_on else 3):
            return None
        cells: dict[tuple[int, int], list[PdfWord]] = {}
        used: set[int] = set()
        for word in words:
            # A long name may go beyond the line on the right, so a word belongs to the cell where it begins.
            x, y = word.left + min(3.0, (word.right - word.left) / 2), (word.top + word.bottom) / 2
            if xs[0] - 1 < x < xs[-1] + 1 and ys[0] - 1 < y < ys[-1] + 1:
                used.add(id(word))
                cell = self._find_cell(min(max(x, xs[0]), xs[-1] - 0.1), min(max(y, ys[0]), ys[-1] - 0.1))
                cells.setdefault(cell, []).append(word)
        is_small = len(cells) < MIN_CELLS or any(len({place[n] for place in cells}) < 2 for n in (0, 1))
        if not cells or (is_small and not goes_on):
            return None
        rows = self._write_rows(cells)
        kept = [n for n in range(len(xs) - 1) if goes_on or any(row[n] for row in rows)]
        rows = [[row[n] for n in kept] for row in rows if any(row)]
        if len(kept) > MANY_COLUMNS and sum(map(bool, itertools.chain(*rows))) < MIN_FILLED * len(rows) * len(kept):
            return None
        table = PdfTable(tuple(map(tuple, rows)), xs[0], ys[0], xs[-1], ys[-1], page, tuple(xs))
        return table, used

    def _find_cell(self, x: float, y: float) -> tuple[int, int]:
        """Return row and column of the cell at a point: the first one of a cell over several rows or columns."""
        column, row = bisect_right(self._xs, x) - 1, bisect_right(self._ys, y) - 1
        while column > 0 and not _has_rule_at(self._down, self._xs[column], y):
            column -= 1
        while row > 0 and not _has_rule_across(self._across, self._ys[row], x):
            row -= 1
        return row, column

    def _write_rows(self, cells: dict[tuple[int, int], list[PdfWord]]) -> list[list[str]]:
        rows: list[list[str]] = []
        columns = range(len(self._xs) - 1)
        count = sum(map(len, cells.values()))
        for row in range(len(self._ys) - 1):
            words = [cells.get((row, column), []) for column in columns]
            is_body = len(self._ys) <= 3 or 2 * sum(map(len, words)) > count
            if _holds_rows(words):
                rows += _split_row(words, 2)
                continue
            rows += _split_row(words, 2 if len(self._ys) <= 3 else MIN_BODY_ROWS) if is_body else [join_cells(words)]
        return rows


def _has_rule_at(rules: list[PdfRule], x: float, y: float) -> bool:
    return any(abs(r.left - x) <= NEAR and r.top - 2 <= y <= r.bottom + 2 for r in rules)


def _has_rule_across(rules: list[PdfRule], y: float, x: float) -> bool:
    return any(abs(r.top - y) <= NEAR and r.left - 2 <= x <= r.right + 2 for r in rules)


def join_cell(words: list[PdfWord]) -> str:
    """Return the words of a cell in reading order."""
    lines: list[list[PdfWord]] = []
    for word in sorted(words, key=lambda word: (word.top + word.bottom) / 2):
        if lines and (word.top + word.bottom) / 2 < lines[-1][-1].bottom - 0.2 * (word.bottom - word.top):
            lines[-1].append(word)
        else:
            lines.append([word])
    order = {id(word): number for number, word in enumerate(words)}
    return " ".join(word.text for line in lines for word in _sort_words(line, order))


def _sort_words(line: list[PdfWord], order: dict[int, int]) -> list[PdfWord]:
    """Return the words of a line in reading order. `order`: that of the page, by the identities of the words."""
    if is_rtl(" ".join([word.text for word in line])):
        return sorted(line, key=lambda word: order[id(word)])
    return sorted(line, key=lambda word: word.left)


def join_cells(cells: list[list[PdfWord]]) -> list[str]:
    """Return the words of each cell of a row in reading order."""
    return [join_cell(cell) for cell in cells]


def _holds_rows(cells: list[list[PdfWord]]) -> bool:
    """Return whether several rows stand between two lines: the first column goes on after a line without a word in it.

    The lines of one cell follow each other. All lines of the first column stand beside lines of another one.
    """
    first, *others = [_cluster([word.top for word in cell]) for cell in cells if cell] or [[]]
    beside = sorted(top for tops in others for top in tops)
    is_level = all(any(abs(top - other) <= 1 for other in beside) for top in first)
    between = [top for top in beside if first and first[0] < top < first[-1]]
    return is_level and any(all(abs(top - other) > NEAR for other in first) for top in between)


def _split_row(cells: list[list[PdfWord]], least: int) -> list[list[str]]:
    """Split a row without lines inside at each line that has a word in the first column with text.

    A row with fewer than `least` such lines is one row, whose cells have several lines.
    """
    first = next((cell for cell in cells if cell), [])
    tops = _cluster([word.top for word in first])
    if len(tops) < least or sum(len(_cluster([word.top for word in cell])) >= len(tops) for cell in cells if cell) < 2:
        return [join_cells(cells)]
    rows: list[list[list[PdfWord]]] = [[[] for _ in cells] for _ in tops]
    for column, cell in enumerate(cells):
        for word in cell:
            rows[max(0, bisect_right(tops, word.top + NEAR) - 1)][column].append(word)
    return [join_cells(row) for row in rows]


# Aligned tables, without drawn lines: rows of short pieces of text that stand below each other.

MIN_ROWS: Final = 3
"""Smallest number of rows with several cells. Two lines with gaps may be chance."""
MIN_HEADER_COLUMNS: Final = 3
ROW_GAP: Final = 2.2
"""Largest gap between two rows, in heights of a row."""
MAX_CELL_CHARS: Final = 400
"""Longest cell. Longer texts beside each other are columns of prose."""
_LEADERS = re.compile(r"(?:\. ?){4,}|\.{4,}|…{2,}|(?:· ?){4,}")
_NUMBER = re.compile(r"[\divxlcIVXLC.-]{1,6}")


def find_aligned_tables(rows: Sequence[PdfRow]) -> list[PdfRow | PdfTable]:
    """Return the rows with tables in place of their rows."""
    result: list[PdfRow | PdfTable] = []
    at = 0
    while at < len(rows):
        end = _find_end(rows, at)
        table = _build(rows[at:end]) if end - at >= MIN_ROWS else None
        if table is None:
            result.append(rows[at])
            at += 1
        else:
            header = _split_header(result[-1], rows[at:end]) if result else None
            with_header = _build([header, *rows[at:end]]) if header else None
            result[-1 if with_header else len(result) :] = [with_header or table]
            at = end
    return result


def _split_header(above: PdfRow | PdfTable, rows: Sequence[PdfRow]) -> PdfRow | None:
    """Return the cells of a header whose words stand too near to each other for cells, None for another text.

    It stands right above the rows, and its words at the left, at the right or in the middle of each column. Above two
    columns, which may be a term and its text, the words of a sentence do so by chance.
    """
    columns = find_columns([line for row in rows for line in row])
    if isinstance(above, PdfTable) or len(above) > 1 or len(columns) < MIN_HEADER_COLUMNS:
        return None
    line = above[0]
    gap = rows[0][0].top - line.bottom
    if not -NEAR < gap < ROW_GAP * (line.bottom - line.top) or len(line.words) < len(columns):
        return None
    borders = [(first[1] + second[0]) / 2 for first, second in itertools.pairwise(columns)]
    cells: list[list[PdfWord]] = [[] for _ in columns]
    for word in line.words:
        cells[bisect_right(borders, (word.left + word.right) / 2)].append(word)
    header = [make_line(cell, line.page) for cell in cells if cell]
    is_above = len(header) == len(columns) and all(map(_stands_above, header, columns))
    return header if is_above else None


def _stands_above(line: PdfLine, column: tuple[float, float]) -> bool:
    left, right = line.left - column[0], line.right - column[1]
    return min(abs(left), abs(right), abs(left + right) / 2) <= NEAR


def _find_end(rows: Sequence[PdfRow], start: int) -> int:
    """Return the end of the run of rows from `start` that have several pieces, or one piece that continues a cell."""
    if not _is_cells(rows[start]):
        return start
    end = start + 1
    while end < len(rows):
        row, above = rows[end], rows[end - 1]
        height = max(line.bottom - line.top for line in above)
        if row[0].top - max(line.bottom for line in above) > ROW_GAP * height or row[0].top < above[0].top:
            break
        if not (_is_cells(row) or _goes_on(row, rows[start:end])):
            break
        end += 1
    while end > start and not _is_cells(rows[end - 1]) and not _goes_on(rows[end - 1], rows[start : end - 1]):
        end -= 1
    return end


def _is_cells(row: PdfRow) -> bool:
    return len(row) >= 2 and not any(_LEADERS.search(line.text) or (line.style.fixed and len(row) < 3) for line in row)


def _goes_on(row: PdfRow, above: Sequence[PdfRow]) -> bool:
    """Return whether a row with one piece continues a cell that begins further right than the first column."""
    if len(row) != 1 or _LEADERS.search(row[0].text):
        return False
    columns = find_columns([line for each in above for line in each])
    inside = [n for n, (left, right) in enumerate(columns) if row[0].left < right + 6 and row[0].right > left - 6]
    return len(inside) == 1 and inside[0] > 0 and abs(row[0].left - columns[inside[0]][0]) < 4


def _build(rows: Sequence[PdfRow]) -> PdfTable | None:
    """Return the table of some rows, None if their pieces do not stand in columns."""
    columns = find_columns([line for row in rows for line in row])
    if len(columns) < 2 or sum(len(row) >= 2 for row in rows) < MIN_ROWS:
        return None
    cells: list[list[str]] = []
    for row in rows:
        new = place_row(row, columns)
        if cells and not new[0] and sum(map(bool, new)) < len(columns) - 1:
            cells[-1] = [f"{old} {more}".strip() for old, more in zip(cells[-1], new, strict=True)]
        else:
            cells.append(new)
    filled = [sum(bool(row[n]) for row in cells) for n in range(len(columns))]
    if len(cells) < 2 or min(filled) < 2 or max(len(cell) for row in cells for cell in row) > MAX_CELL_CHARS:
        return None
    if len(columns) == 2 and all(_NUMBER.fullmatch(row[1]) for row in cells if row[1]):
        return None  # a table of contents
    lines = [line for row in rows for line in row]
    return PdfTable(
        tuple(map(tuple, cells)), columns[0][0], lines[0].top, columns[-1][1], max(line.bottom for line in lines),
        lines[0].page,
    )  # fmt: skip


def place_row(row: PdfRow, columns: Sequence[tuple[float, float]]) -> list[str]:
    """Return the text in each column. A piece over several columns is in the first of them."""
    cells = [""] * len(columns)
    for line in row:
        column = next((n for n, (_, right) in enumerate(columns) if line.left < right), len(columns) - 1)
        cells[column] = f"{cells[column]} {line.text}".strip()
    return cells


def find_columns(lines: list[PdfLine]) -> list[tuple[float, float]]:
    """Return the ranges that pieces of text cover, without the gaps between them."""
    columns: list[tuple[float, float]] = []
    for line in sorted(lines, key=lambda line: line.left):
        if columns and line.left < columns[-1][1] + 1:
            columns[-1] = columns[-1][0], max(columns[-1][1], line.right)
        else:
            columns.append((line.left, line.right))
    return columns
