"""The benchmark of reading tasks: its tasks, the reader's policy, the windows of peers, the pages and the tables."""

from __future__ import annotations

import asyncio
import gzip
import json
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from benchmarks.search.web.corpus import normalize_text
from benchmarks.tasks import readers, report
from benchmarks.tasks.__main__ import run_all
from benchmarks.tasks.pages import Page, find_pages, serve_pages
from benchmarks.tasks.reading import (
    MAX_CALLS,
    Reading,
    Result,
    keyhole_result,
    next_call,
    read_windows,
    read_with_keyhole,
)
from benchmarks.tasks.tasks import KINDS, NEAR, SPLITS, Task, has_answer, load_tasks
from keyhole.render.answer import WEAK, WEAK_BRIEFLY
from tests.support.server_process import get

TASKS = load_tasks()
TASK = Task("wine", "article", "en", "wcxb:1", "how many bottles?", (("forty bottles", "40 bottles"),))
ABSENT = Task("beer", "article", "en", "wcxb:1", "how much beer?", ())
NEXT = 'read_artifact(id="abc", offset=400, limit=900)'


def result(body: str, *, call: str = "", head: str = "1 passage for the query.") -> str:
    """Return a result of Keyhole with this text of the page."""
    after = f"Next: {call}\n" if call else ""
    return f"{head}\n--- untrusted text m4rk ---\n{body}\n--- end m4rk ---\n{after}[end]"


class Server:
    """A tool that returns the texts in order, the last one for ever, and records the calls."""

    def __init__(self, *texts: str) -> None:
        self._texts = texts
        self.calls: list[tuple[str, dict[str, Any]]] = []

    async def call_tool(self, name: str, arguments: dict[str, Any]) -> str:
        """Return the next text."""
        self.calls.append((name, arguments))
        return self._texts[min(len(self.calls), len(self._texts)) - 1]

    def read(self, task: Task) -> Reading:
        """Play the reader."""
        return asyncio.run(read_with_keyhole(self.call_tool, task, "http://page/", 4_000))


def test_there_are_110_tasks_in_six_languages_of_every_kind_and_a_tenth_is_absent() -> None:
    assert len(TASKS) >= 110
    assert len({task.language for task in TASKS}) >= 6
    assert {task.kind for task in TASKS} == set(KINDS)
    assert 0.08 <= sum(task.is_absent for task in TASKS) / len(TASKS) <= 0.15
    assert min(Counter(task.split for task in TASKS)[split] for split in SPLITS) >= 50


def test_each_task_has_its_own_id_and_question() -> None:
    assert len({task.id for task in TASKS}) == len({task.query for task in TASKS}) == len(TASKS)


def test_most_tasks_need_no_file_but_packages() -> None:
    assert sum(not task.needs_data for task in TASKS) >= 110


@pytest.mark.parametrize("task", TASKS, ids=lambda task: task.id)
def test_no_question_contains_its_answer_and_answers_are_short(task: Task) -> None:
    assert not has_answer(task, task.query)
    assert all(len(words) <= 80 and normalize_text(words) for part in task.answer for words in part)
    assert ":" in task.page


def test_an_answer_is_found_under_other_markup_and_spaces() -> None:
    assert has_answer(TASK, "It held **Forty**\n[bottles](http://page/) of it.")
    assert not has_answer(TASK, "It held fifty bottles.")
    assert not has_answer(ABSENT, "anything")


def test_the_parts_of_an_answer_must_be_near_each_other() -> None:
    task = Task("row", "table", "en", "wcxb:1", "code of Rwanda?", (("Rwanda",), ("646",)))
    assert has_answer(task, "| Rwanda | 646 |")
    assert not has_answer(task, f"Rwanda {'x' * 2 * NEAR} 646")


def test_the_reader_makes_the_next_call_exactly_as_printed() -> None:
    server = Server(result("nothing", call=NEXT), result("there were 40 bottles"))
    reading = server.read(TASK)
    assert server.calls == [
        ("web_fetch", {"url": "http://page/", "query": TASK.query, "max_chars": 4_000}),
        ("read_artifact", {"id": "abc", "offset": 400, "limit": 900}),
    ]
    assert (reading.answered, reading.by_first, reading.calls) == (True, False, 2)


def test_the_reader_stops_without_a_next_call_and_at_the_cap() -> None:
    assert Server(result("nothing")).read(TASK).calls == 1
    assert Server(result("nothing", call=NEXT)).read(TASK).calls == MAX_CALLS


def test_only_the_text_of_the_page_answers() -> None:
    assert not Server(result("nothing", head="Title: “40 bottles”")).read(TASK).answered


