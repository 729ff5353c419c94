"""Search without a key through the `ddgs` library, in a process of its own. Parent and child are both here.

ddgs brings its own network stack and blocks while it works. In a child it can be stopped at once when the
call is cancelled or out of time, and what it imports or prints never reaches the server.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
from collections.abc import Mapping, Sequence
from typing import Any

from keyhole.errors import Code, KeyholeError
from keyhole.records import Hit, SearchRequest
from keyhole.websearch.base import hits_from, with_sites

ENGINE_TIMEOUT = 12
"""Seconds for all of ddgs's backends: it tries several, each may take 5 s."""

_FAILURES = {
    "RatelimitException": (Code.RATE_LIMITED, "the keyless engines ask to slow down"),
    "TimeoutException": (Code.TIMEOUT, "the keyless engines did not answer in time"),
}
_NOTHING = "No results found"
# ddgs asks these first, whatever the question; their silence says nothing about the web.
_ENCYCLOPEDIAS = frozenset({"wikipedia", "grokipedia"})


class KeylessEngine:
    """The public engines that ddgs can ask without an account."""

    name = "keyless"
    applies = frozenset({"sites", "exclude_sites", "freshness", "language"})

    def __init__(
        self, command: Sequence[str] = (sys.executable, "-m", "keyhole.websearch.keyless"), proxy: str = ""
    ) -> None:
        self._command = tuple(command)
        self._proxy = proxy

    async def search(self, request: SearchRequest) -> tuple[Hit, ...]:
        """Hits in ddgs's order."""
        try:
            process = await asyncio.create_subprocess_exec(
                *self._command,
                stdin=asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.DEVNULL,
                env=child_environment(os.environ, self._proxy),
            )
        except OSError as error:
            raise KeyholeError(Code.ENGINE_UNAVAILABLE, "the keyless search process cannot be started") from error
        try:
            async with asyncio.timeout(ENGINE_TIMEOUT):
                out, _ = await process.communicate(json.dumps(arguments(request)).encode())
        except TimeoutError as error:
            raise KeyholeError(Code.TIMEOUT, "the keyless engines did not answer in time") from error
        finally:
            if process.returncode is None:
                process.kill()
                await process.wait()
        return parse(out)


def arguments(request: SearchRequest) -> dict[str, Any]:
    """What `DDGS().text` is called with."""
    language = request.language.lower().partition("-")[0]
    return {
        "query": with_sites(request),
        "region": f"wt-{language}" if language else "wt-wt",
        "timelimit": request.freshness[:1] or None,
        "max_results": max(10, request.max_results * 2),
    }


def child_environment(environment: Mapping[str, str], proxy: str) -> dict[str, str]:
    """The child's environment: ddgs would take proxies from it, and only the one of the settings may be used."""
    kept = {name: value for name, value in environment.items() if not name.lower().endswith("_proxy")}
    return {**kept, "DDGS_PROXY": proxy} if proxy else kept


def parse(out: bytes) -> tuple[Hit, ...]:
    """The hits that the child printed. ddgs says "No results" for emptiness and names all else."""
    try:
        answer = json.loads(out)
        if (kind := answer.get("error")) is not None:
            raise _failure(str(kind), str(answer.get("message", "")))
        return hits_from(answer["results"], ("href", "title", "body"), "keyless")
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise KeyholeError(Code.ENGINE_UNAVAILABLE, "the keyless search process failed") from error


def _failure(kind: str, message: str) -> KeyholeError:
    code, text = _FAILURES.get(kind, (Code.ENGINE_UNAVAILABLE, f"the keyless engines failed: {message[:160]}"))
    return KeyholeError(code, text)


def child() -> None:
    """Read arguments from stdin, print one JSON object. Runs in the child only."""
    call = json.load(sys.stdin)
    # The answer has the pipe for itself: what ddgs or its parts print goes to stderr.
    with os.fdopen(os.dup(1), "w", encoding="utf-8") as pipe:
        os.dup2(2, 1)
        answered: set[str] = set()
        try:
            from ddgs import DDGS

            _note_answers(answered)
            answer: dict[str, Any] = {"results": DDGS(timeout=5).text(call.pop("query"), **call)}
        except Exception as error:  # noqa: BLE001 - whatever ddgs or its engines raise crosses a process border as data
            nothing = str(error).startswith(_NOTHING) and bool(answered - _ENCYCLOPEDIAS)
            answer = {"results": []} if nothing else {"error": type(error).__name__, "message": str(error)}
        json.dump(answer, pipe)


def _note_answers(answered: set[str]) -> None:
    """Have ddgs's engines note that they were answered with a page. ddgs itself says "No results" both for
    emptiness and when every engine was refused (any status but 200), which an agent must be able to tell apart."""
    from ddgs.base import BaseSearchEngine

    request = BaseSearchEngine.request

    def noting(self: Any, *arguments: Any, **options: Any) -> Any:
        text = request(self, *arguments, **options)
        if text:
            answered.add(str(self.name))
        return text

    BaseSearchEngine.request = noting  # type: ignore[method-assign]


if __name__ == "__main__":
    child()
