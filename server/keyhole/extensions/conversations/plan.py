"""Decide what a conversation leaves out to fit a number of tokens. Pure.

The decisions are the same as if the conversation had been compacted before each request. So a new message changes no
earlier decision, unless the conversation exceeds the trigger.

Each time, old tool results become stubs first. Then whole groups are left out, the oldest first. The system's text, the
user's first and last message, what was not understood and the last turns of the model are kept. If these alone exceed
the budget, their results are shortened, then become stubs, then the turns are left out. Results that the model has not
seen are only shortened.
"""

from __future__ import annotations

from bisect import insort
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, field
from typing import Final

from keyhole.extensions.conversations.formats import GroupedConversation, MessageGroup, ToolResult

STUB_TOKENS: Final = 95
"""Tokens of most stubs: their two lines, their size and their call. The largest have 120."""
MIN_GAIN: Final = 100
"""Tokens that a stub must spare. A result that is hardly longer than its stub stays."""
NOTICE_TOKENS: Final = 100
"""Tokens of the notice, at most."""
LITTLE_SHARE: Final = 2
"""Old turns are kept if they have less than trigger / LITTLE_SHARE tokens, and a twentieth of the trigger is free."""
SHORTENED_TOKENS: Final = 1_000
"""Tokens to which results are shortened, at least, while other things can be left out instead."""
LEAST_TOKENS: Final = 250
"""Tokens of a shortened result, at least: the least budget of `keyhole.bound`, and the line about the whole result."""

ResultPlace = tuple[int, int | None]
"""The place of a tool result: its item, and its block in the item's content."""


@dataclass(frozen=True, slots=True)
class Decisions:
    """The parts that a conversation leaves out: the results that become stubs or shorter, and items."""

    stubs: frozenset[ResultPlace] = frozenset()
    dropped: frozenset[int] = frozenset()
    shortened: Mapping[ResultPlace, int] = field(default_factory=dict)
    """The results that are shortened, each with its remaining tokens."""
    tokens: int = field(default=0, compare=False)
    """Tokens of the kept parts."""


@dataclass(frozen=True, slots=True)
class Sizes:
    """Tokens of each item, and of each tool result."""

    items: Sequence[int]
    results: Mapping[ResultPlace, int]
    without_text: Set[ResultPlace] = frozenset()
    """The results that have no text, so that they cannot be shortened."""


@dataclass(frozen=True, slots=True)
class InputLimits:
    """The sizes at which history is compacted, and to which, in tokens."""

    budget: int
    trigger: int
    goal: int
    keep_last: int
    clear_at_least: int = 0


def decide(conversation: GroupedConversation, sizes: Sizes, limits: InputLimits) -> Decisions:
    """Return the decisions for a conversation. Groups that a provider would refuse are left out in any case."""
    plan = _Plan(conversation, sizes, limits)
    for index, kind in enumerate(conversation.kinds):
        plan.add(index)
        following = conversation.kinds[index + 1 : index + 2]
        if not following or (kind != "model" and following == ("model",)):  # here a request is sent
            plan.fit()
    return plan.decisions()


