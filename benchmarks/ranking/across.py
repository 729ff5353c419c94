"""Measure how often a search result contains the answer.

Run `python -m benchmarks.ranking.across DATA [--split test] [--against bm25]`. DATA is a folder as in answers.py. Each
question is asked of the page that answers it and 4 or 9 other pages of the same dataset, in an order drawn with a fixed
seed. A dataset of fewer than ten pages is cut into at least ten, so that all pages share its language and kind. Prints,
as Markdown, the strict share (every required sentence returned verbatim) by group and by budget in bytes of the result,
with the macro average over groups. `--against bm25` ranks with rank-bm25 alone; `--engine` draws the rank of the right
page as an engine would, near the top; `--speed` times ranking and packing. With `--templates` DATA is a folder of HTML
pages, and the pairs of pages that share the most shingles are printed.
"""

from __future__ import annotations

import argparse
import random
import time
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import combinations
from pathlib import Path
from statistics import mean, median

from benchmarks.ranking.answers import Example, group_of, has_answer, load, remove_white_space
from keyhole import extract
from keyhole.passages import index_text
from keyhole.passages.near_duplicates import group_duplicates, shingles, sketch
from keyhole.passages.rank_sources import rank_sources
from keyhole.passages.stems import stem_text
from keyhole.records import Artifact, Passage, Ranked, Sketch, Source
from keyhole.render.budget import Budget
from keyhole.retrieval.call import UNKNOWN_CALLER, Call
from keyhole.retrieval.search_answer import search_answer
from keyhole.retrieval.sources import FoundSources

BUDGETS = (1_000, 2_000, 4_000, 9_000, 20_000)
COUNTS = (5, 10)
PER_DATASET = 40
"""Maximum questions of a dataset; about 700 in all."""
PAGES = 10
"""Minimum pages of a dataset."""
NEXT_BUDGET = Budget(9_000)
"""The budget of a continuation call by default; its window has 7,500 bytes."""
MIN_SHINGLES = 100
"""Minimum shingles of a page that `--templates` compares."""
ENGINE_DECAY = 0.6
"""With `--engine`, the probability of each rank of the right page, relative to the rank before it."""

Rank = Callable[[Sequence[str], Sequence[str]], Ranked]
Shares = dict[tuple[str, int, int], float]


@dataclass(frozen=True, slots=True)
class Trial:
    """A question and the pages of a search result, including the one that answers it."""

    example: Example
    texts: tuple[str, ...]


def main() -> int:
    """Measure and print the tables."""
    arguments = _arguments()
    if arguments.templates:
        _print_templates(arguments.data)
        return 0
    if arguments.speed:
        _print_speed(arguments.data, arguments.split)
        return 0
    rank = rank_by_bm25 if arguments.against == "bm25" else rank_sources
    trials = make_trials(load(arguments.data, arguments.split), arguments.questions, engine=arguments.engine)
    print(f"{len(trials):,} trials, split {arguments.split}, {arguments.against}, strict %\n")
    shares = measure(trials, rank)
    columns = [(count, budget) for count in COUNTS for budget in BUDGETS]
    print("| group | " + " | ".join(f"{count} × {budget:,}" for count, budget in columns) + " |")
    print("|---" * (len(columns) + 1) + "|")
    for group in sorted({group for group, _, _ in shares}):
        print(f"| {group} | " + " | ".join(f"{100 * shares[group, c, b]:.1f}" for c, b in columns) + " |")
    return 0


