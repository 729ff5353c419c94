"""Group the items of a conversation, so that calls, their results and their reasoning are kept or left out together.

Pure. A group is a message of the system or the user, an item of an unknown type, or a turn of the model: its reasoning,
its text, all its parallel calls, their results, and every other item that names one of its calls.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace

from keyhole.extensions.conversations.formats.values import (
    Format,
    GroupedConversation,
    ItemFacts,
    ItemKind,
    MessageGroup,
    ToolResult,
)

CallNames = tuple[str, ...]


@dataclass(slots=True)
class _Turn:
    """A group that is being read."""

    kind: ItemKind
    items: list[int] = field(default_factory=list)
    rounds: list[tuple[ToolResult, ...]] = field(default_factory=list)
    user_items: list[int] = field(default_factory=list)
    """The items with text of the user."""
    calls: list[CallNames] = field(default_factory=list)
    unanswered: list[CallNames] = field(default_factory=list)
    running: set[str] = field(default_factory=set)
    """The ids of calls that the provider runs, and that no item answered yet."""
    answered_at: int = -1
    has_reasoning: bool = False
    has_output: bool = False
    """True if the model wrote text or made calls in it, not only reasoning."""
    is_answered: bool = False
    is_in_round: bool = False
    """True if its last item is a result."""
    is_fixed: bool = False
    has_unknown: bool = False
    went_on: bool = False
    """True if the model continued although some of its calls were not answered."""

    def add(self, index: int, fact: ItemFacts) -> None:
        """Add an item. The results in it that are not of its own calls have been passed to `answer`."""
        self.items.append(index)
        self.went_on |= fact.kind == "model" and self.is_answered and bool(self.unanswered)
        self.calls += fact.calls
        self.unanswered += fact.calls
        self.running |= set(fact.hosted)
        self.running -= set(fact.closes)
        replaceable = tuple(result for result in fact.results if result.is_replaceable)
        if replaceable:
            begun = self.rounds.pop() if self.is_in_round else ()
            self.rounds.append((*begun, *replaceable))
        self.is_in_round = fact.kind == "result" and bool(self.rounds)
        self.has_reasoning |= fact.is_reasoning
        self.has_output |= fact.kind == "model" and not fact.is_reasoning
        self.user_items += [index] if fact.has_user_text else []
        self.is_fixed |= fact.is_fixed
        self.has_unknown |= bool(fact.unknown)

    def answer(self, index: int, results: Sequence[ToolResult]) -> bool:
        """Record that calls are answered. Return False, and record nothing, if a result answers no open call.

        In Anthropic's messages, no result may follow text of the user.
        """
        if self.user_items:
            return False
        left = list(self.unanswered)
        for result in results:
            call = _find_call(left, result.names)
            if call is None:
                return False
            left.remove(call)
        self.unanswered, self.is_answered, self.answered_at = left, True, index
        return True


def _find_call(calls: Iterable[CallNames], names: CallNames) -> CallNames | None:
    """Return the call that a result names by its first name, or by another name that they share."""
    calls = list(calls)
    same = (call for call in calls if names[0] in call)
    # A name counts only where one of the two has no id.
    alike = (call for call in calls if (len(call) == 1 or len(names) == 1) and not set(call).isdisjoint(names))
    return next(same, next(alike, None))


def group_items(format: Format, facts: Sequence[ItemFacts]) -> GroupedConversation:
    """Return the conversation with its items in groups.

    In Responses, a result may come any time after its call; in the other formats, only right after it. A result without
    a call, and a turn with a call that has no result although the conversation goes on, are broken. Nothing is broken
    in a conversation with an item that was not understood, because that item may be what is missing.
    """
    turns: list[_Turn] = []
    current: _Turn | None = None
    owners: dict[str, _Turn] = {}
    for index, fact in enumerate(facts):
        turn = _find_turn(format, index, fact, current, owners)
        if turn is None:
            turn = _Turn(fact.kind)
            turns.append(turn)
        turn.add(index, fact)
        names = (*(name for names in fact.calls for name in names), *fact.hosted, *fact.names)
        owners.update(dict.fromkeys(names, turn))
        if fact.kind != "unknown":
            current = turn if turn.kind == "model" else None
    unknown = tuple((index, name) for index, fact in enumerate(facts) for name in fact.unknown)
    groups = _pin_neighbours(format, _close(format, turns, can_be_broken=not unknown))
    return GroupedConversation(format, groups, tuple(fact.kind for fact in facts), unknown)


def _find_turn(
    format: Format, index: int, fact: ItemFacts, current: _Turn | None, owners: dict[str, _Turn]
) -> _Turn | None:
    """Return the turn that an item belongs to, None if it begins one."""
    if fact.kind == "result" and fact.results:
        named = (owners[name] for name in fact.results[0].names if name in owners)
        caller = next(named, None) if format == "responses" else current
        if format == "gemini" and caller is not None and caller.is_in_round:  # one content answers all calls
            return None
        # The call of a result may be in an item that was not understood.
        return caller if caller is not None and (caller.answer(index, fact.results) or caller.has_unknown) else None
    for name in (*fact.closes, *fact.references, *(fact.names if fact.kind == "unknown" else ())):
        if name in owners:
            return owners[name]
    if fact.kind == "unknown":  # reasoning belongs to what follows it
        return current if current is not None and current.has_reasoning and not current.has_output else None
    if fact.kind == "model" and current is not None and not _begins_turn(format, current, fact):
        return current
    return None


def _begins_turn(format: Format, current: _Turn, fact: ItemFacts) -> bool:
    """Return True if an item of the model begins a new turn after `current`.

    In Responses, a call after results may belong to the same response as the reasoning before them. A program that the
    provider runs goes on after the results of the tools that it calls.
    """
    if current.running and not current.unanswered:
        return False
    if format in ("chat", "langchain"):
        return True
    if format in ("gemini", "pydantic-ai") and current.unanswered:
        return True
    if format != "responses":  # consecutive messages of one role are one
        return current.is_answered
    if current.is_answered:
        return not (fact.is_tied and current.has_reasoning)
    return fact.is_reasoning and current.has_output


def _close(format: Format, turns: Sequence[_Turn], *, can_be_broken: bool) -> tuple[MessageGroup, ...]:
    """Return the turns as groups. Anthropic's ids are unique: of two calls with the same one, the later one counts."""
    passed_over = ("system", "unknown") if format == "responses" else ("unknown",)
    last = max((number for number, turn in enumerate(turns) if turn.kind not in passed_over), default=-1)
    groups: list[MessageGroup] = []
    seen: set[CallNames] = set()
    for number, turn in reversed(list(enumerate(turns))):
        is_repeated = len(set(turn.calls)) < len(turn.calls) or not seen.isdisjoint(turn.calls)
        # Anthropic takes a text of the user only after the results of all calls.
        is_complete = number != last or (format == "anthropic" and bool(turn.user_items or turn.went_on))
        is_unanswered = bool(turn.unanswered) and is_complete
        is_broken = turn.kind == "result" or is_unanswered or (is_repeated and format == "anthropic")
        if is_broken and can_be_broken:
            groups += reversed(_break(format, turn))
        else:
            seen.update(turn.calls)
            groups.append(_group(turn, is_last=number == last))
    return tuple(reversed(groups))


