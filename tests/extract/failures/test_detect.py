"""Failure pages with a success status are detected; pages that write about failures are not."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from keyhole.errors import KeyholeError
from keyhole.extract import extract
from keyhole.extract.failures.detect import is_home_redirect
from keyhole.text.challenges import find_challenge_header, find_challenge_in_error

SOFT = Path(__file__).resolve().parents[3] / "fixtures" / "soft"
CASES = json.loads((SOFT / "cases.json").read_text(encoding="utf-8"))


def outcome_of(html: str | bytes, url: str = "https://example.org/page", requested_url: str = "") -> tuple[str, str]:
    """Return the error code of a page and "error", or its notice and "notice"."""
    body = html.encode() if isinstance(html, str) else html
    try:
        document = extract(body, url=url, content_type="text/html; charset=utf-8", requested_url=requested_url)
    except KeyholeError as error:
        return str(error.code), "error"
    return document.notice, "notice" if document.notice else ""


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["file"])
def test_each_recorded_page_has_the_expected_outcome(case: dict[str, str]) -> None:
    found = outcome_of((SOFT / case["file"]).read_bytes(), case["url"], case.get("requested_url", ""))
    assert found == (case["kind"], case["outcome"])


def test_the_cases_list_every_file_once() -> None:
    assert sorted(case["file"] for case in CASES) == sorted(path.name for path in SOFT.glob("*.html"))


TEXT = "<p>" + "The mill stands at the bend of the river, and its wheel has turned since the year of the flood. " * 30


@pytest.mark.parametrize(
    "beside",
    [
        '<header><form action="/login"><input name="user"><input type="password"><button>Go</button></form></header>',
        '<div class="paywall"></div><p>Subscribe to continue reading.</p>',
        '<div class="g-recaptcha"></div><p>Please verify you are human.</p>',
        '<div id="onetrust-banner-sdk">We and our partners use cookies. Accept all. Before you continue, choose.</div>',
        "<script>window._cf_chl_opt={};</script>",
    ],
)
def test_a_long_text_beside_marks_of_failures_is_not_a_failure(beside: str) -> None:
    assert outcome_of(f"<title>The mill</title>{beside}<article><h1>The mill</h1>{TEXT}</article>") == ("", "")


def test_a_page_that_writes_about_a_mark_is_not_a_challenge() -> None:
    assert outcome_of("<title>Notes</title><p>The page sets <code>_cf_chl_opt</code> and waits.") == ("", "")


def test_a_long_page_at_a_login_url_has_a_notice() -> None:
    html = f'<title>Sign in</title><form><input type="password"></form><article><h1>Our service</h1>{TEXT}</article>'
    found = outcome_of(html, "https://example.org/login?next=/a", "https://example.org/a")
    assert found == ("login_required", "notice")


def test_a_full_text_declared_as_not_free_is_not_a_preview() -> None:
    html = (
        '<script type="application/ld+json">{"@type":"NewsArticle","isAccessibleForFree":false,'
        '"hasPart":{"isAccessibleForFree":false,"cssSelector":".body"}}</script>'
        f'<title>The mill</title><article class="body"><h1>The mill</h1>{TEXT}</article>'
    )
    assert outcome_of(html) == ("", "")


def test_a_declared_word_count_above_the_shown_words_makes_a_preview() -> None:
    html = (
        '<script type="application/ld+json">{"@type":"NewsArticle","isAccessibleForFree":false,"wordCount":4000}'
        f"</script><title>The mill</title><article><h1>The mill</h1>{TEXT}</article>"
    )
    assert outcome_of(html) == ("paywalled", "notice")


@pytest.mark.parametrize(
    ("url", "requested", "home"),
    [
        ("https://a.example/", "https://a.example/news/2019/x", True),
        ("https://www.a.example/en/", "https://a.example/news/2019/x", True),
        ("https://a.example/", "https://a.example/index.html", False),
        ("https://a.example/", "https://a.example/de/", False),
        ("https://a.example/", "https://short.example/news", False),
        ("https://a.example/?p=5", "https://a.example/news/5", False),
        ("https://a.example/", "http://[broken", False),
        ("https://a.example/news", "https://a.example/news/2019/x", False),
    ],
)
def test_a_redirect_from_a_deep_url_to_the_home_page_is_detected(url: str, requested: str, home: bool) -> None:
    assert is_home_redirect(url, requested) is home


def test_a_challenge_is_detected_by_its_header() -> None:
    assert find_challenge_header({"cf-mitigated": "challenge"}) == "Cloudflare"
    assert find_challenge_header({"x-amzn-waf-action": "captcha"}) == "AWS WAF"
    assert find_challenge_header({"cf-mitigated": "block", "server": "cloudflare"}) == ""


def test_a_challenge_is_detected_by_the_body_of_an_error_even_in_entities() -> None:
    assert find_challenge_in_error(b"<p>https&#58;&#47;&#47;errors&#46;edgesuite&#46;net&#47;18") == "Akamai"
    assert (
        find_challenge_in_error(b"<h1>404</h1><script src=/cdn-cgi/challenge-platform/scripts/jsd/main.js></script>")
        == ""
    )
    assert find_challenge_in_error(b"\xff\xfe\x00") == ""
    assert find_challenge_in_error(b"&#" + b"9" * 5_000 + b";") == ""


@pytest.mark.parametrize(
    "piece", ["<input type=password>", "<h1>404</h1>", "[[[(", '"isAccessibleForFree":false,', "\u0130"]
)
def test_a_hostile_page_takes_linear_time(piece: str) -> None:
    outcome_of(f"<title>{piece * 200}</title>{piece * 20_000}")
