"""Compute the bill of a replayed run, and how many of the facts that it used were in view or one call away.

A fact is a distinctive word (a path, a name, a number) that first occurs in a result and that the model uses later, in
a call or in its text. If it is not in the request of that turn, the agent would have had to make one call more, which
reads it in the stored text: that call is on the bill.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final

from benchmarks.agents.contexts import Make
from benchmarks.agents.runs import Items, Run, tokens_of
from keyhole.store.base import Store
from tests.support.product import retrieval

READ_TOKENS: Final = 900
"""Tokens of the result of one more call: a passage of a stored text."""
ASK_TOKENS: Final = 80
"""Tokens of output of one more call."""
FACT: Final = re.compile(r"[\w./~-]{7,80}")
_ID: Final = re.compile(r'(?:read_artifact\(id=\\?"|keyhole read )(\w{16})')
"""The id of a stored text, where a request names the call that reads it."""
_DISTINCTIVE: Final = re.compile(r"[\d_./]|[a-z][A-Z]")


@dataclass(slots=True)
class Bill:
    """The tokens of a run, and its facts."""

    read: int = 0
    """Tokens of input that the cache had from the request before."""
    new: int = 0
    """Tokens of input that it did not have."""
    output: int = 0
    calls: int = 0
    """Calls that the agent would have had to make besides the recorded ones."""
    facts: int = 0
    in_view: int = 0
    reachable: int = 0
    """Facts in view, or in a stored text whose id the request shows."""

    def add(self, other: Bill) -> None:
        """Add another bill to this one."""
        for name in self.__slots__:
            setattr(self, name, getattr(self, name) + getattr(other, name))

    def cost(self, price: dict[str, float]) -> float:
        """Return the dollars of the bill."""
        return (self.read * price["read"] + self.new * price["new"] + self.output * price["output"]) / 1e6


def replay(run: Run, context: Callable[[Run, Store], Make]) -> Bill:
    """Return the bill of a run with a context."""
    store, bill = retrieval({}).store, Bill()
    make = context(run, store)
    used = dict(find_uses(run))
    last: Items = []
    carried = 0
    """Tokens of the results of further calls, which stay in the history."""
    for number, turn in enumerate(run.turns):
        request = make(run.items[:turn])
        same = _common(last, request) if number else 0
        cached = run.fixed + sum(map(tokens_of, request[:same])) + carried if number else 0
        new = sum(map(tokens_of, request[same:])) + (0 if number else run.fixed)
        bill.read, bill.new, bill.output = bill.read + cached, bill.new + new, bill.output + tokens_of(run.items[turn])
        if _count_facts(bill, used.get(turn, ()), request, store):
            bill.calls += 1
            bill.read, bill.new, bill.output = (
                bill.read + cached + new,
                bill.new + READ_TOKENS,
                bill.output + ASK_TOKENS,
            )
            carried += READ_TOKENS + ASK_TOKENS
        last = request
    return bill


def _count_facts(bill: Bill, facts: Sequence[str], request: Items, store: Store) -> int:
    """Count the facts that a turn uses; return how many of them are not in view."""
    if not facts:
        return 0
    shown = json.dumps(request, ensure_ascii=False)
    missing = [fact for fact in facts if fact not in shown]
    texts = [store.get(id).text for id in set(_ID.findall(shown))] if missing else []
    lost = [fact for fact in missing if not any(fact in text for text in texts)]
    bill.facts += len(facts)
    bill.in_view += len(facts) - len(missing)
    bill.reachable += len(facts) - len(lost)
    return len(missing)


def _common(before: Items, after: Items) -> int:
    """Return the number of messages at the beginning that two requests share."""
    pairs = zip(before, after, strict=False)
    return next((number for number, (one, other) in enumerate(pairs) if one != other), min(len(before), len(after)))


def find_uses(run: Run) -> Iterator[tuple[int, tuple[str, ...]]]:
    """Yield for each turn the facts that it uses for the first time and that only a result has told before."""
    known: set[str] = set()
    told: set[str] = set()
    for place, item in enumerate(run.items):
        if item["role"] == "assistant":
            words = words_of(json.dumps(_own(item), ensure_ascii=False))
            if used := words & told:
                yield place, tuple(sorted(used))
            known |= words
            told -= words
        else:
            results, others = _results(item)
            known |= words_of(others)
            told |= words_of(results) - known


def words_of(text: str) -> set[str]:
    """Return the distinctive words of a text."""
    found = (word.strip("./-") for word in FACT.findall(text))
    return {word for word in found if len(word) >= 7 and _DISTINCTIVE.search(word)}


def _own(item: dict[str, Any]) -> Any:
    """Return what the model wrote, without ids, which no result tells."""
    if isinstance(item["content"], list):
        return [block.get("text") or block.get("input") for block in item["content"]]
    return [item["content"], [call["function"] for call in item.get("tool_calls") or ()]]


def _results(item: dict[str, Any]) -> tuple[str, str]:
    """Return the results and the other texts of a message."""
    if item["role"] == "tool":
        return item["content"], ""
    if not isinstance(item["content"], list):
        return "", item["content"]
    results = [block for block in item["content"] if block["type"] == "tool_result"]
    others = [block for block in item["content"] if block["type"] != "tool_result"]
    return "\n".join(map(_text, results)), "\n".join(map(_text, others))


def _text(block: dict[str, Any]) -> str:
    """Return the text of a block, unescaped, so that its words are those that a request shows."""
    content = block.get("content", block.get("text", ""))
    if isinstance(content, list):
        content = "\n".join(str(part.get("text", "")) for part in content if isinstance(part, dict))
    return json.dumps(str(content), ensure_ascii=False)