class _Plan:
    """The decisions about the items that were added so far."""

    def __init__(self, conversation: GroupedConversation, sizes: Sizes, limits: InputLimits) -> None:
        self._groups = conversation.groups
        self._kinds = conversation.kinds
        self._limits = limits
        self._items = sizes.items
        self._without_text = sizes.without_text
        self._results = dict(sizes.results)
        """Tokens of each result, as shortened."""
        self._results_of = _by_item(conversation.groups)
        self._group_of = {item: number for number, group in enumerate(self._groups) for item in group.items}
        self._sizes = [0] * len(self._groups)
        """Tokens of each group, with its stubs."""
        self._whole: dict[ResultPlace, ToolResult] = {}
        """The results in kept groups that are not stubs."""
        self._stubs: set[ResultPlace] = set()
        self._shortened: dict[ResultPlace, int] = {}
        self._left_out: set[int] = set()
        """The numbers of the groups that are left out."""
        self._broken: set[int] = set()
        self._kept: list[int] = []
        self._first = next((n for n, group in enumerate(self._groups) if group.kind == "user"), None)
        self._pending: set[int] = set()
        """The groups that are fixed, or have a call without a result so far."""
        self._total = 0
        self._trigger = limits.trigger
        self._last = -1
        """The index of the last item that was added."""
        self._seen = -1
        """The index of the last item that the model wrote: it has seen all items before."""

    def decisions(self) -> Decisions:
        """Return the decisions."""
        dropped = {item for number in self._left_out for item in self._groups[number].items} | self._broken
        stubs = frozenset(stub for stub in self._stubs if stub[0] not in dropped)
        shortened = {place: tokens for place, tokens in self._shortened.items() if place[0] not in dropped}
        return Decisions(
            stubs,
            frozenset(dropped),
            {place: tokens for place, tokens in shortened.items() if place not in stubs},
            self._total,
        )

    def add(self, index: int) -> None:
        """Add an item."""
        number = self._group_of[index]
        group = self._groups[number]
        self._last = index
        if self._kinds[index] == "model":
            self._seen = index
        if group.is_broken:
            self._note_drop()
            self._broken.add(index)
            return
        if number in self._left_out:  # the turn goes on after it was left out
            self._left_out.remove(number)
            self._total += self._sizes[number]
            insort(self._kept, number)
            past = (each for each in group.results if each.item < index and each.place not in self._stubs)
            self._whole.update((each.place, each) for each in past)
        elif group.items[0] == index:
            self._kept.append(number)
        self._sizes[number] += self._items[index]
        self._total += self._items[index]
        self._whole.update((each.place, each) for each in self._results_of.get(index, ()))
        if group.is_fixed or group.is_open or group.answered_at > index:
            self._pending.add(number)
        else:
            self._pending.discard(number)

    def fit(self) -> None:
        """Compact if the conversation exceeds the trigger; if it exceeds the budget even then, reduce the kept
        parts."""
        if self._total > min(self._trigger, self._limits.budget):
            self._compact()
            # What must be kept may exceed the trigger. The next attempt waits until there is more to leave out.
            self._trigger = max(self._limits.trigger, self._total + (self._total - self._limits.goal) // 4)
        if self._total > self._limits.budget:
            self._relax()

    def _compact(self) -> None:
        pinned = self._pinned()
        stubs = self._choose_stubs(pinned)
        gains = Counter[int]()
        for number, stub in stubs:
            gains[number] += self._gain(stub)
        spared = gains.total()
        dropped = self._choose_groups(pinned, gains, self._total - spared)
        spared += sum(self._sizes[number] - gains[number] for number in dropped)
        if self._total <= self._limits.budget and spared < self._limits.clear_at_least:
            return
        self._replace(stubs)
        self._drop(dropped)

    def _gain(self, place: ResultPlace) -> int:
        return self._results[place] - STUB_TOKENS

    def _choose_stubs(self, pinned: Set[int]) -> list[tuple[int, ResultPlace]]:
        """Return the results that become stubs, with the numbers of their groups, until the goal is reached."""
        goal, total = self._limits.goal, self._total
        recent = {result.place for number in pinned for result in self._recent_results(number)}
        candidates = [
            (-self._gain(place), place[0], place[1] or 0, self._group_of[place[0]], place)
            for place in self._whole
            if self._gain(place) >= MIN_GAIN and place not in recent
        ]
        chosen: list[tuple[int, ResultPlace]] = []
        for loss, _, _, number, stub in sorted(candidates):
            if total <= goal:
                break
            chosen.append((number, stub))
            total += loss
        return chosen

    def _recent_results(self, number: int) -> Iterable[ToolResult]:
        """Return the results of a kept group that must not become stubs: those of its last rounds.

        So a turn of hundreds of rounds, which cannot be split, becomes shorter too.
        """
        past = [results for results in self._groups[number].rounds if results[0].item <= self._last]
        return (result for results in past[-max(1, self._limits.keep_last) :] for result in results)

    def _choose_groups(self, pinned: Set[int], gains: Counter[int], total: int) -> list[int]:
        """Return the groups that are left out, the oldest first, until the goal is reached.

        No group is left out if the stubs alone spare half of the wanted tokens, or if the groups have few tokens and a
        twentieth of the trigger is free: a turn with a stub still names its call. `total`: tokens without the `gains`
        of the new stubs in each group.
        """
        chosen: list[int] = []
        spared = sum(self._sizes[number] - gains[number] for number in self._kept if number not in pinned)
        is_little = spared * LITTLE_SHARE < self._limits.trigger and total * 20 <= self._limits.trigger * 19
        if total <= (self._limits.goal + self._limits.trigger) // 2 or is_little:
            return chosen
        total += 0 if self._left_out or self._broken else NOTICE_TOKENS
        for number in self._kept:
            if total <= self._limits.goal:
                break
            if number not in pinned:
                chosen.append(number)
                total -= self._sizes[number] - gains[number]
        return chosen

    def _relax(self) -> None:
        """Reduce the parts that should be kept, by no more than fits the budget."""
        results = [(self._group_of[place[0]], place) for place in self._whole]
        unseen = [(number, place) for number, place in results if place[0] > self._seen]
        recent = [(number, place) for number, place in results if place[0] <= self._seen]
        while recent and self._excess([*recent, *unseen], SHORTENED_TOKENS) > 0:
            number, place = recent.pop(0)
            if self._gain(place) >= MIN_GAIN:
                self._replace([(number, place)])
        needed = {*self._needed(), *self._first_and_last_user()}
        for number in list(self._kept):
            if number not in needed and self._excess([*recent, *unseen], SHORTENED_TOKENS) > 0:
                self._drop([number])
        first, last = self._first_and_last_user()
        if (
            first is not None
            and first not in (last, *self._needed())
            and self._excess([*recent, *unseen], LEAST_TOKENS) > 0
        ):
            self._drop([first])
        self._shorten([*recent, *unseen], SHORTENED_TOKENS)
        self._shorten(unseen, LEAST_TOKENS)

    def _excess(self, results: Sequence[tuple[int, ResultPlace]], least: int) -> int:
        """Return by how much the budget is exceeded if results are shortened to `least` tokens."""
        spared = sum(self._results[place] - least for _, place in results if self._can_be_shortened(place, least))
        return self._total - spared - self._limits.budget

    def _shorten(self, results: Sequence[tuple[int, ResultPlace]], least: int) -> None:
        """Shorten the longest results to one length, as far as the budget demands, but not below `least` tokens."""
        longer = [(number, place) for number, place in results if self._can_be_shortened(place, least)]
        excess = self._total - self._limits.budget
        if excess <= 0 or not longer:
            return
        level = _find_level([self._results[place] for _, place in longer], excess, least)
        for number, place in longer:
            if self._results[place] > level:
                self._take(number, self._results[place] - level)
                self._shortened[place] = self._results[place] = level

    def _can_be_shortened(self, place: ResultPlace, least: int) -> bool:
        return place not in self._stubs and place not in self._without_text and self._results[place] > least

    def _take(self, number: int, tokens: int) -> None:
        self._sizes[number] -= tokens
        self._total -= tokens

    def _replace(self, stubs: Sequence[tuple[int, ResultPlace]]) -> None:
        for number, stub in stubs:
            self._take(number, self._gain(stub))
            self._stubs.add(stub)
            del self._whole[stub]

    def _drop(self, numbers: Sequence[int]) -> None:
        if not numbers:
            return
        self._note_drop()
        self._left_out.update(numbers)
        self._total -= sum(self._sizes[number] for number in numbers)
        self._kept = [number for number in self._kept if number not in self._left_out]
        self._whole = {place: each for place, each in self._whole.items() if self._group_of[place[0]] not in numbers}

    def _note_drop(self) -> None:
        """Count the notice before the first items are left out."""
        self._total += 0 if self._left_out or self._broken else NOTICE_TOKENS

    def _pinned(self) -> set[int]:
        """Return the numbers of the groups that are kept: the last turns, and all groups between and after them."""
        turns = [number for number in self._kept if self._groups[number].kind == "model"]
        last_turns = turns[max(0, len(turns) - self._limits.keep_last) :]
        tail = (number for number in self._kept if last_turns and number >= last_turns[0])
        users = (number for number in self._first_and_last_user() if number is not None)
        return {*tail, *users, *self._needed()}

    def _needed(self) -> set[int]:
        """Return the numbers of the groups that are never left out: the model has not seen them, or they are fixed."""
        unseen = {self._group_of[item] for item in range(self._seen + 1, self._last + 1)}
        return (unseen | self._pending) - self._left_out

    def _first_and_last_user(self) -> tuple[int | None, int | None]:
        """Return the numbers of the user's first message, if it is kept, and of the last group with user text."""
        users = [number for number in self._kept if self._groups[number].has_user_text]
        first = self._first if self._first in users else None
        return first, users[-1] if users else None


def _by_item(groups: Sequence[MessageGroup]) -> dict[int, list[ToolResult]]:
    """Return the results of each item."""
    found = defaultdict[int, list[ToolResult]](list)
    for group in groups:
        for result in group.results:
            found[result.item].append(result)
    return found


def _find_level(sizes: Sequence[int], excess: int, least: int) -> int:
    """Return the size to which all larger ones are cut so that together they lose `excess`; `least` if none does."""
    falling = sorted(sizes, reverse=True)
    for count in range(1, len(falling) + 1):
        level = (sum(falling[:count]) - excess) // count
        if level >= (falling[count] if count < len(falling) else least):
            return level
    return least
