"""The changed lines of a diff are found, and put in the order in which they are shown."""

from __future__ import annotations

from itertools import pairwise

from keyhole.outputs.parts import CHANGE_CHARS, find_changes, find_commits, order_changes


def diff(file: str, *hunks: str) -> str:
    return f"diff --git a/{file} b/{file}\n--- a/{file}\n+++ b/{file}\n{''.join(hunks)}"


def hunk(line: int, lines: str) -> str:
    old, new = sum(each[0] != "+" for each in lines.splitlines()), sum(each[0] != "-" for each in lines.splitlines())
    return f"@@ -{line},{old} +{line},{new} @@ def pump():\n{lines}"


def changes_of(text: str) -> list[tuple[str, int, str]]:
    return [(each.file, each.line, text[each.start : each.end]) for each in find_changes(text)]


def test_a_run_of_changed_lines_is_one_change() -> None:
    text = diff("a.py", hunk(5, " one\n-two\n+2\n three\n four\n+five\n"), hunk(20, "-x\n")) + diff(
        "b.py", hunk(1, "+y\n")
    )
    assert changes_of(text) == [
        ("a.py", 6, "-two\n+2\n"),
        ("a.py", 9, "+five\n"),
        ("a.py", 20, "-x\n"),
        ("b.py", 1, "+y\n"),
    ]


def test_a_removed_line_that_looks_like_a_header_is_a_change() -> None:
    assert changes_of(diff("a.sql", hunk(3, "--- a note\n+++ a note\n"))) == [("a.sql", 3, "--- a note\n+++ a note\n")]


def test_a_long_run_is_several_changes_that_follow_each_other() -> None:
    lines = "".join(f"+line {number} of a new file\n" for number in range(200))
    found = find_changes(diff("a.py", hunk(1, lines)))
    assert all(each.end - each.start <= CHANGE_CHARS for each in found)
    assert all(one.end == two.start for one, two in pairwise(found))
    assert found[-1].line > 150


def test_the_first_changes_of_each_file_come_before_further_ones_and_generated_files_last() -> None:
    many = "".join(f"+line {number} of a new file\n" for number in range(200))
    text = "".join(diff(file, hunk(1, many)) for file in ("go.sum", "README.md", "a.py", "b.py"))
    files = [each.file for each in order_changes(find_changes(text))]
    assert files[:2] == ["a.py", "b.py"]
    assert list(dict.fromkeys(files)) == ["a.py", "b.py", "README.md", "go.sum"]


def test_the_changes_of_a_removed_file_have_its_name() -> None:
    text = "diff --git a/old.py b/old.py\ndeleted file mode 100644\n--- a/old.py\n+++ /dev/null\n@@ -1 +0,0 @@\n-x\n"
    assert [each[0] for each in changes_of(text)] == ["old.py"]


def test_a_text_without_hunks_has_no_changes() -> None:
    assert find_changes("+one\n-two\n") == []


def test_commits_are_found_with_their_hashes_and_subjects() -> None:
    log = "commit 0a1b2c3d\nAuthor: Ann\nDate: today\n\n    Start the pump\n\n    It was off.\n\n"
    log += "commit 4e5f6a7b\n\n    Stop it\n"
    first, second = find_commits(log)
    assert log[first[0] : first[1]] == "commit 0a1b2c3d\nAuthor: Ann\nDate: today\n\n    Start the pump\n"
    assert [log[subject:end] for _, end, subject in (first, second)] == ["    Start the pump\n", "    Stop it\n"]
