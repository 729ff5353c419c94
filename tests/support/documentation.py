"""Generate parts of README.md and docs/ from the code. `python -m tests.support.documentation` updates the files.

A generated part is between `<!-- begin:NAME -->` and `<!-- end:NAME -->`. In docs/, the output after each
`$ keyhole …` line of a ```console block is generated too, by running the command over recorded pages."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable
from functools import cache, partial
from pathlib import Path

from benchmarks.outputs.corpus import Output, load_outputs
from keyhole.cli.demo_site import recorded_pages
from keyhole.outputs.bound import Bounded, bound_text
from keyhole.outputs.keep import keep_in_store
from keyhole.records import Answer
from keyhole.retrieval.retrieve import Retrieval
from keyhole.text.output_facts import OutputFacts
from tests.clients.tool_calls import next_call
from tests.support import reference
from tests.support.console import run_command, temporary_installation
from tests.support.fakes import page
from tests.support.product import SECRET, retrieval

ROOT = Path(__file__).resolve().parents[2]
README = ROOT / "README.md"
DOCS = ROOT / "docs"
PAGES = (README, *sorted(DOCS.rglob("*.md")))
"""Every page of the documentation."""
QUESTION = "How is the vacuum threshold that triggers autovacuum defined?"
SECOND_QUESTION = "transaction ID wraparound failure"
QUOTE = "Otherwise, if the number of tuples obsoleted since the last VACUUM exceeds the vacuum threshold"
OUTPUT_EXAMPLE = "pytest/toolz-merge"
"""The output of the benchmark that the pages show."""
OUTPUT_BUDGET = 1_400
_CONSOLE = re.compile(r"^(?P<fence>`{3,})console\n(?P<lines>\$ keyhole.*?)^(?P=fence)$", re.MULTILINE | re.DOTALL)
SHOTS = {
    "doctor": "A terminal: one line for each check, with the fix for each problem",
}
"""The alternative text of each screenshot."""
SHOT_FOLDERS = {"doctor": "shots"}
"""The folder of each screenshot, relative to the page that shows it."""
TESTED_ELSEWHERE = frozenset({"artifacts.md"})
"""Pages whose console blocks are run by a separate test, over its own artifacts."""


def recorded_product() -> tuple[str, Retrieval]:
    """Return the URL of a recorded page, and a product that can fetch only this page."""
    recorded = recorded_pages()["routine-vacuuming"]
    return recorded.url, retrieval(
        {recorded.url: page(recorded.url, recorded.body, content_type=recorded.content_type)}
    )


@cache
def bounded_example() -> tuple[Output, Bounded]:
    """Return an output of a test run that failed, and its bounded form as `keyhole bound` prints it."""
    output = load_outputs()[OUTPUT_EXAMPLE]
    facts = OutputFacts(output.command, exit_status=output.exit, names_command=True)
    return output, bound_text(output.text, None, OUTPUT_BUDGET, facts, keep_in_store(retrieval({}).store), SECRET)


def worked_output() -> str:
    """Return the worked example of an output: the command line and what it prints."""
    output, bounded = bounded_example()
    call = (
        f'{output.command} 2>&1 | keyhole bound --of "{output.command}" --exit {output.exit} --budget {OUTPUT_BUDGET}'
    )
    return f"````text\n$ {call}\n\n{bounded.text}\n````"


def output_picture(folder: str) -> str:
    """Return the picture of an output, which docs/make/picture.py draws, and the one for a phone."""
    output, bounded = bounded_example()
    shown = bounded.total - sum(end - start for start, end in bounded.omitted)
    about = f"A test run of {len(output.text):,} characters goes in; the {shown:,} that every reader looks for come out"
    narrow = f'<source media="(max-width: 600px)" srcset="{folder}/output-narrow.svg">'
    return f"<picture>{narrow}![{about}]({folder}/output.svg)</picture>"


@cache
def worked_calls() -> dict[str, str]:
    """Return the calls of a worked example on one page, by name, each with its result."""
    url, product = recorded_product()

    async def calls() -> dict[str, tuple[str, Answer]]:
        fetched = await product.web_fetch(url, QUESTION, 2_000)
        id = str(fetched.facts["artifact_id"])
        following = fetched.text.rpartition("\nNext: ")[2].partition("\n")[0]
        _, arguments = next_call(fetched.text)
        return {
            "fetch": (f'web_fetch(url="{url}",\n          query="{QUESTION}", max_chars=2000)', fetched),
            "read": (following, await product.read_artifact(**arguments)),
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


def example_registration() -> str:
    """Return `mcp.json.example` as a code block."""
    return f"```json\n{(ROOT / 'mcp.json.example').read_text(encoding='utf-8')}```"


def benchmark_table(heading: str) -> str:
    """Return the first table below a heading of benchmarks/README.md."""
    text = (ROOT / "benchmarks" / "README.md").read_text(encoding="utf-8")
    section = re.split(rf"^## {re.escape(heading)}$", text, flags=re.MULTILINE)[1]
    table = re.search(r"(?:^\|.*\n)+", section, re.MULTILINE)
    assert table
    return table[0].rstrip()


def shot(name: str) -> str:
    """Return a link to a screenshot, or "" if docs/make/shots.py has not drawn it."""
    return f"![{SHOTS[name]}]({SHOT_FOLDERS[name]}/{name}.svg)" if (DOCS / "shots" / f"{name}.svg").exists() else ""


BLOCKS: dict[str, Callable[[], str]] = {
    "mcp.json": example_registration,
    "tools": reference.tools,
    "tools in brief": reference.tools_in_brief,
    "settings": reference.settings,
    "ten settings": reference.readme_settings,
    "errors": reference.errors,
    "warnings": reference.warnings,
    "commands": reference.commands,
    "clients": reference.clients,
    "registrations": reference.registrations,
    "hook-files": reference.hook_files,
    "peers": reference.peers,
    **{f"client {path.stem}": partial(reference.client_facts, path.stem) for path in (DOCS / "clients").glob("*.md")},
    **{f"worked {name}": lambda name=name: worked_calls()[name] for name in ("fetch", "read", "query", "find", "gone")},  # type: ignore[misc]
    "worked output": worked_output,
    "output picture": lambda: output_picture("shots"),
    "output picture in the README": lambda: output_picture("docs/shots"),
    **{f"shot {name}": lambda name=name: shot(name) for name in SHOTS},  # type: ignore[misc]
    **{
        f"figures: {heading}": lambda heading=heading: benchmark_table(heading)  # type: ignore[misc]
        for heading in (
            "Reading tasks",
            "Any output",
            "Start and first fetch",
            "The shared server",
            "Is the answer inside the window?",
            "Is the answer in a search's result?",
            "Search",
            "Extraction: manuals",
            "Extraction: visible words",
            "Extraction: fidelity",
            "Addresses",
            "Rebinding",
            "A hostile web server",
            "The embedded store",
            "Overhead of a call",
            "Local models",
            "When a process is killed or a disk fails",
        )
    },
}


def render_blocks(text: str) -> str:
    """Return a page with its generated parts updated."""
    for name, make in BLOCKS.items():
        begin, end = f"<!-- begin:{name} -->", f"<!-- end:{name} -->"
        if begin not in text:
            continue
        before, _, rest = text.partition(begin)
        _, _, after = rest.partition(end)
        text = f"{before}{begin}\n{_separate(make())}\n{end}{after}"
    return text


def _separate(part: str) -> str:
    """Surround a table with empty lines, because Markdown would read it and the comment as one paragraph."""
    return part if part.startswith("`") else f"\n{part}\n" if part else ""


def run_console_blocks(text: str) -> str:
    """Return a page with the output of its ```console blocks updated, by running its commands in order."""
    if not _CONSOLE.search(text):
        return text
    with temporary_installation():
        return _CONSOLE.sub(_run_console_block, text)


def _run_console_block(block: re.Match[str]) -> str:
    commands = [line for line in block["lines"].splitlines() if line.startswith("$ keyhole")]
    lines = "".join(f"{command}\n{run_command(command[2:])}" for command in commands)
    longest = max((len(run) for run in re.findall(r"^`{3,}", lines, re.MULTILINE)), default=2)
    fence = max(block["fence"], "`" * (longest + 1))  # longer than any fence in the output
    return f"{fence}console\n{lines}{fence}"


def render_page(path: Path) -> str:
    """Return a page with its generated parts and console output updated."""
    text = render_blocks(path.read_text(encoding="utf-8"))
    return text if path.name in TESTED_ELSEWHERE else run_console_blocks(text)


if __name__ == "__main__":
    for each in PAGES:
        each.write_text(render_page(each), encoding="utf-8")
