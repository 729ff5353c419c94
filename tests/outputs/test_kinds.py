"""The kind of an output, by its content, its command and its file's name."""

from __future__ import annotations

from time import process_time

import pytest

from keyhole.outputs.kinds import KINDS, command_words, recognise, weigh_kinds
from tests.support.machine import allowed

TRACE = 'Traceback (most recent call last):\n  File "a.py", line 1, in <module>\nKeyError: 1\n'
CSV = "".join(f"{number},name {number},{number * 3}\n" for number in range(12))


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("===== test session starts =====\n...\n===== 1 failed, 3 passed in 0.2s =====\n", "test"),
        ("F.\nRan 2 tests in 0.001s\n\nFAILED (failures=1)\n", "test"),
        ("running 2 tests\ntest a ... FAILED\n\ntest result: FAILED. 1 passed; 1 failed\n", "test"),
        (" RUN  v4.1.12 /app\n\n Test Files  1 failed (1)\n      Tests  1 failed | 9 passed (10)\n", "test"),
        ("Failures:\n  1) Depot keeps crate 7\n\n121 examples, 2 failures\n", "test"),
        ("Files=1, Tests=9\nResult: FAIL\n", "test"),
        ("ok\nFailed example:\n    fee(0)\n119 passed and 1 failed.\n***Test Failed*** 1 failures.\n", "test"),
        ('kernel.cu(12): error: identifier "sinn" is undefined\n', "compiler"),
        ("src/a.py:1:1: F401 'os' imported but unused\nsrc/a.py:2:80: E501 line too long\n", "compiler"),
        ("a.py:3:22: W0622: Redefining built-in 'bin' (redefined-builtin)\n", "compiler"),
        ('  /app/a.py:72:27 - error: Type "RLock" is not assignable\n1 error, 0 warnings\n', "compiler"),
        ("/app/a.js\n  62:3  error  'x' is not defined  no-undef\n\n✖ 1 problem (1 error, 0 warnings)\n", "compiler"),
        ("\nIn /usr/bin/ldd line 26:\nTEXTDOMAIN=libc\n^-- SC2034 (warning): unused\n", "compiler"),
        ("m1.c:(.text+0x5): undefined reference to `f'\ncollect2: error: ld returned 1 exit status\n", "compiler"),
        ("src/a.py-9-\nsrc/a.py:10:def run():\n--\nsrc/b.py:3:run()\nsrc/b.py-4-    pass\n", "grep"),
        ("src/a.py:2\nsrc/b.py:12\nsrc/c.py:1\n", "grep"),
        (
            "/usr/lib:\ntotal 4\ndrwxr-xr-x 4 root root 4096 May 20  2026 a\n-rw-r--r-- 1 root root 12 May 20 b\n",
            "listing",
        ),
        (".\n" + "├── a.py\n└── b\n    └── c.py\n" * 4, "listing"),
        ("/usr/bin/a\n/usr/bin/b\n/usr/share/c/d.txt\n", "listing"),
        ("GREP(1)\n\nNAME\n       grep - print lines\n\nSYNOPSIS\n       grep [OPTION]...\n", "text"),
        ("import os\nfrom a import b\n\ndef f(x):\n    return x\n\nclass C:\n    y = 1\n", "source"),
        ("#include <a.h>\n#define N 3\n#ifdef X\n#endif\nint f(void) {\n  return N;\n}\n", "source"),
        ("# Ships\n\n## Anna\n\n- a [link](/anna)\n\n## Berta\n\nMore.\n", "markdown"),
        ('npm warn Unknown user config "nodedir".\n{\n  "name": "x",\n  "problems": [1, 2]\n}\n', "json"),
        ("main.c:3:5: error: expected ';' before 'return'\n    3 |     x\n", "compiler"),
        ("src/app.ts(4,7): error TS2322: Type 'string' is not assignable\n", "compiler"),
        ("diff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n", "diff"),
        ("src/a.py:10:def run():\nsrc/a.py:20:    run()\nsrc/b.py:3:run()\n", "grep"),
        ('{"level":"info"}\n{"level":"error"}\n{"level":"info"}\n', "jsonl"),
        ('{\n "name": "x",\n "items": [1, 2]\n}\n', "json"),
        ('[{"id": 1}, {"id": 2}]', "json"),
        ('   Compiling shop\n{"reason":"a"}\n{"reason":"b"}\n{"reason":"c"}\nerror: failed\n', "jsonl"),
        (CSV, "csv"),
        ("Dear all, this is a letter\n" * 12, "log"),
        ("<!DOCTYPE html>\n<html><p>hello</p></html>", "page"),
        ("<html><p>moved</p></html>\n" + "127.0.0.1 GET /shop\n" * 40, "log"),
        ("x" * 5_000, "opaque"),
        (TRACE, "trace"),
        ("Reading package lists...\nDone\n", "log"),
        ("2026-11-22T10:00:01.5 INFO a/b.c: started\n" * 9, "log"),
        ("one line", "text"),
    ],
)
def test_the_content_tells_the_kind(text: str, kind: str) -> None:
    assert recognise(text) == kind
    assert kind in KINDS


