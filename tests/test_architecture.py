"""The shape of the source tree: imports point down, pure files do no I/O, docstrings name their subject."""

from __future__ import annotations

import ast
import re
import sys
from pathlib import Path

import pytest

from benchmarks.source.imports import (
    EDGES,
    FILES,
    FOLDERS,
    LAYER_OF,
    PACKAGE,
    circles_in,
    extension_of,
    imports,
    name_of,
    top_names,
    upward_imports,
)
from keyhole.runtime.extensions import NAMES, PORT_NAMES, find_extension, load_function

# Folders and, in them, the files that do I/O. All other files are pure: they do no I/O.
IO_FILES = {
    "cli": (
        "artifacts_command bound_command build config_command demo demo_site forget_command hook_command "
        "log_format main output_log run_command server_command shell_command text_io tool_commands"
    ),
    "extensions/install/doctor": "commands hook_runs machine network servers",
    "outputs": "adopt child_process large_output running_output",
    "outputs/hooks": "answer keep saved_file",
    "extensions/install": "commands discover files uninstall",
    "config": "folders load",
    "extract/workers": "child worker_pool",
    "fetch": "backend client dns exchange host_limits pool robots",
    "extensions/dead_links": "near_addresses",
    "extensions/site_apis": "site_pages",
    "extensions/engines": "custom ddgs engines_file searxng",
    "extensions/browser": "check chromium gateway page_session render supervisor",
    "rerank": "rerank_passages",
    "extensions/conversations": "command",
    "extensions/models": "apis commands folder inference local static_table vector_scorer",
    "retrieval": (
        "call instrumentation pages pending_reads read_pages recording retrieve sources "
        "stored_output tenants url_policy"
    ),
    "serve": "mcp_apps resources stdio tenants_loader tools",
    "runtime": "fair_slots installation lazy_imports",
    "text": "data_file",
    "extensions/look": "app command mcp_app server views",
    "serve/shared": "address connection_state link lock relay server",
    "extensions/look/hosted": "gate pages",
    "serve/http": "host",
    "extensions/hosted": (
        "admission app authenticate bodies jwks listener probes run telemetry token_file tokens_command uvicorn_server"
    ),
    "extensions/proxy": (
        "bounding http_app http_session http_upstream oauth_proxy proxy_command proxy_session transports upstream"
    ),
    "store": "fallback forget_mark home ids open private_files spool",
    "extensions/postgresql": "artifacts database schema store",
    "store/calls": "queries queue sqlite",
    "store/sqlite": "damage file rows schema space store texts word_index",
    "websearch": "failover panel",
}
IMPURE = {
    "asyncio", "socket", "ssl", "os", "time", "random", "secrets", "sqlite3", "sqlite_utils", "subprocess",
    "psycopg", "psycopg_pool", "httpx", "httpx2", "httpcore", "mcp", "mcp_types", "pathlib", "threading", "logging",
    "tempfile",
}  # fmt: skip
ALLOWED_IN_PURE = {
    ("__main__.py", "os"): "ends the process of a hook",
    ("extensions/proxy/handshake.py", "mcp_types"): "names of the protocol",
    ("extensions/proxy/http_headers.py", "mcp"): "the SDK's rules for HTTP headers, which do no I/O",
    ("extensions/proxy/http_headers.py", "mcp_types"): "names of the protocol",
    ("extensions/proxy/proxy_relay.py", "logging"): "logs messages that nobody waits for",
    ("serve/prompts.py", "mcp_types"): "uses types of the protocol and sends nothing",
    **{
        (name, "pathlib"): "uses paths as values and opens no file"
        for name in (
            "config/config.py", "config/toml_file.py", "cli/extract_select.py",
            "extensions/install/clients.py", "extensions/install/hooks.py", "extensions/install/wrap.py",
        )
    },
}  # fmt: skip


def test_the_top_level_of_the_package_has_only_the_files_and_folders_of_the_layers() -> None:
    assert top_names() == set(LAYER_OF)


def test_imports_point_down() -> None:
    assert not upward_imports()


def test_the_core_imports_no_extension_and_an_extension_imports_no_other() -> None:
    foreign = [
        f"{module} imports {imported}"
        for module, imported in EDGES
        if extension_of(imported) and extension_of(imported) != extension_of(module)
    ]
    assert not foreign


def test_every_extension_registers_what_exists() -> None:
    folders = {path.name for path in (PACKAGE / "extensions").iterdir() if (path / "__init__.py").is_file()}
    assert folders == {*NAMES, *PORT_NAMES}
    for name in folders:
        extension = find_extension(name)
        assert bool(extension.commands or extension.checks) == (name in NAMES)
        commands = [name for command in extension.commands.values() for name in (command.add, f"{command.module}:run")]
        ports = [extension.port] if extension.port else []
        assert all(callable(load_function(name)) for name in [*commands, *extension.checks.values(), *ports])


