"""Worker processes answer, end and are replaced, and no page harms the server or another page."""

from __future__ import annotations

import asyncio
import os
import re
import subprocess
import sys
import textwrap
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import TypeVar

import pytest

from keyhole.config.config import Config
from keyhole.errors import Code, KeyholeError
from keyhole.extract.workers import worker_pool as pool_module
from keyhole.extract.workers.child import extract_with_words
from keyhole.extract.workers.worker_pool import (
    BACKGROUND_NICE,
    LIGHT_SECONDS,
    MAX_LIGHT_BYTES,
    READER,
    WALL_FACTOR,
    WorkerPool,
)
from keyhole.records import UNDIGESTED, Document, Page
from keyhole.runtime.owner import owned_by
from tests.support.fakes import page
from tests.support.hostile_readers import AUTOGROUP

URL = "https://pages.example/a"
FIXTURES = Path(__file__).resolve().parents[3] / "fixtures"
HOSTILE = "tests.support.hostile_readers:act_on_first_word"
T = TypeVar("T")

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="limits and signals are POSIX")


def with_pool(
    act: Callable[[WorkerPool], Awaitable[T]],
    *,
    reader: str = HOSTILE,
    size: int = 2,
    timeout: float = 15.0,
    reserved: int = 0,
    spare: int = 0,
) -> T:
    """Return the result of `act` with a pool of real processes. The pool is closed afterwards."""

    async def run() -> T:
        pool = WorkerPool(Config(extract_timeout=timeout), size=size, reader=reader, reserved=reserved, spare=spare)
        try:
            return await act(pool)
        finally:
            await pool.aclose()

    return asyncio.run(run())


def read(*pages: Page, reader: str = HOSTILE, timeout: float = 15.0) -> list[Document]:
    """Return the documents of pages read one after another by one worker."""

    async def act(pool: WorkerPool) -> list[Document]:
        return [(await pool.extract(page))[0] for page in pages]

    return with_pool(act, reader=reader, size=1, timeout=timeout)


def plain(text: str) -> Page:
    return page(URL, text, "text/plain")


def worker_pid(document: Document) -> int:
    return int(re.findall(r"pid=(\d+)", document.text)[0])


def niceness(document: Document) -> int:
    return int(re.findall(r"nice=(\d+)", document.text)[0])


def has_ended(pid: int) -> bool:
    """Return whether a process ends within five seconds."""
    until = time.monotonic() + 5
    while time.monotonic() < until:
        try:
            os.kill(pid, 0)
        except ProcessLookupError:
            return True
        if _is_zombie(pid):
            return True
        time.sleep(0.01)  # a process gets no signal for the child of another process
    return False