LONG_JSON = '{"rows": [' + ", ".join('{"id": 1, "name": "pump \\u00e9", "ok": true}' for _ in range(4_000)) + "]}"


@pytest.mark.parametrize(
    "text", [LONG_JSON, LONG_JSON * 2, "npm warn old lock file\n" + LONG_JSON, '{"a": 1}\n{"b": [2]}']
)
def test_json_that_parses_is_json(text: str) -> None:
    assert recognise(text) == "json"


@pytest.mark.parametrize(
    "text",
    ["[   19s] make: *** [Makefile:159: all] Error 2\n[   20s] ### VM ENDS [99]\n" * 60,
     "[1] starting\n" * 9_000 + "[1]\n", "[2024-01-01 10:00:00] up [ok]\n" * 60],
)  # fmt: skip
def test_lines_that_begin_with_brackets_are_no_json(text: str) -> None:
    assert recognise(text) == "log"


def test_a_log_that_prints_a_diff_is_a_log_and_a_commit_with_one_is_a_diff() -> None:
    diff = "diff --git a/a.c b/a.c\n--- a/a.c\n+++ b/a.c\n@@ -1,3 +1,3 @@\n one\n-two\n+three\n four\n"
    build = "checking for gcc\nbuilding part 1\nmake: Leaving directory\n" * 4
    assert recognise(build + diff + build) == "log"
    assert recognise("commit 1f2e3d\nAuthor: A <a@b.example>\nDate:   now\n\n    Mend.\n\n" + diff) == "diff"


SOURCE = "import os\nfrom a import b\n\ndef f(x):\n    return x\n\nclass C:\n    y = 1\n"
MARKDOWN = "# One\n\n- a\n\n## Two\n\n- b\n\n## Three\n\n- c\n"
SETTINGS = "root:\n  base: /\n" + "  input: a\n  build:\n    target: b\n" * 9


def test_a_failed_command_prints_a_log_unless_its_output_is_data_or_the_command_is_known() -> None:
    assert (recognise(SETTINGS), recognise(SETTINGS, "vite build", exit_status=1)) == ("yaml", "log")
    assert recognise(SETTINGS, name="a.yml", exit_status=1) == "yaml"
    assert recognise('{"a": [1, 2]}', "curl -f localhost", exit_status=22) == "json"


@pytest.mark.parametrize("beginning", ["2025-02-12 11:04:46 ", "[11:04:46] ", "INFO: ", "[ERROR] "])
def test_lines_with_a_time_or_a_level_are_a_log_and_no_source(beginning: str) -> None:
    assert recognise(SOURCE * 3) == "source"
    assert recognise(SOURCE * 3 + f"{beginning}step done\n" * 6) == "log"


def test_the_kinds_are_weighed_with_reasons_the_strongest_first() -> None:
    weighed = list(weigh_kinds(SETTINGS, "vite build", exit_status=2))
    assert [each.kind for each in weighed] == ["log", "yaml", "log"]
    assert weighed[0].reason == "the command ended with exit status 2"
    assert [each.score for each in weighed] == sorted((each.score for each in weighed), reverse=True)


@pytest.mark.parametrize("command", ["ls -l", "git status", "cat notes"])
def test_a_kind_is_weighed_once_for_each_reason_and_the_weights_fall(command: str) -> None:
    for text in (CSV, TRACE, "one\ntwo\n"):
        weighed = list(weigh_kinds(text, command))
        assert len({(each.kind, each.reason) for each in weighed}) == len(weighed)
        assert [each.score for each in weighed] == sorted((each.score for each in weighed), reverse=True)


