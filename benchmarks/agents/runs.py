"""Load recorded runs of real agents from packages of the index, in the formats of the APIs of models.

The packages have licences that allow it (MIT), are pinned by their digests, and are downloaded into a cache. They are
test data and samples of tools that show the sessions of agents:

- claude-code-analytics 0.1.1: a session of Claude Code with Claude 3.7 Sonnet, on a Python project;
- sniffly 0.1.5: sessions of Claude Code with Claude Sonnet 4, on a project for music;
- docent-python 0.1.9a0: runs of Inspect's agent with GPT-4o on tasks of InterCode-CTF.
"""

from __future__ import annotations

import hashlib
import io
import json
import re
import tarfile
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final
from urllib.parse import urljoin
from urllib.request import urlopen

from keyhole.extensions.conversations.formats import Format
from keyhole.render.tokens import estimate

Items = list[dict[str, Any]]

_RECORDED: Final = re.compile(r"/tests/(?:\S*/)?[0-9a-f]{8}-[0-9a-f-]{27}\.jsonl$|/samples/log\.eval$")

INDEX: Final = "https://pypi.org/simple/"
PACKAGES: Final = {
    "claude_code_analytics-0.1.1": "d67837156e955e6d67193465c0e824168d0b35b09ff685263c9407bcabf6e5c2",
    "sniffly-0.1.5": "52e158f6ed7103613456e94c391696ef4e8a2a1c4c3e48bcc22ce2d780e00a72",
    "docent_python-0.1.9a0": "97b703635cca8bc492d37fe4bcf16d49c3cdda36eab9131f1a9f281b1fbe208a",
}
"""The source distributions, with their SHA-256 digests."""
MIN_TURNS: Final = 10
"""Turns of the model of a run that is replayed: a shorter one says nothing about long work."""
INSPECT_FIXED: Final = 800
"""Tokens of the tools of Inspect's agent, which its log does not have: an estimate."""


@dataclass(frozen=True, slots=True)
class Run:
    """One recorded run."""

    name: str
    format: Format
    items: Items
    """All messages, the user's first one first."""
    fixed: int
    """Tokens of the system prompt and the tools, which every request has besides its messages."""

    @property
    def turns(self) -> list[int]:
        """Return the indexes of the model's messages. Each is the answer to a request with all items before it."""
        return [place for place, item in enumerate(self.items) if item["role"] == "assistant"]


def load_runs(cache: Path) -> list[Run]:
    """Return the runs with at least MIN_TURNS turns, from packages in the cache or the index."""
    runs = [run for name in PACKAGES for run in _runs_of(name, _download(name, cache))]
    return [run for run in runs if len(run.turns) >= MIN_TURNS]


def _download(name: str, cache: Path) -> bytes:
    """Return a source distribution. Raises ValueError if its digest is not the pinned one."""
    path = cache / f"{name}.tar.gz"
    if not path.exists():
        page = f"{INDEX}{name.rpartition('-')[0].replace('_', '-')}/"
        listed = _get(page).decode()
        found = re.search(rf'href="([^"#]*{re.escape(path.name)})', listed)
        if found is None:
            raise ValueError(f"{page} does not list {path.name}")
        cache.mkdir(parents=True, exist_ok=True)
        path.write_bytes(_get(urljoin(page, found[1])))
    data = path.read_bytes()
    if hashlib.sha256(data).hexdigest() != PACKAGES[name]:
        raise ValueError(f"{path} is not the pinned file; delete it")
    return data


def _get(url: str) -> bytes:
    with urlopen(url, timeout=300) as answer:  # noqa: S310 - an address of INDEX
        return bytes(answer.read())


def _runs_of(name: str, data: bytes) -> Iterator[Run]:
    with tarfile.open(fileobj=io.BytesIO(data)) as archive:
        for member in archive:
            file = archive.extractfile(member) if _RECORDED.search(member.name) else None
            if file and member.name.endswith(".jsonl"):
                yield from _claude_code(f"{name}: {Path(member.name).stem[:8]}", file.read().decode("utf-8", "replace"))
            elif file:
                yield from _inspect(name, file.read())


