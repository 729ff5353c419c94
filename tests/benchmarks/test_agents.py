"""The bill of a replayed run counts what a cache has and has not, and a call for each turn that lacks a fact."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

import pytest

from benchmarks.agents import __main__ as agents
from benchmarks.agents.bill import ASK_TOKENS, READ_TOKENS, Bill, find_uses, replay
from benchmarks.agents.contexts import CONTEXTS
from benchmarks.agents.runs import Run, tokens_of

LONG = "".join(f"step {number}: nothing to report\n" for number in range(2_000)) + "value of port_number is 5432_main\n"


def chat(role: str, content: str, **more: Any) -> dict[str, Any]:
    return {"role": role, "content": content, **more}


def call(id: str, command: str) -> dict[str, Any]:
    function = {"name": "bash", "arguments": f'{{"cmd": "{command}"}}'}
    return chat("assistant", "", tool_calls=[{"id": id, "type": "function", "function": function}])


RUN = Run(
    "example", "chat",
    [
        chat("user", "Find the port."), call("c1", "make"), chat("tool", LONG, tool_call_id="c1"),
        call("c2", "connect 5432_main"), chat("tool", "connected", tool_call_id="c2"), chat("assistant", "Done."),
    ],
    1_000,
)  # fmt: skip


def test_a_fact_is_what_only_a_result_told_and_the_model_uses_later() -> None:
    assert list(find_uses(RUN)) == [(3, ("5432_main",))]


def test_the_recorded_context_reads_everything_again_from_the_cache() -> None:
    bill = replay(RUN, CONTEXTS["as recorded"])
    sizes = [tokens_of(item) for item in RUN.items]
    assert bill.new == 1_000 + sum(sizes[:5])
    assert bill.read == 2 * 1_000 + sum(sizes[:1]) + sum(sizes[:3])
    assert bill.output == sizes[1] + sizes[3] + sizes[5]
    assert (bill.facts, bill.in_view, bill.calls) == (1, 1, 0)


def test_a_bounded_result_is_cheaper_and_its_facts_are_one_call_away() -> None:
    whole, bounded = (replay(RUN, CONTEXTS[name]) for name in ("as recorded", "results bounded"))
    assert bounded.new + bounded.read < (whole.new + whole.read) / 3
    assert bounded.facts == bounded.reachable == 1
    assert bounded.calls == bounded.facts - bounded.in_view
    assert bounded.calls in (0, 1)


def test_a_fact_out_of_view_costs_one_more_call() -> None:
    def forget(_run: Run, _store: object) -> Any:
        return lambda items: items[:1]

    bill = replay(RUN, forget)
    assert (bill.in_view, bill.reachable, bill.calls) == (0, 0, 1)
    sizes = [tokens_of(item) for item in RUN.items]
    assert bill.output == sizes[1] + sizes[3] + sizes[5] + ASK_TOKENS
    assert bill.new == 1_000 + sizes[0] + READ_TOKENS


@pytest.mark.parametrize("name", tomllib.loads(agents.PRICES.read_text("utf-8")))
def test_a_price_has_its_source_and_makes_dollars_of_a_million_tokens(name: str) -> None:
    price = tomllib.loads(Path(agents.PRICES).read_text("utf-8"))[name]
    assert price["source"]
    million = Bill(read=1_000_000, new=1_000_000, output=1_000_000)
    assert million.cost(price) == pytest.approx(price["read"] + price["new"] + price["output"])
