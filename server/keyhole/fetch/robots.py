"""Fetch, parse and cache the robots.txt of each origin (RFC 9309).

Only groups for Keyhole's product token or `*` are parsed: the parser's time is quadratic in the number of agents that
one group names, and the rules for other crawlers are not needed.
"""

from __future__ import annotations

import asyncio
import re
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from keyhole.errors import Code, KeyholeError
from keyhole.fetch.urls import Target

if TYPE_CHECKING:
    from protego import Protego

PRODUCT_NAME: Final = "Keyhole"
"""The product token in robots.txt, independent of the User-Agent that the operator configures."""
MAX_ROBOTS: Final = 500 * 1024
"""Bytes read of a robots.txt; RFC 9309, section 2.5, requires at least this many."""
MAX_ROBOTS_REDIRECTS: Final = 5
"""Redirects; RFC 9309, section 2.3.1.2, requires at least five."""
ROBOTS_TIMEOUT: Final = 5.0
"""Seconds for one robots.txt with its redirects."""
ROBOTS_SHARE: Final = 1 / 6
"""Maximum share of a call's deadline, so that time is left for the page."""
FRESH_SECONDS: Final = 24 * 3_600.0
"""Seconds for which rules are cached; RFC 9309, section 2.4, allows at most a day."""
RETRY_SECONDS: Final = 300.0
"""Seconds after which a robots.txt that failed (5xx, timeout) is requested again."""
MAX_ORIGINS: Final = 256
"""Origins whose rules are cached."""
MAX_CACHED_CHARS: Final = 4_000_000
"""Characters of rules cached for all origins together; parsed rules take about ten times as much memory."""

UNREACHABLE: Final = frozenset({Code.BLOCKED_ADDRESS, Code.DNS_FAILURE, Code.CONNECT_FAILURE, Code.TLS_FAILURE})
"""Failures to reach an origin. Its pages would fail in the same way, so they are not requested."""

_LINE = re.compile(r"[ \t]*([A-Za-z-]+)[ \t]*:[ \t]*(.*)")
_TOKEN = re.compile(r"[A-Za-z_-]+")
_AGENT_FIELDS: Final = frozenset({"user-agent", "useragent", "user agent"})
_RULE_FIELDS: Final = frozenset({"allow", "disallow"})


@dataclass(frozen=True, slots=True)
class RobotsRules:
    """The rules of one origin that apply to Keyhole. Without a parser everything is allowed."""

    text: str = ""
    parser: Protego | None = None

    def allows(self, target: Target) -> bool:
        """Return True if the rules allow a page."""
        return self.parser is None or self.parser.can_fetch(target.url, PRODUCT_NAME)


def parse_rules(body: bytes) -> RobotsRules:
    """Parse the rules for Keyhole in the first `MAX_ROBOTS` bytes of a robots.txt."""
    if len(body) > MAX_ROBOTS:
        body = whole_lines(body[:MAX_ROBOTS])
    text = "\n".join(_relevant_lines(body.decode("utf-8-sig", "replace")))
    if not text:
        return RobotsRules()
    from protego import Protego  # imported here, since it takes 50 ms and few sites have rules for Keyhole

    return RobotsRules(text, Protego.parse(text))


def whole_lines(body: bytes) -> bytes:
    """Return a cut file without its last line: the beginning of `Disallow: /private` would forbid the whole site."""
    return body[: max(body.rfind(b"\n"), body.rfind(b"\r")) + 1]


def _relevant_lines(text: str) -> Iterator[str]:
    """Yield the lines of the groups that apply to Keyhole (RFC 9309, section 2.2)."""
    agents: set[str] = set()
    in_header = has_header = False
    for line in re.split(r"[\r\n]+", text):
        parsed = _LINE.match(line.partition("#")[0])
        field, value = (parsed[1].lower(), parsed[2].strip()) if parsed else ("", "")
        if field in _AGENT_FIELDS:
            if not in_header:
                agents, has_header = set(), False
            in_header = True
            agents |= {"*"} if value.startswith("*") else _own_agent(value)
        elif field in _RULE_FIELDS:
            in_header = False
            if agents and not has_header:
                yield from (f"User-agent: {agent}" for agent in sorted(agents))
                has_header = True
            if agents and value:
                yield f"{field}: {value}"


def _own_agent(value: str) -> set[str]:
    """Return a set of the product token if a User-agent line names it, otherwise an empty set."""
    token = _TOKEN.match(value)
    return {PRODUCT_NAME} if token and token[0].lower() == PRODUCT_NAME.lower() else set()


@dataclass(frozen=True, slots=True)
class _CacheEntry:
    rules: RobotsRules
    expires_at: float


