"""The shape of the tree: imports point down, pure files touch nothing, files say what is in them."""

from __future__ import annotations

import ast
import re
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = ROOT / "server" / "keyhole"
FILES = sorted(PACKAGE.rglob("*.py"))

# From the bottom up. A file may import from its own layer and from those above it in this list.
LAYERS: tuple[tuple[str, ...], ...] = (
    (
        "records",
        "errors",
        "measure",
        "clean",
        "escape",
        "progress",
        "values",
        "meant",
        "narrowing",
        "observe",
        "logs",
        "callers",
        "ledger",
        "loading",
        "witness",
    ),
    ("config", "config_file", "configured", "settings", "markdown", "changes", "hosts", "tokens", "token_weights"),
    ("fetch", "extract", "passages", "store"),
    ("websearch", "keeping", "header", "alternates", "worker", "scorers", "replicas"),
    ("permission", "stored"),
    ("pages", "readers"),
    ("gathering",),
    ("allowance",),
    ("remarks",),
    ("thrift",),
    ("bound", "wording", "citing", "arguments"),
    ("evidence", "calling"),
    ("retrieve",),
    ("dispatch",),
    ("stores", "tenants"),
    (
        "resources",
        "prompts",
        "offers",
        "tools",
        "halves",
        "malformed",
        "passing",
        "site",
        "artifacts",
        "bar",
        "installing",
        "doctor",
        "terminal",
        "verbs",
    ),
    ("hosting",),
    ("cli", "serving", "demo"),
    ("__main__",),
)

# Files that do I/O. Every other file is pure: it decides and touches nothing.
DOERS = {
    "fetch/client.py", "fetch/exchange.py", "fetch/backend.py", "fetch/meter.py", "fetch/streams.py", "fetch/lookup.py",
    "fetch/tunnel.py",
    "fetch/manners.py", "fetch/robots.py", "websearch/keyless.py", "store/sqlite.py", "store/home.py",
    "store/sqlite_search.py", "store/sqlite_schema.py", "store/sqlite_migration.py", "store/sqlite_texts.py",
    "store/sqlite_rows.py", "store/sqlite_space.py", "store/sqlite_keys.py", "store/sqlite_damage.py",
    "store/folder_lock.py",
    "store/postgres.py", "store/postgres_database.py", "store/postgres_schema.py", "store/postgres_texts.py",
    "store/postgres_search.py", "store/postgres_totals.py", "store/postgres_sweep.py", "store/postgres_keys.py",
    "store/postgres_reads.py",
    "worker/pool.py", "worker/child.py", "alternates.py", "permission.py", "pages.py", "gathering.py", "readers.py",
    "websearch/panel.py", "websearch/failover.py", "websearch/own.py", "websearch/searxng.py", "websearch/custom.py",
    "scorers/rerank.py", "scorers/embed.py", "scorers/second.py",
    "stores.py", "tenants.py", "hosting/app.py",
    "hosting/bodies.py", "hosting/tokens.py", "hosting/issuing.py", "hosting/jwks.py", "hosting/identity.py",
    "hosting/listening.py", "hosting/connections.py",
    "hosting/admission.py", "replicas/link.py", "replicas/calls.py",
    "replicas/hosts.py", "replicas/leases.py",
    "hosting/probes.py", "hosting/metrics.py", "hosting/telemetry.py",
    "hosting/drain.py", "hosting/access.py", "hosting/running.py", "logs.py",
    "store/fallback.py", "store/journal.py",
    "retrieve.py", "tools.py", "cli.py", "serving.py", "demo.py", "site.py", "loading.py", "halves.py",
    "artifacts/commands.py", "artifacts/files.py", "artifacts/moving.py", "resources.py", "offers.py", "malformed.py",
    "passing.py",
    "installing/files.py", "installing/looking.py", "installing/commands.py", "doctor/commands.py",
    "doctor/machine.py", "doctor/keeping_place.py", "doctor/network.py", "doctor/conversation.py",
    "doctor/roundtrip.py", "doctor/registrations.py", "configured.py", "terminal/call.py", "terminal/files.py",
    "terminal/settings.py",
}  # fmt: skip
IMPURE = {
    "asyncio", "socket", "ssl", "os", "time", "random", "secrets", "sqlite3", "sqlite_utils", "subprocess",
    "psycopg", "psycopg_pool", "httpx", "httpcore", "mcp", "mcp_types", "pathlib", "threading", "logging", "tempfile",
}  # fmt: skip
ALLOWED_IN_PURE = {
    ("store/memory.py", "threading"): "a lock around a dictionary",
    ("config.py", "pathlib"): "a path is a value; nothing is opened",
    ("settings.py", "pathlib"): "the same",
    ("prompts.py", "mcp_types"): "the protocol's values; nothing is sent",
    ("installing/entries.py", "pathlib"): "the same",
    ("installing/places.py", "pathlib"): "the same",
    ("installing/clients.py", "pathlib"): "the same",
    ("config_file.py", "pathlib"): "the same",
    ("hosting/oauth.py", "logging"): "why a token was refused, which its sender is not told",
}


