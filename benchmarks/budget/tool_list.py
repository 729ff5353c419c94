"""Count the tokens of the list of tools, which a client pays for in every conversation.

    python -m benchmarks.budget.tool_list [--cache DIR]

The tokens are those of o200k_base and of Anthropic's tokenizer of 2023, in JSON without spaces: of the whole list as it
is sent, and of the names, descriptions and schemas, which clients give to the model. Exits with 1 if the list takes
more than `MOST`. npm downloads missing tokenizers into the cache folder.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any, Final

from benchmarks.budget.tokens import count_tokens, install
from keyhole.serve.tools import tool_list

MOST: Final = 900
"""Tokens of o200k for the whole list."""
MODEL_KEYS: Final = ("name", "description", "inputSchema")


def main() -> int:
    """Print the counts."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cache", type=Path, default=Path.home() / ".cache/keyhole-benchmarks/tokens")
    cache = parser.parse_args().cache
    install(cache)
    sent: list[dict[str, Any]] = [
        tool.model_dump(by_alias=True, mode="json", exclude_none=True) for tool in tool_list()
    ]
    read = [{key: tool[key] for key in MODEL_KEYS} for tool in sent]
    values = {"as sent": sent, "as a model reads it": read} | {str(tool["name"]): tool for tool in read}
    texts = [json.dumps(value, ensure_ascii=False, separators=(",", ":")) for value in values.values()]
    counts = count_tokens(cache, texts, ("o200k", "anthropic"))
    for name, text, (o200k, anthropic) in zip(values, texts, counts, strict=True):
        print(f"{name}: {len(text):,} characters, {o200k:,} tokens (o200k), {anthropic:,} (Anthropic 2023)")
    return int(counts[0][0] > MOST)


if __name__ == "__main__":
    raise SystemExit(main())
