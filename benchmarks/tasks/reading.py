"""Play a reader: call, look for the answer in the page text of the result, and follow the call that reads on.

The policy is the same for all systems. Call 1 fetches the page. If its result does not answer the question, the reader
makes the call that the result names, exactly as printed, until a result answers, none is named, or `MAX_CALLS` calls
were made. A reader whose question is not answered by the page stops as soon as a result says so. The answer must be in
one result; the end of the result before is kept, because a window may cut the answer in two.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any, Final

from benchmarks.tasks.tasks import Task, has_answer

MAX_CALLS: Final = 12
"""Calls after which a reader gives up: more than an agent makes for one page."""
_OVERLAP: Final = 300
"""Characters of the result before that are kept: longer than any answer."""

_FRAMED = re.compile(r"^--- untrusted text (\w+) ---\n(.*?)^--- end \1 ---$", re.MULTILINE | re.DOTALL)
_NEXT = re.compile(r"^Next: ((?:read_artifact|web_fetch)\(.*\))", re.MULTILINE)
_DENIAL = re.compile(r"Weak match|Nothing matches")

Call = tuple[str, dict[str, Any]]
CallTool = Callable[[str, dict[str, Any]], Awaitable[str]]


@dataclass(frozen=True, slots=True)
class Result:
    """What one call returned."""

    text: str
    page_text: str
    """The part of `text` that is the page's."""
    denies: bool = False
    """True if the result says that the page may not contain the answer."""


@dataclass(frozen=True, slots=True)
class Reading:
    """The results that a reader got for a task until it stopped."""

    task: Task
    results: tuple[Result, ...]
    answered: bool

    @property
    def calls(self) -> int:
        """Calls made."""
        return len(self.results)

    @property
    def characters(self) -> int:
        """Characters of all results."""
        return sum(len(result.text) for result in self.results)

    @property
    def by_first(self) -> bool:
        """True if the first result contains the answer."""
        return self.answered and self.calls == 1

    @property
    def is_denied(self) -> bool:
        """True if the first result says that the page may not contain the answer."""
        return self.results[0].denies


async def read_with_keyhole(call_tool: CallTool, task: Task, url: str, max_chars: int) -> Reading:
    """Play the reader with Keyhole's tools."""
    call: Call | None = ("web_fetch", {"url": url, "query": task.query, "max_chars": max_chars})
    results: list[Result] = []
    while call and len(results) < MAX_CALLS:
        text = await call_tool(*call)
        results.append(keyhole_result(text))
        if _answers(task, results):
            return Reading(task, tuple(results), True)
        if task.is_absent and results[-1].denies:
            break
        call = next_call(text)
    return Reading(task, tuple(results), False)


def read_windows(task: Task, windows: Callable[[int], Result | None]) -> Reading:
    """Play the reader with a tool that returns a page window by window; `windows` returns the n-th, None after the
    last."""
    results: list[Result] = []
    while len(results) < MAX_CALLS and (result := windows(len(results))):
        results.append(result)
        if _answers(task, results):
            return Reading(task, tuple(results), True)
    return Reading(task, tuple(results), False)


def keyhole_result(text: str) -> Result:
    """Return a result of Keyhole with the text between its boundary lines. What it denies stands outside of them."""
    page_text = "\n".join(body for _, body in _FRAMED.findall(text))
    return Result(text, page_text, bool(_DENIAL.search(_FRAMED.sub("", text))))


def next_call(text: str) -> Call | None:
    """Return the last call that a result of Keyhole names after `Next:` outside of the page's text."""
    named = _NEXT.findall(_FRAMED.sub("", text))
    if not named:
        return None
    expression = ast.parse(named[-1], mode="eval").body
    assert isinstance(expression, ast.Call) and isinstance(expression.func, ast.Name)
    return expression.func.id, {str(each.arg): ast.literal_eval(each.value) for each in expression.keywords}


def _answers(task: Task, results: list[Result]) -> bool:
    before = results[-2].page_text[-_OVERLAP:] if len(results) > 1 else ""
    return has_answer(task, before + results[-1].page_text)
