"""Read which modules of the package import which, and find the imports that its layers forbid."""

from __future__ import annotations

import ast
from collections.abc import Iterable
from functools import cache
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).resolve().parents[2]
PACKAGE: Final = ROOT / "server" / "keyhole"
FILES: Final = sorted(PACKAGE.rglob("*.py"))

LAYERS: Final[tuple[tuple[str, ...], ...]] = (
    ("_version",),
    ("errors", "records"),
    ("runtime", "text"),
    ("config",),
    ("fetch", "passages"),
    ("sites", "store"),
    ("extract", "render", "rerank"),
    ("outputs",),
    ("websearch",),
    ("retrieval",),
    ("serve",),
    ("cli",),
    ("extensions",),
    ("__main__",),
)
"""The names at the top of the package, the lowest layer first. A file imports from its own folder and lower layers, not
from other folders of its layer."""
LAYER_OF: Final = {name: number for number, names in enumerate(LAYERS) for name in names}


def name_of(path: Path) -> str:
    """Return the path of a file within the package."""
    return path.relative_to(PACKAGE).as_posix()


@cache
def imports(path: Path, *, typing_too: bool = False) -> set[str]:
    """Return the modules that a file imports, at any depth; with `typing_too` also those for type checkers only."""
    found: set[str] = set()
    for node in _nodes(ast.parse(path.read_text(encoding="utf-8")), typing_too=typing_too):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            found.add(node.module or "")
            found |= {f"{node.module}.{alias.name}" for alias in node.names}
    return found


def _nodes(tree: ast.AST, *, typing_too: bool) -> list[ast.AST]:
    nodes: list[ast.AST] = []
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING" and not typing_too:
            continue
        nodes += [node, *_nodes(node, typing_too=typing_too)]
    return nodes


MODULES: Final = {
    "keyhole." + name_of(path).removesuffix(".py").removesuffix("/__init__").replace("/", "."): path
    for path in FILES
    if name_of(path) != "__init__.py"
}
EDGES: Final = sorted(
    (module, imported)
    for module, path in MODULES.items()
    for imported in {each for each in imports(path, typing_too=True) if each in MODULES} - {module}
)
"""Each module with each module of the package that it imports, also for type checkers only."""


def top(module: str) -> str:
    """Return the folder or file directly below `keyhole` that contains a module."""
    return module.split(".")[1]


def extension_of(module: str) -> str:
    """Return the extension that contains a module, "" for one of the core."""
    return module.split(".")[2] if module.startswith("keyhole.extensions.") else ""


def folder_of(module: str) -> str:
    """Return the folder that contains a module, as a dotted name."""
    return module if MODULES[module].name == "__init__.py" else module.rpartition(".")[0]


FOLDERS: Final = sorted({folder_of(module) for module in MODULES})


def top_names() -> set[str]:
    """Return the names of the files and folders at the top of the package."""
    found = {path.stem for path in PACKAGE.iterdir() if path.is_dir() or path.suffix == ".py"}
    return found - {"__pycache__", "__init__"}


def upward_imports() -> list[str]:
    """Return a line for each import from a higher layer, or from another folder of the same layer."""
    return [
        f"{module} imports {imported}"
        for module, imported in EDGES
        if top(module) != top(imported) and LAYER_OF[top(imported)] >= LAYER_OF[top(module)]
    ]


def circles_in(folder: str) -> list[list[str]]:
    """Return the circles of imports among the files and subfolders of a folder. A subfolder imports what its files do.

    `folder`: a dotted name. Circles that share a file are returned as one.
    """
    prefix = folder + "."
    edges = (
        (module.removeprefix(prefix).split(".")[0], imported.removeprefix(prefix).split(".")[0])
        for module, imported in EDGES
        if module.startswith(prefix) and imported.startswith(prefix)
    )
    return find_circles(edges)


def find_circles(edges: Iterable[tuple[str, str]]) -> list[list[str]]:
    """Return the groups of nodes that reach each other, sorted; an edge from a node to itself is ignored."""
    reached: dict[str, set[str]] = {}
    for start, end in edges:
        reached.setdefault(end, set())
        reached.setdefault(start, set()).update({end} - {start})
    for middle in reached:  # Warshall's algorithm: paths through one more node in each round
        for ends in reached.values():
            if middle in ends:
                ends |= reached[middle]
    groups = {tuple(sorted(end for end in ends if node in reached[end])) for node, ends in reached.items()}
    return sorted(list(group) for group in groups if len(group) > 1)
