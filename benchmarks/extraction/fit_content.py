"""Fit the scorer of content: `python -m benchmarks.extraction.fit_content PAGES.jsonl.gz [--write]`. Needs lightgbm, cydifflib.

PAGES has one JSON object a line: id, type, url, html, text (what a person took for the page's content). Each block of
a page is labelled with the share of its words that an alignment finds in that text. Prints word F1 and recall by type,
each page scored by trees that were fitted without its site; with `--write`, fits on all pages and writes
server/keyhole/extract/html/boilerplate/content_trees.py. Equal input and versions give equal weights.
"""

from __future__ import annotations

import argparse
import gzip
import json
import re
from collections import Counter, defaultdict
from dataclasses import dataclass
from pathlib import Path
from statistics import mean
from typing import Any
from urllib.parse import urlsplit

import cydifflib
import lightgbm
import numpy

from keyhole.extract.html.boilerplate.classify import choose, with_headings
from keyhole.extract.html.boilerplate.features import NAMES, features
from keyhole.extract.html.boilerplate.segments import TextBlock, segment
from keyhole.extract.html.prune import prune
from keyhole.extract.html.tree import parse

TREES = Path(__file__).parents[2] / "server/keyhole/extract/html/boilerplate/content_trees.py"
FOLDS = 5
SETTINGS: dict[str, Any] = {
    "objective": "cross_entropy",
    "n_estimators": 100,
    "learning_rate": 0.08,
    "num_leaves": 16,
    "min_child_samples": 60,
    "subsample": 0.8,
    "subsample_freq": 1,
    "colsample_bytree": 0.4,
    "reg_lambda": 10,
    "random_state": 0,
    "n_jobs": 2,
    "deterministic": True,
    "force_row_wise": True,
    "verbose": -1,
}
COLUMNS = [re.sub(r"\W+", "_", name.lower()) for name in NAMES]
MODULE = '''"""Whether a block of a page is content: {count} small trees fitted to pages. Made by a program.

Made by `python -m benchmarks.extraction.fit_content PAGES.jsonl.gz --write`, fitted on {pages} pages of the development split of
WCXB (Murrough Foley, CC BY 4.0). The columns are those of features.py, in its order.
"""

from __future__ import annotations

from collections.abc import Sequence


def log_odds(row: Sequence[float]) -> float:
    """The logarithm of the odds that a block with these features is content."""
    (
        {columns},
    ) = row
    total = 0.0
{sums}
    return total
'''
LONGEST = 40_000
"""Words of a page that are aligned; longer ones (none in the sample but logs) are left out of the fitting."""
_WORD = re.compile(r"\w+")


@dataclass
class Example:
    """A page as rows, labels and words."""

    kind: str
    fold: int
    rows: Any
    labels: Any
    sizes: list[int]
    counts: list[Counter[str]]
    truth: Counter[str]
    chances: list[float]
    blocks: list[TextBlock]


def main() -> None:
    """Measure, and with `--write` fit and write."""
    parser = argparse.ArgumentParser(description="Fit the scorer of content.")
    parser.add_argument("pages", type=Path)
    parser.add_argument("--write", action="store_true")
    arguments = parser.parse_args()
    with gzip.open(arguments.pages, "rt", encoding="utf-8") as lines:
        examples = [read(json.loads(line)) for line in lines]
    for fold in range(FOLDS):
        model = fit([example for example in examples if example.fold != fold])
        for example in examples:
            if example.fold == fold and example.sizes:
                example.chances = list(model.predict(example.rows))
    report(examples)
    if arguments.write:
        trees = fit(examples).booster_.dump_model()["tree_info"]
        TREES.write_text(module([tree(each["tree_structure"]) for each in trees], len(examples)), encoding="utf-8")


