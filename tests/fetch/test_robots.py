"""robots.txt is parsed, obeyed and cached."""

from __future__ import annotations

import asyncio
import time

import pytest

from keyhole.errors import Code, KeyholeError
from keyhole.fetch.robots import FRESH_SECONDS, MAX_ORIGINS, MAX_ROBOTS, RETRY_SECONDS, RobotsCache, parse_rules
from keyhole.fetch.urls import Target, parse_target
from tests.support.fakes import Clock

SITE = "https://site.example"
Answer = bytes | str | KeyholeError


def is_allowed(text: str | bytes, path: str) -> bool:
    return parse_rules(text if isinstance(text, bytes) else text.encode()).allows(parse_target(SITE + path))


# Rules.


@pytest.mark.parametrize("agent", ["*", "Keyhole", "keyhole", "KEYHOLE/0.1", "keyhole # us"])
def test_a_group_for_keyhole_or_for_everyone_applies(agent: str) -> None:
    assert not is_allowed(f"User-agent: {agent}\nDisallow: /private", "/private/page")
    assert is_allowed(f"User-agent: {agent}\nDisallow: /private", "/public")


@pytest.mark.parametrize("agent", ["Googlebot", "Key", "KeyholeBot", "My-Keyhole", "hole"])
def test_a_group_for_other_agents_does_not_apply(agent: str) -> None:
    assert is_allowed(f"User-agent: {agent}\nDisallow: /", "/page")


def test_the_group_for_keyhole_replaces_the_one_for_everyone() -> None:
    text = "User-agent: *\nDisallow: /\n\nUser-agent: Other\nUser-agent: Keyhole\nDisallow: /only"
    assert is_allowed(text, "/page")
    assert not is_allowed(text, "/only/this")
    assert not is_allowed("User-agent: Keyhole\nDisallow: /\n\nUser-agent: *\nDisallow:", "/page")


def test_groups_of_the_same_agent_are_merged() -> None:
    text = "User-agent: *\nDisallow: /a\nUser-agent: Other\nDisallow: /b\nUser-agent: *\nDisallow: /c"
    assert [is_allowed(text, path) for path in ("/a", "/b", "/c")] == [False, True, False]


def test_the_longest_rule_wins_and_allow_wins_a_tie() -> None:
    text = "User-agent: *\nDisallow: /docs\nAllow: /docs/open\nDisallow: /same\nAllow: /same"
    assert [is_allowed(text, path) for path in ("/docs/x", "/docs/open/x", "/same")] == [False, True, True]


def test_stars_and_end_marks_are_supported() -> None:
    text = "User-agent: *\nDisallow: /*?session=\nDisallow: /*.pdf$"
    assert [is_allowed(text, p) for p in ("/a?session=1", "/a.pdf", "/a.pdf?x")] == [False, False, True]


@pytest.mark.parametrize("text", ["", "Disallow: /", "<html>not found</html>", "User-agent: *\nDisallow:", b"\xff\x00"])
def test_a_file_without_rules_allows_everything(text: str | bytes) -> None:
    assert is_allowed(text, "/page")


def test_a_byte_order_mark_and_all_line_endings_are_accepted() -> None:
    assert not is_allowed(b"\xef\xbb\xbfUser-agent: *\r\rDisallow: /\r\n", "/page")


def test_rules_after_the_first_500_kib_are_ignored() -> None:
    assert is_allowed("#" * MAX_ROBOTS + "\nUser-agent: *\nDisallow: /", "/page")


def test_a_rule_that_the_limit_cuts_is_ignored() -> None:
    start = "User-agent: *\nDisallow: /kept\n#"
    text = start + "x" * (MAX_ROBOTS - len(start) - 12) + "\nDisallow: /private"
    assert text[:MAX_ROBOTS].endswith("\nDisallow: /")
    assert is_allowed(text, "/page")
    assert not is_allowed(text, "/kept")


@pytest.mark.parametrize(
    "text",
    [
        "".join(f"User-agent: bot{n}\n" for n in range(15_000)) + "Disallow: /x*\n" * 15_000,
        "User-agent: *\n" + "".join(f"Disallow: /{n}*a*b\n" for n in range(25_000)),
        "User-agent: *\nDisallow: /" + "*a" * 100_000 + "b",
        "User-agent: *\n" * 30_000 + "Disallow: /",
    ],
    ids=["many agents", "many rules", "many stars", "one agent again and again"],
)
def test_a_hostile_file_is_parsed_in_bounded_time(text: str) -> None:
    began = time.perf_counter()
    is_allowed(text, "/" + "a" * 8_000)
    assert time.perf_counter() - began < 5


# Requests and the cache.


