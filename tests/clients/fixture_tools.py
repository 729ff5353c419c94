"""Tools, resources and prompts that the conformance suite requires, with the suite's names and texts, as JSON.

`conformance_server.py` adds them to Keyhole's; they are not part of the package.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any, Final

import anyio
import mcp_types as types
from mcp.server.context import ServerRequestContext

Context = ServerRequestContext[Any, Any]
Json = dict[str, Any]
Tool = Callable[[Context, types.CallToolRequestParams], Awaitable[Json | types.InputRequiredResult]]

PNG: Final = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
"""One red pixel."""
WAV: Final = "UklGRiQAAABXQVZFZm10IBAAAAABAAEARKwAAIhYAQACABAAZGF0YQAAAAA="
"""A sound file without samples: its `data` chunk is empty."""
STEP: Final = 0.05
"""Seconds between two notifications of a call, as the suite requires."""


def text_result(text: str, **more: Any) -> Json:
    """Return a tool result with a text."""
    return {"content": [text_part(text)], **more}


def text_part(text: str) -> Json:
    """Return a text part of a result."""
    return {"type": "text", "text": text}


def resource_part(uri: str, mime: str, text: str) -> Json:
    """Return an embedded resource of a result."""
    return {"type": "resource", "resource": {"uri": uri, "mimeType": mime, "text": text}}


IMAGE: Final = {"type": "image", "data": PNG, "mimeType": "image/png"}
FIXED: Final[dict[str, Json]] = {
    "test_simple_text": text_result("This is a simple text response for testing."),
    "test_image_content": {"content": [IMAGE]},
    "test_audio_content": {"content": [{"type": "audio", "data": WAV, "mimeType": "audio/wav"}]},
    "test_embedded_resource": {
        "content": [resource_part("test://embedded-resource", "text/plain", "This is an embedded resource content.")]
    },
    "test_multiple_content_types": {
        "content": [
            text_part("Multiple content types test:"),
            IMAGE,
            resource_part("test://mixed-content-resource", "application/json", '{"test":"data","value":123}'),
        ]
    },
    "test_error_handling": text_result("This tool intentionally returns an error for testing", isError=True),
    "test_streaming_elicitation": text_result("Nothing was asked on the stream."),
}
"""Tools with a constant result."""


async def _logging(ctx: Context, _params: types.CallToolRequestParams) -> Json:
    for line in ("Tool execution started", "Tool processing data", "Tool execution completed"):
        await ctx.session.send_log_message("info", line, related_request_id=ctx.request_id)
        await anyio.sleep(STEP)
    return text_result("Three lines were logged.")


async def _progress(ctx: Context, _params: types.CallToolRequestParams) -> Json:
    for done in (0, 50, 100):
        await ctx.session.report_progress(done, 100, f"Completed step {done} of 100")
        await anyio.sleep(STEP)
    return text_result("Three steps were reported.")


async def _sampling(ctx: Context, params: types.CallToolRequestParams) -> Json:
    message = types.SamplingMessage(
        role="user", content=types.TextContent(type="text", text=str((params.arguments or {})["prompt"]))
    )
    result = await ctx.session.create_message([message], max_tokens=100, related_request_id=ctx.request_id)
    return text_result(f"LLM response: {getattr(result.content, 'text', '')}")


def _elicit_tool(message: str, properties: Json, required: tuple[str, ...] = ()) -> Tool:
    """Return a tool that asks the user to fill in a form."""

    async def tool(ctx: Context, params: types.CallToolRequestParams) -> Json:
        form = {"type": "object", "properties": properties, "required": list(required)}
        text = str((params.arguments or {}).get("message", message))
        result = await ctx.session.elicit_form(text, form, related_request_id=ctx.request_id)
        return text_result(f"Elicitation completed: action={result.action}, content={result.content}")

    return tool


def _enum_values(*named: tuple[str, str]) -> list[Json]:
    return [{"const": value, "title": title} for value, title in named]


_PERSON: Final = {
    "username": {"type": "string", "description": "User's response"},
    "email": {"type": "string", "description": "User's email address"},
}
_DEFAULTS: Final = {
    "name": {"type": "string", "default": "John Doe"},
    "age": {"type": "integer", "default": 30},
    "score": {"type": "number", "default": 95.5},
    "status": {"type": "string", "enum": ["active", "inactive", "pending"], "default": "active"},
    "verified": {"type": "boolean", "default": True},
}
_OPTIONS: Final = {"type": "string", "enum": ["option1", "option2", "option3"]}
_VALUES: Final = _enum_values(("value1", "First Option"), ("value2", "Second Option"), ("value3", "Third Option"))
_ENUMS: Final = {
    "untitledSingle": _OPTIONS,
    "titledSingle": {"type": "string", "oneOf": _VALUES},
    "legacyEnum": {
        "type": "string",
        "enum": ["opt1", "opt2", "opt3"],
        "enumNames": ["Option One", "Option Two", "Option Three"],
    },
    "untitledMulti": {"type": "array", "items": _OPTIONS},
    "titledMulti": {"type": "array", "items": {"anyOf": _VALUES}},
}

INTERACTIVE: Final[dict[str, Tool]] = {
    "test_tool_with_logging": _logging,
    "test_logging_tool": _logging,
    "test_tool_with_progress": _progress,
    "test_sampling": _sampling,
    "test_elicitation": _elicit_tool("Who are you?", _PERSON, tuple(_PERSON)),
    "test_elicitation_sep1034_defaults": _elicit_tool("Review the defaults", _DEFAULTS),
    "test_elicitation_sep1330_enums": _elicit_tool("Choose", _ENUMS),
}
"""Tools that send notifications or requests to the client."""

RESOURCES: Final[dict[str, Json]] = {
    "test://static-text": {
        "mimeType": "text/plain",
        "text": "This is the content of the static text resource.",
    },
    "test://static-binary": {"mimeType": "image/png", "blob": PNG},
    "test://watched-resource": {"mimeType": "text/plain", "text": "Watched."},
    "test://template/123/data": {
        "mimeType": "application/json",
        "text": '{"id":"123","templateTest":true,"data":"Data for ID: 123"}',
    },
}
TEMPLATE: Final = "test://template/{id}/data"


def _user(part: Json) -> Json:
    return {"role": "user", "content": part}


def _prompt(*parts: Json) -> Json:
    return {"messages": [_user(part) for part in parts]}


PROMPTS: Final[dict[str, tuple[tuple[str, ...], Callable[[dict[str, str]], Json]]]] = {
    "test_simple_prompt": ((), lambda _: _prompt(text_part("This is a simple prompt for testing."))),
    "test_prompt_with_arguments": (
        ("arg1", "arg2"),
        lambda arguments: _prompt(
            text_part(f"Prompt with arguments: arg1='{arguments['arg1']}', arg2='{arguments['arg2']}'")
        ),
    ),
    "test_prompt_with_embedded_resource": (
        ("resourceUri",),
        lambda arguments: _prompt(
            resource_part(arguments["resourceUri"], "text/plain", "Embedded resource content for testing."),
            text_part("Please process the embedded resource above."),
        ),
    ),
    "test_prompt_with_image": ((), lambda _: _prompt(IMAGE, text_part("Please analyze the image above."))),
}
"""Each prompt: the names of its arguments, and a function of the arguments that returns its messages."""
