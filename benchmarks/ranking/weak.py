"""Measure and fit the judgement whether a page contains the answer (passages/strength.py).

Run `python -m benchmarks.ranking.weak DATA [--split dev] [--model NAME] [--questions N]`. DATA is a folder as in
answers.py; beside it, the questions about manuals of benchmarks/search/web and benchmarks/ranking/own_questions are
asked. Each question is asked of its own page and of another page of the same collection without the answer. Prints, as
Markdown, the share of matches flagged as weak on wrong and on right pages by kind of page: with the committed
constants, and with constants that are fitted on the other kinds. Then it prints the constants fitted on all kinds. With
a model (packaged_models.py), a missing name and the similarities of the first passages are further evidence.
"""

from __future__ import annotations

import argparse
import asyncio
import random
import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from dataclasses import astuple, dataclass
from heapq import nlargest
from pathlib import Path
from statistics import mean

import numpy as np
from numpy.typing import NDArray

from benchmarks.ranking.answers import Example, group_of, load, remove_white_space
from benchmarks.ranking.own_questions.documents import load_questions as load_own_questions
from benchmarks.ranking.packaged_models import SECONDS, make_scorer
from benchmarks.search.web import corpus
from keyhole import extract
from keyhole.passages import index_text, score_index
from keyhole.passages.strength import FITTED, WEAK_STRENGTH, lacks_names, measure_evidence
from keyhole.rerank.rerank_passages import list_units
from keyhole.store.sqlite.store import MemoryStore

Similarities = Callable[[str, str], tuple[float, ...]]
"""Returns the evidence of a model for a text and a question."""

ALARMS = 0.03
"""Share of right pages that a fit flags, of its own examples. On other kinds of pages it flags a little more."""
JUDGED_TEXTS, BEST_TEXTS = 12, 3
"""Passages whose similarities are measured, and those whose mean is the similarity of the page."""
STEPS = 12
"""Newton's method converges in fewer steps."""
RIDGE = 1e-6

Numbers = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Case:
    """A question asked of a page."""

    kind: str
    is_right: bool
    evidence: tuple[float, ...] | None
    """None if no word of the question is on the page."""
    lacks_names: bool = False


def main() -> int:
    """Measure and print the tables."""
    arguments = _arguments()
    measure = similarities_of(arguments.model) if arguments.model else None
    cases = [
        case
        for examples in _collections(arguments.data, arguments.split)
        for case in ask(examples[: arguments.questions], measure)
    ]
    kinds = sorted({case.kind for case in cases})
    committed = (FITTED[0], *astuple(FITTED[1]))
    threshold = float(np.log(WEAK_STRENGTH / (1 - WEAK_STRENGTH)))
    others = {kind: fit([case for case in cases if case.kind != kind]) for kind in kinds}
    before = "" if measure else " flagged, right | flagged, wrong |"
    print(f"| kind | right pages | wrong pages |{before} fitted on others, right | wrong |")
    print("|---|---:|---:|---:|---:|" + ("" if measure else "---:|---:|"))
    rows = []
    for kind in kinds:
        right, wrong = (
            [case for case in cases if case.kind == kind and case.is_right is side] for side in (True, False)
        )
        fitted = [] if measure else [(committed, threshold)]
        shares = [share(side, *model) for model in (*fitted, others[kind]) for side in (right, wrong)]
        rows.append(shares)
        print(f"| {kind} | {len(right)} | {len(wrong)} | {_cells(shares)} |")
    print(f"| mean of the kinds | | | {_cells(np.mean(rows, axis=0))} |")
    constants, lowest = fit(cases)
    print(f"\nFitted on all kinds: {', '.join(f'{value:.2f}' for value in constants)};", end=" ")
    print(f"weak below {1 / (1 + np.exp(-lowest)):.2f}")
    return 0


def similarities_of(name: str) -> Similarities:
    """Return the function that measures the similarities of a text to a question with a model."""
    scorer = make_scorer(name, MemoryStore(time.time), JUDGED_TEXTS)

    def measure(text: str, question: str) -> tuple[float, ...]:
        _, units, _ = list_units(index_text(text), question, JUDGED_TEXTS)
        scores = asyncio.run(scorer.score(question, units, SECONDS))
        best = mean(nlargest(BEST_TEXTS, scores))
        return best, best - mean(scores)

    return measure


def ask(examples: list[Example], measure: Similarities | None) -> Iterator[Case]:
    """Ask each question of a collection of its page, and of another page of the collection without the answer."""
    chance = random.Random(3)
    pages = {example.doc_id: example.text for example in examples}
    kind = examples[0].dataset
    for example in examples:
        right = example.text
        others = [text for text in pages.values() if not _contains(text, example)]
        if len(pages) == 1:
            # Halves of a long page are as near to each other as pages of a collection.
            halves = _halve(right)
            with_answer = [half for half in halves if _contains(half, example)]
            if len(with_answer) != 1:
                continue
            right = with_answer[0]
            others = [half for half in halves if half != right]
        yield gather(kind, True, right, example.question, measure)
        if others:
            yield gather(kind, False, chance.choice(others), example.question, measure)


