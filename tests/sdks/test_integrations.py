"""Run the recipes of docs/how-it-works/conversations.md with the real SDKs, on a model on loopback.

PYTHONPATH=server:. PYTHON -m pytest tests/sdks
"""

from __future__ import annotations

import asyncio
import importlib
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import keyhole
from keyhole.extensions.conversations.compact import Compacted
from keyhole.extensions.conversations.formats.contents import plain
from tests.sdks.providers import CALLS, DONE, STEPS, Model, output, serve

pytestmark = pytest.mark.filterwarnings("default")

PAGE = Path(__file__).parents[2] / "docs" / "how-it-works" / "conversations.md"
BUDGET = 100_000
"""The tokens in the recipes."""
MAX_LINES = 10
TASK = "Build it."
SCHEMA = {"type": "object", "properties": {"target": {"type": "string"}}, "required": ["target"]}


def recipe(title: str) -> dict[str, Any]:
    """Run the block under a heading of the page, and return its names."""
    page = PAGE.read_text(encoding="utf-8")
    [block] = re.findall(rf"^### {title}\n(?:(?!#)[^\n]*\n)*?```python\n(.*?)^```", page, re.M | re.S)
    assert sum(bool(line.strip()) for line in block.splitlines()) <= MAX_LINES
    names: dict[str, Any] = {}
    exec(compile(block, str(PAGE), "exec"), names)  # noqa: S102 - the page is part of this repository
    return names


class Spy:
    """Records what `keyhole.compact` was given and what it returned."""

    def __init__(self) -> None:
        self.calls: list[tuple[list[Any], Compacted]] = []

    def __call__(self, items: Any, *arguments: Any, **options: Any) -> Compacted:
        done = self.compact(items, *arguments, **options)
        self.calls.append((list(items), done))
        return done

    compact = staticmethod(keyhole.compact)


