"""Measure the selected passages on our own questions about regulations, product manuals and support pages.

Run `python -m benchmarks.ranking.own_questions [--split held]`. Prints, as Markdown, the strict share of the default
strategy and of the baselines over all questions, and of the default by kind of document and by language.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator

from benchmarks.ranking.answers import BUDGETS, Example, has_answer
from benchmarks.ranking.own_questions.documents import SPLITS, load_questions
from keyhole import passages

BASELINES = ("tf_cosine", "bm25")


def main() -> int:
    """Measure and print the tables."""
    arguments = _arguments()
    examples = load_questions(arguments.split)
    documents = len({example.doc_id for example in examples})
    print(f"{len(examples)} questions about {documents} documents, split {arguments.split}, strict %\n")
    print("| selector | 2k | 4k | 8k | 15k |\n|---|---:|---:|---:|---:|")
    for strategy in () if arguments.default_only else BASELINES:
        print(f"| {strategy} | {_cells([measure(example, strategy) for example in examples])} |", flush=True)
    found = [measure(example) for example in examples]
    print(f"| passages (default) | {_cells(found)} |")
    print("\n| part | questions | 2k | 4k | 8k | 15k |\n|---|---:|---:|---:|---:|---:|")
    for part, members in _parts(examples):
        print(f"| {part} | {len(members)} | {_cells([found[number] for number in members])} |")
    return 0


def measure(example: Example, strategy: str = "passages") -> list[bool]:
    """Return for each budget whether the passages that fill it contain the answer."""
    return [
        has_answer(example, passages.select(example.text, example.question, budget, strategy=strategy, fill=True).text)
        for budget in BUDGETS
    ]


def _parts(examples: list[Example]) -> Iterator[tuple[str, list[int]]]:
    """Yield each kind of document, and English and the other languages, with the numbers of their questions."""
    for kind in dict.fromkeys(example.dataset for example in examples):
        yield kind, [number for number, example in enumerate(examples) if example.dataset == kind]
    yield "English", [number for number, example in enumerate(examples) if example.language == "en"]
    yield "other languages", [number for number, example in enumerate(examples) if example.language != "en"]


def _cells(rows: list[list[bool]]) -> str:
    return " | ".join(f"{100 * sum(column) / len(rows):.1f}" for column in zip(*rows, strict=True))


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Measure the selected passages on questions about manuals.")
    parser.add_argument("--split", default="held", choices=SPLITS, help="dev to tune on, held to report; default held")
    parser.add_argument("--default-only", action="store_true", help="leave the baselines out")
    return parser.parse_args()


if __name__ == "__main__":
    raise SystemExit(main())
