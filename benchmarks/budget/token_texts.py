"""Real texts of many kinds for benchmarks/budget/tokens.py: languages, code, tables, JSON, URLs and noise.

They come from Debian's documentation packages, which apt downloads into a cache folder, from Python and npm packages,
from the fixtures, and from an optional folder of pages. The name of a document decides its split, dev or test.
"""

from __future__ import annotations

import base64
import gzip
import json
import re
import subprocess
import sysconfig
import uuid
import zlib
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from random import Random
from string import ascii_lowercase

from benchmarks.outputs.corpus import load_outputs
from keyhole.errors import KeyholeError
from keyhole.extract import extract

FIXTURES = Path(__file__).resolve().parents[2] / "fixtures"
GUIDE = "installation-guide-amd64"
GUIDE_LANGUAGES = ("en", "de", "es", "fr", "it", "pt", "nl", "sv", "cs", "ro", "ru", "el", "ja", "ko", "zh_CN", "vi")
HELP_LANGUAGES = ("hi", "tr", "pl")
"""Languages of LibreOffice's help that the installation guide does not have."""
PAGES = 40
"""Maximum pages of each language and folder."""
FOLDERS = ("/usr/bin", "/usr/lib/python3", "/usr/include", "/usr/share/doc", "/usr/share/perl", "/etc")
COMMANDS = {
    "sha256sum": "find {folder} -type f | head -300 | xargs -d '\\n' sha256sum",
    "ls -lR": "ls -lR {folder} | head -1500",
    "find": "find {folder} | head -1500",
    "hex dump": "find {folder} -type f | head -20 | xargs -d '\\n' head -qc 2000 | od -A x -t x1z",
}
"""Commands by the kind of their output."""
LONGEST_OUTPUT = 100_000
"""Characters of a collected output that samples are drawn from."""
NOISE = ("base64", "hex", "ids", "numbers", "URLs", "CSV", "signs", "emoji", "random words")
"""Kinds of text without words."""
SAMPLES = 120
"""Samples of each kind and split."""
SIGNS = "!@#$%^&*()_+-=[]{}|;:'\",.<>/?~`"
SHORTEST, LONGEST = 200, 9_000
"""Characters of a sample, from the smallest result to the default budget, distributed evenly by logarithm."""


@dataclass(frozen=True, slots=True)
class Sample:
    """A part of a real document."""

    kind: str
    split: str
    text: str


def draw_samples(cache: Path, folder: Path | None, seed: int = 8) -> list[Sample]:
    """Draw the same number of samples of each kind and split."""
    by_split: dict[tuple[str, str], list[str]] = defaultdict(list)
    for kind, name, text in load_documents(cache, folder):
        if len(text) >= SHORTEST:
            by_split[kind, choose_split(name)].append(text)
    found = []
    for kind, split in sorted(by_split):
        random = Random(f"{seed} {kind} {split}")
        texts = by_split[kind, split]
        for _ in range(SAMPLES):
            text = random.choice(texts)
            size = min(len(text), round(SHORTEST * (LONGEST / SHORTEST) ** random.random()))
            start = random.randrange(len(text) - size + 1)
            found.append(Sample(kind, split, text[start : start + size]))
    return found


def choose_split(name: str) -> str:
    """Return `dev` or `test`, by a hash of the document's name."""
    return ("dev", "test")[zlib.crc32(name.encode()) >> 7 & 1]


def load_documents(cache: Path, folder: Path | None) -> Iterator[tuple[str, str, str]]:
    """Yield kind, name and text of each document."""
    tables: dict[str, str] = {}
    addresses: dict[str, str] = {}
    for kind, path in _pages(cache):
        body = path.read_bytes()
        try:
            text = extract(body, content_type="text/html; charset=utf-8", url="https://example.org/").text
        except KeyholeError:  # a page of a few words
            continue
        yield kind, path.name, text
        tables[path.name] = tables.get(path.name, "") + "\n".join(re.findall(r"^\|.*\|$", text, re.M))
        addresses[path.name] = "\n".join(re.findall(r"https?://[^\s\"'<>)\]]{12,}", body.decode("utf-8", "replace")))
    yield from (("tables", name, text) for name, text in tables.items())
    yield from (("URLs", name, text) for name, text in addresses.items())
    yield from _code()
    yield from _outputs()
    yield from _data(cache)
    yield from _noise()
    for path in sorted(folder.glob("*.docs.jsonl.gz")) if folder else ():
        with gzip.open(path, "rt", encoding="utf-8") as lines:
            for line in lines:
                page = json.loads(line)
                for part in range(0, len(page["text"]), 20_000):
                    yield page["lang"], f"{page['doc_id']} {part}", page["text"][part : part + 20_000]


