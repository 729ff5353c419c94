"""The reference as Markdown, made from the code: tools, settings, errors and commands. Never prose, never examples."""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, Final

from keyhole.budget.budget import client_budget
from keyhole.budget.clients import CLIENT_LIMITS, ClientLimits, limits_of
from keyhole.cli.install.clients import CLIENTS, Client, Machine
from keyhole.config.config import Config
from keyhole.config.schema import SETTINGS, Setting
from keyhole.errors import RULES
from keyhole.render.answer import WARNINGS
from keyhole.serve.tools import tool_list
from tests.support.console import capture_parser

GROUPS: Final = {
    "max_chars": "Budget of a result",
    "timeout": "Time and size of a call",
    "allow_private": "What may be fetched, and how",
    "fetches": "Search and its engines",
    "rerank_url": "Second opinions",
    "ttl_days": "Store",
    "allowed_hosts": "Who may call over HTTP",
    "stateless": "A hosted server",
    "metrics_token": "Metrics and logs",
}
"""Each group begins with this setting in the table of the code, so that a new one falls into the group it stands in."""

ELSEWHERE: Final = {"home": "Store"}
"""Settings that stand apart from their group."""

CHOSEN: Final = (
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
"""The ten of the README: those that a first week needs. What the model may take, whom to ask, what may be reached, and
where it is kept; the others bound what has a bound already, or are an operator's."""


TOOL_OF: Final = {"keyhole fetch": "web_fetch", "keyhole search": "search", "keyhole read": "read_artifact"}
"""Commands that are a tool's call: what they say nothing of, the tool says."""


def tools() -> str:
    """Each tool with its description and arguments."""
    parts = []
    for tool in tool_list():
        rows = ["| argument | what |", "| --- | --- |"]
        for name, schema in tool.input_schema["properties"].items():
            needed = " (required)" if name in tool.input_schema.get("required", []) else ""
            rows.append(f"| `{name}`{needed} | {schema['description']} |")
        parts.append(f"## `{tool.name}`\n\n{tool.description}\n\n" + "\n".join(rows))
    return "\n\n".join(parts)


def tools_in_brief() -> str:
    """Each tool with the beginning of its description and its arguments' names."""
    rows = ["| tool | what | arguments |", "| --- | --- | --- |"]
    for tool in tool_list():
        first = (tool.description or "").split(". ")[0]
        names = ", ".join(f"`{name}`" for name in tool.input_schema["properties"])
        rows.append(f"| `{tool.name}` | {first}. | {names} |")
    return "\n".join(rows)


def settings() -> str:
    """Every setting with its default, in groups."""
    groups: dict[str, list[Setting]] = {title: [] for title in GROUPS.values()}
    title = next(iter(groups))
    for setting in SETTINGS:
        title = GROUPS.get(setting.field, title)
        groups[ELSEWHERE.get(setting.field, title)].append(setting)
    return "\n\n".join(f"## {title}\n\n{_setting_rows(rows)}" for title, rows in groups.items())


def chosen_settings() -> str:
    """The settings of the README."""
    table = {setting.field: setting for setting in SETTINGS}
    return _setting_rows(table[name] for name in CHOSEN)


def _setting_rows(rows: Iterable[Setting]) -> str:
    """A table of settings."""
    head = ["| variable | unit | default | what for |", "| --- | --- | --- | --- |"]
    default = Config()
    return "\n".join(
        head
        + [
            f"| `{row.variable}` | {row.unit} | {_default(getattr(default, row.field))} | {row.description} |"
            for row in rows
        ]
    )


def _default(value: object) -> str:
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
    """Every error code."""
    rows = ["| code | retry helps | next step |", "| --- | --- | --- |"]
    rows += [f"| `{code}` | {'yes' if rule.retry else 'no'} | {rule.next_step} |" for code, rule in RULES.items()]
    return "\n".join(rows)


def warnings() -> str:
    """Every warning, in the words in which a result says it."""
    return "\n".join(
        ["| warning | what a result says |", "| --- | --- |", *(f"| `{c}` | {w} |" for c, w in WARNINGS.items())]
    )


def clients() -> str:
    """Every client that is known, with what it lets through, what it gets unasked, and where that is from."""
    head = ["| client | lets through | unasked it gets | waits for a call | from |", "| --- | --- | ---: | --- | --- |"]
    return "\n".join(head + [_client(host) for host in CLIENT_LIMITS])


def _client(host: ClientLimits) -> str:
    since = ".".join(map(str, host.since))
    caps = {"bytes": host.max_bytes, "characters": host.max_chars, "tokens": host.max_tokens}
    lets = ", ".join(f"{most:,} {unit}" for unit, most in caps.items() if most)
    unasked = f"{client_budget(Config(), limits_of(host.name, since)).size:,} bytes"
    waits = f"{host.timeout:g} s" if host.timeout else ""
    name = f"`{host.name}`{'…' if host.is_prefix else ''}{f' from {since}' if since else ''}"
    return f"| {name} | {lets} | {unasked} | {waits} | {host.source} |"


def commands() -> str:
    """Every command of `keyhole` with its arguments."""
    return "\n\n".join(_command(name, help, parser) for name, help, parser in verbs(capture_parser()))


def _described(command: str) -> dict[str, str]:
    """What the tool that a command stands for says of its arguments."""
    known = {tool.name: tool.input_schema["properties"] for tool in tool_list()}
    return {name: str(schema["description"]) for name, schema in known.get(TOOL_OF.get(command, ""), {}).items()}


def verbs(
    parser: argparse.ArgumentParser, before: str = "keyhole"
) -> Iterator[tuple[str, str, argparse.ArgumentParser]]:
    """Every command below a parser that takes no further one: its words, its line of help, its parser."""
    for action in parser._actions:
        if not isinstance(action, argparse._SubParsersAction):
            continue
        helps = {choice.dest: choice.help or "" for choice in action._choices_actions}
        for name, below in action.choices.items():
            deeper = list(verbs(below, f"{before} {name}"))
            yield from deeper or [(f"{before} {name}", helps.get(name, ""), below)]


def _command(name: str, help: str, parser: argparse.ArgumentParser) -> str:
    actions = [action for action in parser._actions if action.help != argparse.SUPPRESS and action.dest != "help"]
    told = _described(name)
    rows = [
        "| argument | what |",
        "| --- | --- |",
        *(f"| {_shape(action)} | {_meaning(action, told)} |" for action in actions),
    ]
    said = help[:1].upper() + help[1:]
    return f"## `{name}`\n\n{said}.\n\n" + "\n".join(rows if actions else ["It takes no arguments."])


def _shape(action: argparse.Action) -> str:
    """How an argument is written."""
    value = "" if action.nargs == 0 else _value(action)
    names = ", ".join(f"`{option}`" for option in action.option_strings)
    return f"{names} {value}".strip()


def _value(action: argparse.Action) -> str:
    named: Any = action.metavar or action.dest
    shown = named if isinstance(named, str) else " ".join(named)
    return f"`{(shown if not action.option_strings else shown.upper()).replace('|', ' or ')}`"


def _meaning(action: argparse.Action, told: dict[str, str]) -> str:
    words = (action.help or told.get(action.dest, "")).replace("%(default)s", str(action.default)).replace("|", " or ")
    choices = ", ".join(f"`{choice}`" for choice in action.choices) if action.choices else ""
    return "; ".join(part for part in (words, choices and f"one of {choices}") if part)


def registrations() -> str:
    """Each client that `keyhole install` knows, with its files."""
    rows = [
        "| client | the user's file | a folder's file | takes an address | source |",
        "| --- | --- | --- | --- | --- |",
    ]
    return "\n".join([*rows, *(_registration(client) for client in CLIENTS.values())])


def _registration(client: Client) -> str:
    machine = Machine("linux", Path("~"), Path(), {})
    project = f"`{client.project}`" if client.project else ""
    cells = (
        f"`{client.name}`", f"`{client.user_paths(machine)[0].as_posix()}`", project, "yes" if client.shape.url else "no",
        f"[{client.title}]({client.source})",
    )  # fmt: skip
    return f"| {' | '.join(cells)} |"
