"""What Codex would do with a hook is read from its configuration, as Codex itself decides it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from keyhole.extensions.install.doctor.hook_runs import (
    ALL_OFF,
    CHANGED,
    SWITCHED_OFF,
    UNTRUSTED,
    hook_hash,
    why_skipped,
)
from keyhole.extensions.install.hooks import HOOK_CLIENTS, add_hook, find_hooks

FILE = "/home/me/.codex/hooks.json"
KEY = f"{FILE}:post_tool_use:0:0"
TEXT = add_hook(HOOK_CLIENTS["codex"], "", ("/opt/keyhole",), "linux", force=False)
(HOOK,) = find_hooks(HOOK_CLIENTS["codex"], TEXT)
HASH = hook_hash(HOOK)


def test_the_hash_is_that_of_codex() -> None:
    # Printed by `codex app-server` 0.169.0, `hooks/list`, for this hook.
    handler = {"type": "command", "command": "'/x y/keyhole' hook codex", "timeout": 10}
    hook = replace(HOOK, handler=handler, matcher="^(Bash|Read)$")
    expected = "sha256:b0a2519544ec198c12ddbf71f38b74318e305c8ce6099a56d5ed83a2473ef1d8"
    assert hook_hash(hook) == expected
    assert hook_hash(replace(hook, handler={**handler, "timeout": 11})) != expected
    assert hook_hash(replace(hook, matcher=None)) != expected


@pytest.mark.parametrize(("config", "reason"), [
    ({}, UNTRUSTED), ({"hooks": {"state": {KEY: {"enabled": True}}}}, UNTRUSTED),
    ({"hooks": {"state": {KEY.replace("0:0", "1:0"): {"trusted_hash": HASH}}}}, UNTRUSTED),
    ({"hooks": {"state": {KEY: {"trusted_hash": HASH}}}}, ""),
    ({"hooks": {"state": {KEY: {"trusted_hash": "sha256:0"}}}}, CHANGED),
    ({"hooks": {"state": {KEY: {"trusted_hash": HASH, "enabled": False}}}}, SWITCHED_OFF),
    ({"features": {"hooks": False}}, ALL_OFF), ({"features": {"codex_hooks": False}}, ALL_OFF),
    ({"hooks": [], "features": 1}, UNTRUSTED), ({"hooks": {"state": {KEY: 3}}}, UNTRUSTED),
    ({"hooks": {"state": {KEY: {"trusted_hash": 3}}}}, UNTRUSTED),
])  # fmt: skip
def test_the_reason_to_skip_a_hook_is_found(config: dict[str, Any], reason: str) -> None:
    assert why_skipped(HOOK, ["/elsewhere/hooks.json", FILE], config) == reason
