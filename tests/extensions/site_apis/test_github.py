"""GitHub: issues, pull requests, repositories, files, folders, releases, commits, wikis and gists.

The repository, the folder and the release are answers that octokit recorded (fixtures/sites/github.json, from
@octokit/fixtures); the others are written from the documentation of the API.
"""

from __future__ import annotations

import base64
import json
from typing import Any

import pytest

from keyhole.extensions.site_apis.matchers import find_reader
from tests.extensions.site_apis.reading import read
from tests.support.documentation import ROOT

API = "https://api.github.com/repos/o/r"
RECORDED: dict[str, Any] = json.loads((ROOT / "fixtures" / "sites" / "github.json").read_text())
ORG = "octokit-fixture-org"
ISSUE = {
    "number": 7, "title": "Valves *leak*", "state": "closed", "state_reason": "not_planned", "comments": 2,
    "user": {"login": "ann"}, "created_at": "2024-01-02T03:04:05Z", "updated_at": "2024-02-01T00:00:00Z",
    "body": "They leak.\r\n\r\n<!-- Please fill in -->\r\n```html\n<!-- kept -->\n```\n\n# Steps\n",
    "labels": [{"name": "bug"}, {"name": "valve"}], "assignees": [{"login": "bob"}], "milestone": {"title": "v2"},
}  # fmt: skip
COMMENTS = [
    {"user": {"login": "bob"}, "created_at": "2024-01-05T00:00:00Z", "body": "Second.", "author_association": "MEMBER"},
    {"user": None, "created_at": "2024-01-04T00:00:00Z", "body": "First.", "author_association": "NONE"},
]


def issue_answers(**changes: Any) -> dict[str, object]:
    return {f"{API}/issues/7": {**ISSUE, **changes}, f"{API}/issues/7/comments?per_page=100&page=1": COMMENTS}


def test_an_issue_has_its_state_and_all_comments_by_date() -> None:
    document, requests = read("https://github.com/o/r/issues/7", issue_answers())
    assert requests == [f"{API}/issues/7", f"{API}/issues/7/comments?per_page=100&page=1"]
    assert document.title == "Valves *leak* · Issue #7"
    assert document.text.split("\n\n") == [
        "# Valves *leak* · Issue #7",
        "State: closed (not planned) · Labels: bug, valve · Milestone: v2 · Assigned to: bob",
        "**ann** · 2024-01-02",
        "They leak.",
        "```html\n<!-- kept -->\n```",
        "### Steps",
        "**unknown** · 2024-01-04",
        "First.",
        "**bob** · 2024-01-05 · member",
        "Second.\n",
    ]
    assert document.metadata.author == "ann"
    assert document.metadata.published == "2024-01-02T03:04:05Z"


def test_comments_beyond_the_limit_of_requests_are_named() -> None:
    answers = issue_answers(comments=950)
    answers |= {f"{API}/issues/7/comments?per_page=100&page={page}": COMMENTS for page in range(1, 11)}
    document, requests = read("https://github.com/o/r/issues/7#issuecomment-5", answers)
    assert len(requests) == 8
    assert "936 further comments not read." in document.text
    assert document.cut


def test_a_pull_request_has_reviews_comments_on_lines_and_the_diff() -> None:
    pull = {
        "merged_at": "2024-01-09T00:00:00Z", "changed_files": 1, "additions": 2, "deletions": 1,
        "head": {"label": "ann:fix"}, "base": {"label": "o:main"},
    }  # fmt: skip
    answers = issue_answers(comments=0, state_reason=None) | {
        f"{API}/pulls/7": pull,
        f"{API}/pulls/7/reviews?per_page=100": [
            {"user": {"login": "eve"}, "submitted_at": "2024-01-08T00:00:00Z", "state": "APPROVED", "body": "Good."},
            {"user": {"login": "eve"}, "submitted_at": "2024-01-07T00:00:00Z", "state": "COMMENTED", "body": ""},
        ],
        f"{API}/pulls/7/comments?per_page=100": [
            {"user": {"login": "eve"}, "created_at": "2024-01-07T00:00:00Z", "path": "a.py", "line": 3, "body": "Why?"}
        ],
        "https://github.com/o/r/pull/7.diff": "diff --git a/a.py b/a.py\n-old\n+new\n",
    }
    text = read("https://github.com/o/r/pull/7/files", answers)[0].text
    assert "State: merged" in text
    assert "Branches: ann:fix into o:main · Changes: 1 files, +2 −1" in text
    assert text.index("**eve** · 2024-01-07 · on a.py:3") < text.index("**eve** · 2024-01-08 · review: approved")
    assert "commented" not in text
    assert text.endswith("## Diff\n\n```diff\ndiff --git a/a.py b/a.py\n-old\n+new\n```\n")


def test_reviews_beyond_one_page_are_named() -> None:
    review = {"user": {"login": "eve"}, "submitted_at": "2024-01-08T00:00:00Z", "state": "APPROVED", "body": "Good."}
    answers = issue_answers(comments=0) | {f"{API}/pulls/7": {}, f"{API}/pulls/7/reviews?per_page=100": [review] * 100}
    assert "Further reviews not read." in read("https://github.com/o/r/pull/7", answers)[0].text


