"""The promises of `keyhole.compact` and `keyhole.restore`, as functions that yield how a result breaks them."""

from __future__ import annotations

import json
import random
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import keyhole
from keyhole.errors import Code, KeyholeError
from keyhole.extensions.conversations.items import estimate_item
from keyhole.store.sqlite.store import MemoryStore
from tests.sdks.views import View, faults, has_user_text, is_plain, role_of, texts, view
from tests.support.conversations import unknown_items
from tests.support.pairing import RULES

COMPACTIONS = 3
"""Compactions of each conversation, each at another budget."""
MARK = "[Keyhole left out "
REPAIRED = {rule.name for rules in RULES.values() for rule in rules if rule.is_repaired}


def count_bytes(items: Sequence[Any]) -> int:
    """Count as a caller may: more than the items together take, as the brackets around them show."""
    return len(json.dumps(view(list(items)))) // 2 + 50


@dataclass(slots=True)
class Trial:
    """A conversation, and how it is compacted."""

    format: str
    items: list[Any]
    budget: int
    options: dict[str, Any]
    store: MemoryStore
    views: list[View] = field(init=False)
    """The items before the compaction, as plain values."""

    def __post_init__(self) -> None:
        self.views = [view(item) for item in self.items]

    @property
    def is_countable(self) -> bool:
        """Return True if Keyhole and this module count the same: of objects, fields that are not sent do not count."""
        return "counter" in self.options or is_plain(self.items)

    @property
    def unknown(self) -> dict[int, str]:
        """Return the items that no client understands. Keyhole does not read the blocks of LangChain's messages."""
        found = unknown_items(self.views)
        return {index: name for index, name in found.items() if self.format != "langchain" or name == "role critic"}

    def compact(self, items: Sequence[Any], budget: int) -> Any:
        """Compact a conversation with the options of the trial."""
        return keyhole.compact(items, budget, **self.options)

    def count(self, items: Sequence[Any]) -> int:
        """Count tokens as the caller of the trial does."""
        counter = self.options.get("counter")
        return int(counter(items)) if counter else sum(estimate_item(view(item)) for item in items)


@dataclass(slots=True)
class Done:
    """A trial with its result."""

    trial: Trial
    items: list[Any]
    report: Any
    views: list[View]
    pairs: list[tuple[int, Any]]
    """The items that were kept: the index of each before the compaction, and what it is now."""
    extra: list[Any]
    """Items that were added."""


def run(trial: Trial, laws: Sequence[Callable[[Done], Iterator[str]]]) -> list[str]:
    """Return the promises that a trial breaks, each as "law: details"."""
    try:
        result = trial.compact(trial.items, trial.budget)
    except KeyholeError as error:
        return [f"error: {each}" for each in _check_error(trial, error)]
    except Exception as error:  # noqa: BLE001
        return [f"crash: {_describe(error)}"]
    done = _pair(trial, result)
    found: list[str] = []
    for law in laws:
        try:
            found += [f"{law.__name__}: {each}" for each in law(done)]
        except Exception as error:  # noqa: BLE001
            found.append(f"{law.__name__}: crash: {_describe(error)}")
    return found


def _describe(error: Exception) -> str:
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    place = f"{trace.tb_frame.f_code.co_filename.rsplit('/', 1)[-1]}:{trace.tb_lineno}" if trace else ""
    return f"{type(error).__name__} in {place}: {str(error)[:160]}"


def _check_error(trial: Trial, error: KeyholeError) -> Iterator[str]:
    if error.code is Code.INVALID_ARGUMENT:
        if len(trial.unknown) < len(trial.views):
            yield f"invalid_argument: {error.message[:120]}"
        return
    if error.code is not Code.OVER_BUDGET:
        yield f"{error.code}: {error.message[:120]}"
        return
    # What a provider would refuse is left out in any case, and the notice of it may be longer than what it stands for.
    is_whole = not any(each.rsplit(": ", 1)[0] in REPAIRED for each in faults(trial.format, trial.views))
    if trial.is_countable and is_whole and trial.budget >= trial.count(trial.items):
        yield "over_budget for a conversation that fits"
    least = error.facts.get("least")
    if not isinstance(least, int):
        yield "over_budget without the least budget"
        return
    try:
        done = trial.compact(trial.items, least)
    except KeyholeError as again:
        yield f"the least budget does not work: {again.code} {least} {again.facts.get('least')}"
    except Exception as again:  # noqa: BLE001
        yield f"crash with the least budget: {_describe(again)}"
    else:
        if trial.is_countable and trial.count(done.items) > least:
            yield "the least budget is exceeded"