def _claude_code(name: str, text: str) -> Iterator[Run]:
    """Yield the session of a transcript of Claude Code, in the format of Anthropic's API."""
    entries: dict[str, dict[str, Any]] = {}
    for line in text.splitlines():
        entry = json.loads(line) if line.strip() else {}
        if entry.get("type") in {"user", "assistant"} and not entry.get("isSidechain") and entry.get("uuid"):
            entries.setdefault(entry["uuid"], entry)  # a session that is continued repeats its lines
    items: Items = []
    usage: dict[str, int] = {}
    before = 0
    for entry in entries.values():
        message = entry["message"]
        content = (
            message["content"]
            if isinstance(message["content"], list)
            else [{"type": "text", "text": message["content"]}]
        )
        if message["role"] == "assistant" and not usage:
            usage, before = message.get("usage") or {}, sum(tokens_of(item) for item in items)
        if items and items[-1]["role"] == message["role"]:
            items[-1]["content"] += content
        else:
            items.append({"role": message["role"], "content": list(content)})
    names = ("input_tokens", "cache_read_input_tokens", "cache_creation_input_tokens")
    first = sum(usage.get(each) or 0 for each in names)
    if items and items[0]["role"] == "user":
        yield Run(name, "anthropic", _paired(items), max(first - before, 0))


def _paired(items: Items) -> Items:
    """Return the items without calls that have no result and results that have no call: a stopped turn leaves them."""
    calls = {block["id"] for item in items for block in item["content"] if block["type"] == "tool_use"}
    results = {block["tool_use_id"] for item in items for block in item["content"] if block["type"] == "tool_result"}

    def belongs(block: dict[str, Any]) -> bool:
        if block["type"] in {"tool_use", "tool_result"}:
            return bool((block.get("tool_use_id") or block.get("id")) in calls & results)
        return bool(block["type"] != "thinking")

    kept = [{**item, "content": [block for block in item["content"] if belongs(block)]} for item in items]
    return [item for item in kept if item["content"]]


def _inspect(name: str, data: bytes) -> Iterator[Run]:
    """Yield the runs of a log of Inspect, in the format of Chat Completions."""
    with zipfile.ZipFile(io.BytesIO(data)) as log:
        for path in sorted(each for each in log.namelist() if each.startswith("samples/")):
            sample = json.loads(log.read(path))
            texts = sample.get("attachments") or {}
            items = [_chat_item(message, texts) for message in sample["messages"]]
            yield Run(f"{name}: {Path(path).stem.split('_')[0]}", "chat", items, INSPECT_FIXED)


def _chat_item(message: dict[str, Any], texts: dict[str, str]) -> dict[str, Any]:
    """Return a message of Inspect's log, with the long texts that the log has elsewhere."""
    content = message["content"] if isinstance(message["content"], str) else json.dumps(message["content"])
    content = re.sub(r"attachment://(\w+)", lambda found: texts.get(found[1], found[0]), content)
    item: dict[str, Any] = {"role": message["role"], "content": content}
    if message["role"] == "tool":
        item["tool_call_id"] = message["tool_call_id"]
    if calls := message.get("tool_calls"):
        item["tool_calls"] = [
            {
                "id": call["id"],
                "type": "function",
                "function": {"name": call["function"], "arguments": json.dumps(call["arguments"])},
            }
            for call in calls
        ]
    return item


_TOKENS: dict[str, int] = {}


def tokens_of(item: dict[str, Any]) -> int:
    """Return the estimated tokens of a message."""
    text = json.dumps(item, ensure_ascii=False)
    if text not in _TOKENS:
        _TOKENS[text] = estimate(text)
    return _TOKENS[text]
