"""Count the changed lines of diffs that a result of 4,000 characters shows without a question.

    python -m benchmarks.outputs.diffs [FILE…] [--budget N]

The diffs are those of the outputs of `benchmarks.outputs`, and any FILE. Beside the lines of `bound` stand those of the
head and tail of the same size, three parts to one, and those that the changed lines alone would fill it with.
"""

from __future__ import annotations

import argparse
import re
import sys
from pathlib import Path

from benchmarks.outputs.corpus import load_outputs
from keyhole.outputs.bound import bound

_CHANGED = re.compile(r"^[+-](?!\+\+ |-- )", re.MULTILINE)


def count_changed(text: str) -> int:
    """Return the number of changed lines in a part of a diff."""
    return len(_CHANGED.findall(text))


def head_and_tail(text: str, budget: int) -> str:
    """Return both ends of a text, three parts of the head to one of the tail."""
    return f"{text[: budget * 3 // 4]}\n{text[-(budget // 4) :]}"


def changed_only(text: str, budget: int) -> str:
    """Return the first changed lines of a diff that fit the budget."""
    lines: list[str] = []
    for line in text.split("\n"):
        if _CHANGED.match(line):
            budget -= len(line) + 1
            if budget < 0:
                break
            lines.append(line)
    return "\n".join(lines)


def main() -> int:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="*", type=Path, help="further diffs")
    parser.add_argument("--budget", type=int, default=4_000, help="characters of a result; default 4,000")
    arguments = parser.parse_args()
    budget: int = arguments.budget
    diffs = {id: output.text for id, output in load_outputs().items() if output.kind == "diff"}
    diffs |= {file.name: file.read_text("utf-8", "replace") for file in arguments.files}
    print(f"Changed lines shown in {budget:,} characters\n")
    print("| diff | characters | changed lines | bound | head and tail | changed lines in order | bound, of these |")
    print("|---|---:|---:|---:|---:|---:|---:|")
    for name, text in diffs.items():
        if (total := count_changed(text)) and len(text) > budget:
            shown = count_changed(bound(text, budget=budget, secret=b"benchmark").text)
            ordered = count_changed(changed_only(text, budget))
            ends = count_changed(head_and_tail(text, budget))
            print(f"| {name} | {len(text):,} | {total:,} | {shown} | {ends} | {ordered} | {shown / ordered:.0%} |")
    return 0


if __name__ == "__main__":
    sys.exit(main())
