"""Weights and words of the estimator of tokens, fitted to counts of real tokenizers: for tokens.py. Counts nothing.

Quantile regression (Koenker and Bassett, 1978): the weights for which few estimates are too small and the others exceed
the count as little as possible. Plain subgradient steps with Adam's sizes (Kingma and Ba, 2015), some fifty weights.
"""

from __future__ import annotations

import textwrap
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from keyhole import token_weights, tokens

FILE = Path(token_weights.__file__)
QUANTILE = 0.993
"""Of the estimates are to be safe, on the half that is fitted to; the other half has documents of its own."""
STEPS = 9_000
UNLIKE = 1.005
"""Times the weights: for documents unlike those that were fitted to."""
PRIOR = 0.8
"""Tokens of a piece of which the texts have too few to tell."""
LEAST = {
    "1 bytes": 1_000, "2 bytes": 1_500, "3 bytes": 2_000, "4 bytes": 3_000, "space": 1_000, "digits": 1_000,
    "Hebrew": 1_100, "letter of 2 bytes": 2_000, "letter of 3 bytes": 3_000, "letter of 4 bytes": 4_000,
}  # fmt: skip
"""Thousandths of what is rare in the texts, by how vocabularies are made: seldom known, so a token for each byte or
two; and of digits, of which every tokenizer here takes three at a time."""

SCRIPTS = {name for name, _, _ in tokens.SCRIPTS}


def fit(texts: Sequence[str], counts: Sequence[int]) -> dict[str, tuple[int, int]]:
    """Weights in thousandths, for a piece and for each more."""
    found = [_features(text) for text in texts]
    names = sorted({name for features in found for name in features})
    columns = {name: column for column, name in enumerate(names)}
    real = np.array(counts, float)
    matrix = np.zeros((len(texts), len(names)))
    for row, features in enumerate(found):
        for name, amount in features.items():
            matrix[row, columns[name]] = amount / real[row]
    given = (tokens.SLACK / tokens.KILO * np.sqrt(real) + tokens.ENDS) / real
    pairs = [(columns[f"{name}+"], columns[name]) for name in names if f"{name}+" in columns]
    weights = _descend(matrix, given, pairs)
    thousandths = {
        name: round(float(weight) * tokens.KILO * UNLIKE) for name, weight in zip(names, weights, strict=True)
    }
    fitted = {name.removesuffix("+") for name in names}
    return {
        name: (
            max(thousandths.get(name, 0), LEAST.get(name, 0)),
            thousandths.get(f"{name}+", LEAST.get(name, 0) if name in SCRIPTS else 0),
        )
        for name in sorted(fitted | set(LEAST))
    }


def _features(text: str) -> Counter[str]:
    features: Counter[str] = Counter()
    for piece in tokens.PIECE.findall(text):
        for name, more in tokens.features_of(piece):
            features[name] += 1 if name != "accents" else 0
            features[f"{name}+"] += more
    return +features


def _descend(matrix: np.ndarray, given: np.ndarray, pairs: list[tuple[int, int]]) -> np.ndarray:
    """Weights of least pinball loss. Of a pair, the one for more is never above the first: then cutting adds."""
    scale = matrix.mean(0) + 1e-9
    weights, pace, spread = np.full(len(scale), PRIOR), np.zeros(len(scale)), np.zeros(len(scale))
    for step in range(STEPS):
        low = matrix @ weights + given < 1
        side = np.where(low, -QUANTILE, 1 - QUANTILE)
        slope = (matrix * side[:, None]).mean(0) / scale + 1e-4 * (weights - PRIOR)
        pace, spread = 0.9 * pace + 0.1 * slope, 0.999 * spread + 0.001 * slope**2
        weights = np.maximum(0, weights - (0.02 * (1 - step / STEPS) + 1e-4) * pace / (np.sqrt(spread) + 1e-8))
        for more, first in pairs:
            weights[more] = min(weights[more], weights[first])
    return weights


def write(weights: dict[str, tuple[int, int]], words: Sequence[str]) -> None:
    """The module that the estimator reads."""
    lines = [f'    "{name}": ({first}, {more}),' for name, (first, more) in sorted(weights.items())]
    listed = textwrap.fill(" ".join(sorted(words)), 115, initial_indent="    ", subsequent_indent="    ")
    FILE.write_text(
        f'''"""What pieces of text weigh, and words that vocabularies hold whole. Made by benchmarks/tokens.py."""

from __future__ import annotations

from typing import Final

WEIGHTS: Final = {{
{chr(10).join(lines)}
}}
"""Thousandths of a token: of a piece, and of each more."""

WORDS: Final = frozenset(
    """
{listed}
    """.split()  # noqa: SIM905 - a list of them would take as many lines as words
)
''',
        "utf-8",
    )
