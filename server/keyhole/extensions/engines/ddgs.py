"""Search without a key through the `ddgs` library, in a child process. This module is the code of both processes.

ddgs has its own network stack and blocks while it works. A child process can be killed at once if the call is cancelled
or times out, and separates ddgs's imports and output from the server.
"""

from __future__ import annotations

import asyncio
import json
import os
import re
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any
from urllib.parse import urlsplit

from keyhole.errors import Code, KeyholeError
from keyhole.fetch.addresses import is_url_allowed
from keyhole.fetch.base import ApiReply
from keyhole.records import Hit, SearchRequest
from keyhole.text.parse_json import parse_json
from keyhole.websearch.base import SearchApi
from keyhole.websearch.hits import MARKUP_FACTOR, MAX_ROWS, MAX_SNIPPET, build_hits
from keyhole.websearch.request import build_query

PROCESS_TIMEOUT = 12
"""Seconds for all backends: ddgs tries several, and each may take 5 s."""

MAX_FIELD = MARKUP_FACTOR * MAX_SNIPPET
"""Maximum of characters of a field that the child prints."""
END_TIMEOUT = 2.0
"""Seconds within which a killed child must end. The kernel takes milliseconds."""
MAX_OUTPUT = 10_000_000
"""Bytes of the child's output that are read: several times as many as its rows can have."""

_FAILURES = {
    "RatelimitException": (Code.RATE_LIMITED, "the keyless engines ask to slow down"),
    "ChallengeException": (Code.BOT_CHALLENGE, "the keyless engines let only browsers in"),
    "TimeoutException": (Code.TIMEOUT, "the keyless engines did not answer in time"),
}
_REASONS = (
    (re.compile(r"proxy", re.IGNORECASE), "the proxy"),
    (re.compile(r"certificate|tls|ssl", re.IGNORECASE), "no secure connection"),
    (re.compile(r"connect|route|dns|resolve|network|sending request", re.IGNORECASE), "no connection"),
)
"""The reason that an error names, by the words of the library's own error. The first row that matches counts."""
# ddgs queries these sites first. If they find nothing, the web may still have results.
_ENCYCLOPEDIAS = ("wikipedia.org", "grokipedia.com")
_CHALLENGE_STATUSES = frozenset({202, 403, 503})
"""Statuses with which engines answer suspected bots; DuckDuckGo uses 202."""

_REGIONS = {
    "at": "at-de", "be": "be-nl", "br": "br-pt", "ch": "ch-de", "cn": "cn-zh", "cz": "cz-cs", "dk": "dk-da",
    "ee": "ee-et", "gb": "uk-en", "gr": "gr-el", "hk": "hk-tzh", "il": "il-he", "jp": "jp-jp", "kr": "kr-kr",
    "se": "se-sv", "tw": "tw-tzh", "ua": "ua-uk", "uk": "uk-en", "vn": "vn-vi",
    **dict.fromkeys(["ar", "cl", "co", "mx", "pe", "es", "ve"], "{}-es"),
    **dict.fromkeys(["au", "ca", "ie", "in", "nz", "ph", "sg", "us", "za"], "{}-en"),
}  # fmt: skip
"""ddgs's regions, country first, for requests without a language. Regions with two equal codes are left out."""


class KeylessEngine:
    """The public engines that ddgs can query without an account, as one engine."""

    name = "keyless"
    supported_filters = frozenset({"sites", "exclude_sites", "freshness", "language", "country", "news"})

    def __init__(
        self,
        api: SearchApi,
        command: Sequence[str] = (sys.executable, "-P", "-m", "keyhole.extensions.engines.ddgs"),
        proxy: str = "",
        denied: frozenset[str] = frozenset(),
    ) -> None:
        """`denied`: the domains of KEYHOLE_DENY_DOMAINS, to which the child sends no request."""
        self._api = api
        self._command = tuple(command)
        self._proxy = proxy
        self._denied = denied

    async def search(self, request: SearchRequest) -> tuple[Hit, ...]:
        """Return the hits in ddgs's order."""
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
                call = {**ddgs_arguments(request), "denied": sorted(self._denied)}
                out = await _exchange(process, json.dumps(call).encode())
        except TimeoutError as error:
            raise KeyholeError(Code.TIMEOUT, "the keyless engines did not answer in time") from error
        finally:
            if process.returncode is None:
                process.kill()
                # Not wait(): while its reader is paused by unread output, asyncio does not see that the child ended.
                with suppress(TimeoutError):
                    async with asyncio.timeout(END_TIMEOUT):
                        await process.communicate()
        return await self._api.parse(ApiReply(200, out), parse)


async def _exchange(process: asyncio.subprocess.Process, call: bytes) -> bytes:
    """Send a call to the child and return its output. Raises KeyholeError if the output is longer than `MAX_OUTPUT`."""
    pipe, printed = process.stdin, process.stdout
    if pipe is None or printed is None:
        return b""
    with suppress(BrokenPipeError, ConnectionResetError):  # the child ended early
        pipe.write(call)
        await pipe.drain()
    pipe.close()
    try:
        await printed.readexactly(MAX_OUTPUT + 1)
    except asyncio.IncompleteReadError as error:
        return error.partial
    raise KeyholeError(Code.ENGINE_UNAVAILABLE, "the keyless search process printed too much")


