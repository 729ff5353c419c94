"""Is the answer inside the returned window? `python -m benchmarks.ranking.passages DATA [--split test]`.

DATA is a folder as answers.py describes. Prints, as Markdown, the strict share (every needed sentence returned
verbatim, header and gap lines within the budget) of the default strategy and the named baselines, macro averaged
over groups; the default by group and by dataset; with `--weak` how often a weak match is flagged on right and wrong
pages; with `--ablation` the default with one ingredient taken away at a time.
"""

from __future__ import annotations

import argparse
import random
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from types import ModuleType
from typing import Any

from benchmarks.ranking.answers import BUDGETS, Example, load, measure, squash
from keyhole import passages
from keyhole.passages import feedback, find, order, pack, query, rank, split

BASELINES = ("head_tail", "tf_cosine", "bm25")
NEVER = 10**9
WRONG_PAGES = 100
"""Questions of a dataset that are asked of another page of it, at most."""

Change = tuple[ModuleType, str, Any]


def main() -> int:
    """Measure, and print the tables."""
    arguments = _arguments()
    examples = load(arguments.data, arguments.split)
    print(f"{len(examples):,} questions, split {arguments.split}, strict %\n")
    if not arguments.ablation:
        _print_strategies(examples, () if arguments.default_only else BASELINES)
    if arguments.weak:
        _print_weak(examples)
    if arguments.ablation:
        _print_ablation(examples)
    return 0


def _print_strategies(examples: list[Example], baselines: tuple[str, ...]) -> None:
    print("| selector | 2k | 4k | 8k | 15k |\n|---|---:|---:|---:|---:|")
    for name in baselines:
        groups, _ = measure(examples, partial(_window, strategy=name))
        print(f"| {name} | {_cells(groups, 'MACRO')} |", flush=True)
    groups, datasets = measure(examples, _window)
    print(f"| passages (default) | {_cells(groups, 'MACRO')} |")
    for title, shares in (("group", groups), ("dataset", datasets)):
        print(f"\n| {title} | 2k | 4k | 8k | 15k |\n|---|---:|---:|---:|---:|")
        for key in sorted({key for key, _ in shares} - {"MACRO"}):
            print(f"| {key} | {_cells(shares, key)} |")


def _window(text: str, question: str, budget: int, strategy: str = "passages") -> str:
    return passages.select(text, question, budget, strategy=strategy).text


def _cells(shares: dict[tuple[str, int], float], key: str) -> str:
    return " | ".join(f"{100 * shares[key, budget]:.1f}" for budget in BUDGETS)


def _print_weak(examples: list[Example]) -> None:
    """How often the flag fires on the page that was asked and on another page of the same dataset."""
    pages: dict[tuple[str, str], dict[str, str]] = {}
    for example in examples:
        pages.setdefault((example.dataset, example.language), {})[example.doc_id] = example.text
    chance = random.Random(3)
    false_alarms, fired, asked = [], [], dict[str, int]()
    for example in examples:
        asked[example.dataset] = asked.get(example.dataset, 0) + 1
        if asked[example.dataset] > WRONG_PAGES:
            continue
        false_alarms.append(passages.select(example.text, example.question, 2_000).weak)
        gold = example.gold[0][0]
        others = [text for text in pages[example.dataset, example.language].values() if gold not in squash(text)]
        if others:
            wrong = passages.select(chance.choice(others), example.question, 2_000)
            fired.append(wrong.weak or not wrong.matched)
    print(f"\nWeak match: fires on {100 * sum(fired) / len(fired):.1f} % of {len(fired)} wrong pages,", end=" ")
    print(f"false alarms on {100 * sum(false_alarms) / len(false_alarms):.1f} % of {len(false_alarms)} right ones")


