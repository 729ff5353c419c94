"""Selection of the lines of an output."""

from __future__ import annotations

import json
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from keyhole.outputs.output import Output
from keyhole.outputs.read import KINDS, read_output
from keyhole.outputs.select import select_output
from keyhole.passages.gaps import shown_part

LOG = (
    "starting the service\n"
    + "".join(f"10:00:{number:02} request {number} served in {number} ms\n" for number in range(60))
    + "10:01:00 ERROR cannot open the socket: permission denied\n"
    + "".join(f"10:02:{number:02} request {number} for /zebra/{number} served\n" for number in range(60))
    + "stopped after 120 requests\n"
)
OUTPUT = read_output(LOG, kind="log")


def test_an_output_that_fits_is_shown_whole() -> None:
    selection = select_output(OUTPUT, "anything", len(LOG))
    assert (selection.spans, selection.text) == (((0, len(LOG)),), LOG)


def test_without_a_query_the_marked_lines_are_shown_first() -> None:
    text = select_output(OUTPUT, None, 400).text
    assert "ERROR cannot open the socket" in text
    assert "starting the service" in text
    assert "stopped after 120 requests" in text


def test_a_line_without_words_is_not_shown_apart_from_the_lines_around_it() -> None:
    noise = "".join(f"unit {number} is built\n" for number in range(200))
    output = Output(text := f"{noise}{{...\n{noise}", "log", marks=((len(noise), len(noise) + 5, 1.0),))
    assert "{..." not in select_output(output, None, 400).text
    assert "{...\n" in text


def test_a_query_adds_the_passages_that_answer_it_and_keeps_the_failure() -> None:
    text = select_output(OUTPUT, "which request was for zebra 41", 900).text
    assert "/zebra/41 " in text
    assert text == select_output(OUTPUT, "  which request was for zebra 41\n", 900).text
    assert "ERROR cannot open the socket" in text


def test_the_words_of_the_command_rank_lines_if_there_is_no_query() -> None:
    lines = "".join(f"package{number} 1.{number} installed\n" for number in range(300))
    assert "package217 " in select_output(Output(lines, "log"), None, 700, command_words="package217").text


@pytest.mark.parametrize("query", [None, "zebra"])
def test_lines_that_are_nearly_adjacent_are_shown_with_what_is_between_them(query: str | None) -> None:
    text = select_output(OUTPUT, query, 800).text
    assert all(int(end) - int(start) > 10 for start, end in re.findall(r"\[…(\d+):(\d+)\]", text))


@given(
    st.lists(st.sampled_from(["ok", "ERROR x", "needle", "", "word " * 90, "语" * 40]), max_size=60),
    st.sampled_from([None, "needle", "nothing"]),
    st.integers(0, 900),
)
def test_any_selection_is_verbatim_within_its_limit_and_deterministic(
    lines: list[str], query: str | None, limit: int
) -> None:
    output = "\n".join(lines)
    read = read_output(output, kind="log")
    selection = select_output(read, query, limit)
    assert len(selection.text) <= max(limit, len(f"[…0:{len(output)}]\n"))
    assert all(output[start:end] in selection.text for start, end in selection.spans)
    assert selection == select_output(read, query, limit)


def test_lines_and_records_are_shown_whole_unless_they_are_long() -> None:
    records = [f'{{"id": {number}, "text": "{"word " * 30}needle{number}"}}' for number in range(40)]
    text = "[" + ", ".join(records) + "]"
    spans = [(text.index(record), text.index(record) + len(record)) for record in records]
    shown = select_output(Output(text, "json", records=tuple(spans)), "needle17", 900).text
    assert records[17] in shown
    lines = "".join(f"line {number} {'word ' * 20}needle{number}\n" for number in range(40))
    assert f"line 17 {'word ' * 20}needle17\n" in select_output(Output(lines, "log"), "needle17", 700).text


def test_the_matching_lines_of_several_passages_come_before_whole_passages() -> None:
    lines = "".join(
        f"{number} needle\n" if number % 50 == 7 else f"{number} other words here\n" for number in range(400)
    )
    shown = select_output(Output(lines, "log"), "needle", 420).text
    assert all(f"{number} needle\n" in shown for number in (7, 57, 107, 157, 207, 257, 307, 357))


def test_html_is_ranked_by_what_it_shows_and_shown_with_its_tags() -> None:
    script = "<script>let shutter = 'shutter speed';</script>\n" * 9
    page = f"<html>\n{script}{'<p class=shutter>other words</p>' * 60}\n<p>The <b>shutter</b> is open.</p>\n</html>\n"
    assert "<p>The <b>shutter</b> is open.</p>" in select_output(Output(page, "page"), "shutter", 500).text


