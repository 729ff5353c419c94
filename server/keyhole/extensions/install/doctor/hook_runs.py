"""Check that the hooks registered with clients fire: run each as its client does, with a large and a small output."""

from __future__ import annotations

import hashlib
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
import tomllib
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from types import MappingProxyType
from typing import IO, Any, Final

from keyhole._version import __version__
from keyhole.cli.terminal import Finding, Level
from keyhole.extensions.install.arguments import DEFAULT_NAME
from keyhole.extensions.install.clients import Machine
from keyhole.extensions.install.discover import (
    HookFile,
    config_path,
    find_hook_files,
    find_project_hook_files,
    find_registrations,
    these_programs,
    this_machine,
)
from keyhole.extensions.install.edit import parse
from keyhole.extensions.install.hooks import HOOK_CLIENTS, Hook, HookLine

AREA: Final = "Hooks"
TIMEOUT: Final = 4.0
"""Seconds for one run. Two hooks that run twice each, one after the other, still fit the time of all checks."""
PARALLEL: Final = 2
"""Hooks that are run at the same time; each run uses a processor completely."""
SMALL: Final = "done\n"
NOT_STARTED: Final = (126, 127)
"""Exit statuses of a shell that cannot start the program, or does not find it."""


@dataclass(frozen=True, slots=True)
class Run:
    """The outcome of running a hook. `status`: None if it was stopped after TIMEOUT."""

    status: int | None
    answer: bytes
    last_error: str
    milliseconds: int


def check() -> list[Finding]:
    """Return findings on the hooks in the files of the user and of the current folder."""
    programs, machine = these_programs(), this_machine()
    of_project = find_project_hook_files(machine)
    clients = [file.hooks.client.name for file in of_project]
    of_user = [file for file in find_hook_files(machine) if file.ours or file.hooks.client.name not in clients]
    with ThreadPoolExecutor(PARALLEL) as pool:
        checked = pool.map(lambda file: _check_file(file, programs, machine), [*of_user, *of_project])
        findings = [finding for finding in checked if finding is not None]
    return [*findings, *_without_server(of_user, machine)]


def _without_server(files: Sequence[HookFile], machine: Machine) -> list[Finding]:
    """Return a warning for each client with hooks but without the server, which reads stored outputs."""
    absent = {each.client.name for each in find_registrations(machine, DEFAULT_NAME) if each.state == "-"}
    names = [file.hooks.client.name for file in files if file.ours and file.hooks.client.name in absent]
    message = "its hooks are registered, but not the server: the agent cannot read the outputs that hooks store"
    return [Finding(AREA, f"{name} server", Level.WARN, message, f"keyhole install {name}") for name in names]


def _check_file(file: HookFile, programs: Sequence[Sequence[str]], machine: Machine) -> Finding | None:
    """Return the finding on a client's hook, None if the client is not installed. It names a project's file."""
    finding = _check_hook(file, programs, machine)
    if finding is None or file.scope == "user":
        return finding
    return replace(finding, message=f"in {file.hooks.client.project}: {finding.message}")


def _check_hook(file: HookFile, programs: Sequence[Sequence[str]], machine: Machine) -> Finding | None:
    client, state = file.hooks.client, file.state(programs, sys.platform)
    name, install = f"{client.name} hook", f"keyhole install {client.name} --hooks-only"
    install += " --scope project" if file.scope == "project" else ""
    if state == "unreadable":
        return Finding(AREA, name, Level.FAIL, file.fault, f"Correct {file.path}; the client cannot read it either.")
    if state == "-":
        return Finding(AREA, name, Level.NOTE, "not registered", install) if file.found else None
    line = next((hook.line for hook in file.ours if hook.event == file.hooks.event), None)
    if line is None:
        return Finding(AREA, name, Level.WARN, f"no hook for {file.hooks.event}, which bounds the output", install)
    fault, milliseconds = _try_hook(line, _words_of_run(file, line))
    if fault:
        fix = f"{install} writes a command that works."
        if state == "registered":
            fix = "Hooks are silent about errors; `keyhole bound FILE` with a large file shows them."
        return Finding(AREA, name, Level.FAIL, fault, fix)
    if reason := _why_skipped(file, machine):
        fix = (
            "Start codex and trust it with /hooks."
            if "trusted" in reason
            else f"Switch hooks on in {file.path.parent}."
        )
        return Finding(AREA, name, Level.WARN, f"works, but {client.title} skips it: {reason}", fix)
    if state == "other copy":
        message = f"runs another copy of Keyhole, {_version(line)}: {line.program}"
        return Finding(AREA, name, Level.WARN, message, f"{install} changes it to this copy, {__version__}.")
    message = f"leaves a small output unchanged and bounds a large one, in {milliseconds} ms during the other checks"
    return Finding(AREA, name, Level.OK, message)


