"""Find the regular expressions of the package, and the methods with which each is used."""

from __future__ import annotations

import ast
import functools
import importlib
import inspect
import re
import types
from collections import defaultdict, deque
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import keyhole
from keyhole.text.lazy_pattern import LazyPattern

PACKAGE: Final = Path(keyhole.__path__[0])
REPEATED: Final = frozenset({"findall", "finditer", "sub", "subn", "split"})
"""Methods that go on after a match. `findall` takes the time of each of them."""
METHODS: Final = REPEATED | {"search", "match", "fullmatch"}
FLAGS_AT: Final = {
    "compile": 1,
    "lazy_pattern": 1,
    "search": 2,
    "match": 2,
    "fullmatch": 2,
    "findall": 2,
    "finditer": 2,
}
"""The position of the flags among the arguments of a function that takes a pattern."""
_FUNCTIONS: Final = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)

Variable = tuple[str, str]
"""The names of a module and of a variable in it."""


@dataclass(slots=True)
class Found:
    """A pattern, the variables or functions that have it, and the methods that are called on it."""

    pattern: re.Pattern[Any]
    names: list[str] = field(default_factory=list)
    uses: set[str] = field(default_factory=set)

    def slowest_uses(self) -> set[str]:
        """Return the uses that take the longest: `findall` also searches, and a search also matches at the start."""
        first = "findall" if self.uses & REPEATED else "search" if "search" in self.uses else "match"
        return {first} & {*self.uses, "findall"} | self.uses & {"fullmatch"}


class Source:
    """A module with the syntax tree of its source."""

    def __init__(self, path: Path) -> None:
        parts = path.relative_to(PACKAGE.parent).with_suffix("").parts
        self.name = ".".join(part for part in parts if part != "__init__")
        self.module = importlib.import_module(self.name)
        self.nodes: list[ast.AST] = [ast.parse(path.read_text(encoding="utf-8"))]
        self.parents: dict[ast.AST, ast.AST] = {}
        for node in self.nodes:  # which grows in the loop
            children = list(ast.iter_child_nodes(node))
            self.parents.update(dict.fromkeys(children, node))
            self.nodes += children
        imports = [node for node in self.nodes if isinstance(node, ast.ImportFrom)]
        self._imported = {
            alias.asname or alias.name: (node.module or "", alias.name) for node in imports for alias in node.names
        }

    def variable(self, node: ast.AST) -> Variable | None:
        """Return the variable of a module that an expression reads, or None."""
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
            own = (self.name, node.id) if node.id in vars(self.module) else None
            return self._imported.get(node.id, own)
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id in self._imported:
            return ".".join(self._imported[node.value.id]), node.attr
        return None

    def own_variables(self) -> list[str]:
        """Return the variables of the module that are not imported from another one."""
        return [name for name in vars(self.module) if name not in self._imported and not name.startswith("__")]

    def runs_later(self, function: str) -> bool:
        """Return True unless a function is only called while its module is imported."""
        reads = [node for node in self.nodes if self.variable(node) == (self.name, function)]
        return not reads or any(map(self.function, reads))

    def function(self, node: ast.AST) -> str:
        """Return the name of the function that contains a node; an empty text for what runs when it is imported."""
        parent = self.parents.get(node)
        while parent is not None and not isinstance(parent, _FUNCTIONS):
            parent = self.parents.get(parent)
        return getattr(parent, "name", "lambda") if parent else ""

    def calls(self) -> Iterator[tuple[str, str, ast.Call]]:
        """Yield the calls in functions that take a pattern, each with the function and the name of what it calls."""
        for node in self.nodes:
            if isinstance(node, ast.Call) and node.args and (function := self.function(node)):
                called = ast.unparse(node.func)
                name = called.removeprefix("re.")
                if name == "lazy_pattern" or (name != called and name in {*METHODS, "compile"}):
                    yield function, name, node

    def compile(self, called: str, call: ast.Call) -> re.Pattern[Any]:
        """Return the pattern of a call. Raises NameError if it depends on a variable of the function."""
        named = [keyword.value for keyword in call.keywords if keyword.arg == "flags"]
        at = FLAGS_AT.get(called, len(call.args))
        pattern, *flags = (
            eval(ast.unparse(node), {**vars(self.module), "re": re})  # noqa: S307 # the source of the package itself
            for node in (call.args[0], *call.args[at : at + 1], *named)
        )
        return re.compile(pattern, *flags)


