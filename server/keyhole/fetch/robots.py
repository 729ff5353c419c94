"""What a site's robots.txt says to us (RFC 9309), asked once per origin and remembered. No HTTP here.

Only the groups that name our product token or `*` reach the parser: it is quadratic in the number of agents that
one group names, and the rules of other crawlers need not be kept.
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
"""The name that a robots.txt calls us by, whatever the operator sets as User-Agent."""
MAX_ROBOTS: Final = 500 * 1024
"""Bytes of a robots.txt that are read; RFC 9309, section 2.5, asks for at least so many."""
MAX_ROBOTS_REDIRECTS: Final = 5
"""Hops; RFC 9309, section 2.3.1.2, asks for at least five."""
ROBOTS_TIMEOUT: Final = 5.0
"""Seconds for one robots.txt with its redirects."""
ROBOTS_SHARE: Final = 1 / 6
"""Of a call's deadline, where that is less: so that a page can still be read."""
FRESH: Final = 24 * 3_600.0
"""Seconds for which an answer holds; RFC 9309, section 2.4, asks for no more than a day."""
ASK_AGAIN: Final = 300.0
"""Seconds after which a site whose robots.txt failed (5xx, time-out) is asked for it again."""
MAX_ORIGINS: Final = 256
"""Origins remembered."""
MAX_KEPT: Final = 4_000_000
"""Characters of rules remembered, of all origins together; parsed they take about ten times as much."""

SAME_FATE: Final = frozenset({Code.BLOCKED_ADDRESS, Code.DNS_FAILURE, Code.CONNECT_FAILURE, Code.TLS_FAILURE})
"""Failures to reach an origin at all: the page would meet the same one, so it is not asked for."""

_LINE = re.compile(r"[ \t]*([A-Za-z-]+)[ \t]*:[ \t]*(.*)")
_TOKEN = re.compile(r"[A-Za-z_-]+")
_AGENT: Final = frozenset({"user-agent", "useragent", "user agent"})
_RULES: Final = frozenset({"allow", "disallow"})


@dataclass(frozen=True, slots=True)
class Rules:
    """The rules of one origin for us; without a parser everything is allowed."""

    text: str = ""
    parser: Protego | None = None

    def allow(self, target: Target) -> bool:
        """Whether the origin's owner lets us ask for a page."""
        return self.parser is None or self.parser.can_fetch(target.url, PRODUCT_NAME)


def parse_rules(body: bytes) -> Rules:
    """The rules that a robots.txt has for us, of its first 500 KiB."""
    text = "\n".join(_ours(body[:MAX_ROBOTS].decode("utf-8-sig", "replace")))
    if not text:
        return Rules()
    from protego import Protego  # 50 ms, needed by the first page of the first site that has rules for us

    return Rules(text, Protego.parse(text))


def _ours(text: str) -> Iterator[str]:
    """The lines that concern us, groups of other agents left out; RFC 9309, section 2.2."""
    agents: set[str] = set()
    naming = told = False
    for line in re.split(r"[\r\n]+", text):
        parsed = _LINE.match(line.partition("#")[0])
        field, value = (parsed[1].lower(), parsed[2].strip()) if parsed else ("", "")
        if field in _AGENT:
            if not naming:
                agents, told = set(), False
            naming = True
            agents |= {"*"} if value.startswith("*") else _named(value)
        elif field in _RULES:
            naming = False
            if agents and not told:
                yield from (f"User-agent: {agent}" for agent in sorted(agents))
                told = True
            if agents and value:
                yield f"{field}: {value}"


def _named(agent: str) -> set[str]:
    token = _TOKEN.match(agent)
    return {PRODUCT_NAME} if token and token[0].lower() == PRODUCT_NAME.lower() else set()


@dataclass(frozen=True, slots=True)
class _Entry:
    rules: Rules
    until: float


