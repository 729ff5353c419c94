"""Small budgets: the words around a text shrink, but what the text is not is told within any of them."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
from pathlib import Path

import pytest

from keyhole.budget.budget import BRIEF_BELOW
from keyhole.config.config import Config
from keyhole.config.schema import MIN_BUDGET
from keyhole.records import Artifact, Part, Selection, Window
from keyhole.render.answer import NOTICES, WEAK_BRIEFLY, page_answer, window_answer
from keyhole.retrieval.retrieve import Retrieval
from tests.support.fakes import page
from tests.support.product import retrieval

URL = "https://pumps.example/manual"
TEXT = "<h1>Pumps</h1>" + "<p>The pump runs at 40 rpm, and its seal holds.</p>" * 40


def product(budget: int = 9_000) -> Retrieval:
    return retrieval({URL: page(URL, TEXT, cut=True)}, config=Config(max_chars=budget))


@pytest.mark.parametrize("budget", [MIN_BUDGET, 700, BRIEF_BELOW - 1, BRIEF_BELOW])
def test_a_page_that_was_cut_never_passes_for_whole(budget: int) -> None:
    agent = product(budget)
    answer = asyncio.run(agent.web_fetch(URL))
    assert "Partial" in answer.text
    reading_on = asyncio.run(agent.read_artifact(id_of(agent)))
    assert "Partial" in reading_on.text


def test_a_source_of_a_search_that_was_cut_says_so() -> None:
    agent = product()
    asyncio.run(agent.web_fetch(URL))
    assert "Partial: " in asyncio.run(agent.search("pump seal", scope="stored")).text


def test_a_query_that_matches_nothing_is_told_so_within_the_smallest_budget() -> None:
    assert "Nothing matches the query." in asyncio.run(product().web_fetch(URL, "zebra", MIN_BUDGET)).text


def test_notices_keep_what_stands_before_their_colon() -> None:
    told = [wording_of(notice) for notice in NOTICES]
    assert "Only a preview." in told[0]
    assert all(len(text) < 200 for text in told)


def test_a_weak_match_is_told_within_the_smallest_budget() -> None:
    weak = Selection("passages", 100, ((0, 4),), (1.0,), "Pump", weak=True)
    answer = page_answer(artifact(""), weak, mark="m", next_window=None, has_query=True, warning="", brief=True)
    assert WEAK_BRIEFLY in answer.text


@pytest.mark.skipif(sys.platform == "win32", reason="pipes break otherwise there")
def test_a_command_whose_reader_has_left_ends_quietly(tmp_path: Path) -> None:
    reading_end, writing_end = os.pipe()
    os.close(reading_end)
    text = tmp_path / "page.txt"
    text.write_text("The pump runs at 40 rpm.", encoding="utf-8")
    command = [sys.executable, "-m", "keyhole", "select", str(text), "--query", "pump"]
    done = subprocess.run(command, stdout=writing_end, stderr=subprocess.PIPE, check=False, timeout=60)
    os.close(writing_end)
    assert (done.returncode, done.stderr) == (0, b"")


def id_of(agent: Retrieval) -> str:
    return str(asyncio.run(agent.web_fetch(URL, max_chars=9_000)).facts["artifact_id"])


def artifact(notice: str) -> Artifact:
    return Artifact("id", URL, URL, "Pumps", "Pump", "text/html", "en", 0.0, notes=(("notice", notice),))


def wording_of(notice: str) -> str:
    return window_answer(Part(artifact(notice), 0, 4), Window(0, 4, 4), mark="m", next_window=None, brief=True).text