def _words_of_run(file: HookFile, line: HookLine) -> list[str]:
    """Return the words that run a hook as its client does: with its shell, or for a plugin without a shell."""
    if file.hooks.client.format == "script":
        return [*line.words, "hook", line.client]
    if os.name == "posix":
        return ["/bin/sh", "-c", line.text]
    return {
        "cmd": [os.environ.get("COMSPEC", "cmd.exe"), "/d", "/c", line.text],
        "powershell": ["powershell.exe", "-NoProfile", "-Command", line.text],
    }.get(file.hooks.windows_shell, ["bash.exe", "-c", line.text])


def _try_hook(line: HookLine, command: Sequence[str]) -> tuple[str, int]:
    """Return the fault of a hook, or "", and the milliseconds of its answer to a large output."""
    large = _run(command, make_event(line.client, large_output()))
    fault = _run_fault(line, large) or answer_fault(line.client, large.answer)
    if fault:
        return f"{fault}{f'; its last output: {large.last_error}' if large.last_error else ''}", 0
    small = _run(command, make_event(line.client, SMALL))
    fault = _run_fault(line, small) or ("it changes a small output too" if small.answer.strip() else "")
    return fault, large.milliseconds


def _run_fault(line: HookLine, run: Run) -> str:
    if run.status is None:
        return f"no answer within {TIMEOUT:g} s"
    program = Path(line.words[0])
    if program.is_absolute() and not program.exists():
        return f"{program} does not exist"
    if run.status in NOT_STARTED:
        return f"{program} cannot be started" if program.is_absolute() else f"{program} is not found"
    return f"it exits with {run.status}" if run.status else ""


def _run(command: Sequence[str], event: bytes) -> Run:
    """Run a command with an event on its standard input, the user's settings, and a home folder of its own."""
    start = time.monotonic()
    with (
        tempfile.TemporaryDirectory(prefix="keyhole-doctor-", ignore_cleanup_errors=True) as home,
        tempfile.TemporaryFile() as given, tempfile.TemporaryFile() as answer, tempfile.TemporaryFile() as errors,
    ):  # fmt: skip
        given.write(event)
        given.seek(0)
        settings = {**os.environ, "KEYHOLE_HOME": home}
        try:
            process = subprocess.Popen(
                command, stdin=given, stdout=answer, stderr=errors, env=settings, start_new_session=True
            )
        except OSError as error:
            return Run(NOT_STARTED[0], b"", error.strerror or "", 0)
        try:
            status: int | None = process.wait(TIMEOUT)
        except subprocess.TimeoutExpired:
            _stop(process)
            status = None
        milliseconds = round(1_000 * (time.monotonic() - start))
        last_error = _read(errors).decode("utf-8", "replace").strip().rpartition("\n")[2]
        return Run(status, _read(answer), last_error[:200], milliseconds)


def _stop(process: subprocess.Popen[bytes]) -> None:
    """Stop a process, and on POSIX the processes that it started."""
    with suppress(OSError):
        os.killpg(process.pid, signal.SIGKILL) if os.name == "posix" else process.kill()
    process.wait()


def _read(file: IO[bytes]) -> bytes:
    file.seek(0)
    return file.read()