class Site:
    """Answers requests for robots.txt; a string is a redirect, an error is raised."""

    def __init__(self, answers: dict[str, Answer]) -> None:
        self.answers = answers
        self.requests: list[str] = []
        self.gate = asyncio.Event()
        self.gate.set()

    async def fetch(self, target: Target) -> bytes | Target:
        self.requests.append(target.url)
        await self.gate.wait()
        answer = self.answers.get(target.url, status(404))
        if isinstance(answer, KeyholeError):
            raise answer
        return parse_target(answer) if isinstance(answer, str) else answer


def status(code: int) -> KeyholeError:
    return KeyholeError(Code.HTTP_STATUS, f"HTTP {code}", status=code)


CLOSED = b"User-agent: *\nDisallow: /"
ROBOTS = f"{SITE}/robots.txt"


async def verdict(cache: RobotsCache, url: str = f"{SITE}/page") -> Code | None:
    try:
        await cache.check(parse_target(url))
    except KeyholeError as error:
        return error.code
    return None


def test_a_disallowed_page_is_refused() -> None:
    async def run() -> None:
        cache = RobotsCache(Site({ROBOTS: CLOSED}).fetch, Clock())
        with pytest.raises(KeyholeError) as caught:
            await cache.check(parse_target(f"{SITE}/page"))
        assert caught.value.code is Code.ROBOTS_DISALLOWED
        assert "site.example" in caught.value.message

    asyncio.run(run())


def test_robots_txt_is_requested_once_a_day_for_each_origin() -> None:
    async def run() -> None:
        clock, site = Clock(), Site({ROBOTS: CLOSED})
        cache = RobotsCache(site.fetch, clock)
        for _ in range(3):
            assert await verdict(cache) is Code.ROBOTS_DISALLOWED
        assert await verdict(cache, "https://site.example:8443/page") is None
        assert site.requests == [ROBOTS, "https://site.example:8443/robots.txt"]
        clock.advance(FRESH_SECONDS)
        site.answers[ROBOTS] = b""
        assert await verdict(cache) is None
        assert len(site.requests) == 3

    asyncio.run(run())


def test_a_redirect_of_robots_txt_away_from_the_sites_of_the_call_is_not_followed() -> None:
    async def run() -> None:
        site = Site({ROBOTS: "https://other.example/robots.txt", "https://other.example/robots.txt": CLOSED})
        cache, page = RobotsCache(site.fetch, Clock()), parse_target(f"{SITE}/page")
        await cache.check(page, lambda url: url.startswith(SITE))
        assert site.requests == [ROBOTS]
        assert await verdict(cache) is Code.ROBOTS_DISALLOWED, "a call without sites follows it"

    asyncio.run(run())


def test_a_call_with_sites_does_not_take_the_rules_from_a_concurrent_call_without() -> None:
    async def run() -> None:
        site = Site({ROBOTS: "https://other.example/robots.txt", "https://other.example/robots.txt": CLOSED})
        site.gate.clear()
        cache, page = RobotsCache(site.fetch, Clock()), parse_target(f"{SITE}/page")
        limited = asyncio.create_task(cache.check(page, lambda url: url.startswith(SITE)))
        free = asyncio.create_task(verdict(cache))
        await asyncio.sleep(0)
        site.gate.set()
        await limited
        assert await free is Code.ROBOTS_DISALLOWED
        assert site.requests.count("https://other.example/robots.txt") == 1

    asyncio.run(run())


def test_concurrent_calls_share_one_request_that_survives_the_cancellation_of_one() -> None:
    async def run() -> None:
        site = Site({ROBOTS: CLOSED})
        site.gate.clear()
        cache = RobotsCache(site.fetch, Clock())
        calls = [asyncio.create_task(verdict(cache)) for _ in range(5)]
        await asyncio.sleep(0)
        calls[0].cancel()
        await asyncio.sleep(0)
        site.gate.set()
        found = await asyncio.gather(*calls, return_exceptions=True)
        assert isinstance(found[0], asyncio.CancelledError)
        assert found[1:] == [Code.ROBOTS_DISALLOWED] * 4
        assert site.requests == [ROBOTS]

    asyncio.run(run())


@pytest.mark.parametrize(
    "answer", [status(404), status(403), status(410), KeyholeError(Code.LOGIN_REQUIRED, "", status=401)]
)
def test_a_site_without_robots_txt_allows_everything_for_a_day(answer: KeyholeError) -> None:
    async def run() -> None:
        clock, site = Clock(), Site({ROBOTS: answer})
        cache = RobotsCache(site.fetch, clock)
        assert await verdict(cache) is None
        clock.advance(FRESH_SECONDS - 1)
        assert await verdict(cache) is None
        assert site.requests == [ROBOTS]

    asyncio.run(run())


