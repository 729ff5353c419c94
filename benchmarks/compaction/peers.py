"""Shorten Chat Completions messages with langchain-core, litellm and inspect_ai, in an interpreter that has them.

    PYTHON benchmarks/compaction/peers.py BUDGET < CONVERSATIONS > RESULTS

Both streams are JSON: a list of conversations, and an object with the name and version of each library and its
shortened conversations. This script imports nothing of Keyhole.
"""

from __future__ import annotations

import asyncio
import json
import logging
import os
import sys
from collections.abc import Callable
from importlib.metadata import version
from typing import Any

Messages = list[dict[str, Any]]


def langchain(budget: int, **options: Any) -> Callable[[Messages], Messages]:
    """Return langchain's `trim_messages` with options. It counts three bytes per token."""
    from langchain_core.messages import convert_to_openai_messages, trim_messages

    def count(messages: Any) -> int:
        return sum(count_tokens(convert_to_openai_messages(each)) for each in messages)

    def trim(messages: Messages) -> Messages:
        kept = trim_messages(messages, max_tokens=budget, token_counter=count, **options)
        return list(convert_to_openai_messages(kept))

    return trim


def litellm(budget: int) -> Callable[[Messages], Messages]:
    """Return litellm's `trim_messages`, which counts with its own tokenizer."""
    os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"
    from litellm.utils import trim_messages

    logging.disable(logging.ERROR)

    def trim(messages: Messages) -> Messages:
        return [dict(message) for message in trim_messages(messages, model="gpt-4o", max_tokens=budget)]

    return trim


def inspect(budget: int) -> Callable[[Messages], Messages]:
    """Return inspect_ai's compaction without a model: old results are cleared, then messages are left out."""
    from inspect_ai.model import CompactionEdit, CompactionTrim, get_model, messages_from_openai, messages_to_openai

    model = get_model("mockllm/model")

    async def compact(messages: Messages) -> Messages:
        for strategy in (CompactionEdit(memory=False), CompactionTrim(memory=False)):
            if count_tokens(messages) <= budget:
                break
            kept, _ = await strategy.compact(model, await messages_from_openai(messages), [])
            messages = [dict(each) for each in await messages_to_openai(kept)]
        return messages

    return lambda messages: asyncio.run(compact(messages))


def count_tokens(value: Any) -> int:
    """Return a token for three bytes of JSON."""
    return len(json.dumps(value).encode()) // 3


def main() -> None:
    """Shorten all conversations with each library."""
    budget, conversations = int(sys.argv[1]), json.load(sys.stdin)
    safe = {"strategy": "last", "include_system": True, "start_on": "human"}
    names = {
        f"langchain-core {version('langchain-core')}": langchain(budget, strategy="last", include_system=True),
        f"langchain-core {version('langchain-core')}, start_on human": langchain(budget, **safe),
        f"litellm {version('litellm')}": litellm(budget),
        f"inspect-ai {version('inspect-ai')}": inspect(budget),
    }
    json.dump({name: [trim(messages) for messages in conversations] for name, trim in names.items()}, sys.stdout)


if __name__ == "__main__":
    main()
