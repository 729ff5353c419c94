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


def java_thread(name: str, number: int, state: str, wait: str) -> str:
    return (
        f'"{name}" #{number} daemon prio=5 os_prio=0 cpu=4.{number}ms elapsed=912.44s tid=0x00007f30c4{number:06x} '
        f"nid=0x{number:x} {state.lower()}  [0x00007f30a1{number:06x}]\n"
        f"   java.lang.Thread.State: {state}\n"
        f"\tat jdk.internal.misc.Unsafe.park(java.base@17.0.9/Native Method)\n\t- {wait} <0x00000007{number:08x}>\n"
        f"\tat shop.stock.Shelf.take(Shelf.java:{number})\n\n"
        f"   Locked ownable synchronizers:\n\t- <0x0000000719{number:06x}> (a shop.stock.Guard)\n\n"
    )


JAVA_DEADLOCK = (
    "Found one Java-level deadlock:\n=============================\n"
    '"packer":\n  waiting to lock monitor 0x00007f30a4003f00 (object 0x000000071a0c3d28, a shop.stock.Shelf),\n'
    '  which is held by "counter"\n\n'
    '"counter":\n  waiting to lock monitor 0x00007f30a4004100 (object 0x000000071a0c3d18, a shop.stock.Shelf),\n'
    '  which is held by "packer"\n\n'
)
JAVA_STACKS = (
    "Java stack information for the threads listed above:\n===================================================\n"
    '"packer":\n\tat shop.stock.Shelf.take(Shelf.java:31)\n\t- waiting to lock <0x000000071a0c3d28>\n'
    '"counter":\n\tat shop.stock.Shelf.count(Shelf.java:50)\n\t- waiting to lock <0x000000071a0c3d18>\n'
    "\nFound 1 deadlock.\n\n"
)


def java_dump(deadlock: str) -> str:
    waiting = [java_thread(f"http-{number}", number, "WAITING (parking)", "parking") for number in range(20, 140)]
    blocked = java_thread("packer", 90, "BLOCKED (on object monitor)", "waiting to lock")
    head = "2026-03-04 11:20:51\nFull thread dump OpenJDK 64-Bit Server VM (17.0.9+9 mixed mode, sharing):\n\n"
    return "".join([head, *waiting[:60], blocked, *waiting[60:], "JNI global refs: 16, weak refs: 0\n\n", deadlock])


@pytest.mark.parametrize("query", [None, "which lock does packer wait for"])
@pytest.mark.parametrize("later", [0, 100])
def test_a_thread_dump_of_java_shows_who_waits_for_whom(query: str | None, later: int) -> None:
    dump = java_dump(JAVA_DEADLOCK + JAVA_STACKS)
    dump += "".join(java_thread(f"job-{number}", number, "RUNNABLE", "locked") for number in range(later))
    assert JAVA_DEADLOCK in bound(dump, command="jstack -l 71", query=query, budget=2_000).text


def test_a_thread_of_java_is_shown_with_its_name_its_state_and_its_locks() -> None:
    dump = java_dump("")
    traces = [dump[slice(*span)] for span in find_traces(dump)]
    blocked = java_thread("packer", 90, "BLOCKED (on object monitor)", "waiting to lock")
    assert len(traces) == 121
    assert traces[60] == blocked.rstrip("\n") + "\n"
    assert traces[60] in bound(dump, command="jstack -l 71", budget=2_000).text
    stacks = [JAVA_STACKS[slice(*span)].partition("\n")[0] for span in find_traces(JAVA_STACKS)]
    assert stacks == ['"packer":', '"counter":']
