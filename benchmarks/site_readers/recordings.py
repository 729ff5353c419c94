"""Collect real answers of APIs: PyPI and npm by request, GitHub from the recordings of github3.py's tests.

Everything is kept in a cache folder. No answer is in the repository.
"""

from __future__ import annotations

import base64
import gzip
import hashlib
import json
import re
import tarfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final
from urllib.parse import urljoin
from urllib.request import urlopen

CACHE: Final = Path.home() / ".cache" / "keyhole-site-readers"
PYPI: Final = (
    "httpx", "requests", "flask", "django", "numpy", "pandas", "pydantic", "fastapi", "pytest", "click", "rich",
    "attrs", "sqlalchemy", "aiohttp", "jinja2", "uvicorn", "ruff", "mypy", "hypothesis", "lxml", "cryptography",
    "beautifulsoup4", "tqdm", "scikit-learn", "pillow",
)  # fmt: skip
NPM: Final = (
    "express", "axios", "commander", "vite", "fastify", "marked", "zod", "eslint", "prettier", "uuid", "chalk",
    "debug", "semver", "yargs", "webpack", "rollup", "mocha", "typescript", "@babel/core", "@octokit/rest",
)  # fmt: skip
GITHUB3: Final = "30d571076753efc389edc7f9aaef338a4fcb24b54d8968d5f39b1342f45ddd36"
"""SHA-256 of the source of github3.py 4.0.1 (BSD licence), which has 400 recorded conversations with the API."""
GITHUB3_INDEX: Final = "https://pypi.org/simple/github3-py/"
_TIMEOUT: Final = 60.0


def collect() -> dict[str, bytes]:
    """Return the body of each recorded answer by its address."""
    answers: dict[str, bytes] = {}
    for name in PYPI:
        answers[f"https://pypi.org/pypi/{name}/json"] = _cached(f"https://pypi.org/pypi/{name}/json")
    for name in NPM:
        url = f"https://registry.npmjs.org/{name.replace('/', '%2F')}"
        answers[url] = _cached(url)
    links = re.findall(r'href="([^"#]+)#sha256=([0-9a-f]{64})"', _cached(GITHUB3_INDEX).decode())
    source = next(link for link, digest in links if digest == GITHUB3)
    answers.update(_cassettes(_cached(urljoin(GITHUB3_INDEX, source), GITHUB3)))
    return answers


def _cached(url: str, digest: str = "") -> bytes:
    file = CACHE / hashlib.sha256(url.encode()).hexdigest()[:32]
    if not file.exists():
        CACHE.mkdir(parents=True, exist_ok=True)
        with urlopen(url, timeout=_TIMEOUT) as response:  # noqa: S310 - fixed addresses
            file.write_bytes(response.read())
    body = file.read_bytes()
    if digest and hashlib.sha256(body).hexdigest() != digest:
        raise ValueError(f"{url} has another digest")
    return body


def _cassettes(archive: bytes) -> Iterator[tuple[str, bytes]]:
    """Yield the answers to successful GET requests. Of several to one address, the last one counts."""
    file = CACHE / "github3.tar.gz"
    file.write_bytes(archive)
    with tarfile.open(file) as tar:
        for member in sorted(tar.getnames()):
            if "/cassettes/" in member and member.endswith(".json"):
                stream = tar.extractfile(member)
                for interaction in json.load(stream)["http_interactions"] if stream else ():
                    request, response = interaction["request"], interaction["response"]
                    status = response.get("status", {}).get("code") or response.get("status_code")
                    if request["method"] == "GET" and status == 200:
                        yield request["uri"], _body(response["body"])


def _body(recorded: dict[str, Any]) -> bytes:
    packed = recorded.get("base64_string")
    body = base64.b64decode(packed) if packed else str(recorded.get("string") or "").encode()
    return gzip.decompress(body) if body.startswith(b"\x1f\x8b") else body
