"""The rules of Anthropic's Messages API. Blocks of unknown types are passed over, and the last calls may be open."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from tests.support.pairing.rules import Item, Items, Rule, is_signed, parts_of

_DOCS = "https://platform.claude.com/docs/en"
_CALLS = f"{_DOCS}/agents-and-tools/tool-use/handle-tool-calls"
_SERVER = f"{_DOCS}/agents-and-tools/tool-use/server-tools"
_PROGRAMS = f"{_DOCS}/agents-and-tools/tool-use/programmatic-tool-calling"
_THINKING = f"{_DOCS}/build-with-claude/extended-thinking"
_SYSTEM = f"{_DOCS}/build-with-claude/mid-conversation-system-messages"
_VISION = f"{_DOCS}/build-with-claude/vision"
_ERRORS = f"{_DOCS}/api/errors"
MAX_IMAGES = 100
HOSTED_CALLS = {"server_tool_use", "mcp_tool_use"}
HOSTED_RESULTS = {
    "web_search_tool_result", "web_fetch_tool_result", "code_execution_tool_result", "bash_code_execution_tool_result",
    "text_editor_code_execution_tool_result", "tool_search_tool_result", "advisor_tool_result", "mcp_tool_result",
}  # fmt: skip
_THOUGHTS = {"thinking", "redacted_thinking"}

Message = tuple[str, list[Item]]


def merged(items: Items) -> list[Message]:
    """Return the messages of the user and the assistant as role and blocks. Those of one role in a row are one."""
    messages: list[Message] = []
    for item in items:
        role, blocks = item.get("role"), parts_of(item.get("content"))
        if role not in ("user", "assistant"):
            continue
        if messages and messages[-1][0] == role:
            messages[-1][1].extend(blocks)
        else:
            messages.append((role, list(blocks)))
    return messages


def turns(items: Items) -> list[list[Message]]:
    """Return the messages in turns, each of which begins with a message of the user that has no result."""
    found: list[list[Message]] = []
    for role, blocks in merged(items):
        if not found or (role == "user" and not _results(blocks)):
            found.append([])
        found[-1].append((role, blocks))
    return found


def _results(blocks: list[Item]) -> list[str]:
    return [block["tool_use_id"] for block in blocks if block.get("type") == "tool_result"]


def _calls(blocks: list[Item]) -> list[str]:
    return [block["id"] for block in blocks if block.get("type") == "tool_use"]


def starts_with_the_user(items: Items) -> Iterator[str]:
    """Yield a fault if the first message is not the user's."""
    yield from (role for role, _ in merged(items)[:1] if role != "user")


def calls_without_results(items: Items) -> Iterator[str]:
    """Yield the calls that the next message does not answer."""
    messages = merged(items)
    for number, (role, blocks) in enumerate(messages[:-1]):
        following = messages[number + 1][1]
        answered = _results(following)
        # An answer that is still being put together has no text yet.
        is_last = number + 2 == len(messages) and len(answered) == len(following)
        yield from (call for call in _calls(blocks) if role == "assistant" and call not in answered and not is_last)


def results_without_calls(items: Items) -> Iterator[str]:
    """Yield the results that answer no call of the message before."""
    expected: list[str] = []
    for role, blocks in merged(items):
        if role == "user":
            yield from (call for call in _results(blocks) if call not in expected)
            expected = []
        else:
            expected = _calls(blocks)


def repeated_results(items: Items) -> Iterator[str]:
    """Yield the calls that a message answers twice."""
    for _, blocks in merged(items):
        yield from (Counter(_results(blocks)) - Counter(set(_results(blocks)))).elements()


def repeated_ids(items: Items) -> Iterator[str]:
    """Yield the ids that two calls have."""
    ids = [call for _, blocks in merged(items) for call in _calls(blocks)]
    yield from (Counter(ids) - Counter(set(ids))).elements()


def texts_before_results(items: Items) -> Iterator[str]:
    """Yield the results that come after other blocks of the message."""
    for role, blocks in merged(items):
        types = [block.get("type") != "tool_result" for block in blocks]
        if role == "user" and types != sorted(types):
            yield ", ".join(_results(blocks))


def empty_contents(items: Items) -> Iterator[str]:
    """Yield messages without blocks."""
    return (str(item.get("role")) for item in items if item.get("content") == [])


def hosted_calls_without_results(items: Items) -> Iterator[str]:
    """Yield the calls of server tools that have no result in their turn. A turn that was paused last may go on."""
    for turn in turns(items)[:-1]:
        blocks = [block for role, blocks in turn if role == "assistant" for block in blocks]
        answered = {block.get("tool_use_id") for block in blocks if block.get("type") in HOSTED_RESULTS}
        yield from (b["id"] for b in blocks if b.get("type") in HOSTED_CALLS and b["id"] not in answered)


def hosted_results_without_calls(items: Items) -> Iterator[str]:
    """Yield the results of server tools whose call is not before them in their turn."""
    for turn in turns(items):
        seen: set[str] = set()
        for block in (block for _, blocks in turn for block in blocks):
            if block.get("type") in HOSTED_CALLS:
                seen.add(block["id"])
            elif block.get("type") in HOSTED_RESULTS and block["tool_use_id"] not in seen:
                yield block["tool_use_id"]


