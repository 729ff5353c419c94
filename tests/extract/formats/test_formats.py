"""Recorded files of formats other than HTML are read as expected, and identically in every process."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
from pathlib import Path

import pytest

from keyhole.errors import Code, KeyholeError
from keyhole.extract import extract

FOLDER = Path(__file__).resolve().parents[3] / "fixtures" / "formats"
OPEN_XML = "application/vnd.openxmlformats-officedocument."
TYPES = {
    "pdf": "application/pdf", "epub": "application/epub+zip", "json": "application/json", "jsonl": "application/jsonl",
    "rss": "application/rss+xml", "atom": "application/atom+xml", "xml": "text/xml", "csv": "text/csv",
    "tsv": "text/tab-separated-values", "svg": "image/svg+xml", "docx": f"{OPEN_XML}wordprocessingml.document",
    "pptx": f"{OPEN_XML}presentationml.presentation", "xlsx": f"{OPEN_XML}spreadsheetml.sheet",
}  # fmt: skip

# A part of the expected text, or the code of the expected failure.
EXPECTED: dict[str, str | Code] = {
    "book.epub": "By The Keyhole authors\n",
    "corrupted-ampersands.rss": "<http://link/get?a=1&b=2>",
    "cut.docx": Code.EXTRACTION_FAILED,
    "cut.epub": Code.EXTRACTION_FAILED,
    "cut.json": '{"pandoc-api-version":[1,22,2,1]',
    "cut.pdf": Code.EXTRACTION_FAILED,
    "cut.png": Code.EXTRACTION_FAILED,
    "cut.rss": "## Ranges are half-open\n",
    "diagnostics.jsonl": "JSON Lines: 3 values",
    "encrypted.pdf": Code.ENCRYPTED_DOCUMENT,
    "extended.webp": "Image: WebP, 64 x 48 pixels, 286 bytes\n",
    "formats.xlsx": "| Sum | 132 |\n",
    "graph.svg": "- Text: Markdown\n",
    "headless-cut.pdf": Code.EXTRACTION_FAILED,
    "junit.xml": '<testcase classname="t_x" name="test_one" time="0.000" />',
    "libreoffice.docx": "# Figures\n",
    "lossless.webp": "Image: WebP, 64 x 48 pixels, 56 bytes\n",
    "lossy.webp": "Image: WebP, 64 x 48 pixels, 180 bytes\n",
    "memo.pdf": "## 3. Second page\n\nThis stands on the second page.\n\n# [rest: header]\n\n-2-\n",
    "news.atom": "The *end* is not part of a range. See [the page](/docs/ranges).\n",
    "news.json": "A note without a title.\nIts second line.\n",
    "news.rss": "Attachment: <https://example.org/audio/1.mp3> (audio/mpeg, 12,345 bytes)\n",
    "nuls.csv": "| alpha | 1 |\n| beta | 2 |\n",
    "old.doc": Code.UNSUPPORTED_MEDIA,
    "open-quote.csv": "| alpha | never closed<br>beta,2<br>gamma,3 |\n",
    "outline.pdf": "# Ranges\n\n",
    "owner-password-rc4.pdf": "A quote stands in one place or in none.\n",
    "owner-password.pdf": "A quote stands in one place or in none.\n",
    "pandoc.docx": "- PDF documents\n  - with an outline\n  - without one\n- Feeds\n",
    "pandoc.json": '        {"t": "Str", "c": "Keyhole"},\n',
    "password.docx": Code.ENCRYPTED_DOCUMENT,
    "plain.zip": Code.UNSUPPORTED_MEDIA,
    "report.docbook.xml": "<article",
    "report.odt": "# Figures\n",
    "report.rtf": "| PDF | 310 | 26% |\n",
    "rule.json": "JSON: object with 12 keys",
    "scanned.pdf": Code.EMPTY_DOCUMENT,
    "semicolons.csv": "| a\\|b<br>c | TRUE |",
    "slides.pptx": "## Slide 5: Notes and pictures\n",
    "sqlite.csv": "| 2 | two<br>lines |\n",
    "sqlite.tsv": "| 2 | beta, gamma |\n",
    "square.avif": "Image: AVIF, 64 x 48 pixels, 379 bytes\n",
    "square.bmp": "Image: BMP, 64 x 48 pixels, 9,270 bytes\n",
    "square.gif": "Image: GIF, 64 x 48 pixels, 194 bytes\n",
    "square.ico": "- Sizes: 16 x 12, 32 x 24\n",
    "square.jpg": "- Description: A blue square on red\n",
    "square.png": "- Description: Ein blaues Rechteck über Rot\n",
    "text.gz": "plain text in a gzip file\n",
    "tone.wav": Code.UNSUPPORTED_MEDIA,
    "two-columns.pdf": "stand in efficient, flow, offers and fifth.",
    "wrong-directory.docx": Code.EXTRACTION_FAILED,
    "wrong-part.xlsx": Code.EXTRACTION_FAILED,
    "wrong-xref.pdf": "## 3. Second page\n\nThis stands on the second page.\n",
}

DIGEST = """
import hashlib, json, sys
from pathlib import Path
from keyhole.errors import KeyholeError
from keyhole.extract import extract
digest = hashlib.sha256()
for name, content_type in json.loads(sys.argv[2]):
    body = (Path(sys.argv[1]) / name).read_bytes()
    try:
        digest.update(repr(extract(body, url="https://example.org/files/", content_type=content_type)).encode())
    except KeyholeError as error:
        digest.update(repr((error.code, error.message, error.facts)).encode())
print(digest.hexdigest())
"""


def header_of(file: str) -> str:
    """Return the Content-Type header that servers send for the file."""
    return TYPES.get(file.rpartition(".")[2], "application/octet-stream")


def test_every_file_has_an_expectation() -> None:
    assert sorted(EXPECTED) == sorted(path.name for path in FOLDER.iterdir() if path.name != "README.md")


def test_the_readme_lists_every_file() -> None:
    readme = (FOLDER / "README.md").read_text("utf-8")
    stems = {name.partition(".")[0] for name in EXPECTED}
    assert [stem for stem in stems if f"`{stem}." not in readme] == []


@pytest.mark.parametrize("content_type", ["as served", "application/octet-stream"])
@pytest.mark.parametrize("name", sorted(EXPECTED))
def test_a_file_gives_the_expected_text_or_error_code(name: str, content_type: str) -> None:
    expected = EXPECTED[name]
    body = (FOLDER / name).read_bytes()
    header = header_of(name) if content_type == "as served" else content_type
    try:
        document = extract(body, url=f"https://example.org/files/{name}", content_type=header)
    except KeyholeError as error:
        # Without a header, a truncated document is an unsupported archive.
        assert error.code is expected or (error.code is Code.UNSUPPORTED_MEDIA and header != header_of(name))
        assert error.message
    else:
        assert isinstance(expected, str), document.text[:200]
        assert expected in document.text
        assert document.text.endswith("\n") or name in {"cut.json", "junit.xml"}


def test_every_process_gives_the_same_documents() -> None:
    import json

    listed = json.dumps([(name, header_of(name)) for name in sorted(EXPECTED)])
    digests = {
        subprocess.run(
            [sys.executable, "-c", DIGEST, str(FOLDER), listed],
            env={**os.environ, "PYTHONHASHSEED": seed}, capture_output=True, text=True, check=True, timeout=120,
        ).stdout
        for seed in ("0", "1")
    }  # fmt: skip
    assert len(digests) == 1
    assert len(digests.pop().strip()) == hashlib.sha256().digest_size * 2
