"""Format log lines for stderr, as text or as JSON objects.

Page content, tokens and URL queries never reach the log: libraries log only at levels where they quote no data, and
exceptions are logged with their types and source lines, without their messages.
"""

from __future__ import annotations

import json
import logging
import sys
import time
import traceback
from types import TracebackType
from typing import Any, Final

FIELDS: Final = ("tool", "outcome", "milliseconds", "tenant", "method", "path", "status")
"""Fields of a record's `extra` that a JSON line contains."""
OWN_LOGGERS: Final = ("keyhole", "uvicorn.error")
"""Loggers that follow the configured level. Others log headers, addresses and responses below WARNING."""
QUIET_LEVELS: Final = {
    "mcp": logging.ERROR,  # session ids and request headers
    "sse_starlette": logging.ERROR,
    "py.warnings": logging.ERROR,  # a parser's warning may quote the page
}
"""Levels of loggers that would log private data, or too much, at WARNING."""

_ExcInfo = tuple[type[BaseException], BaseException, TracebackType | None] | tuple[None, None, None]


def configure_logging(level: str, form: str) -> None:
    """Write this process's log to stderr. `form`: `text` or `json`."""
    handler = _StderrHandler()
    handler.setFormatter(JsonLines() if form == "json" else TextLines())
    root = logging.getLogger()
    # Keep the handlers of a program that embeds Keyhole.
    if all(isinstance(each, _StderrHandler) for each in root.handlers):
        root.handlers[:] = [handler]
    root.setLevel(max(logging.WARNING, logging.getLevelNamesMapping()[level]))
    for name in OWN_LOGGERS:
        logging.getLogger(name).setLevel(level)
    for name, quiet_level in QUIET_LEVELS.items():
        logging.getLogger(name).setLevel(quiet_level)
    logging.captureWarnings(True)


class _StderrHandler(logging.Handler):
    """Writes to the current `sys.stderr`, which may be replaced after the handler was created."""

    def emit(self, record: logging.LogRecord) -> None:
        try:
            sys.stderr.write(self.format(record) + "\n")
        except OSError:
            return  # the reader of stderr has closed it


class TextLines(logging.Formatter):
    """Formats a record as one line of text."""

    def format(self, record: logging.LogRecord) -> str:
        """Return the line, with line breaks in the message escaped."""
        return _escape(f"{record.name}: {record.getMessage()}{_describe_exception(record, ' ')}")


class JsonLines(logging.Formatter):
    """Formats a record as one JSON object."""

    def format(self, record: logging.LogRecord) -> str:
        """Return the object on one line."""
        line: dict[str, Any] = {
            "time": time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(record.created)) + f".{int(record.msecs):03}Z",
            "level": record.levelname,
            "logger": record.name,
            "message": record.getMessage(),
        }
        line |= {name: value for name in FIELDS if (value := getattr(record, name, None)) is not None}
        if exception := _describe_exception(record, ""):
            line["raised"] = exception
        if trace_id := _trace_id():
            line["trace_id"] = trace_id
        return json.dumps(line)


def _describe_exception(record: logging.LogRecord, prefix: str) -> str:
    """Return the types and source lines of an exception and its causes. Messages are left out: they may quote data."""
    exc_info: _ExcInfo | None = record.exc_info
    error = exc_info[1] if exc_info else None
    errors: list[str] = []
    while error is not None and len(errors) < 5:
        frames = traceback.extract_tb(error.__traceback__)[-8:]
        lines = " < ".join(f"{frame.filename}:{frame.lineno} {frame.name}" for frame in reversed(frames))
        errors.append(f"{type(error).__name__} at {lines}")
        error = error.__cause__ or error.__context__
    return prefix + "; from ".join(errors) if errors else ""


def _escape(text: str) -> str:
    return "".join(char if char.isprintable() else repr(char)[1:-1] for char in text)


def _trace_id() -> str:
    """Return the id of the current OpenTelemetry trace, or "" without one."""
    trace = sys.modules.get("opentelemetry.trace")
    context = trace.get_current_span().get_span_context() if trace else None
    return f"{context.trace_id:032x}" if context is not None and context.is_valid else ""
