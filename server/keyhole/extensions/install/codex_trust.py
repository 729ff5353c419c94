"""Tell whether Codex would run a hook: it skips hooks that the user has not trusted, and hooks that are switched off.

Codex keeps the user's trust in `config.toml`, in a table for each place of a hook,
`[hooks.state."FILE:EVENT:GROUP:HOOK"]`, with `trusted_hash`, the hash of what the hook does. `codex app-server` prints
both with `hooks/list`; the tests compare the hash with that of Codex 0.169.0.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any, Final

from keyhole.extensions.install.hook_edit import Hook

UNTRUSTED: Final = "you have not trusted it yet"
CHANGED: Final = "it has changed since you trusted it"
SWITCHED_OFF: Final = "it is switched off"
ALL_OFF: Final = "hooks are switched off under [features] in config.toml"
_EVENTS: Final = MappingProxyType({"PreToolUse": "pre_tool_use", "PostToolUse": "post_tool_use"})
_DEFAULT_TIMEOUT: Final = 600
"""Seconds that Codex gives to a hook without a timeout."""


def why_skipped(hook: Hook, file_names: Sequence[str], config: Mapping[str, Any]) -> str:
    """Return the reason why Codex would not run a hook, or "". `config`: the content of config.toml."""
    features = _table(config, "features")
    if features.get("hooks", features.get("codex_hooks")) is False:
        return ALL_OFF
    group, handler = (str(step) for step in hook.path if isinstance(step, int))
    states = _table(_table(config, "hooks"), "state")
    keys = [f"{name}:{_EVENTS.get(hook.event)}:{group}:{handler}" for name in file_names]
    state = next((_table(states, key) for key in keys if key in states), {})
    if state.get("enabled") is False:
        return SWITCHED_OFF
    trusted = state.get("trusted_hash")
    if not isinstance(trusted, str):
        return UNTRUSTED
    return "" if trusted == hook_hash(hook) else CHANGED


def hook_hash(hook: Hook) -> str:
    """Return the hash that Codex computes of a hook."""
    handler, timeout = hook.handler, hook.handler.get("timeout")
    identity: dict[str, Any] = {
        "type": "command",
        "command": handler.get("command"),
        "timeout": max(1, timeout) if isinstance(timeout, int) else _DEFAULT_TIMEOUT,
        "async": handler.get("async") is True,
    }
    if isinstance(message := handler.get("statusMessage"), str):
        identity["statusMessage"] = message
    group = {"event_name": _EVENTS.get(hook.event), "hooks": [identity]}
    if hook.matcher is not None:
        group["matcher"] = hook.matcher
    text = json.dumps(group, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return f"sha256:{hashlib.sha256(text.encode(errors='surrogatepass')).hexdigest()}"


def _table(values: Mapping[str, Any], key: str) -> Mapping[str, Any]:
    value = values.get(key)
    return value if isinstance(value, Mapping) else {}
