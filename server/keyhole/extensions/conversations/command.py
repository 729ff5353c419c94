"""Run `keyhole compact`: shorten the history of a conversation, and store what is left out."""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Literal

from keyhole.cli.bound_command import keeps_outputs
from keyhole.cli.terminal import format_json
from keyhole.cli.text_io import print_text, read_blocks
from keyhole.config.config import Config
from keyhole.errors import Code, KeyholeError
from keyhole.extensions.conversations.compact import Compacted, Report, compact
from keyhole.extensions.conversations.formats import Format, Item
from keyhole.extensions.conversations.items import estimate_item
from keyhole.extensions.conversations.restore import restore
from keyhole.store.base import LOCAL
from keyhole.text.parse_json import parse_json


def run(config: Config, arguments: argparse.Namespace) -> int:
    """Print the conversation or request within the budget, and return 0."""
    request = _read(arguments.file)
    if arguments.restore:
        print_text(format_json(request.with_items(_restore(config, arguments, request))))
        return 0
    done = _compact(config, arguments, request)
    result = request.with_items(done.items)
    print_text(format_json({"result": result, "report": asdict(done.report)} if arguments.json else result))
    print(_summary(done.report), file=sys.stderr)
    return 0


def _read(name: str) -> ConversationRequest:
    try:
        return read_request(parse_json(b"".join(read_blocks(name))))
    except ValueError as error:
        raise KeyholeError(Code.INVALID_ARGUMENT, f"{name} is not JSON: {error}") from error


def _restore(config: Config, arguments: argparse.Namespace, request: ConversationRequest) -> list[Item]:
    """Return the conversation as it was before it was compacted."""
    from keyhole.cli.build import open_stores

    stores = open_stores(config)
    try:
        store, _ = stores.for_tenant(LOCAL)
        return restore(request.items, store, format=_format(arguments, request), partial=arguments.partial)
    finally:
        stores.close()


def _format(arguments: argparse.Namespace, request: ConversationRequest) -> Format | Literal["auto"]:
    given: Format | Literal["auto"] = arguments.format
    return given if given != "auto" else request.format or "auto"


def _compact(config: Config, arguments: argparse.Namespace, request: ConversationRequest) -> Compacted:
    """Compact a conversation. What it leaves out is stored, unless the settings keep no outputs."""
    options: dict[str, Any] = {
        "format": _format(arguments, request),
        "keep_last": arguments.keep_last,
        "target": arguments.target,
    }
    if arguments.max_tokens is None:
        raise KeyholeError(Code.INVALID_ARGUMENT, "--max-tokens is missing: the tokens of the conversation")
    budget = _budget(arguments.max_tokens, request.other_tokens)
    if not keeps_outputs(config):
        return compact(request.items, budget, **options)
    from keyhole.cli.build import open_stores

    stores = open_stores(config)
    try:
        store, secret = stores.for_tenant(LOCAL)
        return compact(request.items, budget, store=store, secret=secret, now=time.time(), **options)
    finally:
        stores.close()


def _budget(budget: int, other_tokens: int) -> int:
    """Return the tokens that remain for the conversation. Raises KeyholeError: over_budget."""
    if 0 < budget <= other_tokens:
        raise KeyholeError(
            Code.OVER_BUDGET,
            f"the request takes {other_tokens:,} tokens of {budget:,} without its conversation",
            tokens=other_tokens,
            budget=budget,
        )
    return budget - other_tokens if other_tokens else budget


def _summary(report: Report) -> str:
    return (
        f"keyhole: about {report.tokens_before:,} tokens of conversation, now {report.tokens_after:,}; left out: "
        f"{len(report.stubs):,} tool results, {report.left_out.messages:,} messages; shortened: "
        f"{len(report.shortened):,}; not understood and kept: {len(report.unknown):,}"
    )


# Requests to a provider's API: find the conversation in one, and put a shorter one in its place.


@dataclass(frozen=True, slots=True)
class ConversationRequest:
    """A conversation, and the request that it was found in."""

    items: Sequence[Item]
    format: Format | None
    """The format that the request tells, None to recognise it."""
    body: Mapping[str, Any] | None = None
    """None if the conversation stood alone."""
    field: str = ""
    """The field of the body that has the conversation."""

    @property
    def other_tokens(self) -> int:
        """Return an estimate of the tokens of all other fields: the instructions, the tools, the options."""
        rest = {name: value for name, value in (self.body or {}).items() if name != self.field}
        return estimate_item(rest) if rest else 0

    def with_items(self, items: Sequence[Item]) -> object:
        """Return the request with another conversation, or the conversation if it stood alone."""
        return list(items) if self.body is None else {**self.body, self.field: list(items)}


def read_request(value: object) -> ConversationRequest:
    """Return the conversation of a decoded JSON text: a list of items, or a body that has them in one of its fields.

    Raises KeyholeError: invalid_argument.
    """
    if isinstance(value, list):
        return ConversationRequest(value, None)
    if isinstance(value, Mapping):
        for field in ("messages", "input", "contents"):
            items = value.get(field)
            if isinstance(items, str):
                items = [{"role": "user", "content": items}] if field != "contents" else [{"parts": [{"text": items}]}]
            if isinstance(items, list):
                return ConversationRequest(items, _format_of_request(field, value), value, field)
    message = "a conversation is a JSON list of messages or items, or a request with `messages`, `input` or `contents`"
    raise KeyholeError(Code.INVALID_ARGUMENT, message)


def _format_of_request(field: str, body: Mapping[str, Any]) -> Format | None:
    """Return the format of a request, as far as its fields tell. Only Anthropic has a system text beside messages."""
    if field != "messages":
        return "responses" if field == "input" else "gemini"
    return "anthropic" if "system" in body else None
