"""The parts of README.md that are made from the code. `python tests/readme.py` writes them anew."""

from __future__ import annotations

import asyncio
from pathlib import Path

from fakes import page
from keyhole.config import Config
from keyhole.errors import RULES
from keyhole.settings import SETTINGS
from keyhole.site import recorded_pages
from keyhole.tools import tool_list
from product import retrieval

ROOT = Path(__file__).resolve().parents[1]
README = ROOT / "README.md"
QUESTION = "How is the vacuum threshold that triggers autovacuum defined?"


def transcript() -> str:
    """A real call on a recorded page, with a fixed secret so that its id is always the same."""
    recorded = recorded_pages()["routine-vacuuming"]
    product = retrieval({recorded.url: page(recorded.url, recorded.body, content_type=recorded.content_type)})
    answer = asyncio.run(product.web_fetch(recorded.url, QUESTION, 2_500))
    call = f'web_fetch(url="{recorded.url}",\n          query="{QUESTION}", max_chars=2500)'
    return f"````text\n{call}\n\n{answer.text}\n````"


def registration() -> str:
    """`mcp.json.example` as it is."""
    return f"```json\n{(ROOT / 'mcp.json.example').read_text(encoding='utf-8')}```"


def tools() -> str:
    """Each tool with its description and arguments."""
    parts = []
    for tool in tool_list():
        rows = ["| argument | what |", "| --- | --- |"]
        for name, schema in tool.input_schema["properties"].items():
            needed = " (required)" if name in tool.input_schema.get("required", []) else ""
            rows.append(f"| `{name}`{needed} | {schema['description']} |")
        parts.append(f"### `{tool.name}`\n\n{tool.description}\n\n" + "\n".join(rows))
    return "\n\n".join(parts)


def settings() -> str:
    """Every setting with its default."""
    rows = ["| variable | unit | default | what for |", "| --- | --- | --- | --- |"]
    for setting in SETTINGS:
        default = getattr(Config(), setting.field)
        rows.append(f"| `{setting.variable}` | {setting.unit} | {_default(default)} | {setting.reason} |")
    return "\n".join(rows)


def _default(value: object) -> str:
    if isinstance(value, tuple):
        return f"`{','.join(value)}`" if value else ""
    if isinstance(value, frozenset):
        return f"`{','.join(map(str, sorted(value)))}`" if value else ""
    if isinstance(value, bool):
        return "`on`" if value else "`off`"
    if isinstance(value, int | float):
        return f"{value:,}" if value >= 10_000 else f"{value:g}"
    return f"`{value}`" if value else ""


def errors() -> str:
    """Every error code."""
    rows = ["| code | retry helps | next step |", "| --- | --- | --- |"]
    rows += [f"| `{code}` | {'yes' if rule.retry else 'no'} | {rule.next_step} |" for code, rule in RULES.items()]
    return "\n".join(rows)


BLOCKS = {
    "transcript": transcript,
    "mcp.json": registration,
    "tools": tools,
    "settings": settings,
    "errors": errors,
}


def rendered(text: str) -> str:
    """A README with every generated block made anew."""
    for name, make in BLOCKS.items():
        begin, end = f"<!-- begin:{name} -->", f"<!-- end:{name} -->"
        before, _, rest = text.partition(begin)
        _, _, after = rest.partition(end)
        text = f"{before}{begin}\n{make()}\n{end}{after}"
    return text


if __name__ == "__main__":
    README.write_text(rendered(README.read_text(encoding="utf-8")), encoding="utf-8")
