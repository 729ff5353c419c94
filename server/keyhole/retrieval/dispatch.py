"""Check the arguments of a tool call, call the tool and record the call, and publish the schemas of the arguments.

This module imports no protocol types, because the command line uses it too: loading those types takes as long as
loading everything else that a command needs.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from types import MappingProxyType
from typing import Any, Final

from pydantic import BaseModel, ValidationError

from keyhole.config.config import MAX_BUDGET, MIN_BUDGET, MIN_TOKENS
from keyhole.errors import Code, KeyholeError
from keyhole.records import Answer
from keyhole.render.answer import error_answer
from keyhole.render.budget import client_budget
from keyhole.render.fit import truncate
from keyhole.retrieval.arguments import as_list, model_of, schema_of
from keyhole.retrieval.call import UNKNOWN_CALLER, Caller
from keyhole.retrieval.progress import Progress
from keyhole.retrieval.recording import Request, record_call
from keyhole.retrieval.retrieve import Retrieval
from keyhole.store.calls.base import CallOrigin

ARGUMENTS: Final[Mapping[str, type[BaseModel]]] = MappingProxyType(
    {tool.__name__: model_of(tool) for tool in (Retrieval.web_fetch, Retrieval.search, Retrieval.read_artifact)}
)
"""The model of each tool's arguments, by the tool's name."""


@cache  # before each call without a session the SDK lists the tools again, to check the headers
def argument_schema(name: str) -> dict[str, Any]:
    """Return the JSON Schema of a tool's arguments."""
    return schema_of(ARGUMENTS[name])


def parse_arguments(name: str, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Return the arguments as Python values, without absent and null ones.

    Raises KeyholeError (invalid_argument), which names the argument, the fault, and the accepted values.
    """
    model = ARGUMENTS[name]
    present = {key: value for key, value in arguments.items() if value is not None}
    unknown = [key for key in present if key not in model.model_fields]
    if unknown:
        accepted = ", ".join(model.model_fields)
        raise KeyholeError(Code.INVALID_ARGUMENT, f"{name} has no argument {unknown[0][:64]!r}; it takes {accepted}")
    if name == "search" and "query" not in present and (phrasings := as_list(present.get("queries"))):
        # Without a query, the first phrasing is the query.
        present["query"] = phrasings[0] if isinstance(phrasings, list) else phrasings
    try:
        parsed = model.model_validate(present)
    except ValidationError as error:
        first = error.errors(include_url=False, include_context=False, include_input=False)[0]
        where = str(first["loc"][0]) if first["loc"] else name
        raise KeyholeError(Code.INVALID_ARGUMENT, f"{where}: {_fault(model, where, first)}", argument=where) from error
    values = parsed.model_dump(exclude_unset=True)
    if values.get("query") and values.get("find"):
        raise KeyholeError(Code.INVALID_ARGUMENT, "find: give query or find, not both", argument="find")
    if isinstance(values.get("limit"), int):
        values["limit"] = min(values["limit"], MAX_BUDGET)
    return values


def _fault(model: type[BaseModel], where: str, error: Any) -> str:
    """Return the fault of an argument, in words that a model understands."""
    if error["type"] == "string_pattern_mismatch":
        return f"has the wrong form: {model.model_fields[where].description}"
    return str(error["msg"]).removeprefix("Value error, ")


async def dispatch(
    retrieval: Retrieval,
    tool: str,
    arguments: Mapping[str, Any],
    progress: Progress,
    caller: Caller = UNKNOWN_CALLER,
    origin: CallOrigin = "tool",
    overhead: int = 0,
) -> Answer:
    """Check the arguments, call the tool, record the call, and return its answer.

    A KeyholeError becomes an answer within the budget. `overhead`: as in `Retrieval.read_artifact`.
    """
    with record_call(retrieval.recording, retrieval.pages.clock, Request(origin, tool, arguments, caller)) as events:
        events.answer = await _call(retrieval, tool, arguments, progress, caller, overhead)
        return events.answer


async def _call(
    retrieval: Retrieval, tool: str, arguments: Mapping[str, Any], progress: Progress, caller: Caller, overhead: int
) -> Answer:
    try:
        parsed = parse_arguments(tool, arguments)
        if tool == "web_fetch":
            return await retrieval.web_fetch(**parsed, caller=caller, progress=progress)
        if tool == "search":
            return await retrieval.search(**parsed, caller=caller, progress=progress)
        return await retrieval.read_artifact(**parsed, caller=caller, overhead=overhead)
    except KeyholeError as error:
        limits = _requested(arguments, "max_chars", MIN_BUDGET), _requested(arguments, "max_tokens", MIN_TOKENS)
        return truncate(error_answer(error), client_budget(retrieval.config, caller.limits, *limits))


def _requested(arguments: Mapping[str, Any], name: str, least: int) -> int | None:
    """Return a limit from arguments that are invalid; None if the limit is missing or invalid itself."""
    value = str(arguments.get(name, ""))
    return int(value) if re.fullmatch("[0-9]{3,6}", value) and least <= int(value) <= MAX_BUDGET else None
