"""Test that API keys reach only their engine, even if a server repeats everything it receives."""

from __future__ import annotations

import base64
import json
import logging
import os
import subprocess
import sys
from urllib.parse import quote, quote_plus

import pytest

from keyhole.config.config import Config
from keyhole.config.load import parse_config
from keyhole.errors import KeyholeError
from keyhole.fetch.base import ApiCall
from keyhole.records import SearchRequest
from keyhole.websearch.registry import build_engines
from tests.support.engine_answers import KEY, KEYED_NAMES, response_bytes, run_search
from tests.support.fakes import search_api
from tests.support.loopback import Call

SPELLINGS = [KEY, quote(KEY, safe=""), quote_plus(KEY), KEY[:12], KEY[-12:], base64.b64encode(KEY.encode()).decode()]
STATUSES = [200, 302, 400, 401, 402, 403, 422, 429, 432, 500, 503, 504]
REQUEST = SearchRequest("a question", 5)
ALL = pytest.mark.parametrize("engine", KEYED_NAMES)


def request_text(call: Call) -> str:
    """Return the request as text, plain and decoded, as a server could repeat it."""
    secret = base64.b64encode(KEY.encode()).decode()
    return f"{call.head.decode('latin-1')} {call.body.decode()} {secret}"


def as_error(call: Call) -> str:
    """Return an error message in every JSON field in which engines send one."""
    echo = request_text(call)
    return json.dumps(
        {"message": echo, "error": {"code": echo, "detail": echo}, "response": {"status": echo}, "results": echo}
    )


def as_a_hit(call: Call) -> str:
    """Return a successful answer whose texts repeat the request."""
    echo = request_text(call).replace("\r\n", " ")
    row = {"title": echo, "description": echo, "content": echo, "snippet": echo, "desc": echo, "highlights": [echo]}
    url = "https://a.example/?" + (call.headers.get("x-api-key") or call.path.partition("?")[2])
    rows = [{**row, "url": url, "link": url}]
    return json.dumps(
        {"type": "search", "results": rows, "web": {"results": rows}, "organic": rows,
         "response": {"status": "OK", "results": rows}}
    )  # fmt: skip


def result_or_error(engine: str, form: str, status: int) -> str:
    """Search with a server that repeats the request, in headers too; return the result or the error as text."""

    def answer(call: Call) -> bytes:
        assert KEY in request_text(call) or quote(KEY, safe="") in request_text(call)
        body = {"words": as_error, "hit": as_a_hit, "text": request_text}[form](call)
        head = call.head.decode("latin-1").replace("\r\n", " ")
        return response_bytes(body.encode(), status, X_Heard=head, Content_Type="application/json")

    try:
        return repr(run_search(engine, REQUEST, answer)[0])
    except KeyholeError as error:
        return f"{error!r} {error.message} {error.facts} {error.__cause__!r}"


@ALL
@pytest.mark.parametrize("form", ["words", "text"])
@pytest.mark.parametrize("status", STATUSES)
def test_no_failure_repeats_a_key(engine: str, form: str, status: int, caplog: pytest.LogCaptureFixture) -> None:
    # Logging as the command line configures it: httpcore logs the heads of answers.
    caplog.set_level(logging.DEBUG)
    caplog.set_level(logging.INFO, logger="httpcore")
    repeated = result_or_error(engine, form, status) + caplog.text
    assert not [spelling for spelling in SPELLINGS if spelling in repeated]


@ALL
def test_no_result_repeats_a_key(engine: str) -> None:
    repeated = result_or_error(engine, "hit", 200)
    assert repeated.startswith("(Hit(")
    assert not [spelling for spelling in SPELLINGS[:3] if spelling in repeated]


def test_neither_settings_nor_calls_nor_engines_show_a_key() -> None:
    config = parse_config({f"KEYHOLE_{name.upper()}_KEY": KEY for name in KEYED_NAMES})
    assert config.brave_key == config.exa_key == KEY
    shown = [config, ApiCall(f"https://a.example/?api_key={KEY}", (("X-Key", KEY),)), *vars(Config).values()]
    shown += build_engines(config, search_api()).values()
    assert KEY not in repr(shown)


@ALL
def test_an_invalid_key_is_refused_without_repeating_it(engine: str) -> None:
    for raw in ("s3cret with spaces", "s3cr\xe9t-and-more", "s3cret", "s3cret-\r\nX-Other: 1"):
        with pytest.raises(KeyholeError) as caught:
            parse_config({f"KEYHOLE_{engine.upper()}_KEY": raw})
        assert caught.value.message.startswith(f"KEYHOLE_{engine.upper()}_KEY: must be ")
        assert "s3cr" not in f"{caught.value!r} {caught.value.message} {caught.value.__cause__!r}"


def test_the_command_line_does_not_log_keys() -> None:
    code = "import logging, keyhole.cli.main as c; c.main(['select', '/dev/null', '-q', 'x'])"
    code += (
        "; print(logging.getLogger('keyhole').level, logging.getLogger('httpcore.http11').isEnabledFor(logging.DEBUG))"
    )
    environment = {**os.environ, "KEYHOLE_LOG_LEVEL": "DEBUG"}
    run = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, timeout=60)
    assert run.stdout.splitlines()[-1] == "10 False"
