"""Run the cookbook's recipes on loopback: local-model.md, long-page.md, intranet.md, team.md."""

from __future__ import annotations

import asyncio
import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from benchmarks.search.web import searx
from benchmarks.search.web.processes import serve_web
from keyhole.cli.build import build
from keyhole.cli.demo_site import recorded_pages
from keyhole.cli.demo_site import serve as serve_pages
from keyhole.cli.main import main
from keyhole.config.load import parse_config
from keyhole.records import Answer
from keyhole.store.base import LOCAL
from tests.clients.tool_calls import next_call
from tests.support.blocks import iter_blocks
from tests.support.documentation import DOCS, QUESTION
from tests.support.loopback import PATIENCE, Call, response, serve
from tests.support.server_process import INITIALIZE, Post, server_process

SCRIPTS = Path(sys.executable).parent
PAGE = "routine-vacuuming"
ANSWER = "vacuum threshold = vacuum base threshold + vacuum scale factor * number of tuples"


def recipe(name: str, language: str) -> str:
    """Join the blocks of a recipe that are in a language."""
    return "".join(block.text for block in iter_blocks(DOCS / "cookbook" / f"{name}.md") if block.language == language)


def exported(name: str) -> dict[str, str]:
    """Return the variables that a recipe's shell blocks export; a later value replaces an earlier one."""
    return dict(re.findall(r"^export ([A-Z_]+)=(\S+)", recipe(name, "sh"), re.MULTILINE))


def run(program: str, *words: str, **environment: str) -> str:
    """Run a Python program with Keyhole's scripts on PATH; return its output."""
    path = os.pathsep.join([str(SCRIPTS), os.environ["PATH"]])
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", program, *words],
        env={"PATH": path, **environment},
        capture_output=True,
        text=True,
        timeout=6 * PATIENCE,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


class Model:
    """A fake model with OpenAI's chat API: it fetches a page, makes the call after `Next:`, then quotes the answer."""

    def __init__(self, url: str) -> None:
        self.url = url
        self.requests: list[dict[str, Any]] = []

    def __call__(self, call: Call) -> None:
        assert (call.method, call.path) == ("POST", "/v1/chat/completions")
        request = json.loads(call.body)
        self.requests.append(request)
        call.send(response(json.dumps({"choices": [{"message": self.reply(request["messages"])}]}).encode()))

    def reply(self, messages: list[dict[str, Any]]) -> dict[str, Any]:
        """Return the next message of the model."""
        results = [message["content"] for message in messages if message["role"] == "tool"]
        if not results:
            return self.tool_call("web_fetch", url=self.url, query=QUESTION)
        if len(results) == 1:
            tool, arguments = next_call(results[0])
            return self.tool_call(tool, **arguments)
        return {"role": "assistant", "content": next(line for line in results[0].splitlines() if ANSWER in line)}

    def tool_call(self, tool: str, **arguments: Any) -> dict[str, Any]:
        """Return a message that calls a tool."""
        function = {"name": tool, "arguments": json.dumps(arguments)}
        calls = [{"id": f"call-{len(self.requests)}", "type": "function", "function": function}]
        return {"role": "assistant", "content": None, "tool_calls": calls}


def test_the_local_model_recipe_answers_from_a_page_within_its_budget(tmp_path: Path) -> None:
    with serve_pages(recorded_pages()) as port:
        model = Model(f"http://127.0.0.1:{port}/{PAGE}")
        with serve(lambda _site: model) as api:
            printed = run(
                recipe("local-model", "python"),
                QUESTION,
                OPENAI_BASE_URL=f"http://127.0.0.1:{api.port}/v1",
                KEYHOLE_HOME=str(tmp_path),
                KEYHOLE_ALLOW_PRIVATE=f"127.0.0.1:{port}",
                **exported("local-model"),
            )
    assert printed.strip() == ANSWER
    tools = model.requests[0]["tools"]
    assert [tool["function"]["name"] for tool in tools] == ["web_fetch", "search", "read_artifact"]
    assert all(tool["function"]["parameters"]["type"] == "object" for tool in tools)
    messages = model.requests[-1]["messages"]
    sizes = [len(message["content"].encode()) for message in messages if message["role"] == "tool"]
    assert len(sizes) == 2
    assert max(sizes) < 9_000


