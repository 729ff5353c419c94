"""The stack traces of an output, which are shown whole."""

from __future__ import annotations

import pytest

import keyhole
from keyhole import bound
from keyhole.outputs.read import read_output
from keyhole.outputs.sections import find_traces

PYTHON = (
    "Traceback (most recent call last):\n"
    '  File "hub.py", line 11, in main\n    await sensor(3)\n    ^^^^^^^^^^^^^^^\n'
    '  File "hub.py", line 6, in sensor\n    raise OSError(104, "sensor 3 closed the line")\n'
    "OSError: [Errno 104] sensor 3 closed the line\n"
)
JAVA = (
    'Exception in thread "main" java.lang.IllegalStateException: lock 4 could not be filled\n'
    "\tat Lock.main(Lock.java:6)\n\tat Main.run(Main.java:9)\n"
    "Caused by: java.lang.RuntimeException: pump of basin B stopped\n\tat Pump.start(Pump.java:4)\n\t... 1 more\n"
)
NODE = "Error: pump 9 does not start\n    at start (/app/pump.mjs:4:7)\n    at async main (/app/pump.mjs:9:1)\n"


@pytest.mark.parametrize("trace", [PYTHON, JAVA, NODE])
def test_a_trace_goes_from_its_first_line_to_its_last(trace: str) -> None:
    text = f"started\n{trace}stopped\n{trace}"
    assert [text[start:end] for start, end in find_traces(text)] == [trace, trace]
    assert [trace[start:end] for start, end in find_traces(trace)] == [trace]


@pytest.mark.parametrize(
    "text",
    ["", "Traceback (most recent call last):\n", "see Traceback (most recent call last):\n  a\nb\n", "look at me\n"],
)
def test_other_text_has_no_traces(text: str) -> None:
    assert find_traces(text) == ()


@pytest.mark.parametrize("trace", [PYTHON, JAVA, NODE])
@pytest.mark.parametrize("query", [None, "which sensor closed", "why did the pump stop"])
def test_a_trace_is_shown_whole_unless_it_is_long(trace: str, query: str | None) -> None:
    log = "".join(f"request {number} of {'x' * (number % 50)} served\n" for number in range(400))
    assert trace in keyhole.bound(log + trace + log, query=query, budget=2_000).text


def test_the_traces_of_a_log_are_records_and_other_kinds_have_none() -> None:
    assert read_output(f"started\n{PYTHON}", kind="log").records == ((8, 8 + len(PYTHON)),)
    assert read_output(f"# Errors\n\n{PYTHON}", kind="markdown").records == ()


def test_a_finding_of_shellcheck_is_shown_with_its_first_line() -> None:
    finding = "In deploy.sh line {}:\nrm $target{}\n   ^-----^ SC2086 (info): Double quote to prevent globbing.\n\n\n"
    report = "".join(finding.format(number, "abcdefghij"[number % 10] * (number % 7)) for number in range(1, 300))
    shown = bound(report, command="shellcheck deploy.sh", budget=1_500).text
    assert shown.count("SC2086") == shown.count("In deploy.sh line") > 5


def test_equal_stacks_of_go_are_shown_once_with_their_state_and_counted() -> None:
    stack = "goroutine {0} [IO wait]:\nnet.(*netFD).accept(0xc0001{0})\n\t/usr/lib/go/src/net/fd_unix.go:172 +0x35\n\n"
    dump = (
        "panic: nil pointer\n\ngoroutine 1 [running]:\nmain.refill()\n\t/app/cache.go:4 +0x9b\n\n"
        + "".join(stack.format(number) for number in range(2, 200))
        + "goroutine 300 [semacquire]:\nmain.lock()\n\t/app/lock.go:9 +0x1\n"
    )
    shown = bound(dump, command="./server", budget=1_200).text
    assert "[200 goroutines: 198 IO wait, 1 running, 1 semacquire]" in shown
    assert shown.count("[IO wait]") == 1
    assert "main.refill()" in shown and "main.lock()" in shown
