"""Fill a home folder with stored pages and recorded calls for measurements of `keyhole look`.

Everything is made from a seed, so that two runs measure the same data.
"""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from keyhole.records import Artifact
from keyhole.store.base import Limits
from keyhole.store.calls.base import CallRecord, CallSummary, ReadText
from keyhole.store.calls.sqlite import SqliteCallLog
from keyhole.store.home import open_home
from keyhole.store.ids import artifact_id
from keyhole.store.sqlite.store import SqliteStore

DAY: Final = 86_400
TTL: Final = 30 * DAY
"""Seconds: the default of KEYHOLE_TTL_DAYS."""
STORE_BYTES: Final = 2**33
CALLS_PER_SESSION: Final = 25
CLIENTS: Final = ("claude-code 2.1", "codex 0.60", "gemini-cli 0.20", "")
_WORDS: Final = (
    "retry limit timeout request header cookie session token cache index page store budget passage query rank fetch "
    "proxy server client answer error result schema index table column tenant window offset digest export"
)
WORDS: Final = tuple(_WORDS.split())
ERRORS: Final = ("timeout", "http_error", "no_results", "blocked")
HITS: Final = 5
"""Texts that a search reads."""


def make_text(numbers: random.Random, words: int) -> str:
    """Return Markdown with about so many words, in sentences and paragraphs."""
    paragraphs, left = [], words
    while left > 0:
        count = min(left, numbers.randint(20, 60))
        paragraphs.append(" ".join(numbers.choices(WORDS, k=count)).capitalize() + ".")
        left -= count
    return "\n\n".join(paragraphs)


def make_artifacts(secret: bytes, count: int, words: int, now: float) -> Iterator[Artifact]:
    """Yield `count` pages of `words` words each, fetched at even distances within the last 29 days, oldest first."""
    numbers = random.Random(2)
    for n in range(count):
        url = f"https://site{n % 97}.example/section/{n}"
        text = make_text(numbers, words)
        fetched_at = now - 29 * DAY * (1 - n / count)
        yield Artifact(
            artifact_id(secret, url, text), url, url, f"Page {n} on {WORDS[n % len(WORDS)]}", text, "text/html", "en",
            fetched_at,
        )  # fmt: skip


def make_call(numbers: random.Random, n: int, started_at: float, artifacts: list[Artifact]) -> CallRecord:
    """Return the `n`-th call: three of four fetch a page, the others search, and one in 20 fails."""
    is_search, is_error = n % 4 == 0, n % 20 == 19
    read = numbers.sample(artifacts, HITS if is_search else 1)
    query = " ".join(numbers.sample(WORDS, 4))
    texts = tuple(
        ReadText(each.id, each.url, each.title, len(each.text), ((0, min(900, len(each.text))),)) for each in read
    )
    result = "\n".join(each.text[:900] for each in read)
    target = "" if is_search else read[0].url
    arguments = {"query": query} if is_search else {"url": target, "query": query}
    shown = 0 if is_error else sum(each.shown for each in texts)
    summary = CallSummary(
        f"c{n:07}", f"s{n // CALLS_PER_SESSION:06}", CLIENTS[n // CALLS_PER_SESSION % len(CLIENTS)], "tool",
        "search" if is_search else "web_fetch", query, target, started_at, numbers.uniform(0.1, 2),
        numbers.choice(ERRORS) if is_error else "ok", 9_000, len(result.encode()), len(result) // 4,
        0 if is_error else sum(each.chars for each in texts), shown,
    )  # fmt: skip
    stages = (("fetch", summary.seconds * 0.7), ("extract", summary.seconds * 0.2), ("rank", summary.seconds * 0.1))
    engines = (("duckduckgo", ""), ("brave", "timed out")) if is_search else ()
    return CallRecord(summary, json.dumps(arguments), result, () if is_error else texts, engines, stages)


def fill(home: Path, artifacts: int, calls: int, words: int, now: float, long_chars: int = 0) -> tuple[str, str]:
    """Store pages and record calls; return the id of a page of `long_chars` characters and of a call that read it."""
    secret = open_home(home)
    store = SqliteStore(home, lambda: now, Limits(TTL, STORE_BYTES))
    recent: list[Artifact] = []
    for artifact in make_artifacts(secret, artifacts, words, now):
        store.put(artifact, " ".join(sorted({*artifact.text.lower().replace(".", "").split()})))
        recent = [*recent[-199:], artifact]
    log = SqliteCallLog(home, lambda: now, TTL)
    numbers = random.Random(3)
    for n in range(calls):
        log.add(make_call(numbers, n, now - 29 * DAY * (1 - n / calls) - 60, recent))
    long_ids = _add_long(secret, store, log, long_chars, now) if long_chars else ("", "")
    log.close()
    store.close()
    return long_ids


def _add_long(secret: bytes, store: SqliteStore, log: SqliteCallLog, chars: int, now: float) -> tuple[str, str]:
    """Store one long page and a call that shows passages all over it."""
    text = make_text(random.Random(4), chars // 6)[:chars]
    url = "https://long.example/"
    artifact = Artifact(artifact_id(secret, url, text), url, url, "A long page", text, "text/html", "en", now - 30)
    store.put(artifact, " ".join(WORDS))
    spans = tuple((start, start + 600) for start in range(0, len(text) - 600, len(text) // 12))
    shown = sum(end - start for start, end in spans)
    summary = CallSummary(
        "long", "long", "claude-code 2.1", "tool", "web_fetch", "retry limit", url, now - 30, 1.5, "ok", 9_000,
        shown, shown // 4, len(text), shown,
    )  # fmt: skip
    result = "\n".join(text[start:end] for start, end in spans)
    arguments = json.dumps({"url": url, "query": "retry limit"})
    log.add(CallRecord(summary, arguments, result, (ReadText(artifact.id, url, "A long page", len(text), spans),)))
    return artifact.id, "long"