def ddgs_arguments(request: SearchRequest) -> dict[str, Any]:
    """Return the arguments of `DDGS().text` or, if `kind` is news, `DDGS().news`."""
    return {
        "kind": request.kind,
        "query": build_query(request),
        "region": ddgs_region(request),
        "timelimit": request.freshness[:1] or None,
        "max_results": max(10, request.max_results * 2),
    }


def ddgs_region(request: SearchRequest) -> str:
    """Return ddgs's region, country first, with `wt` for a missing country or language."""
    language, *more = request.language.lower().split("-")
    country = request.country or (more[-1] if more and len(more[-1]) == 2 else "")
    if language or not country:
        code = {"gb": "uk"}.get(country, country) or "wt"
        return f"{code}-{language or 'wt'}"
    return _REGIONS.get(country, "{0}-{0}").format(country)


def child_environment(environment: Mapping[str, str], proxy: str) -> dict[str, str]:
    """Return the child's environment: without the proxy variables that ddgs reads, and with `proxy` if it is set."""
    base = {name: value for name, value in environment.items() if not name.lower().endswith("_proxy")}
    return {**base, "DDGS_PROXY": proxy} if proxy else base


def parse(reply: ApiReply) -> tuple[Hit, ...]:
    """Return the hits that the child printed. Raises KeyholeError if it printed an error or anything else."""
    try:
        answer = parse_json(reply.body)
        if (kind := answer.get("error")) is not None:
            message = str(answer.get("message", ""))
            reason = next((f": {reason}" for pattern, reason in _REASONS if pattern.search(message)), "")
            other = Code.ENGINE_UNAVAILABLE, f"the keyless engines failed{reason}"
            raise KeyholeError(*_FAILURES.get(str(kind), other))
        return build_hits(answer["results"], ("href", "title", "body"), "keyless", "date")
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise KeyholeError(Code.ENGINE_UNAVAILABLE, "the keyless search process failed") from error


def run_child() -> None:
    """Read arguments from stdin and print one JSON object. Runs in the child process."""
    call = json.load(sys.stdin)
    # Only the answer goes to the pipe; everything that ddgs prints goes to stderr.
    with os.fdopen(os.dup(1), "w", encoding="utf-8") as pipe:
        os.dup2(2, 1)
        outcomes: set[str] = set()
        try:
            from ddgs import DDGS

            _patch_requests(outcomes, frozenset(call.pop("denied")))
            kind, query = call.pop("kind"), call.pop("query")
            search = DDGS(timeout=5).news if kind == "news" else DDGS(timeout=5).text
            names = ("href", "url", "title", "body", "date")
            found = [{name: str(row.get(name) or "")[:MAX_FIELD] for name in names} for row in search(query, **call)]
            rows = [{**row, "href": row["href"] or row["url"]} for row in found[:MAX_ROWS]]
            answer: dict[str, Any] = {"results": rows}
        except Exception as error:  # noqa: BLE001 - any error of ddgs or its engines is sent to the parent as data
            answer = _interpret_error(type(error).__name__, str(error), outcomes)
        json.dump(answer, pipe)


def _interpret_error(kind: str, message: str, outcomes: set[str]) -> dict[str, Any]:
    """Return the answer for an exception of ddgs.

    ddgs raises if no engine had results, and does not report refusals. If an engine answered with a page, there are no
    results. Otherwise the recorded outcomes may contain a refusal.
    """
    if kind.endswith("Exception"):
        if "page" in outcomes:
            return {"results": []}
        kind = next((name for name in _FAILURES if name in outcomes), kind)
    return {"error": kind, "message": message}


def _patch_requests(outcomes: set[str], denied: frozenset[str]) -> None:
    """Patch ddgs to add the outcome of each HTTP request to `outcomes`, and to send none to `denied` domains.

    An outcome is `page` or the name of a failure: ddgs reports "No results" both if nothing was found and if every
    engine refused the request. With denied domains, redirects are not followed, since they could lead to one.
    """
    from ddgs.exceptions import DDGSException
    from ddgs.http_client import HttpClient

    send = HttpClient.request

    def request_and_record(self: Any, method: str, url: str, *arguments: Any, **options: Any) -> Any:
        if denied:
            if not is_url_allowed(url, frozenset(), denied):
                raise DDGSException(f"the operator's settings do not allow {urlsplit(url).hostname}")
            options["follow_redirects"] = False
        try:
            response = send(self, method, url, *arguments, **options)
        except DDGSException as error:
            outcomes.add(type(error).__name__)
            raise
        if not any(name in url for name in _ENCYCLOPEDIAS):
            outcomes.add(classify_response(int(response.status_code), str(response.text)))
        return response

    HttpClient.request = request_and_record  # type: ignore[method-assign]


def classify_response(status: int, text: str) -> str:
    """Return `page`, the name of a refusal, or "" for any other failure."""
    from keyhole.text.challenges import find_challenge_in_error

    if status == 429:
        return "RatelimitException"
    if status in _CHALLENGE_STATUSES or find_challenge_in_error(text.encode("utf-8", "replace")):
        return "ChallengeException"
    return "page" if status == 200 and text.strip() else ""


if __name__ == "__main__":
    run_child()
