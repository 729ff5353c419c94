"""Load questions about long documents with their answers, and score the passages selected for them.

The data is not in the repository. It is a folder with `SPLIT.docs.jsonl.gz` (doc_id, dataset, lang, kind, text) and
`SPLIT.qa.jsonl.gz` (doc_id, question, gold: groups of alternative `[start, end)` spans, all groups needed).
"""

from __future__ import annotations

import gzip
import json
import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from statistics import mean
from typing import Any

BUDGETS = (2_000, 4_000, 8_000, 15_000)
"""Characters: a snippet, a small model's share, the default result, and the result of older tools."""

GROUPS: Mapping[str, tuple[str, ...]] = {
    "en-wiki": ("squad2", "xquad-en", "nqp", "nq"),
    "en-tech": ("aws", "covidqa", "cuad", "policyqa", "qasper"),
    "multihop": ("hotpot", "musique"),
    "latin": ("xquad-de", "xquad-es", "xquad-tr", "xquad-vi", "xquad-ro", "piaf", "tquad"),
    "other-alpha": ("xquad-ru", "xquad-el", "xquad-ar", "xquad-hi", "arcd", "persianqa"),
    "cjk-thai": ("xquad-zh", "cmrc", "drcd", "jaquad", "jsquad", "korquad", "xquad-th", "iapp"),
}
_BORDER = re.compile(r"[.!?؟।][)\]\"'”’»]*\s|[。！？]|\n")
_REACH, _SIDE, _LONG = 600, 150, 400
"""Characters: how far the borders of a gold sentence are searched, and how a very long sentence is clipped."""


@dataclass(frozen=True, slots=True)
class Example:
    """A question. `gold`: the alternative sentences of each required group, without white space."""

    doc_id: str
    dataset: str
    language: str
    text: str
    question: str
    gold: tuple[tuple[str, ...], ...]


def load(folder: Path, split: str) -> list[Example]:
    """Load the examples of a split."""
    documents = {row["doc_id"]: row for row in _rows(folder / f"{split}.docs.jsonl.gz")}
    examples = []
    for row in _rows(folder / f"{split}.qa.jsonl.gz"):
        document = documents[row["doc_id"]]
        text = document["text"]
        sentences = ([extract_sentence(text, *span) for span in group] for group in row["gold"])
        gold = tuple(tuple(map(remove_white_space, group)) for group in sentences)
        dataset = document["dataset"] + ("-xl" if document["kind"] == "xl" else "")
        examples.append(Example(row["doc_id"], dataset, document["lang"], text, row["question"], gold))
    return examples


def extract_sentence(text: str, start: int, end: int) -> str:
    """Return the sentence or line around an answer, clipped to about 400 characters."""
    low = max(0, start - _REACH)
    first = max((m.end() for m in _BORDER.finditer(text, low, start)), default=low if low == 0 else start - _SIDE)
    border = _BORDER.search(text, max(end - 1, start), min(len(text), end + _REACH))
    last = max(end, border.end() if border else min(len(text), end + _SIDE))
    if last - first > _LONG:
        first, last = max(first, start - _SIDE), min(last, end + _SIDE)
    return text[first : first + _LONG] if last - first > _REACH else text[first:last]


def remove_white_space(text: str) -> str:
    """Return a text without white space, so that line breaks do not affect comparisons."""
    return "".join(text.split())


def has_answer(example: Example, window: str) -> bool:
    """Return whether the window contains a verbatim gold sentence of every group."""
    squashed = remove_white_space(window)
    return all(any(gold in squashed for gold in group) for group in example.gold)


def measure(
    examples: Iterable[Example], select: Callable[[str, str, int], str]
) -> tuple[dict[tuple[str, int], float], dict[tuple[str, int], float]]:
    """Return strict shares by `(group, budget)`, with the macro average as group MACRO, and by `(dataset, budget)`."""
    hits: dict[tuple[str, int], list[float]] = defaultdict(list)
    for example in examples:
        for budget in BUDGETS:
            window = select(example.text, example.question, budget)
            if len(window) > budget:
                raise ValueError(f"{len(window)} characters for a budget of {budget}")
            hits[example.dataset, budget].append(has_answer(example, window))
    datasets = {key: mean(values) for key, values in hits.items()}
    by_group: dict[tuple[str, int], list[float]] = defaultdict(list)
    for (dataset, budget), share in datasets.items():
        by_group[group_of(dataset), budget].append(share)
    groups = {key: mean(values) for key, values in by_group.items()}
    for budget in BUDGETS:
        groups["MACRO", budget] = mean(share for (_, b), share in groups.items() if b == budget)
    return groups, datasets


def group_of(dataset: str) -> str:
    """Return the group of a dataset. Datasets of long joined documents (`-xl`) have separate groups."""
    plain = dataset.removesuffix("-xl")
    return next(name for name, members in GROUPS.items() if plain in members) + dataset[len(plain) :]


def _rows(path: Path) -> Iterator[dict[str, Any]]:
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        for line in lines:
            yield json.loads(line)
