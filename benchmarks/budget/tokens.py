"""Compare the estimate of tokens with the counts of real tokenizers, by language and kind of text.

    python -m benchmarks.budget.tokens [FOLDER] [--cache DIR] [--write]

The estimate is fitted to and tested against o200k_base (npm: gpt-tokenizer). Llama 3's tokenizer, Anthropic's of 2023
and Mistral's first one are shown for every fifth sample. npm and apt download missing packages into the cache folder.
FOLDER has more documents, as in benchmarks/ranking/answers.py. `--write` fits the weights to the documents of split
`dev`; the table shows split `test`. Takes two minutes.
"""

from __future__ import annotations

import argparse
import importlib
import json
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any

from benchmarks.budget import token_texts
from keyhole.render import token_weights, tokens

PACKAGES = (
    "gpt-tokenizer@4.0.0", "@anthropic-ai/tokenizer@0.0.4", "llama3-tokenizer-js@1.2.0", "mistral-tokenizer-js@1.0.0",
)  # fmt: skip
TARGETS = ("o200k",)
OTHER_TOKENIZERS = ("llama3", "anthropic", "mistral")
LOW, HIGH = 0.95, 1.25
"""The estimates of all samples of a kind, divided by their tokens: at least, and for prose and source code at most."""
EXCEPTIONS = ("output: csv",)
"""Kinds with hardly anything but rare proper names, which are estimated too low."""
LEAST_TOKENS = 20
"""Tokens of a sample that weights are fitted to, at least."""
PLAIN = (
    "en", "de", "es", "fr", "it", "pt", "nl", "sv", "pl", "ru", "zh", "ja", "C", "C++", "JavaScript", "Perl", "Python",
    "output: source",
)  # fmt: skip
"""Kinds that are prose or source code."""
COUNTER = """
import {createRequire} from 'node:module'
import {readFileSync} from 'node:fs'
const require = createRequire(process.argv[2] + '/node_modules/x.js')
const wanted = process.argv[3].split(',')
const o200k = require('gpt-tokenizer/cjs/encoding/o200k_base')
const anthropic = require('@anthropic-ai/tokenizer').getTokenizer()
const load = async (name) => (await import(process.argv[2] + '/node_modules/' + name)).default
const llama = await load('llama3-tokenizer-js/bundle/llama3-tokenizer-with-baked-data.js')
const mistral = await load('mistral-tokenizer-js/mistral-tokenizer.js')
const count = {
  o200k: (text) => o200k.encode(text, {disallowedSpecial: new Set()}).length,
  anthropic: (text) => anthropic.encode(text.normalize('NFKC'), 'all').length,
  llama3: (text) => llama.encode(text, {bos: false, eos: false}).length,
  mistral: (text) => mistral.encode(text, false, false).length,
}
const texts = JSON.parse(readFileSync(0, 'utf8'))
console.log(JSON.stringify(texts.map((text) => wanted.map((name) => count[name](text)))))
"""


@dataclass(frozen=True, slots=True)
class Row:
    """The results for a kind of text."""

    kind: str
    samples: int
    total: float
    """The estimates of all samples, divided by their counts."""
    safe: float
    """Share of the samples whose estimate is at least 95 % of the largest count."""
    waste: float
    """Median relative excess of the estimate over the largest count."""
    by_tokenizer: tuple[float, ...]
    """Median relative excess over the count of each tokenizer."""


def count_tokens(cache: Path, texts: Sequence[str], names: Sequence[str]) -> list[list[Any]]:
    """Return the tokens of each text by each tokenizer."""
    (cache / "count.mjs").write_text(COUNTER, "utf-8")
    command = ["node", str(cache / "count.mjs"), str(cache), ",".join(names)]
    done = subprocess.run(command, input=json.dumps(texts), capture_output=True, text=True, check=True, timeout=300)
    counts: list[list[Any]] = json.loads(done.stdout)
    return counts


def install(cache: Path) -> None:
    """Install the tokenizers if they are not in the cache."""
    cache.mkdir(parents=True, exist_ok=True)
    if not (cache / "node_modules").exists():
        command = ["npm", "install", "--no-package-lock", "--no-audit", "--no-fund", "--prefix", str(cache), *PACKAGES]
        subprocess.run(command, check=True, capture_output=True, timeout=300)


