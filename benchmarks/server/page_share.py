"""Measure how much of a result is page text.

Run `python -m benchmarks.server.page_share DATA [--pages N]`. DATA is a folder as in benchmarks/ranking/answers.py; its
development questions are asked of its pages. Prints, as Markdown, the share of the characters of a result that is
page text, by budget: of results that fill the budget, and of windows that read on. Title, author and address of a page
are as on real pages.
"""

from __future__ import annotations

import argparse
import asyncio
import random
import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from statistics import mean
from typing import Final

from benchmarks.ranking.answers import Example, load
from keyhole.records import Answer, Artifact
from tests.support.fakes import artifact
from tests.support.product import retrieval

BUDGETS: Final = (1_000, 2_000, 4_000, 9_000)
FILLED: Final = 0.9
"""A result fills its budget if it takes at least this share of it."""


def main() -> int:
    """Measure and print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", type=Path)
    parser.add_argument("--pages", type=int, default=40, help="pages, each with one question")
    arguments = parser.parse_args()
    examples = _choose(load(arguments.data, "dev"), arguments.pages)
    print("| max_chars | filled results | page text in them | in all results | in windows |\n|---|---:|---:|---:|---:|")
    for budget in BUDGETS:
        results = [asyncio.run(_shares(example, budget)) for example in examples]
        filled = [share for share, size, _ in results if size >= FILLED * budget]
        windows = [share for _, _, share in results if share]
        cells = (mean(each) if each else 0.0 for each in (filled, [share for share, _, _ in results], windows))
        print(
            f"| {budget:,} | {len(filled)} of {len(results)} | {' | '.join(f'{100 * cell:.1f} %' for cell in cells)} |"
        )
    return 0


def _choose(examples: Sequence[Example], pages: int) -> list[Example]:
    """Return one question of each of some pages that are longer than the largest budget."""
    by_page = {example.doc_id: example for example in examples if len(example.text) > 2 * BUDGETS[-1]}
    return random.Random(5).sample(sorted(by_page.values(), key=lambda each: each.doc_id), min(pages, len(by_page)))


async def _shares(example: Example, budget: int) -> tuple[float, int, float]:
    """Return the share of page text in a page's result, the size of the result, and the share in the window that reads
    on, 0 if there is none."""
    stored, product = _page(example), retrieval()
    product.store.put(stored, "")
    answer = await product.read_artifact(stored.id, query=example.question, max_chars=budget)
    share, size = _page_share(answer), len(answer.text)
    if not answer.shown:
        return share, size, 0.0
    window = await product.read_artifact(stored.id, answer.shown[0][2], max_chars=budget)
    return share, size, _page_share(window)


def _page_share(answer: Answer) -> float:
    """Return the share of a result that is verbatim text of the page, without the lines for omissions."""
    return sum(end - start for _, start, end in answer.shown) / len(answer.text)


def _page(example: Example) -> Artifact:
    """Return a stored page with a title and an address as long as usual. Half of the pages state an author and date."""
    title = example.text.partition("\n")[0].strip("# ")[:70]
    slug = re.sub(r"\W+", "-", title).strip("-").lower()[:45]
    stored = artifact(text=example.text, url=f"https://www.example.org/articles/{slug}", title=title)
    states_author = len(example.text) % 2 == 0
    return replace(stored, author="Jane Q. Public", published="2024-01-02") if states_author else stored


if __name__ == "__main__":
    raise SystemExit(main())
