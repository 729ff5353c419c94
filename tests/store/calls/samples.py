"""Make realistic calls, sessions and stored pages: the same ones in every run, as many as a test or benchmark needs."""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Iterator, Sequence
from functools import partial
from random import Random
from typing import Final

from keyhole.records import Artifact
from keyhole.store.calls.base import CallOrigin, CallRecord, CallSummary, ReadText, Span

START: Final = 1_700_000_000.0
"""When the first call of the samples started: the time of `tests.support.fakes.Clock`."""
CLIENTS: Final = ("claude-code 2.1.0", "codex-mcp-client 0.60.1", "Visual Studio Code 1.106.0", "cursor-vscode 1.0.0")
SITES: Final = (
    "docs.python.org", "developer.mozilla.org", "www.sqlite.org", "www.postgresql.org", "en.wikipedia.org",
    "datatracker.ietf.org", "pypi.org", "doc.rust-lang.org",
)  # fmt: skip
TOPICS: Final = (
    "asyncio timeout cancel task", "fetch abort signal browser", "write ahead log checkpoint", "row level security",
    "byzantine fault tolerance", "http range request", "wheel build backend", "borrow checker lifetime",
    "Zeitüberschreitung abbrechen", "非同期 処理 タイムアウト",
)  # fmt: skip
_WORDS: Final = (
    "the of a to and in is that for it as with on by this are be from or an which can not if when value returns "
    "function object table index server client request response memory file page commit lock thread"
)
WORDS: Final = tuple(_WORDS.split())


def page_id(number: int) -> str:
    """Return the id of a sample page, of the form of real ids."""
    return base64.b32encode(hashlib.sha256(b"page %d" % number).digest()[:10]).decode().lower()


def page(number: int, chars: int = 0) -> Artifact:
    """Return a sample page: Markdown with headings and paragraphs, of about `chars` characters."""
    random = Random(number)
    topic, site = TOPICS[number % len(TOPICS)], SITES[number % len(SITES)]
    chars = chars or random.randrange(2_000, 30_000)
    blocks = [f"# {topic.title()} {number}\n"]
    while sum(map(len, blocks)) < chars:
        if random.random() < 0.15:
            blocks.append(f"\n## {random.choice(topic.split()).title()} and {random.choice(WORDS)}\n")
        words = [random.choice(topic.split()) if random.random() < 0.06 else random.choice(WORDS) for _ in range(60)]
        blocks.append(f"\n{' '.join(words).capitalize()}.\n")
    url = f"https://{site}/{topic.split()[0]}/{number}"
    return Artifact(
        page_id(number), url, url, f"{topic.title()} {number}", "".join(blocks), "text/html", "en",
        START + 60.0 * number, main_end=None, site=site,
    )  # fmt: skip


def pages(count: int) -> Iterator[Artifact]:
    """Yield the first `count` sample pages."""
    return map(page, range(count))


def call(
    id: str = "call",
    session: str = "session",
    *,
    client: str = CLIENTS[0],
    origin: CallOrigin = "tool",
    tool: str = "web_fetch",
    target: str = "https://docs.python.org/asyncio/0",
    started_at: float = START,
    seconds: float = 0.25,
    outcome: str = "ok",
    texts: Sequence[ReadText] = (),
    result: str = "Page.\n[end]",
    stages: Sequence[tuple[str, float]] = (),
    notes: Sequence[tuple[str, str]] = (),
    folder: str = "",
    **arguments: object,
) -> CallRecord:
    """Return one call with plausible defaults. `arguments`: further arguments of the tool, such as `query`."""
    named = {"web_fetch": {"url": target}, "read_artifact": {"id": target}}.get(tool, {})
    summary = CallSummary(
        id, session, client, origin, tool, str(arguments.get("query", "")), "" if tool == "search" else target,
        started_at, seconds, outcome, 9_000, len(result.encode("utf-8", "replace")), len(result) // 4,
        sum(text.chars for text in texts if text.id), sum(text.shown for text in texts),
        folder=folder,
    )  # fmt: skip
    return CallRecord(
        summary,
        json.dumps({**named, **arguments}, ensure_ascii=False),
        result,
        tuple(texts),
        (("duckduckgo", ""), ("wikipedia", "timed out")) if tool == "search" else (),
        tuple(stages),
        tuple(notes),
    )


def read_text(artifact: Artifact, *spans: Span, state: str = "") -> ReadText:
    """Return a page as a call read it, with the passages that it showed."""
    return ReadText(artifact.id, artifact.url, artifact.title, len(artifact.text), spans, state, is_stored=False)


