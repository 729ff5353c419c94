"""Generate the reference as Markdown tables: tools, settings, errors, warnings, clients and commands."""

from __future__ import annotations

import argparse
import json
import re
import tomllib
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, Final

from keyhole.config.config import SETTINGS, Config, Setting
from keyhole.errors import RULES
from keyhole.extensions.install.clients import CLIENTS, Machine, McpClient
from keyhole.extensions.install.hooks import HOOK_CLIENTS
from keyhole.render.answer import WARNINGS
from keyhole.render.budget import CLIENT_LIMITS, UNKNOWN_CLIENT, ClientLimits, client_budget, limits_of
from keyhole.retrieval.dispatch import ARGUMENTS
from keyhole.serve.tools import tool_list
from tests.support.console import capture_parser

PEERS: Final = Path(__file__).resolve().parents[2] / "benchmarks" / "peers.toml"

GROUPS: Final = {
    "max_chars": "Budget of a result",
    "timeout": "Time and size of a call",
    "allow_private": "Network access",
    "engines": "Search and its engines",
    "model": "Ranking by meaning",
    "keep_outputs": "Outputs and calls",
    "ttl_days": "Store",
    "allowed_hosts": "Authentication over HTTP",
    "stateless": "HTTP server",
    "metrics_token": "Metrics, pages and logs",
}
"""The title of each group of settings, by the first setting of the group in SETTINGS."""

GROUP_OF: Final = {"home": "Store"}
"""The group of settings that are not listed with their group."""

README_SETTINGS: Final = (
    "max_chars",
    "context_tokens",
    "searxng_url",
    "brave_key",
    "engines",
    "freshness",
    "allow_private",
    "url_policy",
    "proxy",
    "home",
)
"""The ten settings of the README, those that a new user needs: budgets, engines, network access and the store."""


TOOL_OF: Final = {"keyhole fetch": "web_fetch", "keyhole search": "search", "keyhole read": "read_artifact"}
"""The tool that a command calls. An argument without a help text has the description of the tool's argument."""


def tools() -> str:
    """Return each tool with its description and arguments."""
    parts = []
    for tool in tool_list():
        rows = ["| argument | description |", "| --- | --- |"]
        for name, field in ARGUMENTS[tool.name].model_fields.items():
            mark = " (required)" if field.is_required() else ""
            schema = tool.input_schema["properties"].get(name)
            rows.append(
                f"| `{name}`{mark if schema else ' (not listed)'} | {field.description}{_values(schema or {})} |"
            )
        parts.append(f"## `{tool.name}`\n\n{tool.description}\n\n" + "\n".join(rows))
    return "\n\n".join(parts)


def _values(schema: dict[str, Any]) -> str:
    """Return the values and the default of an argument as a sentence, "" without any."""
    values = " or ".join(f"`{value}`" for value in schema.get("enum", ()))
    default = f"default `{json.dumps(schema['default']).strip(chr(34))}`" if "default" in schema else ""
    parts = ", ".join(part for part in (values, default) if part)
    return f" {parts[0].upper()}{parts[1:]}." if parts else ""


def tools_in_brief() -> str:
    """Return a table of the tools: the first sentence of each description and the arguments' names."""
    rows = ["| tool | description | arguments |", "| --- | --- | --- |"]
    for tool in tool_list():
        first = (tool.description or "").split(". ")[0]
        names = ", ".join(f"`{name}`" for name in tool.input_schema["properties"])
        rows.append(f"| `{tool.name}` | {first}. | {names} |")
    return "\n".join(rows)


def settings() -> str:
    """Return every setting with its default, in groups."""
    groups: dict[str, list[Setting]] = {title: [] for title in GROUPS.values()}
    title = next(iter(groups))
    for setting in SETTINGS:
        title = GROUPS.get(setting.field, title)
        groups[GROUP_OF.get(setting.field, title)].append(setting)
    return "\n\n".join(f"## {title}\n\n{_settings_table(rows)}" for title, rows in groups.items())


def readme_settings() -> str:
    """Return the settings of the README."""
    table = {setting.field: setting for setting in SETTINGS}
    return _settings_table(table[name] for name in README_SETTINGS)


def _settings_table(rows: Iterable[Setting]) -> str:
    """Return a table of settings."""
    head = ["| variable | unit | default | description |", "| --- | --- | --- | --- |"]
    default = Config()
    return "\n".join(
        head
        + [
            f"| `{row.variable}` | {row.unit} | {_format_default(getattr(default, row.field))} "
            f"| {_linked(row.description)} |"
            for row in rows
        ]
    )


