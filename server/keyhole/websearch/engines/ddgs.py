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
from keyhole.websearch.base import hits_from
from keyhole.websearch.request import fitted_with_sites

PROCESS_TIMEOUT = 12
"""Seconds for all of ddgs's backends: it tries several, each may take 5 s."""

_FAILURES = {
    "RatelimitException": (Code.RATE_LIMITED, "the keyless engines ask to slow down"),
    "ChallengeException": (Code.BOT_CHALLENGE, "the keyless engines let only browsers in"),
    "TimeoutException": (Code.TIMEOUT, "the keyless engines did not answer in time"),
}
# ddgs asks these first, whatever the question; their silence says nothing about the web.
_ENCYCLOPEDIAS = ("wikipedia.org", "grokipedia.com")
_CHALLENGES = frozenset({202, 403, 503})
"""Statuses of engines that take the child for a robot: DuckDuckGo's is 202."""

_REGIONS = {
    "at": "at-de", "be": "be-nl", "br": "br-pt", "ch": "ch-de", "cn": "cn-zh", "cz": "cz-cs", "dk": "dk-da",
    "ee": "ee-et", "gb": "uk-en", "gr": "gr-el", "hk": "hk-tzh", "il": "il-he", "jp": "jp-jp", "kr": "kr-kr",
    "se": "se-sv", "tw": "tw-tzh", "ua": "ua-uk", "uk": "uk-en", "vn": "vn-vi",
    **dict.fromkeys(["ar", "cl", "co", "mx", "pe", "es", "ve"], "{}-es"),
    **dict.fromkeys(["au", "ca", "ie", "in", "nz", "ph", "sg", "us", "za"], "{}-en"),
}  # fmt: skip
"""ddgs's regions, country first, where only a country is asked for and its language is not named as it is."""


class KeylessEngine:
    """The public engines that ddgs can ask without an account."""

    name = "keyless"
    applies = frozenset({"sites", "exclude_sites", "freshness", "language", "country", "news"})

    def __init__(
        self, command: Sequence[str] = (sys.executable, "-m", "keyhole.websearch.engines.ddgs"), proxy: str = ""
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
            async with asyncio.timeout(PROCESS_TIMEOUT):
                out, _ = await process.communicate(json.dumps(arguments(request)).encode())
        except TimeoutError as error:
            raise KeyholeError(Code.TIMEOUT, "the keyless engines did not answer in time") from error
        finally:
            if process.returncode is None:
                process.kill()
                await process.wait()
        return parse(out)


def arguments(request: SearchRequest) -> dict[str, Any]:
    """What `DDGS().text` or `DDGS().news`, by `kind`, is called with."""
    return {
        "kind": request.kind,
        "query": fitted_with_sites(request),
        "region": region(request),
        "timelimit": request.freshness[:1] or None,
        "max_results": max(10, request.max_results * 2),
    }


def region(request: SearchRequest) -> str:
    """ddgs's name for a country and a language, `wt` and `wt` where not asked for."""
    language, *more = request.language.lower().split("-")
    country = request.country or (more[-1] if more and len(more[-1]) == 2 else "")
    if language or not country:
        known = {"gb": "uk"}.get(country, country) or "wt"
        return f"{known}-{language or 'wt'}"
    return _REGIONS.get(country, "{0}-{0}").format(country)


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
        return hits_from(answer["results"], ("href", "title", "body"), "keyless", "date")
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise KeyholeError(Code.ENGINE_UNAVAILABLE, "the keyless search process failed") from error


def _failure(kind: str, message: str) -> KeyholeError:
    code, text = _FAILURES.get(kind, (Code.ENGINE_UNAVAILABLE, f"the keyless engines failed: {_named(message)}"))
    return KeyholeError(code, text)


def _named(message: str) -> str:
    """A failure without its detail, which is a library's own (`DNSError: DNSError('error sending …')`)."""
    return message.partition(":")[0][:60]


def child() -> None:
    """Read arguments from stdin, print one JSON object. Runs in the child only."""
    call = json.load(sys.stdin)
    # The answer has the pipe for itself: what ddgs or its parts print goes to stderr.
    with os.fdopen(os.dup(1), "w", encoding="utf-8") as pipe:
        os.dup2(2, 1)
        heard: set[str] = set()
        try:
            from ddgs import DDGS

            _note_answers(heard)
            kind, query = call.pop("kind"), call.pop("query")
            search = DDGS(timeout=5).news if kind == "news" else DDGS(timeout=5).text
            rows = [{**row, "href": row.get("href") or row.get("url")} for row in search(query, **call)]
            answer: dict[str, Any] = {"results": rows}
        except Exception as error:  # noqa: BLE001 - whatever ddgs or its engines raise crosses a process border as data
            answer = _outcome(type(error).__name__, str(error), heard)
        json.dump(answer, pipe)


def _outcome(kind: str, message: str, heard: set[str]) -> dict[str, Any]:
    """What it means that ddgs raised: one engine that answered with a page proves that there is nothing, since ddgs
    raises only where none had results; and it names no refusals, which are told by what its engines heard."""
    if kind.endswith("Exception"):
        if "page" in heard:
            return {"results": []}
        kind = next((name for name in _FAILURES if name in heard), kind)
    return {"error": kind, "message": message}


def _note_answers(heard: set[str]) -> None:
    """Have ddgs's engines note how they were answered: `page`, or the name of a failure. ddgs itself says "No results"
    both for emptiness and when every engine was refused, which an agent must be able to tell apart."""
    from ddgs.exceptions import DDGSException
    from ddgs.http_client import HttpClient

    request = HttpClient.request

    def noting(self: Any, method: str, url: str, *arguments: Any, **options: Any) -> Any:
        try:
            response = request(self, method, url, *arguments, **options)
        except DDGSException as error:
            heard.add(type(error).__name__)
            raise
        if not any(name in url for name in _ENCYCLOPEDIAS):
            heard.add(heard_in(int(response.status_code), str(response.text)))
        return response

    HttpClient.request = noting  # type: ignore[method-assign]


def heard_in(status: int, text: str) -> str:
    """What an engine's response is: `page`, the name of a failure, or `` for a fault of its own."""
    from keyhole.text.challenges import challenge_in_error

    if status == 429:
        return "RatelimitException"
    if status in _CHALLENGES or challenge_in_error(text.encode("utf-8", "replace")):
        return "ChallengeException"
    return "page" if status == 200 and text.strip() else ""


if __name__ == "__main__":
    child()
