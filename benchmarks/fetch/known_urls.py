"""Test the URL policy `known` with URLs that a model may have built to leak data.

    python -m benchmarks.fetch.known_urls FILE

FILE has a JSON object per line with `url` and `known`. The URLs with `known` are stored as search results, as Markdown
links, or as plain text of a page. For each of these ways, the policy is applied to every URL of the file, and to other
spellings of the known URLs. Rows that cannot be run are named. Uses no network.
"""

from __future__ import annotations

import asyncio
import re
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from benchmarks.rows import Check, is_text, load_rows, one_of
from keyhole.config.config import Config
from keyhole.errors import Code, KeyholeError
from keyhole.fetch.urls import hash_page_urls
from keyhole.retrieval.url_policy import check_url_policy, remember_urls
from keyhole.store.base import Limits
from keyhole.store.sqlite.store import SqliteStore

WAYS = ("search result", "Markdown link", "bare in text")
FIELDS: dict[str, Check] = {"url": is_text, "known": one_of(True, False)}
PAGE = "https://page-that-was-read.example/"


async def remember(store: SqliteStore, url: str, way: str) -> None:
    """Make a URL known to the store in one of WAYS."""
    if way == "search result":
        return await remember_urls([url], store)
    text = f"Before [words]({url}) after." if way == "Markdown link" else f"Before {url}, after."
    store.remember(hash_page_urls(PAGE, text))
    return None


def spellings(url: str) -> list[str]:
    """Return equivalent spellings of a URL, itself included."""
    scheme, _, rest = url.partition("://")
    host = re.split("[/?#]", rest, maxsplit=1)[0]
    path = rest.removeprefix(host)
    bare = url.partition("#")[0]
    port = f"{scheme}://{host}:443{path}" if scheme == "https" and ":" not in host else url
    return [url, bare, f"{bare}#other", f"{scheme.upper()}://{host.upper()}{path}", port]


async def is_allowed(url: str, store: SqliteStore) -> bool:
    """Return True if the policy allows a URL."""
    try:
        await check_url_policy(url, Config(url_policy="known"), store)
    except KeyholeError as error:
        if error.code not in {Code.URL_NOT_KNOWN, Code.INVALID_URL, Code.SCHEME_NOT_ALLOWED}:
            raise
        return False
    return True


async def main(rows: list[dict[str, Any]]) -> int:
    """Print a line for each way. Return 0 if all known URLs and no others were allowed."""
    known = [row["url"] for row in rows if row["known"]]
    others = [row["url"] for row in rows if not row["known"]]
    wrong = 0
    for way in WAYS:
        with TemporaryDirectory() as folder:
            store = SqliteStore(Path(folder), lambda: 0.0, Limits(1e9, 10**9))
            for url in known:
                await remember(store, url, way)
            tried = [spelling for url in known for spelling in spellings(url)]
            missed = [url for url in tried if not await is_allowed(url, store)]
            leaked = [url for url in others if await is_allowed(url, store)]
            store.close()
        wrong += len(missed) + len(leaked)
        print(f"{way}: {len(tried) - len(missed)} of {len(tried)} spellings of {len(known)} known URLs pass; ", end="")
        print(f"{len(others) - len(leaked)} of {len(others)} others are refused")
        for url in missed + leaked:
            print(f"  wrong: {url[:150]!a}")
    return int(wrong > 0)


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("usage: python -m benchmarks.fetch.known_urls FILE")
    loaded, unusable = load_rows(Path(sys.argv[1]), FIELDS)
    sys.exit(int(asyncio.run(main(loaded)) or unusable > 0))
