"""Bounding an output: unchanged if it is small, otherwise stored whole and shown in part."""

import asyncio
import re
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

import keyhole
from keyhole.errors import Code, KeyholeError
from keyhole.outputs.bound import BUDGET, MIN_BUDGET, bound, read_and_keep
from keyhole.outputs.keep import IndexWords, KeptText
from keyhole.outputs.large_output import bound_blocks
from keyhole.outputs.read import terminal_text
from keyhole.store.sqlite.store import MemoryStore
from keyhole.text.output_facts import OutputFacts
from tests.support.fakes import Clock
from tests.support.product import SECRET, retrieval

BUILD = (
    "".join(f"[{number}/900] Building module_{number}.o\n" for number in range(900))
    + "src/main.c:14:9: error: 'count' undeclared (first use in this function)\nmake: *** [Makefile:3: all] Error 1\n"
)


def test_a_small_output_passes_unchanged() -> None:
    text = "\x1b[31mred\x1b[0m\r\n" * 20
    assert bound(text).text == text
    assert bound(text.encode()).text == text


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16"])
def test_bytes_are_decoded_in_the_same_way_whether_they_fit_or_not(encoding: str) -> None:
    small, large = "naïve\n", "naïve line\n" * 500
    assert bound(small.encode(encoding)).text == small
    assert "naïve line\nnaïve line" in bound(large.encode(encoding)).text


def test_a_large_output_shows_its_failure_within_the_budget() -> None:
    bounded = bound(BUILD, budget=1_000, command="make -j4")
    assert len(bounded.text) <= 1_000
    assert bounded.kind == "compiler"
    assert "error: 'count' undeclared" in bounded.text
    assert bounded.text.startswith("Output of `make -j4` (compiler output): ")
    assert bounded.id is None
    assert "Next:" not in bounded.text


def test_a_stored_output_is_read_on_by_the_call_that_its_last_lines_name() -> None:
    product = retrieval({})
    bounded = bound(BUILD, command="make", store=product.store, secret=SECRET, now=product.pages.clock())
    id, offset, limit = re.findall(
        r'^Next: read_artifact\(id="(\w+)", offset=(\d+), limit=(\d+)\)$', bounded.text, re.M
    )[0]
    assert id == bounded.id
    answer = asyncio.run(product.read_artifact(id, int(offset), int(limit)))
    assert BUILD[int(offset) : int(offset) + 500] in answer.text
    assert product.store.get(id).text == BUILD


def test_the_named_call_reads_on_where_most_is_left_out() -> None:
    bounded = bound(BUILD, command="make", store=retrieval({}).store, secret=SECRET)
    start, end = max(bounded.omitted, key=lambda gap: gap[1] - gap[0])
    assert f"offset={start}, limit={min(8_000, end - start)}" in bounded.text


def test_the_command_its_exit_status_and_its_folder_are_stored_with_the_output() -> None:
    store = retrieval({}).store
    bounded = bound(BUILD, command="make -j4", exit_status=2, folder="/src/app", store=store, secret=SECRET)
    artifact = store.get(str(bounded.id))
    assert (artifact.title, artifact.url) == ("make -j4", "output:compiler")
    assert artifact.notes == (("command", "make -j4"), ("exit", "2"), ("folder", "/src/app"))
    assert bounded.text.startswith("Output of `make -j4` (compiler output), exit status 2: ")


def test_a_secret_of_the_command_is_in_no_line_and_no_fact_but_stays_in_the_stored_text() -> None:
    store, text = retrieval({}).store, "password=hunter2\n" * 400
    bounded = bound(text, command="cat .env --token hunter3", store=store, secret=SECRET)
    artifact = store.get(str(bounded.id))
    assert "hunter3" not in f"{bounded.text} {artifact.title} {artifact.notes}"
    assert bounded.text.startswith("Output of `cat .env --token ***` (")
    assert artifact.text == text


def test_the_first_line_names_the_file_and_counts_its_lines() -> None:
    text = "a line\n" * 1_000
    assert bound(text, name="a.log").text.startswith("Output of `a.log` (log): 7,000 characters in 1,000 lines, ")
    assert " in 1,001 lines, " in bound(text + "b").text


@pytest.mark.parametrize("exit_status", [0, None])
def test_a_command_that_did_not_fail_shows_no_exit_status(exit_status: int | None) -> None:
    assert "exit status" not in bound(BUILD, command="make", exit_status=exit_status).text


def test_shown_and_omitted_ranges_together_are_the_stored_text() -> None:
    product = retrieval({})
    bounded = bound(BUILD, store=product.store, secret=SECRET)
    whole = product.store.get(str(bounded.id)).text
    pieces = re.split(r"\n?\[…\d+:\d+\]\n", bounded.text)
    assert bounded.total == len(whole)
    assert all(f"[…{start}:{end}]" in bounded.text for start, end in bounded.omitted)
    assert sum(end - start for start, end in bounded.omitted) < len(whole)
    assert pieces


