"""Make the record of one bounded output: what printed it, the text that the model got, and the ranges that it shows."""

from __future__ import annotations

import hashlib
import json
import re
import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, Final, NamedTuple, cast

from keyhole.store.calls.base import OK, CallOrigin, CallRecord, CallSummary, ReadText, Span
from keyhole.text.output_facts import output_notes, output_title, output_url
from keyhole.text.secrets.mask import mask_secrets

# Name the program of a command line, as a person would: `git diff` for `cd repo && git diff --stat | head`.

MAX_NAME: Final = 40
"""Characters of a name."""
UNKNOWN: Final = "output"
"""The name if there is no command line."""
_SETUP: Final = frozenset(
    {"cd", "pushd", "popd", "export", "unset", "set", "source", ".", ":", "true", "echo", "ulimit"}
)
"""Commands that prepare the one that matters."""
_WRAPPERS: Final = frozenset({
    "sudo", "doas", "env", "time", "nice", "ionice", "nohup", "exec", "command", "stdbuf", "timeout", "npx", "bunx",
    "uvx", "xvfb-run",
})  # fmt: skip
"""Programs that run the command after them."""
_RUNNERS: Final = {"uv": "run", "poetry": "run", "pipenv": "run", "bundle": "exec"}
"""Programs that run the command after one word."""
_WITH_SUBCOMMANDS: Final = frozenset({
    "git", "npm", "pnpm", "yarn", "bun", "cargo", "go", "docker", "podman", "kubectl", "helm", "pip", "uv", "poetry",
    "gh", "terraform", "dotnet", "mvn", "gradle", "gradlew", "apt", "apt-get", "brew", "systemctl", "conda", "deno",
    "rustup", "aws", "gcloud", "az", "keyhole",
})  # fmt: skip
"""Programs whose next word says what they do."""
_VALUED: Final = frozenset({"-C", "-c", "-n", "--namespace", "--context", "--prefix"})
"""Options of these programs that a value follows."""
_SUBCOMMAND: Final = re.compile(r"[a-z][a-z0-9:-]{0,20}")
_ASSIGNMENT: Final = re.compile(r"\w+=")
_OPERATOR: Final = re.compile(r"[();<>|&\n]+")


def program_name(command: str) -> str:
    """Return the name of the program that a command line is about, with its subcommand, without its folder."""
    commands = [words for words in _commands(command) if words]
    main = next((words for words in commands if _base(words[0]) not in _SETUP), commands[0] if commands else [])
    if not main:
        return UNKNOWN
    name = _base(main[0])
    options = {number for number, word in enumerate(main) if word in _VALUED}
    rest = [word for number, word in enumerate(main[1:], 1) if not word.startswith("-") and number - 1 not in options]
    follows = rest[0] if rest else ""
    if name in _WITH_SUBCOMMANDS and _SUBCOMMAND.fullmatch(follows):
        name = f"{name} {follows}"
    return name[:MAX_NAME] or UNKNOWN


def _commands(line: str) -> Iterator[Sequence[str]]:
    """Yield the words of each command of a line, from its program on."""
    words: list[str] = []
    for token in [*_tokens(line), ";"]:
        if _OPERATOR.fullmatch(token):
            yield _from_program(words)
            words = []
        else:
            words.append(token)


def _tokens(line: str) -> list[str]:
    lexer = shlex.shlex(line, posix=True, punctuation_chars="();<>|&\n")
    lexer.whitespace, lexer.whitespace_split = " \t\r", True
    lexer.commenters, lexer.escape = "", ""  # Windows has backslashes in paths
    try:
        return list(lexer)
    except ValueError:  # a quote without its end, as in a shortened command line
        return line.split()


def _from_program(words: Sequence[str]) -> Sequence[str]:
    """Return the words without assignments, wrappers and their options before the program."""
    rest = list(words)
    while len(rest) > 1:
        name = _base(rest[0])
        if _ASSIGNMENT.match(rest[0]):
            rest = rest[1:]
        elif name in _WRAPPERS:
            rest = rest[1:]
            while len(rest) > 1 and (rest[0].startswith("-") or rest[0].rstrip("smhd").replace(".", "").isdecimal()):
                rest = rest[1:]
        elif len(rest) > 2 and _RUNNERS.get(name) == rest[1]:
            rest = rest[2:]
        else:
            break
    return rest


def _base(word: str) -> str:
    return word.replace("\\", "/").rpartition("/")[2]


# Make the record of one bounded output: what printed it, the text that the model got, and the ranges that it shows.

KIND: Final = "kind"
"""The note of a call with the kind of its output."""
_ORIGINS: Final = ("hook", "pipe", "run", "proxy")
_SAFE_SESSION: Final = re.compile(r"[A-Za-z0-9_.-]{1,80}")


