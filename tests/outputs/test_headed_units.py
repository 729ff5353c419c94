"""The stacks, threads and findings of an output, which are shown with their first line."""

from __future__ import annotations

import pytest

from keyhole import bound
from keyhole.outputs.sections import find_headed


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
    threads = [dump[slice(*span)] for span in find_headed(dump)]
    blocked = java_thread("packer", 90, "BLOCKED (on object monitor)", "waiting to lock")
    assert len(threads) == 121
    assert threads[60] == blocked.rstrip("\n") + "\n"
    assert threads[60] in bound(dump, command="jstack -l 71", budget=2_000).text
    stacks = [JAVA_STACKS[slice(*span)].partition("\n")[0] for span in find_headed(JAVA_STACKS)]
    assert stacks == ['"packer":', '"counter":']
