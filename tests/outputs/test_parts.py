"""The named parts of an output."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from keyhole.outputs.bound import bound
from keyhole.outputs.parts import MAX_NAME, find_parts

GIT = """diff --git a/src/one.c b/src/one.c
index 1..2 100644
--- a/src/one.c
+++ b/src/one.c
@@ -1,3 +1,4 @@
 context
-old
+new
+newer
diff --git a/two.py b/two.py
--- a/two.py
+++ b/two.py
@@ -5 +5 @@
-x
"""
PYTHON = """import os


class First:
    size = 1

    def method(self):
        return 1


def second(a, b):
    pass
"""
GO = """package main

func (s *Server) Serve(l net.Listener) error {
\treturn nil
}

type Config struct {
}
"""


def test_the_files_of_a_diff_have_their_added_and_removed_lines() -> None:
    parts, title = find_parts(GIT, "diff")
    assert title == "files"
    files = [part for part in parts if part.entry]
    assert [part.entry for part in files] == ["src/one.c +2 -1", "two.py +0 -1"]
    assert GIT[files[1].start :].startswith("diff --git a/two.py")


def test_the_changes_of_a_diff_have_the_file_and_the_number_of_their_first_line() -> None:
    changes = [part for part in find_parts(GIT, "diff")[0] if not part.entry]
    assert [(part.name, GIT[part.start : part.end]) for part in changes] == [
        ("src/one.c:2", "-old\n+new\n+newer\n"),
        ("two.py:5", "-x\n"),
    ]


def test_the_records_of_yaml_have_their_outermost_names() -> None:
    pods = "".join(
        f"- kind: Pod\n  metadata:\n    name: web-{n}\n  spec:\n    hosts:\n    - name: x\n" for n in range(3)
    )
    parts, _ = find_parts(f"apiVersion: v1\nitems:\n{pods}", "yaml")
    assert [part.name for part in parts] == ["name=web-0", "name=web-1", "name=web-2"]
    documents = "---\nname: pump\nlist:\n- a\n- b\n---\nid: 7\n"
    assert [part.name for part in find_parts(documents, "yaml")[0]] == ["name=pump", "id=7"]


def test_the_files_of_a_diff_without_command_lines_are_named_by_their_old_names() -> None:
    parts, _ = find_parts("--- a.txt\t2026\n+++ b.txt\t2026\n@@ -1 +1 @@\n-x\n+y\n", "diff")
    assert [part.entry for part in parts if part.entry] == ["a.txt +1 -1"]


def test_the_files_of_a_search_have_the_number_of_their_lines() -> None:
    parts, title = find_parts("a-b/c.py:1: x\na-b/c.py:9: y: z\nd.py-3- w\n", "grep")
    assert title == "lines by file"
    assert [(part.name, part.entry) for part in parts] == [("a-b/c.py", "a-b/c.py 2"), ("d.py", "d.py 1")]


def test_the_folders_of_a_listing_of_paths_have_the_number_of_their_paths() -> None:
    text = "./src\n./src/a/one.c\n./src/a/two.c\n./docs/b.md\n"
    parts, title = find_parts(text, "listing")
    assert title == "paths by folder"
    assert [(part.entry, text[part.start : part.end]) for part in parts] == [
        ("./ 1", "./src\n"),
        ("./src/a/ 2", "./src/a/one.c\n./src/a/two.c\n"),
        ("./docs/ 1", "./docs/b.md\n"),
    ]
    assert find_parts("total 8\n-rw-r--r-- 1 a a 3 May 2 b.md\n", "listing")[0] == ()


def test_the_line_numbers_of_a_search_in_one_file_are_no_files() -> None:
    assert find_parts("1:one: x\n2-two: y\n30:z\n", "grep")[0] == ()


def test_definitions_of_source_have_their_lines_and_end_before_the_next_line_beside_them() -> None:
    parts, title = find_parts(PYTHON, "source")
    assert title == "definitions"
    assert [part.entry for part in parts] == ["4 class First", "7 def method", "11 def second"]
    first, method, second = (PYTHON[part.start : part.end] for part in parts)
    assert method in first and second not in first and "return 1" in method


def test_lines_of_source_may_be_numbered() -> None:
    numbered = "".join(f"{number:6}\t{line}\n" for number, line in enumerate(PYTHON.splitlines(), 1))
    assert [part.entry for part in find_parts(numbered, "source")[0]] == [
        "4 class First",
        "7 def method",
        "11 def second",
    ]


def test_methods_with_a_receiver_and_types_are_definitions() -> None:
    assert [part.name for part in find_parts(GO, "source")[0]] == ["func (s *Server) Serve", "type Config"]


@pytest.mark.parametrize("kind", ["csv", "page", "log"])
def test_other_kinds_have_no_parts(kind: str) -> None:
    assert find_parts(GIT + PYTHON, kind) == ((), "")


@given(st.lists(st.sampled_from([*GIT.splitlines(), *PYTHON.splitlines(), *GO.splitlines(), "x" * 200]), max_size=40))
def test_parts_are_ordered_ranges_with_short_names(lines: list[str]) -> None:
    text = "\n".join(lines)
    for kind in ("diff", "source", "grep"):
        parts, _ = find_parts(text, kind)
        assert list(parts) == sorted(parts)
        assert all(0 <= part.start < part.end <= len(text) and len(part.name) <= MAX_NAME for part in parts)
        assert not any("\n" in part.entry for part in parts)


def snapshot(form: str) -> str:
    lines = [(0, "banner", ""), (1, "link", "Harbour office"), (0, "main", ""), (1, "heading", "Berths")]
    for quay in range(8):
        lines += [(1, "region", f"Quay {quay}"), (2, "list", "")]
        for berth in range(20):
            lines += [(3, "listitem", f"Berth {berth}"), (4, "button", "Edit"), (4, "button", "Delete")]
        if quay == 5:
            lines[-1] = (4, "button", "Release")
    if form == "playwright":
        shown = (
            f"- {role}{' ' * bool(name)}{name and repr(name)} [ref=e{n}]" for n, (_, role, name) in enumerate(lines)
        )
    else:
        shown = (f"uid=1_{n} {role}{' ' * bool(name)}{name and repr(name)}" for n, (_, role, name) in enumerate(lines))
    text = "".join(f"{'  ' * depth}{line}\n" for (depth, *_), line in zip(lines, shown, strict=True))
    return text.replace("'", '"')


@pytest.mark.parametrize("form", ["playwright", "devtools"])
def test_a_match_in_a_tree_of_roles_is_shown_with_its_ancestors(form: str) -> None:
    text = snapshot(form)
    lines = bound(text, query="which berth can be released", budget=1_000).text.split("\n")
    place = next(number for number, line in enumerate(lines) if '"Release"' in line)
    mark = next(line for line in reversed(lines[:place]) if line.startswith("[…"))
    assert mark.endswith(' region "Quay 5" > listitem "Berth 19"')


def test_a_node_of_a_tree_of_roles_ends_before_the_next_one_beside_it() -> None:
    parts, _ = find_parts('uid=1_0 main "M"\n  uid=1_1 list\n    uid=1_2 link "A"\nuid=1_3 form "F"\n', "log")
    assert [(part.start, part.end, part.name) for part in parts] == [(0, 53, 'main "M"'), (17, 53, 'main "M"')]
