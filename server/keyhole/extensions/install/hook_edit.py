"""Add Keyhole's hook to the text of a client's file, or remove it. Hooks of others and the rest are kept."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from importlib.resources import files
from typing import Any, Final

from keyhole.extensions.install import edit
from keyhole.extensions.install.hook_clients import PREFER, REWRITE, REWRITE_EVENT, HookClient
from keyhole.extensions.install.hook_lines import HookLine, join_words, parse_line

_COMMAND_KEYS: Final = ("command", "bash", "powershell")
_PREFER: Final = re.compile(rf"{PREFER} ([\w-]+)")
_PLUGIN_SERVER: Final = re.compile(r'^const PREFERS = "([\w-]*)";$', re.MULTILINE)
_PLUGIN_COMMAND: Final = re.compile(r"^const COMMAND = (\[.*\]);$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Hook:
    """A hook of Keyhole in a file. `path` leads to its handler. `key` is the key of the command line there."""

    line: HookLine
    path: tuple[str | int, ...] = ()
    key: str = ""
    is_alone: bool = True
    """False if its group has other handlers."""
    handler: Any = None
    matcher: str | None = None

    @property
    def event(self) -> str:
        """The event that the hook is for; "" for a plugin."""
        return str(self.path[1]) if self.path else ""


def find_hooks(hooks: HookClient, text: str) -> list[Hook]:
    """Return Keyhole's hooks in the text, for any event. Raises KeyholeError if the text cannot be parsed."""
    if hooks.client.format == "script":
        return _find_plugin_command(text)
    events = _events(hooks, text).items()
    return [hook for event, items in events for hook in _find_in_list(items, (*hooks.client.key_path, event))]


def add_hook(
    hooks: HookClient, text: str, words: Sequence[str], platform: str, *, force: bool, rewrites: bool = False,
    prefers: str = "",
) -> str:  # fmt: skip
    """Return the text with a hook of Keyhole that runs this program; the same text if it has this hook.

    In an existing hook only the program is changed, so that what the user changed is kept; with `force` the hook is
    written anew. `rewrites`: add the hook that rewrites commands too. `prefers`: the name of the server whose call is
    named in place of the client's own web fetch, "" for no such hook. Raises KeyholeError if the text cannot be
    parsed or edited.
    """
    line = hooks.line(words, platform)
    found = find_hooks(hooks, text)
    if hooks.client.format == "script":
        if text.strip() and not found and not force:
            raise edit.refusal(hooks.client, "it is not a plugin of Keyhole; replace it with --force")
        kept = next((preferred_server(hook.line.options) for hook in found), "")
        return plugin_text(line, prefers or ("" if force else kept))
    if force:
        text, found = _drop(hooks, text, found), []
    text = text if text.strip() else hooks.start
    for hook in found:
        if hook.line.program != line.program:
            handler = {**hook.handler, hook.key: replace(hook.line, program=line.program).text}
            text = edit.put(hooks.client, text, hook.path, handler)
    missing = {hooks.event: hooks.item(line, platform)}
    if rewrites:
        missing |= {REWRITE_EVENT: hooks.rewrite_item(line, platform)}
    if prefers:
        missing |= {hooks.fetch_event: hooks.prefer_item(line, platform, prefers)}
    present = {hook.event for hook in found}
    for event, item in missing.items():
        if event not in present:
            path: list[str | int] = [*hooks.client.key_path, event, len(_events(hooks, text).get(event, []))]
            text = edit.put(hooks.client, text, path, item)
    return text


def remove_hooks(hooks: HookClient, text: str, backups: Sequence[str], platform: str) -> str | None:
    """Return the text as it was before the hooks were added, or without them; None if there should be no file."""
    found = find_hooks(hooks, text)
    if not found:
        return text
    if hooks.client.format == "script":
        return None
    options = [hook.line.options for hook in found]
    rewrites = any(REWRITE in each for each in options)
    words, prefers = found[0].line.words, next(filter(None, map(preferred_server, options)), "")

    def add(before: str) -> str:
        is_new = not find_hooks(hooks, before)
        again = partial(add_hook, force=False, rewrites=rewrites, prefers=prefers)
        return again(hooks, before, words, platform) if is_new else ""

    return edit.restore(text, _drop(hooks, text, found), backups, add)