Permits = Callable[[str], bool]
"""Returns True if the call accepts a URL."""
FetchRobots = Callable[[Target], Awaitable[bytes | Target]]
"""Requests a robots.txt and returns its body or the target of its redirect. Raises KeyholeError for every failure."""


class RobotsCache:
    """The rules of each origin, cached in memory. Concurrent calls that permit the same URLs share a request."""

    def __init__(self, fetch: FetchRobots, now: Callable[[], float], timeout: float = 30.0) -> None:
        """Create a cache. `timeout`: the time limit of a whole call, in seconds."""
        self._fetch = fetch
        self._seconds = min(ROBOTS_TIMEOUT, timeout * ROBOTS_SHARE)
        self._now = now
        self._cache: OrderedDict[tuple[str, str, int], _CacheEntry] = OrderedDict()
        self._pending: dict[tuple[tuple[str, str, int], Permits], asyncio.Task[RobotsRules | KeyholeError]] = {}

    async def check(self, target: Target, permits: Permits = bool) -> None:
        """Raise KeyholeError if robots.txt forbids a page (robots_disallowed) or the origin cannot be reached.

        A redirect of robots.txt that `permits` refuses is not followed.
        """
        rules = await self._rules(target, permits)
        # Matching a long URL against tens of thousands of rules would block the event loop.
        if rules.parser is not None and not await asyncio.to_thread(rules.allows, target):
            raise KeyholeError(Code.ROBOTS_DISALLOWED, f"the robots.txt of {target.netloc} disallows this page")

    def is_pending(self, target: Target, permits: Permits = bool) -> bool:
        """Return True if another call with the same `permits` is requesting the robots.txt of a target's origin."""
        return (target.origin, permits) in self._pending

    async def aclose(self) -> None:
        """Cancel pending requests."""
        for task in self._pending.values():
            task.cancel()
        await asyncio.gather(*self._pending.values(), return_exceptions=True)

    async def _rules(self, target: Target, permits: Permits) -> RobotsRules:
        cached = self._cache.get(target.origin)
        if cached is not None and cached.expires_at > self._now():
            self._cache.move_to_end(target.origin)
            return cached.rules
        key = target.origin, permits
        task = self._pending.get(key)
        if task is None:
            task = asyncio.get_running_loop().create_task(self._fetch_rules(target, cached, permits))
            self._pending[key] = task
            task.add_done_callback(lambda _: self._pending.pop(key, None))
        # Shielded: the cancellation of one call must not cancel the request for the other calls.
        result = await asyncio.shield(task)
        if isinstance(result, KeyholeError):
            raise result.without_frames() from result
        return result

    async def _fetch_rules(
        self, target: Target, cached: _CacheEntry | None, permits: Permits
    ) -> RobotsRules | KeyholeError:
        """Fetch and cache an origin's rules, or return the failure to reach it.

        The failure is returned, because an exception would stay unhandled if all waiting calls were cancelled.
        """
        robots = _robots_target(target)
        try:
            async with asyncio.timeout(self._seconds):
                for _hop in range(MAX_ROBOTS_REDIRECTS + 1):
                    result = await self._fetch(robots)
                    if isinstance(result, bytes):
                        rules = await asyncio.to_thread(parse_rules, result)
                        # A site that redirects robots.txt to https redirects its pages too: cache the rules for both.
                        is_origin_robots = robots == _robots_target(robots)
                        return self._store({target, robots} if is_origin_robots else {target}, rules, FRESH_SECONDS)
                    robots = result
                    if not permits(robots.url):  # other calls may follow it, so nothing is cached
                        return cached.rules if cached else RobotsRules()
        except TimeoutError:
            pass
        except KeyholeError as error:
            if error.code in UNREACHABLE and robots.origin == target.origin:
                return error
            if 400 <= int(error.facts.get("status", 0)) < 500:
                return self._store({target}, RobotsRules(), FRESH_SECONDS)
        # RFC 9309 tells crawlers to stay away from a site whose robots.txt fails. Keyhole requests a single page, which
        # fails too if the site is down. So it applies the cached rules, or none.
        return self._store({target}, cached.rules if cached else RobotsRules(), RETRY_SECONDS)

    def _store(self, targets: set[Target], rules: RobotsRules, seconds: float) -> RobotsRules:
        for target in targets:
            self._cache[target.origin] = _CacheEntry(rules, self._now() + seconds)
            self._cache.move_to_end(target.origin)
        size = sum(len(entry.rules.text) for entry in self._cache.values())
        while len(self._cache) > 1 and (len(self._cache) > MAX_ORIGINS or size > MAX_CACHED_CHARS):
            size -= len(self._cache.popitem(last=False)[1].rules.text)
        return rules


def _robots_target(target: Target) -> Target:
    return replace(target, path="/robots.txt")
