"""Run the recipes of docs/how-it-works/conversations.md for litellm and openai-agents, in an interpreter that has them.

    PYTHONPATH=server PYTHON benchmarks/compaction/recipes.py

A recipe is run as the page prints it. Then its hook gets a conversation that is too long.
"""

from __future__ import annotations

import asyncio
import json
import os
import re
from pathlib import Path
from typing import Any

PAGE = Path(__file__).parents[2] / "docs" / "how-it-works" / "conversations.md"
TURNS = 300
RESULT = "step done\n" * 400
"""The result of each turn. Together they have three times the recipes' budget of 100,000 tokens."""


def recipe(library: str) -> dict[str, Any]:
    """Run the block that imports a library, and return its names."""
    blocks = re.findall(r"^```python\n(.*?)^```", PAGE.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)
    [block] = [block for block in blocks if re.search(rf"^from {library}\b", block, re.MULTILINE)]
    names: dict[str, Any] = {}
    exec(compile(block, str(PAGE), "exec"), names)  # noqa: S102 - the page is part of this repository
    return names


def check_litellm() -> None:
    """Give the hook of litellm's proxy a request."""
    os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"
    hook = recipe("litellm")["hook"]
    messages: list[dict[str, Any]] = [{"role": "user", "content": "Build it."}]
    for number in range(TURNS):
        function = {"name": "make", "arguments": "{}"}
        calls = [{"id": f"c{number}", "type": "function", "function": function}]
        messages.append({"role": "assistant", "content": None, "tool_calls": calls})
        messages.append({"role": "tool", "tool_call_id": f"c{number}", "content": RESULT})
    data = {"model": "m", "messages": messages}
    changed = asyncio.run(hook.async_pre_call_hook(None, None, dict(data), "completion"))
    _print("litellm", messages, changed["messages"])


def check_agents() -> None:
    """Run an agent of openai-agents with the filter, on a model that records what it gets."""
    from agents import Agent, Model, ModelResponse, Runner, Usage, set_tracing_disabled
    from openai.types.responses import ResponseOutputMessage, ResponseOutputText

    class Recorder(Model):  # type: ignore[misc]
        seen: Any = None

        async def get_response(self, *args: Any, **options: Any) -> ModelResponse:
            self.seen = options.get("input", args[1] if len(args) > 1 else None)
            text = ResponseOutputText(text="Done.", type="output_text", annotations=[])
            message = ResponseOutputMessage(
                id="msg_1", content=[text], role="assistant", status="completed", type="message"
            )
            return ModelResponse(output=[message], usage=Usage(), response_id=None)

        def stream_response(self, *args: Any, **options: Any) -> Any:
            raise NotImplementedError

    set_tracing_disabled(True)
    items: list[Any] = [{"role": "user", "content": "Build it."}]
    for number in range(TURNS):
        items.append({"type": "function_call", "call_id": f"c{number}", "name": "make", "arguments": "{}"})
        items.append({"type": "function_call_output", "call_id": f"c{number}", "output": RESULT})
    model = Recorder()
    agent = Agent(name="builder", model=model)
    result = asyncio.run(Runner.run(agent, items, run_config=recipe("agents")["run_config"]))
    assert result.final_output == "Done."
    _print("openai-agents", items, model.seen)


def _print(name: str, before: list[Any], after: list[Any]) -> None:
    sizes = [len(json.dumps(items)) for items in (before, after)]
    assert sizes[1] < 100_000 * 4 < sizes[0], sizes
    assert "Keyhole left out" in json.dumps(after)
    print(f"{name}: {sizes[0]:,} characters of history, {sizes[1]:,} reach the model.")


if __name__ == "__main__":
    check_litellm()
    check_agents()
