"""Check the text of hostile and legitimate pages: `python -m benchmarks.budget.agent_text ROWS [--failures]`.

Each row of the JSONL file has a page (`html`, `ctype`), the texts that the result must and must not contain
(`must_contain`, `must_not_contain`), and forbidden code points (`must_not_cp`). A row passes if these hold for the text
of `keyhole.extract` and for the result of web_fetch, with and without Markdown's backslash escapes. Lines forged by a
page must stay inside the block of untrusted text. Rows that cannot be run are named.
"""

from __future__ import annotations

import argparse
import asyncio
import re
import sys
import unicodedata
from collections import Counter
from html import unescape
from pathlib import Path
from typing import Any

import keyhole
from benchmarks.rows import Check, is_string, is_text, list_of, load_rows
from keyhole.config.config import Config
from keyhole.errors import KeyholeError
from keyhole.fetch.base import DEFAULT_OPTIONS, FetchOptions
from keyhole.records import Page
from keyhole.retrieval.pages import Pages
from keyhole.retrieval.retrieve import Retrieval
from keyhole.store.sqlite.store import MemoryStore
from keyhole.websearch.panel import Panel
from tests.support.fakes import InProcessExtractor

_CODE_POINT = re.compile(r"U\+(?:10|0?[0-9A-Fa-f])?[0-9A-Fa-f]{4}")
FIELDS: dict[str, Check] = {
    "html": is_string,
    "ctype": is_text,
    "tier": is_string,
    "group": is_string,
    "must_contain": list_of(is_string),
    "must_not_contain": list_of(is_string),
    "must_not_cp": list_of(lambda point: isinstance(point, str) and bool(_CODE_POINT.fullmatch(point))),
}
URL = "https://rows.example/page"
_ESCAPE = re.compile(r"\\([!-/:-@\[-`{-~])")
_BLOCK = re.compile(r"^--- untrusted text (\w{8}) ---\n.*?\n--- end \1 ---$", re.DOTALL | re.MULTILINE)


class OnePageFetcher:
    """A fetcher that returns the same page for every URL."""

    def __init__(self, body: bytes, content_type: str) -> None:
        self._page = Page(URL, URL, 200, content_type, body, 0.0)

    async def fetch(self, url: str, options: FetchOptions = DEFAULT_OPTIONS) -> Page:  # noqa: ARG002 - required by the interface
        return self._page

    async def aclose(self) -> None:
        """Do nothing."""


def find_faults(row: dict[str, Any]) -> list[str]:
    """Return the faults in the text and the result of a row's page."""
    body = row["html"].encode("utf-8", "surrogatepass")
    try:
        document = keyhole.extract(body, url=URL, content_type=row["ctype"])
    except KeyholeError as error:
        return [f"failed: {error.code}"]
    store = MemoryStore(lambda: 0.0)
    product = Retrieval(
        Pages(Config(), OnePageFetcher(body, row["ctype"]), InProcessExtractor(), store, b"0" * 32, lambda: 0.0),
        lambda: Panel(()),
    )
    answer = asyncio.run(product.web_fetch(URL)).text
    texts = (("text", document.text), ("result", answer))
    found = [f"{label}: {fault}" for label, text in texts for fault in _find_text_faults(row, text)]
    outside = _BLOCK.sub("", answer, count=1)
    inner = re.search(r"<pre>(.*?)</pre>", row["html"], re.DOTALL)
    if row.get("group") == "forged-structure" and inner:
        lines = {line.strip() for line in unescape(inner[1]).splitlines() if len(line.strip()) > 3}
        found += [f"outside the block: {line}" for line in sorted(lines) if line in outside]
    return found


def _find_text_faults(row: dict[str, Any], shown: str) -> list[str]:
    forms = [unicodedata.normalize("NFC", text) for text in (shown, _ESCAPE.sub(r"\1", shown))]
    wanted = [unicodedata.normalize("NFC", text) for text in row["must_contain"]]
    found = [f"lacks {text!a}" for text in wanted if not any(text in form for form in forms)]
    found += [f"contains {text!a}" for text in row["must_not_contain"] if any(text in form for form in forms)]
    points = {chr(int(point[2:], 16)): point for point in row["must_not_cp"]}
    return found + [f"has {points[sign]}" for sign in sorted(set(shown) & set(points))]


def main() -> int:
    """Check every row and print the table. Return 1 if a row of tier `must` fails."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("rows", type=Path)
    parser.add_argument("--failures", action="store_true", help="print each row that does not pass")
    options = parser.parse_args()
    passed: Counter[tuple[str, str]] = Counter()
    total: Counter[tuple[str, str]] = Counter()
    rows, unusable = load_rows(options.rows, FIELDS)
    for row in rows:
        wrong = find_faults(row)
        key = (row["tier"], row["group"])
        total[key] += 1
        passed[key] += not wrong
        if wrong and options.failures:
            print(row["id"], row["tier"], row["group"], row.get("why", ""), wrong, sep=" | ")
    print("| tier | group | passed | of |\n|---|---|---:|---:|")
    for tier, group in sorted(total):
        print(f"| {tier} | {group} | {passed[tier, group]} | {total[tier, group]} |")
    for tier in sorted({tier for tier, _ in total}):
        sums = [sum(count for key, count in counter.items() if key[0] == tier) for counter in (passed, total)]
        print(f"| {tier} | all | {sums[0]} | {sums[1]} |")
    return int(unusable > 0 or any(passed[key] < count for key, count in total.items() if key[0] == "must"))


if __name__ == "__main__":
    sys.exit(main())
