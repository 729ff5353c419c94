"""Artifacts in any number, of real sentences in many languages by a seeded shuffle: for stored.py. Measures nothing.

Each artifact is about one to three real documents of one language: its sentences are theirs, a quarter of them with a
name that no other artifact has, as real pages have; its length is from 2 to 20 KB, short ones more often.
"""

from __future__ import annotations

import gzip
import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from random import Random

from keyhole import extract
from keyhole.cli.demo_site import fixtures_folder, recorded_pages
from keyhole.passages.languages import UNKNOWN
from keyhole.passages.stems import language_of, stems_in, topics
from keyhole.passages.words import HAN, KANA, THAI_LIKE, UNSPACED, WORD, fold_word, lower
from keyhole.records import Artifact

ENGLISH_SHARE = 0.4
"""Of the artifacts; the other languages share the rest evenly."""
NAMED_SHARE = 0.25
HOSTS = 2_000
SMALLEST, LARGEST = 2_000, 20_000
"""Bytes of a text."""
YEAR = 365 * 86_400.0
_SENTENCE = re.compile(r".{20,400}?(?:[.!?؟।](?=\s)|[。！？]|\n|$)", re.DOTALL)


@dataclass(slots=True)
class Sentence:
    """A sentence with its terms, worked out once."""

    text: str
    words: list[str]
    terms: list[str]


@dataclass(slots=True)
class Book:
    """A real document as sentences."""

    language: str
    sentences: list[Sentence] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Made:
    """An artifact, its words for the index, and where its sentences begin and end."""

    artifact: Artifact
    words: str
    sentences: tuple[str, ...]


def books(data: Path | None) -> dict[str, list[Book]]:
    """The recorded and reference pages, and the documents of a folder of answers.py, by language."""
    texts = [extract(p.body, url=p.url, content_type=p.content_type).text for p in recorded_pages().values()]
    pages = sorted((fixtures_folder() / "reference").glob("*.html"))
    texts += [extract(page.read_bytes(), url="https://example.org/", content_type="text/html").text for page in pages]
    if data:
        for split in ("dev", "test"):
            with gzip.open(data / f"{split}.docs.jsonl.gz", "rt", encoding="utf-8") as lines:
                texts += [json.loads(line)["text"] for line in lines]
    found: dict[str, list[Book]] = {}
    for text in texts:
        book = _book(text)
        if len(book.sentences) >= 20:
            found.setdefault(book.language, []).append(book)
    return dict(sorted(found.items()))


def _book(text: str) -> Book:
    words = WORD.findall(lower(text))
    language = language_of(words)
    script = _script(" ".join(words[:600]))
    book = Book(script or (language if language != UNKNOWN else "en"))
    for match in _SENTENCE.finditer(text):
        own = WORD.findall(lower(" ".join(match[0].split())))
        if len(own) >= 4 or script:
            book.sentences.append(Sentence(" ".join(match[0].split()), own, stems_in(own, _stemmed(book.language))))
    return book


def _script(sample: str) -> str:
    """The language of a text in a script without spaces, "" for all others."""
    kinds = {"th": THAI_LIKE, "ja": KANA, "zh": HAN}
    return next((name for name, kind in kinds.items() if len(kind.findall(sample)) > len(sample) / 50), "")


def _stemmed(language: str) -> str:
    return "en" if language in ("th", "ja", "zh") else language


def artifacts(library: dict[str, list[Book]], numbers: Iterable[int], now: float, seed: int = 1) -> Iterator[Made]:
    """The artifacts of these numbers, each the same for the same seed."""
    languages = list(library)
    weights = [
        ENGLISH_SHARE if name == "en" else (1 - ENGLISH_SHARE) / max(1, len(languages) - 1) for name in languages
    ]
    for number in numbers:
        random = Random(f"{seed}:{number}")
        (language,) = random.choices(languages, weights)
        yield _artifact(number, language, random.choices(library[language], k=random.randint(1, 3)), random, now)


def _artifact(number: int, language: str, sources: list[Book], random: Random, now: float) -> Made:
    size = SMALLEST * (LARGEST / SMALLEST) ** random.random()
    pool = [sentence for source in sources for sentence in random.choices(source.sentences, k=60)]
    names = [_name(random, pool) for _ in range(3)]
    title = f"{' '.join(random.choice(pool).text.split()[:6])[:60]} {names[0]}"
    shown: list[str] = []
    counts: Counter[str] = Counter()
    spaced: dict[str, None] = {}
    titled = WORD.findall(lower(title))
    title_terms = stems_in(titled, _stemmed(language))
    counts.update(title_terms)
    written, place = 0, 0
    random.shuffle(pool)
    while written < size:
        sentence = pool[place % len(pool)]
        place += 1
        text, words, terms = sentence.text, sentence.words, sentence.terms
        if random.random() < NAMED_SHARE:
            name = random.choice(names)
            text = f"{text[:-1]} {name}{text[-1]}"
            words = [*words, lower(name)]
            terms = [*terms, *stems_in([lower(name)], _stemmed(language))]
        shown.append(text)
        written += len(text.encode()) + 1
        counts.update(terms)
        spaced.update(dict.fromkeys(words))
    for word in [*titled, *spaced]:
        if not UNSPACED.search(word):
            counts.setdefault(fold_word(word), 0)
    paragraphs = [" ".join(shown[start : start + 5]) for start in range(0, len(shown), 5)]
    host = int(HOSTS ** random.random())
    url = f"https://{'docs.' if host % 3 == 0 else ''}site{host}.example/{language}/{number}"
    published = "" if random.random() < 0.5 else _date(now - random.random() * 3 * YEAR)
    artifact = Artifact(
        id=f"{number:016d}", url=url, requested_url=url, title=title, text="\n\n".join(paragraphs) + "\n",
        media_type="text/html", language=language,
        fetched_at=now - random.random() * 20 * 86_400, published=published,
    )  # fmt: skip
    kept = " ".join([*counts, *topics(title_terms, Counter({t: c for t, c in counts.items() if c}))])
    return Made(artifact, kept, tuple(shown))


def _name(random: Random, pool: list[Sentence]) -> str:
    """A name such as no other artifact has, of the letters of its language."""
    first, second = (random.choice(random.choice(pool).words or ["name"]) for _ in range(2))
    return f"{first[:4]}{second[-3:]}{random.choice('aeiou')}{random.choice('nrtks')}".capitalize()


def _date(seconds: float) -> str:
    import datetime

    return datetime.datetime.fromtimestamp(seconds, datetime.UTC).date().isoformat()
