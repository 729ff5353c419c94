"""Render pages with Playwright as crawl4ai does, for comparison."""

from __future__ import annotations

import json
import subprocess
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Self


@dataclass(frozen=True, slots=True)
class Answer:
    """What a renderer made of a page. Without an error, `error` is empty."""

    html: str
    seconds: float
    error: str = ""


class Peer:
    """A process that drives Chromium with Playwright. `mode` is when a page counts as loaded; see sources/peer.mjs."""

    def __init__(self, folder: Path, program: str, mode: str) -> None:
        self._mode = mode
        self._process = subprocess.Popen(
            ["node", "peer.mjs", program],  # noqa: S607 - a program by name
            cwd=folder,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        assert self._process.stdin
        self._process.stdin.close()
        self._process.wait(timeout=30)

    def render(self, url: str, *, fresh: bool) -> Answer:
        """Return a page, rendered in a browser of its own. `fresh` includes the browser's start in the time."""
        assert self._process.stdin
        assert self._process.stdout
        print(json.dumps({"url": url, "mode": self._mode, "fresh": fresh}), file=self._process.stdin, flush=True)
        answer = json.loads(self._process.stdout.readline())
        return Answer(answer["html"], answer["seconds"], answer.get("error", ""))