@given(st.text("<script>/x \n", max_size=300))
def test_any_html_is_shown_verbatim_within_the_limit(page: str) -> None:
    shown = select_output(Output(page, "page"), "script", 120)
    assert len(shown.text) <= max(120, len(f"[…0:{len(page)}]\n"))
    assert all(page[start:end] in shown.text for start, end in shown.spans)


def test_the_lines_around_a_failure_are_shown_before_the_ends() -> None:
    lines = [f"{word} and {other}\n" for word in "abcdefghijkl" for other in "mnopqrstuvwx"]
    text = "".join([*lines[:70], "ERROR the disk is full\n", *lines[70:]])
    shown = select_output(read_output(text, kind="log"), None, 300).text
    assert "".join([*lines[67:70], "ERROR the disk is full\n", *lines[70:73]]) in shown


SAMPLE_LINES = (
    *("src/a.py:10:def run():", "src/a.py:20:    run()", "src/b.js:1:" + "x=1;" * 120),
    *("diff --git a/x.c b/x.c", "@@ -1,2 +1,2 @@", "-old", "+new", "class A:", "    def method(self):"),
    *('{"id": 1, "name": "needle"}', '{"id": 22, "name": "b"}', "a,b,c", "<h1>Title</h1><p>needle</p>"),
    *("request 1 served in 2 ms, see /srv/app/out.log", "request 33 served in 4 ms, see /srv/x"),
    *("ERROR needle lost", "E   assert 1 == 2", "语" * 40, "", "[…0:5] no mark", "[files not shown: none]"),
)


@given(
    st.lists(st.sampled_from(SAMPLE_LINES), max_size=60),
    st.sampled_from(KINDS),
    st.sampled_from([None, "needle 33", "method"]),
    st.integers(100, 1_200),
)
def test_any_kind_is_shown_as_a_summary_and_verbatim_passages_with_a_mark_for_each_omission(
    lines: list[str], kind: str, query: str | None, limit: int
) -> None:
    output = read_output("\n".join(lines), kind=kind)
    shown = select_output(output, query, limit, command_words="needle")
    assert len(shown.text) <= limit
    assert shown == select_output(output, query, limit, command_words="needle")
    text, position = shown.text, 0
    first = f"[…0:{shown.spans[0][0]}]" if shown.spans and shown.spans[0][0] else ""
    start = text.find(first) if first else text.find(shown_part(output.text, *shown.spans[0])) if shown.spans else 0
    assert all(re.fullmatch(r"\[.+\]", line) for line in text[:start].splitlines())
    rest = text[start:]
    for begin, end in [*shown.spans, (len(output.text), len(output.text))]:
        if begin > position:
            mark = re.match(rf"\n?\[…{position}:{begin}\][^\n]*\n", rest)
            assert mark, rest
            rest = rest[mark.end() :]
        assert rest.startswith(shown_part(output.text, begin, end))
        rest, position = rest[end - begin :], end
    assert rest == ""


def test_a_word_counts_more_than_a_part_of_a_longer_word() -> None:
    versions = "".join(f'    "4.0.0-beta.{number}": "2025-05-{number:02}"\n' for number in range(1, 31))
    output = Output(f'{{\n{versions}    "4.0.0": "2025-07-09"\n}}\n', "log")
    assert '"4.0.0": "2025-07-09"' in select_output(output, "when was 4.0.0 released", 400).text


def test_a_line_that_opens_a_record_of_json_is_shown_with_the_first_values() -> None:
    packages = {f"modules/p{number}": {"url": "x" * 300, "peers": {"vite": "^6"}} for number in range(40)}
    packages["modules/vite"] = {"version": "8.3.8", "url": "x" * 1_000}
    output = read_output(json.dumps({"packages": packages}, indent=2))
    assert '"modules/vite": {\n      "version": "8.3.8"' in select_output(output, "version of vite", 1_000).text


def test_a_changed_line_of_a_diff_is_shown_with_the_line_that_replaces_it() -> None:
    hunks = "".join(
        f"@@ -{number}0 +{number}0 @@\n same\n-old_{number} = 1\n+new_{number} = 2\n" for number in range(90)
    )
    output = read_output(f"--- a/x.py\n+++ b/x.py\n{hunks}")
    for query in ("old_41", "new_41"):
        assert "-old_41 = 1\n+new_41 = 2\n" in select_output(output, query, 300).text