@pytest.mark.parametrize("arguments", [{"budget": MIN_BUDGET - 1}, {"kind": "poem"}])
def test_a_wrong_argument_is_named(arguments: dict[str, object]) -> None:
    with pytest.raises(KeyholeError) as caught:
        bound(BUILD, **arguments)  # type: ignore[arg-type]
    assert caught.value.code is Code.INVALID_ARGUMENT


def test_the_package_exports_bound() -> None:
    assert keyhole.bound is bound


@given(
    st.lists(
        st.sampled_from(["ERROR x", "E   y", "line", "z" * 700, "\x1b[1mbold", "10%\r20%", "语" * 99]), max_size=80
    ),
    st.integers(MIN_BUDGET, 1_500),
    st.sampled_from([None, "error line"]),
    st.text(max_size=200),
)
def test_every_result_fits_its_budget_and_is_the_same_each_time(
    lines: list[str], budget: int, query: str | None, command: str
) -> None:
    output = "\n".join(lines)
    bounded = bound(output, budget=budget, query=query, command=command)
    assert len(bounded.text) <= budget
    assert bounded.text == bound(output, budget=budget, query=query, command=command).text
    if len(output) > budget:
        assert bounded.text.endswith("\n[end]")
        assert bounded.total == len(terminal_text(output))


def test_an_output_that_is_read_once_is_bounded_within_several_sizes_and_stored_once() -> None:
    stored: list[KeptText] = []

    def keep(kept: KeptText, _words: Callable[[], IndexWords]) -> None:
        stored.append(kept)

    shorten = read_and_keep(BUILD, "undefined", 2_000, OutputFacts("make"), keep, SECRET, 5.0)
    for chars in (2_000, 1_000, 400):
        within = shorten(chars)
        assert len(within.text) <= chars
        assert within == bound(
            BUILD, query="undefined", budget=chars, command="make", store=MemoryStore(Clock()), secret=SECRET
        )
    assert [kept.text for kept in stored] == [BUILD]
    assert shorten(len(BUILD)).text == BUILD


def test_the_default_budget_is_the_size_up_to_which_an_output_is_left_alone() -> None:
    assert bound("x" * BUDGET).text == "x" * BUDGET
    assert len(bound("line\n" * BUDGET).text) <= BUDGET


def test_the_log_of_a_ci_run_shows_the_failure_with_its_step_and_without_the_times() -> None:
    def step(name: str, *lines: str) -> str:
        return "".join(f"build\t{name}\t2026-04-23T04:08:2{n % 10}Z {line}\n" for n, line in enumerate(lines))

    noise = [f"Get:{number} a package of the town" for number in range(200)]
    log = step("Install", "##[group]Run apt-get install", *noise)
    log += step(
        "Test", "##[group]Run pytest", *noise, "E   assert pump == well", "##[error]Process completed with exit code 1."
    )
    log += step("Post", "Post job cleanup.", *noise)
    bounded = bound(log, budget=1_000, secret=SECRET)
    assert len(bounded.text) <= 1_000
    assert "[the time of each line is left out: 2026-04-23T04:08:20Z to 2026-04-23T04:08:20Z]" in bounded.text
    assert "build › Test" in bounded.text
    assert "\nE   assert pump == well\n##[error]Process completed with exit code 1.\n" in bounded.text
    shown = bounded.text.split("---\n", 1)[1].rpartition("\n---")[0]
    position = 0
    for start, end in [*bounded.omitted, (len(log), len(log))]:
        assert log[position:start] in shown
        position = end


def test_the_first_line_says_what_the_stored_text_lacks() -> None:
    store = retrieval({}).store
    output = "".join(f"src/für{number}.py\r\n" for number in range(900)).encode("cp1252")
    for shown in (
        bound(output, budget=1_000, store=store).text,
        bound_blocks([output], None, 1_000, OutputFacts(), store=store).text,
        bound_blocks([output] * 400, None, 1_000, OutputFacts(), store=store).text,
    ):
        assert shown.split("\n")[0].endswith(" Stored with CRLF as LF, cp1252 as UTF-8.")
        assert "src/für1.py\n" in shown
    assert "Stored with" not in bound(output, budget=1_000).text


def test_many_changes_of_the_stored_text_are_counted_in_a_short_result() -> None:
    output = "word\r\n\x85\u2028\u2029\u2800\0\x01\x1b[1m\u200b" * 300
    shown = bound(output, budget=MIN_BUDGET, store=retrieval({}).store, secret=SECRET, command="make x" * 20).text
    assert re.search(r"Stored with CRLF as LF, NEL as LF, .*\d more\.", shown)
    assert len(shown) <= MIN_BUDGET