def read(page: dict[str, str]) -> Example:
    """A page's rows and labels."""
    root = parse(page["html"])
    prune(root)
    found = segment(root)
    words = [_WORD.findall(block.text.lower()) for block in found.blocks]
    truth = _WORD.findall(page["text"].lower())
    site = ".".join((urlsplit(page["url"]).hostname or page["id"]).split(".")[-2:])
    return Example(
        page["type"],
        sum(map(ord, site)) * 7 % FOLDS,
        numpy.array(features(found, page["url"]), dtype=numpy.float64),
        numpy.array(labels(words, truth)),
        [block.size for block in found.blocks],
        [Counter(each) for each in words],
        Counter(truth),
        [0.0] * len(words),
        found.blocks,
    )


def labels(words: list[list[str]], truth: list[str]) -> list[float]:
    """For each block, the share of its words that an alignment of page and truth matches."""
    page = [(word, number) for number, block in enumerate(words) for word in block]
    if len(page) > LONGEST:
        return [0.0] * len(words)
    matched = [0] * len(words)
    matcher = cydifflib.SequenceMatcher(None, [word for word, _ in page], truth, autojunk=len(page) > LONGEST // 3)
    for start, _, size in matcher.get_matching_blocks():
        for _, number in page[start : start + size]:
            matched[number] += 1
    return [hits / len(block) if block else 0.0 for hits, block in zip(matched, words, strict=True)]


def fit(examples: list[Example]) -> Any:
    """Trees over the blocks of all pages; every page counts the same, in it a block by its words."""
    used = [example for example in examples if example.sizes]
    weights = []
    for example in used:
        counts = numpy.array([sum(count.values()) for count in example.counts], dtype=float)
        whole = max(1.0, counts.sum(), sum(example.truth.values()))
        weights.append(500 * counts / whole + 500 * numpy.sqrt(counts) / max(1.0, numpy.sqrt(counts).sum()))
    model = lightgbm.LGBMRegressor(**SETTINGS)
    rows = numpy.vstack([example.rows for example in used])
    goals = numpy.concatenate([example.labels for example in used])
    return model.fit(rows, goals, sample_weight=numpy.concatenate(weights))


def report(examples: list[Example]) -> None:
    """Word F1 and recall by type."""
    found = defaultdict(list)
    for example in examples:
        kept: Counter[str] = Counter()
        chosen = with_headings(example.blocks, choose(example.sizes, example.chances))
        for keep, count in zip(chosen, example.counts, strict=True):
            if keep:
                kept.update(count)
        score = word_score(kept, example.truth)
        found[example.kind].append(score)
        found["all"].append(score)
    print("| type | pages | F1 | recall |\n|---|---:|---:|---:|")
    for kind, values in sorted(found.items()):
        print(f"| {kind} | {len(values)} | {mean(v[0] for v in values):.3f} | {mean(v[1] for v in values):.3f} |")


def word_score(kept: Counter[str], truth: Counter[str]) -> tuple[float, float]:
    """F1 and recall of words as multisets."""
    if not kept or not truth:
        return (1.0, 1.0) if not kept and not truth else (0.0, 0.0)
    shared = sum((kept & truth).values())
    return 2 * shared / (sum(kept.values()) + sum(truth.values())), shared / sum(truth.values())


def tree(node: dict[str, Any]) -> str:
    """A fitted tree as a conditional expression over the names of columns."""
    if "leaf_value" in node:
        return f"{node['leaf_value']:.4g}"
    # At or below the least positive number is at or below zero.
    threshold = 0.0 if 0 < node["threshold"] < 1e-30 else node["threshold"]
    low, high = tree(node["left_child"]), tree(node["right_child"])
    return f"({low} if {COLUMNS[node['split_feature']]} <= {threshold:.5g} else {high})"


def module(trees: list[str], pages: int) -> str:
    """The source of the module that holds the trees."""
    sums = "\n".join(f"    total += {each}" for each in trees)
    columns = ",\n        ".join(COLUMNS)
    return MODULE.format(pages=pages, count=len(trees), columns=columns, sums=sums)


if __name__ == "__main__":
    main()
