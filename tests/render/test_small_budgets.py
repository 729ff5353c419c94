"""At small budgets the lines around a text are shorter, but its caveats are still there."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
from pathlib import Path

import pytest

from keyhole.config.config import MIN_BUDGET, Config
from keyhole.records import Artifact, ArtifactPart, Selection, Window
from keyhole.render.answer import NOTICES, WEAK_BRIEFLY, Style, page_answer, window_answer
from keyhole.render.budget import BRIEF_BELOW
from keyhole.retrieval.retrieve import Retrieval
from tests.support.fakes import page
from tests.support.product import retrieval

URL = "https://pumps.example/manual"
BRIEF = Style(b"0" * 32, "brief")
TEXT = "<h1>Pumps</h1>" + "<p>The pump runs at 40 rpm, and its seal holds.</p>" * 40


def product(budget: int = 9_000) -> Retrieval:
    return retrieval({URL: page(URL, TEXT, cut=True)}, config=Config(max_chars=budget))


@pytest.mark.parametrize("budget", [MIN_BUDGET, 700, BRIEF_BELOW - 1, BRIEF_BELOW])
def test_a_truncated_page_is_marked_at_every_budget(budget: int) -> None:
    agent = product(budget)
    answer = asyncio.run(agent.web_fetch(URL))
    assert "Partial" in answer.text
    window = asyncio.run(agent.read_artifact(id_of(agent)))
    assert "Partial" in window.text


def test_a_truncated_source_of_a_search_is_marked() -> None:
    agent = product()
    asyncio.run(agent.web_fetch(URL))
    assert "Partial: " in asyncio.run(agent.search("pump seal", scope="stored")).text


def test_a_query_without_matches_is_reported_within_the_smallest_budget() -> None:
    assert "Nothing matches the query." in asyncio.run(product().web_fetch(URL, "zebra", MIN_BUDGET)).text


def test_brief_notices_keep_the_text_before_their_colon() -> None:
    texts = [brief_notice(notice) for notice in NOTICES]
    assert "Only a preview." in texts[0]
    assert all(len(text) < 200 for text in texts)


def test_a_weak_match_is_reported_within_the_smallest_budget() -> None:
    weak = Selection("passages", 100, ((0, 4),), (1.0,), "Pump", matched=True, weak=True)
    answer = page_answer(artifact(""), weak, BRIEF, following=None, has_query=True)
    assert WEAK_BRIEFLY in answer.text


@pytest.mark.skipif(sys.platform == "win32", reason="closed pipes behave differently on Windows")
def test_a_command_ends_quietly_when_its_output_pipe_is_closed(tmp_path: Path) -> None:
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


def brief_notice(notice: str) -> str:
    return window_answer(ArtifactPart(artifact(notice), 0, 4), Window(0, 4, 4), BRIEF, following=None).text


def test_a_page_that_only_shows_another_document_names_it_as_the_next_call() -> None:
    frame = "<title>Plan</title><h1>Plan</h1><iframe src='/files/plan of 2026.pdf'></iframe>"
    answer = asyncio.run(retrieval({URL: page(URL, frame)}).web_fetch(URL))
    assert 'web_fetch(url="https://pumps.example/files/plan%20of%202026.pdf").' in answer.text