@pytest.mark.parametrize(
    "answer", [status(500), status(503), KeyholeError(Code.TIMEOUT, "late"), KeyholeError(Code.PROTOCOL_ERROR, "broke")]
)
def test_a_failing_robots_txt_blocks_nothing_and_is_soon_requested_again(answer: KeyholeError) -> None:
    async def run() -> None:
        clock, site = Clock(), Site({ROBOTS: answer})
        cache = RobotsCache(site.fetch, clock)
        assert await verdict(cache) is None
        assert await verdict(cache) is None
        assert site.requests == [ROBOTS]
        site.answers[ROBOTS] = CLOSED
        clock.advance(RETRY_SECONDS)
        assert await verdict(cache) is Code.ROBOTS_DISALLOWED

    asyncio.run(run())


def test_cached_rules_stay_in_force_while_robots_txt_fails() -> None:
    async def run() -> None:
        clock, site = Clock(), Site({ROBOTS: CLOSED})
        cache = RobotsCache(site.fetch, clock)
        await verdict(cache)
        site.answers[ROBOTS] = status(500)
        clock.advance(FRESH_SECONDS)
        assert await verdict(cache) is Code.ROBOTS_DISALLOWED

    asyncio.run(run())


@pytest.mark.parametrize("code", [Code.BLOCKED_ADDRESS, Code.DNS_FAILURE, Code.CONNECT_FAILURE, Code.TLS_FAILURE])
def test_an_unreachable_origin_is_reported_and_not_cached(code: Code) -> None:
    async def run() -> None:
        site = Site({ROBOTS: KeyholeError(code, "no")})
        cache = RobotsCache(site.fetch, Clock())
        assert [await verdict(cache) for _ in range(2)] == [code] * 2
        assert len(site.requests) == 2

    asyncio.run(run())


def test_five_redirects_are_followed_and_an_unreachable_target_blocks_nothing() -> None:
    async def run() -> None:
        hops: dict[str, Answer] = {ROBOTS: f"{SITE}/1", **{f"{SITE}/{n}": f"{SITE}/{n + 1}" for n in range(1, 5)}}
        assert await verdict(RobotsCache(Site(hops | {f"{SITE}/5": CLOSED}).fetch, Clock())) is Code.ROBOTS_DISALLOWED
        far = Site(hops | {f"{SITE}/5": f"{SITE}/6", f"{SITE}/6": CLOSED})
        assert await verdict(RobotsCache(far.fetch, Clock())) is None
        assert len(far.requests) == 6
        inside: dict[str, Answer] = {
            ROBOTS: "http://10.0.0.1/",
            "http://10.0.0.1/": KeyholeError(Code.BLOCKED_ADDRESS, "no"),
        }
        assert await verdict(RobotsCache(Site(inside).fetch, Clock())) is None

    asyncio.run(run())


def test_rules_behind_a_redirect_from_http_to_https_apply_to_both() -> None:
    async def run() -> None:
        site = Site({"http://site.example/robots.txt": ROBOTS, ROBOTS: CLOSED})
        cache = RobotsCache(site.fetch, Clock())
        assert await verdict(cache, "http://site.example/page") is Code.ROBOTS_DISALLOWED
        assert await verdict(cache) is Code.ROBOTS_DISALLOWED
        assert len(site.requests) == 2

    asyncio.run(run())


def test_a_limited_number_of_origins_is_cached() -> None:
    async def run() -> None:
        site = Site({})
        cache = RobotsCache(site.fetch, Clock())
        for n in range(MAX_ORIGINS + 1):
            await verdict(cache, f"https://site{n}.example/")
        await verdict(cache, "https://site1.example/")
        assert len(site.requests) == MAX_ORIGINS + 1
        await verdict(cache, "https://site0.example/")
        assert len(site.requests) == MAX_ORIGINS + 2

    asyncio.run(run())


def test_a_limited_number_of_characters_is_cached() -> None:
    rules = ("User-agent: *\n" + f"Disallow: /{'a' * 4_000}\n" * 120).encode()

    async def run() -> None:
        site = Site({f"https://site{n}.example/robots.txt": rules for n in range(12)})
        cache = RobotsCache(site.fetch, Clock())
        for n in range(12):
            await verdict(cache, f"https://site{n}.example/")
        await verdict(cache, "https://site11.example/")
        assert len(site.requests) == 12
        await verdict(cache, "https://site0.example/")
        assert len(site.requests) == 13

    asyncio.run(run())


def test_a_hanging_robots_txt_takes_at_most_a_share_of_the_deadline() -> None:
    async def run() -> float:
        site = Site({ROBOTS: CLOSED})
        site.gate.clear()
        start = asyncio.get_running_loop().time()
        assert await verdict(RobotsCache(site.fetch, Clock(), timeout=0.6)) is None
        return asyncio.get_running_loop().time() - start

    assert asyncio.run(run()) < 0.5


def test_closing_cancels_a_hanging_request(recwarn: pytest.WarningsRecorder) -> None:
    async def run() -> None:
        site = Site({})
        site.gate.clear()
        cache = RobotsCache(site.fetch, Clock())
        call = asyncio.create_task(verdict(cache))
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        await cache.aclose()
        with pytest.raises(asyncio.CancelledError):
            await call

    asyncio.run(run())
