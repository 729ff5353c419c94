"""The lists that the finders request from the APIs of forges and registries, and what they read from the answers."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest

from keyhole.extensions.dead_links.api_finders import find_package, find_repository
from keyhole.extensions.dead_links.similarity import CandidateSource, CandidateUrl, Reply
from tests.extensions.dead_links.test_finders import run

TREE = json.dumps({"tree": [{"path": "docs/Hooks.md", "type": "blob"}, {"path": "docs", "type": "tree"}]}).encode()


@pytest.mark.parametrize(
    ("url", "requests", "named"),
    [
        (
            "https://raw.githubusercontent.com/o/r/master/docs/Hook.md",
            ["https://api.github.com/repos/o/r/git/trees/master?recursive=1",
             "https://api.github.com/repos/o/r/git/trees/HEAD?recursive=1"],
            "https://raw.githubusercontent.com/o/r/HEAD/docs/Hooks.md",
        ),
        (
            "https://github.com/o/r/tree/v1.0/doc/",
            ["https://api.github.com/repos/o/r/git/trees/v1.0?recursive=1",
             "https://api.github.com/repos/o/r/git/trees/HEAD?recursive=1"],
            "https://github.com/o/r/blob/HEAD/docs/Hooks.md",
        ),
        (
            "https://gitlab.example/g/sub/r/-/blob/master/Hook.md",
            ["https://gitlab.example/api/v4/projects/g%2Fsub%2Fr/repository/tree?recursive=true&per_page=100&ref=master",
             "https://gitlab.example/api/v4/projects/g%2Fsub%2Fr/repository/tree?recursive=true&per_page=100&ref=HEAD"],
            "https://gitlab.example/g/sub/r/-/blob/HEAD/docs/Hooks.md",
        ),
        (
            "https://codeberg.org/o/r/src/branch/master/Hook.md",
            ["https://codeberg.org/api/v1/repos/o/r/git/trees/master?recursive=true",
             "https://codeberg.org/api/v1/repos/o/r/git/trees/HEAD?recursive=true"],
            "https://codeberg.org/o/r/src/docs/Hooks.md",
        ),
    ],
)  # fmt: skip
def test_a_file_is_looked_for_on_its_branch_and_then_on_the_default_branch(
    url: str, requests: list[str], named: str
) -> None:
    finder = find_repository(url)
    assert finder
    assert run(finder, url, {requests[1]: TREE}) == (
        requests,
        [CandidateUrl(named, "", CandidateSource.DEFAULT_BRANCH)],
    )


def test_the_default_branch_is_not_requested_if_the_named_one_exists() -> None:
    url = "https://raw.githubusercontent.com/o/r/refs/heads/main/docs/hooks.md"
    request = "https://api.github.com/repos/o/r/git/trees/main?recursive=1"
    finder = find_repository(url)
    assert finder
    named = CandidateUrl("https://raw.githubusercontent.com/o/r/main/docs/Hooks.md", "", CandidateSource.BRANCH)
    assert run(finder, url, {request: TREE}) == ([request], [named])


@pytest.mark.parametrize("body", [b"[]", b"{}", b"not json", b'{"tree": [1, {"type": "blob"}]}', b'"text"'])
def test_an_answer_of_another_form_names_no_file(body: bytes) -> None:
    finder = find_repository("https://raw.githubusercontent.com/o/r/main/a.md")
    assert finder
    assert finder.read(Reply("x", "x", body)) == ()


@pytest.mark.parametrize(
    ("url", "request_url", "answer", "named"),
    [
        ("https://www.npmjs.com/package/@a/b/v/9.0.0", "https://registry.npmjs.org/-/package/@a/b/dist-tags",
         {"latest": "8.1.0"}, "https://www.npmjs.com/package/@a/b/v/8.1.0"),
        ("https://unpkg.com/b@1.0.0/dist/index.js", "https://unpkg.com/b@1.0.0/?meta",
         {"files": [{"path": "/lib/index.js"}]}, "https://unpkg.com/b@1.0.0/lib/index.js"),
        ("https://cdn.jsdelivr.net/npm/b@1/dist/index.js",
         "https://data.jsdelivr.com/v1/packages/npm/b@1?structure=flat",
         {"files": [{"name": "/lib/index.js"}]}, "https://cdn.jsdelivr.net/npm/b@1/lib/index.js"),
    ],
)  # fmt: skip
def test_the_registry_of_a_package_names_its_versions_or_files(
    url: str, request_url: str, answer: object, named: str
) -> None:
    finder = find_package(url)
    assert finder
    requests, candidates = run(finder, url, {request_url: json.dumps(answer).encode()})
    assert requests == [request_url]
    assert [each.url for each in candidates] == [named]
    assert finder.read(Reply(request_url, request_url, b'{"error": "no such package"}')) == ()


def test_the_feed_of_a_package_names_its_releases() -> None:
    url, feed = "https://pypi.org/project/httpx/0.99.0/", "https://pypi.org/rss/project/httpx/releases.xml"
    page = "https://pypi.org/project/httpx/"
    body = f"<channel><link>{page}</link><item><link>{page}0.28.1/</link></item></channel>"
    finder = find_package(url)
    assert finder
    requests, candidates = run(finder, url, {feed: body.encode()})
    assert requests == [feed]
    assert [each.url for each in candidates] == [f"{page}0.28.1/"]


@pytest.mark.parametrize("find", [find_package, find_repository])
@pytest.mark.parametrize("url", ["https://docs.example/a", "https://github.com/o/r", "https://pypi.org/project/httpx/"])
def test_other_addresses_belong_to_no_repository_and_no_package(find: Callable[[str], object], url: str) -> None:
    assert find(url) is None
