"""Prompts: texts, arguments and errors, in both protocol eras."""

from __future__ import annotations

import re
from typing import Any

import anyio
import pytest
from mcp import Client
from mcp.shared.exceptions import MCPError

from keyhole.retrieval.dispatch import ARGUMENTS
from keyhole.serve.prompts import fill_prompt, prompt_list
from keyhole.serve.tools import build_server
from tests.serve.test_tools import ready
from tests.support.product import retrieval

ERAS = ["legacy", "auto"]
GIVEN = {
    "research": {"question": "Why {is} the sky blue?"},
    "read_page": {"url": "https://a.example/", "question": "Who?"},
}


def text_of(name: str) -> str:
    (message,) = fill_prompt(name, GIVEN[name]).messages
    assert message.role == "user"
    return str(getattr(message.content, "text", ""))


@pytest.mark.parametrize("era", ERAS)
def test_a_client_lists_the_prompts_and_gets_them(era: str) -> None:
    async def run() -> dict[str, str]:
        async with Client(build_server(ready(retrieval())), mode=era) as client:
            listed = (await client.list_prompts()).prompts
            got = {each.name: await client.get_prompt(each.name, GIVEN[each.name]) for each in listed}
        return {name: str(getattr(found.messages[0].content, "text", "")) for name, found in got.items()}

    assert anyio.run(run) == {name: text_of(name) for name in GIVEN}


@pytest.mark.parametrize("name", GIVEN)
def test_a_prompt_has_its_arguments_and_is_short(name: str) -> None:
    text = text_of(name)
    assert all(value in text for value in GIVEN[name].values())
    assert len(text) < 1_500


@pytest.mark.parametrize("name", GIVEN)
def test_a_prompt_names_only_existing_tools(name: str) -> None:
    calls = re.findall(r"(\w+)\(((?:\w+=[^,()]*,? ?)+)\)", text_of(name))
    assert {tool for tool, _ in calls} >= {"web_fetch", "read_artifact"}
    for tool, arguments in calls:
        assert set(re.findall(r"(\w+)=", arguments)) <= set(ARGUMENTS[tool].model_fields)


def test_the_question_is_the_last_argument() -> None:
    for each in prompt_list():
        assert each.arguments
        assert each.arguments[-1].name == "question"
        assert all(argument.required and argument.description for argument in each.arguments)


@pytest.mark.parametrize("era", ERAS)
@pytest.mark.parametrize(
    ("name", "arguments", "named"),
    [
        ("nothing", {}, "research, read_page"),
        ("research", None, "question: missing"),
        ("research", {"question": "  "}, "question: missing"),
        ("research", {"question": "a", "colour": "red"}, "'colour'"),
        ("research", {"question": "a" * 2_001}, "query: "),
        ("read_page", {"question": "a"}, "url: missing"),
    ],
)
def test_invalid_arguments_are_named(era: str, name: str, arguments: Any, named: str) -> None:
    async def run() -> MCPError:
        async with Client(build_server(ready(retrieval())), mode=era) as client:
            with pytest.raises(MCPError) as caught:
                await client.get_prompt(name, arguments)
            return caught.value

    error = anyio.run(run)
    assert (error.code, error.data["code"]) == (-32602, "invalid_argument")
    assert named in error.message


def test_listing_the_prompts_does_not_load_the_retrieval() -> None:
    async def never(_tenant: str) -> Any:
        raise AssertionError("the store was asked for")

    async def run() -> int:
        async with Client(build_server(never)) as client:
            await client.list_resource_templates()
            await client.get_prompt("research", GIVEN["research"])
            return len((await client.list_prompts()).prompts)

    assert anyio.run(run) == 2
