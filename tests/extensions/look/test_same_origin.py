"""Requests for the pages are refused if a page of another site may have caused them."""

from __future__ import annotations

import pytest

from keyhole.extensions.look.access import check_request

HOST = {"host": "mcp.example"}
FORM = {**HOST, "content-type": "application/x-www-form-urlencoded"}
OWN = {"sec-fetch-site": "same-origin"}
LINK = {"sec-fetch-mode": "navigate", "sec-fetch-dest": "document"}


def status(method: str, headers: dict[str, str]) -> int:
    refusal = check_request(method, headers)
    return refusal.status if refusal else 200


@pytest.mark.parametrize(
    "headers",
    [
        {"sec-fetch-site": "same-origin", "origin": "https://mcp.example"},
        {"sec-fetch-site": "same-origin", "origin": "null"},
        {"sec-fetch-site": "same-origin"},
        {"origin": "https://mcp.example"},
        {"origin": "https://MCP.example:443"},
        {"host": "mcp.example:8443", "origin": "https://mcp.example:8443"},
        {"host": "127.0.0.1:8765", "origin": "http://127.0.0.1:8765"},
        {"authorization": "Bearer a"},
    ],
)
def test_a_form_of_the_pages_or_of_a_program_with_a_token_is_accepted(headers: dict[str, str]) -> None:
    assert status("POST", FORM | headers) == 200


@pytest.mark.parametrize(
    "headers",
    [
        {},
        {"origin": "null"},
        {"origin": "https://evil.example"},
        {"origin": "https://sibling.mcp.example"},
        {"origin": "https://mcp.example.evil.example"},
        {"origin": "http://mcp.example"},
        {"origin": "https://mcp.example:8443"},
        {"sec-fetch-site": "same-origin", "origin": "https://evil.example"},
        {"sec-fetch-site": "none"},
        {"sec-fetch-site": "same-site", "origin": "https://sibling.mcp.example"},
        {"sec-fetch-site": "cross-site", "origin": "https://evil.example"},
        {"sec-fetch-site": "cross-site", "origin": "null"},
        {"sec-fetch-site": "cross-site", "origin": "https://mcp.example"},
        {"sec-fetch-site": "", "origin": "https://mcp.example"},
        {"host": "127.0.0.1:8765", "origin": "http://127.0.0.1:8766"},
        {"host": "127.0.0.1:8765", "origin": "http://localhost:8765"},
        {"origin": "https://evil.example", "authorization": "Bearer a"},
    ],
)
def test_a_form_of_another_site_is_refused(headers: dict[str, str]) -> None:
    assert status("POST", FORM | headers) == 403


@pytest.mark.parametrize(
    "content_type",
    [
        "",
        "text/plain",
        "application/json",
        "multipart/form-data; boundary=a",
        "application/x-www-form-urlencoded, text/plain",
    ],
)
def test_a_body_that_is_no_form_is_refused(content_type: str) -> None:
    assert status("POST", {**FORM, **OWN, "content-type": content_type}) == 415
    assert status("POST", {**FORM, **OWN, "content-encoding": "gzip"}) == 415


@pytest.mark.parametrize("method", ["PUT", "DELETE", "PATCH", "OPTIONS", "TRACE", "get", ""])
def test_another_method_is_refused(method: str) -> None:
    assert status(method, FORM | OWN) == 405


@pytest.mark.parametrize("method", ["GET", "HEAD"])
@pytest.mark.parametrize("headers", [{}, OWN, {"sec-fetch-site": "none"}, {"sec-fetch-site": "cross-site", **LINK}])
def test_a_page_opened_by_a_person_or_by_a_link_is_shown(method: str, headers: dict[str, str]) -> None:
    assert status(method, HOST | headers) == 200


@pytest.mark.parametrize("site", ["cross-site", "same-site", "unknown", ""])
@pytest.mark.parametrize(
    "purpose",
    [
        {},
        {"sec-fetch-mode": "no-cors", "sec-fetch-dest": "script"},
        {"sec-fetch-mode": "no-cors", "sec-fetch-dest": "image"},
        {"sec-fetch-mode": "cors", "sec-fetch-dest": "empty"},
        {"sec-fetch-mode": "navigate", "sec-fetch-dest": "iframe"},
        {"sec-fetch-mode": "navigate", "sec-fetch-dest": "object"},
    ],
)
def test_another_site_can_neither_embed_nor_read_a_page(site: str, purpose: dict[str, str]) -> None:
    assert status("GET", {**HOST, "sec-fetch-site": site, **purpose}) == 403


def test_a_get_with_the_origin_of_another_site_is_refused() -> None:
    assert status("GET", {**HOST, "origin": "https://evil.example"}) == 403
    assert status("GET", {**HOST, "origin": "https://mcp.example"}) == 200
