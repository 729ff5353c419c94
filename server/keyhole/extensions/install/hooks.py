"""The clients that can run Keyhole as a hook after each tool call, and the hooks in the texts of their files.

Checked in November 2026 against Claude Code 2.1.197, Codex 0.169.0, Copilot CLI 1.0.102 and opencode 1.18.33, and their
documentation. This module opens no file of a client.
"""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from importlib.resources import files
from pathlib import Path, PureWindowsPath
from types import MappingProxyType
from typing import Any, Final, Literal

from keyhole.extensions.install import edit
from keyhole.extensions.install.clients import CLIENTS, NEW_SESSION, PROGRAM, Format, Machine, McpClient
from keyhole.outputs.hooks.answer import CLIENTS as HOOK_NAMES

# The clients: their files, and the shape of a hook.

TIMEOUT: Final = 10
"""Seconds after which a client stops the hook and uses the output as it is: enough for outputs of many megabytes."""
CODEX_TRUST: Final = (
    "Codex skips the hook, without a message, until you trust it: start codex and trust it with /hooks. "
    "A change of the command or of its place in the list needs your trust again."
)
CODEX_REWRITES: Final = (
    f"{CODEX_TRUST} From then on, Codex runs every command without asking you, because rewriting a command approves it."
)
REWRITE_EVENT: Final = "PreToolUse"
REWRITE: Final = "--rewrite-commands"
"""The option of Codex's hook that runs each command through `keyhole shell`."""
PREFER: Final = "--prefer"
"""The option of the hook that refuses the client's own web fetch."""
_CLAUDE_FETCH: Final = "^(WebFetch|WebSearch)$"
CODEX_OPTIONS: Final = " || exit 0"
"""Codex replaces a tool's output by the error message of a hook that exits with 2, the usual status of a wrong command
line. This text prevents that, in the shells of all platforms."""
_KEY_PATH: Final = ("hooks",)
_CLAUDE_TOOLS: Final = "^(Bash|PowerShell|Read|Grep|Glob|TaskOutput|mcp__(?!keyhole).*)$"
_CODEX_SHELL: Final = "Bash"
_CODEX_TOOLS: Final = f"^({_CODEX_SHELL}|mcp__.*)$"
"""Patterns of the tools whose output is bounded. Codex's patterns cannot exclude Keyhole's own tools; the hook does."""


@dataclass(frozen=True, slots=True)
class HookClient:
    """A client that runs hooks. `client.key_path` leads to the lists of hooks, by event, in the file of `client`."""

    client: McpClient
    argument: str
    """The client's name in `keyhole hook NAME`."""
    event: str
    """The event after a tool call; "" for a plugin."""
    windows_shell: Shell
    """The shell that runs hooks on Windows."""
    tools: str = ""
    """Pattern of the tools whose output is bounded; "" for all, in a file without patterns."""
    start: str = ""
    """The content that a new file begins with."""
    options: str = ""
    """The text after the command, for the shell."""
    fetch_event: str = ""
    """The event before a tool call; "" for a plugin, and if no hook can refuse the client's own web fetch."""
    fetch_tools: str = ""
    """Pattern of the client's own tools for the web; "" in a file without patterns."""

    @property
    def can_prefer(self) -> bool:
        """Return whether a hook can refuse the client's own web fetch."""
        return bool(self.fetch_event) or self.client.format == "script"

    def line(self, words: Sequence[str], platform: str) -> HookLine:
        """Return the command line for a program with its arguments. `platform`: as in `sys.platform`."""
        shell: Shell = self.windows_shell if platform == "win32" else "posix"
        return HookLine(join_words(words, shell), tuple(words), self.argument, self.options)

    def item(self, line: HookLine, platform: str) -> dict[str, Any]:
        """Return the item for the list of hooks: a group with one handler, or a handler."""
        if self.tools:
            handler = {"type": "command", "command": line.text, "timeout": TIMEOUT}
            return {"matcher": self.tools, "hooks": [handler]}
        shell = "powershell" if platform == "win32" else "bash"
        return {"type": "command", shell: line.text, "timeoutSec": TIMEOUT}

    def prefer_item(self, line: HookLine, platform: str, server: str) -> dict[str, Any]:
        """Return the item of the hook that refuses a built-in fetch and names the call of `server` instead."""
        return replace(self, tools=self.fetch_tools).item(replace(line, options=f" {PREFER} {server}"), platform)

    def rewrite_item(self, line: HookLine, platform: str) -> dict[str, Any]:
        """Return the item of Codex's hook that runs each command through `keyhole shell`."""
        rewriting = replace(line, options=f" {REWRITE}{line.options}")
        return replace(self, tools=f"^{_CODEX_SHELL}$").item(rewriting, platform)


def _claude(machine: Machine) -> tuple[Path, ...]:
    return (machine.path_from("CLAUDE_CONFIG_DIR", machine.home / ".claude") / "settings.json",)


def _codex(machine: Machine) -> tuple[Path, ...]:
    return (machine.path_from("CODEX_HOME", machine.home / ".codex") / "hooks.json",)


def _copilot(machine: Machine) -> tuple[Path, ...]:
    return (machine.path_from("COPILOT_HOME", machine.home / ".copilot") / "hooks" / "keyhole.json",)


