"""`keyhole run`: the command's output and exit status, its signals, its end at a time limit, and nothing lost."""

from __future__ import annotations

import fcntl
import json
import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from keyhole.cli.main import main
from keyhole.cli.run_command import command_line
from tests.support.waiting import wait_for

pytestmark = pytest.mark.skipif(os.name != "posix", reason="keyhole run needs POSIX signals")
LINES = "import sys\nfor n in range(20_000): print('line', n, file=(sys.stdout, sys.stderr)[n % 2], flush=n % 100 == 0)"


@pytest.fixture
def keyhole(tmp_path: Path) -> Iterator[Keyhole]:
    runner = Keyhole(tmp_path)
    yield runner
    for process in runner.started:
        process.kill()
        process.communicate()


class Keyhole:
    """Runs the command line with a home folder of its own."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.home = folder / "home"
        self.started: list[subprocess.Popen[str]] = []

    def start(self, *words: str, stdin: str | None = None, **environment: str) -> subprocess.Popen[str]:
        process = subprocess.Popen(
            [sys.executable, "-m", "keyhole", *words],
            env={**os.environ, "KEYHOLE_HOME": str(self.home), **environment},
            stdin=subprocess.PIPE if stdin is not None else subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        self.started.append(process)
        return process

    def run(self, *words: str, stdin: str | None = None, **environment: str) -> tuple[int, str, str]:
        process = self.start(*words, stdin=stdin, **environment)
        out, err = process.communicate(stdin, timeout=60)
        return process.returncode, out, err

    def run_script(self, script: str) -> tuple[int, str, str]:
        """Run a script of a shell, in which `$0` is the interpreter."""
        process = subprocess.run(
            ["/bin/sh", "-c", script, sys.executable],
            env={**os.environ, "KEYHOLE_HOME": str(self.home)},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
        return process.returncode, process.stdout, process.stderr

    def python(self, code: str, *options: str, **environment: str) -> tuple[int, str, str]:
        return self.run("run", *options, "--", sys.executable, "-c", code, **environment)

    def spooled(self) -> list[Path]:
        return sorted(path for path in (self.home / "spool").iterdir() if path.suffix != ".call")


@pytest.mark.parametrize("umask", ["000", "022"])
def test_the_new_home_folder_is_the_owners_alone_while_the_first_command_runs(keyhole: Keyhole, umask: str) -> None:
    keyhole.home = keyhole.folder / "data" / "home"
    code = "import os, sys; [print(oct(os.stat(path).st_mode)[-3:]) for path in sys.argv[1:]]"
    folders = f"{keyhole.folder}/data {keyhole.folder}/data/home {keyhole.folder}/data/home/spool"
    script = f'umask {umask}; exec "$0" -m keyhole run -- "$0" -c "{code}" {folders}'
    assert keyhole.run_script(script) == (0, "700\n" * 3, "")


def test_a_small_output_and_the_exit_status_pass_unchanged(keyhole: Keyhole) -> None:
    code = "import os; os.write(1, b'out\\r\\n'); os.write(2, b'err'); os.write(1, b' out'); os._exit(3)"
    assert keyhole.python(code) == (3, "out\nerr out", "")
    assert keyhole.spooled() == []


def test_a_large_output_is_bounded_and_stored_with_its_facts(keyhole: Keyhole) -> None:
    status, out, _ = keyhole.python(LINES + "\nsys.exit(4)", "--budget", "1000", "--query", "line 15001")
    assert status == 4
    assert len(out) <= 1_001
    assert "line 15001" in out
    assert ", exit status 4: " in out
    (id,) = re.findall(r'read_artifact\(id="(\w+)"', out)
    stored = json.loads(keyhole.run("artifacts", "show", id, "--json")[1])
    lines = [f"line {number}" for number in range(20_000)]
    assert sorted(stored["text"].split("\n")) == sorted(["", *lines])
    assert stored["notes"]["exit"] == "4"
    assert stored["notes"]["folder"] == str(Path.cwd())
    assert keyhole.spooled() == []


def test_stdout_and_stderr_are_kept_in_the_order_in_which_they_were_written(keyhole: Keyhole) -> None:
    code = "import os\nfor n in range(300): os.write(1 + n % 2, b'%d\\n' % n)"
    assert keyhole.python(code)[1] == "".join(f"{number}\n" for number in range(300))


def test_the_command_reads_the_standard_input(keyhole: Keyhole) -> None:
    status, out, _ = keyhole.run("run", "--", "cat", stdin="typed\n")
    assert (status, out) == (0, "typed\n")


@pytest.mark.parametrize(("name", "status"), [("absent-command", 127), (os.devnull, 126)])
def test_a_command_that_cannot_be_run_has_the_exit_status_of_shells(keyhole: Keyhole, name: str, status: int) -> None:
    found, out, err = keyhole.run("run", "--", name)
    assert (found, out) == (status, "")
    assert err.startswith(f"keyhole: {name}: ")
    assert keyhole.spooled() == []


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM, signal.SIGINT, signal.SIGPIPE, signal.SIGABRT])
def test_the_signal_that_ends_a_command_ends_this_process_too(keyhole: Keyhole, number: signal.Signals) -> None:
    script = f"ulimit -c 0; echo begun; kill -{number.value} $$"
    assert keyhole.run("run", "--", "sh", "-c", script)[:2] == (-number, "begun\n")
    result = json.loads(keyhole.run("run", "--json", "--", "sh", "-c", script)[1])
    assert result["exit_status"] == 128 + number


@pytest.mark.parametrize(
    "number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGUSR1, signal.SIGTSTP, signal.SIGWINCH]
)
def test_signals_are_passed_to_the_command_and_what_it_printed_is_shown(
    keyhole: Keyhole, number: signal.Signals
) -> None:
    code = (
        "import signal, sys, pathlib\n"
        f"def end(*_): print('ended'); sys.exit(9)\n"
        f"signal.signal({number.value}, end)\n"
        f"print('begun', flush=True)\n"
        f"pathlib.Path({str(keyhole.folder / 'ready')!r}).touch()\n"
        "signal.pause()"
    )
    process = keyhole.start("run", "--", sys.executable, "-c", code)
    wait_for((keyhole.folder / "ready").exists)
    process.send_signal(number)
    out, _ = process.communicate(timeout=60)
    assert (process.returncode, out) == (9, "begun\nended\n")


def test_a_signal_ends_a_stopped_command(keyhole: Keyhole) -> None:
    ready = keyhole.folder / "ready"
    process = keyhole.start("run", "--", "sh", "-c", f"echo begun; touch {ready}; kill -STOP $$; sleep 60")
    wait_for(ready.exists)
    process.send_signal(signal.SIGTERM)
    assert process.communicate(timeout=30)[0] == "begun\n"
    assert process.returncode == -signal.SIGTERM


def test_a_signal_that_is_ignored_as_after_nohup_is_ignored_by_the_command(keyhole: Keyhole) -> None:
    script = """trap '' HUP; exec "$0" -m keyhole run -- sh -c 'kill -HUP $$; echo alive'"""
    assert keyhole.run_script(script) == (0, "alive\n", "")


def test_a_signal_reaches_the_processes_that_the_command_started(keyhole: Keyhole) -> None:
    ready = keyhole.folder / "ready"
    process = keyhole.start("run", "--", "sh", "-c", f"(echo $$ > {ready}.new; mv {ready}.new {ready}; sleep 60); true")
    wait_for(ready.exists)
    process.send_signal(signal.SIGTERM)
    process.communicate(timeout=30)
    assert process.returncode == -signal.SIGTERM


def test_a_command_is_ended_at_its_time_limit_and_the_result_says_so(keyhole: Keyhole) -> None:
    code = "import time; print('begun', flush=True); time.sleep(60)"
    assert keyhole.python(code, "--timeout", "0.5")[:2] == (124, "Stopped by --timeout after 0.5 s.\nbegun\n")


def test_what_ended_a_command_is_said_on_standard_error_if_the_budget_has_no_space(keyhole: Keyhole) -> None:
    code = "import time; print('x' * 399, flush=True); time.sleep(60)"
    out = "x" * 399 + "\n"
    assert keyhole.python(code, "--timeout", "0.5", "--budget", "400") == (
        124, out, "Stopped by --timeout after 0.5 s.\n"
    )  # fmt: skip


def test_a_command_that_prints_for_ever_is_ended_and_bounded(keyhole: Keyhole) -> None:
    status, out, _ = keyhole.run("run", "--timeout", "0.5", "--budget", "1000", "--", "yes", "printed for ever")
    assert status == 124
    assert len(out) <= 1_001
    assert out.startswith("Stopped by --timeout after 0.5 s.\n")


@pytest.mark.parametrize("limit", ["0", "-1", "nan", "inf", "1e300", "soon"])
def test_a_time_limit_is_a_positive_number(limit: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["run", "--timeout", limit, "--", "true"])
    assert ended.value.code == 2
    assert f"{limit!r} is not a number of seconds above 0" in capsys.readouterr().err


def test_a_reader_that_closes_the_pipe_gets_the_exit_status_and_the_output_is_stored(keyhole: Keyhole) -> None:
    for budget in ("4000", "20000"):  # less and more than Python buffers
        process = keyhole.start("run", "--budget", budget, "--", sys.executable, "-c", LINES + "\nsys.exit(4)")
        assert process.stdout
        process.stdout.close()
        assert process.wait(timeout=60) == 4
        assert process.stderr
        assert process.stderr.read() == ""
    assert keyhole.spooled() == []


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a device that is always full")
def test_what_cannot_be_printed_is_an_error_and_stays_in_the_spool_folder(keyhole: Keyhole) -> None:
    status, _, err = keyhole.run_script('"$0" -m keyhole run -- echo printed > /dev/full')
    assert (status, err) == (1, "keyhole: [Errno 28] No space left on device\n")
    assert [path.read_text().endswith("printed\n") for path in keyhole.spooled()] == [True]


def test_the_output_is_shown_without_recovery_and_stays_in_the_spool_folder_if_the_store_fails(
    keyhole: Keyhole,
) -> None:
    (keyhole.home / "artifacts.db").mkdir(parents=True)
    status, out, err = keyhole.python(LINES + "\nsys.exit(4)")
    assert (status, "Next:" in out, out.endswith("[end]\n")) == (4, False, True)
    assert "the output is not stored: " in err
    assert len(keyhole.spooled()) == 1


def test_closed_streams_and_a_removed_folder_are_no_obstacle(keyhole: Keyhole) -> None:
    gone = keyhole.folder / "gone"
    script = f'mkdir {gone}; cd {gone}; rmdir {gone}; exec "$0" -m keyhole run -- sh -c "echo out; exit 3" <&- >&- 2>&-'
    assert keyhole.run_script(script) == (3, "", "")


def test_an_output_over_the_limit_of_the_store_is_kept_up_to_the_limit(keyhole: Keyhole) -> None:
    code = "for n in range(300_000): print('line', n)"
    status, out, _ = keyhole.python(code, KEYHOLE_STORE_MAX_BYTES="1000000")
    assert status == 0
    assert re.match(r"The last [\d,]+ bytes of the output are not kept: there is no space\.\n", out)
    assert "1,000,000 characters" in out


def test_processes_that_a_command_leaves_running_are_not_waited_for(keyhole: Keyhole) -> None:
    pid = keyhole.folder / "pid"
    assert keyhole.run("run", "--", "sh", "-c", f"sleep 60 & echo $! > {pid}; echo done")[:2] == (0, "done\n")
    os.kill(int(pid.read_text()), signal.SIGKILL)


def test_processes_that_a_command_leaves_running_go_on_and_their_output_is_stored_when_they_have_ended(
    keyhole: Keyhole,
) -> None:
    begin, printed = keyhole.folder / "begin", keyhole.folder / "printed"
    job = f"until [ -e {begin} ]; do sleep 0.01; done; seq 50000; echo end; touch {printed}"
    script = f"({job}) >&2 & echo started; kill -9 $$"
    assert keyhole.run("run", "--", "sh", "-c", script)[:2] == (-signal.SIGKILL, "started\n")
    assert json.loads(keyhole.run("artifacts", "list", "--json")[1]) == []
    begin.touch()
    wait_for(printed.exists)
    (file,) = keyhole.spooled()
    wait_for(lambda: is_unlocked(file))
    (row,) = json.loads(keyhole.run("artifacts", "list", "--json")[1])
    stored = json.loads(keyhole.run("artifacts", "show", row["id"], "--json")[1])
    assert stored["text"] == "".join(f"{n}\n" for n in range(1, 50_001)) + "end\n"
    assert keyhole.spooled() == []


def test_nothing_of_processes_that_a_command_leaves_running_is_kept_if_the_settings_say_so(keyhole: Keyhole) -> None:
    begin, printed = keyhole.folder / "begin", keyhole.folder / "printed"
    script = f"(until [ -e {begin} ]; do sleep 0.01; done; seq 50000 && touch {printed}) & echo started"
    assert keyhole.run("run", "--", "sh", "-c", script, KEYHOLE_KEEP_OUTPUTS="off")[:2] == (0, "started\n")
    begin.touch()
    wait_for(printed.exists)
    assert not keyhole.home.exists()


def test_the_command_gets_the_open_files_of_its_caller(keyhole: Keyhole) -> None:
    file = keyhole.folder / "file"
    assert keyhole.run_script(f'"$0" -m keyhole run -- sh -c "echo out; echo three >&3" 3>{file}') == (0, "out\n", "")
    assert file.read_text() == "three\n"


def is_unlocked(path: Path) -> bool:
    """Return whether no process is writing the file of an output."""
    with path.open("rb") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            return False
        return True


def test_what_was_printed_before_keyhole_was_killed_is_found_later(keyhole: Keyhole) -> None:
    ready = keyhole.folder / "ready"
    script = f"echo printed before the kill; touch {ready}; sleep 60"
    process = keyhole.start("run", "--", "sh", "-c", script)
    wait_for(ready.exists)
    wait_for(lambda: any("printed" in path.read_text() for path in keyhole.spooled()))
    assert json.loads(keyhole.run("artifacts", "list", "--json")[1]) == []
    process.kill()
    process.communicate()
    (row,) = json.loads(keyhole.run("artifacts", "list", "--json")[1])
    stored = json.loads(keyhole.run("artifacts", "show", row["id"], "--json")[1])
    assert (stored["text"], stored["cut"], stored["title"]) == ("printed before the kill\n", True, script)
    assert keyhole.spooled() == []


def test_nothing_is_kept_if_the_settings_say_so(keyhole: Keyhole) -> None:
    _, out, _ = keyhole.python(LINES, KEYHOLE_KEEP_OUTPUTS="off")
    assert "Next:" not in out
    assert not keyhole.home.exists()


def test_json_gives_the_exit_status(keyhole: Keyhole) -> None:
    result = json.loads(keyhole.run("run", "--json", "--", "sh", "-c", "echo out; exit 5")[1])
    assert (result["text"], result["exit_status"], result["timed_out"]) == ("out\n", 5, False)


def test_a_command_line_is_needed(keyhole: Keyhole) -> None:
    assert keyhole.run("run")[0] == 2
    assert keyhole.run("run", "--budget", "5", "--", "true")[0] == 2


@pytest.mark.parametrize(
    ("words", "line"),
    [
        (["pytest", "-k", "a b"], "pytest -k 'a b'"),
        (["bash", "-lc", "make all"], "make all"),
        (["/bin/sh", "-c", "ls | wc"], "ls | wc"),
        (["sh", "script"], "sh script"),
    ],
)
def test_the_command_line_of_a_shell_is_its_script(words: list[str], line: str) -> None:
    assert command_line(words) == line
