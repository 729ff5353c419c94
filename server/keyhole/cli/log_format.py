"""How lines are logged to stderr: as text or as one JSON object each. Never page content, a token or a URL's query:
what a library says of what passes through it stays out, and of an exception only its type and where it was raised."""

from __future__ import annotations

import json
import logging
import sys
import time
import traceback
from types import TracebackType
from typing import Any, Final

FIELDS: Final = ("tool", "outcome", "milliseconds", "tenant", "method", "path", "status")
"""What a record may say besides its message, as `extra`; nothing else of it is written."""
OWN: Final = ("keyhole", "uvicorn.error")
"""Loggers whose lines are ours to choose. Others write headers, addresses and answers into theirs below WARNING."""
QUIET: Final = {
    "mcp": logging.ERROR,  # ids of sessions, headers as they came
    "sse_starlette": logging.ERROR,
    "py.warnings": logging.ERROR,  # what a parser remarks on may be quoted
    "pypdf": logging.CRITICAL,  # every fault of a damaged file
}
"""Levels of those that say more than they should at WARNING."""

_Raised = tuple[type[BaseException], BaseException, TracebackType | None] | tuple[None, None, None]


def configure(level: str, form: str) -> None:
    """Have everything that is logged in this process written to stderr, as `text` or `json`."""
    handler = _Stderr()
    handler.setFormatter(JsonLines() if form == "json" else TextLines())
    root = logging.getLogger()
    if all(isinstance(known, _Stderr) for known in root.handlers):  # a program that logs by itself goes on to
        root.handlers[:] = [handler]
    root.setLevel(max(logging.WARNING, logging.getLevelNamesMapping()[level]))
    for name in OWN:
        logging.getLogger(name).setLevel(level)
    for name, quiet in QUIET.items():
        logging.getLogger(name).setLevel(quiet)
    logging.captureWarnings(True)


class _Stderr(logging.Handler):
    """Writes to what stderr is at the moment."""

    def emit(self, record: logging.LogRecord) -> None:
        try:
            sys.stderr.write(self.format(record) + "\n")
        except OSError:
            return  # whoever read it is gone; there is nobody left to tell


class TextLines(logging.Formatter):
    """One line for each record, for people."""

    def format(self, record: logging.LogRecord) -> str:
        """The line; nothing that was logged can begin another."""
        return _one_line(f"{record.name}: {record.getMessage()}{_raised(record, ' ')}")


class JsonLines(logging.Formatter):
    """One JSON object for each record, for programs."""

    def format(self, record: logging.LogRecord) -> str:
        """The object on one line."""
        line: dict[str, Any] = {
            "time": time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(record.created)) + f".{int(record.msecs):03}Z",
            "level": record.levelname,
            "logger": record.name,
            "message": record.getMessage(),
        }
        line |= {name: value for name in FIELDS if (value := getattr(record, name, None)) is not None}
        if raised := _raised(record, ""):
            line["raised"] = raised
        if trace := _trace_id():
            line["trace_id"] = trace
        return json.dumps(line)


def _raised(record: logging.LogRecord, prefix: str) -> str:
    """Types and places of an exception and its causes, innermost last. Its message may repeat what it was about."""
    raised: _Raised | None = record.exc_info
    error = raised[1] if raised else None
    places: list[str] = []
    while error is not None and len(places) < 5:
        frames = traceback.extract_tb(error.__traceback__)[-8:]
        where = " < ".join(f"{frame.filename}:{frame.lineno} {frame.name}" for frame in reversed(frames))
        places.append(f"{type(error).__name__} at {where}")
        error = error.__cause__ or error.__context__
    return prefix + "; from ".join(places) if places else ""


def _one_line(text: str) -> str:
    return "".join(char if char.isprintable() else repr(char)[1:-1] for char in text)


def _trace_id() -> str:
    """Of the span that is under way, where anyone traces."""
    trace = sys.modules.get("opentelemetry.trace")
    context = trace.get_current_span().get_span_context() if trace else None
    return f"{context.trace_id:032x}" if context is not None and context.is_valid else ""
