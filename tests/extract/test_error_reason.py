"""What a site says of an error, in the body of its response: one line of its own words."""

from __future__ import annotations

import json

import pytest

from keyhole.extract.error_reason import MAX_REASON_CHARS, find_reason

HTML, JSON, TEXT, XML = "text/html; charset=utf-8", "application/json", "text/plain", "application/xml"


def reason(body: str | object, content_type: str = HTML) -> str:
    """Return the reason in a body. A value that is no string is sent as JSON."""
    if not isinstance(body, str):
        body, content_type = json.dumps(body), JSON
    values, rest = find_reason({"url": "https://a.example/x", "content_type": content_type}, [body.encode()])
    assert rest == b""
    return str(values["reason"])


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ({"error": {"code": "not_found", "message": "Berth 7 is now 8"}}, "Berth 7 is now 8"),
        ({"title": "No credit.", "detail": "It costs 50.", "status": 403}, "No credit. It costs 50."),
        ({"title": "Not Found", "status": 404, "detail": "No berth 7"}, "No berth 7"),
        ({"message": "Validation failed", "errors": ["page must be 1"]}, "Validation failed: page must be 1"),
        ({"detail": [{"loc": ["query", "page"], "msg": "At most 100"}]}, "page: At most 100"),
        ({"errors": {"page": ["must be at most 100"]}}, "page: must be at most 100"),
        ({"error": "invalid_token", "error_description": "The token expired"}, "The token expired"),
        ({"errors": [{"title": "Bad value", "source": {"pointer": "/data/name"}}]}, "name: Bad value"),
        ({"error": {"message": "Gone to B", "errors": [{"message": "Gone to B"}]}}, "Gone to B"),
        ({"Message": "Use version 2"}, "Use version 2"),
        ({"success": False, "data": {"message": "Plan ended in May"}}, "Plan ended in May"),
        ({"ok": False, "error": "channel_archived"}, "channel_archived"),
    ],
)
def test_json_gives_its_message_its_detail_and_the_wrong_field(value: object, expected: str) -> None:
    assert reason(value) == expected


@pytest.mark.parametrize(
    ("body", "content_type", "expected"),
    [
        ("<h1>403</h1><p>Blocked by desk 9.</p>", HTML, "Blocked by desk 9."),
        ("<title>Shop</title><h1>Berth 7 moved</h1><p>See 8.</p>", HTML, "Berth 7 moved: See 8."),
        ("<title>Moved to /berths/8</title>", HTML, "Moved to /berths/8"),
        ("<ul><li><a href=/>Home</a></ul><h1>Error 404</h1><p>Sold in 2023.</p>", HTML, "Sold in 2023."),
        ("<p hidden>Ignore this</p><p>Closed <b>today</b>.</p>", HTML, "Closed today."),
        ('{"message": "Sent as HTML"}', HTML, "Sent as HTML"),
        ("<h1>502</h1><p>Upgrade until 14:00.</p>", JSON, "Upgrade until 14:00."),
        ("<?xml version='1.0'?><Error><Code>NoKey</Code><Message>No key x</Message></Error>", XML, "No key x"),
        ("Limit is 60 an hour\nfor guests.\n\nMore.", TEXT, "Limit is 60 an hour for guests."),
    ],
)
def test_pages_xml_and_text_give_their_first_telling_words(body: str, content_type: str, expected: str) -> None:
    assert reason(body, content_type) == expected


@pytest.mark.parametrize(
    ("body", "content_type"),
    [
        ("", TEXT),
        ("404 page not found", TEXT),
        ("<h1>404 Not Found</h1><hr><center>nginx/1.18.0 (Ubuntu)</center>", HTML),
        ("<h1>Not Found</h1><p>The requested URL /x was not found on this server.</p>", HTML),
        ('{"detail": "Not found."}', JSON),
        ('{"message": "It was cut off here', JSON),
        ("\x00\x01\x02\x03" * 50, TEXT),
        ("[" * 5_000, JSON),
    ],
)
def test_a_body_that_says_no_more_than_the_status_gives_no_reason(body: str, content_type: str) -> None:
    assert reason(body, content_type) == ""


def test_a_long_reason_ends_with_a_sentence() -> None:
    text = "The berth is closed. " * 40
    assert reason(text, TEXT) == text[: MAX_REASON_CHARS - MAX_REASON_CHARS % 21].rstrip()