def imports(path: Path) -> set[str]:
    """Modules that a file imports, at any depth; type-checking ones are left out."""
    found: set[str] = set()
    for node in _runtime_nodes(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            found.add(node.module or "")
            found |= {f"{node.module}.{alias.name}" for alias in node.names if node.module == "keyhole"}
    return found


def _runtime_nodes(tree: ast.AST) -> list[ast.AST]:
    nodes: list[ast.AST] = []
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
            continue
        nodes += [node, *_runtime_nodes(node)]
    return nodes


def name_of(path: Path) -> str:
    return path.relative_to(PACKAGE).as_posix()


def layer(module: str) -> int | None:
    room = module.removeprefix("keyhole").lstrip(".").split(".")[0]
    return next((index for index, rooms in enumerate(LAYERS) if room in rooms), None)


@pytest.mark.parametrize("path", FILES, ids=name_of)
def test_imports_point_down(path: Path) -> None:
    if name_of(path) == "__init__.py":
        return
    own = layer("keyhole." + name_of(path).removesuffix(".py").replace("/", "."))
    assert own is not None, "the file has no layer"
    for module in imports(path):
        if module.startswith("keyhole."):
            below = layer(module)
            if module not in {"keyhole.__version__"}:
                assert below is not None, module
                assert below <= own, f"{name_of(path)} imports {module}"


@pytest.mark.parametrize("path", FILES, ids=name_of)
def test_pure_files_touch_nothing(path: Path) -> None:
    if name_of(path) in DOERS:
        return
    for module in imports(path):
        top = module.split(".")[0]
        assert top not in IMPURE or (name_of(path), top) in ALLOWED_IN_PURE, f"{name_of(path)} imports {module}"


def test_httpx_is_imported_in_one_file() -> None:
    assert [name_of(path) for path in FILES if "httpx" in imports(path)] == ["fetch/exchange.py"]
    # Not for its types either: then a swap of the library is a swap of one file.
    assert [name_of(path) for path in FILES if re.search(r"^\s*(?:import|from) httpx\b", path.read_text(), re.M)] == [
        "fetch/exchange.py"
    ]


@pytest.mark.parametrize("path", FILES, ids=name_of)
def test_every_file_says_what_is_in_it_and_stays_a_room(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert ast.get_docstring(ast.parse(text)), "no docstring"
    assert len(text.splitlines()) <= 350, "over 350 lines"


def test_starting_the_server_loads_no_parser_no_network_client_and_no_stemmer() -> None:
    import subprocess

    heavy = [
        "httpx", "bs4", "lxml", "markdownify", "pypdf", "mammoth", "pptx", "openpyxl", "snowballstemmer",
        "rank_bm25", "ddgs", "sqlite_utils", "zstandard", "chardet", "rich", "jmespath", "tenacity", "keyhole.scorers",
        "psycopg", "psycopg_pool", "keyhole.replicas", "keyhole.tokens",
        "keyhole.hosting", "prometheus_client", "opentelemetry.sdk",
    ]  # fmt: skip
    code = f"import sys, keyhole.serving; print([m for m in {heavy} if m in sys.modules])"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60)
    assert run.stdout.strip() == "[]"


def test_a_name_is_imported_from_where_it_is_defined() -> None:
    passed_on = [
        f"{name_of(path)}: {alias.name}"
        for path in FILES
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
        if alias.name == alias.asname
    ]
    assert not passed_on


def test_the_package_has_few_broad_excepts() -> None:
    broad = [
        f"{name_of(path)}:{node.lineno}"
        for path in FILES
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.ExceptHandler)
        and (node.type is None or ast.unparse(node.type) in {"Exception", "BaseException"})
    ]
    assert len(broad) <= 2, broad