def test_a_pull_request_is_read_without_its_optional_parts() -> None:
    document, _ = read("https://github.com/o/r/pull/7", issue_answers(comments=0) | {f"{API}/pulls/7": {}})
    assert "They leak." in document.text
    missing = "the reviews, the comments on lines, the diff"
    assert document.text.endswith(f"Not read, because the API refused or failed: {missing}.\n")
    assert document.cut


def test_a_recorded_repository_has_its_facts_and_its_readme() -> None:
    readme = {"name": "README.md", "content": base64.b64encode(b"# hello-world\n\nSay hello.\n").decode()}
    answers = {
        f"https://api.github.com/repos/{ORG}/hello-world": RECORDED[f"/repos/{ORG}/hello-world"],
        f"https://api.github.com/repos/{ORG}/hello-world/readme": readme,
    }
    text = read(f"https://github.com/{ORG}/hello-world", answers)[0].text
    assert text.splitlines()[0] == f"# {ORG}/hello-world"
    assert "default branch" in text
    assert "## hello-world\n\nSay hello." in text


def test_a_repository_without_a_readme_says_so() -> None:
    answers = {f"https://api.github.com/repos/{ORG}/hello-world": RECORDED[f"/repos/{ORG}/hello-world"]}
    assert "No README was read" in read(f"https://github.com/{ORG}/hello-world", answers)[0].text


def test_a_recorded_folder_lists_its_files() -> None:
    answers = {
        f"https://api.github.com/repos/{ORG}/hello-world/contents?ref=main": RECORDED[
            f"/repos/{ORG}/hello-world/contents/"
        ]
    }
    text = read(f"https://github.com/{ORG}/hello-world/tree/main", answers)[0].text
    assert f"- [README.md](https://github.com/{ORG}/hello-world/blob/master/README.md) 13 bytes" in text


def test_a_recorded_release_has_its_tag_and_text() -> None:
    path = f"/repos/{ORG}/release-assets/releases/tags/v1.0.0"
    text = read(
        f"https://github.com/{ORG}/release-assets/releases/tag/v1.0.0",
        {f"https://api.github.com{path}": RECORDED[path]},
    )[0].text
    assert " · tag v1.0.0" in text


def test_a_file_is_a_code_block_and_markdown_stays_markdown() -> None:
    raw = "https://raw.githubusercontent.com/o/r/main"
    text = read("https://github.com/o/r/blob/main/src/a.py#L3", {f"{raw}/src/a.py": "x = '```'\n"})[0].text
    assert "````python\nx = '```'\n````" in text
    text = read("https://github.com/o/r/blob/main/docs/a%20b.md", {f"{raw}/docs/a%20b.md": "# A\n\n[next](c.md)\n"})[
        0
    ].text
    assert "## A" in text
    assert "[next](/o/r/blob/main/docs/c.md)" in text


def test_a_commit_has_its_message_and_the_diff_of_each_file() -> None:
    commit = {
        "sha": "0123456789abcdef",
        "commit": {"message": "Fix it\n\nBecause.", "author": {"name": "Ann", "date": "2024-01-02T00:00:00Z"}},
        "files": [
            {"filename": "a.py", "status": "modified", "additions": 1, "deletions": 1, "patch": "@@ -1 +1 @@\n-a\n+b"},
            {"filename": "b.bin", "status": "added", "additions": 0, "deletions": 0},
        ],
    }  # fmt: skip
    text = read("https://github.com/o/r/commit/0123456", {f"{API}/commits/0123456": commit})[0].text
    assert "Because." in text
    assert "## a.py (modified, +1 −1)\n\n```diff\n@@ -1 +1 @@\n-a\n+b\n```" in text
    assert "## b.bin (added, +0 −0)\n\nThe API sends no diff of this file." in text


def test_a_wiki_and_a_gist_are_read() -> None:
    wiki = "https://raw.githubusercontent.com/wiki/o/r/How-to.md"
    assert read("https://github.com/o/r/wiki/How-to", {wiki: "Open it."})[0].title == "How to · wiki of o/r"
    gist = {
        "description": "A script", "owner": {"login": "ann"}, "created_at": "2024-01-02T00:00:00Z",
        "updated_at": "2024-01-02T00:00:00Z",
        "files": {"a.sh": {"filename": "a.sh", "content": "ls", "truncated": True}},
    }  # fmt: skip
    document, _ = read(
        "https://gist.github.com/ann/0123456789abcdef", {"https://api.github.com/gists/0123456789abcdef": gist}
    )
    assert "## a.sh\n\n```sh\nls\n```" in document.text
    assert document.cut


@pytest.mark.parametrize(
    "url",
    ["https://github.com/features/actions", "https://github.com/o", "https://github.com/o/r/actions", "https://github.com/",
     "https://github.com/o/r/issues", "https://example.org/o/r/issues/7", "https://github.com/o/r/discussions/5"],
)  # fmt: skip
def test_other_pages_have_no_reader(url: str) -> None:
    assert find_reader(url, None) is None