def _group(turn: _Turn, *, is_last: bool) -> MessageGroup:
    return MessageGroup(
        turn.kind,
        tuple(turn.items),
        tuple(turn.rounds),
        len(turn.calls),
        is_open=is_last and bool(turn.unanswered or turn.running),
        has_user_text=bool(turn.user_items),
        is_fixed=turn.is_fixed or turn.has_unknown or turn.kind == "system",
        answered_at=turn.answered_at,
    )


def _pin_neighbours(format: Format, groups: Sequence[MessageGroup]) -> tuple[MessageGroup, ...]:
    """Return the groups, with those fixed too that a fixed group needs beside it.

    Anthropic takes a message of the system only between the user and the assistant, and Gemini takes a call only after
    a content of the user.
    """
    group_of = {item: number for number, group in enumerate(groups) for item in group.items}
    fixed: set[int] = set()
    for group in groups:
        if format == "anthropic" and group.kind == "system":
            fixed.update(item for item in (group.items[0] - 1, group.items[-1] + 1) if group.items[0] > 0)
        elif format == "gemini" and group.is_fixed and group.kind == "model":
            beside = (group.items[0] - 1, group.items[-1] + 1)
            fixed.update(item for item in beside if item in group_of and groups[group_of[item]].kind == "user")
    pinned = {group_of[item] for item in fixed if item in group_of}
    return tuple(replace(group, is_fixed=True) if n in pinned else group for n, group in enumerate(groups))


def _break(format: Format, turn: _Turn) -> list[MessageGroup]:
    """Return the groups of a turn that a provider would refuse. The user's text in it becomes a separate message.

    In Gemini, stray results are messages of the user too, because two contents of the model must not meet.
    """
    own = turn.items if format == "gemini" and turn.kind == "result" else turn.user_items
    rest = tuple(item for item in turn.items if item not in own)
    broken = [MessageGroup(turn.kind, rest, calls=len(turn.calls), is_broken=True)] if rest else []
    results = [result for results in turn.rounds for result in results]
    return [
        *broken,
        *(
            MessageGroup(
                "user",
                (item,),
                has_user_text=item in turn.user_items,
                strays=tuple(each for each in results if each.item == item),
            )
            for item in own
        ),
    ]
