"""Compare the estimate of tokens with the counts of real tokenizers, by language and kind of text.

    python -m benchmarks.budget.tokens [FOLDER] [--cache DIR] [--write]

The estimate is fitted to and tested against o200k_base (npm: gpt-tokenizer) and Llama 3's tokenizer (npm:
llama3-tokenizer-js). Anthropic's tokenizer of 2023 and Mistral's first one, with smaller vocabularies, are shown for
every fifth sample. npm and apt download missing packages into the cache folder. FOLDER has more documents, as
in benchmarks/ranking/answers.py. `--write` fits the weights to the documents of split `dev`; the table shows
split `test`. Takes two minutes.
"""

from __future__ import annotations

import argparse
import importlib
import json
import re
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any

from benchmarks.budget import token_texts
from keyhole.budget import token_weights, tokens

PACKAGES = (
    "gpt-tokenizer@4.0.0", "@anthropic-ai/tokenizer@0.0.4", "llama3-tokenizer-js@1.2.0", "mistral-tokenizer-js@1.0.0",
)  # fmt: skip
TARGETS = ("o200k", "llama3")
OTHER_TOKENIZERS = ("anthropic", "mistral")
PART = re.compile(
    r" ?(?P<part>(?:[^\W\d_]|[\u0900-\u0903\u093c-\u094d\u064b-\u065f\u0e31\u0e34-\u0e4e])+|[!-/:-@\[-`{-~]+)"
)
"""Matches a token of letters of any script with their marks, or of signs, with or without a space before it."""
TEXT_TOKENS = 199_998
"""Number of text tokens of o200k_base."""
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
  shared: (last) => {
    const found = []
    for (let id = 0; id < last; id++) {
      const token = o200k.decode([id])
      if (!token.includes('\\ufffd') && count.llama3(token) === 1) found.push(token)
    }
    return found
  },
}
const texts = JSON.parse(readFileSync(0, 'utf8'))
console.log(JSON.stringify(texts.map((text) => wanted.map((name) => count[name](text)))))
"""


@dataclass(frozen=True, slots=True)
class Row:
    """The results for a kind of text."""

    kind: str
    samples: int
    safe: float
    """Share of the samples whose estimate is at least the largest count."""
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
    safe = sum(estimate >= max(real) for estimate, real in estimates) / len(estimates)
    each = [median(guess / real[n] for guess, real in estimates) - 1 for n in range(len(estimates[0][1]))]
    return Row(kind, len(estimates), safe, median(guess / max(real) for guess, real in estimates) - 1, tuple(each))


def shared_parts(cache: Path) -> set[str]:
    """Return the words and parts of words that are a single token in both vocabularies."""
    (found,) = count_tokens(cache, [str(TEXT_TOKENS)], ("shared",))
    parts = {match["part"].lower() for token in found[0] if (match := PART.fullmatch(token))}
    return {part for part in parts if len(part) <= tokens.MAX_PART and (len(part) > 1 or part > "\x7f")}


def write(cache: Path, samples: Sequence[token_texts.Sample], counts: Sequence[Sequence[int]]) -> None:
    """Write the vocabulary, then fit the weights and write them."""
    from benchmarks.budget import token_fit

    token_fit.write_parts(shared_parts(cache))
    importlib.reload(tokens)
    dev = [(s.text, max(c)) for s, c in zip(samples, counts, strict=True) if s.split == "dev"]
    token_fit.write(token_fit.fit([text for text, _ in dev], [real for _, real in dev]))
    importlib.reload(token_weights)
    importlib.reload(tokens)


def main() -> int:
    """Print the table. Return 1 if fewer than 99 % of the estimates are safe or the median waste is 15 % or more."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, nargs="?")
    parser.add_argument("--cache", type=Path, default=Path.home() / ".cache/keyhole-benchmarks/tokens")
    parser.add_argument("--write", action="store_true")
    arguments = parser.parse_args()
    install(arguments.cache)
    samples = token_texts.draw_samples(arguments.cache, arguments.folder)
    counts = count_tokens(arguments.cache, [sample.text for sample in samples], TARGETS)
    if arguments.write:
        write(arguments.cache, samples, counts)
    test = [(s, c) for s, c in zip(samples, counts, strict=True) if s.split == "test"]
    found = make_rows([s for s, _ in test], [c for _, c in test])
    others = [s for s, _ in test][::5]
    other_medians = {
        each.kind: each.by_tokenizer
        for each in make_rows(others, count_tokens(arguments.cache, [s.text for s in others], OTHER_TOKENIZERS))
    }
    print(
        f"| text | samples | safe | waste | {' | '.join(f'against {name}' for name in (*TARGETS, *OTHER_TOKENIZERS))} |"
    )
    print(f"|---|{'---:|' * (3 + len(TARGETS) + len(OTHER_TOKENIZERS))}")
    for each in found:
        more = " | ".join(f"{share:+.0%}" for share in (*each.by_tokenizer, *other_medians[each.kind]))
        print(f"| {each.kind} | {each.samples} | {each.safe:.1%} | {each.waste:+.1%} | {more} |")
    return 0 if found[-1].safe >= 0.99 and found[-1].waste < 0.15 else 1


if __name__ == "__main__":
    sys.exit(main())
