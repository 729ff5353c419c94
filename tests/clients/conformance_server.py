"""Keyhole's own HTTP application with the conformance suite's fixtures beside its tools: a program for tests alone.

`python -m tests.clients.conformance_server --port 8943` serves on loopback. What is scored is
Keyhole's: the application with its checks of Host and Origin, the transport, sessions, both eras, its handlers. A name
or an address that is no fixture's goes to Keyhole's handler. Nothing of this is in the package.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import sys
import warnings
from collections.abc import Awaitable, Callable
from typing import Any

import mcp_types as types
import uvicorn
from mcp.server.lowlevel import Server
from mcp.shared.exceptions import MCPDeprecationWarning, MCPError

from keyhole.cli.build import build
from keyhole.cli.commands import LOOPBACK
from keyhole.config.config import load
from keyhole.retrieval.retrieve import Retrieval
from keyhole.serve.http.app import PATH, Parts, application
from keyhole.serve.http.drain import Draining
from keyhole.serve.http.listener import listening, url_of
from keyhole.serve.http.probes import look_at
from keyhole.serve.tools import build_server

from .fixture_rounds import PROMPT, ROUNDS, prompt_rounds
from .fixture_tools import FIXED, PROMPTS, RESOURCES, TEMPLATE, WORKING, Context, Tool

Handler = Callable[[Context, Any], Awaitable[Any]]
TOOLS: dict[str, Tool] = {**WORKING, **ROUNDS}
_WORDS = {"test_sampling": "prompt", "test_elicitation": "message"}
"""The arguments of the tools that have one."""


def with_fixtures(server: Server[Any]) -> Server[Any]:
    """The same server, whose handlers know the fixtures too."""
    for method, params, fixture in _HANDLERS:
        own = server.get_request_handler(method)
        server.add_request_handler(method, params, fixture(own.handler if own else None))
    return server


def _added(name: str, made: types.Result, items: list[Any]) -> Callable[[Handler | None], Handler]:
    """A list with fixtures after the server's own."""

    def around(own: Handler | None) -> Handler:
        async def handler(ctx: Context, params: Any) -> Any:
            result = await own(ctx, params) if own else made
            return result.model_copy(update={name: [*getattr(result, name), *items]})

        return handler

    return around


def _instead(fixture: Handler) -> Callable[[Handler | None], Handler]:
    """A handler that asks the fixtures first; None from them is the server's own to answer."""

    def around(own: Handler | None) -> Handler:
        async def handler(ctx: Context, params: Any) -> Any:
            result = await fixture(ctx, params)
            if result is not None:
                return result
            if own is None:
                raise MCPError(types.INVALID_PARAMS, "Not found", {"uri": getattr(params, "uri", None)})
            return await own(ctx, params)

        return handler

    return around


async def _call(ctx: Context, params: types.CallToolRequestParams) -> Any:
    if params.name in FIXED:
        return types.CallToolResult.model_validate(FIXED[params.name])
    if params.name not in TOOLS:
        return None
    result = await TOOLS[params.name](ctx, params)
    return types.CallToolResult.model_validate(result) if isinstance(result, dict) else result


async def _read(_ctx: Context, params: types.ReadResourceRequestParams) -> Any:
    if (found := RESOURCES.get(params.uri)) is None:
        return None
    return types.ReadResourceResult.model_validate({"contents": [{"uri": params.uri, **found}]})


async def _prompt(_ctx: Context, params: types.GetPromptRequestParams) -> Any:
    if params.name == PROMPT:
        result = prompt_rounds(params)
    elif params.name in PROMPTS:
        result = PROMPTS[params.name][1](params.arguments or {})
    else:
        return None
    return types.GetPromptResult.model_validate(result) if isinstance(result, dict) else result


async def _complete(_ctx: Context, params: types.CompleteRequestParams) -> Any:
    if not getattr(params.ref, "name", "").startswith("test_"):
        return None
    return types.CompleteResult(completion=types.Completion(values=[], total=0, has_more=False))


async def _accepted(_ctx: Context, _params: Any) -> types.EmptyResult:
    return types.EmptyResult()


def _tool(name: str) -> types.Tool:
    words = {_WORDS[name]: {"type": "string"}} if name in _WORDS else {}
    return types.Tool(name=name, description="A fixture.", input_schema={"type": "object", "properties": words})


def _resource(uri: str) -> types.Resource:
    mime = RESOURCES[uri]["mimeType"]
    return types.Resource(uri=uri, name=uri.rpartition("/")[2], description="A fixture.", mime_type=mime)


def _face(name: str, words: tuple[str, ...]) -> types.Prompt:
    arguments = [types.PromptArgument(name=word, description="A word.", required=True) for word in words]
    return types.Prompt(name=name, description="A fixture.", arguments=arguments)


_PAGE, _TEMPLATES = types.PaginatedRequestParams, types.ListResourceTemplatesResult(resource_templates=[])
_HANDLERS: list[tuple[str, Any, Callable[[Handler | None], Handler]]] = [
    ("tools/list", _PAGE, _added("tools", types.ListToolsResult(tools=[]), [_tool(n) for n in (*FIXED, *TOOLS)])),
    ("tools/call", types.CallToolRequestParams, _instead(_call)),
    (
        "resources/list",
        _PAGE,
        _added("resources", types.ListResourcesResult(resources=[]), [_resource(uri) for uri in RESOURCES]),
    ),
    (
        "resources/templates/list",
        _PAGE,
        _added("resource_templates", _TEMPLATES, [types.ResourceTemplate(uri_template=TEMPLATE, name="data")]),
    ),
    ("resources/read", types.ReadResourceRequestParams, _instead(_read)),
    (
        "prompts/list",
        _PAGE,
        _added(
            "prompts",
            types.ListPromptsResult(prompts=[]),
            [*(_face(name, words) for name, (words, _) in PROMPTS.items()), _face(PROMPT, ())],
        ),
    ),
    ("prompts/get", types.GetPromptRequestParams, _instead(_prompt)),
    ("completion/complete", types.CompleteRequestParams, _instead(_complete)),
    ("logging/setLevel", types.SetLevelRequestParams, _instead(_accepted)),
    ("resources/subscribe", types.SubscribeRequestParams, _instead(_accepted)),
    ("resources/unsubscribe", types.UnsubscribeRequestParams, _instead(_accepted)),
]


async def _serve(listener: Any) -> None:
    config = load(os.environ)
    tenants = build(config, lasting=True)

    async def product(tenant: str) -> Retrieval:
        return tenants.of(tenant)

    async def look() -> str:
        return await asyncio.to_thread(look_at, tenants.stores, False)

    app = application(config, with_fixtures(build_server(product)), Parts(Draining(), look, tenants.sizes))
    print(f"conformance: serving MCP at {url_of(listener, PATH)}", file=sys.stderr, flush=True)
    settings = uvicorn.Config(app, log_config=None, access_log=False, timeout_graceful_shutdown=1)
    await uvicorn.Server(settings).serve(sockets=[listener])
    await tenants.aclose()


def main() -> None:
    """Serve until stopped."""
    warnings.simplefilter("ignore", MCPDeprecationWarning)  # the older revision has what the newer one left out
    words = argparse.ArgumentParser()
    words.add_argument("--port", type=int, default=0)
    with listening(load(os.environ), LOOPBACK, words.parse_args().port) as listener:
        asyncio.run(_serve(listener))


if __name__ == "__main__":
    main()