def _format_default(value: object) -> str:
    if isinstance(value, tuple):
        return f"`{','.join(value)}`" if value else ""
    if isinstance(value, frozenset):
        return f"`{','.join(map(str, sorted(value)))}`" if value else ""
    if isinstance(value, bool):
        return "`on`" if value else "`off`"
    if isinstance(value, int | float):
        return f"{value:,}" if value >= 10_000 else f"{value:g}"
    return f"`{value}`" if value else ""


def errors() -> str:
    """Return a table of the error codes."""
    rows = ["| code | retry helps | next step |", "| --- | --- | --- |"]
    rows += [f"| `{code}` | {'yes' if rule.retry else 'no'} | {rule.next_step} |" for code, rule in RULES.items()]
    return "\n".join(rows)


def warnings() -> str:
    """Return a table of the warnings and their texts."""
    return "\n".join(["| warning | message |", "| --- | --- |", *(f"| `{c}` | {w} |" for c, w in WARNINGS.items())])


def _linked(text: str) -> str:
    """Return a text of a page below docs/reference, with the pages that it names as links."""
    return re.sub(r"docs/([\w/-]*?)([\w-]+)\.md", lambda found: f"[{found[2]}](../{found[1]}{found[2]}.md)", text)


def clients() -> str:
    """Return a table of the known clients: output limit, default budget, timeout, and the source of these figures."""
    head = ["| client | result limit | default size | call timeout | source |", "| --- | --- | ---: | --- | --- |"]
    return "\n".join(head + [_client_row(client) for client in CLIENT_LIMITS])


def _client_row(client: ClientLimits) -> str:
    since = ".".join(map(str, client.since))
    caps = {"bytes": client.max_bytes, "characters": client.max_chars, "tokens": client.max_tokens}
    limit = ", ".join(f"{maximum:,} {unit}" for unit, maximum in caps.items() if maximum)
    default = _default_of(client).removesuffix(_since(client))
    timeout = f"{client.timeout:g} s" if client.timeout else ""
    name = f"`{client.name}`{'…' if client.is_prefix else ''}{f' from {since}' if since else ''}"
    return f"| {name} | {limit} | {default} | {timeout} | {_linked(client.source)} |"


def commands() -> str:
    """Return every command of `keyhole` with its arguments."""
    return "\n\n".join(_command_section(name, help, parser) for name, help, parser in iter_commands(capture_parser()))


def tool_arguments(command: str) -> dict[str, str]:
    """Return the descriptions of the arguments of the tool that a command calls."""
    model = ARGUMENTS.get(TOOL_OF.get(command, ""))
    return {name: str(field.description) for name, field in model.model_fields.items()} if model else {}


def iter_commands(
    parser: argparse.ArgumentParser, before: str = "keyhole"
) -> Iterator[tuple[str, str, argparse.ArgumentParser]]:
    """Yield each command that has no subcommand: its words, its help text and its parser."""
    for action in parser._actions:
        if not isinstance(action, argparse._SubParsersAction):
            continue
        helps = {choice.dest: choice.help or "" for choice in action._choices_actions}
        for name, below in action.choices.items():
            deeper = list(iter_commands(below, f"{before} {name}"))
            yield from deeper or [(f"{before} {name}", helps.get(name, ""), below)]


def _command_section(name: str, help: str, parser: argparse.ArgumentParser) -> str:
    actions = [action for action in parser._actions if action.help != argparse.SUPPRESS and action.dest != "help"]
    descriptions = tool_arguments(name)
    rows = [
        "| argument | description |",
        "| --- | --- |",
        *(f"| {_argument_syntax(action)} | {_argument_help(action, descriptions)} |" for action in actions),
    ]
    summary = help[:1].upper() + help[1:]
    return f"## `{name}`\n\n{summary}.\n\n" + "\n".join(rows if actions else ["It takes no arguments."])


def _argument_syntax(action: argparse.Action) -> str:
    """Return an argument's options and value as code."""
    value = "" if action.nargs == 0 else _value(action)
    names = ", ".join(f"`{option}`" for option in action.option_strings)
    return f"{names} {value}".strip()


def _value(action: argparse.Action) -> str:
    metavar: Any = action.metavar or action.dest
    name = metavar if isinstance(metavar, str) else " ".join(metavar)
    return f"`{(name if not action.option_strings else name.upper()).replace('|', ' or ')}`"


def _argument_help(action: argparse.Action, descriptions: dict[str, str]) -> str:
    help = action.help or descriptions.get(action.dest, "")
    help = help.replace("%(default)s", str(action.default)).replace("|", " or ")
    choices = ", ".join(f"`{choice}`" for choice in action.choices) if action.choices else ""
    return "; ".join(part for part in (help, choices and f"one of {choices}") if part)


def registrations() -> str:
    """Return a table of the clients that `keyhole install` knows, with their configuration files."""
    rows = [
        "| client | user's file | project's file | accepts a URL | documentation |",
        "| --- | --- | --- | --- | --- |",
    ]
    return "\n".join([*rows, *(_registration_row(client) for client in CLIENTS.values())])