class KeptOutput(NamedTuple):
    """One stored output of a call."""

    id: str
    kind: str
    total: int
    """Characters of the whole output."""
    omitted: Sequence[Span]
    """The ranges that the result leaves out."""


@dataclass(frozen=True, slots=True)
class BoundCall:
    """One call whose output was bounded."""

    id: str
    origin: CallOrigin
    session: str
    """The client's session, "" if it is not known."""
    client: str
    command: str
    """The command line, or the tool with its arguments."""
    name: str
    """The name of the file that was read, "" for a command."""
    budget: int
    started_at: float
    seconds: float
    """How long bounding took, and the command if Keyhole ran it."""
    result: str
    outputs: Sequence[KeptOutput]
    query: str = ""
    exit_status: int | None = None
    folder: str = ""
    tool: str = ""
    """The name of the tool whose result it is, "" for the program of the command."""
    arguments: Mapping[str, Any] = field(default_factory=lambda: MappingProxyType({}))
    """The arguments of the tool."""


def read_call(facts: Mapping[str, Any]) -> BoundCall:
    """Return the call of a JSON object with its fields. Raises ValueError, LookupError or TypeError for another one."""
    outputs = [
        KeptOutput(str(id), str(kind), int(total), [(int(start), int(end)) for start, end in omitted])
        for id, kind, total, omitted in facts["outputs"]
    ]

    def text(name: str) -> str:
        return str(facts.get(name) or "")

    status = facts.get("exit_status")
    if facts["origin"] not in _ORIGINS:
        raise ValueError("an output has no such origin")
    return BoundCall(
        id=str(facts["id"]),
        origin=cast(CallOrigin, facts["origin"]),
        budget=int(facts["budget"]),
        started_at=float(facts["started_at"]),
        seconds=float(facts["seconds"]),
        result=str(facts["result"]),
        outputs=outputs,
        exit_status=None if status is None else int(status),
        session=text("session"),
        client=text("client"),
        command=text("command"),
        name=text("name"),
        query=text("query"),
        folder=text("folder"),
    )


def make_output_record(call: BoundCall) -> CallRecord:
    """Return the record of a bounded output. Secrets in its command and its query are masked."""
    from keyhole.render.tokens import estimate  # imported late: a hook has no time for it

    title, query, name = output_title(call.command, call.name), mask_secrets(call.query), mask_secrets(call.name)
    texts = tuple(
        ReadText(each.id, output_url(each.kind), title, each.total, _shown(each), is_stored=False)
        for each in call.outputs
    )
    notes = output_notes(call.command, call.exit_status, call.folder)
    arguments = {"command": dict(notes).get("command"), "file": name, "query": query, "budget": call.budget}
    if call.tool:
        arguments = _masked(call.arguments)
    summary = CallSummary(
        id=call.id,
        session=_session(call),
        client=call.client,
        origin=call.origin,
        tool=call.tool or program_name(mask_secrets(call.command) or name),
        query=query,
        target=title,
        started_at=call.started_at,
        seconds=call.seconds,
        outcome=OK,
        budget=call.budget,
        result_bytes=len(call.result.encode("utf-8", "replace")),
        tokens=estimate(call.result),
        read_chars=sum(text.chars for text in texts),
        shown_chars=sum(text.shown for text in texts),
        folder=mask_secrets(call.folder),
    )
    given = {name: value for name, value in arguments.items() if value not in (None, "")}
    kinds = ", ".join(dict.fromkeys(each.kind for each in call.outputs))
    return CallRecord(summary, json.dumps(given, ensure_ascii=False), call.result, texts, notes=(*notes, (KIND, kinds)))


def _shown(output: KeptOutput) -> tuple[Span, ...]:
    """Return the ranges of an output that the result shows."""
    edges = [0, *(edge for gap in output.omitted for edge in gap), output.total]
    return tuple((start, end) for start, end in zip(edges[::2], edges[1::2], strict=True) if start < end)


def _masked(value: Any) -> Any:
    """Return a value of JSON in which secrets are masked, and each text is at most as long as a stored command."""
    if isinstance(value, Mapping):
        return {str(name): _masked(each) for name, each in value.items()}
    if isinstance(value, list | tuple):
        return [_masked(each) for each in value]
    return output_title(value, "") if isinstance(value, str) else value


def _session(call: BoundCall) -> str:
    """Return the id of the client's session in a form that is safe in an address, "" without one."""
    if not call.session or _SAFE_SESSION.fullmatch(call.session):
        return call.session
    return hashlib.blake2b(call.session.encode("utf-8", "surrogatepass"), digest_size=8).hexdigest()
