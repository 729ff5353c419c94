"""Weights and parts of the estimator of tokens, fitted to counts of real tokenizers: for tokens.py. Counts nothing.

Quantile regression (Koenker and Bassett, 1978): the weights for which few estimates are too small and the others exceed
the count as little as possible, found by a linear program. scipy, which solves it, is needed for this alone.
"""

from __future__ import annotations

import textwrap
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np

from keyhole.budget import token_weights, tokens

FILE = Path(token_weights.__file__)
PARTS = FILE.with_name("token_parts.txt")
QUANTILE = 0.998
"""Of the estimates are to be safe, on the half that is fitted to; the other half has documents of its own."""
UNLIKE = 1.02
"""Times the weights: for documents unlike those that were fitted to."""
LEAST = {
    "1 bytes": 1.0, "2 bytes": 1.5, "3 bytes": 2.0, "4 bytes": 3.0, "space": 1.0, "digits": 1.0, "newlines": 0.9,
    "CJK signs": 1.0, "letter of 2 bytes": 2.0, "letter of 3 bytes": 3.0, "letter of 4 bytes": 4.0,
    "Hebrew": 1.1, "Hebrew+": 1.1, "Han": 1.05, "Han+": 1.05, "Hangul": 1.0, "Hangul+": 1.0,
    "Hiragana": 0.9, "Hiragana+": 0.9,
}  # fmt: skip
"""Tokens at least, by how vocabularies are made: what they hardly hold takes one for each byte or two, digits one for
three; and of scripts that the texts have too little of, one for each part."""
MOST = 4.0


def fit(texts: Sequence[str], counts: Sequence[int]) -> dict[str, tuple[int, int]]:
    """Weights in thousandths, for a piece and for each more."""
    found = [_features(text) for text in texts]
    names = sorted({name for features in found for name in features} | set(LEAST))
    columns = {name: column for column, name in enumerate(names)}
    real = np.array(counts, float)
    shares = np.zeros((len(texts), len(names)))
    for row, features in enumerate(found):
        for name, amount in features.items():
            shares[row, columns[name]] = amount / real[row]
    given = (tokens.SLACK / tokens.KILO * np.sqrt(real) + tokens.ENDS) / real
    # Of these none is above the other: then no text weighs more than what it is cut into.
    pairs = [(f"{name}+", name) for name in names if f"{name}+" in columns]
    pairs += [("Latin", "capitals"), ("Latin+", "capitals+"), ("signs at an end+", "signs+")]
    least = [LEAST.get(name, 0.0) for name in names]
    weights = _solve(shares, 1 - given, [(columns[low], columns[high]) for low, high in pairs], least)
    thousandths = {
        name: round(float(weight) * tokens.KILO * UNLIKE) for name, weight in zip(names, weights, strict=True)
    }
    return {name: (thousandths[name], thousandths.get(f"{name}+", 0)) for name in names if not name.endswith("+")}


def _features(text: str) -> Counter[str]:
    features: Counter[str] = Counter()
    for piece in tokens.PIECE.findall(text):
        name, more = tokens.feature_of(piece)
        features[name] += 1
        features[f"{name}+"] += more
    return +features


def _solve(shares: np.ndarray, wanted: np.ndarray, pairs: list[tuple[int, int]], least: Sequence[float]) -> np.ndarray:
    """Weights of least pinball loss: `shares @ weights + short - over == wanted`, short and over at their prices."""
    from scipy.optimize import linprog
    from scipy.sparse import csr_matrix, hstack, identity

    rows, columns = shares.shape
    order = np.zeros((len(pairs), columns + 2 * rows))
    for row, (low, high) in enumerate(pairs):
        order[row, low], order[row, high] = 1, -1
    found = linprog(
        # A weight that the texts say nothing of is as small as it may be.
        np.concatenate([np.full(columns, 1e-6), np.full(rows, QUANTILE), np.full(rows, 1 - QUANTILE)]),
        A_ub=csr_matrix(order),
        b_ub=np.zeros(len(pairs)),
        A_eq=hstack([csr_matrix(shares), identity(rows), -identity(rows)]),
        b_eq=wanted,
        bounds=[*((some, MOST) for some in least), *[(0, None)] * (2 * rows)],
    )
    return np.array(found.x[:columns])


def write(weights: dict[str, tuple[int, int]]) -> None:
    """The module that the estimator reads."""
    lines = [f'    "{name}": ({first}, {more}),' for name, (first, more) in sorted(weights.items())]
    FILE.write_text(
        f'''"""What pieces of text weigh. Made by benchmarks/budget/tokens.py."""

from __future__ import annotations

from typing import Final

WEIGHTS: Final = {{
{chr(10).join(lines)}
}}
"""Thousandths of a token: of a piece, and of each more."""
''',
        "utf-8",
    )


def write_parts(parts: Iterable[str]) -> None:
    """The vocabulary that the estimator reads."""
    PARTS.write_text(textwrap.fill(" ".join(sorted(parts)), 119, break_on_hyphens=False) + "\n", "utf-8")
