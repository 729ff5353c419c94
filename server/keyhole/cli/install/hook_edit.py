"""Add Keyhole's hook to the text of a client's file, or remove it. Hooks of others and the rest are kept."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from importlib.resources import files
from typing import Any, Final

from keyhole.cli.install import edit
from keyhole.cli.install.hook_clients import HookClient
from keyhole.cli.install.hook_lines import HookLine, join_words, parse_line

_COMMAND_KEYS: Final = ("command", "bash", "powershell")
_PLUGIN_COMMAND: Final = re.compile(r"^const COMMAND = (\[.*\]);$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Hook:
    """A hook of Keyhole in a file. `path`: leads to its handler; `key`: of the command line in the handler."""

    line: HookLine
    path: tuple[str | int, ...] = ()
    key: str = ""
    is_alone: bool = True
    """False if its group has other handlers."""
    handler: Any = None
    matcher: str | None = None


def find_hooks(hooks: HookClient, text: str) -> list[Hook]:
    """Return Keyhole's hooks in the text. Raises KeyholeError if the text cannot be parsed."""
    if hooks.client.format == "script":
        return _find_plugin_command(text)
    return list(_find_in_list(_list_of_hooks(hooks, text), hooks.client.key_path))


def add_hook(hooks: HookClient, text: str, words: Sequence[str], platform: str, *, force: bool) -> str:
    """Return the text with one hook of Keyhole that runs this program; the same text if it has this hook.

    In an existing hook only the program is changed, so that what the user changed is kept; with `force` the whole
    hook. Raises KeyholeError if the text cannot be parsed or edited.
    """
    line = hooks.line(words, platform)
    found = find_hooks(hooks, text)
    if hooks.client.format == "script":
        if text.strip() and not found and not force:
            raise edit.refusal(hooks.client, "it is not a plugin of Keyhole; replace it with --force")
        return text if found and found[0].line.words == line.words and not force else plugin_text(line)
    if found and found[0].line.program == line.program and not force:
        return text
    client, text = hooks.client, text if text.strip() else hooks.start
    if found and not (force and found[0].is_alone):
        hook = found[0]
        return edit.put(
            client, text, hook.path, {**hook.handler, hook.key: replace(hook.line, program=line.program).text}
        )
    depth = len(client.key_path)
    index = found[0].path[depth] if found else len(_list_of_hooks(hooks, text))
    return edit.put(client, text, (*client.key_path, index), hooks.build(line.text, platform == "win32"))


def remove_hooks(hooks: HookClient, text: str, backups: Sequence[str], platform: str) -> str | None:
    """Return the text as it was before the hook was added, or without the hook; None if there should be no file."""
    found = find_hooks(hooks, text)
    if not found:
        return text
    if hooks.client.format == "script":
        return None
    remaining, depth = text, len(hooks.client.key_path)
    for hook in reversed(found):
        remaining = edit.drop(hooks.client, remaining, hook.path[: depth + 1] if hook.is_alone else hook.path)

    def add(before: str) -> str:
        is_new = not find_hooks(hooks, before)
        return add_hook(hooks, before, found[0].line.words, platform, force=False) if is_new else ""

    return edit.restore(text, remaining, backups, add)


def moves_others(hooks: HookClient, text: str) -> bool:
    """Return True if removing Keyhole's hooks changes the place of another hook in the list."""
    places = [hook.path[len(hooks.client.key_path)] for hook in find_hooks(hooks, text) if hook.path]
    following = range(len(_list_of_hooks(hooks, text)))[-len(places) :]
    return bool(places) and places != list(following)


def format_hook(hooks: HookClient, words: Sequence[str], platform: str) -> str:
    """Return the text to add by hand."""
    return add_hook(hooks, "", words, platform, force=False).rstrip("\n")


def plugin_text(line: HookLine) -> str:
    """Return opencode's plugin, which starts this program without a shell."""
    template = files("keyhole.cli.install").joinpath("opencode_plugin.js").read_text("utf-8")
    command = json.dumps([*line.words, "hook", line.client], ensure_ascii=False)
    return _PLUGIN_COMMAND.sub(lambda _: f"const COMMAND = {command};", template, count=1)


def _list_of_hooks(hooks: HookClient, text: str) -> list[Any]:
    """Return the list with all hooks, also those of others; [] if the file has no such list."""
    items: Any = edit.parse(hooks.client, text.removeprefix(edit.BYTE_ORDER_MARK))
    for key in hooks.client.key_path:
        items = items.get(key) if isinstance(items, dict) else None
    return items if isinstance(items, list) else []


def _find_plugin_command(text: str) -> list[Hook]:
    found = _PLUGIN_COMMAND.search(text)
    try:
        *words, verb, client = [str(word) for word in json.loads(found[1])] if found else []
    except (ValueError, RecursionError):  # not JSON, or too few words
        return []
    line = parse_line(f"{join_words(words, 'posix')} {verb} {client}")
    return [Hook(replace(line, words=tuple(words)))] if line else []


def _find_in_list(items: Sequence[Any], path: Sequence[str | int]) -> Iterator[Hook]:
    """Yield the hooks in a list of handlers, and of groups with a list of handlers."""
    for index, item in enumerate(items):
        if not isinstance(item, dict):
            continue
        if isinstance(inner := item.get("hooks"), list):
            for hook in _find_in_list(inner, (*path, index, "hooks")):
                yield replace(hook, is_alone=len(inner) == 1, matcher=item.get("matcher"))
        for key in _COMMAND_KEYS:
            if line := parse_line(item.get(key)):
                yield Hook(line, (*path, index), key, handler=item, matcher=item.get("matcher"))
