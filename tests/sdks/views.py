"""Read items as plain values, and their results, without Keyhole: the fuzz compares what Keyhole does with this."""

from __future__ import annotations

import base64
import dataclasses
from collections.abc import Mapping, Sequence
from datetime import date
from enum import Enum
from typing import Any

from tests.support.pairing import CHECKERS

View = dict[str, Any]


def view(value: Any) -> Any:
    """Return a value as dicts, lists and scalars. Fields of an object that are None are left out."""
    if isinstance(value, Enum):
        return view(value.value)
    if value is None or isinstance(value, str | int | float | bool):
        return value
    if isinstance(value, bytes):
        return base64.b64encode(value).decode("ascii")
    if isinstance(value, date):
        return value.isoformat()
    if isinstance(value, Mapping):
        return {str(name): view(each) for name, each in value.items()}
    if isinstance(value, list | tuple):
        return [view(each) for each in value]
    return {name: view(each) for name, each in _fields(value).items() if each is not None}


def _fields(value: Any) -> View:
    if dataclasses.is_dataclass(value):
        return {field.name: getattr(value, field.name) for field in dataclasses.fields(value)}
    fields = type(value).model_fields
    aliases = {name: field.serialization_alias or field.alias or name for name, field in fields.items()}
    return {aliases.get(name, name): getattr(value, name) for name in (*fields, *(value.model_extra or {}))}


def is_plain(value: Any) -> bool:
    """Return True for a value without objects of an SDK."""
    if isinstance(value, dict):
        return all(map(is_plain, value.values()))
    if isinstance(value, list):
        return all(map(is_plain, value))
    return value is None or isinstance(value, str | int | float | bool)


def faults(format: str, views: Sequence[View]) -> list[str]:
    """Return the rules that a conversation breaks. Messages of frameworks obey those of Chat Completions."""
    if format in ("langchain", "pydantic-ai"):
        write = _from_langchain if format == "langchain" else _from_pydantic_ai
        messages = [message for each in views for message in write(each)]
        if format == "pydantic-ai" and len(messages) > 1 and messages[-2]["role"] == "tool":
            messages.pop()  # a text beside the last results, of which some may be missing
        return CHECKERS["chat"](messages)
    return CHECKERS[format](views)


def _from_langchain(item: View) -> list[View]:
    roles = {"human": "user", "ai": "assistant", "system": "system", "tool": "tool", "function": "function"}
    calls = {"tool_calls": item["tool_calls"]} if item.get("tool_calls") else {}
    return [{**item, "role": roles.get(item["type"], "critic"), **calls}]


def _from_pydantic_ai(item: View) -> list[View]:
    parts = item["parts"]
    if item["kind"] == "response":
        calls = [{"id": part["tool_call_id"]} for part in parts if part["part_kind"] == "tool-call"]
        return [{"role": "assistant", **({"tool_calls": calls} if calls else {})}]
    results = [part for part in parts if part["part_kind"] == "tool-return"]
    texts = [part for part in parts if part["part_kind"] in ("user-prompt", "system-prompt")]
    return [
        *({"role": "tool", "tool_call_id": part["tool_call_id"]} for part in results),
        *([{"role": "user"}] if texts else []),
    ]


def role_of(item: View) -> str:
    """Return who wrote an item: "system", "user", "model", "result", or "" for others."""
    role = str(item.get("role") or item.get("type") or item.get("kind") or "")
    if str(item.get("type")).endswith("_output") or role in ("tool", "function_call_output"):
        return "result"
    parts = _parts(item)
    if any(_is_result(part) for part in parts):
        return "result"
    roles = {"system": "system", "developer": "system", "user": "user", "human": "user", "function": "result",
             "request": "user"}  # fmt: skip
    if role == "request" and any(part.get("part_kind") == "system-prompt" for part in parts):
        return "system"
    return roles.get(role, "model" if role in ("assistant", "model", "ai", "response") else "")


def has_user_text(item: View) -> bool:
    """Return True for a message of the user that is more than results of tools."""
    parts = _parts(item)
    if role_of(item) == "user":
        return True
    return role_of(item) == "result" and any(map(_is_result, parts)) and not all(map(_is_result, parts))


def _parts(item: View) -> list[View]:
    content = item.get("parts") or item.get("content")
    return [part for part in content if isinstance(part, dict)] if isinstance(content, list) else []


def _is_result(part: View) -> bool:
    kinds = ("tool_result", "tool-return")
    return (
        part.get("type") in kinds
        or part.get("part_kind") in kinds
        or bool({"functionResponse", "function_response"} & part.keys())
    )


def texts(value: Any) -> list[str]:
    """Return all texts in a view."""
    if isinstance(value, str):
        return [value]
    if isinstance(value, dict):
        return [text for each in value.values() for text in texts(each)]
    return [text for each in value for text in texts(each)] if isinstance(value, list) else []
