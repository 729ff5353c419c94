"""The last lines of an output, and its lines that tell most of a failure, are shown whatever else is."""

from __future__ import annotations

import random
from itertools import islice

import pytest

from keyhole import bound
from keyhole.outputs.failures import MAX_FAILURE_LINE, MAX_FORMS, FailureFinder, telling_failures
from keyhole.outputs.read import read_output


def first(text: str, count: int) -> list[str]:
    return [text[start:end].rstrip() for start, end in islice(telling_failures(text), count)]


def test_the_last_lines_come_before_the_telling_failures_and_alike_ones_come_once() -> None:
    text = "error: first\n" + "compiling\n" * 9 + "error: 3 of 7\nerror: 4 of 7\nok\n\none\ntwo\nthree\nfour\n"
    ends = ["four", "three", "two", "one"]
    assert first(text, 6) == [*ends, "error: 4 of 7", "error: first"]


def test_a_rare_line_of_failure_comes_before_later_ones_that_begin_as_hundreds_do() -> None:
    noise = "".join(f"INFO - PAGE({n}) | console.error: cannot read {chr(97 + n % 26)}{n}\n" for n in range(400))
    text = f"{noise}INFO - TEST-UNEXPECTED-FAIL | the sum is wrong\n{noise}one\ntwo\nthree\nfour\n"
    assert first(text, 5)[-1] == "INFO - TEST-UNEXPECTED-FAIL | the sum is wrong"


def test_a_line_that_announces_a_failure_twice_comes_before_a_later_one() -> None:
    text = "running\n" * 99 + "TEST-UNEXPECTED-FAIL | the sum is wrong\n\nWeb server killed.\none\ntwo\nthree\nfour\n"
    assert first(text, 6)[4:] == ["TEST-UNEXPECTED-FAIL | the sum is wrong", "Web server killed."]


def test_failures_that_begin_alike_but_for_paths_come_after_a_single_one() -> None:
    noise = "".join(f"src/{chr(97 + n % 26) * (n // 26 + 1)}.py:{n}: error: no type\n" for n in range(300))
    text = f"error: the sum is wrong\n{noise}one\ntwo\nthree\nfour\n"
    assert first(text, 5)[-1] == "error: the sum is wrong"


@pytest.mark.parametrize("other", ["warning: error codes", "echo failed", "tests failed: 0", "something failed"])
def test_a_line_that_announces_a_failure_comes_before_one_that_only_names_it(other: str) -> None:
    text = f"pump.c:41:7: error: no member named speed\n{other}\none\ntwo\nthree\nfour\n"
    assert first(text, 5)[-1] == "pump.c:41:7: error: no member named speed"


@pytest.mark.parametrize("line", ["terrors of the failsafe", "all passed", "0 warnings"])
def test_other_words_are_no_failures(line: str) -> None:
    assert first(f"{line}\n" + "end\n" * 4, 9) == ["end"] * 4


def test_a_long_line_is_cut_and_an_empty_text_has_no_line() -> None:
    assert [end - start for start, end in telling_failures("error " * 900)] == [MAX_FAILURE_LINE]
    assert first("", 9) == first("\n\n", 9) == []


def test_the_lines_after_a_failure_come_after_it_and_before_those_of_a_warning() -> None:
    text = (
        "warning: fatal is deprecated\nbeside a warning\n"
        + "\n" * 9
        + "Error: cannot choose a version\n  - nothing provides clang = 13\n  more\n\n"
        + "end\n" * 4
    )
    failure = ["Error: cannot choose a version", "- nothing provides clang = 13", "more"]
    found = [line.strip() for line in first(text, 12)[4:]]
    assert found == [*failure, "warning: fatal is deprecated"]


def test_the_lines_that_a_failure_with_a_colon_introduces_come_before_weaker_failures() -> None:
    text = (
        "something failed\n"
        + "running\n" * 99
        + "Build failed with 1 error:\n\n"
        + '"area" is not exported by "src/shape.js"\nsrc/main.js, line 61\n\n'
        + "end\n" * 4
    )
    introduced = {"Build failed with 1 error:", '"area" is not exported by "src/shape.js"', "src/main.js, line 61"}
    found = first(text, 12)[4:]
    assert set(found[:3]) == introduced
    assert found[3:] == ["something failed"]


