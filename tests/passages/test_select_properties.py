"""Properties of `select` that hold for any Unicode text, any query and any budget."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from keyhole.passages import SHORT_TEXT_CHARS, index_text, score_index, select
from keyhole.passages.gaps import shown_part
from keyhole.passages.words import UNSPACED, WORD, fold
from keyhole.text.letters import lower
from keyhole.text.measure import serialized_size

ROOT = Path(__file__).parents[2]
EXAMPLES = settings(max_examples=max(400, settings().max_examples), deadline=None)
"""More of them with the profile "thorough", as `make nightly` runs these tests."""

PIECES = (
    *("\n", "\n\n", " ", ". ", "? ", "\r\n", "\x00", "\u0301", "\u200d", "\udc80", "\ud800\udfff", "İ", "ß", "😀"),
    *("# Siege of Montreal\n", "## Die Übergabe\n", "#### 投降\n", "\n# [A link](http://x.example) `code`\n", "#\n"),
    *(
        "\n```\nmontreal = 1945;\n\nyield\n```\n",
        "```\n",
        "\n~~~\n",
        "| year | city |\n|---|---|\n",
        "| 1945 | Montreal |\n",
    ),
    *(
        "\n- item one\n- item two\n",
        "1. first:\n",
        "The places were these:\n\n",
        "- ",
        "[…0:9] not a gap\n",
        "\n\n\n\n",
    ),
    "The governor of Montreal surrendered in 1945. ",
    "It is not known when he gave the order, but the general says that it was late (see p. 4). ",
    "Vaudreuil! ",
    "Der Gouverneur übergab die Stadt; das Haustürschloß blieb zu. ",
    "蒙特利尔的总督在1945年投降。他们离开了城市。",
    "モントリオールは降伏しました。",
    "การยอมจำนนของเมือง ",
    "मॉन्ट्रियल का गवर्नर। ",
    "중국은 항복했다. ",
    "استسلمت المدينة في عام ١٩٤٥. ",
    "Thành phố đã đầu hàng. ",
    "e\u0301cole ",
    *("a" * 300, "word " * 40, "x" * 700, "." * 200, "蒙" * 200, "\u0301" * 120, "no border, no stop; " * 20),
)
QUERY_WORDS = (
    *("montreal", "Vaudreuil", "投降", "1945", "when", "การยอม", "중국", "item", "İ", "\udc80", "zzz", "école"),
    *("mantreal", "Übergabe", "Tür", "गवर्नर", "المدينة", "x", "word", "a" * 40, "गया", "\u0301", "?", "", "\n", "p."),
)


BYTES = st.binary(max_size=8) | st.binary(min_size=12, max_size=36)
TEXTS = BYTES.map(lambda drawn: "".join(PIECES[byte % len(PIECES)] for byte in drawn))
QUERIES = st.binary(min_size=1, max_size=5).map(
    lambda drawn: " ".join(QUERY_WORDS[byte % len(QUERY_WORDS)] for byte in drawn)
)
BUDGETS = st.integers(60, 2_000) | st.integers(-5, 60)
ANY_TEXT = st.text(st.characters(), max_size=80)
ANY_BUDGET = st.integers(-5, 400) | st.integers()


def starts_after_gap(shown: str, at: int, start: int, end: int) -> set[int]:
    """Return where a passage may begin after the gap line at `at`; its label may be a heading and a header row."""
    if at and shown[at - 1] != "\n":
        if shown[at : at + 1] != "\n":
            return set()
        at += 1
    head = f"[…{start}:{end}]"
    if not shown.startswith((head + "\n", head + " "), at):
        return set()
    line = shown.find("\n", at) + 1
    row = shown.find("\n", line) + 1
    return {line, row} if shown[line:row].lstrip().startswith("|") else {line}


def is_verbatim(shown: str, text: str, spans: tuple[tuple[int, int], ...]) -> bool:
    """Return whether `shown` consists of the spans' text in order and a gap line for each omission."""
    places, position = {0}, 0
    for start, end in (*spans, (len(text), len(text))):
        if start > position:
            places = {after for at in places for after in starts_after_gap(shown, at, position, start)}
        places = {at + end - start for at in places if shown.startswith(shown_part(text, start, end), at)}
        position = end
    return len(shown) in places


def lies_within(spans: tuple[tuple[int, int], ...], wider: tuple[tuple[int, int], ...]) -> bool:
    return all(any(begin <= start and end <= stop for begin, stop in wider) for start, end in spans)


