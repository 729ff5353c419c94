"""What the server offers beside its tools, as the low-level server takes it: a handler for each request, none of which
does more than hand it on."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any, Protocol, TypeVar

import mcp_types as types
from mcp.server.context import ServerRequestContext

from keyhole.callers import Caller
from keyhole.errors import Code, KeyholeError
from keyhole.render.answer import failure
from keyhole.retrieval.retrieve import Retrieval
from keyhole.serve import prompts, resources

T = TypeVar("T")
Context = ServerRequestContext[Any]


class Asked(Protocol):
    """How a request of this name is answered from the product of whoever sent it."""

    async def __call__(self, ctx: Context, name: str, ask: Callable[[Retrieval, Caller], Awaitable[T]]) -> T:
        """Raises MCPError for every failure."""
        ...


def offers(asked: Asked) -> dict[str, Any]:
    """The handlers of resources, prompts and completion, by the names that `Server` gives them. Only what needs stored
    pages asks for the product."""

    async def list_resources(ctx: Context, params: types.PaginatedRequestParams | None) -> types.ListResourcesResult:
        cursor = params.cursor if params else None
        return await asked(ctx, "resources/list", lambda product, caller: resources.page(product, caller, cursor))

    async def list_templates(_ctx: Context, _params: object) -> types.ListResourceTemplatesResult:
        return types.ListResourceTemplatesResult(resource_templates=resources.templates())

    async def read_resource(ctx: Context, params: types.ReadResourceRequestParams) -> types.ReadResourceResult:
        uri = params.uri
        answer = await asked(ctx, "resources/read", lambda product, caller: resources.read(product, caller, uri))
        return resources.contents(uri, answer)

    async def list_prompts(_ctx: Context, _params: object) -> types.ListPromptsResult:
        return types.ListPromptsResult(prompts=prompts.prompt_list())

    async def get_prompt(_ctx: Context, params: types.GetPromptRequestParams) -> types.GetPromptResult:
        try:
            return prompts.prompt(params.name, params.arguments or {})
        except KeyholeError as error:
            raise resources.refused(failure(error)) from error

    async def complete(ctx: Context, params: types.CompleteRequestParams) -> types.CompleteResult:
        try:
            what = completed_by(params.ref, params.argument.name)
        except KeyholeError as error:
            raise resources.refused(failure(error)) from error
        if what not in resources.COMPLETED:
            return types.CompleteResult(completion=types.Completion(values=[], total=0, has_more=False))
        value = params.argument.value
        found = await asked(
            ctx, "completion/complete", lambda product, _caller: resources.completed(product, what, value)
        )
        return types.CompleteResult(completion=found)

    return {
        "on_list_resources": list_resources,
        "on_list_resource_templates": list_templates,
        "on_read_resource": read_resource,
        "on_list_prompts": list_prompts,
        "on_get_prompt": get_prompt,
        "on_completion": complete,
    }


def completed_by(ref: types.ResourceTemplateReference | types.PromptReference, argument: str) -> str:
    """The argument to complete. Raises KeyholeError (invalid_argument) for one that a template or prompt has not."""
    if isinstance(ref, types.PromptReference):
        known = [each.name for each in prompts.named(ref.name).arguments or ()]
    elif ref.uri in (resources.WHOLE, resources.RANGE):
        known = [name for name in ("id", "offset", "limit") if f"{{{name}}}" in ref.uri]
    else:
        raise KeyholeError(Code.INVALID_ARGUMENT, f"ref: the templates are {resources.WHOLE} and {resources.RANGE}")
    if argument not in known:
        raise KeyholeError(
            Code.INVALID_ARGUMENT, f"argument: there is no {argument[:64]!r}; it takes {', '.join(known)}"
        )
    return argument
