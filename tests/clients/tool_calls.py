"""Tool calls that every client makes, and checks of their results."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from .setup import ANSWER, QUESTION
from .steps import Steps

TOOLS = {"web_fetch", "search", "read_artifact"}

_FRAMED = re.compile(r"^--- untrusted text (\S+) ---\n(.*)\n--- end \1 ---$", re.DOTALL | re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Reply:
    """A tool result as the client returned it."""

    text: str
    facts: dict[str, Any]
    is_error: bool


Call = Callable[[str, dict[str, Any]], Reply]


def read_reply(result: dict[str, Any]) -> Reply:
    """Convert a tool result of the protocol. Its content must be a single text."""
    assert "structuredContent" not in result, "some clients would show structuredContent instead of the text"
    assert [part["type"] for part in result["content"]] == ["text"], result["content"]
    facts = result.get("_meta", {}).get("keyhole", {})
    return Reply(result["content"][0]["text"], facts, bool(result.get("isError")))


def check_tools(steps: Steps, where: str, call: Call, page: str) -> Reply | None:
    """Call all three tools and check one error; return the result of web_fetch."""
    fetched = steps.run(f"{where}: web_fetch answers a query from mid-page", lambda: _fetch(call, page))
    if fetched is not None:
        steps.run(f"{where}: the call of the Next: line returns a complete window", lambda: _read_on(call, fetched))
        steps.run(f"{where}: search finds the stored page", lambda: _search(call, page))
    steps.run(f"{where}: the error for an unknown argument names it", lambda: _refuse(call, page))
    return fetched


def body(reply: Reply) -> str:
    """Return the page text in a reply, between the lines that mark it as untrusted."""
    framed = _FRAMED.search(reply.text)
    assert framed, f"no marked text in: {reply.text[:200]}"
    return framed[2]


def _fetch(call: Call, page: str) -> Reply:
    reply = call("web_fetch", {"url": page, "query": QUESTION})
    assert not reply.is_error, reply.text
    assert ANSWER in body(reply), f"the answer is missing: {reply.text[:500]}"
    assert reply.facts["next"], "the page must be larger than any client's cap"
    *lines, end = reply.text.splitlines()
    assert end == "[end]", "the end of the result was truncated"
    assert lines[-1].startswith("Next: "), "the Next: line must be the last line before [end]"
    return reply


def _read_on(call: Call, fetched: Reply) -> None:
    tool, arguments = next_call(fetched.text)
    reply = call(tool, arguments)
    assert not reply.is_error, reply.text
    assert len(body(reply)) == arguments["limit"], "the window differs from the Next: line"


def _search(call: Call, page: str) -> None:
    reply = call("search", {"query": QUESTION, "scope": "stored", "repeat": True})
    assert not reply.is_error, reply.text
    assert page in reply.text and ANSWER in body(reply), reply.text[:500]


def _refuse(call: Call, page: str) -> None:
    reply = call("web_fetch", {"url": page, "colour": "red"})
    assert reply.is_error and reply.text.startswith("invalid_argument: "), reply.text
    assert "colour" in reply.text, reply.text


def next_call(text: str) -> tuple[str, dict[str, Any]]:
    """Parse the call in the last `Next:` line of a result."""
    printed = [line for line in text.splitlines() if line.startswith("Next: ")][-1].removeprefix("Next: ")
    parsed = ast.parse(printed, mode="eval").body
    assert isinstance(parsed, ast.Call) and isinstance(parsed.func, ast.Name), printed
    return parsed.func.id, {str(word.arg): ast.literal_eval(word.value) for word in parsed.keywords}
