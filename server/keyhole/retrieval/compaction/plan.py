"""Decide what a conversation leaves out to fit a number of tokens. Pure.

The decisions are those that were made if the conversation had been compacted whenever it grew over the trigger. So they
depend on its beginning alone: a message more changes nothing in front of it, unless it exceeds the trigger.

Each time, old tool results become stubs first, the largest and then the oldest first. Then whole groups are left out,
the oldest first. The system's text, the user's first and last message, items of unknown types and the last turns of the
model are kept; the first message only as long as it fits.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence, Set
from dataclasses import dataclass, field
from typing import Final

from keyhole.extract.conversations import Group, Result

STUB_TOKENS: Final = 130
"""Tokens of a stub, at most: its two lines, its size and its call have up to 380 bytes."""
MIN_GAIN: Final = 100
"""Tokens that a stub must spare. A result that is hardly longer than its stub stays."""
NOTICE_TOKENS: Final = 100
"""Tokens of the notice, at most."""

Place = tuple[int, int | None]
"""The place of a tool result: its item, and its block in the item's content."""


@dataclass(frozen=True, slots=True)
class Decisions:
    """The parts that a conversation leaves out: the results that become stubs, and items."""

    stubs: frozenset[Place] = frozenset()
    dropped: frozenset[int] = frozenset()
    tokens: int = field(default=0, compare=False)
    """Tokens of what is kept."""

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
    """The sizes at which history is compacted, and to which, in tokens."""

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
        self._limits = limits
        self._gains = {place: tokens - STUB_TOKENS for place, tokens in sizes.results.items()}
        self._sizes = [sum(sizes.items[item] for item in group.items) for group in groups]
        """Tokens of each group, with its stubs."""
        self._stubs: set[Place] = set()
        self._replaceable = Counter(
            number
            for number, group in enumerate(groups)
            for result in group.results
            if self._gains[place(result)] >= MIN_GAIN
        )
        """How many results of a group are worth a stub and are none yet."""
        self._dropped = set(earlier.dropped)
        self._decided = earlier.end
        self._kept: list[int] = []
        self._total = NOTICE_TOKENS if earlier.dropped else 0
        self._trigger = limits.trigger
        self._replace(
            [
                (number, place(result))
                for number, group in enumerate(groups if earlier.stubs else ())
                for result in group.results
                if place(result) in earlier.stubs
            ]
        )

    def decisions(self) -> Decisions:
        stubs = (stub for stub in self._stubs if stub[0] not in self._dropped)
        return Decisions(frozenset(stubs), frozenset(self._dropped), self._total)

    def add(self, number: int) -> None:
        """Add a group, and compact if the conversation has become too long."""
        group = self._groups[number]
        if group.is_broken:
            self._note_drop()
            self._dropped.update(group.items)
        if self._dropped.issuperset(group.items):
            return
        self._dropped.difference_update(group.items)  # a turn that went on after it was left out
        self._kept.append(number)
        self._total += self._sizes[number]
        if self._total > self._trigger and group.items[-1] >= self._decided:
            self._compact()
            # What must be kept may exceed the trigger. The next attempt waits until there is more to leave out.
            self._trigger = max(self._limits.trigger, self._total + (self._total - self._limits.goal) // 4)

    def finish(self) -> None:
        """Compact once more if the whole conversation does not fit, without the user's first message if need be."""
        if self._total > self._limits.budget:
            self._compact()
        first, last = self._first_and_last_user()
        if self._total > self._limits.budget and first is not None and first != last:
            self._drop([first])

    def _compact(self) -> None:
        pinned = self._pinned()
        stubs = self._choose_stubs(pinned)
        gains = Counter[int]()
        for number, stub in stubs:
            gains[number] += self._gains[stub]
        spared = gains.total()
        dropped = self._choose_groups(pinned, gains, self._total - spared)
        spared += sum(self._sizes[number] - gains[number] for number in dropped)
        if self._total <= self._limits.budget and spared < self._limits.clear_at_least:
            return
        self._total -= gains.total()
        self._replace(stubs)
        self._drop(dropped)

    def _choose_stubs(self, pinned: Set[int]) -> list[tuple[int, Place]]:
        """Return the results that become stubs, with the numbers of their groups, until the goal is reached."""
        goal, total = self._limits.goal, self._total
        gains, stubs = self._gains, self._stubs
        if total <= goal:
            return []
        candidates = [
            (-gains[each], each[0], each[1] or 0, number, each)
            for number in self._kept
            if number in self._replaceable
            for results in self._old_rounds(number, pinned)
            for each in map(place, results)
            if gains[each] >= MIN_GAIN and each not in stubs
        ]
        chosen: list[tuple[int, Place]] = []
        for loss, _, _, number, stub in sorted(candidates):
            if total <= goal:
                break
            chosen.append((number, stub))
            total += loss
        return chosen

    def _old_rounds(self, number: int, pinned: Set[int]) -> tuple[tuple[Result, ...], ...]:
        """Return the rounds whose results may become stubs. Of a group that is kept, the last ones may not.

        So a turn of hundreds of rounds, which cannot be split, becomes shorter too.
        """
        rounds = self._groups[number].rounds
        return rounds[: -max(1, self._limits.keep_last)] if number in pinned else rounds

    def _choose_groups(self, pinned: Set[int], gains: Counter[int], total: int) -> list[int]:
        """Return the groups that are left out, the oldest first, until the goal is reached.

        There are none if the stubs alone spare half of what is wanted: a turn with a stub still names its call.
        `total`: tokens without the `gains` of the new stubs in each group.
        """
        chosen: list[int] = []
        if total <= (self._limits.goal + self._limits.trigger) // 2:
            return chosen
        total += 0 if self._dropped else NOTICE_TOKENS
        for number in self._kept:
            if total <= self._limits.goal:
                break
            if number not in pinned:
                chosen.append(number)
                total -= self._sizes[number] - gains[number]
        return chosen

    def _replace(self, stubs: Sequence[tuple[int, Place]]) -> None:
        for number, stub in stubs:
            self._sizes[number] -= self._gains[stub]
            self._stubs.add(stub)
            self._replaceable[number] -= 1
            if self._replaceable[number] <= 0:
                del self._replaceable[number]

    def _drop(self, numbers: Sequence[int]) -> None:
        if not numbers:
            return
        self._note_drop()
        left = set(numbers)
        for number in left:
            self._total -= self._sizes[number]
            self._dropped.update(self._groups[number].items)
        self._kept = [number for number in self._kept if number not in left]

    def _note_drop(self) -> None:
        """Count the notice before the first items are left out."""
        self._total += 0 if self._dropped else NOTICE_TOKENS

    def _pinned(self) -> set[int]:
        """Return the numbers of the groups that are kept: the last turns with all that is between and after them."""
        groups = self._groups
        turns = [number for number in self._kept if groups[number].kind == "model"]
        last_turns = turns[max(0, len(turns) - self._limits.keep_last) :]
        always = (number for number in self._kept if groups[number].kind in ("system", "unknown"))
        tail = (number for number in self._kept if groups[number].is_open or number >= (last_turns or [len(groups)])[0])
        return {number for number in (*always, *tail, *self._first_and_last_user()) if number is not None}

    def _first_and_last_user(self) -> tuple[int | None, int | None]:
        """Return the numbers of the first message of the user alone, and of the last group with text of the user."""
        users = [number for number in self._kept if self._groups[number].has_user_text]
        first = next((number for number in users if self._groups[number].kind == "user"), None)
        return first, users[-1] if users else None
