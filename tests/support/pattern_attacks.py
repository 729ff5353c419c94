"""Build the texts that a regular expression is slow on, if any is: runs of its own characters and near misses."""

from __future__ import annotations

import importlib
import itertools
import re
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final

from tests.support.linear_time import EARLY, is_linear

# The modules that `re` compiles with. Type checkers do not know them.
_PARSER: Final[Any] = importlib.import_module("re._parser")
_COMPILER: Final[Any] = importlib.import_module("re._compiler")

CHARACTERS: Final = (
    "".join(map(chr, range(32, 127))) + "\n\t\r\0\x0b\x85\xa0\u2028\u3000éßſ中あ\u0301\u200b\u2019“”–—•★…٣ａ𝐀\ud800"
)
"""The candidates for runs, besides the characters that a pattern names: ASCII, and each class of other characters."""
COMMON: Final = "a0 \n-x.,"
"""Characters that are tried first."""
LONG: Final = 5
"""Repetitions. A repeat that allows at least as many is attacked with runs."""
MAX_LOOPS: Final = 60
"""Repeats of a pattern that are attacked."""
MAX_RUNS: Final = 80
"""Characters of which a run is an attack."""
MAX_PAIRED: Final = 10
"""Characters that are combined with each other, and characters of a repeat that are attacked."""
MAX_FOLLOWING: Final = 6
"""Nodes after a repeat that are attacked together with it."""
MAX_SAMPLE: Final = 300
"""Characters of a text that a part of a pattern matches."""
STEPS: Final = (8, 11, 16, 22, 32, 45, 64, 90, 128, 360)
"""Characters of texts that show exponential time. The next step of exponential time would be endless."""
SIMPLE_STEPS: Final = (128, 360)
"""The same for patterns that only repeat single characters, whose time is not exponential."""
MAX_SHORT: Final = 0.01
"""Seconds that a text of `STEPS` may take; linear time takes under 0.002."""
SCREENED: Final = 1_200
"""Characters of a text that shows quadratic time: it makes 720,000 steps, of at least 0.4 ns each."""
MAX_SCREENED: Final = 0.0001
"""Seconds above which the growth of the time is measured. Linear time usually takes under 0.00005."""
MAX_MEASURED: Final = 8
"""Attacks on a pattern whose growth is measured, if it is linear. Of the others, those that take even longer."""
_REPEATS: Final = frozenset({"MAX_REPEAT", "MIN_REPEAT", "POSSESSIVE_REPEAT"})
_MATTERING: Final = int(re.IGNORECASE | re.DOTALL | re.ASCII)
"""The flags that change what a leaf matches."""
_ATOMS: Final = frozenset({"LITERAL", "NOT_LITERAL", "IN", "ANY"})


