"""Measure how the site readers answer: `python -m benchmarks.site_readers [--list]`.

Real answers of PyPI, npm and GitHub (recordings.py) are served on loopback under their own names, over TLS. Each task
(tasks.py) is one `web_fetch` with its question and 4,000 characters, by a server over stdio. Prints the tasks that this
call answers, the requests to the API for the first task of an address, and the characters of text and result, by site.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import re
import sys
import tempfile
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import mean
from typing import Final
from urllib.parse import parse_qsl, urlencode, urlsplit

from benchmarks.server.routed_client import routed_client
from benchmarks.site_readers.recordings import collect
from benchmarks.site_readers.tasks import SiteTask, make_tasks
from tests.support.certificates import self_signed
from tests.support.loopback import Call, response, serve

MAX_CHARS: Final = 4_000
HOSTS: Final = {
    name: f"93.184.215.{number}"
    for number, name in enumerate(
        ["pypi.org", "registry.npmjs.org", "www.npmjs.com", "api.github.com", "github.com", "gist.github.com"], 10
    )
}
PATIENCE: Final = 90.0
"""Seconds after which a call counts as hanging."""
_READ_CHARS = re.compile(r" of (?:the main part, )?([\d,]+) characters|Whole text, ([\d,]+) characters")


@dataclass(frozen=True, slots=True)
class Outcome:
    """The result of one task."""

    task: SiteTask
    is_answered: bool
    requests: int
    chars: int
    text: str


def main() -> int:
    """Measure and print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--list", action="store_true", help="print each task that is not answered, with its result")
    arguments = parser.parse_args()
    answers = collect()
    outcomes = asyncio.run(measure(make_tasks(answers), answers))
    for each in outcomes if arguments.list else ():
        if not each.is_answered:
            print(f"{each.task}\n{each.text}\n")
    print_table(outcomes)
    return 0


async def measure(tasks: Sequence[SiteTask], answers: Mapping[str, bytes]) -> list[Outcome]:
    """Ask each task of one server."""
    table = {_comparable(url): body for url, body in answers.items()} | dict(_latest_manifests(answers))

    def answer(call: Call) -> bytes:
        body = table.get(_comparable(f"https://{call.headers.get('host')}{call.path}"))
        kind = "application/json"
        return response(b"not recorded", "404 Not Found") if body is None else response(body, Content_Type=kind)

    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        context, _ = self_signed(folder, *HOSTS)
        with serve(lambda _: lambda call: call.send(answer(call)), context) as site:
            async with routed_client(folder, HOSTS, {443: site.port}) as client:
                outcomes = []
                for task in tasks:
                    site.calls.clear()
                    arguments = {"url": task.url, "query": task.question, "max_chars": MAX_CHARS, "repeat": True}
                    async with asyncio.timeout(PATIENCE):
                        result = await client.call_tool("web_fetch", arguments)
                    text = "".join(getattr(part, "text", "") for part in result.content)
                    requests = sum(call.path != "/robots.txt" for call in site.calls)
                    outcomes.append(Outcome(task, _is_answered(task, text), requests, len(text), text))
                return outcomes


def _latest_manifests(answers: Mapping[str, bytes]) -> Iterator[tuple[str, bytes]]:
    """Yield the answer to `/NAME/latest` of each package of npm, which is a part of that to `/NAME`."""
    for url, body in answers.items():
        if "registry.npmjs.org" in url:
            package = json.loads(body)
            yield _comparable(f"{url}/latest"), json.dumps(package["versions"][package["dist-tags"]["latest"]]).encode()


def _comparable(url: str) -> str:
    """Return an address without the options of paging, which the recordings set otherwise than the readers."""
    parts = urlsplit(url)
    query = [pair for pair in parse_qsl(parts.query) if pair[0] not in {"per_page", "page"}]
    return f"{parts.netloc}{parts.path}?{urlencode(query)}"


def _is_answered(task: SiteTask, text: str) -> bool:
    return _plain(task.answer) in _plain(text)


def _plain(text: str) -> str:
    return re.sub(r"[\s\\*_`]+", "", text)


def print_table(outcomes: Sequence[Outcome]) -> None:
    """Print a row for each site and one for all."""
    groups: dict[str, list[Outcome]] = defaultdict(list)
    for each in outcomes:
        groups[each.task.site].append(each)
    print("| site | tasks | answered by the first call | requests for an object | characters of the result |")
    print("|---|---:|---:|---:|---:|")
    for name, group in (*sorted(groups.items()), ("all", list(outcomes))):
        answered = sum(each.is_answered for each in group)
        asked = [each.requests for each in group if each.requests]
        chars = mean(each.chars for each in group)
        print(
            f"| {name} | {len(group)} | {answered} ({answered / len(group):.0%}) | {mean(asked):.1f} | {chars:,.0f} |"
        )


if __name__ == "__main__":
    sys.exit(main())