def _pair(trial: Trial, result: Any) -> Done:
    """Return the result with each kept item beside what it is now."""
    kept = [index for index in range(len(trial.items)) if index not in set(result.report.dropped)]
    known = {id(item) for item in trial.items}
    new = [item for item in result.items if id(item) not in known]
    surplus = len(result.items) - len(kept)
    extra = [item for item in new if any(MARK in text for text in texts(view(item)))][:1] if surplus == 1 else []
    rest = [item for item in result.items if not any(item is each for each in extra)]
    views = [view(item) for item in result.items]
    return Done(trial, result.items, result.report, views, list(zip(kept, rest, strict=False)), extra)


def lengths(done: Done) -> Iterator[str]:
    """Only dropped items are missing, and at most a notice is added."""
    expected = len(done.trial.items) - len(done.report.dropped) + len(done.extra)
    if len(done.items) != expected:
        yield f"{len(done.items)} items instead of {expected}"
    if done.extra and not done.report.dropped:
        yield "a notice without dropped items"


def sizes(done: Done) -> Iterator[str]:
    """The result fits by the report's count and by the caller's."""
    after = done.trial.count(done.items)
    if done.report.tokens_after > done.trial.budget:
        yield f"the report counts {done.report.tokens_after} tokens of {done.trial.budget}"
    if after != done.report.tokens_after and done.trial.is_countable:
        yield f"the report counts {done.report.tokens_after} tokens, the caller {after}"


def identities(done: Done) -> Iterator[str]:
    """What the report does not name is the same object, in the same order, and what changed is of the same kind."""
    named = {item for item, _ in (*done.report.stubs, *getattr(done.report, "shortened", ()))}
    first = next((index for index, item in enumerate(done.trial.views) if _is_user_alone(item)), None)
    strays = set(done.report.replaced)
    for index, item in done.pairs:
        before = done.trial.items[index]
        if type(item) is not type(before):
            yield f"a {type(before).__name__} became a {type(item).__name__}: {_kind(done.trial.views[index])}"
        if item is before and index in named:
            yield f"a changed item is the same object: {_kind(done.trial.views[index])}"
        if item is before or index in named or index in strays:
            continue
        if index != first or not any(MARK in text for text in texts(view(item))):
            yield f"another object without a name in the report: {_kind(done.trial.views[index])}"


def _is_user_alone(item: View) -> bool:
    return has_user_text(item) and role_of(item) == "user"


def _kind(item: View) -> str:
    content = item.get("content") or item.get("parts")
    types = (
        [part.get("type") or next(iter(part), "") for part in content if isinstance(part, dict)]
        if isinstance(content, list)
        else []
    )
    return f"{item.get('type') or ''} {item.get('role') or item.get('kind') or ''} {sorted(set(map(str, types)))}"


def unchanged_input(done: Done) -> Iterator[str]:
    """The caller's items are not changed."""
    changed = [index for index, item in enumerate(done.trial.items) if view(item) != done.trial.views[index]]
    yield from (f"item {index} was changed in place" for index in changed)


def pinned(done: Done) -> Iterator[str]:
    """The system's text, the user's last message, unknown items and results that the model has not seen are kept."""
    views = done.trial.views
    dropped = set(done.report.dropped)
    yield from (f"the system's text was dropped: {_kind(views[i])}" for i in dropped if role_of(views[i]) == "system")
    users = [index for index, item in enumerate(views) if has_user_text(item)]
    if users and users[-1] in dropped:
        yield f"the user's last message was dropped: {_kind(views[users[-1]])}"
    yield from (f"an unknown item was dropped: {_kind(views[i])}" for i in dropped & done.trial.unknown.keys())
    if not faults(done.trial.format, views):
        model = max((index for index, item in enumerate(views) if role_of(item) == "model" or _calls(item)), default=-1)
        # Results before a text of the user may be those of a turn that lacks another result.
        begin = max(model, *(index for index, item in enumerate(views) if role_of(item) == "user"), -1)
        unseen = {index for index, item in enumerate(views) if index > begin and role_of(item) == "result"}
        unseen -= {index for index in unseen if _answers_no_call(views, views[index])}
        yield from (f"a result that the model has not seen was dropped: {_kind(views[i])}" for i in unseen & dropped)
        stubbed = {item for item, _ in done.report.stubs}
        yield from (f"a result that the model has not seen became a stub: {_kind(views[i])}" for i in unseen & stubbed)


