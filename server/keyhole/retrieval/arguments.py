"""Declare the arguments of the tools: the type of each with its bounds and its description, and the schema of all.

The signatures of the tools in `retrieve.py` use these types, so each argument is declared once. Every client pays for
the schema in every conversation, so it has what a model needs to make a call. A call that exceeds another bound is
answered with an error that names the bound.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Annotated, Any, Final, Literal, get_type_hints

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, StringConstraints, create_model
from pydantic.json_schema import SkipJsonSchema

from keyhole.config.config import MAX_BUDGET, MIN_BUDGET, MIN_TOKENS
from keyhole.text.sites import to_ascii

MAX_NUMBER: Final = 2**63 - 1
"""The largest whole number of 64 bits."""
_KEYWORDS: Final = ("type", "enum", "items", "default", "description")
"""The keywords of JSON Schema that the schema of an argument has."""

_SITE: Final = re.compile(r"(?:site:)?(?:https?://)?(?:\*\.)?([\w-]+(?:\.[\w-]+)*)\.?(?::\d+)?(/\S*)?", re.IGNORECASE)


def as_list(value: object) -> object:
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


_STRIPPED: Final = StringConstraints(strip_whitespace=True)
_WHOLE: Final = (BeforeValidator(_no_bool), AfterValidator(_within_64_bits))

# `SkipJsonSchema` keeps an argument out of the schema: it is accepted, and the lines of a result name it.
Url = Annotated[str, _STRIPPED, Field(description="http:// or https:// URL of the page.", min_length=1)]
PageQuery = Annotated[
    str | None,
    _STRIPPED,
    Field(max_length=2_000, description="What you want to know, in words the page would use."),
]
MaxChars = Annotated[
    Annotated[int, Field(ge=MIN_BUDGET, le=MAX_BUDGET), BeforeValidator(_no_bool)] | None,
    Field(description=f"Most characters of the result: {MIN_BUDGET} or more, default 9000."),
]
MaxTokens = Annotated[
    Annotated[int, Field(ge=MIN_TOKENS, le=MAX_BUDGET), BeforeValidator(_no_bool)] | None,
    Field(description="Most tokens of the result, by a careful estimate; max_chars applies too."),
    SkipJsonSchema(),
]
Refresh = Annotated[bool, Field(description="Fetch again even if fetched within 15 minutes.")]
Skip = Annotated[
    Annotated[int, Field(ge=0), *_WHOLE],
    Field(description="With query: pass the number that a result names as skip=… to get the passages that match less."),
    SkipJsonSchema(),
]
Repeat = Annotated[
    bool, Field(description="Show passages again that an earlier call of this session showed."), SkipJsonSchema()
]

SearchQuery = Annotated[
    str, _STRIPPED, Field(description="The question, in a few words.", min_length=1, max_length=2_000)
]
Phrasings = Annotated[
    Annotated[Sequence[Annotated[str, _STRIPPED, Field(min_length=1, max_length=2_000)]], BeforeValidator(as_list)]
    | None,
    Field(max_length=5, description="Up to 5 other phrasings, searched together with it."),
]
Scope = Annotated[Literal["web", "stored", "both"], Field(description="'stored': pages fetched before.")]
MaxResults = Annotated[
    Annotated[int, Field(ge=1, le=20), BeforeValidator(_no_bool)], Field(description="Sources to read, 1 to 20.")
]
_Sites = Annotated[Sequence[Annotated[str, AfterValidator(_host)]], BeforeValidator(as_list)]
Sites = Annotated[_Sites | None, Field(max_length=20, description="Only these sites, such as docs.python.org.")]
ExcludedSites = Annotated[_Sites | None, Field(max_length=20, description="Never these sites.")]
Freshness = Annotated[
    Literal["day", "week", "month", "year"] | None, Field(description="Only pages from this last period.")
]
Language = Annotated[
    str | None,
    _STRIPPED,
    Field(pattern=r"^[A-Za-z]{2,3}(-[A-Za-z0-9]{2,8})?$", description="Language of the pages, such as en or pt-BR."),
]
Country = Annotated[
    str | None,
    _STRIPPED,
    Field(pattern=r"^[A-Za-z]{2}$", description="Country whose results come first, such as us or de."),
]
HitKind = Annotated[Literal["web", "news"], Field(description="Web pages or news.")]
Fetch = Annotated[bool, Field(description="False: read no page, return titles, URLs and snippets.")]

ArtifactId = Annotated[str, Field(description="The id that a result names.", min_length=1, max_length=200)]
Offset = Annotated[Annotated[int, Field(ge=0), *_WHOLE], Field(description="First character to read, counted from 0.")]
StoredMaxChars = Annotated[MaxChars, SkipJsonSchema()]
"""`max_chars` of `read_artifact`, whose `limit` says the same."""
Limit = Annotated[
    Annotated[int, Field(ge=1), *_WHOLE] | None,
    Field(description="Most characters to read, or with query or find to show."),
]
StoredQuery = Annotated[str | None, Field(max_length=2_000, description="Show the passages that answer this instead.")]
Quote = Annotated[str | None, Field(max_length=4_000, description="Find this quote or the nearest passage instead.")]


def model_of(tool: Callable[..., Any]) -> type[BaseModel]:
    """Return the model of a tool's arguments: the parameters of its signature whose types are declared here."""
    types = get_type_hints(tool, include_extras=True)
    fields: dict[str, Any] = {
        name: (types[name], ... if each.default is inspect.Parameter.empty else each.default)
        for name, each in inspect.signature(tool).parameters.items()
        if hasattr(types.get(name), "__metadata__")
    }
    return create_model(tool.__name__, __config__=ConfigDict(extra="forbid"), **fields)


def schema_of(model: type[BaseModel]) -> dict[str, Any]:
    """Return the JSON Schema of a model, without null types, `anyOf` with one type, and keywords beyond `_KEYWORDS`.

    It allows further arguments, because a client may check a call of a `Next:` line against it.
    """
    schema = model.model_json_schema()
    properties = {each: _simplify(prop) for each, prop in schema["properties"].items()}
    required = {"required": schema["required"]} if "required" in schema else {}
    return {"type": "object", "properties": properties, **required}


def _simplify(prop: Mapping[str, Any]) -> dict[str, Any]:
    """Return the schema of one argument, without a default that means that the argument is absent."""
    arms = [arm for arm in prop.get("anyOf", ()) if arm != {"type": "null"}]
    merged = {**(arms[0] if len(arms) == 1 else {}), **prop}
    simple = {name: merged[name] for name in _KEYWORDS if name in merged}
    if "items" in simple:
        simple["items"] = {"type": simple["items"]["type"]}
    if not simple.get("default"):
        simple.pop("default", None)
    return simple