@pytest.mark.parametrize("text", [SOURCE, MARKDOWN])
@pytest.mark.parametrize(
    "mark",
    ["##[error]Process completed with exit code 1.\n", "::error file=a.py::no\n", "The process ended: exit code 2\n",
     "$ make\nERROR: Job failed: exit 1\n"],
)  # fmt: skip
def test_what_a_runner_marks_as_failed_is_a_log_unless_the_command_says_otherwise(text: str, mark: str) -> None:
    assert recognise(text) != "log"
    assert recognise(text + mark) == "log"
    assert recognise(text + mark, name="a.py") == "source"


@pytest.mark.parametrize(
    ("command", "kind"),
    [
        ("pytest -q", "test"),
        ("CI=1 sudo cargo test --release", "test"),
        ("/usr/bin/make -j4", "compiler"),
        ("git diff HEAD~1", "diff"),
        ("git -C /srv/app --no-pager diff HEAD~1", "diff"),
        ("cd src && pytest -q 2>&1 | tail -50", "test"),
        ("ruff check --help", "text"),
        ("man git-rebase | col -b", "text"),
        ("rg -n needle src", "grep"),
        ("find . -name '*.py'", "listing"),
        ("systemctl status 'unclosed", "log"),
        ("cat src/app.py", "source"),
        ("timeout 60 npx --yes vitest run", "test"),
        ("poetry run pytest", "test"),
        ("python3 -m unittest -v", "test"),
        ("npm run test -- --watch=false", "test"),
        ("git -c core.pager=cat log -p", "diff"),
        ("glob '**/*.py' src", "listing"),
        ("unzip -l a.jar", "listing"),
        ("tar tzf a.tgz", "listing"),
        ("cat lib/BigInt.pm", "source"),
        ("sed -n 1,99p notes.md", "markdown"),
    ],
)
def test_the_command_tells_the_kind_where_the_content_does_not(command: str, kind: str) -> None:
    assert recognise("one line\nand another\n", command) == kind


def test_the_suffix_of_a_file_tells_its_kind() -> None:
    assert recognise("import os\n", name="a/b.py") == "source"
    assert recognise("anything\n", name="server.log") == "log"
    assert recognise("x" * 5_000, name="app.min.js") == "opaque"


def test_the_results_of_a_search_may_have_long_lines() -> None:
    assert recognise("a.min.js:1:" + "x" * 5_000, "grep -n x a.min.js") == "grep"


def test_the_columns_of_a_listing_are_no_table() -> None:
    sizes = "".join(f"{number}\t2026-05-20 10:00\t./a/{number}\n" for number in range(20))
    assert (recognise(sizes, "du -a --time"), recognise(sizes)) == ("listing", "csv")


@pytest.mark.parametrize(
    ("command", "words"),
    [
        ("grep -rn 'needle in' src/app", "needle in src app"),
        ("git log --stat", ""),
        ("git -C $REPO diff 293fab5~10 parser", "parser"),
        ("pip install requests", "requests"),
        ("", ""),
        ("cd /srv && rg 'timed out' | head; echo done", "timed out"),
    ],
)
def test_the_arguments_of_a_command_are_the_words_that_its_output_may_be_about(command: str, words: str) -> None:
    assert command_words(command) == words


@pytest.mark.parametrize("line", ["\n", "## x\n", "a:1:\n", " \n", "def \n", "--> \n"])
def test_the_time_for_a_kind_is_proportional_to_what_is_examined(line: str) -> None:
    started = process_time()
    recognise(line * 30_000)
    assert process_time() - started < allowed(0.3)


def test_the_columns_of_a_table_below_a_header_are_a_table() -> None:
    rows = [(f"{number}", f"Ann {number}", "paid", "2026-03-06") for number in range(40)]
    text = "id    customer  status  placed\n----  --------  ------  ----------\n"
    text += "".join(f"{row[0]:<4}  {row[1]:<8}  {row[2]:<6}  {row[3]}\n" for row in rows)
    assert recognise(text, "sqlite3 -column a.db") == "csv"
    assert recognise("step one of the build\nstep two of it\n" * 30) == "log"