def _answers_no_call(views: Sequence[View], item: View) -> bool:
    """Return whether an item of Pydantic AI has only results of calls that nobody made: no provider accepts them."""
    calls = {
        part.get("tool_call_id")
        for each in views
        for part in each.get("parts") or ()
        if isinstance(part, dict) and part.get("part_kind") == "tool-call"
    }
    parts = [part for part in item.get("parts") or () if isinstance(part, dict)]
    return bool(parts) and all(
        part.get("part_kind") == "tool-return" and part.get("tool_call_id") not in calls for part in parts
    )


def _calls(item: View) -> bool:
    kind = item.get("type")
    is_search = kind == "tool_search_output" and item.get("execution") != "client"
    made = ("reasoning", "program", "program_output", "mcp_approval_request")
    return str(kind).endswith("_call") or kind in made or is_search


def unknowns(done: Done) -> Iterator[str]:
    """Items that no client understands are named in the report, and others only if the report names their type."""
    named = {index for index, _ in done.report.unknown}
    for index, name in done.trial.unknown.items():
        if index not in named:
            yield f"not named: {name}"
        elif done.trial.format in RULES and not any(name in given for at, given in done.report.unknown if at == index):
            yield f"named otherwise: {name}"
    kept = {id(item) for item in done.items}
    yield from (f"changed: {name}" for i, name in done.report.unknown if id(done.trial.items[i]) not in kept)


def rules(done: Done) -> Iterator[str]:
    """The result breaks no rule that the conversation obeyed; none about pairs if all of it was understood."""
    before = Counter(faults(done.trial.format, done.trial.views))
    after = Counter(faults(done.trial.format, done.views))
    # Of an invalid conversation, the neighbour of a system message may be left out as broken, and with unknown items
    # nothing is repaired, so that a stray result may come to stand elsewhere.
    is_excused = bool(before) and bool(done.report.unknown)
    new = [each for each in (after - before).elements() if not (before and "a system message" in each)]
    yield from () if is_excused else new
    if not getattr(done.report, "unknown", done.trial.unknown):
        yield from (f"not repaired: {each}" for each in after & before if each.rsplit(": ", 1)[0] in REPAIRED)


def formats(done: Done) -> Iterator[str]:
    """The format is recognised, unless all messages are the same in several."""
    is_common = all({"role", "content"} >= item.keys() and _is_text(item["content"]) for item in done.trial.views)
    if done.report.format != done.trial.format and not is_common:
        yield f"{done.trial.format} recognised as {done.report.format}"


def _is_text(content: Any) -> bool:
    """Return True for a text, or parts that are texts in several formats."""
    return isinstance(content, str) or all(part.get("type") == "text" for part in content)


def stability(done: Done) -> Iterator[str]:
    """Compacting the result again changes nothing, unless it is still above the trigger."""
    if done.report.tokens_after > done.trial.budget * done.trial.options.get("trigger", 1.0):
        return
    again = done.trial.compact(done.items, done.trial.budget)
    after = [view(item) for item in again.items]
    if after != done.views:
        yield f"{len(done.views)} items became {len(after)}, or others"
    elif any(one is not other for one, other in zip(again.items, done.items, strict=True)):
        yield "other objects"


def restoring(done: Done) -> Iterator[str]:
    """The conversation can be given back after one, two and three compactions."""
    if "store" not in done.trial.options:
        return
    rng = random.Random(done.trial.budget)
    items = done.items
    for count in range(1, COMPACTIONS + 1):
        restored = keyhole.restore(items, done.trial.store)
        yield from (f"after {count} compactions: {each}" for each in _compare(done.trial.views, restored))
        items = _compact_again(done.trial, items, rng)


def _compact_again(trial: Trial, items: Sequence[Any], rng: random.Random) -> list[Any]:
    """Return items that were compacted to a random budget, or to the least one that works."""
    budget = max(1, int(trial.count(items) * rng.uniform(0.2, 1)))
    try:
        return list(trial.compact(items, budget).items)
    except KeyholeError as error:
        return list(trial.compact(items, int(error.facts["least"])).items)


def _compare(before: Sequence[View], restored: Sequence[Any]) -> Iterator[str]:
    after = [view(item) for item in restored]
    if len(after) != len(before):
        yield f"{len(after)} items instead of {len(before)}"
        return
    different = [index for index, item in enumerate(before) if after[index] != item]
    yield from (f"another item: {_kind(before[index])}" for index in different[:1])


LAWS = (lengths, sizes, identities, unchanged_input, pinned, rules, formats, stability)
LAWS_OF_RESTORING = (unknowns, restoring)
"""Laws that need `keyhole.restore` and the report that came with it."""
