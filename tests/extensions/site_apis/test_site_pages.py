"""Objects of sites are read through their API; what fails there is read as HTML, and the result says so."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest

from keyhole.config.config import SITES, Config
from keyhole.config.load import load_config
from keyhole.errors import Code, KeyholeError
from keyhole.extensions.site_apis.site_pages import PAUSE_SECONDS
from keyhole.records import Answer
from keyhole.retrieval.retrieve import Retrieval
from tests.support.documentation import ROOT
from tests.support.fakes import Clock, Hangs, page
from tests.support.product import retrieval

URL = "https://github.com/o/r/issues/7"
API = "https://api.github.com/repos/o/r/issues/7"
ISSUE = {
    "number": 7, "title": "Valves leak", "state": "open", "comments": 1, "user": {"login": "ann"},
    "created_at": "2024-01-02T03:04:05Z", "updated_at": "2024-01-02T03:04:05Z", "body": "They leak at night.",
}  # fmt: skip
COMMENTS = [{"user": {"login": "bob"}, "created_at": "2024-01-05T00:00:00Z", "body": "Replace the seal."}]
HTML = page(URL, f"<title>Valves leak</title><main><h1>Valves leak</h1><p>{'As HTML, they leak. ' * 30}")
LIMITED = KeyholeError(Code.RATE_LIMITED, "HTTP 429; Retry-After 60 s", status=429, retry_after=60)


def api_page(url: str, value: object) -> Any:
    return page(url, json.dumps(value), "application/json")


def answers(**changes: Any) -> dict[str, Any]:
    comments = f"{API}/comments?per_page=100&page=1"
    return {API: api_page(API, {**ISSUE, **changes}), comments: api_page(comments, COMMENTS), URL: HTML}


def fetch(product: Retrieval, url: str = URL, **arguments: Any) -> Answer:
    return asyncio.run(product.web_fetch(url, **arguments))


def requests(product: Retrieval) -> list[str]:
    calls: list[str] = product.pages.fetcher.calls  # type: ignore[attr-defined]
    return calls


def test_an_issue_is_read_through_the_api_under_its_own_address() -> None:
    product = retrieval(answers())
    answer = fetch(product)
    first = answer.text.splitlines()[0]
    assert first.startswith(f"{URL} ")
    assert first.endswith("published 2024-01-02, through the API of github")
    assert "**bob** · 2024-01-05\n\nReplace the seal." in answer.text
    assert requests(product) == [API, f"{API}/comments?per_page=100&page=1"]
    assert product.store.get(str(answer.facts["artifact_id"])).url == URL


def test_the_passages_of_a_query_come_with_their_author() -> None:
    text = fetch(retrieval(answers(body="They leak. " * 600)), query="replace seal", max_chars=2_000).text
    assert "**bob** · 2024-01-05" in text
    assert "Replace the seal." in text


@pytest.mark.parametrize(
    ("fault", "reason"),
    [
        (LIMITED, "the API of github failed (rate_limited)"),
        (KeyholeError(Code.FORBIDDEN, "HTTP 403", status=403), "the API of github failed (forbidden)"),
        (KeyholeError(Code.NOT_FOUND, "HTTP 404", status=404), "the API of github failed (not_found)"),
        (api_page(API, {"message": "changed"}), "the API of github sent an answer of another form"),
        (api_page(API, [1]), "the API of github sent an answer of another form"),
        (page(API, "<html>", "text/html"), "the API of github sent an answer of another form"),
        (Hangs(), "the API of github was too slow"),
    ],
)
def test_what_fails_is_read_as_html_and_the_result_says_so(fault: object, reason: str) -> None:
    answer = fetch(retrieval(answers() | {API: fault}, config=Config(timeout=1)))
    assert not answer.is_error
    assert f"Read as HTML: {reason}." in answer.text
    assert "As HTML, they leak." in answer.text


def test_an_optional_answer_that_is_too_large_is_named_as_not_read() -> None:
    npm = "https://registry.npmjs.org/valve"
    manifest = api_page(f"{npm}/latest", {"name": "valve", "version": "1.0.0", "description": "Opens"})
    product = retrieval({f"{npm}/latest": manifest, npm: page(npm, "{", "application/json", cut=True)})
    text = fetch(product, "https://www.npmjs.com/package/valve").text
    assert "- Version: 1.0.0" in text
    assert "Not read, because the API refused or failed: the other versions and the README." in text


def test_a_file_that_is_not_text_is_read_as_any_file_under_the_address_of_its_page() -> None:
    url = "https://github.com/o/r/blob/main/docs/paper.pdf"
    raw = "https://raw.githubusercontent.com/o/r/main/docs/paper.pdf"
    body = (ROOT / "fixtures" / "formats" / "memo.pdf").read_bytes()
    product = retrieval({raw: page(raw, body, "application/octet-stream")})
    answer = fetch(product, url)
    assert answer.details["media_type"] == "application/pdf"
    assert answer.details["url"] == url
    assert "Read as HTML" not in answer.text


def test_an_api_that_refused_is_not_asked_for_some_minutes() -> None:
    clock = Clock()
    product = retrieval(answers() | {API: LIMITED}, clock=clock)
    fetch(product)
    requests(product).clear()
    fetch(product, refresh=True)
    assert requests(product) == [URL]
    clock.now += PAUSE_SECONDS + 1
    fetch(product, refresh=True)
    assert API in requests(product)


def test_an_object_that_neither_form_has_is_not_found() -> None:
    gone = KeyholeError(Code.NOT_FOUND, "HTTP 404", status=404)
    assert fetch(retrieval({API: gone, URL: gone})).text.startswith("not_found: HTTP 404.")


@pytest.mark.parametrize(
    ("setting", "through_api"), [("off", False), ("npm,pypi", False), ("github", True), ("all", True)]
)
def test_the_setting_names_the_sites_that_are_read_so(setting: str, through_api: bool) -> None:
    config = load_config({"KEYHOLE_SITES": setting, "KEYHOLE_HOME": "/nonexistent"})
    product = retrieval(answers(), config=config)
    fetch(product)
    assert (API in requests(product)) is through_api


def test_an_unknown_site_is_an_error_that_names_the_known_ones() -> None:
    with pytest.raises(KeyholeError, match="does not know 'gitlub'; the names are github, gitlab"):
        load_config({"KEYHOLE_SITES": "gitlub"})


def test_the_token_is_sent_only_to_the_repository_in_the_api() -> None:
    product = retrieval(answers(), config=Config(github_token="ghp_0123456789"))
    fetch(product)
    options = product.pages.fetcher.options  # type: ignore[attr-defined]
    for credential in (each.permission.credential for each in options):
        assert credential.authorization == "Bearer ghp_0123456789"
        assert credential.applies_to(API)
        assert not credential.applies_to("https://api.github.com/repos/o/other/issues/7")
        assert not credential.applies_to("https://api.github.com/user/repos")
        assert not credential.applies_to("https://api.github.com/repos/o/r/..%2f..%2f..%2fuser%2frepos")
        assert not credential.applies_to("http://api.github.com/repos/o/r/issues/7")
    product = retrieval({URL: HTML}, config=Config(github_token="ghp_0123456789", sites=()))
    fetch(product)
    assert product.pages.fetcher.options[0].permission.credential is None  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    "url",
    [
        "https://github.com/o/r/tree/main/..%2f..%2f..%2f..%2fuser%2frepos",
        "https://github.com/o/r/tree/main/%252e%252e%252f%252e%252e%252fuser",
        "https://github.com/o/r/blob/main/a/%2e%2e%2f%2e%2e/b.md",
        "https://github.com/o/r/releases/tag/..%2f..%2f..%2fuser",
        "https://github.com/o/r/wiki/..%2f..%2fother%2frepo%2fHome",
        "https://gitlab.example/g/r/-/blob/main/..%2f..%2fsecret/-/raw/x.md",
        "https://gitlab.example/g%2f..%2fx/r/-/issues/1",
    ],
)
def test_an_address_with_hidden_segments_is_read_as_html_without_a_request_to_an_api(url: str) -> None:
    product = retrieval({url: page(url, f"<h1>Page</h1><p>{'Words of the page. ' * 30}")})
    assert not fetch(product, url).is_error
    assert requests(product) == [url]


def test_a_ref_with_signs_of_a_query_stays_one_value() -> None:
    url = "https://github.com/o/r/tree/a%26token=x%23/docs"
    product = retrieval({url: page(url, f"<h1>Page</h1><p>{'Words of the page. ' * 30}")})
    fetch(product, url)
    assert requests(product)[0] == "https://api.github.com/repos/o/r/contents/docs?ref=a%26token%3Dx%23"


def test_an_answer_that_another_host_sent_is_not_composed() -> None:
    elsewhere = page(API, json.dumps(ISSUE), "application/json", final_url="https://other.example/issue.json")
    answer = fetch(retrieval(answers() | {API: elsewhere}))
    assert "Read as HTML: the API of github failed (domain_not_allowed)." in answer.text


@pytest.mark.parametrize(
    "body", ["[" * 200_000, '{"a":' * 200_000, '{"comments": 1e999}', '{"comments": ' + "9" * 5_000 + "}"]
)
def test_nested_or_absurd_json_is_an_answer_of_another_form(body: str) -> None:
    for url, api in (
        (URL, API),
        ("https://gitlab.example/g/p/-/issues/1", "https://gitlab.example/api/v4/projects/g%2Fp/issues/1"),
        ("https://codeberg.org/o/r/issues/1", "https://codeberg.org/api/v1/repos/o/r/issues/1"),
    ):
        html = page(url, f"<h1>Page</h1><p>{'Words of the page. ' * 30}")
        found = {
            url: html,
            api: page(api, body, "application/json"),
            f"{api}/comments": page(api, "[]", "application/json"),
        }
        answer = fetch(retrieval(found), url)
        assert "sent an answer of another form." in answer.text


def test_each_site_of_the_setting_has_a_reader() -> None:
    from keyhole.extensions.site_apis.matchers import find_reader

    urls = [
        URL, "https://gitlab.com/g/r/-/issues/1", "https://codeberg.org/o/r/issues/1",
        "https://pypi.org/project/a/", "https://www.npmjs.com/package/a", "https://crates.io/crates/a", "https://central.sonatype.com/artifact/g/a",
        "https://rubygems.org/gems/a", "https://stackoverflow.com/q/1", "https://news.ycombinator.com/item?id=1",
        "https://lobste.rs/s/a", "https://discuss.example.org/t/a/1", "https://arxiv.org/abs/2401.00001",
        "https://www.rfc-editor.org/rfc/rfc1",
    ]  # fmt: skip
    readers = [find_reader(url, None) for url in urls]
    assert tuple(reader.name for reader in readers if reader) == SITES
