"""The log on stderr: lines of text or JSON, without page content, tokens and URL queries."""

from __future__ import annotations

import io
import json
import logging
import sys
from http.client import HTTPConnection
from pathlib import Path
from typing import Any

import pytest

from keyhole.cli.log_format import JsonLines, TextLines, configure_logging
from tests.support.loopback import PATIENCE, Call, Responder, Site, response, serve
from tests.support.server_process import Post, open_session, server_process, tool_call

SECRET = "hunter2hunter2"
"""Put into every place where a secret may be."""


def make_record(message: str, *args: object, error: BaseException | None = None, **extra: object) -> logging.LogRecord:
    exc_info = (type(error), error, error.__traceback__) if error else None
    result = logging.LogRecord("keyhole.x", logging.ERROR, "x.py", 1, message, args, exc_info)
    result.created, result.msecs = 1_700_000_000.25, 250.0
    result.__dict__.update(extra)
    return result


def make_error() -> BaseException:
    """Return an error with a cause and a traceback. Both messages contain the secret."""
    try:
        try:
            raise KeyError(SECRET)
        except KeyError as error:
            raise ValueError(f"about {SECRET}") from error
    except ValueError as error:
        return error


def test_a_json_line_has_time_level_logger_message_and_fields() -> None:
    line = json.loads(JsonLines().format(make_record("%s ended", "it", tool="search", outcome="ok", milliseconds=1.5)))
    assert line == {
        "time": "2023-11-14T22:13:20.250Z",
        "level": "ERROR",
        "logger": "keyhole.x",
        "message": "it ended",
        "tool": "search",
        "outcome": "ok",
        "milliseconds": 1.5,
    }


@pytest.mark.parametrize("form", [JsonLines(), TextLines()])
def test_an_exception_is_logged_with_types_and_source_lines_but_without_messages(form: logging.Formatter) -> None:
    line = form.format(make_record("failed", error=make_error()))
    assert SECRET not in line
    assert line.index("ValueError at ") < line.index("KeyError at ")
    assert "test_log_format.py" in line


@pytest.mark.parametrize("form", [JsonLines(), TextLines()])
def test_a_logged_message_cannot_begin_a_new_line(form: logging.Formatter) -> None:
    assert len(form.format(make_record("a\nkeyhole: forged\r\x1b[2J\u2028b")).splitlines()) == 1
    assert "\x1b" not in form.format(make_record("\x1b[2J"))


def unconfigured_logging(monkeypatch: pytest.MonkeyPatch) -> io.StringIO:
    """Return the stderr of loggers without any configuration, as in a fresh process."""
    monkeypatch.setattr(logging.getLogger(), "handlers", [])
    monkeypatch.setattr(sys, "stderr", written := io.StringIO())
    return written


def test_the_level_applies_only_to_keyholes_own_loggers(monkeypatch: pytest.MonkeyPatch) -> None:
    written = unconfigured_logging(monkeypatch)
    configure_logging("DEBUG", "text")
    configure_logging("DEBUG", "json")  # the last call counts
    for name in ("keyhole.a", "httpcore.http11", "httpx2", "sse_starlette.sse", "mcp.server", "asyncio"):
        logging.getLogger(name).debug("said by %s", name)
    assert [json.loads(line)["logger"] for line in written.getvalue().splitlines()] == ["keyhole.a"]


def test_the_handlers_of_an_embedding_program_are_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    unconfigured_logging(monkeypatch)
    theirs = logging.NullHandler()
    logging.getLogger().addHandler(theirs)
    configure_logging("INFO", "text")
    assert logging.getLogger().handlers == [theirs]


def leaking_site(site: Site) -> Responder:
    """Answer with the secret in the page and in every header."""

    def talk(call: Call) -> None:
        long = "<p>words <b>of</b> a long page" * 80_000 if call.path.startswith("/big") else ""
        body = f"<title>{SECRET}</title><p>{SECRET} stands here.<p>{long}"
        call.send(
            response(body.encode(), Content_Type="text/html", Set_Cookie=SECRET, ETag=f'"{SECRET}"', X_Page=SECRET)
        )

    return talk


@pytest.mark.parametrize("form", ["json", "text"])
def test_no_secret_from_a_header_a_url_or_a_page_reaches_the_log(tmp_path: Path, form: str) -> None:
    calls: list[dict[str, Any]]
    with serve(leaking_site) as site:
        settings = {
            "KEYHOLE_LOG_LEVEL": "DEBUG",
            "KEYHOLE_LOG_FORMAT": form,
            "KEYHOLE_ALLOW_PRIVATE": site.endpoint,
            "KEYHOLE_SEARXNG_URL": site.url(f"/{SECRET}"),
            "KEYHOLE_RERANK_URL": site.url("/rerank"),
            "KEYHOLE_RERANK_KEY": SECRET,
            "KEYHOLE_METRICS_TOKEN": SECRET,
            "KEYHOLE_EXTRACT_TIMEOUT": "0.1",
        }
        calls = [
            tool_call("web_fetch", url=site.url(f"/a?token={SECRET}"), query=SECRET),
            tool_call("web_fetch", url=f"http://user:{SECRET}@{site.endpoint}/"),
            tool_call("web_fetch", url=f"http://{SECRET}.invalid/?q={SECRET}"),
            tool_call("web_fetch", url=site.url(f"/big?{SECRET}")),
            tool_call("search", query=SECRET),
            tool_call("search", query=SECRET, scope="stored"),
            tool_call("read_artifact", id=SECRET, find=SECRET),
            tool_call("web_fetch", url=site.url("/"), **{SECRET: SECRET}),
            tool_call(SECRET),
            {"id": 9, "method": SECRET},
        ]
        with server_process(tmp_path, **settings) as served:
            headers = {"authorization": f"Bearer {SECRET}", "cookie": SECRET, "x_trace": SECRET}
            session = open_session(served.port, **headers)
            for call in calls:
                assert Post(served.port, call, mcp_session_id=session, **headers).answer()[0] == 200
            assert Post(served.port, calls[0], mcp_session_id=SECRET, **headers).answer()[0] == 404
            assert served.get("/metrics", authorization=f"Bearer {SECRET}")[0] == 200
            served.get(f"/mcp?token={SECRET}")
            served.get(f"/{SECRET}/?token={SECRET}", origin=SECRET, host=SECRET)
            broken = HTTPConnection("127.0.0.1", served.port, timeout=PATIENCE)
            broken.request("POST", "/mcp", f"{{{SECRET}", {"Content-Type": "application/json", "Accept": "*/*"})
            assert broken.getresponse().status == 400
            broken.close()
            served.process.terminate()
            served.wait()
    log = "".join(served.lines)
    assert SECRET not in log
    assert session not in log
    assert "POST /mcp 200" in log
    assert "web_fetch ok" in log
    if form == "json":
        lines = [json.loads(line) for line in served.lines]
        assert all(line["time"] and line["level"] and line["logger"] and line["message"] for line in lines)
        assert {line["path"] for line in lines if "path" in line} >= {"/mcp", "/readyz", "/metrics", "(other)"}
        outcomes = {(line["tool"], line["outcome"]) for line in lines if "tool" in line}
        assert {("web_fetch", "ok"), ("web_fetch", "dns_failure"), ("read_artifact", "unknown_artifact")} <= outcomes
        assert any("could not be read" in line["message"] for line in lines)
        assert any(line["logger"] == "uvicorn.error" for line in lines)
