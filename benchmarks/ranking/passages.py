"""Measure how often the selected passages contain the answer, and how long they are.

Run `python -m benchmarks.ranking.passages DATA [--split test]`. DATA is a folder as in answers.py. Prints, as Markdown,
the strict share (every required sentence returned verbatim, with gap lines within the budget) of the ranking and the
baselines when they fill the budget, macro averaged over groups, and of the ranking by group and by dataset; then the
strict share and the length of what a user gets, which ends where the evidence ends. `--ablation` removes one ingredient
of the default at a time.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from statistics import mean, median
from types import ModuleType
from typing import Any

from benchmarks.ranking.answers import BUDGETS, Example, load, measure
from keyhole import passages
from keyhole.passages import feedback, find, query, rank, split
from keyhole.passages.packing import one_text

BASELINES = ("head_tail", "tf_cosine", "bm25")
NEVER = 10**9

Change = tuple[ModuleType, str, Any]


def main() -> int:
    """Measure and print the tables."""
    arguments = _arguments()
    examples = load(arguments.data, arguments.split)
    print(f"{len(examples):,} questions, split {arguments.split}, strict %\n")
    if not arguments.ablation:
        _print_strategies(examples, () if arguments.default_only else BASELINES)
        _print_lengths(examples)
    if arguments.ablation:
        _print_ablation(examples)
    return 0


def _print_strategies(examples: list[Example], baselines: tuple[str, ...]) -> None:
    print("| selector | 2k | 4k | 8k | 15k |\n|---|---:|---:|---:|---:|")
    for name in baselines:
        groups, _ = measure(examples, partial(_select, strategy=name))
        print(f"| {name} | {_cells(groups, 'MACRO')} |", flush=True)
    groups, datasets = measure(examples, _select)
    print(f"| passages (default) | {_cells(groups, 'MACRO')} |")
    for title, shares in (("group", groups), ("dataset", datasets)):
        print(f"\n| {title} | 2k | 4k | 8k | 15k |\n|---|---:|---:|---:|---:|")
        for key in sorted({key for key, _ in shares} - {"MACRO"}):
            print(f"| {key} | {_cells(shares, key)} |")


def _print_lengths(examples: list[Example]) -> None:
    """Print the strict share and the length of the results that end where the evidence ends."""
    print("\n| ending with the evidence | 2k | 4k | 8k | 15k |\n|---|---:|---:|---:|---:|")
    lengths: dict[int, list[int]] = {budget: [] for budget in BUDGETS}

    def select(text: str, question: str, budget: int) -> str:
        shown = passages.select(text, question, budget).text
        lengths[budget].append(len(shown))
        return shown

    groups, _ = measure(examples, select)
    print(f"| strict % | {_cells(groups, 'MACRO')} |")
    for name, average in (("median", median), ("mean", mean)):
        print(f"| {name} characters | {' | '.join(f'{average(lengths[budget]):,.0f}' for budget in BUDGETS)} |")


def _select(text: str, question: str, budget: int, strategy: str = "passages") -> str:
    return passages.select(text, question, budget, strategy=strategy, fill=True).text


def _cells(shares: dict[tuple[str, int], float], key: str) -> str:
    return " | ".join(f"{100 * shares[key, budget]:.1f}" for budget in BUDGETS)


def _print_ablation(examples: list[Example]) -> None:
    print("| default | 2k | 4k | 8k | 15k | mean |\n|---|---:|---:|---:|---:|---:|")
    for name, changes in _ablations().items():
        with _apply(changes):
            groups, _ = measure(examples, _select)
        average = sum(groups["MACRO", budget] for budget in BUDGETS) / len(BUDGETS)
        print(f"| {name} | {_cells(groups, 'MACRO')} | {100 * average:.2f} |", flush=True)


def _ablations() -> dict[str, list[Change]]:
    """Return each ablation with the constants that it changes and the new values."""
    score_words: Callable[..., None] = rank._score_words

    def without_coverage(scored: rank.WindowScores) -> None:
        score_words(scored)
        scored.stages[-1] = ("coverage", scored.stages[-2][1])

    def keep_word(_language: str, word: str) -> str:
        return word

    return {
        "complete": [],
        "no saturation (k1 = 1000)": [(rank, "SATURATION", 1000.0)],
        "BM25's usual k1 = 1.2": [(rank, "SATURATION", 1.2)],
        "no IDF": [(rank, "rarity", lambda *_: 1.0)],
        "no light words": [(rank, "light_stems", lambda _: frozenset())],
        "no neighbouring terms": [(rank, "NEAR_DECAY", 0.0), (rank, "FAR_SHARE", 0.0)],
        "no headings": [(rank, "HEADING_SHARE", 0.0), (rank, "SHORT_HEADING_SHARE", 0.0)],
        "no coverage": [(rank, "_score_words", without_coverage)],
        "no second scale": [(rank, "WIDE_SHARE", 0.0)],
        "no citation factor": [(rank, "CITATION_FACTOR", 1.0)],
        "no length factor": [(rank, "LENGTH_POWER", 0.0)],
        "no feedback words": [(feedback, "FEEDBACK_SHARE", 0.0)],
        "no title links": [(feedback, "LINK_SHARE", 0.0)],
        "no stemmer": [(query, "snowball_stem", keep_word)],
        "no prefixes": [
            (find, "INFLECTED_WEIGHT", 0.0),
            (find, "COMPOUND_WEIGHT", 0.0),
            (find, "INNER_MIN_CHARS", NEVER),
        ],
        "no misspelling": [(find, "MISSPELT_MIN_CHARS", NEVER)],
        "no function words": [(query, "FUNCTION_WORDS", {}), (feedback, "FUNCTION_WORDS", {})],
        "windows of 150": [(split, "TARGET_CHARS", 150), (split, "DENSE_TARGET_CHARS", 75)],
        "windows of 600": [(split, "TARGET_CHARS", 600), (split, "DENSE_TARGET_CHARS", 300)],
        "no lede": [(one_text, "LEDE_CHARS", 0)],
        "lede of 1/8": [(one_text, "LEDE_SHARE", 8)],
        "no headings on gap lines": [(one_text, "gap_label", lambda *_: "")],
    }


@contextmanager
def _apply(changes: list[Change]) -> Iterator[None]:
    """Replace constants of modules until the block ends, with empty caches before and after."""
    originals = [(module, name, getattr(module, name)) for module, name, _ in changes]
    _clear_caches()
    for module, name, value in changes:
        setattr(module, name, value)
    try:
        yield
    finally:
        for module, name, value in originals:
            setattr(module, name, value)
        _clear_caches()


def _clear_caches() -> None:
    passages.index_text.cache_clear()
    passages.score_index.cache_clear()


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Measure how often the selected passages contain the answer.")
    parser.add_argument("data", type=Path, help="folder with SPLIT.docs.jsonl.gz and SPLIT.qa.jsonl.gz")
    parser.add_argument("--split", default="test", help="dev to tune on, test to report; default test")
    parser.add_argument("--default-only", action="store_true", help="leave the baselines out")
    parser.add_argument("--ablation", action="store_true", help="instead, remove one ingredient at a time")
    return parser.parse_args()


if __name__ == "__main__":
    raise SystemExit(main())