def test_the_windows_of_the_long_page_recipe_cover_the_page(tmp_path: Path) -> None:
    with serve_pages(recorded_pages()) as port:
        printed = run(
            recipe("long-page", "python"),
            f"http://127.0.0.1:{port}/{PAGE}",
            KEYHOLE_HOME=str(tmp_path),
            KEYHOLE_ALLOW_PRIVATE=f"127.0.0.1:{port}",
        )
    windows = [[int(number) for number in re.findall(r"\d+", line)] for line in printed.splitlines()]
    assert len(windows) > 3
    assert [start for start, _, _ in windows] == [0, *(end for _, end, _ in windows[:-1])]
    assert windows[-1][1] == windows[-1][2]


def test_the_long_page_recipe_reports_an_error_without_a_traceback(tmp_path: Path) -> None:
    printed = run(recipe("long-page", "python"), "http://127.0.0.1:9/", KEYHOLE_HOME=str(tmp_path))
    assert printed.startswith("blocked_address: ")


def run_search(settings: dict[str, str], question: str) -> Answer:
    """Search with these settings; return the answer."""

    async def call() -> Answer:
        product = build(parse_config(settings))
        try:
            return await product.of(LOCAL).search(question)
        finally:
            await product.aclose()

    return asyncio.run(call())


def test_the_intranet_recipe_searches_with_its_token_and_reads_the_page(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = {"results": [{"url": "/holiday", "title": "Holiday", "excerpt": "Everybody has holiday."}]}
    page = (
        "<title>Holiday</title><h1>Holiday</h1>" + "<p>Everybody who works here has 31 days of holiday a year.</p>" * 9
    )

    def talk(call: Call) -> None:
        wanted = call.path.startswith("/rest/search?q=")
        call.send(response(json.dumps(found).encode() if wanted else page.encode(), Content_Type="text/html"))

    with serve(lambda _site: talk) as site:
        host = f"127.0.0.1:{site.port}"
        file = tmp_path / "engines.toml"
        file.write_text(recipe("intranet", "toml").replace("https://wiki.corp.example", f"http://{host}"))
        settings = exported("intranet")
        monkeypatch.setenv("HANDBOOK_TOKEN", settings["HANDBOOK_TOKEN"])
        answer = run_search(
            {
                "KEYHOLE_HOME": str(tmp_path / "home"),
                "KEYHOLE_ENGINES_FILE": str(file),
                "KEYHOLE_ALLOW_PRIVATE": settings["KEYHOLE_ALLOW_PRIVATE"].replace("wiki.corp.example:443", host),
            },
            "how many days of holiday are there",
        )
    assert "31 days of holiday a year" in answer.text
    search = next(call for call in site.calls if call.path.startswith("/rest/search"))
    assert search.headers["authorization"] == "Bearer read-only-token"
    assert all("authorization" not in call.headers for call in site.calls if call.path == "/holiday")


@pytest.mark.skipif(not searx.is_installed(), reason="searx is not installed")
def test_the_intranet_recipe_searches_a_searxng_on_a_private_address(tmp_path: Path) -> None:
    settings = {name: exported("intranet")[name] for name in ("KEYHOLE_SEARXNG_URL",)} | {"KEYHOLE_ENGINES": "searxng"}
    with serve_web() as web, searx.run_instance(web.api + "/search") as instance:
        settings["KEYHOLE_SEARXNG_URL"] = instance
        settings |= {"KEYHOLE_HOME": str(tmp_path), "KEYHOLE_ALLOW_PRIVATE": web.endpoints}
        answer = run_search(settings, "Does PostgreSQL 15 have virtual generated columns?")
    assert "implements only stored generated columns" in answer.text


def test_the_team_recipe_s_server_accepts_the_token_that_the_recipe_creates(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    settings = {name: value for name, value in exported("team").items() if name.startswith("KEYHOLE_")}
    settings.pop("KEYHOLE_NAME")  # a variable of compose.yaml
    settings["KEYHOLE_TOKENS_FILE"] = str(tmp_path / "tokens")
    for name, value in settings.items():
        monkeypatch.setenv(name, value)
    (line,) = re.findall(r"^keyhole (tokens new .+)$", recipe("team", "sh"), re.MULTILINE)
    assert main(line.replace('"', "").split()) == 0
    (token,) = re.findall(r"kh_\S+", capsys.readouterr().out)
    message = {"id": 1, "method": "initialize", "params": INITIALIZE}
    with server_process(tmp_path / "home", **settings, KEYHOLE_ENGINES="") as served:
        headers = {"Host": settings["KEYHOLE_ALLOWED_HOSTS"]}
        assert Post(served.port, message, **headers).answer()[0] == 401
        assert Post(served.port, message, **headers, Authorization=f"Bearer {token}").answer()[0] == 200
