"""GitLab and Codeberg. The answers are written from the documentation of the APIs."""

from __future__ import annotations

import pytest

from keyhole.extensions.site_apis.matchers import find_reader
from tests.extensions.site_apis.reading import read

API = "https://gitlab.example/api/v4/projects/g%2Fsub%2Fr"
ISSUE = {
    "title": "Valves leak", "state": "opened", "author": {"username": "ann"}, "description": "They leak.",
    "created_at": "2024-01-02T00:00:00Z", "updated_at": "2024-01-03T00:00:00Z", "labels": ["bug"], "milestone": None,
    "user_notes_count": 1,
}  # fmt: skip
NOTES = [
    {"author": {"username": "bot"}, "created_at": "2024-01-02T01:00:00Z", "body": "changed the label", "system": True},
    {"author": {"username": "bob"}, "created_at": "2024-01-02T02:00:00Z", "body": "Replace the seal.", "system": False},
]


def test_an_issue_of_gitlab_has_its_comments_without_those_of_the_system() -> None:
    notes = f"{API}/issues/7/notes?sort=asc&order_by=created_at&per_page=100"
    document, _ = read("https://gitlab.example/g/sub/r/-/issues/7", {f"{API}/issues/7": ISSUE, notes: NOTES})
    assert document.text.split("\n\n") == [
        "# Valves leak · g/sub/r#7", "State: opened · Labels: bug", "**ann** · 2024-01-02", "They leak.",
        "**bob** · 2024-01-02", "Replace the seal.\n",
    ]  # fmt: skip
    assert not document.cut


def test_comments_that_the_api_refuses_are_named_as_missing() -> None:
    document, _ = read("https://gitlab.example/g/sub/r/-/work_items/7", {f"{API}/issues/7": ISSUE})
    assert document.text.endswith("1 further comment not read.\n")
    assert document.cut


def test_a_merge_request_names_its_branches() -> None:
    change = {**ISSUE, "source_branch": "fix", "target_branch": "main", "user_notes_count": 0}
    document, _ = read("https://gitlab.example/g/sub/r/-/merge_requests/3", {f"{API}/merge_requests/3": change})
    assert document.title == "Valves leak · g/sub/r!3"
    assert "Branches: fix into main" in document.text


def test_an_issue_of_codeberg_has_its_comments() -> None:
    api = "https://codeberg.org/api/v1/repos/o/r/issues/7"
    issue = {
        "title": "Valves leak", "state": "open", "user": {"login": "ann"}, "body": "They leak.", "comments": 1,
        "created_at": "2024-01-02T00:00:00Z", "updated_at": "2024-01-02T00:00:00Z", "labels": [{"name": "bug"}],
    }  # fmt: skip
    comments = [{"user": {"login": "bob"}, "created_at": "2024-01-03T00:00:00Z", "body": "Replace it."}]
    document, _ = read("https://codeberg.org/o/r/issues/7", {api: issue, f"{api}/comments": comments})
    assert "**bob** · 2024-01-03\n\nReplace it." in document.text
    assert "Labels: bug" in document.text


@pytest.mark.parametrize(
    ("url", "raw"),
    [
        ("https://gitlab.example/g/r/-/blob/main/src/a.py", "https://gitlab.example/g/r/-/raw/main/src/a.py"),
        ("https://codeberg.org/o/r/src/branch/main/src/a.py", "https://codeberg.org/o/r/raw/branch/main/src/a.py"),
    ],
)
def test_a_file_is_a_block_of_code(url: str, raw: str) -> None:
    document, _ = read(url, {raw: "print(1)\n"})
    assert document.title.startswith("src/a.py · ")
    assert "```python\nprint(1)\n```" in document.text


def test_a_file_that_is_not_text_is_an_answer_of_another_form() -> None:
    with pytest.raises(ValueError, match="not text"):
        read("https://codeberg.org/o/r/src/branch/main/a.bin", {"https://codeberg.org/o/r/raw/branch/main/a.bin": "\0"})


def test_other_pages_have_no_reader() -> None:
    assert find_reader("https://codeberg.org/o/r", None) is None
    assert find_reader("https://gitlab.example/g/r/-/pipelines/5", None) is None
