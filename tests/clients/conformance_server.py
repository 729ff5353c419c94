"""Serve Keyhole's HTTP application with the fixtures of the conformance suite added to its handlers.

`python -m tests.clients.conformance_server --port 8943` serves on loopback, with `--stdio` over stdio. Everything but
the fixtures is Keyhole's: checks of Host and Origin, transport, sessions, both eras and handlers. Requests for other
names go to Keyhole's handlers. This program is not part of the package.
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
from mcp.server.stdio import stdio_server
from mcp.shared.exceptions import MCPDeprecationWarning, MCPError

from keyhole.cli.build import build
from keyhole.cli.parser import LOOPBACK
from keyhole.config.load import parse_config
from keyhole.extensions.hosted.app import PATH, AppDependencies, build_app
from keyhole.extensions.hosted.listener import listener_url, open_listener
from keyhole.extensions.hosted.probes import DrainState, check_stores
from keyhole.retrieval.retrieve import Retrieval
from keyhole.retrieval.tenants import Tenants
from keyhole.serve.tools import build_server

from .fixture_rounds import PROMPT, ROUNDS, prompt_rounds
from .fixture_tools import FIXED, INTERACTIVE, PROMPTS, RESOURCES, TEMPLATE, Context, Tool

Handler = Callable[[Context, Any], Awaitable[Any]]
TOOLS: dict[str, Tool] = {**INTERACTIVE, **ROUNDS}
_ARGUMENT_NAMES = {"test_sampling": "prompt", "test_elicitation": "message"}
"""The name of the argument of each tool that has an argument."""


def add_fixtures(server: Server[Any]) -> Server[Any]:
    """Wrap the server's handlers so that they also serve the fixtures; return the server."""
    for method, params, fixture in _HANDLERS:
        own = server.get_request_handler(method)
        server.add_request_handler(method, params, fixture(own.handler if own else None))
    return server


def _append(name: str, empty: types.Result, items: list[Any]) -> Callable[[Handler | None], Handler]:
    """Return a wrapper of list handlers that appends `items` to the list `name`."""

    def wrap(own: Handler | None) -> Handler:
        async def handler(ctx: Context, params: Any) -> Any:
            result = await own(ctx, params) if own else empty
            return result.model_copy(update={name: [*getattr(result, name), *items]})

        return handler

    return wrap


def _prefer(fixture: Handler) -> Callable[[Handler | None], Handler]:
    """Return a wrapper that calls `fixture` first, and the server's handler if that returns None."""

    def wrap(own: Handler | None) -> Handler:
        async def handler(ctx: Context, params: Any) -> Any:
            result = await fixture(ctx, params)
            if result is not None:
                return result
            if own is None:
                raise MCPError(types.INVALID_PARAMS, "Not found", {"uri": getattr(params, "uri", None)})
            return await own(ctx, params)

        return handler

    return wrap


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


async def _accept(_ctx: Context, _params: Any) -> types.EmptyResult:
    return types.EmptyResult()


def _tool(name: str) -> types.Tool:
    words = {_ARGUMENT_NAMES[name]: {"type": "string"}} if name in _ARGUMENT_NAMES else {}
    return types.Tool(name=name, description="A fixture.", input_schema={"type": "object", "properties": words})


def _resource(uri: str) -> types.Resource:
    mime = RESOURCES[uri]["mimeType"]
    return types.Resource(uri=uri, name=uri.rpartition("/")[2], description="A fixture.", mime_type=mime)


def _prompt_info(name: str, words: tuple[str, ...]) -> types.Prompt:
    arguments = [types.PromptArgument(name=word, description="A word.", required=True) for word in words]
    return types.Prompt(name=name, description="A fixture.", arguments=arguments)


_PAGE, _TEMPLATES = types.PaginatedRequestParams, types.ListResourceTemplatesResult(resource_templates=[])
_HANDLERS: list[tuple[str, Any, Callable[[Handler | None], Handler]]] = [
    ("tools/list", _PAGE, _append("tools", types.ListToolsResult(tools=[]), [_tool(n) for n in (*FIXED, *TOOLS)])),
    ("tools/call", types.CallToolRequestParams, _prefer(_call)),
    (
        "resources/list",
        _PAGE,
        _append("resources", types.ListResourcesResult(resources=[]), [_resource(uri) for uri in RESOURCES]),
    ),
    (
        "resources/templates/list",
        _PAGE,
        _append("resource_templates", _TEMPLATES, [types.ResourceTemplate(uri_template=TEMPLATE, name="data")]),
    ),
    ("resources/read", types.ReadResourceRequestParams, _prefer(_read)),
    (
        "prompts/list",
        _PAGE,
        _append(
            "prompts",
            types.ListPromptsResult(prompts=[]),
            [*(_prompt_info(name, words) for name, (words, _) in PROMPTS.items()), _prompt_info(PROMPT, ())],
        ),
    ),
    ("prompts/get", types.GetPromptRequestParams, _prefer(_prompt)),
    ("completion/complete", types.CompleteRequestParams, _prefer(_complete)),
    ("logging/setLevel", types.SetLevelRequestParams, _prefer(_accept)),
    ("resources/subscribe", types.SubscribeRequestParams, _prefer(_accept)),
    ("resources/unsubscribe", types.UnsubscribeRequestParams, _prefer(_accept)),
]


async def _serve_stdio() -> None:
    tenants = build(parse_config(os.environ), long_running=True)
    server = add_fixtures(build_server(_product(tenants)))
    async with stdio_server() as (read, write):
        await server.run(read, write, server.create_initialization_options())
    await tenants.aclose()


def _product(tenants: Tenants) -> Callable[[str], Awaitable[Retrieval]]:
    async def product(tenant: str) -> Retrieval:
        return tenants.of(tenant)

    return product


async def _serve(listener: Any) -> None:
    config = parse_config(os.environ)
    tenants = build(config, long_running=True)

    async def check() -> str:
        return await asyncio.to_thread(check_stores, tenants.stores, False)

    app = build_app(
        config, add_fixtures(build_server(_product(tenants))), AppDependencies(DrainState(), check, tenants.sizes)
    )
    print(f"conformance: serving MCP at {listener_url(listener, PATH)}", file=sys.stderr, flush=True)
    settings = uvicorn.Config(app, log_config=None, access_log=False, timeout_graceful_shutdown=1)
    await uvicorn.Server(settings).serve(sockets=[listener])
    await tenants.aclose()


def main() -> None:
    """Serve until stopped."""
    warnings.simplefilter("ignore", MCPDeprecationWarning)  # the older revision uses deprecated features
    parser = argparse.ArgumentParser()
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--stdio", action="store_true")
    arguments = parser.parse_args()
    if arguments.stdio:
        asyncio.run(_serve_stdio())
        return
    with open_listener(parse_config(os.environ), LOOPBACK, arguments.port) as listener:
        asyncio.run(_serve(listener))


if __name__ == "__main__":
    main()