def test_the_room_that_the_marked_lines_leave_is_filled_with_the_lines_beside_failures() -> None:
    words = ["".join(chr(97 + (n * 7 + place) % 26) for place in range(9)) for n in range(26)]
    reasons = [
        f"the {word} of this unit was never made, nor does the store have one from an earlier run" for word in words
    ]
    failures = "".join(f"{word} met a fatal error: torn\n{why}\n\n" for word, why in zip(words, reasons, strict=True))
    log = "".join(f"reading {word}{word[::-1]}\n" for word in words) * 8 + failures + "end\n" * 4
    shown = bound(log, budget=3_800, kind="log").text
    assert sum(why in shown for why in reasons) >= 24


def test_a_log_with_the_form_of_yaml_shows_its_failure_and_yaml_that_names_failures_stays_yaml() -> None:
    options = "".join(f"option{number}:\n  value: {number}\n" for number in range(400))
    log = f"{options}Error: no such module: pump\n  at: line 61\n" + options[:3_000]
    yaml = f"{options}failures: none\n{options[:3_000]}"
    for text, failures in ((log, 1), (yaml, 0)):
        output = read_output(text)
        assert output.kind == "yaml"
        assert bool(output.failures) == bool(failures)
    assert "Error: no such module: pump\n  at: line 61\n" in bound(log, budget=1_000).text


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("budget", [2_000, 4_000])
def test_a_result_has_as_many_failures_as_the_last_lines_with_an_error_word(seed: int, budget: int) -> None:
    chance = random.Random(seed)
    words = ["link", "copy", "pack", "sort", "send", "read", "move", "scan", "fold", "trim"]
    noise = [f"{chance.choice(words)} unit {chance.randrange(9_999)} of {chance.choice(words)}s" for _ in range(900)]
    failures = [f"{word}er: error: unit_{word} is torn at {word}.c:{chance.randrange(999)}" for word in words[:3]]
    for failure in failures:
        noise.insert(chance.randrange(len(noise)), failure)
    for _ in range(40):
        noise.insert(chance.randrange(len(noise)), f"warning: {chance.choice(words)} may fail in {chance.random()}")
    log = "\n".join(noise) + "\n"
    last: list[str] = []
    for line in reversed([line for line in noise if "error" in line or "fail" in line]):
        if len("\n".join([*last, line])) <= budget:
            last.append(line)
    shown = bound(log, budget=budget).text
    assert sum(each in shown for each in failures) >= sum(each in last for each in failures)


@pytest.mark.parametrize("lines", [2_000, 60_000])
def test_a_long_log_shows_its_last_failure_among_thousands_of_warnings(lines: int) -> None:
    warnings = "".join(
        f"cc -Werror=format -c part{number}.c: warning: error code {number} unused\n" for number in range(lines)
    )
    log = (
        f"{warnings}engine.c:41:7: error: no member named speed\n" + "making docs\n" * 40 + "make: *** [all] Error 2\n"
    )
    shown = bound(log, budget=2_000).text
    assert "engine.c:41:7: error: no member named speed" in shown
    assert "make: *** [all] Error 2" in shown


def test_the_failure_in_the_middle_of_a_text_of_any_length_is_found_with_the_lines_around_it() -> None:
    noise = [
        f"{n:08} checking whether errors are fatal... no error found\n{n:08} the pump was read\n" for n in range(900)
    ]
    failure = "src/winch/gear.c:418:12: error: 'ratio' undeclared\n  418 |  return ratio;\nmake: *** Error 1\n"
    finder, text = FailureFinder(), "".join([*noise, failure, *noise])
    for start in range(0, len(text), 20_000):
        finder.add(text[start : start + 20_000])
    best = next(finder.spans(10_000))
    assert failure in text[slice(*best)]
    assert best[1] - best[0] < 4_000


def test_a_finder_keeps_few_of_many_different_failures() -> None:
    words = ["".join(chr(97 + n // 26**place % 26) for place in range(4)) for n in range(3 * MAX_FORMS)]
    finder, size = FailureFinder(), 0
    for start in range(0, len(words), 500):
        piece = "".join(f"{word}: warning: error\n" for word in words[start : start + 500])
        finder.add(piece + "a.c:7: FATAL ERROR\n" * (start == 1_000))
        size += len(piece)
    spans = list(finder.spans(10**9))
    assert MAX_FORMS <= len(spans) <= 2 * MAX_FORMS
    assert size > spans[0][0] > 0
    assert not list(finder.spans(10))
    assert not list(FailureFinder().spans(10_000))