@pytest.fixture
def spy(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Spy:
    """Return the record of the calls of `keyhole.compact`, whose store is in a folder of the test."""
    monkeypatch.setenv("KEYHOLE_HOME", str(tmp_path))
    monkeypatch.setenv("KEYHOLE_CONFIG", "off")
    spy = Spy()
    monkeypatch.setattr(keyhole, "compact", spy)
    return spy


@pytest.fixture
def model() -> Iterator[Model]:
    with serve(BUDGET) as served:
        yield served


def check(model: Model, spy: Spy, store: Any, *, requests: int = STEPS + 1) -> None:
    """Check that no request was refused, and all that must hold for each of them."""
    assert not model.refusals
    assert len(model.sent) == len(spy.calls) == requests
    left_out = 0
    for given, done in spy.calls:
        left_out = max(left_out, done.report.left_out.messages)
        assert done.report.tokens_after <= BUDGET
        assert not done.report.unknown
        check_kinds(given, done)
        restored = keyhole.restore(done.items, store, format=done.report.format)  # type: ignore[arg-type]
        whole = keyhole.restore(given, store, format=done.report.format)  # type: ignore[arg-type]
        assert plain(restored) == plain(whole)
    requests_as_text = [json.dumps(items) for items in model.sent]
    assert any("[Keyhole left out this result: " in text for text in requests_as_text)
    assert any(
        re.search(r"\[Keyhole left out \d+ messages with \d+ tool calls here", text) for text in requests_as_text
    )
    assert left_out > 0
    last = repr(plain(restored))
    outputs = (repr(output(f"call_{number}_{each}"))[1:-1] for number in range(STEPS) for each in range(2))
    assert sum(text in last for text in outputs) == CALLS


def check_kinds(given: list[Any], done: Compacted) -> None:
    """Check that unchanged items are the same objects, and changed ones have the same kind."""
    report = done.report
    kept = [item for index, item in enumerate(given) if index not in report.dropped]
    changed = {index for index, _ in (*report.stubs, *report.shortened)}
    same = [item for index, item in enumerate(given) if index not in changed and index not in report.dropped]
    with_notice = 1 if report.dropped else 0
    found = {id(item) for item in done.items}
    assert sum(id(item) not in found for item in same) <= with_notice
    if len(kept) == len(done.items):
        assert [type(item) for item in done.items] == [type(item) for item in kept]


def test_the_loop_of_anthropic_s_sdk(model: Model, spy: Spy) -> None:
    anthropic = pytest.importorskip("anthropic")
    names = recipe("Anthropic")
    client = anthropic.Anthropic(api_key="key", base_url=model.url, max_retries=0)
    tool = {"name": "make", "description": "Run make.", "input_schema": SCHEMA}
    messages: list[Any] = [{"role": "user", "content": TASK}]
    while True:
        response = names["step"](client, messages, model="claude", max_tokens=9, tools=[tool])
        calls = [block for block in response.content if block.type == "tool_use"]
        if not calls:
            break
        results = [{"type": "tool_result", "tool_use_id": call.id, "content": output(call.id)} for call in calls]
        messages.append({"role": "user", "content": results})
    assert response.content[-1].text == DONE
    check(model, spy, names["store"])


def test_the_loop_of_openai_s_sdk_with_chat_completions(model: Model, spy: Spy) -> None:
    openai = pytest.importorskip("openai")
    names = recipe("OpenAI, Chat Completions")
    client = openai.OpenAI(api_key="key", base_url=model.url, max_retries=0)
    function = {"name": "make", "description": "Run make.", "parameters": SCHEMA}
    messages: list[Any] = [{"role": "system", "content": "Be brief."}, {"role": "user", "content": TASK}]
    while True:
        response = names["step"](client, messages, model="gpt", tools=[{"type": "function", "function": function}])
        calls = response.choices[0].message.tool_calls or ()
        if not calls:
            break
        messages += [{"role": "tool", "tool_call_id": call.id, "content": output(call.id)} for call in calls]
    assert response.choices[0].message.content == DONE
    check(model, spy, names["store"])


def test_the_loop_of_openai_s_sdk_with_responses(model: Model, spy: Spy) -> None:
    openai = pytest.importorskip("openai")
    names = recipe("OpenAI, Responses")
    client = openai.OpenAI(api_key="key", base_url=model.url, max_retries=0)
    tool = {"type": "function", "name": "make", "parameters": SCHEMA, "strict": True}
    items: list[Any] = [{"role": "user", "content": TASK}]
    while True:
        response = names["step"](client, items, model="gpt", tools=[tool])
        calls = [item for item in response.output if item.type == "function_call"]
        if not calls:
            break
        items += [
            {"type": "function_call_output", "call_id": call.call_id, "output": output(call.call_id)} for call in calls
        ]
    assert response.output_text == DONE
    check(model, spy, names["store"])


def test_the_loop_of_google_s_sdk(model: Model, spy: Spy) -> None:
    genai = pytest.importorskip("google.genai")
    types = importlib.import_module("google.genai.types")
    names = recipe("Google Gen AI")
    client = genai.Client(api_key="key", http_options=types.HttpOptions(base_url=model.url))
    function = types.FunctionDeclaration(name="make", description="Run make.", parameters_json_schema=SCHEMA)
    config = types.GenerateContentConfig(tools=[types.Tool(function_declarations=[function])])
    contents: list[Any] = [types.Content(role="user", parts=[types.Part(text=TASK)])]
    while True:
        response = names["step"](client, contents, model="gemini", config=config)
        if not response.function_calls:
            break
        results = [
            types.Part(
                function_response=types.FunctionResponse(
                    id=call.id, name=call.name, response={"output": output(call.id)}
                )
            )
            for call in response.function_calls
        ]
        contents.append(types.Content(role="user", parts=results))
    assert response.text == DONE
    check(model, spy, names["store"])


def test_the_filter_of_openai_s_agents_sdk(model: Model, spy: Spy) -> None:
    agents = pytest.importorskip("agents")
    openai = pytest.importorskip("openai")
    names = recipe("OpenAI Agents SDK")
    client = openai.AsyncOpenAI(api_key="key", base_url=model.url, max_retries=0)
    agents.set_tracing_disabled(True)

    def make(target: str) -> str:
        """Run make."""
        return output(target)

    agent = agents.Agent(
        name="builder",
        tools=[agents.function_tool(make)],
        model=agents.OpenAIResponsesModel(model="gpt", openai_client=client),
    )
    result = agents.Runner.run_sync(agent, TASK, run_config=names["run_config"], max_turns=STEPS + 1)
    assert result.final_output == DONE
    check(model, spy, names["store"])


@pytest.mark.parametrize("provider", ["openai", "anthropic"])
@pytest.mark.parametrize("is_async", [False, True], ids=["sync", "async"])
def test_the_middleware_of_langchain(model: Model, spy: Spy, provider: str, is_async: bool) -> None:
    langchain = pytest.importorskip("langchain.agents")
    tools = importlib.import_module("langchain_core.tools")
    names = recipe("LangChain and LangGraph")

    def make(target: str) -> tuple[str, object]:
        """Run make."""
        return output(target), {"object": Artifact(), "rows": {("one", 1): "x y " * 50_000}}

    if provider == "openai":
        library = pytest.importorskip("langchain_openai")
        chat = library.ChatOpenAI(model="gpt", base_url=model.url, api_key="key", max_retries=0)
        model.may_rewrite = True  # it sends only the fields that it knows
    else:
        library = pytest.importorskip("langchain_anthropic")
        chat = library.ChatAnthropic(model_name="claude", base_url=model.url, api_key="key", max_retries=0)
    tool = tools.tool(response_format="content_and_artifact")(make)
    agent = langchain.create_agent(chat, [tool], middleware=[names["CompactHistory"]()])
    given = {"messages": [{"role": "user", "content": TASK}]}
    options = {"recursion_limit": 10 * STEPS}
    state = asyncio.run(agent.ainvoke(given, options)) if is_async else agent.invoke(given, options)
    assert state["messages"][-1].text == DONE
    assert sum(map(len, (message.text for message in state["messages"] if message.type == "tool"))) == sum(
        len(output(call["args"]["target"]))
        for message in state["messages"]
        if message.type == "ai"
        for call in message.tool_calls
    )
    check(model, spy, names["store"])
    for whole, done in spy.calls:
        by_id = {message.id: message for message in whole}
        for message in done.items:
            before = by_id[message.id].model_dump()
            assert {**message.model_dump(), "content": None} == {**before, "content": None}
            assert getattr(message, "artifact", None) is getattr(by_id[message.id], "artifact", None)


class Artifact:
    """What a tool returns beside its text."""


@pytest.mark.parametrize("provider", ["openai-chat", "openai-responses", "anthropic", "google"])
def test_the_capability_of_pydantic_ai(model: Model, spy: Spy, provider: str) -> None:
    pytest.importorskip("pydantic_ai")
    names = recipe("Pydantic AI")
    result = run_pydantic_agent(model, provider, names["CompactHistory"]())
    messages = result.all_messages()
    assert len(messages) == 2 * (STEPS + 1)
    assert [type(message) for message in spy.calls[-1][0]] == [type(message) for message in messages[:-1]]
    check(model, spy, names["store"])


def test_the_history_of_a_pydantic_ai_run_can_be_compacted_again_and_again(model: Model, spy: Spy) -> None:
    capabilities = pytest.importorskip("pydantic_ai.capabilities")
    store, secret = keyhole.open_store()

    def compact_history(messages: list[Any]) -> list[Any]:
        return keyhole.compact(messages, BUDGET, store=store, secret=secret).items

    result = run_pydantic_agent(model, "openai-chat", capabilities.ProcessHistory(compact_history))
    assert len(result.all_messages()) < 2 * STEPS
    check(model, spy, store)


def test_images_in_a_message_of_pydantic_ai_are_kept_and_come_back(tmp_path: Path, spy: Spy) -> None:
    messages = pytest.importorskip("pydantic_ai.messages")
    image = messages.BinaryContent(bytes(range(256)) * 4, media_type="image/png")
    prompt = ["Build what is in the picture.", messages.ImageUrl(url="https://example.org/a.png"), image]
    history = [messages.ModelRequest(parts=[messages.UserPromptPart(list(prompt))])]
    for number in range(30):
        call = messages.ToolCallPart("make", {"target": "main"}, tool_call_id=f"call_{number}")
        thought = messages.ThinkingPart("I compare the outputs. " * 400, signature="c2ln", provider_name="anthropic")
        result = messages.ToolReturnPart("make", [output(call.tool_call_id), image], tool_call_id=call.tool_call_id)
        history += [messages.ModelResponse(parts=[thought, call]), messages.ModelRequest(parts=[result])]
    store, secret = keyhole.open_store()
    done = keyhole.compact(history, 20_000, store=store, secret=secret)
    assert done.report.dropped
    [part] = done.items[0].parts
    assert part.content[:3] == prompt
    assert part.content[3].startswith("[Keyhole left out ")
    restored = keyhole.restore(done.items, store)
    assert restored[0] == history[0]
    assert plain(restored) == plain(history)


def run_pydantic_agent(model: Model, provider: str, capability: Any) -> Any:
    """Run an agent that compacts its history, and return its result."""
    pydantic_ai = pytest.importorskip("pydantic_ai")
    model.may_rewrite = True  # it sends only the fields that it knows

    def make(target: str) -> Any:
        """Run make."""
        return pydantic_ai.ToolReturn(output(target), metadata={"rows": "x y " * 50_000})

    agent = pydantic_ai.Agent(pydantic_model(provider, model.url), capabilities=[capability], tools=[make])
    limits = pydantic_ai.UsageLimits(request_limit=STEPS + 1)
    result = agent.run_sync(TASK, usage_limits=limits)
    assert result.output == DONE
    return result


def pydantic_model(provider: str, url: str) -> Any:
    """Return a model of pydantic-ai whose provider is on loopback."""
    if provider == "anthropic":
        models = pytest.importorskip("pydantic_ai.models.anthropic")
        providers = importlib.import_module("pydantic_ai.providers.anthropic")
        anthropic = importlib.import_module("anthropic")
        client = anthropic.AsyncAnthropic(api_key="key", base_url=url, max_retries=0)
        return models.AnthropicModel("claude", provider=providers.AnthropicProvider(anthropic_client=client))
    if provider == "google":
        models = pytest.importorskip("pydantic_ai.models.google")
        providers = importlib.import_module("pydantic_ai.providers.google")
        return models.GoogleModel("gemini-3", provider=providers.GoogleProvider(api_key="key", base_url=url))
    models = pytest.importorskip("pydantic_ai.models.openai")
    providers = importlib.import_module("pydantic_ai.providers.openai")
    given = providers.OpenAIProvider(base_url=url, api_key="key")
    kind = models.OpenAIChatModel if provider == "openai-chat" else models.OpenAIResponsesModel
    return kind("gpt-5", provider=given)


def test_the_hook_of_litellm_s_proxy(model: Model, spy: Spy, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LITELLM_LOCAL_MODEL_COST_MAP", "True")
    litellm = pytest.importorskip("litellm")
    names = recipe("LiteLLM proxy")
    model.may_rewrite = True  # it adds fields to the model's messages
    messages: list[Any] = [{"role": "user", "content": TASK}]
    while True:
        request = {"model": "openai/gpt", "messages": list(messages)}
        request = asyncio.run(names["hook"].async_pre_call_hook(None, None, request, "completion"))
        response = litellm.completion(**request, api_base=model.url, api_key="key", max_retries=0)
        message = response.choices[0].message
        messages.append(message.model_dump())
        if not message.tool_calls:
            break
        messages += [
            {"role": "tool", "tool_call_id": call.id, "content": output(call.id)} for call in message.tool_calls
        ]
    assert message.content == DONE
    check(model, spy, names["store"])
