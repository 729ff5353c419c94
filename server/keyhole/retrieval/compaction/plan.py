"""Decide what a conversation leaves out to fit a number of tokens. Pure.

The decisions are those that were made if the conversation had been compacted whenever it grew over the trigger. So they
depend on its beginning alone: a message more changes nothing in front of it, unless it exceeds the trigger.

Each time, old tool results become stubs first, the largest and then the oldest first. Then whole groups are left out,
the oldest first. The system's text, the user's first and last message, items of unknown types and the last turns of the
model are kept; the first message only as long as it fits.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence, Set
from dataclasses import dataclass
from typing import Final

from keyhole.extract.conversations import Group, Result

STUB_TOKENS: Final = 120
"""Tokens of a stub, at most: its two lines, its size and its call have up to 350 characters."""
MIN_GAIN: Final = 100
"""Tokens that a stub must spare. A result that is hardly longer than its stub stays."""
NOTICE_TOKENS: Final = 100
"""Tokens of the notice, at most."""

Place = tuple[int, int | None]
"""The place of a tool result: its item, and its block in the item's content."""


@dataclass(frozen=True, slots=True)
class Decisions:
    """What is left out of a conversation: the results that become stubs, and items."""

    stubs: frozenset[Place] = frozenset()
    dropped: frozenset[int] = frozenset()

    @property
    def end(self) -> int:
        """Return the number of items that the decisions are about."""
        return max((*(item for item, _ in self.stubs), *self.dropped, -1)) + 1


@dataclass(frozen=True, slots=True)
class Sizes:
    """Tokens of each item, and of each tool result's text."""

    items: Sequence[int]
    results: dict[Place, int]


@dataclass(frozen=True, slots=True)
class Limits:
    """When history is compacted, and how far, in tokens."""

    budget: int
    trigger: int
    goal: int
    keep_last: int
    clear_at_least: int = 0


def place(result: Result) -> Place:
    """Return the place of a result."""
    return (result.item, result.block)


def decide(groups: Sequence[Group], sizes: Sizes, limits: Limits, earlier: Decisions = Decisions()) -> Decisions:
    """Return the decisions for a conversation.

    `earlier`: decisions about its beginning, which stay. Groups that a provider would refuse are left out in any case.
    """
    plan = _Plan(groups, sizes, limits, earlier)
    for number in range(len(groups)):
        plan.add(number)
    plan.finish()
    return plan.decisions()


class _Plan:
    """The decisions about the groups that were added so far."""

    def __init__(self, groups: Sequence[Group], sizes: Sizes, limits: Limits, earlier: Decisions) -> None:
        self._groups = groups
        self._sizes = sizes
        self._limits = limits
        self._stubs = set(earlier.stubs)
        self._dropped = set(earlier.dropped)
        self._decided = earlier.end
        self._kept: list[int] = []
        self._total = NOTICE_TOKENS if earlier.dropped else 0
        self._trigger = limits.trigger

    def decisions(self) -> Decisions:
        stubs = (stub for stub in self._stubs if stub[0] not in self._dropped)
        return Decisions(frozenset(stubs), frozenset(self._dropped))

    def add(self, number: int) -> None:
        """Add a group, and compact if the conversation has become too long."""
        group = self._groups[number]
        if group.is_broken:
            self._drop_items(group)
        if self._dropped.issuperset(group.items):
            return
        self._kept.append(number)
        self._total += self._size(group)
        if self._total > self._trigger and group.items[-1] >= self._decided:
            self._compact(self._limits.goal)
            # What must be kept may exceed the trigger. The next attempt waits until there is more to leave out.
            self._trigger = max(self._limits.trigger, self._total + (self._total - self._limits.goal) // 4)

    def finish(self) -> None:
        """Compact once more if the whole conversation does not fit, without the user's first message if need be."""
        if self._total > self._limits.budget:
            self._compact(self._limits.goal)
        first, last = self._first_and_last_user()
        if self._total > self._limits.budget and first is not None and first != last:
            self._drop([first])

    def _compact(self, goal: int) -> None:
        pinned = self._pinned()
        loose = [number for number in self._kept if number not in pinned]
        stubs = self._choose_stubs(loose, goal)
        spared = sum(map(self._gain, stubs))
        dropped = self._choose_groups(loose, stubs, self._total - spared, goal)
        spared += sum(self._size(self._groups[number], stubs) for number in dropped)
        if self._total <= self._limits.budget and spared < self._limits.clear_at_least:
            return
        self._stubs |= stubs
        self._total -= sum(map(self._gain, stubs))
        self._drop(dropped)

    def _choose_stubs(self, loose: Iterable[int], goal: int) -> set[Place]:
        """Return the results that become stubs, until `goal` tokens are reached."""
        results = [place(result) for number in loose for result in self._groups[number].results]
        total, stubs = self._total, set()
        for stub in sorted(results, key=lambda each: (-self._sizes.results[each], each[0], each[1] or 0)):
            if total <= goal or self._gain(stub) < MIN_GAIN:
                break
            if stub not in self._stubs:
                stubs.add(stub)
                total -= self._gain(stub)
        return stubs

    def _choose_groups(self, loose: Sequence[int], stubs: set[Place], total: int, goal: int) -> list[int]:
        """Return the groups that are left out, the oldest first, until `goal` tokens are reached."""
        chosen: list[int] = []
        for number in loose if total > goal else ():
            chosen.append(number)
            total -= self._size(self._groups[number], stubs)
            if total + (0 if self._dropped else NOTICE_TOKENS) <= goal:
                break
        return chosen

    def _drop(self, numbers: Sequence[int]) -> None:
        if numbers and not self._dropped:
            self._total += NOTICE_TOKENS
        for number in numbers:
            self._total -= self._size(self._groups[number])
            self._dropped.update(self._groups[number].items)
        left = set(numbers)
        self._kept = [number for number in self._kept if number not in left]

    def _drop_items(self, group: Group) -> None:
        """Leave out a group that was not added."""
        self._total += 0 if self._dropped else NOTICE_TOKENS
        self._dropped.update(group.items)

    def _size(self, group: Group, stubs: Set[Place] = frozenset()) -> int:
        """Return the tokens of a group, with its results that are stubs or among `stubs` as stubs."""
        places = map(place, group.results)
        spared = sum(self._gain(each) for each in places if each in self._stubs or each in stubs)
        return sum(self._sizes.items[item] for item in group.items) - spared

    def _gain(self, stub: Place) -> int:
        return self._sizes.results[stub] - STUB_TOKENS

    def _pinned(self) -> set[int]:
        """Return the numbers of the groups that are kept whole."""
        groups = self._groups
        turns = [number for number in self._kept if groups[number].kind == "model"]
        last_turns = turns[max(0, len(turns) - self._limits.keep_last) :]
        always = (number for number in self._kept if groups[number].kind in ("system", "unknown"))
        is_open = (number for number in self._kept if groups[number].is_open)
        return {
            number for number in (*always, *is_open, *last_turns, *self._first_and_last_user()) if number is not None
        }

    def _first_and_last_user(self) -> tuple[int | None, int | None]:
        """Return the numbers of the first message of the user alone, and of the last group with text of the user."""
        users = [number for number in self._kept if self._groups[number].has_user_text]
        first = next((number for number in users if self._groups[number].kind == "user"), None)
        return first, users[-1] if users else None
