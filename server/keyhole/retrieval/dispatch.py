"""One call of a tool by its name, with the arguments as they came. No retrieval here, and nothing of the protocol: the
command line calls by it too, for which the protocol's types would take as long to load as all else."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from keyhole.budget.budget import allowance
from keyhole.budget.fit import cut
from keyhole.callers import ANYBODY, Caller
from keyhole.errors import KeyholeError
from keyhole.records import Answer
from keyhole.render.answer import failure
from keyhole.retrieval.progress import Progress
from keyhole.retrieval.retrieve import Retrieval
from keyhole.retrieval.tool_arguments import parse_arguments


async def dispatch(
    retrieval: Retrieval, tool: str, arguments: Mapping[str, Any], progress: Progress, caller: Caller = ANYBODY
) -> Answer:
    """Check the arguments and have the tool answer. A KeyholeError is an answer too, within the caller's budget."""
    try:
        given = parse_arguments(tool, arguments)
        if tool == "web_fetch":
            return await retrieval.web_fetch(**given, caller=caller)
        if tool == "search":
            return await retrieval.search(**given, caller=caller, progress=progress)
        return await retrieval.read_artifact(**given, caller=caller)
    except KeyholeError as error:
        budget = allowance(retrieval.config, caller)
        return cut(failure(error), budget.size, budget.measure)
