"""Run `keyhole fetch`, `search` and `read`: call the tool, and print its result as text or JSON."""

from __future__ import annotations

import argparse
import asyncio
import re
import shlex
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final

from keyhole.config.config import Config
from keyhole.config.folders import working_folder
from keyhole.errors import KeyholeError
from keyhole.records import Answer, Artifact
from keyhole.store.base import LOCAL
from keyhole.text.lazy_pattern import lazy_pattern
from keyhole.text.parse_json import parse_json

if TYPE_CHECKING:
    from keyhole.retrieval.answer_view import PageView, SearchView
    from keyhole.retrieval.instrumentation import CallEvents
    from keyhole.retrieval.progress import Progress
    from keyhole.retrieval.retrieve import Retrieval

_BOUNDS: Final = ("max_chars", "max_tokens")
_SEARCH_FILTERS: Final = ("sites", "exclude_sites", "freshness", "language", "country", "kind")
TOOLS: Final[Mapping[str, tuple[str, tuple[str, ...]]]] = MappingProxyType(
    {
        "fetch": ("web_fetch", ("url", "query", "skip", *_BOUNDS, "refresh")),
        "search": ("search", ("query", "queries", "scope", "max_results", *_BOUNDS, *_SEARCH_FILTERS, "fetch")),
        "read": ("read_artifact", ("id", "offset", "limit", "query", "skip", "find", *_BOUNDS)),
    }
)
"""The tool that each command calls, and the tool's arguments that the command accepts."""


@dataclass(frozen=True, slots=True)
class CallResult:
    """The answer of a call, and its explanation if --explain was given."""

    answer: Answer
    view: PageView | SearchView | None = None


def run(config: Config, arguments: argparse.Namespace) -> int:
    """Call the command's tool and print the result; return 1 if the call failed or did not find a quote."""
    tool, names = TOOLS[arguments.command]
    values = {name: getattr(arguments, name) for name in names}
    result = asyncio.run(call_tool(config, tool, values, explain=arguments.explain))
    print_result(result, as_json=arguments.json or arguments.explain)
    return 1 if result.answer.is_error or result.answer.details.get("found") is False else 0


async def call_tool(config: Config, tool: str, arguments: Mapping[str, Any], *, explain: bool) -> CallResult:
    """Call one tool and return its result."""
    from keyhole.cli.build import build
    from keyhole.retrieval.call import Caller
    from keyhole.retrieval.dispatch import dispatch
    from keyhole.retrieval.instrumentation import collect_events

    tenants = build(config)
    try:
        retrieval = tenants.of(LOCAL)
        with progress_bar(tool) as progress, collect_events() as events:
            caller = Caller(folder=working_folder())
            answer = await dispatch(retrieval, tool, arguments, progress, caller, origin="command")
        if not explain or answer.is_error:
            return CallResult(answer)
        return CallResult(answer, await asyncio.to_thread(_explain, retrieval, events, tool, arguments, answer))
    finally:
        await tenants.aclose()


@contextmanager
def progress_bar(label: str) -> Iterator[Progress]:
    """Yield a progress callback that draws a bar on stderr and removes it at the end.

    `label`: text beside the bar until the call reports progress. Without a terminal nothing is drawn.
    """
    from keyhole.retrieval.progress import no_progress

    if not sys.stderr.isatty():
        yield no_progress
        return
    from rich.console import Console
    from rich.progress import BarColumn, SpinnerColumn, TextColumn, TimeElapsedColumn
    from rich.progress import Progress as Display

    columns = (SpinnerColumn(), BarColumn(bar_width=24), TimeElapsedColumn(), TextColumn("{task.description}"))
    with Display(*columns, console=Console(stderr=True), transient=True) as display:
        task = display.add_task(label, total=None)

        async def draw(done: float, total: float, message: str) -> None:
            # A host name with brackets must not be read as markup.
            display.update(task, completed=done, total=total, description=message.replace("[", r"\["))

        yield draw