@EXAMPLES
@given(TEXTS | ANY_TEXT)
def test_the_windows_joined_are_the_text(text: str) -> None:
    index = index_text(text)
    ends = [*index.starts[1:], len(text)]
    assert index.starts[0] == 0
    assert all(start < end for start, end in zip(index.starts, ends, strict=True)) or not text
    assert "".join(text[index.starts[window] : index.end(window)] for window in range(index.size)) == text


@EXAMPLES
@given(TEXTS, st.none() | QUERIES, BUDGETS, st.booleans(), st.booleans())
def test_a_selection_fits_the_budget_and_is_verbatim_in_order_and_without_overlap(
    text: str, query: str | None, budget: int, serialized: bool, fill: bool
) -> None:
    measure = serialized_size if serialized else len
    selection = select(text, query, budget, measure=measure, fill=fill)
    assert measure(selection.text) <= max(0, budget)
    assert len(selection.text) <= max(0, budget)
    bounds = [offset for span in selection.spans for offset in span]
    assert bounds == sorted(set(bounds)), "in order, none empty, none adjacent"
    assert all(0 <= offset <= len(text) for offset in bounds)
    assert not selection.text or is_verbatim(selection.text, text, selection.spans)
    assert selection.text or not selection.spans
    assert len(selection.scores) == len(selection.spans)


@EXAMPLES
@given(TEXTS, st.none() | QUERIES, BUDGETS, st.integers(1, 500), st.booleans())
def test_a_larger_budget_shows_all_that_a_smaller_one_shows(
    text: str, query: str | None, budget: int, more: int, serialized: bool
) -> None:
    measure = serialized_size if serialized else len
    smaller = select(text, query, budget, measure=measure)
    larger = select(text, query, budget + more, measure=measure)
    assert lies_within(smaller.spans, larger.spans)


@EXAMPLES
@given(TEXTS, st.none() | QUERIES, BUDGETS)
def test_equal_arguments_give_equal_results(text: str, query: str | None, budget: int) -> None:
    first = select(text, query, budget)
    index_text.cache_clear()  # the result must not depend on the caches
    score_index.cache_clear()
    assert select("".join(list(text)), query, budget) == first


@EXAMPLES
@given(TEXTS | ANY_TEXT, st.none() | QUERIES | ANY_TEXT, ANY_BUDGET)
def test_select_never_raises_and_shows_a_short_text_whole(text: str, query: str | None, budget: int) -> None:
    selection = select(text, query, budget)
    assert selection.total == len(text)
    if budget >= len(text) and (len(text) <= SHORT_TEXT_CHARS or not (query or "").strip()):
        assert selection.text == text


SELECTED = """
import hashlib, sys
from pathlib import Path
from keyhole.extract import extract
from keyhole.passages import select
digest = hashlib.sha256()
for body in sorted(Path(sys.argv[1]).glob("*/body")):
    page = extract(body.read_bytes(), url="https://example.org/", content_type="text/html")
    for query in ("when does autovacuum checkpoint a moved value", "Welche Änderungen gibt es", None):
        for strategy in ("passages", "tf_cosine", "bm25", "head_tail"):
            digest.update(repr(select(page.text, query, 2000, strategy=strategy)).encode())
            digest.update(select(page.text, query, 2000, strategy=strategy).text.encode())
print(digest.hexdigest())
"""


@EXAMPLES
@given(TEXTS | ANY_TEXT, TEXTS, QUERIES, BUDGETS)
def test_a_word_that_is_named_absent_is_nowhere_on_the_page(main: str, rest: str, query: str, budget: int) -> None:
    selection = select(f"{main}\n{rest}", query, budget, main_end=len(main) + 1)
    page = fold(lower(f"{main}\n{rest}"))
    words = set(WORD.findall(page))
    for term in selection.terms:
        absent = fold(lower(term.term))
        if not term.count:
            assert absent not in (page if UNSPACED.match(absent) else words)


def test_results_do_not_depend_on_the_hash_seed() -> None:
    digests = set()
    for seed in ("0", "1", "4711"):
        environment = {**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": str(ROOT / "server")}
        command = [sys.executable, "-c", SELECTED, str(ROOT / "fixtures")]
        run = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
        digests.add(run.stdout)
    assert len(digests) == 1
    assert len(digests.pop().strip()) == 64
