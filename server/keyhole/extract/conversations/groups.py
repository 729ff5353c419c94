"""Group the items of a conversation, so that calls, their results and their reasoning are kept or left out together.

Pure. A group is a message of the system or the user, an item of an unknown type, or a turn of the model: its reasoning,
its text, all its parallel calls and their results.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from keyhole.extract.conversations.values import Conversation, Format, Group, ItemFacts, Kind, Result


@dataclass(slots=True)
class _Turn:
    """A group that is being read."""

    kind: Kind
    items: list[int] = field(default_factory=list)
    rounds: list[tuple[Result, ...]] = field(default_factory=list)
    user_items: list[int] = field(default_factory=list)
    """The items with text of the user."""
    calls: list[str] = field(default_factory=list)
    unanswered: list[str] = field(default_factory=list)
    has_reasoning: bool = False
    has_output: bool = False
    """True if the model wrote or called something in it, beside reasoning."""
    is_answered: bool = False
    is_in_round: bool = False
    """True if its last item is a result."""

    def add(self, index: int, fact: ItemFacts) -> None:
        """Add an item. The results in it that are not of its own calls have been passed to `answer`."""
        self.items.append(index)
        self.calls += fact.calls
        self.unanswered += fact.calls
        if fact.results:
            begun = self.rounds.pop() if self.is_in_round else ()
            self.rounds.append((*begun, *fact.results))
        self.is_in_round = fact.kind == "result"
        self.has_reasoning |= fact.is_reasoning
        self.has_output |= fact.kind == "model" and not fact.is_reasoning
        self.user_items += [index] if fact.has_user_text else []

    def answer(self, results: Sequence[Result]) -> bool:
        """Record that calls are answered. Return False, and record nothing, if a result answers no open call.

        In Anthropic's messages, no result may follow text of the user.
        """
        if self.user_items:
            return False
        left = list(self.unanswered)
        for result in results:
            if result.call not in left:
                return False
            left.remove(result.call)
        self.unanswered, self.is_answered = left, True
        return True


def group_items(format: Format, facts: Sequence[ItemFacts]) -> Conversation:
    """Return the conversation with its items in groups.

    In Responses, a result may come any time after its call; in the other formats, only right after it. A result without
    a call, and a turn with a call that has no result although the conversation goes on, are broken.
    """
    turns: list[_Turn] = []
    current: _Turn | None = None
    callers: dict[str, _Turn] = {}
    for index, fact in enumerate(facts):
        caller = callers.get(fact.results[0].call) if format == "responses" and fact.results else current
        if fact.kind == "result" and caller is not None and caller.answer(fact.results):
            turn = caller
        elif fact.kind == "model" and current is not None and not _begins_turn(format, current, fact):
            turn = current
        else:
            turn = _Turn(fact.kind)
            turns.append(turn)
        turn.add(index, fact)
        callers.update(dict.fromkeys(fact.calls, turn))
        if fact.kind != "unknown":
            current = turn if turn.kind == "model" else None
    return Conversation(format, _close(format, turns))


def _begins_turn(format: Format, current: _Turn, fact: ItemFacts) -> bool:
    """Return True if an item of the model begins a new turn after `current`.

    In Responses, a call after results may belong to the same response as the reasoning before them.
    """
    if format == "chat":
        return True
    if format == "anthropic":  # consecutive messages of one role are one
        return current.is_answered
    if current.is_answered:
        return not (fact.is_tied and current.has_reasoning)
    return fact.is_reasoning and current.has_output


def _close(format: Format, turns: Sequence[_Turn]) -> tuple[Group, ...]:
    """Return the turns as groups. Anthropic's ids are unique: of two calls with the same one, the later one counts."""
    passed_over = ("system", "unknown") if format == "responses" else ("unknown",)
    last = max((number for number, turn in enumerate(turns) if turn.kind not in passed_over), default=-1)
    has_unique_ids = format == "anthropic"
    groups: list[Group] = []
    seen: set[str] = set()
    for number, turn in reversed(list(enumerate(turns))):
        is_repeated = has_unique_ids and (len(set(turn.calls)) < len(turn.calls) or not seen.isdisjoint(turn.calls))
        is_unanswered = bool(turn.unanswered) and number != last
        if turn.kind == "result" or is_unanswered or is_repeated:
            groups += reversed(_break(turn))
        else:
            seen.update(turn.calls)
            groups.append(_group(turn))
    return tuple(reversed(groups))


def _group(turn: _Turn) -> Group:
    return Group(
        turn.kind,
        tuple(turn.items),
        tuple(turn.rounds),
        len(turn.calls),
        is_open=bool(turn.unanswered),
        has_user_text=bool(turn.user_items),
    )


def _break(turn: _Turn) -> list[Group]:
    """Return the groups of a turn that a provider would refuse. What the user wrote in it is a message of its own."""
    rest = tuple(item for item in turn.items if item not in turn.user_items)
    broken = [Group(turn.kind, rest, calls=len(turn.calls), is_broken=True)] if rest else []
    return [*broken, *(Group("user", (item,), has_user_text=True, is_unpaired=True) for item in turn.user_items)]
