"""Foreign JSON is parsed by one function, within limits, and every fault of it is a ValueError."""

from __future__ import annotations

import ast
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from keyhole.text.parse_json import MAX_DEPTH, MAX_VALUES, address_step, parse_json
from tests.support.documentation import ROOT

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=30,
)
OWN_JSON = {
    "cli/demo_site.py": "a file of the package",
    "outputs/hooks/copilot.py": "an event of the user's own client, in a process of its own",
    "outputs/hooks/prefer.py": "the same",
    "cli/hook_command.py": "an event of the user's own client, in a process of its own",
    "outputs/hooks/answer.py": "the same",
    "extensions/install/doctor/hook_runs.py": "the answer of Keyhole's own hook",
    "extensions/install/hooks.py": "a line that Keyhole wrote",
    "extensions/install/jsonc_edit.py": "one word of the user's own file",
    "cli/server_command.py": "an event of the user's own client",
    "runtime/installation.py": "a file that pip wrote",
    "extract/formats/data.py": "keeps numbers as they are written, in a worker",
    "extract/formats/feed.py": "in a worker, which a deep feed ends",
    "extract/workers/tasks.py": "the head of a worker's answer, of bounded size",
    "extensions/conversations/transcript.py": "a text that Keyhole wrote",
    "extensions/look/sessions_pages.py": "a row of the store",
    "extensions/look/text_pages.py": "a row of the store",
    "serve/shared/connection_state.py": "a file of the package",
    "extensions/proxy/json_rpc.py": "has the same limit of depth for messages that are relayed unchanged",
    "serve/shared/link.py": "a process of the same user",
    "serve/shared/server.py": "a process of the same user",
    "extensions/dead_links/search.py": "the state of a search, in a worker",
    "store/calls/relations.py": "a row of the store",
    "store/calls/rows.py": "a row of the store",
    "store/forget_mark.py": "a file of the store",
    "outputs/running_output.py": "a file of the store",
    "extensions/postgresql/artifacts.py": "a row of the store",
    "store/spool.py": "a file of the store",
    "store/sqlite/rows.py": "a row of the store",
    "store/sqlite/word_index.py": "a row of the store",
    "text/parse_json.py": "the function itself",
    "extensions/engines/ddgs.py": "the arguments of the child process",
    "extensions/engines/engines_file.py": "the operator's file",
}
"""The modules that call Python's parser themselves, each with the reason why it needs no limits."""


@given(VALUES)
def test_json_within_the_limits_has_the_value_that_python_gives(value: Any) -> None:
    text = json.dumps(value)
    assert parse_json(text) == parse_json(text.encode()) == value


@pytest.mark.parametrize("open_and_close", [("[", "]"), ('{"a":', "}"), ('[{"a":', "}]")])
def test_nesting_is_limited(open_and_close: tuple[str, str]) -> None:
    opening, closing = open_and_close
    per_repeat = opening.count("[") + opening.count("{")
    most = MAX_DEPTH // per_repeat
    assert parse_json(opening * most + "1" + closing * most)
    with pytest.raises(ValueError, match="nests too deeply"):
        parse_json(opening * (most + 1) + "1" + closing * (most + 1))


def test_many_brackets_in_a_flat_value_are_no_nesting() -> None:
    assert parse_json(json.dumps([[]] * 1_000 + ["[{" * 1_000]))


@pytest.mark.parametrize(
    "data",
    [b"", b"[" * 200_000, b'{"a":' * 200_000, b"[1,", b"\xff\xfe", b"\xef\xbb\xbf{", "9" * 5_000, "[" * 500 + "]" * 500,
     "[" + "0," * MAX_VALUES + "0]", "[" + "[]," * MAX_VALUES + "0]", "\ud800", "nan"],
    ids=str,
)  # fmt: skip
def test_any_other_data_is_a_value_error(data: bytes | str) -> None:
    with pytest.raises(ValueError, match=r"\S"):
        parse_json(data)


@pytest.mark.parametrize(
    ("key", "step"), [(3, "[3]"), ('"name"', ".name"), ('"tâche"', ".tâche"), ('"two words"', '["two words"]')]
)
def test_a_step_of_an_address_has_the_key_as_the_text_writes_it(key: str | int, step: str) -> None:
    assert address_step(key) == step


def test_only_the_listed_modules_call_the_parser_of_python() -> None:
    package = ROOT / "server" / "keyhole"
    calling = set()
    for path in package.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Attribute) and node.attr in {"load", "loads"} and ast.unparse(node.value) == "json":
                calling.add(path.relative_to(package).as_posix())
    assert calling == set(OWN_JSON)