Ask = Callable[[Target], Awaitable[bytes | Target]]
"""One request for a robots.txt: its body, or where it redirects to. Raises KeyholeError for every failure."""


class RobotsCache:
    """The rules of each origin, asked for once at a time and kept in memory."""

    def __init__(self, ask: Ask, now: Callable[[], float], deadline: float = 30.0) -> None:
        self._ask = ask
        self._seconds = min(ROBOTS_TIMEOUT, deadline * ROBOTS_SHARE)
        self._now = now
        self._kept: OrderedDict[tuple[str, str, int], _Entry] = OrderedDict()
        self._asking: dict[tuple[str, str, int], asyncio.Task[Rules | KeyholeError]] = {}

    async def check(self, target: Target) -> None:
        """Ask the origin's rules about a page.

        Raises KeyholeError: robots_disallowed, or what kept the origin from being reached at all.
        """
        rules = await self._rules(target)
        # Tens of thousands of rules against a long URL take a moment, which other calls should not share.
        if rules.parser is not None and not await asyncio.to_thread(rules.allow, target):
            raise KeyholeError(Code.ROBOTS_DISALLOWED, f"the robots.txt of {target.netloc} asks not to fetch this page")

    async def aclose(self) -> None:
        """Stop asking."""
        for task in self._asking.values():
            task.cancel()
        await asyncio.gather(*self._asking.values(), return_exceptions=True)

    async def _rules(self, target: Target) -> Rules:
        kept = self._kept.get(target.origin)
        if kept is not None and kept.until > self._now():
            self._kept.move_to_end(target.origin)
            return kept.rules
        task = self._asking.get(target.origin)
        if task is None:
            task = asyncio.get_running_loop().create_task(self._renewed(target, kept))
            self._asking[target.origin] = task
            task.add_done_callback(lambda _: self._asking.pop(target.origin, None))
        # Shielded: one cancelled call must not take the answer from the others that wait for it.
        found = await asyncio.shield(task)
        if isinstance(found, KeyholeError):
            raise KeyholeError(found.code, found.message, **found.facts) from found
        return found

    async def _renewed(self, target: Target, kept: _Entry | None) -> Rules | KeyholeError:
        """The rules as the origin gives them now, or why it cannot be reached: a value, so that a failure nobody
        waits for any more is no unhandled exception."""
        asked = _robots_of(target)
        try:
            async with asyncio.timeout(self._seconds):
                for _hop in range(MAX_ROBOTS_REDIRECTS + 1):
                    found = await self._ask(asked)
                    if isinstance(found, bytes):
                        rules = await asyncio.to_thread(parse_rules, found)
                        # http redirects to https, and then the page does: its origin need not be asked again.
                        return self._keep({target, asked} if asked == _robots_of(asked) else {target}, rules, FRESH)
                    asked = found
        except TimeoutError:
            pass
        except KeyholeError as error:
            if error.code in SAME_FATE and asked.origin == target.origin:
                return error
            if 400 <= int(error.facts.get("status", 0)) < 500:
                return self._keep({target}, Rules(), FRESH)
        # RFC 9309 has a crawler stay away from a site whose robots.txt fails. Ours is one page for one question,
        # which fails by itself when the site is down: what it last said holds on, else the page is asked for.
        return self._keep({target}, kept.rules if kept else Rules(), ASK_AGAIN)

    def _keep(self, targets: set[Target], rules: Rules, seconds: float) -> Rules:
        for target in targets:
            self._kept[target.origin] = _Entry(rules, self._now() + seconds)
            self._kept.move_to_end(target.origin)
        size = sum(len(entry.rules.text) for entry in self._kept.values())
        while len(self._kept) > 1 and (len(self._kept) > MAX_ORIGINS or size > MAX_KEPT):
            size -= len(self._kept.popitem(last=False)[1].rules.text)
        return rules


def _robots_of(target: Target) -> Target:
    return replace(target, path="/robots.txt")