def make_trials(examples: Sequence[Example], per_dataset: int, *, engine: bool) -> list[Trial]:
    """Return one trial for each question and count of pages."""
    chance = random.Random(11)
    by_dataset: dict[tuple[str, str], list[Example]] = defaultdict(list)
    for example in examples:
        if not example.dataset.endswith("-xl"):
            by_dataset[example.dataset, example.language].append(example)
    trials: list[Trial] = []
    for key in sorted(by_dataset):
        questions = by_dataset[key]
        pages = make_pages({example.doc_id: example.text for example in questions})
        for example in chance.sample(questions, min(per_dataset, len(questions))):
            right = next((page for page in pages if has_answer(example, page)), None)
            if right is None:
                continue  # no piece of the document has all required sentences
            for count in COUNTS:
                others = [page for page in pages if page != right and not _has_gold(example, page)]
                texts = chance.sample(others, min(count - 1, len(others)))
                texts.insert(_draw_rank(chance, len(texts) + 1, engine=engine), right)
                trials.append(Trial(example, tuple(texts)))
    return trials


def make_pages(documents: dict[str, str]) -> list[str]:
    """Return the documents, cut into at least `PAGES` pieces if there are fewer."""
    texts = [documents[key] for key in sorted(documents)]
    if len(texts) >= PAGES:
        return texts
    size = sum(map(len, texts)) // (PAGES + 2)
    return [piece for text in texts for piece in _cut(text, size)]


