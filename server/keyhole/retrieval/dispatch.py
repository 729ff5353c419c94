"""Check the arguments of a tool call, call the tool and record the call, and publish the schemas of the arguments.

This module imports no protocol types, because the command line uses it too: loading those types takes as long as
loading everything else that a command needs.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from typing import Annotated, Any, Final, Literal

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, ValidationError

from keyhole.config.config import MAX_BUDGET, MIN_BUDGET, MIN_TOKENS
from keyhole.errors import Code, KeyholeError
from keyhole.records import Answer
from keyhole.render.answer import error_answer
from keyhole.render.budget import client_budget
from keyhole.render.fit import truncate
from keyhole.retrieval.call import UNKNOWN_CALLER, Caller
from keyhole.retrieval.progress import Progress
from keyhole.retrieval.recording import Request, record_call
from keyhole.retrieval.retrieve import Retrieval
from keyhole.store.calls.base import CallOrigin
from keyhole.text.sites import to_ascii

MAX_NUMBER: Final = 2**63 - 1
"""The largest whole number of 64 bits. The schema omits it, because it would cost every client tokens without use."""

_SITE: Final = re.compile(r"(?:site:)?(?:https?://)?(?:\*\.)?([\w-]+(?:\.[\w-]+)*)\.?(?::\d+)?(/\S*)?", re.IGNORECASE)


def _as_list(value: object) -> object:
    return [value] if isinstance(value, str) else value


def _host(site: str) -> str:
    """Return the host of a site, which may be given as a URL. Raises ValueError for a path: it would be ignored."""
    match = _SITE.fullmatch(site.strip())
    if match is None:
        raise ValueError(f"{site[:64]!r} is not a site; give hosts such as docs.python.org")
    if (match[2] or "/") != "/":
        raise ValueError(
            f"{site[:64]!r} has a path and sites are hosts; give {match[1]}, and words of the path in the query"
        )
    return to_ascii(match[1])


def _no_bool(value: object) -> object:
    if isinstance(value, bool):
        raise ValueError("must be a whole number")
    return value


def _within_64_bits(value: int) -> int:
    if value > MAX_NUMBER:
        raise ValueError(f"must be at most {MAX_NUMBER}")
    return value


Phrasings = Annotated[list[Annotated[str, Field(min_length=1, max_length=2_000)]], BeforeValidator(_as_list)]
Sites = Annotated[list[Annotated[str, AfterValidator(_host)]], BeforeValidator(_as_list)]
# The bounds are inside the union, because pydantic publishes them as `minimum` and `maximum` only there.
Offset = Annotated[int, Field(ge=0), BeforeValidator(_no_bool), AfterValidator(_within_64_bits)]
Count = Annotated[int, Field(ge=1), BeforeValidator(_no_bool), AfterValidator(_within_64_bits)]
Results = Annotated[int, Field(ge=1, le=20), BeforeValidator(_no_bool)]
Budget = Annotated[
    Annotated[int, Field(ge=MIN_BUDGET, le=MAX_BUDGET), BeforeValidator(_no_bool)] | None,
    Field(description="Upper bound of the result in characters. Default 9000."),
]

Tokens = Annotated[
    Annotated[int, Field(ge=MIN_TOKENS, le=MAX_BUDGET), BeforeValidator(_no_bool)] | None,
    Field(description="Upper bound of the result in tokens, by a careful estimate; max_chars applies too."),
]
Skip = Annotated[
    Annotated[int, Field(ge=0), BeforeValidator(_no_bool), AfterValidator(_within_64_bits)],
    Field(description="With query: pass the number that a result names as skip=… to get the passages that match less."),
]
Repeat = Annotated[
    bool, Field(description="Show passages again that an earlier call of this session showed. Default false.")
]


class WebFetch(BaseModel):
    """Arguments of web_fetch."""

    model_config = ConfigDict(extra="forbid", str_strip_whitespace=True)
    url: str = Field(description="Absolute http:// or https:// URL of the page.", min_length=1)
    query: str | None = Field(
        None,
        max_length=2_000,
        description="What you want to know, in words the page would use. Without it: the head and tail of the page.",
    )
    max_chars: Budget = None
    max_tokens: Tokens = None
    refresh: bool = Field(
        False,
        description="Fetch again even if the page was fetched within the last 15 minutes. Default false.",
    )
    skip: Skip = 0
    repeat: Repeat = False


class Search(BaseModel):
    """Arguments of search."""

    model_config = ConfigDict(extra="forbid", str_strip_whitespace=True)
    query: str = Field(description="The question, in a few words.", min_length=1, max_length=2_000)
    queries: Phrasings | None = Field(
        None, max_length=5, description="Up to 5 other phrasings of the same question, searched together with it."
    )
    scope: Literal["web", "stored", "both"] = Field(
        "web",
        description="'web': search engines; 'stored': pages fetched before; or 'both'. Default web.",
    )
    max_results: Results = Field(5, description="Sources to read, 1 to 20. Default 5.")
    max_chars: Budget = None
    max_tokens: Tokens = None
    sites: Sites | None = Field(None, max_length=20, description="Only these sites, such as docs.python.org.")
    exclude_sites: Sites | None = Field(None, max_length=20, description="Never these sites.")
    freshness: Literal["day", "week", "month", "year"] | None = Field(
        None, description="Only pages from the last day, week, month or year."
    )
    language: str | None = Field(
        None,
        pattern=r"^[A-Za-z]{2,3}(-[A-Za-z0-9]{2,8})?$",
        description="Language of the pages, such as en or pt-BR.",
    )
    country: str | None = Field(
        None, pattern=r"^[A-Za-z]{2}$", description="Country whose results come first, such as us or de."
    )
    kind: Literal["web", "news"] = Field("web", description="'web' or 'news'. Default web.")
    fetch: bool = Field(
        True, description="False: read no page, return only titles, URLs and the engines' snippets. Default true."
    )
    repeat: Repeat = False


class ReadArtifact(BaseModel):
    """Arguments of read_artifact."""

    model_config = ConfigDict(extra="forbid")
    id: str = Field(description="The id from a web_fetch or search result.", min_length=1, max_length=200)
    offset: Offset = Field(0, description="First character to read, counted from 0. Default 0.")
    limit: Count | None = Field(
        None,
        description="Characters to read; with query or find, the most characters to show. At most 200000.",
    )
    query: str | None = Field(None, max_length=2_000, description="Show the passages that answer this query instead.")
    find: str | None = Field(
        None,
        max_length=4_000,
        description="Find this quote instead: its places, or the nearest passage and what differs.",
    )
    max_chars: Budget = None
    max_tokens: Tokens = None
    skip: Skip = 0
    repeat: Repeat = False


ARGUMENTS: dict[str, type[BaseModel]] = {
    "web_fetch": WebFetch,
    "search": Search,
    "read_artifact": ReadArtifact,
}


@cache  # before each call without a session the SDK lists the tools again, to check the headers
def argument_schema(name: str) -> dict[str, Any]:
    """Return the JSON Schema of a tool's arguments, without parts that confuse models: titles, null types and
    `anyOf` with one type."""
    schema = ARGUMENTS[name].model_json_schema()
    properties = {each: _simplify(prop) for each, prop in schema["properties"].items()}
    required = {"required": schema["required"]} if "required" in schema else {}
    return {"type": "object", "properties": properties, **required, "additionalProperties": False}


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
    if name == "search" and "query" not in present and (phrasings := _as_list(present.get("queries"))):
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


def _simplify(prop: dict[str, Any]) -> dict[str, Any]:
    """Return the schema of one argument without its title, its null type and a null default."""
    arms = [arm for arm in prop.pop("anyOf", []) if arm != {"type": "null"}]
    merged = {**(arms[0] if len(arms) == 1 else {}), **prop}
    merged.pop("title", None)
    if merged.get("default") is None:
        merged.pop("default", None)
    return merged


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
            return await retrieval.web_fetch(**parsed, caller=caller)
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
