"""Print the size of the package, its imports, and the modules that a fetch loads, beside their limits and goals.

    python -m benchmarks.source [--short]

Code lines are neither blank, nor a comment, nor part of a docstring. The core is everything outside
`server/keyhole/extensions/`. The limits are in limits.toml; the exit code is 1 if a figure exceeds its limit.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Mapping

from benchmarks.source.figures import (
    Limit,
    all_circles,
    code_lines_by_folder,
    largest_file,
    measure,
    read_limits,
    short_files,
)
from benchmarks.source.imports import name_of, upward_imports


def main() -> int:
    """Measure and print the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--short", action="store_true", help="also print the names of the files under 60 lines")
    arguments = parser.parse_args()
    print("| folder | code lines |\n|---|---:|")
    for folder, count in code_lines_by_folder().most_common():
        print(f"| {folder or 'files at the top'} | {count:,} |")
    figures, limits = measure(), read_limits()
    print("\n| figure | today | limit | goal |\n|---|---:|---:|---:|")
    for name, value in figures.items():
        limit, goal = limits[name]
        print(f"| {name.replace('_', ' ')} | {value:,} | {limit:,} | {'' if goal is None else f'{goal:,}'} |")
    print(f"\nThe largest file is {name_of(largest_file())}.")
    for line in [*all_circles(), *upward_imports()]:
        print(line)
    for path in short_files() if arguments.short else []:
        print(name_of(path))
    exceeded = exceeded_limits(figures, limits)
    for line in exceeded:
        print(line, file=sys.stderr)
    return bool(exceeded)


def exceeded_limits(figures: Mapping[str, int], limits: Mapping[str, Limit]) -> list[str]:
    """Return a line for each figure that exceeds its limit."""
    return [
        f"{name.replace('_', ' ')}: {value:,}, over the limit of {limits[name].limit:,}"
        for name, value in figures.items()
        if value > limits[name].limit
    ]


if __name__ == "__main__":
    sys.exit(main())
