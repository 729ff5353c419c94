"""Count the code lines, files and imports of the package, and read the limits of these figures."""

from __future__ import annotations

import ast
import io
import tokenize
import tomllib
from collections import Counter
from functools import cache
from pathlib import Path
from typing import Final, NamedTuple

from benchmarks.source.imports import FILES, FOLDERS, PACKAGE, circles_in, name_of, top_names, upward_imports
from benchmarks.source.loaded_modules import record_fetch

LIMITS: Final = Path(__file__).with_name("limits.toml")
SHORT: Final = 60
"""Lines. A file with fewer counts as short, unless it is an `__init__.py` or `__main__.py`."""

_NO_CODE: Final = frozenset(
    {tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER}
)


class Limit(NamedTuple):
    """The largest allowed value of a figure, and the value to reach, None if the limit is enough."""

    limit: int
    goal: int | None = None


def read_limits() -> dict[str, Limit]:
    """Return the limit of each figure, by name."""
    return {name: Limit(**row) for name, row in tomllib.loads(LIMITS.read_text("utf-8")).items()}


def measure() -> dict[str, int]:
    """Return each figure by the name of its limit. Runs `keyhole fetch` in a subprocess."""
    lines = code_lines_by_folder()
    loaded = record_fetch()
    return {
        "code_lines_of_the_core": sum(count for folder, count in lines.items() if not is_extension(folder)),
        "code_lines": sum(lines.values()),
        "files": len(FILES),
        "names_at_the_top": len(top_names() - {"__main__", "_version"}),
        "lines_of_the_largest_file": count_lines(largest_file()),
        "files_under_60_lines": len(short_files()),
        "modules_of_a_fetch": len(loaded.command | loaded.worker),
        "import_circles": len(all_circles()),
        "upward_imports": len(upward_imports()),
    }


@cache
def code_lines_by_folder() -> Counter[str]:
    """Return the code lines of each folder at the top and of each extension; "" for the files at the top."""
    lines: Counter[str] = Counter()
    for path in FILES:
        folders = path.relative_to(PACKAGE).parts[:-1]
        lines["/".join(folders[: 2 if is_extension(name_of(path)) else 1])] += count_code_lines(path.read_text("utf-8"))
    return lines


def is_extension(name: str) -> bool:
    """Return True for a path within the package that is outside the core."""
    return name.partition("/")[0] == "extensions"


def count_code_lines(text: str) -> int:
    """Return the number of lines that are neither blank, nor a comment, nor part of a docstring.

    A docstring is any string that is a statement, so that the string after a constant or a field is one too.
    """
    numbers: set[int] = set()
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type not in _NO_CODE:
            numbers.update(range(token.start[0], token.end[0] + 1))
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str):
            numbers.difference_update(range(node.lineno, (node.end_lineno or node.lineno) + 1))
    lines = text.split("\n")
    return sum(1 for number in numbers if lines[number - 1].strip())


def count_lines(path: Path) -> int:
    """Return the number of all lines of a file."""
    return len(path.read_text(encoding="utf-8").splitlines())


def largest_file() -> Path:
    """Return the file with the most lines."""
    return max(FILES, key=count_lines)


def short_files() -> list[Path]:
    """Return the files under SHORT lines."""
    return [path for path in FILES if count_lines(path) < SHORT and path.stem not in {"__init__", "__main__"}]


def all_circles() -> list[str]:
    """Return a line for each circle of imports in a folder."""
    return [f"{folder}: {', '.join(circle)}" for folder in FOLDERS for circle in circles_in(folder)]