def peers() -> str:
    """Return a table of the programs of others that have figures: the version, and when each benchmark measured it."""
    rows = ["| program | measured |", "| --- | --- |"]
    for name, entry in tomllib.loads(PEERS.read_text(encoding="utf-8")).items():
        days = ", ".join(f"{day} by `{module}`" for module, day in entry["measured"].items())
        rows.append(f"| {name} {entry['version']} | {days} |")
    return "\n".join(rows)


def hook_files() -> str:
    """Return a table of the clients that run hooks, with their files."""
    rows = ["| client | user's file | project's file | documentation |", "| --- | --- | --- | --- |"]
    machine = Machine("linux", Path("~"), Path(), {})
    for client in (hooks.client for hooks in HOOK_CLIENTS.values()):
        path = client.user_paths(machine)[0].as_posix()
        rows.append(f"| `{client.name}` | `{path}` | `{client.project}` | [{client.title}]({client.source}) |")
    return "\n".join(rows)


LIMIT_NAMES: Final = {
    "claude-desktop": "claude-ai",
    "claude-code": "claude-code",
    "codex": "codex-mcp-client",
    "vscode": "visual studio code",
    "gemini": "gemini-cli-mcp-client",
    "copilot": "copilot-cli",
    "opencode": "opencode",
}
"""The names by which clients of `keyhole install` introduce themselves, of those whose limits are known."""


def client_facts(name: str) -> str:
    """Return a table of what Keyhole knows of a client: its files, its limits and its documentation."""
    client, machine = CLIENTS[name], Machine("linux", Path("~"), Path(), {})
    hooks = HOOK_CLIENTS.get(name)
    limits = [each for each in CLIENT_LIMITS if each.name == LIMIT_NAMES.get(name)]
    documentation = [f"[server]({client.source})", *([f"[hooks]({hooks.client.source})"] if hooks else [])]
    facts = {
        "server": _files(client, machine),
        "a server over HTTP": "yes" if client.shape.url else "no",
        "hook": _files(hooks.client, machine) if hooks else "none",
        "result limit": "<br>".join(map(_limit_of, limits)) or "not known",
        "default size": "<br>".join(map(_default_of, limits))
        or f"{Config().max_chars:,} characters, at most {UNKNOWN_CLIENT.default_bytes:,} bytes",
        "call timeout": "<br>".join(dict.fromkeys(f"{each.timeout:g} s" for each in limits if each.timeout))
        or "not known",
        "after a change": client.next_step,
        "its documentation": ", ".join(documentation),
    }
    return "\n".join(
        [f"| | {client.title} |", "| --- | --- |", *(f"| {fact} | {value} |" for fact, value in facts.items())]
    )


def _files(client: McpClient, machine: Machine) -> str:
    user = f"`{client.user_paths(machine)[0].as_posix()}`"
    return f"{user}; of a project `{client.project}`" if client.project else user


def _limit_of(client: ClientLimits) -> str:
    """Return the limits of a row, with the version from which they apply."""
    caps = {"bytes": client.max_bytes, "characters": client.max_chars, "tokens": client.max_tokens}
    limit = ", ".join(f"{maximum:,} {unit}" for unit, maximum in caps.items() if maximum)
    return f"{limit}{_since(client)}"


def _default_of(client: ClientLimits) -> str:
    budget = client_budget(Config(), limits_of(client.name, ".".join(map(str, client.since))))
    return (
        f"{budget.size:,} characters" + (f", at most {budget.bytes:,} bytes" if budget.bytes else "") + _since(client)
    )


def _timeouts_of(limits: Sequence[ClientLimits]) -> str:
    timeouts = {f"{each.timeout:g} s" if each.timeout else "not known" for each in limits}
    if len(timeouts) == 1:
        return timeouts.pop()
    return "<br>".join(f"{each.timeout:g} s{_since(each)}" for each in limits if each.timeout) or "not known"


def _since(client: ClientLimits) -> str:
    """Return the versions to which a row applies, "" for all."""
    versions = [each.since for each in CLIENT_LIMITS if each.name == client.name]
    if len(versions) == 1:
        return ""
    return f" from {'.'.join(map(str, client.since))}" if client.since else " in older versions"


def _registration_row(client: McpClient) -> str:
    machine = Machine("linux", Path("~"), Path(), {})
    project = f"`{client.project}`" if client.project else ""
    path = f"`{client.user_paths(machine)[0].as_posix()}`"
    accepts_url = "yes" if client.shape.url else "no"
    page = f"[`{client.name}`](clients/{client.name.removesuffix('-insiders')}.md)"
    cells = (page, path, project, accepts_url, f"[{client.title}]({client.source})")
    return f"| {' | '.join(cells)} |"