def _explain(
    retrieval: Retrieval, events: CallEvents, tool: str, arguments: Mapping[str, Any], answer: Answer
) -> PageView | SearchView | None:
    """Return the explanation of an answer, or None if its page is no longer stored."""
    from keyhole.retrieval.answer_view import build_page_view

    if tool == "search":
        return _explain_search(events, str(arguments["query"]), answer)
    whole = [page for page, total in events.pages if len(page.text) == total]
    artifact = whole[-1] if whole else _stored_artifact(retrieval, str(arguments.get("id", "")))
    if artifact is None:
        return None
    reported: Any = answer.details["spans"]
    spans = tuple((start, end) for start, end, _ in reported)
    return build_page_view(artifact, arguments.get("query"), spans, events.removed.get(artifact.url))


def _explain_search(events: CallEvents, query: str, answer: Answer) -> SearchView:
    from keyhole.retrieval.answer_view import build_search_view

    spans = [_shown_spans(answer, each.artifact) if each.artifact else None for each in events.sources]
    rows: Any = answer.details["sources"]
    places = {row["url"]: number for number, row in enumerate(rows, start=1)}
    numbers = [places.get(each.url, 0) for each in events.sources]
    removed = [events.removed.get(each.url, ()) for each in events.sources]
    return build_search_view(query, events.sources, events.reports, events.ranked, spans, numbers, removed)


def _shown_spans(answer: Answer, artifact: Artifact) -> tuple[tuple[int, int], ...] | None:
    """Return the spans of a text that an answer shows, None if it shows none."""
    return tuple((start, end) for id, start, end in answer.shown if id == artifact.id) or None


def _stored_artifact(retrieval: Retrieval, id: str) -> Artifact | None:
    try:
        return retrieval.store.get(id)
    except KeyholeError:
        return None


def print_result(result: CallResult, *, as_json: bool) -> None:
    """Print a result as JSON or as text. An error as text goes to stderr."""
    answer = result.answer
    if as_json:
        from keyhole.cli.terminal import print_json

        view = {"explain": asdict(result.view)} if result.view else {}
        print_json({"text": answer.text, "is_error": answer.is_error, **answer.facts, **answer.details, **view})
    else:
        file = sys.stderr if answer.is_error else sys.stdout
        print(name_commands(answer.text) if file.isatty() else answer.text, file=file)


# The hints of a result name calls of tools, which an agent makes. A person at a terminal gets them as commands.

_CALL: Final = lazy_pattern(r"\b(web_fetch|search|read_artifact)\(([^()\n]{0,2000})\)")
_ARGUMENT: Final = lazy_pattern(r'(?<!\w)(\w{1,20})=("(?:[^"\\\n]|\\.)*"|[^\s,]+)')
_BOUNDARY: Final = lazy_pattern(r"^--- untrusted text (\w{1,40}) ---$", re.MULTILINE)


def name_commands(text: str) -> str:
    """Return a result in which the hints are commands: `keyhole read ID --offset 0` for `read_artifact(…)`.

    What stands between boundary lines stays: it is a page's own text.
    """
    pieces: list[str] = []
    position = 0
    while boundary := _BOUNDARY.search(text, position):
        start = boundary.start()
        enclosed, mark, _ = text[start:].partition(f"\n--- end {boundary[1]} ---")
        pieces += [_CALL.sub(_to_command, text[position:start]), enclosed, mark]
        position = start + len(enclosed) + len(mark)
    return "".join([*pieces, _CALL.sub(_to_command, text[position:])])


def _to_command(call: re.Match[str]) -> str:
    """Return the command that calls a tool as the hint does, or the hint if a value of it is no JSON."""
    command = next(name for name, (tool, _) in TOOLS.items() if tool == call[1])
    main = TOOLS[command][1][0]
    words: list[str] = []
    for name, value in _ARGUMENT.findall(call[2]):
        try:
            value = parse_json(value) if value.startswith('"') else value
        except ValueError:
            return call[0]
        shown = shlex.quote(value) if value != "…" else value
        flag = f"--{name.replace('_', '-')}"
        if name == main:
            words.insert(0, shown)
        elif value in ("true", "false"):
            words.append(flag if value == "true" else f"--no-{flag[2:]}")
        else:
            words.append(f"{flag} {shown}")
    return " ".join(["keyhole", command, *words])