class _Usage:
    """The methods that the package calls on the patterns in its variables."""

    def __init__(self, sources: Iterable[Source]) -> None:
        self._called: defaultdict[Variable, set[str]] = defaultdict(set)
        self._passed: defaultdict[Variable, set[str]] = defaultdict(set)
        self.anywhere: defaultdict[str, set[str]] = defaultdict(set)
        for source in sources:
            for node in source.nodes:
                if isinstance(node, ast.expr):
                    self._add(source, node)

    def _add(self, source: Source, node: ast.expr) -> None:
        """Record a method of a variable, or of anything else in the module, or a variable that is passed on."""
        variable, parent = source.variable(node), source.parents.get(node)
        if isinstance(parent, ast.Attribute):
            if parent.attr in METHODS:
                call = source.parents.get(parent)
                # With a position, it may go on after a match, as `finditer` does.
                scans = isinstance(call, ast.Call) and call.func is parent and len(call.args) > 1
                use = "finditer" if scans else parent.attr
                (self._called[variable] if variable else self.anywhere[source.name]).add(use)
        elif variable:
            self._passed[variable].add(source.name)

    def of(self, variable: Variable) -> set[str]:
        """Return the methods that are called on a pattern. One that is passed on can have any use in those modules."""
        uses = set(self._called.get(variable, ()))
        passed = self._passed.get(variable, set() if uses else {variable[0]})
        return uses.union(*({"findall"} | self.anywhere[module] for module in passed))


def find_patterns(built: Mapping[str, Iterable[tuple[Any, ...]]]) -> tuple[list[Found], set[str]]:
    """Return the patterns of the package, and the names of the functions that build patterns from their arguments.

    `built`: arguments with which such functions are called, by their names.
    """
    sources = [Source(path) for path in sorted(PACKAGE.rglob("*.py")) if path.stem not in {"__main__", "lazy_pattern"}]
    usage = _Usage(sources)
    found: dict[tuple[str | bytes, int], Found] = {}

    def add(pattern: re.Pattern[Any], name: str, uses: set[str]) -> None:
        entry = found.setdefault((pattern.pattern, pattern.flags), Found(pattern))
        entry.names.append(name)
        entry.uses.update(uses)

    builders = set()
    for source in sources:
        for variable in source.own_variables():
            for pattern in patterns_in(getattr(source.module, variable)):
                add(pattern, f"{source.name}.{variable}", usage.of((source.name, variable)))
        for function, called, call in source.calls():
            name = f"{source.name}.{function}"
            try:
                add(source.compile(called, call), name, {called} & METHODS or {"findall"})
            except NameError:
                builders |= {name} if source.runs_later(function) else set()
        for name in builders & {f"{source.name}.{each}" for each in vars(source.module)} & built.keys():
            for arguments in built[name]:
                for pattern in patterns_in(getattr(source.module, name.rpartition(".")[2])(*arguments)):
                    add(pattern, name, {"findall"} | usage.anywhere[source.name])
    return list(found.values()), builders


def patterns_in(value: object, package: str = "keyhole", seen: set[int] | None = None) -> Iterator[re.Pattern[Any]]:
    """Yield the patterns in a value: in containers, methods of patterns, and the classes and functions of a package."""
    seen = set() if seen is None else seen
    if isinstance(value, re.Pattern):
        yield value
    elif isinstance(value, LazyPattern):
        yield re.compile(*value.arguments)
    elif id(value) not in seen and not isinstance(value, (str, bytes, int, float)):
        seen.add(id(value))
        for part in _parts(value, package):
            yield from patterns_in(part, package, seen)


def _parts(value: object, package: str) -> Iterable[object]:
    if isinstance(value, Mapping):
        return [*value.keys(), *value.values()]
    if isinstance(value, (list, tuple, set, frozenset, deque)):
        return [*value]
    if isinstance(value, (types.BuiltinMethodType, types.MethodType)):
        return [value.__self__]
    if isinstance(value, functools.partial):
        return [value.func, value.args, value.keywords]
    if isinstance(value, (type, types.FunctionType, functools._lru_cache_wrapper)):
        return _parts_of_code(value) if str(value.__module__).startswith(package) else []
    if not type(value).__module__.startswith(package):
        return []
    slots = [name for each in type(value).__mro__ for name in getattr(each, "__slots__", ())]
    return [type(value), getattr(value, "__dict__", None), *(getattr(value, name, None) for name in slots)]


def _parts_of_code(value: Any) -> Iterable[object]:
    """Return the attributes of a class; the defaults and the variables of a function."""
    if isinstance(value, type):
        return [*vars(value).values()]
    if not isinstance(value, types.FunctionType):
        return [value.__wrapped__]
    closure = inspect.getclosurevars(value).nonlocals
    return [value.__defaults__, value.__kwdefaults__, closure]