def _opencode(machine: Machine) -> tuple[Path, ...]:
    folder = machine.path_from("OPENCODE_CONFIG_DIR", machine.config_folder() / "opencode")
    return (folder / "plugin" / "keyhole.js",)


def _hook_file(
    name: str,
    paths: Callable[[Machine], tuple[Path, ...]],
    project: str,
    source: str,
    format: Format = "json",
    next_step: str = NEW_SESSION,
) -> McpClient:
    return replace(
        CLIENTS[name], user_paths=paths, key_path=_KEY_PATH, project=project, source=source, format=format,
        next_step=next_step,
    )  # fmt: skip


_ALL: Final = (
    HookClient(
        _hook_file(
            "claude-code", _claude, ".claude/settings.local.json",
            "https://code.claude.com/docs/en/hooks",
        ),
        "claude", "PostToolUse", "git bash", _CLAUDE_TOOLS, fetch_event="PreToolUse", fetch_tools=_CLAUDE_FETCH,
    ),
    HookClient(
        _hook_file(
            "codex", _codex, ".codex/hooks.json", "https://developers.openai.com/codex/hooks",
            next_step=CODEX_TRUST,
        ),
        "codex", "PostToolUse", "cmd", _CODEX_TOOLS, options=CODEX_OPTIONS,
    ),
    HookClient(
        _hook_file(
            "copilot", _copilot, ".github/hooks/keyhole.json",
            "https://docs.github.com/en/copilot/reference/hooks-reference",
        ),
        "copilot", "postToolUse", "powershell", start='{\n  "version": 1\n}\n', fetch_event="preToolUse",
    ),
    HookClient(
        _hook_file(
            "opencode", _opencode, ".opencode/plugin/keyhole.js", "https://opencode.ai/docs/plugins", "script",
            next_step=f"{NEW_SESSION} At its first start with a plugin, opencode installs a package from npm.",
        ),
        "opencode", "", "posix",
    ),
)  # fmt: skip
HOOK_CLIENTS: Final[Mapping[str, HookClient]] = MappingProxyType({each.client.name: each for each in _ALL})


# The command lines that clients run as hooks, such as `/opt/keyhole/bin/keyhole hook claude`. Clients run them with a
# shell: sh or the shell of the user on POSIX, and on Windows one that differs by client.

Shell = Literal["posix", "git bash", "cmd", "powershell"]
MAX_LINE: Final = 8_192
"""Characters of a command line that is read; paths have at most half as many."""
_COMMAND: Final = re.compile(rf"\shook\s+({'|'.join(HOOK_NAMES)})(?!\S)")
_VARIABLES: Final = re.compile(r"""\A(?:[A-Za-z_]\w*=(?:[^\s'"\\]|'[^']*'|"[^"]*")*\s+)*""")
"""Variables before a program, as in `KEYHOLE_HOME=/data keyhole hook claude`."""
_INVALID: Final = re.compile(r"[\0\ud800-\udfff]")
"""Characters that JSON can name and that no command line can have."""


@dataclass(frozen=True, slots=True)
class HookLine:
    """A command line that runs Keyhole as a hook.

    `program`: the quoted program; `words`: the same, unquoted; `variables`: assignments that a user wrote before it.
    """

    program: str
    words: tuple[str, ...]
    client: str
    options: str = ""
    variables: str = ""

    @property
    def text(self) -> str:
        """The whole command line."""
        return f"{self.variables}{self.program} hook {self.client}{self.options}"


def join_words(words: Sequence[str], shell: Shell) -> str:
    """Return the program and its arguments as a shell reads them. No path has a double quote on Windows."""
    if shell == "cmd":
        return " ".join(f'"{word}"' if re.search(r"[^\w:\\/.@=+-]", word) else word for word in words)
    if shell == "powershell":
        return "& " + " ".join("'" + word.replace("'", "''") + "'" for word in words)
    # Slashes work in Git Bash, and in PowerShell, which Claude Code uses where Git Bash is missing.
    return shlex.join(word.replace("\\", "/") if shell == "git bash" else word for word in words)


def parse_line(line: object) -> HookLine | None:
    """Return the parts of a command line; None if it does not run Keyhole as a hook."""
    if not isinstance(line, str) or len(line) > MAX_LINE or _INVALID.search(line):
        return None
    found = _COMMAND.search(line)
    if found is None:
        return None
    command = line[: found.start()].strip()
    program = _VARIABLES.sub("", command, count=1)
    try:
        words = tuple(shlex.split(program.removeprefix("&").replace("\\", "/")))
    except ValueError:  # a quotation mark without its pair
        return None
    is_ours = bool(words) and _name(words[-1]) == PROGRAM
    variables = command.removesuffix(program)
    return HookLine(program, words, found[1], line[found.end() :].rstrip(), variables) if is_ours else None


def _name(word: str) -> str:
    return PureWindowsPath(word.partition("@")[0]).stem


# The hook in the text of a client's file: it is added or removed. Hooks of others and the rest are kept.

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
    """Return the server that a hook names when it refuses the built-in fetch, "" for other hooks."""
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
    """Return all hooks by event, including those of other programs."""
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