def _cut(text: str, size: int) -> list[str]:
    """Cut a text into pieces of about a size; each begins with a line, if possible with a heading."""
    pieces, start = [], 0
    while len(text) - start > 1.5 * size:
        end = text.find("\n#", start + size * 3 // 4, start + size * 5 // 4)
        end = end if end >= 0 else text.find("\n", start + size)
        if end < 0:
            break
        pieces.append(text[start : end + 1])
        start = end + 1
    return [*pieces, text[start:]]


def _has_gold(example: Example, page: str) -> bool:
    """Return whether a page contains any gold sentence."""
    squashed = remove_white_space(page)
    return any(gold in squashed for group in example.gold for gold in group)


def _draw_rank(chance: random.Random, count: int, *, engine: bool) -> int:
    weights = [ENGINE_DECAY**rank if engine else 1.0 for rank in range(count)]
    return chance.choices(range(count), weights)[0]


def measure(trials: Sequence[Trial], rank: Rank) -> Shares:
    """Return strict shares by group, count of pages and budget; group MACRO is the mean over groups."""
    hits: dict[tuple[str, int, int], list[bool]] = defaultdict(list)
    for trial in trials:
        ranked = rank(trial.texts, [trial.example.question])
        for budget in BUDGETS:
            text = format_result(trial.texts, ranked, budget)
            count = min(COUNTS, key=lambda count: abs(count - len(trial.texts)))
            hits[trial.example.dataset, count, budget].append(has_answer(trial.example, text))
    by_group: dict[tuple[str, int, int], list[float]] = defaultdict(list)
    for (dataset, count, budget), values in hits.items():
        by_group[group_of(dataset), count, budget].append(mean(values))
    shares = {key: mean(values) for key, values in by_group.items()}
    for count in COUNTS:
        for budget in BUDGETS:
            shares["MACRO", count, budget] = mean(v for (_, c, b), v in shares.items() if (c, b) == (count, budget))
    return shares


def format_result(texts: Sequence[str], ranked: Ranked, budget: int) -> str:
    """Return the text of a search result."""
    found = FoundSources(tuple(make_source(text, number) for number, text in enumerate(texts)))
    call = Call(UNKNOWN_CALLER, Budget(budget), NEXT_BUDGET, seconds=1.0, deadline=0.0)
    answer = search_answer(found, ranked, call, count=len(texts), scope="web", secret=b"0" * 32)
    return answer.text


def make_source(text: str, number: int) -> Source:
    """Return a text as a source of a search, with a URL and a title of usual lengths."""
    url = f"https://www.site-{number}.example/articles/2024/page-{number}.html"
    title = f"A title of some forty to sixty letters, no. {number}"
    artifact = Artifact(f"{number:a>16}", url, url, title, text, "text/html", "", 0.0, published="2024-05-01")
    snippet = "What an engine says of the page in a line or two, which may name the words of the query. " * 2
    return Source(url, title, snippet, artifact, True, date="2024-05-01", sketch=_sketch(text))


def rank_by_bm25(texts: Sequence[str], queries: Sequence[str]) -> Ranked:
    """Rank by rank-bm25's BM25Plus over all windows of all pages."""
    from rank_bm25 import BM25Plus

    wanted = list(dict.fromkeys(term for query in queries for term in stem_text(query)))
    spans = [(n, i.starts[w], i.end(w)) for n, t in enumerate(texts) for i in [index_text(t)] for w in range(i.size)]
    coverage = [_stems(texts[number][start:end]) for number, start, end in spans]
    ranked: list[list[Passage]] = [[] for _ in texts]
    for (number, start, end), own, score in zip(spans, coverage, BM25Plus(coverage).get_scores(wanted), strict=True):
        if any(term in own for term in wanted):
            ranked[number].append(Passage(start, end, float(score)))
    return tuple(tuple(sorted(passages, key=lambda passage: -passage.score)) for passages in ranked)


@cache
def _sketch(text: str) -> Sketch:
    return sketch(text)


@cache
def _stems(text: str) -> list[str]:
    return stem_text(text)


def _print_speed(data: Path, split: str) -> None:
    """Print the milliseconds for ten pages of 50,000 characters, the first time and later; no index is cached."""
    texts: list[str] = []
    for example in load(data, split):
        if example.language == "en" and len(example.text) >= 50_000 and example.text[:50_000] not in texts:
            texts.append(example.text[:50_000])
    texts = texts[:PAGES]
    for name, rank in (("bm25", rank_by_bm25), ("keyhole", rank_sources)):
        times = []
        for turn in range(8):
            _stems.cache_clear()
            start = time.perf_counter()
            ranked = rank(texts, [f"which party may terminate the agreement in {turn} days"])
            times.append(1_000 * (time.perf_counter() - start))
        start = time.perf_counter()
        group_duplicates([sketch(text) for text in texts])
        sketching = 1_000 * (time.perf_counter() - start)
        format_result(texts, ranked, 9_000)
        start = time.perf_counter()
        format_result(texts, ranked, 9_000)
        packing = 1_000 * (time.perf_counter() - start)
        first, warm = times[0], median(times[1:])
        print(f"{name}: {len(texts)} pages ranked in {first:.0f} ms, then {warm:.0f} ms;", end=" ")
        print(f"sketched and grouped in {sketching:.0f} ms; packed in {packing:.0f} ms")


def _print_templates(folder: Path) -> None:
    """Print the pairs of pages that share the most shingles, as a share of those of the shorter page."""
    pages: dict[str, set[str]] = {}
    for path in sorted(folder.rglob("*.html")):
        text = extract(path.read_bytes(), url="https://example.org/", content_type="text/html").text
        if len(own := set(shingles(text))) >= MIN_SHINGLES:
            pages[path.name] = own
    pairs = [(len(a & b) / min(len(a), len(b)), x, y) for (x, a), (y, b) in combinations(pages.items(), 2)]
    print(f"{len(pages)} pages; share of the shorter page in the other:")
    for share, one, other in sorted(pairs, reverse=True)[:5]:
        print(f"{100 * share:.0f} % ({one}, {other})")


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Measure how often a search result contains the answer.")
    parser.add_argument("data", type=Path, help="folder with SPLIT.docs.jsonl.gz and SPLIT.qa.jsonl.gz")
    parser.add_argument("--split", default="test", help="dev to tune on, test to report; default test")
    parser.add_argument("--against", default="keyhole", choices=("keyhole", "bm25"))
    parser.add_argument("--engine", action="store_true", help="draw the rank of the right page near the top")
    parser.add_argument("--questions", type=int, default=PER_DATASET, help="maximum questions of each dataset")
    parser.add_argument("--speed", action="store_true", help="instead, time ten pages of 50,000 characters")
    parser.add_argument(
        "--templates", action="store_true", help="instead, print which pages of a folder share the most"
    )
    return parser.parse_args()


if __name__ == "__main__":
    raise SystemExit(main())