@dataclass(frozen=True, slots=True)
class Attack:
    """A text of any length: `before`, then `unit` again and again, then `after`."""

    before: str
    unit: str
    after: str

    def text(self, chars: int) -> str:
        """Return the text whose repeated part has about `chars` characters."""
        return self.before + self.unit * max(1, chars // len(self.unit)) + self.after


@dataclass(frozen=True, slots=True)
class _Loop:
    """A repeat of a pattern: a text that leads to it, its body, and the nodes that follow."""

    before: str
    body: Any
    flags: int
    following: list[tuple[Any, int]]


class _Tree:
    """The parse tree of a pattern, with the characters that each of its leaves matches."""

    def __init__(self, pattern: re.Pattern[Any]) -> None:
        self.nodes = _PARSER.parse(pattern.pattern, pattern.flags & ~re.DEBUG)
        self.flags = int(pattern.flags)  # the operators of `re.RegexFlag` are slow
        self._keys: dict[tuple[int, int], tuple[str, Any]] = {}
        self._groups: dict[int | None, str] = {}
        leaves = dict(self._leaves(self.nodes, self.flags))
        named = {char for node, _ in leaves.values() for char in _named(node)}
        pool = [char for char in dict.fromkeys([*COMMON, *CHARACTERS, *sorted(named)]) if len(char) == 1]
        binary = isinstance(pattern.pattern, bytes)
        if binary:
            pool = [char for char in pool if ord(char) < 256]
        self._matched = {key: _matched_by(*leaf, pool, binary) for key, leaf in leaves.items()}
        # Characters that all leaves treat alike are attacked with one of them.
        classes = {tuple(key for key, chars in self._matched.items() if char in chars): char for char in reversed(pool)}
        self.alphabet = sorted(classes.values(), key=pool.index)

    def _leaves(self, nodes: Any, flags: int) -> Iterator[tuple[str, tuple[Any, int]]]:
        for node in nodes:
            if str(node[0]) in _ATOMS:
                yield self._key(node, flags), (node, flags)
            for child, child_flags in _children(node, flags):
                yield from self._leaves(child, child_flags)

    def _key(self, node: Any, flags: int) -> str:
        """Return a text that is the same for equal leaves. Each node is kept, so that its id stays its own."""
        key = (id(node), flags)
        if key not in self._keys:
            self._keys[key] = f"{flags & _MATTERING} {node}", node
        return self._keys[key][0]

    @cached_property
    def all_loops(self) -> list[_Loop]:
        """All long repeats of the pattern."""
        return list(self.loops(self.nodes, self.flags, "", []))

    def is_simple(self) -> bool:
        """Return True if all repeats of the pattern are of single characters."""
        bodies = (loop.body for loop in self.all_loops)
        return all(len(body) == 1 and str(body[0][0]) in _ATOMS for body in bodies)

    def chars(self, nodes: Any, flags: int) -> set[str]:
        """Return the characters that a part of the pattern can consume."""
        return set().union(*(self._matched[key] for key, _ in self._leaves(nodes, flags)))

    def sample(self, nodes: Iterable[Any], flags: int, variant: int = 0) -> str:
        """Return a text that matches. `variant`: the branch that is taken; above 1, optional parts are left out."""
        return "".join(self._sample_node(node, flags, variant) for node in nodes)[:MAX_SAMPLE]

    def _sample_node(self, node: Any, flags: int, variant: int) -> str:
        name, value = str(node[0]), node[1]
        if name in _ATOMS:
            matched = self._matched[self._key(node, flags)]
            return next((char for char in self.alphabet if char in matched), min(matched, default=""))
        if name == "GROUPREF":
            return self._groups.get(value, "")
        if name == "ASSERT_NOT" or (name == "ASSERT" and value[0] > 0):
            return ""
        parts = [self.sample(*child, variant) for child in _children(node, flags)]
        chosen = parts[variant % len(parts)] if parts else ""
        if name == "SUBPATTERN":
            self._groups[value[0]] = chosen
        if name in _REPEATS:
            return chosen * (value[0] or (variant < 2 and value[1] > 0))
        return chosen

    def loops(self, nodes: Any, flags: int, before: str, following: list[tuple[Any, int]]) -> Iterator[_Loop]:
        """Yield each long repeat."""
        nodes = list(nodes)
        for place, node in enumerate(nodes):
            name, value = str(node[0]), node[1]
            here = (before + self.sample(nodes[:place], flags))[-MAX_SAMPLE:]
            rest = [(each, flags) for each in nodes[place + 1 :]] + following
            if name in _REPEATS and value[1] >= LONG:
                yield _Loop(here, value[2], flags, rest)
            for child, child_flags in _children(node, flags):
                again = [(each, child_flags) for each in child] if name in _REPEATS else []
                yield from self.loops(child, child_flags, here, again + rest)


def _named(node: Any) -> Iterator[str]:
    """Yield the characters that a leaf names, and the ends of its ranges."""
    name, value = str(node[0]), node[1]
    if name in {"LITERAL", "NOT_LITERAL"}:
        yield from (chr(value), chr(value).swapcase())
    elif name == "RANGE":
        yield from map(chr, value)
    elif name == "IN":
        for each in value:
            yield from _named(each)


def _matched_by(node: Any, flags: int, pool: list[str], binary: bool) -> frozenset[str]:
    state = _PARSER.State()
    state.flags, state.str = flags, ""
    leaf = _COMPILER.compile(_PARSER.SubPattern(state, [node]), flags)
    if binary:
        return frozenset(char for char in pool if leaf.fullmatch(char.encode("latin-1")))
    return frozenset(leaf.findall("".join(pool)))


def _children(node: Any, flags: int) -> Iterator[tuple[Any, int]]:
    """Yield the parts of a node, each with its flags."""
    name, value = str(node[0]), node[1]
    if name in _REPEATS:
        yield value[2], flags
    elif name == "SUBPATTERN":
        yield value[3], (flags | value[1]) & ~value[2]
    elif name == "ATOMIC_GROUP":
        yield value, flags
    elif name in {"BRANCH", "GROUPREF_EXISTS"}:
        yield from ((part, flags) for part in (value[1] if name == "BRANCH" else value[1:]) if part is not None)
    elif name in {"ASSERT", "ASSERT_NOT"}:
        yield value[1], flags


def attacks(tree: _Tree) -> list[Attack]:
    """Return the attacks on a pattern."""
    found = dict.fromkeys(_attacks_on_whole(tree))
    for loop in tree.all_loops[:MAX_LOOPS]:
        found.update(dict.fromkeys(_attacks_on_loop(tree, loop)))
    return [attack for attack in found if attack.unit]


def _attacks_on_whole(tree: _Tree) -> Iterator[Attack]:
    """Yield runs of one character and of two, and texts that nearly match again and again."""
    for char in tree.alphabet[:MAX_RUNS]:
        yield from (Attack("", char, after) for after in ("", "\0"))
    for pair in itertools.combinations(tree.alphabet[:MAX_PAIRED], 2):
        yield Attack("", "".join(pair), "\0")
    whole = tree.sample(tree.nodes, tree.flags)
    yield from (Attack("", unit, "") for unit in (whole, whole[:-1], whole[:-1] + " ", whole[:-1] + "\n"))


def _attacks_on_loop(tree: _Tree, loop: _Loop) -> Iterator[Attack]:
    """Yield runs that a repeat consumes and cannot leave, and texts that enter it again and again."""
    allowed = tree.chars(loop.body, loop.flags)
    chars = [char for char in tree.alphabet if char in allowed][:MAX_PAIRED]
    end = next((char for char in ("\0", "\n", "!", "a", *tree.alphabet) if char not in allowed), "\0")
    following = _following(tree, loop)
    bodies = [tree.sample(loop.body, loop.flags, variant) for variant in range(4)]
    for unit in (*chars, *bodies, *map("".join, itertools.combinations(chars[:4], 2))):
        yield from (Attack(loop.before, unit, after) for after in ("", end, "".join(following[-1:])[:-1] + end))
    for unit in following:
        yield from (Attack(loop.before, unit, after) for after in ("", end))
        yield from (Attack(loop.before, each, end) for char in chars[:1] for each in (unit + char, char + unit))
    starts = [loop.before, *(loop.before + char for char in chars[:4]), loop.before + end]
    starts += [before + loop.before for before in (" ", "\n", ",")] + [loop.before + char + end for char in chars[:2]]
    yield from (Attack("", unit, "") for unit in starts if loop.before)


def _following(tree: _Tree, loop: _Loop) -> list[str]:
    """Return texts that match the next node, the next two, and so on, after a repeat."""
    samples = [tree.sample([node], flags) for node, flags in loop.following[:MAX_FOLLOWING]]
    return [text for text in dict.fromkeys(itertools.accumulate(samples)) if text]


def slow_attack(pattern: re.Pattern[Any], uses: Iterable[str]) -> Attack | None:
    """Return an attack on which one of the `uses` of a pattern (names of its methods) takes more than linear time."""
    tree = _Tree(pattern)
    encode = isinstance(pattern.pattern, bytes)
    steps = SIMPLE_STEPS if tree.is_simple() else STEPS
    found = attacks(tree)
    for use in uses:
        run, measured = getattr(pattern, use), list[float]()
        for attack in found:
            make = _encoder(attack) if encode else attack.text
            if any(_seconds(run, make(chars), MAX_SHORT) > MAX_SHORT for chars in steps):
                return attack
            if _is_slow(make, run, measured):
                return attack
    return None


def _encoder(attack: Attack) -> Callable[[int], bytes]:
    return lambda chars: attack.text(chars).encode("latin-1", "replace")


def _is_slow(make: Callable[[int], str | bytes], run: Callable[[Any], object], measured: list[float]) -> bool:
    """Return True if a use takes more than linear time. `measured`: the times of slow attacks that take linear time."""
    limit = MAX_SCREENED if len(measured) < MAX_MEASURED else max(measured)
    taken = _seconds(run, make(SCREENED), limit)
    if taken <= limit or taken < EARLY * _seconds(run, make(SCREENED // 4), 0):
        return False
    measured.append(taken)
    return not is_linear(make, run, SCREENED // 4)


def _seconds(run: Callable[[Any], object], text: str | bytes, limit: float) -> float:
    """Return the time of the processor that a run takes; if it is above `limit`, the least time of three runs."""
    times: list[float] = []
    while not times or (len(times) < 3 and min(times) > limit):
        started = time.thread_time()
        run(text)
        times.append(time.thread_time() - started)
    return min(times)