def _is_zombie(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z"
    except (FileNotFoundError, ProcessLookupError):  # another system, or the process has just ended
        return False


# Answers of workers.


def test_a_worker_extracts_the_same_document_as_the_server_for_every_fixture() -> None:
    pages = [
        page(f"https://pages.example/{path.name}", path.read_bytes(), "")
        for path in sorted(FIXTURES.rglob("*"))
        if path.is_file()
    ]

    async def act(pool: WorkerPool) -> list[object]:
        return await asyncio.gather(*(pool.extract(page) for page in pages), return_exceptions=True)

    answers = with_pool(act, reader=READER)
    assert len(pages) > 80
    for sent, answer in zip(pages, answers, strict=True):
        try:
            expected = extract_with_words(sent.body, sent.url, sent.content_type)
        except KeyholeError as error:
            assert isinstance(answer, KeyholeError), sent.url
            assert (answer.code, answer.message, answer.facts) == (error.code, error.message, error.facts)
        else:
            assert answer == expected, sent.url


def test_all_characters_even_lone_surrogates_pass_through_the_pipe() -> None:
    async def act(pool: WorkerPool) -> tuple[Document, str]:
        return await pool.extract(page(URL, "x"))

    document, words = with_pool(act, reader="tests.support.hostile_readers:surrogates")
    assert document == Document(
        "\ud800 title", "a\udfff\ud83d\ude00 😀 \x00 \u202e é\n", "text/plain", removed=(("x", 2),)
    )
    assert words == "é \udc80"


def test_a_body_of_20_mb_passes_in_both_directions() -> None:
    text = "é" * 10_000_000
    (document,) = read(plain(text), reader="tests.support.hostile_readers:echo")
    assert document.text == text


def test_many_pages_are_read_by_one_worker_until_it_is_replaced() -> None:
    async def act(pool: WorkerPool) -> list[int]:
        return [worker_pid((await pool.extract(plain("tell")))[0]) for _ in range(205)]

    pids = with_pool(act, size=1)
    assert len(set(pids[:200])) == 1
    assert len(set(pids)) == 2
    assert all(has_ended(pid) for pid in pids)


def test_a_worker_is_reused_after_a_page_with_an_error_code() -> None:
    async def act(pool: WorkerPool) -> tuple[int, KeyholeError, int]:
        before = worker_pid((await pool.extract(plain("tell")))[0])
        with pytest.raises(KeyholeError) as caught:
            await pool.extract(page(URL, b"\x7fELF\0\0", "application/octet-stream"))
        return before, caught.value, worker_pid((await pool.extract(plain("tell")))[0])

    before, error, after = with_pool(act, size=1)
    assert error.code is Code.UNSUPPORTED_MEDIA
    assert error.facts == {"bytes": 6}
    assert before == after


def test_a_worker_is_reused_after_an_unexpected_exception() -> None:
    async def act(pool: WorkerPool) -> tuple[int, Document, int]:
        before = worker_pid((await pool.extract(plain("tell")))[0])
        harmed, _ = await pool.extract(plain("raise words of the page"))
        return before, harmed, worker_pid((await pool.extract(plain("tell")))[0])

    before, harmed, after = with_pool(act, size=1)
    assert harmed.text == "raise words of the page"
    assert "a fault of a library" not in harmed.notice  # the message may quote the page
    assert before == after


def test_a_worker_inherits_no_environment_and_no_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("A_SECRET", "1")
    (document,) = read(plain("tell"))
    *_, leader, environment = document.text.split()
    assert leader == "leader=True"
    assert environment in {"environment=", "environment=LC_CTYPE"}  # the interpreter sets it where the locale is C


def test_output_of_a_library_does_not_reach_the_pipe() -> None:
    documents = read(plain("print this"), plain("and this"))
    assert [document.text for document in documents] == ["print this", "and this"]


# Pages that do harm.


@pytest.mark.parametrize(
    ("word", "reason"),
    [
        ("loop", "took more than 0.7 s of processor time"),
        ("regex", "took more than 0.7 s of processor time"),
        ("memory", "took more memory than is allowed"),
        ("hoard", "took more memory than is allowed"),
        ("exit", "ended unexpectedly"),
        ("segv", "ended unexpectedly"),
        ("raise", "failed (ZeroDivisionError)"),
        ("garbage", "ended unexpectedly"),
        ("endless", "produced more text than is allowed"),
    ],
)
def test_a_page_that_harms_its_worker_is_salvaged_and_the_next_is_read(
    word: str, reason: str, caplog: pytest.LogCaptureFixture
) -> None:
    harmed, after = read(plain(f"{word} words of the page"), plain("the next"), timeout=0.7 if "0.7" in reason else 15)
    assert harmed.text == f"{word} words of the page"
    assert (harmed.notice, harmed.cut) == (UNDIGESTED, True)
    assert f"a page of pages.example could not be read: reading {reason}" in caplog.text
    assert after.text == "the next"
    assert after.notice == ""


def test_a_slow_page_does_not_block_other_pages() -> None:
    async def act(pool: WorkerPool) -> bool:
        await asyncio.gather(*(pool.extract(plain("tell")) for _ in range(2)))
        slow_call = asyncio.create_task(pool.extract(plain("regex")))
        for _ in range(10):
            await pool.extract(plain("a small page"))
        done = slow_call.done()
        slow_call.cancel()
        return done

    assert not with_pool(act)


def test_a_light_page_does_not_wait_behind_heavy_ones() -> None:
    async def act(pool: WorkerPool) -> list[bool]:
        await asyncio.gather(*(pool.extract(plain("tell")) for _ in range(2)))
        slow_calls = [asyncio.create_task(pool.extract(plain("regex " + "x" * MAX_LIGHT_BYTES))) for _ in range(3)]
        await asyncio.sleep(0)
        await pool.extract(plain("a small page"))
        done = [slow_call.done() for slow_call in slow_calls]
        for slow_call in slow_calls:
            slow_call.cancel()
        return done

    assert with_pool(act, reserved=1) == [False] * 3


def test_a_light_page_takes_any_worker_that_is_free() -> None:
    async def act(pool: WorkerPool) -> float:
        await asyncio.gather(*(pool.extract(plain("tell")) for _ in range(3)))
        slow_calls = [asyncio.create_task(pool.extract(plain("regex"))) for _ in range(2)]
        await asyncio.sleep(0)
        start = time.perf_counter()
        await pool.extract(plain("a small page"))
        elapsed = time.perf_counter() - start
        for slow_call in slow_calls:
            slow_call.cancel()
        return elapsed

    assert with_pool(act, reserved=1) < LIGHT_SECONDS


def test_heavy_pages_get_their_turn_among_light_ones() -> None:
    async def act(pool: WorkerPool) -> list[int]:
        done: list[int] = []

        async def one(number: int, text: str) -> None:
            await pool.extract(plain(text))
            done.append(number)

        heavy = "x" * (MAX_LIGHT_BYTES + 1)
        await asyncio.gather(*(pool.extract(plain("light")) for _ in range(2)))  # both workers have started
        await asyncio.gather(*(one(number, heavy if number == 2 else "light") for number in range(300)))
        return done

    # If the heavy page had to wait for all light pages, it would be the last.
    assert with_pool(act, size=1, reserved=1).index(2) < 290


def test_a_slow_light_page_is_read_again_with_the_full_time_limit(
    caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def act(pool: WorkerPool) -> tuple[Document, float]:
        start = time.perf_counter()
        document, _ = await pool.extract(plain("loop"))
        return document, time.perf_counter() - start

    monkeypatch.setattr(pool_module, "LIGHT_SECONDS", light := 0.5)
    timeout = light + 0.3
    document, elapsed = with_pool(act, reserved=1, size=1, timeout=timeout)
    assert document.notice == UNDIGESTED
    assert f"took more than {timeout:g} s" in caplog.text
    assert elapsed > light + timeout


def test_time_in_which_a_worker_does_not_run_does_not_count(caplog: pytest.LogCaptureFixture) -> None:
    (document,) = read(plain("pause for longer than the limit"), timeout=0.3)
    assert (document.text, document.notice) == ("pause for longer than the limit", "")
    assert not caplog.records


def test_a_wait_for_a_worker_does_not_count() -> None:
    async def act(pool: WorkerPool) -> list[Document]:
        return [each for each, _ in await asyncio.gather(*(pool.extract(plain(f"pause {n}")) for n in range(3)))]

    documents = with_pool(act, size=1, timeout=0.3)
    assert [document.notice for document in documents] == [""] * 3


def test_a_worker_that_waits_for_ever_is_killed_after_a_longer_time(caplog: pytest.LogCaptureFixture) -> None:
    (document,) = read(plain("wait"), timeout=0.1)
    assert document.notice == UNDIGESTED
    assert f"reading took more than {0.1 * WALL_FACTOR:g} s" in caplog.text


def test_pages_wait_in_the_order_in_which_they_came() -> None:
    async def act(pool: WorkerPool) -> list[int]:
        done: list[int] = []

        async def one(number: int) -> None:
            await pool.extract(plain(f"page {number}"))
            done.append(number)

        await asyncio.gather(*(one(number) for number in range(10)))
        return done

    assert with_pool(act, size=1) == list(range(10))


@pytest.mark.parametrize("size", [10, MAX_LIGHT_BYTES])
def test_a_page_of_another_owner_does_not_wait_for_the_pages_of_a_busy_one(size: int) -> None:
    async def act(pool: WorkerPool) -> list[bool]:
        with owned_by("busy"):
            slow_calls = [asyncio.create_task(pool.extract(plain("regex " + "x" * size))) for _ in range(5)]
        await asyncio.sleep(0)
        with owned_by("other"):
            await pool.extract(plain("tell " + "x" * size))
        running = [not slow_call.done() for slow_call in slow_calls]
        for slow_call in slow_calls:
            slow_call.cancel()
        return running

    assert with_pool(act, reserved=1, spare=1) == [True] * 5


def test_a_further_page_of_an_owner_is_read_with_lower_priority() -> None:
    async def act(pool: WorkerPool) -> list[int]:
        async def one(owner: str) -> int:
            with owned_by(owner):
                return niceness((await pool.extract(plain("tell")))[0])

        together = await asyncio.gather(one("a"), one("a"), one("b"))
        return [each - os.nice(0) for each in (*together, await one("a"))]

    assert with_pool(act, size=3, spare=1) == [0, BACKGROUND_NICE, 0, 0]
    assert with_pool(act, size=3) == [0, 0, 0, 0]


@pytest.mark.skipif(not AUTOGROUP.exists(), reason="processes are not grouped by session")
def test_the_lower_priority_applies_to_the_session_of_a_worker() -> None:
    async def act(pool: WorkerPool) -> list[str]:
        documents = await asyncio.gather(*(pool.extract(plain("tell")) for _ in range(2)))
        return [re.findall(r"group=(\S*)", document.text)[0] for document, _ in documents]

    assert with_pool(act, size=3, reserved=1, spare=1) == ["0", str(BACKGROUND_NICE)]


@pytest.mark.parametrize(("size", "spare", "expected"), [(2, 1, 1), (3, 1, 2), (2, 0, 3)])
def test_a_server_for_several_owners_leaves_a_processor_free_of_the_light_pages_of_one(
    size: int, spare: int, expected: int
) -> None:
    async def act(pool: WorkerPool) -> int:
        calls = [asyncio.create_task(pool.extract(plain("regex"))) for _ in range(5)]
        await asyncio.sleep(0)
        busy = len(pool._busy)
        for call in calls:
            call.cancel()
        return busy

    assert with_pool(act, size=size, reserved=1, spare=spare) == expected


def test_the_number_of_idle_workers_is_limited() -> None:
    async def act(pool: WorkerPool) -> int:
        for owners in ("ab", "ca", "bc", "aa", "bb", "cc") * 2:
            calls = []
            for owner in owners:
                with owned_by(owner):
                    calls.append(asyncio.create_task(pool.extract(plain("tell"))))
            await asyncio.gather(*calls)
        return len(pool._idle)

    assert with_pool(act, size=1, spare=1) <= 3


def test_a_cancelled_call_ends_at_once_and_so_does_its_worker() -> None:
    async def act(pool: WorkerPool) -> tuple[int, float]:
        worker = worker_pid((await pool.extract(plain("tell")))[0])
        start = time.perf_counter()
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.3):
                await pool.extract(plain("regex"))
        return worker, time.perf_counter() - start

    worker, elapsed = with_pool(act, size=1)
    assert elapsed < 1.5
    assert has_ended(worker)


def test_a_worker_of_a_call_cancelled_at_its_start_serves_the_next_call() -> None:
    async def act(pool: WorkerPool) -> Document:
        pool.warm()
        call = asyncio.create_task(pool.extract(plain("never sent")))
        await asyncio.sleep(0)
        call.cancel()
        return (await pool.extract(plain("read")))[0]

    assert with_pool(act, size=1).text == "read"


def test_an_idle_worker_that_died_is_replaced() -> None:
    async def act(pool: WorkerPool) -> tuple[int, int]:
        first = worker_pid((await pool.extract(plain("tell")))[0])
        os.kill(first, 9)
        assert has_ended(first)
        while pool._idle[0].is_alive:  # noqa: ASYNC110 - the event loop detects the death later
            await asyncio.sleep(0)
        return first, worker_pid((await pool.extract(plain("tell")))[0])

    first, second = with_pool(act, size=1)
    assert first != second


def test_a_worker_that_cannot_start_gives_an_error_code() -> None:
    with pytest.raises(KeyholeError) as caught:
        read(plain("x"), reader="no_such_module:read")
    assert caught.value.code is Code.EXTRACTION_FAILED
    assert "could not be started" in caught.value.message


# Replacement and closing.


def test_a_lost_worker_is_replaced_before_the_next_page_comes() -> None:
    async def act(pool: WorkerPool) -> int:
        await pool.extract(plain("exit"))
        return len(pool._idle)

    assert with_pool(act, size=1) == 1


def test_closing_does_not_wait_for_a_page_that_is_being_read() -> None:
    async def act(pool: WorkerPool) -> tuple[float, int, Code, list[object]]:
        worker = worker_pid((await pool.extract(plain("tell")))[0])
        call = asyncio.create_task(pool.extract(plain("regex")))
        await asyncio.sleep(0.1)
        start = time.perf_counter()
        await pool.aclose()
        elapsed = time.perf_counter() - start
        with pytest.raises(KeyholeError) as caught:
            await call
        return elapsed, worker, caught.value.code, list(pool._idle)

    elapsed, worker, code, replacements = with_pool(act)
    assert elapsed < 2
    assert has_ended(worker)
    assert code is Code.EXTRACTION_PENDING  # not the undigested text, since another attempt may succeed
    assert replacements == []


def test_a_closed_pool_has_no_processes_left_even_while_they_start() -> None:
    async def act(pool: WorkerPool) -> int:
        worker = worker_pid((await pool.extract(plain("tell")))[0])
        await pool.aclose()
        pool.warm()
        return worker

    assert has_ended(with_pool(act))


@pytest.mark.parametrize("word", ["idle", "loop", "regex"])
def test_workers_die_with_a_server_that_is_killed(word: str) -> None:
    if sys.platform != "linux" and word != "idle":
        pytest.skip("elsewhere the limit on processor time ends them")
    script = f"""
        import asyncio, sys
        from tests.support.fakes import page
        from keyhole.config.config import Config
        from keyhole.extract.workers.worker_pool import WorkerPool

        async def main():
            pool = WorkerPool(Config(extract_timeout=600), reader={HOSTILE!r})
            document, _ = await pool.extract(page("https://a.example/", "tell", "text/plain"))
            print(document.text, flush=True)
            await pool.extract(page("https://a.example/", {word!r} + " on", "text/plain"))
            await asyncio.Event().wait()

        asyncio.run(main())
    """
    command = [sys.executable, "-c", textwrap.dedent(script)]
    environment = {"PYTHONPATH": os.pathsep.join(entry for entry in sys.path if entry)}
    with subprocess.Popen(command, stdout=subprocess.PIPE, env=environment, text=True) as server:
        assert server.stdout
        worker = int(re.findall(r"pid=(\d+)", server.stdout.readline())[0])
        time.sleep(0.3)  # the page is being read
        server.kill()
    assert has_ended(worker)


def test_extract_with_words_returns_the_document_of_extract() -> None:
    from keyhole.extract import extract

    document, _ = extract_with_words(b"# A\n\nwords\n", URL, "text/markdown")
    assert document == extract(b"# A\n\nwords\n", url=URL, content_type="text/markdown")


def test_freed_memory_is_returned_once_when_no_page_was_read_for_a_while(monkeypatch: pytest.MonkeyPatch) -> None:
    returned: list[float] = []

    async def act(pool: WorkerPool) -> float:
        is_returned, loop = asyncio.Event(), asyncio.get_running_loop()

        def record() -> None:
            returned.append(time.monotonic())
            loop.call_soon_threadsafe(is_returned.set)

        monkeypatch.setattr("keyhole.extract.workers.worker_pool.TRIM_DELAY", 0.05)
        monkeypatch.setattr("keyhole.extract.workers.worker_pool.return_free_memory", record)
        await pool.extract(plain("tell"))
        last = time.monotonic()
        await is_returned.wait()
        return last

    assert with_pool(act) < returned[-1]
    assert len(returned) == 1
