"""Generate any number of artifacts from real sentences in many languages, by a seeded shuffle.

Each artifact combines the sentences of one to three real documents of one language. A quarter of the sentences contain
a name that no other artifact has, as on real pages. Texts have 2 to 20 KB, and short texts are more frequent.
"""

from __future__ import annotations

import gzip
import json
import re
from collections.abc import Iterable, Iterator
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from random import Random

from keyhole import extract
from keyhole.cli.demo_site import fixtures_folder, recorded_pages
from keyhole.passages.languages import UNKNOWN
from keyhole.passages.stems import detect_language, stem_words
from keyhole.passages.words import HAN, KANA, THAI_LIKE, WORD
from keyhole.records import TOPIC, Artifact
from keyhole.store.sqlite import word_index
from keyhole.store.sqlite.rows import insert, make_entry
from keyhole.store.sqlite.schema import connect
from keyhole.store.sqlite.store import FILE_NAME
from keyhole.text.letters import lower

ENGLISH_SHARE = 0.4
"""Share of artifacts in English; the other languages share the rest evenly."""
NAMED_SHARE = 0.25
"""Share of sentences with a name that no other artifact has."""
HOSTS = 2_000
SMALLEST, LARGEST = 2_000, 20_000
"""Bytes of a text."""
YEAR = 365 * 86_400.0
_SENTENCE = re.compile(r".{20,400}?(?:[.!?؟।](?=\s)|[。！？]|\n|$)", re.DOTALL)


@dataclass(slots=True)
class Sentence:
    """A sentence with its words and index terms."""

    text: str
    words: list[str]
    terms: list[str]


@dataclass(slots=True)
class Book:
    """A real document, split into sentences."""

    language: str
    sentences: list[Sentence] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class GeneratedArtifact:
    """An artifact, its words for the index, and its sentences."""

    artifact: Artifact
    words: str
    sentences: tuple[str, ...]


def load_books(data: Path | None) -> dict[str, list[Book]]:
    """Return the recorded and reference pages and the documents of DATA (see ranking/answers.py), by language."""
    texts = [extract(p.body, url=p.url, content_type=p.content_type).text for p in recorded_pages().values()]
    pages = sorted((fixtures_folder() / "reference").glob("*.html"))
    texts += [extract(page.read_bytes(), url="https://example.org/", content_type="text/html").text for page in pages]
    if data:
        for split in ("dev", "test"):
            with gzip.open(data / f"{split}.docs.jsonl.gz", "rt", encoding="utf-8") as lines:
                texts += [json.loads(line)["text"] for line in lines]
    library: dict[str, list[Book]] = {}
    for text in texts:
        book = _parse_book(text)
        if len(book.sentences) >= 20:
            library.setdefault(book.language, []).append(book)
    return dict(sorted(library.items()))


def _parse_book(text: str) -> Book:
    words = WORD.findall(lower(text))
    language = detect_language(words)
    unspaced = _unspaced_language(" ".join(words[:600]))
    book = Book(unspaced or (language if language != UNKNOWN else "en"))
    for match in _SENTENCE.finditer(text):
        text = " ".join(match[0].split())
        sentence_words = WORD.findall(lower(text))
        if len(sentence_words) >= 4 or unspaced:
            terms = stem_words(sentence_words, _stemmer_language(book.language))
            book.sentences.append(Sentence(text, sentence_words, terms))
    return book


def _unspaced_language(sample: str) -> str:
    """Return the language of a text in a script without spaces, or ""."""
    kinds = {"th": THAI_LIKE, "ja": KANA, "zh": HAN}
    return next((name for name, kind in kinds.items() if len(kind.findall(sample)) > len(sample) / 50), "")


def _stemmer_language(language: str) -> str:
    return "en" if language in ("th", "ja", "zh") else language


def generate_artifacts(
    library: dict[str, list[Book]], numbers: Iterable[int], now: float, seed: int = 1
) -> Iterator[GeneratedArtifact]:
    """Yield the artifacts with these numbers. The same seed gives the same artifacts."""
    languages = list(library)
    weights = [
        ENGLISH_SHARE if name == "en" else (1 - ENGLISH_SHARE) / max(1, len(languages) - 1) for name in languages
    ]
    for number in numbers:
        random = Random(f"{seed}:{number}")
        (language,) = random.choices(languages, weights)
        yield _generate_artifact(
            number, language, random.choices(library[language], k=random.randint(1, 3)), random, now
        )


def _generate_artifact(
    number: int, language: str, sources: list[Book], random: Random, now: float
) -> GeneratedArtifact:
    size = SMALLEST * (LARGEST / SMALLEST) ** random.random()
    pool = [sentence for source in sources for sentence in random.choices(source.sentences, k=60)]
    names = [_make_name(random, pool) for _ in range(3)]
    title = f"{' '.join(random.choice(pool).text.split()[:6])[:60]} {names[0]}"
    texts: list[str] = []
    title_terms = stem_words(WORD.findall(lower(title)), _stemmer_language(language))
    all_terms = [TOPIC + term for term in title_terms]
    written, position = 0, 0
    random.shuffle(pool)
    while written < size:
        sentence = pool[position % len(pool)]
        position += 1
        text, terms = sentence.text, sentence.terms
        if random.random() < NAMED_SHARE:
            name = random.choice(names)
            text = f"{text[:-1]} {name}{text[-1]}"
            terms = [*terms, *stem_words([lower(name)], _stemmer_language(language))]
        texts.append(text)
        written += len(text.encode()) + 1
        all_terms += terms
    paragraphs = [" ".join(texts[start : start + 5]) for start in range(0, len(texts), 5)]
    host = int(HOSTS ** random.random())
    url = f"https://{'docs.' if host % 3 == 0 else ''}site{host}.example/{language}/{number}"
    published = "" if random.random() < 0.5 else _date(now - random.random() * 3 * YEAR)
    artifact = Artifact(
        id=f"{number:016d}", url=url, requested_url=url, title=title, text="\n\n".join(paragraphs) + "\n",
        media_type="text/html", language=language,
        fetched_at=now - random.random() * 20 * 86_400, published=published,
    )  # fmt: skip
    return GeneratedArtifact(artifact, " ".join(all_terms), tuple(texts))


def _make_name(random: Random, pool: list[Sentence]) -> str:
    """Return a name in the letters of the artifact's language. Other artifacts are unlikely to have it."""
    first, second = (random.choice(random.choice(pool).words or ["name"]) for _ in range(2))
    return f"{first[:4]}{second[-3:]}{random.choice('aeiou')}{random.choice('nrtks')}".capitalize()


def _date(seconds: float) -> str:
    import datetime

    return datetime.datetime.fromtimestamp(seconds, datetime.UTC).date().isoformat()


def insert_generated(folder: Path, artifacts: Iterable[GeneratedArtifact], read_at: float) -> None:
    """Add artifacts to the store of a folder in one transaction, because `put` syncs the file each time.

    `read_at`: the time of their last read.
    """
    with closing(connect(folder / FILE_NAME)) as db:
        db.execute("PRAGMA synchronous = OFF")
        db.execute("PRAGMA cache_size = -400000")
        db.execute("BEGIN")
        ((latest,),) = db.execute("SELECT coalesce(max(key), 0) FROM entries")
        for key, made in enumerate(artifacts, latest + 1):
            insert(db, make_entry(made.artifact, made.words), key, key, read_at)
            word_index.add(db, key, made.words)
        db.execute("COMMIT")
