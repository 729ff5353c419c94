"""Read pages that a person marked into examples for the fit of the scorer, and judge them as the product does."""

from __future__ import annotations

import gzip
import json
import lzma
import re
import zlib
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlsplit

import cydifflib
import numpy

from keyhole.extract.html.boilerplate.classify import judge_scored
from keyhole.extract.html.boilerplate.features import compute_features
from keyhole.extract.html.boilerplate.segments import Segments, join_lists, segment
from keyhole.extract.html.metadata import read_metadata
from keyhole.extract.html.page import name_parts
from keyhole.extract.html.prune import prune
from keyhole.extract.html.tree import parse_html

FOLDS: Final = 5
MAX_ALIGNED_WORDS: Final = 60_000
"""Longer pages (in the sample, only logs) are not aligned, and all their blocks are labelled 0."""
POPULAR_WORDS: Final = 13_000
"""Texts with more words are aligned without their most frequent words, which would take minutes."""
_WORD: Final = re.compile(r"\w+")
_PUBLIC_SECOND_LEVELS: Final = frozenset({"ac", "co", "com", "edu", "go", "gov", "ne", "net", "or", "org"})
"""Names below a country's domain under which sites are registered, as in example.co.uk."""


@dataclass(frozen=True)
class Example:
    """A page's features, labels and weights by block, and the fold of its site."""

    kind: str
    fold: int
    rows: Any
    labels: Any
    weights: Any


def read_pages(paths: list[Path]) -> Iterator[dict[str, str]]:
    """Yield the pages of files with one JSON object per line, compressed or not."""
    decompress = {".gz": gzip.decompress, ".xz": lzma.decompress}
    for path in paths:
        data = path.read_bytes()
        if path.suffix in decompress:
            data = decompress[path.suffix](data)
        yield from map(json.loads, data.splitlines())


def read_example(page: dict[str, str]) -> Example:
    """Return a page with its features and labels."""
    segments, _ = read_segments(page)
    words = [list_words(block.text) for block in segments.blocks]
    truth = list_words(page["text"])
    counts = numpy.array([len(item) for item in words], dtype=float)
    # All pages have the same weight; a block's weight grows with its words.
    roots = numpy.sqrt(counts)
    weights = 500 * counts / max(1.0, counts.sum(), len(truth)) + 500 * roots / max(1.0, roots.sum())
    return Example(
        page["type"],
        zlib.crc32(read_site(page).encode()) % FOLDS,
        numpy.array([[*chain(*row)] for row in compute_features(segments, page["url"])], dtype=numpy.float32),
        numpy.array(label_blocks(words, truth)),
        weights,
    )


def judge_page(page: dict[str, str], probabilities: list[float]) -> tuple[float, float, float]:
    """Return F1, recall and precision of the words of the main part that these probabilities give in the product."""
    segments, title = read_segments(page)
    is_main = judge_scored(segments.blocks, probabilities, title)
    if not any(is_main):
        is_main = [True] * len(is_main)
    found = Counter(
        word
        for block, main in zip(segments.blocks, is_main, strict=True)
        for word in (list_words(block.text) if main else ())
    )
    return compare_counts(found, Counter(list_words(page["text"])))


def read_segments(page: dict[str, str]) -> tuple[Segments, str]:
    """Return the blocks of a page as the scorer sees them, and the page's title."""
    root = parse_html(page["html"])
    title = read_metadata(root, page["url"]).title
    prune(root)
    name_parts(root)
    return join_lists(segment(root)), title


def list_words(text: str) -> list[str]:
    """Return the words of a text in lower case."""
    return _WORD.findall(text.lower())


def read_site(page: dict[str, str]) -> str:
    """Return the registered domain of a page, or its id without one."""
    names = (urlsplit(page["url"]).hostname or page["id"]).split(".")
    is_country = len(names) > 2 and len(names[-1]) == 2 and names[-2] in _PUBLIC_SECOND_LEVELS
    return ".".join(names[-3 if is_country else -2 :])


def label_blocks(words: list[list[str]], truth: list[str]) -> list[float]:
    """Return for each block the share of its words that an alignment of page and truth matches."""
    page = [(word, number) for number, block in enumerate(words) for word in block]
    if len(page) > MAX_ALIGNED_WORDS:
        return [0.0] * len(words)
    matched = [0] * len(words)
    is_long = max(len(page), len(truth)) > POPULAR_WORDS
    matcher = cydifflib.SequenceMatcher(None, [word for word, _ in page], truth, autojunk=is_long)
    for start, _, size in matcher.get_matching_blocks():
        for _, number in page[start : start + size]:
            matched[number] += 1
    return [hits / len(block) if block else 0.0 for hits, block in zip(matched, words, strict=True)]


def compare_counts(found: Counter[str], truth: Counter[str]) -> tuple[float, float, float]:
    """Return F1, recall and precision of words as multisets."""
    if not found or not truth:
        both = float(not found and not truth)
        return both, both, both
    shared = (found & truth).total()
    return 2 * shared / (found.total() + truth.total()), shared / truth.total(), shared / found.total()
