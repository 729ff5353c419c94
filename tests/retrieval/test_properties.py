"""Properties of the whole product: budgets, continuations, verbatim text, reproducible bytes and deadlines."""

from __future__ import annotations

import asyncio
import json
import os
import re
import subprocess
import sys
from typing import Any

from hypothesis import example, given, settings
from hypothesis import strategies as st

from keyhole.config.config import MAX_BUDGET, MIN_BUDGET, Config
from keyhole.records import Answer
from keyhole.render.fit import result_json
from tests.support.fakes import HANGS, BrokenStore, page
from tests.support.product import retrieval

URL = "https://example.org/page"
STAMP = {"io.modelcontextprotocol/serverInfo": {"name": "keyhole", "version": "0.1.0"}}
CALL = re.compile(r'^Next: read_artifact\(id="([a-z2-7]{16})", offset=(\d+), limit=(\d+)\)$', re.MULTILINE)
BODY = re.compile(r"--- untrusted text (\w{8}) ---\n(.*)\n--- end \1 ---", re.DOTALL)
GAP = re.compile(r"\n?\[…(\d+):(\d+)\].*\n")

SCRIPTS = (
    "abc <>&\"'\\/`*_#[]()!|~",
    "äöüßéñŠž",
    "кириллица",
    "ελληνικά",
    "हिन्दी में",
    "ไทยภาษา",
    "العربية",
    "中文数据库",
    "日本語テスト",
    "한국어",
    "😀👩‍👩‍👧🏳️‍🌈",
    "\x00\x01\x07\x1b\x7f\x85\u2028\u200b\u202e\ufeff",
    "\ud800\udfff",
    "\t\n\r ",
)
CHARACTERS = st.sampled_from([c for script in SCRIPTS for c in script]) | st.characters()
WORDS = st.text(CHARACTERS, max_size=12)
TEXTS = st.lists(WORDS | st.sampled_from(["\n", "\n\n", "# ", "```\n", "| a | b |\n", "- ", ". ", "word "])).map(
    "".join
)
PAGES = st.builds(lambda text, times: text * times, TEXTS, st.sampled_from([1, 3, 20, 150]))
READABLE = PAGES.map(lambda text: text.replace("\x00", "0").encode(errors="ignore").decode())
"""Texts that Keyhole does not treat as binary."""
BUDGETS = st.one_of(st.none(), st.integers(MIN_BUDGET, 3_000), st.integers(MIN_BUDGET, MAX_BUDGET))


def wire_size(answer: Answer) -> int:
    """Return the bytes of the result in the later protocol."""
    result: dict[str, Any] = result_json(answer)
    result["_meta"] = {**result.get("_meta", {}), **STAMP}
    return len(json.dumps(result, ensure_ascii=False).encode("utf-8"))


def body_of(answer: Answer) -> str:
    found = BODY.search(answer.text)
    assert found, answer.text
    return found[2]


@settings(max_examples=max(200, settings().max_examples))
@given(
    text=PAGES,
    title=WORDS,
    title_times=st.sampled_from([1, 1, 100]),
    query=st.one_of(st.none(), TEXTS),
    budget=BUDGETS,
    kind=st.sampled_from(["text/html", "text/plain", "text/markdown", "application/json"]),
)
@example(text="body", title='"é', title_times=500_000, query=None, budget=None, kind="text/html")
@example(text="body", title='"é', title_times=500_000, query="é", budget=500, kind="text/markdown")
def test_a_result_never_exceeds_its_budget(
    text: str, title: str, title_times: int, query: str | None, budget: int | None, kind: str
) -> None:
    title *= title_times
    markup = f"<title>{title}</title><main><p>{text}</p></main>" if kind == "text/html" else f"# {title}\n\n{text}"
    product = retrieval({URL: page(URL, markup, content_type=kind)})
    answer = asyncio.run(product.web_fetch(URL, query, budget))
    assert len(answer.text) <= (budget or Config().max_chars)


@settings(max_examples=120)
@given(url=TEXTS, budget=BUDGETS, find=TEXTS, id=TEXTS)
def test_an_error_never_exceeds_its_budget(url: str, budget: int | None, find: str, id: str) -> None:
    product = retrieval()
    for answer in (
        asyncio.run(product.web_fetch(url * 50, None, budget)),
        asyncio.run(product.read_artifact(id * 50, find=find)),
    ):
        assert answer.is_error
        assert len(answer.text) <= (budget or Config().max_chars)
        assert re.match(r"[a-z_]+: ", answer.text)


