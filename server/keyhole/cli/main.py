"""Run the command line: parse the arguments, load the settings, call the command's module, report errors.

Exit codes: 0 done; 1 the call failed with a named error; 2 wrong command line or setting; 130 interrupted.
"""

from __future__ import annotations

import io
import os
import shlex
import sys
from collections.abc import Mapping, Sequence
from importlib import import_module
from types import MappingProxyType
from typing import Final

from keyhole.cli.commands import build_parser
from keyhole.cli.log_format import configure_logging
from keyhole.cli.text_io import discard_buffered, open_closed_streams
from keyhole.config.config import Config
from keyhole.config.load import load_config, log_warnings
from keyhole.errors import Code, KeyholeError
from keyhole.runtime.extensions import Command, find_extensions

COMMANDS: Final[Mapping[str, str]] = MappingProxyType(
    {
        "serve": "keyhole.cli.serve_command",
        "server": "keyhole.cli.server_command",
        "fetch": "keyhole.cli.tool_commands",
        "search": "keyhole.cli.tool_commands",
        "read": "keyhole.cli.tool_commands",
        "extract": "keyhole.cli.extract_select",
        "select": "keyhole.cli.extract_select",
        "bound": "keyhole.cli.bound_command",
        "run": "keyhole.cli.run_command",
        "shell": "keyhole.cli.shell_command",
        "hook": "keyhole.cli.hook_command",
        "artifacts": "keyhole.cli.artifacts_command",
        "forget": "keyhole.cli.forget_command",
        "config": "keyhole.cli.config_command",
        "completion": "keyhole.cli.completion",
        "demo": "keyhole.cli.demo",
    }
)
"""The module of each command of the core. Its `run(config, arguments)` returns the exit code. It is imported when the
command runs, so that no command waits for another's imports."""
COMMANDS_WITHOUT_SETTINGS: Final = frozenset({"config", "completion", "hook", "shell"})
"""Commands of the core that get the default settings, so that they work even if a setting is wrong."""

_SAVED_PAGE: Final = (
    "The file is not the page but what a site sent in its place; save the page from a browser that shows it"
)
_FILE_STEPS: Final[Mapping[Code, str]] = MappingProxyType(
    {
        Code.UNSUPPORTED_MEDIA: "Convert the file to a format that is read, such as HTML, PDF, DOCX or plain text",
        Code.TOO_LARGE: "Divide the file, or raise KEYHOLE_MAX_BYTES",
        Code.DECOMPRESSION_BOMB: "Do not unpack the file: it is built to exhaust the memory of its reader",
        Code.EMPTY_DOCUMENT: "There is nothing to read in the file; a scan needs text recognition first",
        Code.EXTRACTION_FAILED: "Check that the file is complete, or save it anew with the program that made it",
        Code.ENCRYPTED_DOCUMENT: "Save a copy of the file without its password",
        **dict.fromkeys(
            (
                Code.LOGIN_REQUIRED, Code.CONSENT_REQUIRED, Code.PAYWALLED, Code.NOT_FOUND, Code.BOT_CHALLENGE,
                Code.JAVASCRIPT_REQUIRED,
            ),
            _SAVED_PAGE,
        ),
    }
)  # fmt: skip
"""The next step for a file, for errors whose next step is about the web."""

OK, FAILED, USAGE, INTERRUPTED = 0, 1, 2, 130


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code."""
    open_closed_streams()
    for stream in (sys.stdout, sys.stderr):  # a page may contain characters that the terminal's encoding lacks
        if isinstance(stream, io.TextIOWrapper) and stream.encoding.lower() not in ("utf-8", "utf8"):
            stream.reconfigure(errors="backslashreplace")
    words = sys.argv[1:] if argv is None else argv
    if not words:
        build_parser().print_help(sys.stderr)
        return USAGE
    arguments = build_parser().parse_args(words)
    try:
        command = find_command(arguments.command)
        config = _load_settings() if command.needs_settings else Config()
        code: int = import_module(command.module).run(config, arguments)
        sys.stdout.flush()
        return code
    except KeyholeError as error:
        return _print_error(error, arguments.command)
    except KeyboardInterrupt:
        return INTERRUPTED
    except BrokenPipeError:  # the reader of the pipe has closed it, as `| head` does
        discard_buffered()
        return OK
    except OSError as error:  # mostly a full disk
        print(f"keyhole: {error}", file=sys.stderr)
        discard_buffered()
        return FAILED


def serve_main() -> int:
    """Run `keyhole-reader`: serve over stdio, with the options of `keyhole serve`."""
    return main(["serve", *sys.argv[1:]])


def find_command(name: str) -> Command:
    """Return a command of the core or of an extension. `add` is "" for the core: its parser exists already."""
    if name in COMMANDS:
        return Command("", COMMANDS[name], name not in COMMANDS_WITHOUT_SETTINGS)
    return next(extension.commands[name] for extension in find_extensions() if name in extension.commands)


def _load_settings() -> Config:
    """Load the settings and configure logging."""
    config = load_config(os.environ)
    configure_logging(config.log_level, config.log_format)
    log_warnings(config)
    return config


def _print_error(error: KeyholeError, command: str) -> int:
    """Print an error to stderr and return the exit code."""
    from keyhole.text.clean import clean

    message = clean(error.message)  # may contain a file name with control characters
    if error.code is Code.INVALID_ARGUMENT:
        print(f"keyhole: {message}", file=sys.stderr)
        return USAGE
    print(f"{error.code}: {message}. {_next_step(error, command)}", file=sys.stderr)
    return FAILED


def _next_step(error: KeyholeError, command: str) -> str:
    """Return the next step for a person on the command line."""
    from keyhole.cli.terminal import MAX_FACT_COLUMNS, one_line
    from keyhole.runtime.installation import install_command
    from keyhole.text.refresh import read_refresh

    if extra := str(error.facts.get("extra", "")):
        return f"To install it: {install_command(extra)}"
    if error.code is Code.STORE_UNAVAILABLE:
        return "Check that the store named by KEYHOLE_STORE or KEYHOLE_HOME exists and is writable, then try again"
    if refresh := read_refresh(str(error.facts.get("refresh", ""))):
        return f"The page sends its reader on to {one_line(refresh.target, MAX_FACT_COLUMNS)}"
    if command in {"extract", "select"} and error.code in _FILE_STEPS:
        return _FILE_STEPS[error.code]
    url = one_line(str(error.facts.get("url", "")), MAX_FACT_COLUMNS)
    return f"Fetch it again: keyhole fetch {shlex.quote(url)}" if url else error.rule.next_step