def calls(count: int, *, page_count: int = 40, start: float = START, spacing: float = 20.0) -> Iterator[CallRecord]:
    """Yield `count` calls, the oldest first: sessions of 5 to 30 calls, three of which are always under way at once.

    They read the first `page_count` sample pages.
    """
    stored = list(pages(page_count))
    random = Random(17)
    sessions: list[_Session] = []
    for number in range(count):
        if len(sessions) < 3:
            sessions.append(_Session(len(sessions) + number, random))
        session = random.choice(sessions)
        yield session.next_call(number, start + spacing * number, stored)
        if session.left == 0:
            sessions.remove(session)


class _Session:
    """One agent at work: it searches, reads pages, reads on, checks quotes, and sometimes fails."""

    def __init__(self, number: int, random: Random) -> None:
        self.id = hashlib.sha256(b"session %d" % number).hexdigest()[:16]
        self.client = random.choice(CLIENTS)
        self.topic = random.choice(TOPICS)
        self.left = random.randrange(5, 31)
        self.last: Artifact | None = None
        self._random = random

    def next_call(self, number: int, started_at: float, stored: Sequence[Artifact]) -> CallRecord:
        """Return the session's next call."""
        self.left -= 1
        random = self._random
        kind = random.choices(("fetch", "search", "read on", "quote", "run", "error"), (40, 20, 18, 6, 10, 6))[0]
        words = self.topic.split()
        query = " ".join(random.sample(words, min(3, len(words))))
        make = partial(
            call,
            hashlib.sha256(b"call %d" % number).hexdigest()[:16],
            self.id,
            client=self.client,
            started_at=started_at,
            seconds=random.randrange(1, 40) / 16,
        )
        stages = [("fetch", random.randrange(1, 30) / 32), ("rank", 1 / 64), ("render", 1 / 128)]
        if kind == "search":
            sources = random.sample(list(stored), 4)
            texts = [read_text(each, *self._spans(each)) for each in sources[:3]]
            texts.append(ReadText("", sources[3].url, sources[3].title, state="timed out"))
            result = self._result(sources[:3], texts)
            return make(tool="search", query=query, texts=texts, result=result, stages=stages)
        if kind == "run":
            output = ReadText(
                page_id(number + 10**6), "output:test", "pytest tests", 80_000, ((0, 900), (79_000, 80_000))
            )
            notes = [("command", "pytest tests"), ("exit", "1"), ("folder", "/home/ada/project")]
            return make(origin="run", tool="pytest tests", target=output.id, texts=[output], notes=notes)
        artifact = self.last or random.choice(stored)
        if kind == "error":
            code = random.choice(("http_error", "timeout", "dns_failure", "blocked_by_robots"))
            return make(target=f"{artifact.url}/gone", outcome=code, result=f"{code}: the page has no answer")
        if kind == "read on" and self.last:
            start = random.randrange(0, max(1, len(artifact.text) - 1_500))
            texts = [read_text(artifact, (start, min(len(artifact.text), start + 1_500)))]
            result = self._result([artifact], texts)
            return make(tool="read_artifact", target=artifact.id, offset=start, texts=texts, result=result)
        if kind == "quote" and self.last:
            texts, quote = [read_text(artifact, (0, 600))], artifact.text[40:90]
            return make(tool="read_artifact", target=artifact.id, find=quote, texts=texts)
        self.last = artifact = random.choice(stored)
        texts = [read_text(artifact, *self._spans(artifact))]
        result = self._result([artifact], texts)
        return make(target=artifact.url, query=query, texts=texts, result=result, stages=stages)

    def _spans(self, artifact: Artifact) -> list[Span]:
        """Return two or three passages of a page, in reading order."""
        size = len(artifact.text)
        starts = sorted(self._random.sample(range(0, size - 600, 700), min(3, size // 700)))
        return [(start, start + 600) for start in starts]

    def _result(self, artifacts: Sequence[Artifact], texts: Sequence[ReadText]) -> str:
        """Return a result that shows the passages."""
        lines = []
        for artifact, text in zip(artifacts, texts, strict=False):
            shown = "\n[…]\n".join(artifact.text[start:end] for start, end in text.spans)
            lines.append(f"Page: {artifact.title} ({artifact.url})\n--- untrusted text\n{shown}\n--- end")
        return "\n".join([*lines, "[end]"])