@settings(max_examples=200)
@given(
    text=READABLE,
    limit=st.one_of(st.none(), st.integers(1, 5_000)),
    budget=st.sampled_from([MIN_BUDGET, 1_199, 1_200, 9_000]),
)
def test_joined_windows_are_the_stored_text(text: str, limit: int | None, budget: int) -> None:
    pages = {URL: page(URL, "start " + text, content_type="text/plain")}
    product = retrieval(pages, config=Config(max_chars=budget))
    first = asyncio.run(product.web_fetch(URL, None, 1_000))
    calls = CALL.findall(first.text)
    if not calls:
        return
    stored = product.store.get(calls[0][0]).text
    read, offset, size = "", 0, limit
    for _ in range(len(stored) + 1):
        answer = asyncio.run(product.read_artifact(calls[0][0], offset=offset, limit=size))
        assert len(answer.text) <= max(budget, size or 0)
        read += body_of(answer)
        following = CALL.findall(answer.text)
        if not following or len(read) > 20_000:
            break
        assert len(following) == 1
        assert answer.text.endswith("\n[end]")
        offset = int(following[0][1])
        size = limit or int(following[0][2])
    assert read == stored[: len(read)]
    assert len(read) == len(stored) or len(read) > 20_000


@settings(max_examples=200)
@given(text=READABLE, query=st.one_of(st.none(), WORDS), budget=BUDGETS)
def test_passages_are_verbatim_and_every_gap_names_its_offsets(
    text: str, query: str | None, budget: int | None
) -> None:
    product = retrieval({URL: page(URL, "start " + text, content_type="text/plain")})
    answer = asyncio.run(product.web_fetch(URL, query, budget))
    if answer.is_error or "spans" not in answer.details:
        return
    stored = product.store.get(answer.shown[0][0]).text
    spans = answer.details["spans"]
    assert isinstance(spans, list)
    body, position = body_of(answer), 0
    for start, end, _score in [*spans, [len(stored), len(stored), 0]]:
        assert position <= start <= end <= len(stored)
        if start > position and body:
            gap = GAP.match(body)
            assert gap, body[:80]
            assert (int(gap[1]), int(gap[2])) == (position, start)
            body = body[gap.end() :]
            if body.startswith("|") and not body.startswith(stored[start:end]):
                body = body.partition("\n")[2]  # the header row of a table, which Keyhole repeats
        assert body.startswith(stored[start:end])
        body, position = body[end - start :], end
    assert body == ""


@settings(max_examples=100)
@given(text=READABLE)
def test_continuations_are_offered_only_if_the_text_was_stored(text: str) -> None:
    product = retrieval({URL: page(URL, "start " + text, "text/plain")}, store=BrokenStore())
    answer = asyncio.run(product.web_fetch(URL, None, 1_500))
    assert not answer.is_error
    assert "read_artifact(" not in answer.text
    assert "store_unavailable" in answer.text
    assert answer.facts.get("artifact_id") is None
    assert answer.facts.get("next") is None


SCRIPT = """
import asyncio, sys
sys.path[:0] = sys.argv[1:]
from tests.support.fakes import page
from tests.support.product import retrieval
from keyhole.render.fit import result_json
part = "## Part {n}\\n\\nThe pump number {n} runs at {n}7 rpm. Wörter, 数据库, हिन्दी.\\n\\n"
text = "".join(part.format(n=n) for n in range(900))
product = retrieval({"https://a.example/": page("https://a.example/", text, content_type="text/markdown")})
for query in ("pump 77 rpm", None, "absent unicorn", "数据库"):
    print(result_json(asyncio.run(product.web_fetch("https://a.example/", query, refresh=True))))
"""


def test_a_result_has_the_same_bytes_in_every_process() -> None:
    outputs = set()
    for seed in ("0", "1", "4242"):
        environment = {**os.environ, "PYTHONHASHSEED": seed}
        run = subprocess.run(
            [sys.executable, "-c", SCRIPT, *sys.path], env=environment, capture_output=True, check=True, timeout=60
        )
        outputs.add(run.stdout)
    assert len(outputs) == 1
    assert outputs.pop().count(b"artifact_id") == 4


def test_a_page_that_never_answers_is_a_timeout_error() -> None:
    product = retrieval({URL: HANGS}, config=Config(timeout=0.1))
    answer = asyncio.run(product.web_fetch(URL))
    assert answer.is_error
    assert answer.text.startswith("timeout: ")
