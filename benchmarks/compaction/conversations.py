"""Build conversations of an agent from real outputs, and write them in the formats of four APIs.

An agent gets a task, then runs commands in rounds of one to three parallel calls, with a line of text or with reasoning
before some of them; the user adds a message now and then. The conversation ends with the user's message or with
results. Commands and results are those of `benchmarks/outputs`. Its questions are about results before the last rounds.
"""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from benchmarks.outputs.corpus import Output, Question, load_outputs, load_questions
from keyhole.extensions.conversations.formats import Format

Items = list[dict[str, Any]]

COUNT = 40
MAX_RESULT_CHARS = 30_000
"""Characters of a result, at most. Agents cut longer ones before they reach the history."""
ROUNDS = (8, 24)
OLD_ROUNDS_LEFT = 4
"""Rounds at the end about which nothing is asked: they are kept in any case."""
QUESTIONS = 5
"""Questions about a conversation, at most."""


@dataclass(frozen=True)
class Round:
    """A turn of the model: text or reasoning, parallel calls with their results, and the user's next message."""

    number: int
    text: str
    is_reasoned: bool
    outputs: tuple[Output, ...]
    next_message: str

    def calls(self) -> list[tuple[str, Output]]:
        """Return the calls with their ids."""
        return [(f"call_{self.number}_{place}", output) for place, output in enumerate(self.outputs)]


@dataclass(frozen=True)
class Conversation:
    """The rounds of a conversation, and questions about their results."""

    rounds: tuple[Round, ...]
    questions: tuple[Question, ...]


def build_conversations(count: int = COUNT) -> list[Conversation]:
    """Return the conversations. The same number gives the same ones."""
    outputs = {id: output for id, output in load_outputs().items() if len(output.text) <= MAX_RESULT_CHARS}
    questions = [question for question in load_questions() if question.query and question.output in outputs]
    return [_build(random.Random(seed), outputs, questions) for seed in range(count)]


def _build(random: random.Random, outputs: dict[str, Output], questions: Sequence[Question]) -> Conversation:
    drawn = iter(random.sample(sorted(outputs), len(outputs)))
    rounds = []
    for number in range(random.randint(*ROUNDS)):
        own = tuple(outputs[next(drawn)] for _ in range(random.choice((1, 1, 1, 2, 3))))
        text = f"I run {own[0].command}." if random.random() < 0.6 else ""
        message = "Good. Go on with the next step." if random.random() < 0.2 else ""
        rounds.append(Round(number, text, random.random() < 0.5, own, message))
    old = {output.id for each in rounds[:-OLD_ROUNDS_LEFT] for output in each.outputs}
    about = [question for question in questions if question.output in old]
    return Conversation(tuple(rounds), tuple(random.sample(about, min(QUESTIONS, len(about)))))


SYSTEM = "You are an agent on the command line. Find out why the build and the tests of this project fail."
TASK = "Look into the failures of this project, and tell me what you find. Do not change any file."


def to_chat(conversation: Conversation) -> Items:
    """Return Chat Completions messages."""
    items: Items = [{"role": "system", "content": SYSTEM}, {"role": "user", "content": TASK}]
    for each in conversation.rounds:
        calls = [
            {"id": id, "type": "function", "function": {"name": "shell", "arguments": _arguments(output)}}
            for id, output in each.calls()
        ]
        items.append({"role": "assistant", "content": each.text or None, "tool_calls": calls})
        items += [{"role": "tool", "tool_call_id": id, "content": output.text} for id, output in each.calls()]
        items += _user(each)
    return items


def to_anthropic(conversation: Conversation) -> Items:
    """Return messages of Anthropic's API."""
    items: Items = [{"role": "user", "content": TASK}]
    for each in conversation.rounds:
        text = [{"type": "text", "text": each.text}] if each.text else []
        calls = [
            {"type": "tool_use", "id": id, "name": "shell", "input": {"command": output.command}}
            for id, output in each.calls()
        ]
        results = [
            {"type": "tool_result", "tool_use_id": id, "content": [{"type": "text", "text": output.text}]}
            for id, output in each.calls()
        ]
        items += [{"role": "assistant", "content": [*text, *calls]}, {"role": "user", "content": results}, *_user(each)]
    return items


def to_responses(conversation: Conversation) -> Items:
    """Return items of the Responses API. A call with an `id` belongs to the reasoning item `reasoning_id`."""
    items: Items = [{"role": "developer", "content": SYSTEM}, {"role": "user", "content": TASK}]
    for each in conversation.rounds:
        tie = {}
        if each.is_reasoned:
            reasoning = f"rs_{each.number}"
            items.append({"type": "reasoning", "id": reasoning, "summary": [], "encrypted_content": "gAAAAAB" * 200})
            tie = {"reasoning_id": reasoning}
        if each.text:
            items.append({"role": "assistant", "content": [{"type": "output_text", "text": each.text}]})
        for id, output in each.calls():
            own = {"id": f"fc_{id}", **tie} if tie else {}
            call = {"type": "function_call", "call_id": id, "name": "shell", "arguments": _arguments(output)}
            items.append({**call, **own})
        items += [{"type": "function_call_output", "call_id": id, "output": out.text} for id, out in each.calls()]
        items += _user(each)
    return items


def to_gemini(conversation: Conversation) -> Items:
    """Return contents of Gemini's API. The first call of a response has the signature of its thoughts."""
    items: Items = [{"role": "user", "parts": [{"text": TASK}]}]
    for each in conversation.rounds:
        parts: list[dict[str, Any]] = [{"text": each.text}] if each.text else []
        for place, (id, output) in enumerate(each.calls()):
            signature = {"thoughtSignature": "CpwB" * 60} if each.is_reasoned and not place else {}
            call = {"id": id, "name": "shell", "args": {"command": output.command}}
            parts.append({"functionCall": call, **signature})
        items.append({"role": "model", "parts": parts})
        responses = [{"id": id, "name": "shell", "response": {"output": output.text}} for id, output in each.calls()]
        text = [{"text": each.next_message}] if each.next_message else []
        items.append({"role": "user", "parts": [*({"functionResponse": each} for each in responses), *text]})
    return items


def _arguments(output: Output) -> str:
    return json.dumps({"command": output.command})


def _user(each: Round) -> Items:
    return [{"role": "user", "content": each.next_message}] if each.next_message else []


FORMATS: dict[Format, Callable[[Conversation], Items]] = {
    "chat": to_chat, "anthropic": to_anthropic, "responses": to_responses, "gemini": to_gemini,
}  # fmt: skip
