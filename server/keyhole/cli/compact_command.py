"""Run `keyhole compact`: shorten the history of a conversation, and store what is left out."""

from __future__ import annotations

import argparse
import json
import sys
import time
from dataclasses import asdict
from pathlib import Path
from typing import Any

from keyhole.cli.bound_command import keeps_outputs
from keyhole.cli.table import format_json
from keyhole.cli.text_io import print_text, read_blocks
from keyhole.config.config import Config
from keyhole.errors import Code, KeyholeError
from keyhole.retrieval.compaction.compact import Compacted, compact
from keyhole.retrieval.compaction.report import Report
from keyhole.retrieval.compaction.request import Request, read_request
from keyhole.store.base import LOCAL


def run(config: Config, arguments: argparse.Namespace) -> int:
    """Print the conversation or request within the budget, and return 0."""
    request = _read(arguments.file)
    report_file = Path(arguments.report) if arguments.report else None
    previous = Report.from_json(report_file.read_text("utf-8")) if report_file and report_file.exists() else None
    done = _compact(config, arguments, request, previous)
    if report_file:
        report_file.write_text(done.report.to_json() + "\n", encoding="utf-8")
    result = request.with_items(done.items)
    print_text(format_json({"result": result, "report": asdict(done.report)} if arguments.json else result))
    print(_summary(done.report), file=sys.stderr)
    return 0


def _read(name: str) -> Request:
    try:
        return read_request(json.loads(b"".join(read_blocks(name))))
    except ValueError as error:
        raise KeyholeError(Code.INVALID_ARGUMENT, f"{name} is not JSON: {error}") from error


def _compact(config: Config, arguments: argparse.Namespace, request: Request, previous: Report | None) -> Compacted:
    """Compact a conversation. What it leaves out is stored, unless the settings keep no outputs."""
    options: dict[str, Any] = {
        "format": arguments.format if arguments.format != "auto" else request.format or "auto",
        "keep_last": arguments.keep_last,
        "target": arguments.target,
        "previous": previous,
    }
    budget = _budget(arguments.budget, request.other_tokens)
    if not keeps_outputs(config):
        return compact(request.items, budget, **options)
    from keyhole.cli.build import open_stores

    stores = open_stores(config)
    try:
        store, secret = stores.for_tenant(LOCAL)
        return compact(request.items, budget, store=store, secret=secret, now=time.time(), **options)
    finally:
        stores.close()


def _budget(budget: int, other_tokens: int) -> int:
    """Return the tokens that remain for the conversation. Raises KeyholeError: over_budget."""
    if 0 < budget <= other_tokens:
        raise KeyholeError(
            Code.OVER_BUDGET,
            f"the request takes {other_tokens:,} tokens of {budget:,} without its conversation",
            tokens=other_tokens,
            budget=budget,
        )
    return budget - other_tokens if other_tokens else budget


def _summary(report: Report) -> str:
    return (
        f"keyhole: about {report.tokens_before:,} tokens of conversation, now {report.tokens_after:,}; left out: "
        f"{len(report.stubs):,} tool results, {report.left_out.messages:,} messages"
    )