def _version(line: HookLine) -> str:
    """Return the version of the program of a hook, in words."""
    run = _run([*line.words, "--version"], b"")
    words = run.answer.decode("utf-8", "replace").split()
    return f"version {words[-1]}" if run.status == 0 and words else "of an unknown version"


def _why_skipped(file: HookFile, machine: Machine) -> str:
    """Return the reason why the client would not run the hook, or ""."""
    if file.hooks.client.format == "json" and parse(file.hooks.client, file.text).get("disableAllHooks") is True:
        return "disableAllHooks is set"
    if file.hooks.client.name != "codex":
        return ""
    config: dict[str, Any] = {}
    users = config_path(HOOK_CLIENTS["codex"].client, machine) or file.path
    with suppress(OSError, ValueError):
        config = tomllib.loads(users.with_name("config.toml").read_text("utf-8"))
    names = [str(file.path), str(file.path.resolve())]
    return next((reason for hook in file.ours if (reason := why_skipped(hook, names, config))), "")


# The trust of Codex: it skips hooks that the user has not trusted, and hooks that are switched off. It keeps the
# trust of the user in `config.toml`, in a table for each place of a hook, `[hooks.state."FILE:EVENT:GROUP:HOOK"]`,
# with `trusted_hash`, the hash of what the hook does. `codex app-server` prints both with `hooks/list`; the tests
# compare the hash with that of Codex 0.169.0.

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


# Events as clients give them to hooks after a shell command, and the texts in the answers. The forms are those of the
# recorded events in `tests/cli/hook/payloads`.

COMMAND: Final = "make test"
ERROR: Final = "main.c:218:9: error: unknown type name lamp_t"
LARGE: Final = 100_000
"""Characters of a large output: more than clients show."""
_ANSWERS: Final[Mapping[str, tuple[str, ...]]] = MappingProxyType({
    "claude": ("hookSpecificOutput", "updatedToolOutput", "stdout"),
    "codex": ("reason",),
    "copilot": ("modifiedResult", "textResultForLlm"),
    "opencode": ("output", "output"),
})  # fmt: skip
"""The keys that lead to the text in each client's answer."""


def large_output() -> str:
    """Return the output of a build with one error in its middle."""
    lines = [f"[{number:5}] cc -c part{number}.c -o part{number}.o" for number in range(LARGE // 40)]
    lines[len(lines) // 2] = ERROR
    return "\n".join(lines)


def make_event(client: str, output: str) -> bytes:
    """Return the event of a shell command with this output. `client`: as in `keyhole hook CLIENT`."""
    call = {"command": COMMAND}
    events: Mapping[str, Mapping[str, Any]] = {
        "claude": {
            "hook_event_name": "PostToolUse", "tool_name": "Bash", "tool_input": call,
            "tool_response": {"stdout": output, "stderr": "", "interrupted": False, "isImage": False},
        },
        "codex": {
            "hook_event_name": "PostToolUse", "tool_name": "Bash", "tool_input": call, "tool_response": output,
        },
        "copilot": {
            "toolName": "bash", "toolArgs": call,
            "toolResult": {"resultType": "success", "textResultForLlm": output},
        },
        "opencode": {
            "input": {"tool": "bash", "args": call},
            "output": {"title": COMMAND, "output": output, "metadata": {"exit": 0}},
        },
    }  # fmt: skip
    return json.dumps(events[client]).encode()


def answer_fault(client: str, answer: bytes) -> str:
    """Return the fault of an answer to the event of `large_output`, or "" if it is a bounded text with the error."""
    if not answer.strip():
        return f"it does not answer to {LARGE:,} characters of output"
    try:
        text = json.loads(answer)
        for key in _ANSWERS[client]:
            text = text[key]
    except (ValueError, LookupError, TypeError, RecursionError):
        return "its answer has not the form that the client reads"
    if not isinstance(text, str) or len(text) >= LARGE // 2 or ERROR not in text:
        return "its answer is not a bounded text"
    return ""