def _pages(cache: Path) -> Iterator[tuple[str, Path]]:
    """Yield kind and path of each HTML page."""
    guide = _package(cache, GUIDE) / "usr/share/doc" / GUIDE
    for language in GUIDE_LANGUAGES:
        yield from ((language[:2], path) for path in sorted((guide / language).glob("*.html"))[:PAGES])
    for language in HELP_LANGUAGES:
        folder = _package(cache, f"libreoffice-help-{language}")
        found = sorted(folder.rglob("*.html"), key=lambda path: (-path.stat().st_size, path.name))
        yield from ((language, path) for path in found[:PAGES])
    yield from (("reference", path) for path in sorted((FIXTURES / "reference").glob("*.html")))


def _package(cache: Path, name: str) -> Path:
    """Download a Debian package if it is not in the cache; return the folder of its files."""
    folder = cache / name
    if not folder.exists():
        download = ["apt-get", "download", "-q", name]
        subprocess.run(download, cwd=cache, check=True, capture_output=True, timeout=120)
        (package,) = cache.glob(f"{name}_*.deb")
        subprocess.run(["dpkg-deb", "-x", package, folder], check=True, timeout=120)  # noqa: S607
        package.unlink()
    return folder


def _code() -> Iterator[tuple[str, str, str]]:
    library = Path(sysconfig.get_paths()["stdlib"])
    for path in sorted(library.glob("*.py"))[:120]:
        yield "Python", path.name, path.read_text("utf-8", "replace")
    for path in sorted(Path(sysconfig.get_paths()["include"]).rglob("*.h"))[:120]:
        yield "C", path.name, path.read_text("utf-8", "replace")
    for kind, pattern in (("C++", "include/c++/*/**/*"), ("Perl", "share/perl/*/**/*.pm")):
        for path in [each for each in sorted(Path("/usr").glob(pattern)) if each.is_file()][:150]:
            yield kind, path.name, path.read_text("utf-8", "replace")


def _outputs() -> Iterator[tuple[str, str, str]]:
    """Yield what programs print about the files of this machine, and the collected outputs."""
    folders = [path for path in map(Path, FOLDERS) if path.exists()]
    for kind, command in COMMANDS.items():
        for folder in folders:
            done = subprocess.run(  # noqa: S602 - the commands are those of this file
                command.format(folder=folder), shell=True, capture_output=True, check=False, timeout=120
            )
            yield kind, str(folder), done.stdout.decode("utf-8", "replace")
    for output in load_outputs().values():
        yield f"output: {output.kind}", output.id, output.text[:LONGEST_OUTPUT]


def _data(cache: Path) -> Iterator[tuple[str, str, str]]:
    for path in sorted(cache.rglob("*.js")):
        if 2_000 < path.stat().st_size < 200_000:
            yield "JavaScript", str(path.relative_to(cache)), path.read_text("utf-8", "replace")
    for path in [*sorted(FIXTURES.rglob("*.json")), *sorted(cache.glob("node_modules/*/package.json"))]:
        yield "JSON", path.name + path.parent.name, path.read_text("utf-8", "replace")


def _noise() -> Iterator[tuple[str, str, str]]:
    """Yield random texts: bytes as base64 and hex, identifiers, tables of numbers, CSV, signs and emoji."""
    for number in range(40):
        random = Random(number)
        raw = random.randbytes(6_000)
        yield "base64", str(number), base64.b64encode(raw).decode()
        yield "hex", str(number), " ".join(raw[at : at + 20].hex() for at in range(0, 6_000, 20))
        ids = [str(uuid.UUID(bytes=raw[at : at + 16])) for at in range(0, 5_900, 16)]
        yield "ids", str(number), "\n".join(ids)
        rows = [[f"{random.gauss(500, 400):.{random.randrange(4)}f}" for _ in range(6)] for _ in range(200)]
        yield "numbers", str(number), "\n".join(f"| {' | '.join(row)} |" for row in rows)
        yield "CSV", str(number), "\n".join(",".join((f"2026-{row % 12 + 1:02}", *rows[row])) for row in range(200))
        yield "signs", str(number), "\n".join("".join(random.choices(SIGNS, k=60)) for _ in range(60))
        yield "emoji", str(number), "".join(random.choices("😀🎉🚀✅❌🔥👍💡⚠ ", k=600))
        words = ("".join(random.choices(ascii_lowercase, k=random.randint(6, 30))) for _ in range(200))
        yield "random words", str(number), " ".join(words)