def make_rows(samples: Sequence[token_texts.Sample], counts: Sequence[Sequence[int]]) -> list[Row]:
    """Return a row for each kind of text and one for all."""
    kinds = [*sorted({sample.kind for sample in samples}, key=lambda kind: (len(kind) > 2, kind)), "all"]
    return [
        make_row(kind, [(s.text, c) for s, c in zip(samples, counts, strict=True) if kind in (s.kind, "all")])
        for kind in kinds
    ]


def make_row(kind: str, counted: Sequence[tuple[str, Sequence[int]]]) -> Row:
    """Compare the estimates of the samples of a kind with their counts."""
    estimates = [(tokens.estimate(text), real) for text, real in counted]
    safe = sum(estimate >= LOW * max(real) for estimate, real in estimates) / len(estimates)
    each = [median(guess / real[n] for guess, real in estimates) - 1 for n in range(len(estimates[0][1]))]
    total = sum(guess for guess, _ in estimates) / sum(max(real) for _, real in estimates)
    return Row(
        kind, len(estimates), total, safe, median(guess / max(real) for guess, real in estimates) - 1, tuple(each)
    )


def write(samples: Sequence[token_texts.Sample], counts: Sequence[Sequence[int]]) -> None:
    """Fit the weights and write them."""
    from benchmarks.budget import token_fit

    dev = [(s, c[0]) for s, c in zip(samples, counts, strict=True) if s.split == "dev" and c[0] >= LEAST_TOKENS]
    texts, real = [sample.text for sample, _ in dev], [count for _, count in dev]
    token_fit.write(token_fit.fit(texts, real, [sample.kind not in token_texts.NOISE for sample, _ in dev]))
    importlib.reload(token_weights)
    importlib.reload(tokens)


def main() -> int:
    """Print the table. Return 1 if an estimate of a kind is too low or too high as a whole."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, nargs="?")
    parser.add_argument("--cache", type=Path, default=Path.home() / ".cache/keyhole-benchmarks/tokens")
    parser.add_argument("--write", action="store_true")
    arguments = parser.parse_args()
    install(arguments.cache)
    samples = token_texts.draw_samples(arguments.cache, arguments.folder)
    counts = count_tokens(arguments.cache, [sample.text for sample in samples], TARGETS)
    if arguments.write:
        write(samples, counts)
    test = [(s, c) for s, c in zip(samples, counts, strict=True) if s.split == "test"]
    found = make_rows([s for s, _ in test], [c for _, c in test])
    others = [s for s, _ in test][::5]
    other_medians = {
        each.kind: each.by_tokenizer
        for each in make_rows(others, count_tokens(arguments.cache, [s.text for s in others], OTHER_TOKENIZERS))
    }
    compared = " | ".join(f"against {name}" for name in (*TARGETS, *OTHER_TOKENIZERS))
    print(f"| text | samples | total | safe | waste | {compared} |")
    print(f"|---|{'---:|' * (4 + len(TARGETS) + len(OTHER_TOKENIZERS))}")
    for each in found:
        more = " | ".join(f"{share:+.0%}" for share in (*each.by_tokenizer, *other_medians[each.kind]))
        print(
            f"| {each.kind} | {each.samples} | {each.total - 1:+.1%} | {each.safe:.1%} | {each.waste:+.1%} | {more} |"
        )
    print(f"\n{milliseconds([sample.text for sample in samples]):.0f} ms of the processor for a megabyte.")
    low = min(each.total for each in found if each.kind not in EXCEPTIONS)
    return 0 if low >= LOW and max(each.total for each in found if each.kind in PLAIN) <= HIGH else 1


def milliseconds(texts: Sequence[str]) -> float:
    """Return the time of the processor to estimate a megabyte of UTF-8."""
    start = time.process_time()
    for text in texts:
        tokens.estimate(text)
    return 1e9 * (time.process_time() - start) / sum(len(text.encode("utf-8", "surrogatepass")) for text in texts)


if __name__ == "__main__":
    sys.exit(main())
