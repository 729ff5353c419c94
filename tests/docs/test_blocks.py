"""Every block of the documentation is run, read as what it is for would read it, or says why not."""

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from keyhole.config.config import parse_config
from keyhole.config.schema import PREFIX
from keyhole.config.toml_file import parse_settings_file
from keyhole.websearch.engines_file import parse
from tests.support.blocks import Block, iter_blocks
from tests.support.console import capture_parser, is_valid_command, temporary_installation
from tests.support.documentation import PAGES, ROOT, render_page
from tests.support.reference import iter_commands

EVERY = [block for page in (*PAGES, ROOT / "SECURITY.md") for block in iter_blocks(page)]
SERVER = "/path/to/keyhole/.venv/bin/keyhole-reader"
EXAMPLE_ENVIRONMENT = {"WIKI_TOKEN": "token", "HANDBOOK_TOKEN": "token"}


def of(*languages: str) -> pytest.MarkDecorator:
    """The blocks in these languages that are run where they stand, as parameters."""
    found = [block for block in EVERY if block.language in languages and not block.generated and not block.mark]
    assert found
    return pytest.mark.parametrize("block", found, ids=lambda block: block.location)


def test_no_block_escapes() -> None:
    ways = {"json", "toml", "python", "sh", "console"}
    escaped = [block.location for block in EVERY if not (block.generated or block.mark or block.language in ways)]
    assert not escaped, "say before the block why it is not run: <!-- not run: … --> or <!-- run by: tests/… -->"


@pytest.mark.parametrize(
    "block", [block for block in EVERY if block.mark == "run by"], ids=lambda block: block.location
)
def test_a_block_that_another_test_runs_names_one_that_reads_its_page(block: Block) -> None:
    assert block.page.name in (ROOT / block.reason).read_text(encoding="utf-8")


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_what_is_made_from_the_code_is_up_to_date(page: Path) -> None:
    assert render_page(page) == page.read_text(encoding="utf-8"), "run: python tests/support/documentation.py"


@of("console")
def test_a_console_block_is_of_commands_that_were_run(block: Block) -> None:
    for line in block.text.splitlines():
        if block.text.startswith("$ keyhole"):
            return  # its output is made by running it: see the test above
        program, *words = shlex.split(line, comments=True)
        if program == "make":
            assert re.search(rf"^{words[0]}:", (ROOT / "Makefile").read_text("utf-8"), re.MULTILINE)
        else:
            check_command([program, *words])


@of("sh")
def test_a_shell_block_sets_what_there_is_and_calls_what_there_is(block: Block) -> None:
    for line in block.text.splitlines():
        words = shlex.split(line, comments=True)
        words = words[1:] if words[:1] == ["export"] else words
        settings: dict[str, str] = {}
        while words and re.match(r"[A-Z][A-Z0-9_]*=", words[0]):
            name, _, value = words.pop(0).partition("=")
            settings[name] = value.replace("…", "x")
        parse_config({name: value for name, value in settings.items() if name.startswith(PREFIX)})
        if words:
            check_command(words)


def check_command(words: list[str]) -> None:
    """That `keyhole` takes these words."""
    assert words[0] in {"keyhole", ".venv/bin/keyhole"}, words
    assert words[1] in {name.split()[1] for name, _, _ in iter_commands(capture_parser())}, words
    assert is_valid_command(shlex.join(words)), words


@of("json")
def test_a_registration_has_its_client_s_shape(block: Block) -> None:
    found = json.loads(block.text)
    (container,) = set(found) - {"$schema", "inputs"}
    server = found[container]["keyhole"]
    if server.get("type") == "http":
        assert set(server) <= {"type", "url", "headers"}
        return
    command = server["command"]
    if container == "mcp":  # opencode: the command with its arguments, "environment"
        assert (command, server["type"], set(server) - {"enabled", "type"}) == (
            [SERVER],
            "local",
            {"command", "environment"},
        )
        parse_config(server["environment"])
        return
    assert container in {"mcpServers", "servers", "context_servers"}
    assert (command, server["args"]) == (SERVER, [])
    assert set(server) <= {"type", "command", "args", "env", "tools"}
    parse_config(server.get("env", {}))


@of("toml")
def test_a_toml_block_is_a_registration_of_codex_or_a_file_of_engines_or_settings(block: Block) -> None:
    found = tomllib.loads(block.text)
    if "max_chars" in found:
        given, wrong = parse_settings_file(block.text, block.location)
        assert wrong == []
        parse_config({}, given)
        return
    if "engine" in found:
        assert len(parse(block.text, EXAMPLE_ENVIRONMENT)) == len(found["engine"])
        return
    server = found["mcp_servers"]["keyhole"]
    assert set(server) in ({"command", "args"}, {"command", "args", "env"}, {"url", "bearer_token_env_var"})
    assert server.get("command", SERVER) == SERVER
    parse_config(server.get("env", {}))


@of("python")
def test_a_python_block_runs_as_it_stands(block: Block, tmp_path: Path) -> None:
    with temporary_installation() as home:
        folder = str(Path(sys.executable).parent)
        environment = {
            "PATH": os.pathsep.join([folder, os.environ["PATH"]]),
            "KEYHOLE_HOME": str(home),
            "KEYHOLE_TIMEOUT": "1",  # a fetch of the network must end here, with its error as a fact
            "KEYHOLE_PROXY": "http://127.0.0.1:9",
        }
        done = subprocess.run(
            [sys.executable, "-W", "error", "-c", block.text],
            env=environment,
            cwd=tmp_path,
            capture_output=True,
            text=True,
            timeout=60,
        )
    assert done.returncode == 0, done.stderr
    assert done.stdout