def _print_ablation(examples: list[Example]) -> None:
    print("| default | 2k | 4k | 8k | 15k | mean |\n|---|---:|---:|---:|---:|---:|")
    for name, changes in _ablations().items():
        with _changed(changes):
            groups, _ = measure(examples, _window)
        average = sum(groups["MACRO", budget] for budget in BUDGETS) / len(BUDGETS)
        print(f"| {name} | {_cells(groups, 'MACRO')} | {100 * average:.2f} |", flush=True)


def _ablations() -> dict[str, list[Change]]:
    """What is taken away: a module's name and the value that makes an ingredient do nothing."""
    score_words: Callable[..., None] = rank._score_words

    def without_coverage(scored: rank.Scored) -> None:
        score_words(scored)
        scored.stages[-1] = ("coverage", scored.stages[-2][1])

    def unstemmed(_language: str, word: str) -> str:
        return word

    return {
        "complete": [],
        "no saturation (k1 = 1000)": [(rank, "SATURATION", 1000.0)],
        "BM25's usual k1 = 1.2": [(rank, "SATURATION", 1.2)],
        "no IDF": [(rank, "IDF_POWER", 0.0)],
        "no neighbouring terms": [(rank, "NEAR_DECAY", 0.0), (rank, "FAR_SHARE", 0.0)],
        "no headings": [(rank, "HEADING_SHARE", 0.0)],
        "no coverage": [(rank, "_score_words", without_coverage)],
        "no second scale": [(rank, "WIDE_SHARE", 0.0)],
        "no number boost": [(rank, "NUMBER_BOOST", 0.0)],
        "no citation factor": [(rank, "CITATION_FACTOR", 1.0)],
        "no length factor": [(rank, "LENGTH_POWER", 0.0)],
        "no feedback words": [(feedback, "FEEDBACK_SHARE", 0.0)],
        "no title links": [(feedback, "LINK_SHARE", 0.0)],
        "no other opinions": [(order, "SURE_CHARS", NEVER)],
        "no stemmer": [(query, "snowball_stem", unstemmed)],
        "no prefixes": [(find, "INFLECTED", 0.0), (find, "COMPOUND", 0.0), (find, "INNER_MIN_CHARS", NEVER)],
        "no misspelling": [(find, "MISSPELT_MIN_CHARS", NEVER)],
        "no function words": [(query, "FUNCTION_WORDS", {}), (feedback, "FUNCTION_WORDS", {})],
        "windows of 150": [(split, "TARGET_CHARS", 150), (split, "DENSE_TARGET_CHARS", 75)],
        "windows of 600": [(split, "TARGET_CHARS", 600), (split, "DENSE_TARGET_CHARS", 300)],
        "no lede": [(pack, "LEDE_CHARS", 0)],
        "lede of 1/8": [(pack, "LEDE_SHARE", 8)],
        "no headings on gap lines": [(pack, "label", lambda *_: "")],
    }


@contextmanager
def _changed(changes: list[Change]) -> Iterator[None]:
    """The modules with some values replaced, and nothing remembered from before or after."""
    kept = [(module, name, getattr(module, name)) for module, name, _ in changes]
    _forget()
    for module, name, value in changes:
        setattr(module, name, value)
    try:
        yield
    finally:
        for module, name, value in kept:
            setattr(module, name, value)
        _forget()


def _forget() -> None:
    passages.index_of.cache_clear()
    passages.ranked.cache_clear()


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Is the answer inside the returned window?")
    parser.add_argument("data", type=Path, help="folder with SPLIT.docs.jsonl.gz and SPLIT.qa.jsonl.gz")
    parser.add_argument("--split", default="test", help="dev to tune on, test to report; default test")
    parser.add_argument("--default-only", action="store_true", help="leave the baselines out")
    parser.add_argument("--weak", action="store_true", help="also the weak-match flag on right and wrong pages")
    parser.add_argument("--ablation", action="store_true", help="instead: one ingredient taken away at a time")
    return parser.parse_args()


if __name__ == "__main__":
    raise SystemExit(main())
