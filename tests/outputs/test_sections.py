"""The sections of a log that failed are found by the lines of the programs that write them."""

from __future__ import annotations

import pytest

from keyhole.outputs.read import read_lines
from keyhole.outputs.sections import MAX_FAILED, find_failed


def failed_of(text: str) -> list[str]:
    """Return the failed sections of a log."""
    return [text[start:end] for start, end in find_failed(text)]


@pytest.mark.parametrize(
    ("begin", "end"),
    [
        ("##[group]Run {}", "##[error]Process completed with exit code 1."),
        ("##[section]Starting: {}", "##[error]Bash exited with code '1'."),
        ("$ {}", "ERROR: Job failed: exit code 1"),
        ("[Pipeline] {{ ({})", "[Pipeline] echo\nERROR: script returned exit code 1"),
        ("--- :hammer: {}", "🚨 Error: The command exited with status 1"),
        ("$ {}", 'The command "{}" exited with 1.'),
        ("py311: commands[0]> {}", "py311: exit 1 (0.2 seconds) /work> {}"),
        ("nox > Running session {}", "nox > Session {} failed."),
        ("> town@1.0.0 {}", "npm error Lifecycle script `{}` failed with error:"),
    ],
)
def test_the_step_that_failed_is_found(begin: str, end: str) -> None:
    steps = {name: f"{begin.format(name)}\nThe {name} begins.\n" for name in ("install", "check", "clean")}
    failure = f"A pump is broken.\n{end.format('check')}\n"
    text = f"{steps['install']}{steps['check']}{failure}{steps['clean']}"
    assert failed_of(text) == [f"{steps['check']}{failure}"]


def test_a_failed_hook_of_pre_commit_has_its_output_below_its_line() -> None:
    hooks = [
        f"{name}{'.' * 60}{end}\n- hook id: {name}\n"
        for name, end in (("a", "Passed"), ("b", "Failed"), ("c", "Passed"))
    ]
    assert failed_of("".join(hooks)) == [hooks[1]]


def test_the_failed_tasks_of_gradle_have_their_output_below_their_line_or_before_its_end() -> None:
    failure = "FAILURE: Build failed with an exception.\n\n* What went wrong:\nExecution failed for task ':check'.\n"
    new = "> Task :check FAILED\nPump.java:2: error: incompatible types\n1 error\n\n"
    old = ":checkPump.java:2: error: incompatible types\n1 error\n FAILED\n"
    assert failed_of(f"> Task :install\n\n{new}{failure}") == [new, failure]
    assert failed_of(f":install UP-TO-DATE\n{old}\n{failure}") == [old, failure]


def test_the_failed_goal_of_maven_is_the_last_one() -> None:
    install = "[INFO] --- maven-resources-plugin:3.3.0:resources (default-resources) @ pump ---\n[INFO] skip\n"
    check = (
        "[INFO] --- maven-compiler-plugin:3.10.1:compile (default-compile) @ pump ---\n[ERROR] Pump.java:[2,23] no\n"
    )
    end = "[INFO] BUILD FAILURE\n[ERROR] Failed to execute goal org.pump:check on project pump\n"
    assert failed_of(f"{install}{check}{end}[ERROR] [Help 1] http://pump.example\n") == [f"{check}{end}"]


def test_a_failed_action_of_bazel_has_its_output_below_its_line() -> None:
    failed = "ERROR: /work/BUILD:3:11: Compiling pump.c failed: (Exit 1): gcc failed\npump.c:2:9: error: no pump\n"
    assert failed_of(f"INFO: Analyzed target //:pump\n{failed}Target //:pump failed to build\n") == [failed]


def test_a_failed_task_of_ansible_is_found_unless_its_failure_is_ignored() -> None:
    ignored = "TASK [look] ***\nfatal: [one]: FAILED! => {}\n...ignoring\n"
    failed = "TASK [copy] ***\nok: [one]\nfatal: [two]: FAILED! => {}\n"
    assert failed_of(f"{ignored}{failed}PLAY RECAP ***\none: ok=1\n") == [failed]


def test_a_step_with_several_errors_is_one_section() -> None:
    text = "##[group]Run check\n##[error]a.ts(1,2): no pump\nmore\n##[error]Process completed with exit code 1.\nend\n"
    assert failed_of(text) == [text.removesuffix("end\n")]


def test_a_log_without_a_failed_step_has_no_failed_section() -> None:
    assert failed_of("##[group]Run check\nall is well\n$ ls\nnpm error is a word\n") == []


def test_of_many_failed_steps_the_first_and_the_last_ones_are_sections() -> None:
    text = "".join(f"##[group]Run {number}\n##[error]{number} failed\n" for number in range(3 * MAX_FAILED))
    found = failed_of(text)
    assert len(found) == MAX_FAILED
    assert found[0].startswith("##[group]Run 0\n")
    assert found[-1].endswith(f"##[error]{3 * MAX_FAILED - 1} failed\n")


def test_lines_of_the_failed_section_weigh_more_than_others() -> None:
    noise = "##[group]Run install\nERROR: a mirror could not be reached\n" + "ok\n" * 30
    step = "##[group]Run check\nERROR: a pump is broken\n##[error]Process completed with exit code 1.\n"
    text = f"{noise}{step}##[group]Post\nERROR: nothing to clean\n"
    weights = {text[start:end].strip(): weight for start, end, weight in read_lines(text, "log").marks}
    assert weights["ERROR: a pump is broken"] > 2 * weights["ERROR: a mirror could not be reached"]
    assert weights["##[group]Run check"] > 2 * weights["ERROR: a mirror could not be reached"]