def gather(kind: str, is_right: bool, text: str, question: str, measure: Similarities | None) -> Case:
    """Return the evidence of a question for a page."""
    scored = score_index(index_text(text), question)
    if not scored.stages:
        return Case(kind, is_right, None)
    evidence, is_lacking = astuple(measure_evidence(scored)), lacks_names(scored)
    if measure:
        return Case(kind, is_right, (*evidence, float(is_lacking), *measure(text, question)))
    return Case(kind, is_right, evidence, is_lacking)


def fit(cases: list[Case]) -> tuple[tuple[float, ...], float]:
    """Return the constants of a logistic regression, and the value below which `ALARMS` of the right pages are.

    Every kind counts the same, and its right pages as much as its wrong ones.
    """
    counts: dict[tuple[str, bool], int] = defaultdict(int)
    for case in cases:
        counts[case.kind, case.is_right] += 1
    matched = [case for case in cases if case.evidence is not None]
    features = np.array([(1.0, *(case.evidence or ())) for case in matched])
    target = np.array([float(case.is_right) for case in matched])
    weight = np.array([1 / counts[case.kind, case.is_right] for case in matched])
    constants = np.zeros(features.shape[1])
    for _ in range(STEPS):
        expected = 1 / (1 + np.exp(-features @ constants))
        gradient = features.T @ (weight * (target - expected))
        curvature = (features.T * (weight * expected * (1 - expected))) @ features
        constants += np.linalg.solve(curvature + RIDGE * np.eye(len(constants)), gradient)
    right = target == 1
    values, weights = (features @ constants)[right], weight[right]
    order = np.argsort(values)
    place = int(np.searchsorted(np.cumsum(weights[order]) / weights.sum(), ALARMS))
    return tuple(map(float, constants)), float(values[order][place])


def share(cases: list[Case], constants: Iterable[float], threshold: float) -> float:
    """Return the share of cases that are flagged as weak, or have no match."""
    factors = np.array(list(constants))
    flagged = [
        case.evidence is None or case.lacks_names or float(np.dot(factors, (1.0, *case.evidence))) < threshold
        for case in cases
    ]
    return float(np.mean(flagged))


def _collections(data: Path, split: str) -> Iterator[list[Example]]:
    """Yield the examples of each collection of pages. The dataset of an example is replaced by its kind of page."""
    groups: dict[tuple[str, str], list[Example]] = defaultdict(list)
    for example in load(data, split):
        groups[example.dataset, example.language].append(_with_kind(example, group_of(example.dataset)))
    for example in load_own_questions("dev" if split == "dev" else "held"):
        groups[example.dataset, example.language].append(_with_kind(example, "product manuals"))
    for example in _manual_questions(split):
        groups[example.dataset, example.language].append(_with_kind(example, "software manuals"))
    yield from groups.values()


def _with_kind(example: Example, kind: str) -> Example:
    text, question, gold = example.text, example.question, example.gold
    return Example(example.doc_id, kind.removesuffix("-xl"), example.language, text, question, gold)


def _manual_questions(split: str) -> Iterator[Example]:
    """Yield the questions of the search benchmark whose answer is on one page."""
    pages = {page.id: page for page in corpus.load_pages()}
    for question in corpus.load_questions():
        if question.split == split and len(question.answers) == 1:
            id, words = question.answers[0]
            gold = tuple(remove_white_space(each) for each in words)
            yield Example(id, pages[id].manual, question.language, _read(pages[id]), question.text, (gold,))


def _read(page: corpus.CorpusPage) -> str:
    body = page.html.encode()
    document = extract(body, url=f"https://manual.example/{page.id}", content_type="text/html; charset=utf-8")
    return document.text[: document.main_end]


def _contains(text: str, example: Example) -> bool:
    squashed = remove_white_space(text)
    return any(gold in squashed for gold in example.gold[0])


def _halve(text: str) -> tuple[str, str]:
    middle = text.find("\n\n", len(text) // 2)
    middle = len(text) // 2 if middle < 0 else middle
    return text[:middle], text[middle:]


def _cells(shares: Iterable[float]) -> str:
    return " | ".join(f"{100 * value:.1f}" for value in shares)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Measure the judgement whether a page contains the answer.")
    parser.add_argument("data", type=Path, help="folder with SPLIT.docs.jsonl.gz and SPLIT.qa.jsonl.gz")
    parser.add_argument("--model", help="a model whose similarities are evidence, as in packaged_models.py")
    parser.add_argument("--questions", type=int, default=150, help="questions asked of a collection, default 150")
    parser.add_argument("--split", default="dev", help="dev to tune on, test to report; default dev")
    return parser.parse_args()


if __name__ == "__main__":
    raise SystemExit(main())
