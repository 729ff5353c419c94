"""Handlers of MCP requests for resources, prompts and completion, for the SDK's low-level server."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any, Protocol, TypeVar

import mcp_types as types
from mcp.server.context import ServerRequestContext

from keyhole.errors import Code, KeyholeError
from keyhole.render.answer import error_answer
from keyhole.retrieval.call import Caller
from keyhole.retrieval.retrieve import Retrieval
from keyhole.serve import prompts, resources
from keyhole.serve.mcp_apps import read_view

T = TypeVar("T")
Context = ServerRequestContext[Any]


class Ask(Protocol):
    """Answers a request with the Retrieval of the tenant that sent it."""

    async def __call__(self, ctx: Context, name: str, handle: Callable[[Retrieval, Caller], Awaitable[T]]) -> T:
        """Return the result of `handle`. Raises MCPError for any failure."""
        ...


def resource_handlers(ask: Ask) -> dict[str, Any]:
    """Return the handlers by the names of the parameters of `Server`.

    Only handlers that need stored pages call `ask`.
    """

    async def list_resources(ctx: Context, params: types.PaginatedRequestParams | None) -> types.ListResourcesResult:
        cursor = params.cursor if params else None
        return await ask(
            ctx, "resources/list", lambda retrieval, caller: resources.list_page(retrieval, caller, cursor)
        )

    async def list_templates(_ctx: Context, _params: object) -> types.ListResourceTemplatesResult:
        return types.ListResourceTemplatesResult(resource_templates=resources.templates())

    async def read_resource(ctx: Context, params: types.ReadResourceRequestParams) -> types.ReadResourceResult:
        uri = params.uri
        return read_view(ctx, uri) or resources.contents(
            uri, await ask(ctx, "resources/read", lambda retrieval, caller: resources.read(retrieval, caller, uri))
        )

    async def list_prompts(_ctx: Context, _params: object) -> types.ListPromptsResult:
        return types.ListPromptsResult(prompts=prompts.prompt_list())

    async def get_prompt(_ctx: Context, params: types.GetPromptRequestParams) -> types.GetPromptResult:
        try:
            return prompts.fill_prompt(params.name, params.arguments or {})
        except KeyholeError as error:
            raise resources.protocol_error(error_answer(error)) from error

    async def complete(ctx: Context, params: types.CompleteRequestParams) -> types.CompleteResult:
        try:
            argument = completable_argument(params.ref, params.argument.name)
        except KeyholeError as error:
            raise resources.protocol_error(error_answer(error)) from error
        if argument not in resources.COMPLETERS:
            return types.CompleteResult(completion=types.Completion(values=[], total=0, has_more=False))
        value = params.argument.value
        completion = await ask(
            ctx, "completion/complete", lambda retrieval, _caller: resources.complete(retrieval, argument, value)
        )
        return types.CompleteResult(completion=completion)

    return {
        "on_list_resources": list_resources,
        "on_list_resource_templates": list_templates,
        "on_read_resource": read_resource,
        "on_list_prompts": list_prompts,
        "on_get_prompt": get_prompt,
        "on_completion": complete,
    }


def completable_argument(ref: types.ResourceTemplateReference | types.PromptReference, argument: str) -> str:
    """Return the argument to complete. Raises KeyholeError (invalid_argument) if `ref` has no such argument."""
    if isinstance(ref, types.PromptReference):
        known = [each.name for each in prompts.find_prompt(ref.name).arguments or ()]
    elif ref.uri in (resources.PAGE_TEMPLATE, resources.RANGE_TEMPLATE):
        known = [name for name in ("id", "offset", "limit") if f"{{{name}}}" in ref.uri]
    else:
        templates = f"{resources.PAGE_TEMPLATE} and {resources.RANGE_TEMPLATE}"
        raise KeyholeError(Code.INVALID_ARGUMENT, f"ref: the templates are {templates}")
    if argument not in known:
        raise KeyholeError(
            Code.INVALID_ARGUMENT, f"argument: there is no {argument[:64]!r}; accepted are {', '.join(known)}"
        )
    return argument