def preferred_server(options: str) -> str:
    """Return the name of the server in the options of a hook that refuses a built-in fetch, "" in those of another."""
    found = _PREFER.search(options)
    return found[1] if found else ""


def moves_others(hooks: HookClient, text: str) -> bool:
    """Return True if removing Keyhole's hooks changes the place of another hook in its list."""
    events = _events(hooks, text) if hooks.client.format == "json" else {}
    for event, items in events.items():
        places = [hook.path[2] for hook in find_hooks(hooks, text) if hook.event == event]
        if places and places != list(range(len(items)))[-len(places) :]:
            return True
    return False


def _drop(hooks: HookClient, text: str, found: Sequence[Hook]) -> str:
    """Return the text without these hooks, and without groups that have no other handler."""
    for hook in reversed(found):
        text = edit.drop(hooks.client, text, hook.path[:3] if hook.is_alone else hook.path)
    return text


def format_hook(
    hooks: HookClient, words: Sequence[str], platform: str, *, rewrites: bool = False, prefers: str = ""
) -> str:
    """Return the text to add by hand."""
    return add_hook(hooks, "", words, platform, force=False, rewrites=rewrites, prefers=prefers).rstrip("\n")


def plugin_text(line: HookLine, prefers: str = "") -> str:
    """Return opencode's plugin, which starts this program without a shell."""
    template = files("keyhole.extensions.install").joinpath("opencode_plugin.js").read_text("utf-8")
    command = json.dumps([*line.words, "hook", line.client], ensure_ascii=False)
    text = _PLUGIN_COMMAND.sub(lambda _: f"const COMMAND = {command};", template, count=1)
    return _PLUGIN_SERVER.sub(lambda _: f'const PREFERS = "{prefers}";', text, count=1)


def _events(hooks: HookClient, text: str) -> dict[str, list[Any]]:
    """Return the lists with all hooks, also those of others, by event."""
    (key,) = hooks.client.key_path
    events = edit.parse(hooks.client, text).get(key)
    return (
        {name: items for name, items in events.items() if isinstance(items, list)} if isinstance(events, dict) else {}
    )


def _find_plugin_command(text: str) -> list[Hook]:
    found = _PLUGIN_COMMAND.search(text)
    try:
        *words, verb, client = [str(word) for word in json.loads(found[1])] if found else []
    except (ValueError, RecursionError):  # not JSON, or too few words
        return []
    server = _PLUGIN_SERVER.search(text)
    options = f" {PREFER} {server[1]}" if server and server[1] else ""
    line = parse_line(f"{join_words(words, 'posix')} {verb} {client}{options}")
    return [Hook(replace(line, words=tuple(words)))] if line else []


def _find_in_list(items: Sequence[Any], path: tuple[str | int, ...]) -> Iterator[Hook]:
    """Yield the hooks in a list of handlers, and of groups with a list of handlers."""
    for index, item in enumerate(items):
        inner = item.get("hooks") if isinstance(item, dict) else None
        if isinstance(inner, list):
            for number, handler in enumerate(inner):
                for hook in _find_in_handler(handler, (*path, index, "hooks", number)):
                    yield replace(hook, is_alone=len(inner) == 1, matcher=item.get("matcher"))
        else:
            yield from _find_in_handler(item, (*path, index))


def _find_in_handler(handler: Any, path: tuple[str | int, ...]) -> Iterator[Hook]:
    """Yield the hook of a handler, if it is Keyhole's."""
    for key in _COMMAND_KEYS if isinstance(handler, dict) else ():
        if line := parse_line(handler.get(key)):
            yield Hook(line, path, key, handler=handler)
            return