@pytest.mark.parametrize("folder", FOLDERS)
def test_imports_within_a_folder_have_no_cycle(folder: str) -> None:
    assert not circles_in(folder)


@pytest.mark.parametrize("path", FILES, ids=name_of)
def test_pure_files_import_no_library_that_does_io(path: Path) -> None:
    folder, _, name = name_of(path).rpartition("/")
    if path.stem in IO_FILES.get(folder, "").split():
        return
    for module in imports(path):
        library = module.split(".")[0]
        assert library not in IMPURE or (name_of(path), library) in ALLOWED_IN_PURE, f"{name} imports {module}"


def test_httpx_is_imported_in_one_file() -> None:
    assert [name_of(path) for path in FILES if "httpx" in imports(path)] == ["fetch/exchange.py"]
    # Type checkers may not import it elsewhere either, so that replacing httpx changes a single file.
    assert [name_of(path) for path in FILES if re.search(r"^\s*(?:import|from) httpx\b", path.read_text(), re.M)] == [
        "fetch/exchange.py"
    ]


def test_what_killed_a_worker_is_read_again_only_by_a_worker() -> None:
    reader = "keyhole.extract.workers.salvage"
    assert [name_of(path) for path in FILES if reader in imports(path)] == ["extract/workers/child.py"]


@pytest.mark.parametrize("path", FILES, ids=name_of)
def test_a_module_has_a_docstring_and_at_most_700_lines(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    docstring = ast.get_docstring(ast.parse(text))
    assert docstring, "no docstring"
    first = docstring.split("\n\n")[0]
    assert first.endswith((".", ":")) and len(first) <= 300, "the docstring does not begin with one short paragraph"
    assert len(text.splitlines()) <= 700, "over 700 lines; 150 to 500 are usual"


SHORT_MODULES = {
    "_version.py": "hatchling reads the version from this file",
    "retrieval/progress.py": "a port",
    "store/ids.py": "imported by a hook, which has no time for the rest of the store",
    "passages/light_words.py": "the words are a data file",
    "extensions/hosted/arguments.py": "the parser does not load the command",
    "runtime/bounded_dict.py": "one class for every layer",
    "runtime/zstd.py": "one of two libraries, by the version of Python",
    "runtime/owner.py": "a context variable that every layer reads",
    "runtime/memory.py": "what the C library is asked for; used by servers and models",
    "text/data_file.py": "one way to read data files, also used by hooks",
    "text/lazy_pattern.py": "used by every layer",
    "text/suggest.py": "imports difflib only when needed; used by config, cli and extract",
}
"""Modules under 40 lines, each with the reason why it is a separate file."""


def test_only_listed_modules_have_under_40_lines() -> None:
    short = {
        name_of(path)
        for path in FILES
        if len(path.read_text(encoding="utf-8").splitlines()) < 40 and path.stem not in {"__init__", "__main__"}
    }
    assert short == set(SHORT_MODULES)


def test_starting_the_server_loads_no_parser_no_network_client_and_no_stemmer() -> None:
    import subprocess

    heavy = [
        "httpx", "bs4", "lxml", "markdownify", "pypdfium2", "mammoth", "pptx", "openpyxl", "striprtf",
        "snowballstemmer",
        "rank_bm25", "ddgs", "sqlite_utils", "chardet", "rich", "jmespath", "keyhole.rerank",
        "psycopg", "psycopg_pool", "keyhole.render.tokens",
        "keyhole.serve.http", "prometheus_client", "opentelemetry.sdk",
    ]  # fmt: skip
    code = f"import sys, keyhole.serve.stdio; print([m for m in {heavy} if m in sys.modules])"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60)
    assert run.stdout.strip() == "[]"


def test_a_name_is_imported_from_where_it_is_defined() -> None:
    reexported = [
        f"{name_of(path)}: {alias.name}"
        for path in FILES
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
        if alias.name == alias.asname
    ]
    assert not reexported


def test_no_process_of_keyhole_imports_modules_from_the_current_folder() -> None:
    """Clients start Keyhole in the folder of a project, whose files can have the names of modules."""
    starts = re.compile(r'(?:sys\.executable|installation\.python)\b.*"-[mc]"')
    lines = [line for path in FILES for line in path.read_text("utf-8").splitlines() if starts.search(line)]
    assert len(lines) >= 5
    assert [line for line in lines if '"-P"' not in line and '"-I"' not in line] == []


def test_the_package_has_few_broad_excepts() -> None:
    broad = [
        f"{name_of(path)}:{node.lineno}"
        for path in FILES
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.ExceptHandler)
        and (node.type is None or ast.unparse(node.type) in {"Exception", "BaseException"})
    ]
    assert len(broad) <= 4, broad
