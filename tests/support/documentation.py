"""The parts of README.md and docs/ that are made from the code. `python tests/support/documentation.py` writes them anew.

A part stands between `<!-- begin:NAME -->` and `<!-- end:NAME -->`. In docs/ what a ```console block prints after a
line `$ keyhole …` is made too, by running that line over recorded pages."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable
from functools import cache
from pathlib import Path

from keyhole.cli.demo_site import recorded_pages
from keyhole.records import Answer
from keyhole.retrieval.retrieve import Retrieval
from tests.support import reference
from tests.support.console import temporary_installation
from tests.support.fakes import page
from tests.support.product import retrieval

ROOT = Path(__file__).resolve().parents[2]
README = ROOT / "README.md"
DOCS = ROOT / "docs"
PAGES = (README, *sorted(DOCS.rglob("*.md")))
"""Every page of the documentation that is written by hand or made here."""
QUESTION = "How is the vacuum threshold that triggers autovacuum defined?"
SECOND_QUESTION = "transaction ID wraparound failure"
QUOTE = "Otherwise, if the number of tuples obsoleted since the last VACUUM exceeds the vacuum threshold"
_CONSOLE = re.compile(r"^(?P<fence>`{3,})console\n(?P<lines>\$ keyhole.*?)^(?P=fence)$", re.MULTILINE | re.DOTALL)
SHOTS = {
    "select": "A terminal: passages of a page, each with its score and what it is made of",
    "explain": "A terminal: a plot of a page with what of it was returned, its headings, and each passage's score",
    "doctor": "A terminal: what was looked at, one line each, with what mends it",
}
"""What each picture shows, for who cannot see it."""
OWN_TEST = frozenset({"artifacts.md"})
"""Pages whose console blocks a test of their own runs, over artifacts of its own."""


def transcript() -> str:
    """A real call on a recorded page, with a fixed secret so that its id is always the same."""
    url, product = _vacuuming()
    answer = asyncio.run(product.web_fetch(url, QUESTION, 2_500))
    call = f'web_fetch(url="{url}",\n          query="{QUESTION}", max_chars=2500)'
    return f"````text\n{call}\n\n{answer.text}\n````"


def _vacuuming() -> tuple[str, Retrieval]:
    recorded = recorded_pages()["routine-vacuuming"]
    return recorded.url, retrieval(
        {recorded.url: page(recorded.url, recorded.body, content_type=recorded.content_type)}
    )


@cache
def worked() -> dict[str, str]:
    """One page from the first call to the last, each call with its result."""
    url, product = _vacuuming()

    async def calls() -> dict[str, tuple[str, Answer]]:
        fetched = await product.web_fetch(url, QUESTION, 2_000)
        id = str(fetched.facts["artifact_id"])
        start = fetched.text.index("read_artifact(")
        following = fetched.text[start : fetched.text.index(")", start) + 1]
        offset, limit = (int(re.findall(rf"{name}=(\d+)", following)[0]) for name in ("offset", "limit"))
        return {
            "fetch": (f'web_fetch(url="{url}",\n          query="{QUESTION}", max_chars=2000)', fetched),
            "read": (following, await product.read_artifact(id, offset=offset, limit=limit)),
            "query": (
                f'read_artifact(id="{id}", query="{SECOND_QUESTION}", limit=1500)',
                await product.read_artifact(id, query=SECOND_QUESTION, limit=1_500),
            ),
            "find": (
                f'read_artifact(id="{id}",\n              find="{QUOTE}", limit=900)',
                await product.read_artifact(id, find=QUOTE, limit=900),
            ),
            "gone": ('read_artifact(id="aaaaaaaaaaaaaaaa")', await product.read_artifact("aaaaaaaaaaaaaaaa")),
        }

    return {name: f"````text\n{call}\n\n{answer.text}\n````" for name, (call, answer) in asyncio.run(calls()).items()}


def registration() -> str:
    """`mcp.json.example` as it is."""
    return f"```json\n{(ROOT / 'mcp.json.example').read_text(encoding='utf-8')}```"


def figures(heading: str) -> str:
    """The first table below a heading of benchmarks/README.md."""
    text = (ROOT / "benchmarks" / "README.md").read_text(encoding="utf-8")
    section = re.split(rf"^## {re.escape(heading)}$", text, flags=re.MULTILINE)[1]
    table = re.search(r"(?:^\|.*\n)+", section, re.MULTILINE)
    assert table
    return table[0].rstrip()


def shot(name: str) -> str:
    """A picture of the terminal, where docs/make/shots.py could make it."""
    return f"![{SHOTS[name]}](shots/{name}.svg)" if (DOCS / "shots" / f"{name}.svg").exists() else ""


BLOCKS: dict[str, Callable[[], str]] = {
    "transcript": transcript,
    "mcp.json": registration,
    "tools": reference.tools,
    "tools in brief": reference.tools_in_brief,
    "settings": reference.settings,
    "ten settings": reference.chosen_settings,
    "errors": reference.errors,
    "warnings": reference.warnings,
    "commands": reference.commands,
    "clients": reference.clients,
    "registrations": reference.registrations,
    **{f"worked {name}": lambda name=name: worked()[name] for name in ("fetch", "read", "query", "find", "gone")},  # type: ignore[misc]
    **{f"shot {name}": lambda name=name: shot(name) for name in SHOTS},  # type: ignore[misc]
    **{
        f"figures: {heading}": lambda heading=heading: figures(heading)  # type: ignore[misc]
        for heading in (
            "Start and first fetch",
            "Is the answer inside the window?",
            "Is the answer in a search's result?",
            "Search",
            "Extraction: fidelity",
            "Addresses",
            "Rebinding",
            "A hostile web server",
            "The embedded store",
            "What a call costs besides network and reading",
            "When a process is killed or a disk fails",
            "The HTTP server at rest",
        )
    },
}


def rendered(text: str) -> str:
    """A page with every part that stands between marks made anew."""
    for name, make in BLOCKS.items():
        begin, end = f"<!-- begin:{name} -->", f"<!-- end:{name} -->"
        if begin not in text:
            continue
        before, _, rest = text.partition(begin)
        _, _, after = rest.partition(end)
        text = f"{before}{begin}\n{_apart(make())}\n{end}{after}"
    return text


def _apart(part: str) -> str:
    """With a line between a mark and a table, which Markdown would else read as one paragraph."""
    return part if part.startswith("`") else f"\n{part}\n" if part else ""


def with_output(text: str) -> str:
    """A page with what its ```console blocks print made anew: its commands are run one after the other."""
    if not _CONSOLE.search(text):
        return text
    with temporary_installation():
        return _CONSOLE.sub(_ran, text)


def _ran(block: re.Match[str]) -> str:
    commands = [line for line in block["lines"].splitlines() if line.startswith("$ keyhole")]
    lines = "".join(f"{command}\n{printed(command[2:])}" for command in commands)
    longest = max((len(run) for run in re.findall(r"^`{3,}", lines, re.MULTILINE)), default=2)
    fence = max(block["fence"], "`" * (longest + 1))  # longer than any fence of a page that is shown
    return f"{fence}console\n{lines}{fence}"


def made(path: Path) -> str:
    """A page as it must be."""
    text = rendered(path.read_text(encoding="utf-8"))
    return text if path.name in OWN_TEST else with_output(text)


if __name__ == "__main__":
    for each in PAGES:
        each.write_text(made(each), encoding="utf-8")