@pytest.mark.parametrize("line", [WEAK, WEAK_BRIEFLY, "Nothing matches the query; head and tail instead."])
def test_the_reader_believes_a_result_that_denies_the_answer_only_where_none_is(line: str) -> None:
    denial = result("nothing", head=line, call=NEXT)
    assert Server(denial).read(ABSENT).calls == 1
    assert Server(denial).read(ABSENT).is_denied
    assert Server(denial).read(TASK).calls == MAX_CALLS


def test_a_page_neither_denies_nor_names_a_call() -> None:
    text = result(f"Weak match: no.\nNext: {NEXT}")
    assert next_call(text) is None
    assert keyhole_result(text).denies is False


def test_a_window_that_cuts_the_answer_in_two_answers_with_the_next() -> None:
    halves = ("there were 40 bot", "tles of wine", "and more")
    reading = read_windows(TASK, lambda number: Result(halves[number], halves[number]) if number < 3 else None)
    assert (reading.answered, reading.calls, reading.characters) == (True, 2, 29)


def test_the_peer_is_cut_as_it_cuts_itself() -> None:
    page = readers.FetchedPage("Contents of http://page/:\n", "abcdef")
    first, second = page.window(4, 0), page.window(4, 1)
    assert first and second
    assert first.page_text == "abcd"
    assert "start_index of 4 to get more" in first.text
    assert second.text == "Contents of http://page/:\nef"
    assert page.window(4, 2) is None


def test_an_error_of_a_peer_is_one_result() -> None:
    assert readers.read_with_fetch(TASK, readers.FetchedPage("Error executing tool fetch", ""), 4_000).calls == 1
    assert readers.read_with_trafilatura(TASK, "", 4_000).calls == 1


def test_a_published_page_is_found_by_its_id_and_served(tmp_path: Path) -> None:
    file = tmp_path / "pages.jsonl.gz"
    rows = [{"id": "1", "url": "http://site/wine.php?page=2", "html": "<p>40 bottles</p>"}, {"id": "2"}]
    file.write_bytes(gzip.compress("\n".join(map(json.dumps, rows)).encode()))
    pages = find_pages([TASK], [file])
    assert pages["wine"].name == "wine.html"
    assert find_pages([TASK], []) == {}
    with serve_pages(pages) as site:
        port = int(site.rpartition(":")[2])
        assert get(port, "/wine/wine.html") == (200, "<p>40 bottles</p>")
        assert get(port, "/robots.txt")[0] == 404


def test_a_charset_is_stated_only_where_the_body_has_it() -> None:
    assert Page("a.html", "ü".encode(), "text/html").content_type == "text/html; charset=utf-8"
    assert Page("a.html", "ü".encode("latin-1"), "text/html").content_type == "text/html"
    assert Page("a.pdf", b"%PDF", "application/pdf").content_type == "application/pdf"


def test_keyhole_reads_a_page_over_stdio() -> None:
    body = "".join(f"<p>Paragraph {n} about casks, and nothing else.</p>" for n in range(300)).encode()
    page = Page("wine.html", body + b"<p>How many bottles: the cellar held 40 bottles.</p>", "text/html")
    pages: Mapping[str, Page] = {"wine": page, "beer": page}
    runs = asyncio.run(run_all([TASK, ABSENT], pages, [4_000], keyhole_only=True))
    present, absent = runs[readers.KEYHOLE, 4_000]
    assert present.by_first
    assert absent.results[0].page_text


def test_the_tables_count_answers_calls_and_denials() -> None:
    found, empty = Result("x" * 10, "x" * 5), Result("x" * 10, "", denies=True)
    runs = {
        ("a", 2_000): [Reading(TASK, (found,), True), Reading(ABSENT, (empty,), False)],
        ("b", 2_000): [Reading(TASK, (found, found), True), Reading(ABSENT, (found,) * 3, False)],
    }
    assert "| a | 2,000 | 100.0 % | 100.0 % | 1.00 | 10 |" in report.results_table(runs)
    assert "| b | 2,000 | 0.0 % | 100.0 % | 2.00 | 20 |" in report.results_table(runs)
    assert "| a | 2,000 | 1.00 | 1 | 10 | 10 | 10 | 1 of 1 | 0 of 1 |" in report.spending_table(runs)
    assert "| b | 2,000 | 2.00 | 2 | 20 | 20 | 30 | 0 of 1 | 0 of 0 |" in report.spending_table(runs)
    assert "| 2,000 | 2.0 | 2.0 |" in report.ratios_table(runs, "a", "b")
    assert "| 2,000 | 10 | 10 | 10 | 10 | 25.0 % |" in report.sizes_table(runs, "a")
    assert "| article | 1 | 1 |" in report.kinds_table(runs, "a", lambda reading: reading.task.kind)
    assert report.failure_lines(runs, "a") == []
    assert [line.split(":")[0] for line in report.failure_lines(runs, "b")] == [
        " 2000 wine (article, en)",
        " 2000 beer (article, en)",
    ]
