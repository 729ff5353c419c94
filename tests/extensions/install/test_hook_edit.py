"""Hooks are added to files and removed; hooks of others and the rest of the file keep every byte."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from keyhole.errors import KeyholeError
from keyhole.extensions.install import jsonc_edit
from keyhole.extensions.install.hooks import (
    HOOK_CLIENTS,
    HookClient,
    add_hook,
    find_hooks,
    format_hook,
    moves_others,
    plugin_text,
    remove_hooks,
)
from tests.support.client_configurations import VALUES, jsonc_files

OURS = ("/opt/key hole/bin/keyhole",)
MOVED = ("/new/place/keyhole",)
CLAUDE, CODEX = HOOK_CLIENTS["claude-code"], HOOK_CLIENTS["codex"]
SHARED = [CLAUDE, CODEX, HOOK_CLIENTS["copilot"]]
OPENCODE = HOOK_CLIENTS["opencode"]
OTHER = {"matcher": "Edit", "hooks": [{"type": "command", "command": "prettier --write"}]}


def add(hooks: HookClient, text: str, words: tuple[str, ...] = OURS, *, force: bool = False) -> str:
    return add_hook(hooks, text, words, "linux", force=force)


def remove(hooks: HookClient, text: str, *backups: str) -> str | None:
    return remove_hooks(hooks, text, backups, "linux")


def tables_of_others(hooks: HookClient) -> st.SearchStrategy[dict[str, Any]]:
    """Draw tables of hooks with groups and handlers of other programs, and items of any kind."""
    handler = st.fixed_dictionaries({"type": st.just("command"), "command": st.sampled_from(["a", "b c", "//", "}"])})
    group = st.fixed_dictionaries({"matcher": st.just("^(Edit|Write)$"), "hooks": st.lists(handler, max_size=2)})
    items = st.lists(st.one_of(handler, group, VALUES), min_size=1, max_size=3)
    return st.dictionaries(st.sampled_from([hooks.event, "Stop", "stop"]), items, min_size=1)


@settings(max_examples=100, deadline=None)
@given(
    st.sampled_from(SHARED).flatmap(
        lambda hooks: st.tuples(st.just(hooks), jsonc_files("hooks", tables_of_others(hooks)))
    )
)
def test_a_file_keeps_every_byte_outside_the_hook(drawn: tuple[HookClient, tuple[str, dict[str, Any]]]) -> None:
    hooks, (text, values) = drawn
    table = values.get("hooks", {})
    others = table.get(hooks.event, [])
    after = add(hooks, text)
    (found,) = find_hooks(hooks, after)
    assert found.line.words == OURS
    *before, ours = jsonc_edit.parse(after)["hooks"][hooks.event]
    assert jsonc_edit.parse(after) == {**values, "hooks": {**table, hooks.event: [*others, ours]}} and before == others
    characters = iter(after)
    assert all(character in characters for character in text), "nothing is changed or moved"
    assert add(hooks, after) == after
    assert remove(hooks, after) == remove(hooks, after, text) == text
    moved = add(hooks, after, MOVED)
    (found,) = find_hooks(hooks, moved)
    assert found.line.words == MOVED and remove(hooks, moved) == text


def test_comments_and_hooks_of_others_stay_around_the_hook() -> None:
    text = """{
  // mine
  "hooks": {
    "PostToolUse": [
      {"matcher": "Edit", "hooks": [{"type": "command", "command": "a"}]}, // formats
      /* the last */
    ],
    "Stop": [],
  },
}
"""
    after = add(CLAUDE, text)
    assert all(line in after for line in text.splitlines())
    later = after.replace("    ],\n", '      {"hooks": [{"type": "command", "command": "b"}]}\n    ],\n', 1)
    removed = remove(CLAUDE, later)
    assert removed is not None and jsonc_edit.parse(removed)["hooks"]["PostToolUse"][1]["hooks"][0]["command"] == "b"
    assert "// formats" in removed and "/* the last */" in removed and not find_hooks(CLAUDE, removed)


@pytest.mark.parametrize("hooks", SHARED, ids=lambda hooks: hooks.client.name)
def test_a_file_that_contained_nothing_else_is_deleted(hooks: HookClient) -> None:
    for text in ("", "\n"):
        assert remove(hooks, add(hooks, text)) in (None, text)


def test_what_the_user_changed_in_the_hook_is_kept_and_force_replaces_it() -> None:
    text = add(CLAUDE, "").replace('"timeout": 10', '"timeout": 60').replace("Bash|PowerShell|Read", "Bash")
    text = text.replace("hook claude", "hook claude --budget 2000").replace("'/opt", "KEYHOLE_HOME=/data '/opt")
    assert add(CLAUDE, text) == text
    moved = add(CLAUDE, text, MOVED)
    assert '"timeout": 60' in moved and "^(Bash|Grep" in moved
    assert '"KEYHOLE_HOME=/data /new/place/keyhole hook claude --budget 2000"' in moved
    assert add(CLAUDE, moved, MOVED, force=True) == add(CLAUDE, "", MOVED)


def test_a_hook_in_a_group_with_others_is_changed_and_removed_alone() -> None:
    handlers = [{"type": "command", "command": "a"}, {"type": "command", "command": "/old/keyhole hook claude"}]
    text = json.dumps({"hooks": {"PostToolUse": [{"matcher": "Bash", "hooks": handlers}]}})
    (group,) = jsonc_edit.parse(add(CLAUDE, text, MOVED))["hooks"]["PostToolUse"]
    assert [each["command"] for each in group["hooks"]] == ["a", "/new/place/keyhole hook claude"]
    rest = [{"matcher": "Bash", "hooks": handlers[:1]}]
    assert jsonc_edit.parse(remove(CLAUDE, text) or "") == {"hooks": {"PostToolUse": rest}}
    (ours,) = jsonc_edit.parse(add(CLAUDE, "", MOVED))["hooks"]["PostToolUse"]
    assert jsonc_edit.parse(add(CLAUDE, text, MOVED, force=True)) == {"hooks": {"PostToolUse": [*rest, ours]}}


def test_the_hook_that_rewrites_commands_is_added_moved_and_removed_with_the_other() -> None:
    other = {"hooks": {"PreToolUse": [OTHER]}}
    for before in ("", json.dumps(other, indent=2)):
        text = add_hook(CODEX, before, OURS, "linux", force=False, rewrites=True)
        events = jsonc_edit.parse(text)["hooks"]
        rewrite = {"type": "command", "timeout": 10}
        rewrite["command"] = "'/opt/key hole/bin/keyhole' hook codex --rewrite-commands || exit 0"
        assert events["PreToolUse"][-1] == {"matcher": "^Bash$", "hooks": [rewrite]}
        assert len(events["PostToolUse"]) == 1 and add(CODEX, text) == text
        assert add(CODEX, add(CODEX, text, MOVED)) == text
        assert {hook.line.words for hook in find_hooks(CODEX, add(CODEX, text, MOVED))} == {MOVED}
        assert remove(CODEX, text, before) == (before or None)
        assert jsonc_edit.parse(remove(CODEX, text + "\n") or "") == (other if before else {})
        assert "rewrite" not in add(CODEX, text, force=True)


def test_a_byte_order_mark_and_windows_line_ends_are_kept() -> None:
    text = '\ufeff{\r\n\t"hooks": {\r\n\t\t"Stop": []\r\n\t}\r\n}\r\n'
    after = add(CLAUDE, text)
    assert after.startswith('\ufeff{\r\n\t"hooks": {\r\n\t\t"Stop": [],\r\n\t\t"PostToolUse": [\r\n')
    assert after.count("\n") == after.count("\r\n") and add(CLAUDE, after) == after and remove(CLAUDE, after) == text


def test_a_hook_for_two_shells_is_one_hook() -> None:
    copilot = HOOK_CLIENTS["copilot"]
    handler = {"type": "command", "bash": "/old/keyhole hook copilot", "powershell": "keyhole hook copilot"}
    text = json.dumps({"version": 1, "hooks": {"postToolUse": [handler]}})
    assert len(find_hooks(copilot, text)) == 1 and jsonc_edit.parse(remove(copilot, text) or "") == {"version": 1}


def test_all_hooks_of_keyhole_are_removed() -> None:
    (group,) = jsonc_edit.parse(add(CODEX, ""))["hooks"]["PostToolUse"]
    text = json.dumps({"hooks": {"PostToolUse": [group, OTHER, group]}})
    assert jsonc_edit.parse(remove(CODEX, text) or "") == {"hooks": {"PostToolUse": [OTHER]}}


def test_a_removal_that_moves_other_hooks_is_known() -> None:
    (group,) = jsonc_edit.parse(add(CODEX, ""))["hooks"]["PostToolUse"]
    for items, moves in (([OTHER, group], False), ([group, OTHER], True), ([group], False), ([OTHER], False)):
        assert moves_others(CODEX, json.dumps({"hooks": {"PostToolUse": items}})) is moves


@pytest.mark.parametrize("text", [
    '{"hooks": []}', '{"hooks": {"PostToolUse": {}}}',
    '{"hooks": {"PostToolUse": null}}', '{"hooks": {"PostToolUse": "keyhole hook claude"}}',
    '{"hooks": null}', '{"hooks": 1}', "[]", "{", '{"hooks": {"PostToolUse": [}', '"text"', "nul", "\x00",
])  # fmt: skip
def test_a_file_with_hooks_of_another_form_is_refused(text: str) -> None:
    with pytest.raises(KeyholeError, match="was not changed"):
        add(CLAUDE, text)


@pytest.mark.parametrize("items", [
    [None], [[]], [["keyhole hook claude"]], [{"hooks": {}}], [{"hooks": [None, 3, "x"]}], [{"command": 3}], [{}],
    [{"hooks": [{"command": ["keyhole"]}]}], [{"hooks": [{"hooks": [{"command": "keyhole hook claude"}]}]}],
    [{"command": "/\ud800/keyhole hook claude"}], ["keyhole hook claude"],
])  # fmt: skip
def test_items_of_another_form_are_kept(items: list[Any]) -> None:
    text = json.dumps({"hooks": {"PostToolUse": items}})
    after = add(CLAUDE, text)
    assert jsonc_edit.parse(after)["hooks"]["PostToolUse"][:-1] == items
    assert remove(CLAUDE, after, text) == text and find_hooks(CLAUDE, text) == []


def test_the_plugin_is_written_whole_and_only_over_a_plugin_of_keyhole() -> None:
    made = add(OPENCODE, "")
    (found,) = find_hooks(OPENCODE, made)
    assert found.line.words == OURS and add(OPENCODE, made) == made == plugin_text(OPENCODE.line(OURS, "linux"))
    assert find_hooks(OPENCODE, add(OPENCODE, made, MOVED))[0].line.words == MOVED
    assert remove(OPENCODE, made) is None and remove(OPENCODE, "// other\n") == "// other\n"
    with pytest.raises(KeyholeError, match="not a plugin of Keyhole"):
        add(OPENCODE, "export const Other = 1;\n")
    assert add(OPENCODE, "export const Other = 1;\n", force=True) == made
    for other in ("[", "[]", '["x"]', '["prettier", "hook", "opencode"]', "[1, 2, 3]"):
        assert find_hooks(OPENCODE, f"const COMMAND = {other};\n") == []


def test_the_text_to_add_by_hand_is_the_file_of_a_new_hook() -> None:
    for hooks in HOOK_CLIENTS.values():
        assert format_hook(hooks, OURS, "linux") == add(hooks, "").rstrip("\n")


def test_each_platform_gets_the_command_of_its_shell() -> None:
    words = (r"C:\a b\keyhole.exe",)
    lines = {name: format_hook(hooks, words, "win32") for name, hooks in HOOK_CLIENTS.items()}
    assert "'C:/a b/keyhole.exe' hook claude" in lines["claude-code"]
    assert r"\"C:\\a b\\keyhole.exe\" hook codex" in lines["codex"]
    assert json.loads(lines["copilot"])["hooks"]["postToolUse"][0]["powershell"] == (
        r"& 'C:\a b\keyhole.exe' hook copilot"
    )
    assert r'["C:\\a b\\keyhole.exe", "hook", "opencode"]' in lines["opencode"]
