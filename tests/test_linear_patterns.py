"""Every regular expression takes time linear in its input.

`re` holds the interpreter's lock while it matches: a pattern that takes quadratic time on a stranger's text stops the
server for all clients, and no deadline ends it. The patterns are found by importing the package and reading its source,
and attacked with texts made from their own parse trees. One that fails here is mended by possessive repeats (`\\s*+`),
by entering a run only at its start (`(?<!\\s)\\s+`), by a bound (`{0,200}`), or by methods of strings.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Final

import pytest

from keyhole.outputs.patterns import PATTERNS
from keyhole.text.lazy_pattern import lazy_pattern
from keyhole.text.secrets.shapes import SHAPES, VENDOR_RULES, VENDOR_START
from tests.support.linear_time import is_linear
from tests.support.pattern_attacks import Attack, slow_attack
from tests.support.pattern_finder import PACKAGE, Found, find_patterns, patterns_in

TRIES: Final = 3
"""Measurements: all must find what is reported, and one must find what is there."""

BUILT: Final[dict[str, list[tuple[Any, ...]]]] = {
    "keyhole.outputs.parts._outer_line": [(0,), (8,)],
    "keyhole.outputs.patterns.patterns_of": [(kind,) for kind in PATTERNS],
    "keyhole.passages.rank_sources._echo_pattern": [(["are", "there", "two", "or", "three", "words"],), (["a"] * 5,)],
    "keyhole.text.secrets.shapes._compile": [
        *((f"{VENDOR_START}(?:{pattern})",) for _, pattern in VENDOR_RULES),
        *((shape.pattern,) for shape in SHAPES),
    ],
}
"""The functions that build a pattern from their arguments, with arguments: all that occur, or examples."""


@functools.cache
def _find_all() -> tuple[list[Found], set[str]]:
    return find_patterns(BUILT)


@pytest.fixture
def found() -> tuple[list[Found], set[str]]:
    return _find_all()


def confirmed_attack(pattern: re.Pattern[Any], uses: Iterable[str]) -> Attack | None:
    """Return an attack that is found each time: on a busy machine, one measurement may be wrong."""
    found = None
    for _ in range(TRIES):
        if not (found := slow_attack(pattern, uses)):
            return None
    return found


def test_every_pattern_of_the_package_takes_linear_time(found: tuple[list[Found], set[str]]) -> None:
    slow = {
        f"{', '.join(each.names)} ({'/'.join(sorted(uses))})": attack
        for each in found[0]
        if (attack := confirmed_attack(each.pattern, uses := each.slowest_uses()))
    }
    assert slow == {}


def test_functions_that_build_patterns_are_attacked_with_their_arguments(found: tuple[list[Found], set[str]]) -> None:
    assert found[1] == set(BUILT), "describe in BUILT, or build the pattern when the module is imported"


def test_patterns_are_found_wherever_they_are(found: tuple[list[Found], set[str]]) -> None:
    names = {name for each in found[0] for name in each.names}
    assert len(found[0]) > 700
    assert {
        "keyhole.passages.split._HEADING",  # a variable
        "keyhole.outputs.kinds._YAML_KEY",  # compiled when it is first used
        "keyhole.passages.split._STOPS",  # in a dictionary
        "keyhole.outputs.sections.FAMILIES",  # in named tuples, built by a function
        "keyhole.text.measure.clip",  # within a function
        *BUILT,
    } <= names


def test_no_file_uses_regular_expressions_in_a_way_that_is_not_found() -> None:
    unusual = re.compile(r"^\s*(?:from re import|import re as|(?:from|import) (?:regex|re2|sre_\w+)\b)", re.MULTILINE)
    assert [path for path in PACKAGE.rglob("*.py") if unusual.search(path.read_text(encoding="utf-8"))] == []


def test_a_pattern_is_attacked_with_the_methods_that_the_package_calls(found: tuple[list[Found], set[str]]) -> None:
    uses = {name: each.slowest_uses() for each in found[0] for name in each.names}
    assert uses["keyhole.fetch.robots._LINE"] == {"match"}
    assert uses["keyhole.passages.feedback._TITLE_NOTE"] == {"findall"}  # `sub`
    assert uses["keyhole.extract.html.metadata._HANDLE"] == {"fullmatch"}
    assert uses["keyhole.extract.formats.data._TOKEN"] == {"findall"}  # `match` with a position
    assert uses["keyhole.outputs.kinds._YAML_KEY"] == {"findall"}  # passed to a function


PATTERN = re.compile("a+b")


@dataclass(frozen=True, slots=True)
class _Holder:
    pattern: re.Pattern[str]


class _Class:
    pattern = PATTERN


@functools.cache
def _function(text: str, pattern: re.Pattern[str] = PATTERN) -> bool:
    return pattern.search(text) is not None


def _local() -> object:
    pattern = PATTERN
    return lambda text: pattern.search(text)


@pytest.mark.parametrize(
    "value",
    [
        {"key": [(1, frozenset({PATTERN}))]},
        {PATTERN: 1},
        PATTERN.sub,
        functools.partial(PATTERN.sub, ""),
        lazy_pattern("a+b"),
    ],
    ids=lambda value: type(value).__name__,
)
def test_a_pattern_in_a_value_is_found(value: object) -> None:
    assert [each.pattern for each in patterns_in(value)] == ["a+b"]


@pytest.mark.parametrize(
    "value", [_Holder(PATTERN), _Class, _Class(), _function, _local()], ids=lambda value: type(value).__name__
)
def test_a_pattern_in_the_code_of_the_package_is_found(value: object) -> None:
    assert [each.pattern for each in patterns_in(value, __name__)] == ["a+b"]
    assert not [*patterns_in(value)]


@pytest.mark.parametrize(
    ("pattern", "use"),
    [
        (r"(a+)+b", "match"),
        (r"(a|a)*b", "match"),
        (r"(?:a?){30}b", "match"),
        (r"(?:\w+\s?)*$", "fullmatch"),
        (r"\s+$", "search"),
        (r"\s*\n", "sub"),
        (r"[ \t]*[\r\n]+", "findall"),
        (r"\w+@\w+", "search"),
        (r"a.*b.*c", "match"),
        (r"<loc>\s*(?:x)?\s*y", "search"),
        (r"(\S.*?)\s+([^\s:]+:\S+)\s+x", "fullmatch"),
        (r"<!--.*?-->", "finditer"),
        (r"\[[^\]]*\]\(", "search"),
        (r"<meta\b[^>]*\bname=x", "search"),
        (r"x(?=.*y)", "findall"),
        (r'"(?:[^"\\]|\\.)*"', "findall"),
        (r"(?i)charset\s*=\s*[\"']?\s*(\w+)", "search"),
        (r"(`+)(.+?)\1", "sub"),
        (r"^(?:--- (\S+).*\n)?\+\+\+", "search"),
        (r"(?<![.\w])(?:[\w-]+\.)+[\w-]+\(", "search"),
        (r"\d+(?:\.\d+)+[\w.]*x", "match"),
    ],
)
def test_a_pattern_that_is_not_linear_is_found(pattern: str, use: str) -> None:
    found = Found(re.compile(pattern), uses={use})
    assert any(slow_attack(found.pattern, found.slowest_uses()) for _ in range(TRIES))


@pytest.mark.parametrize(
    ("pattern", "use"),
    [
        (r"\s+$", "match"),
        (r"(?<!\s)\s+$", "search"),
        (r"(?<!\s)\s*+\n", "sub"),
        (r"(?:(?<![ \t])[ \t]++)?[\r\n]++", "findall"),
        (r"\w{1,64}@\w+", "search"),
        (r"<!--(?:(?!-->).)*+(?:-->|\Z)", "finditer"),
        (r"\[[^\[\]]*\]\(", "search"),
        (r"<meta\b[^<>]*\bname=x", "search"),
        (r'(?<!\\)"(?:[^"\\]|\\.)*"', "findall"),
        (r"\A *(?:- +)*\w+:", "search"),
        (r"(?>(?:a+)+)b", "match"),
        (r"[a-z]+|\d+|\s+", "findall"),
    ],
)
def test_a_linear_pattern_is_accepted(pattern: str, use: str) -> None:
    found = Found(re.compile(pattern), uses={use})
    assert confirmed_attack(found.pattern, found.slowest_uses()) is None


def test_patterns_of_bytes_are_attacked_too() -> None:
    assert any(slow_attack(re.compile(rb"^(?:--- (\S+).*\n)?\+\+\+"), {"match"}) for _ in range(TRIES))
    assert confirmed_attack(re.compile(rb"^(?:--- (\S++).*\n)?\+\+\+"), {"match"}) is None


def _list_numbers(count: int) -> list[int]:
    return [*range(count)]


def _add_all(items: list[int]) -> int:
    return sum(items)


def _compare_all(items: list[int]) -> int:
    return sum(one < other for one in items for other in items)


def test_the_growth_of_time_is_measured() -> None:
    assert any(is_linear(_list_numbers, _add_all, 2_000) for _ in range(TRIES))
    assert not all(is_linear(_list_numbers, _compare_all, 20) for _ in range(TRIES))