def hosted_results_of_the_user(items: Items) -> Iterator[str]:
    """Yield blocks of server tools in messages of the user."""
    for role, blocks in merged(items):
        yield from (b["type"] for b in blocks if role == "user" and b.get("type") in HOSTED_CALLS | HOSTED_RESULTS)


def _caller(block: Item) -> str:
    caller = block.get("caller")
    return str(caller.get("tool_id") or "") if isinstance(caller, dict) else ""


def callers_without_programs(items: Items) -> Iterator[str]:
    """Yield the programs that made a call and are not before it in its turn."""
    for turn in turns(items):
        seen = {""}
        for block in (block for role, blocks in turn if role == "assistant" for block in blocks):
            if block.get("type") == "server_tool_use":
                seen.add(block["id"])
            if _caller(block) not in seen:
                yield _caller(block)


def texts_beside_results_of_programs(items: Items) -> Iterator[str]:
    """Yield the calls of programs that a message answers with other blocks beside the results."""
    called: set[str] = set()
    for role, blocks in merged(items):
        if role == "assistant":
            called = {block["id"] for block in blocks if block.get("type") == "tool_use" and _caller(block)}
        elif len(_results(blocks)) < len(blocks):
            yield from (call for call in _results(blocks) if call in called)


def calls_before_thoughts(items: Items) -> Iterator[str]:
    """Yield a fault if the last turn has thoughts, but does not begin with one."""
    last = [blocks for role, blocks in (turns(items) or [[]])[-1] if role == "assistant"]
    has_thoughts = any(block.get("type") in _THOUGHTS for blocks in last for block in blocks)
    if has_thoughts and last[0] and last[0][0].get("type") not in _THOUGHTS:
        yield str(last[0][0].get("type"))


def changed_thoughts(items: Items) -> Iterator[str]:
    """Yield the thoughts whose signature belongs to another text."""
    for _, blocks in merged(items):
        thoughts = (block for block in blocks if block.get("type") == "thinking")
        yield from (each["thinking"][:40] for each in thoughts if not is_signed(each["thinking"], each["signature"]))


def thoughts_at_the_end(items: Items) -> Iterator[str]:
    """Yield the messages that end with a thought."""
    for _, blocks in merged(items):
        yield from (block["type"] for block in blocks[-1:] if block.get("type") in _THOUGHTS)


def misplaced_system_messages(items: Items) -> Iterator[str]:
    """Yield system messages that do not follow the user, or that the user follows."""
    known = [item for item in items if item.get("role") in ("user", "assistant", "system")]
    for number, item in enumerate(known):
        if item["role"] != "system":
            continue
        before = known[number - 1]["role"] if number else ""
        after = known[number + 1]["role"] if number + 1 < len(known) else "assistant"
        if before != "user" or after != "assistant":
            yield f"between {before or 'nothing'} and {after}"


def too_many_images(items: Items) -> Iterator[str]:
    """Yield a fault if there are too many images."""
    blocks = [block for item in items for block in parts_of(item.get("content"))]
    blocks += [part for block in blocks for part in parts_of(block.get("content"))]
    count = sum(block.get("type") == "image" for block in blocks)
    yield from [str(MAX_IMAGES)] if count > MAX_IMAGES else []


def ambiguous_compactions(items: Items) -> Iterator[str]:
    """Yield the summaries of earlier messages after the first one."""
    found = [b for item in items for b in parts_of(item.get("content")) if b.get("type") == "compaction"]
    yield from ("compaction" for _ in [block for block in found if block.get("content")][1:])


RULES = (
    Rule("first message must use the user role", _ERRORS, starts_with_the_user),
    Rule("`tool_use` ids were found without `tool_result` blocks immediately after", _CALLS, calls_without_results,
         is_repaired=True),
    Rule("unexpected `tool_use_id` found in `tool_result` blocks", _CALLS, results_without_calls, is_repaired=True),
    Rule("each `tool_use` must have a single result", _CALLS, repeated_results, is_repaired=True),
    Rule("`tool_use` ids must be unique", _CALLS, repeated_ids, is_repaired=True),
    Rule("tool_result blocks come first in the content", _CALLS, texts_before_results, is_repaired=True),
    Rule("messages must have non-empty content", _ERRORS, empty_contents),
    Rule("tool use was found without a corresponding `*_tool_result` block", _SERVER, hosted_calls_without_results),
    Rule("`*_tool_result` block without its `server_tool_use`", _SERVER, hosted_results_without_calls),
    Rule("blocks of server tools belong to the assistant", _SERVER, hosted_results_of_the_user),
    Rule("`caller.tool_id` must name a `server_tool_use` block", _PROGRAMS, callers_without_programs),
    Rule("a response to programmatic calls must contain only tool_result blocks", _PROGRAMS,
         texts_beside_results_of_programs),
    Rule("Expected `thinking` or `redacted_thinking`, but found another block", _THINKING, calls_before_thoughts),
    Rule("`thinking` blocks in the conversation cannot be modified", _THINKING, changed_thoughts),
    Rule("the final block in an assistant message cannot be `thinking`", _THINKING, thoughts_at_the_end),
    Rule("a system message follows the user, and the assistant or nothing follows it", _SYSTEM,
         misplaced_system_messages),
    Rule("too many images", _VISION, too_many_images),
    Rule("compaction_block_ambiguous", f"{_DOCS}/build-with-claude/compaction", ambiguous_compactions),
)  # fmt: skip
