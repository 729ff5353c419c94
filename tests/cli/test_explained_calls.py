"""`--explain` on real calls: the parts returned, their scores, the parts left out, engines and sources."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from keyhole.cli.demo_site import recorded_pages, serve
from keyhole.cli.main import main
from tests.support.loopback import response
from tests.support.loopback import serve as answering

Captured = pytest.CaptureFixture[str]
QUERY = ["-q", "checkpoint starvation"]


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    with serve(recorded_pages()) as port:
        monkeypatch.setenv("KEYHOLE_HOME", str(tmp_path / "home"))
        monkeypatch.setenv("KEYHOLE_ALLOW_PRIVATE", f"127.0.0.1:{port}")
        monkeypatch.setenv("KEYHOLE_LOG_LEVEL", "ERROR")
        yield f"http://127.0.0.1:{port}"


def explain(words: list[str], capsys: Captured) -> dict[str, Any]:
    """Return the explanation that a command prints."""
    assert main([*words, "--explain"]) == 0
    explanation: dict[str, Any] = json.loads(capsys.readouterr().out)["explain"]
    return explanation


def test_a_fetched_page_is_explained_with_its_passages_and_the_parts_left_out(site: str, capsys: Captured) -> None:
    view = explain(["fetch", f"{site}/sqlite-wal", *QUERY, "--budget", "3000"], capsys)
    assert view["title"] == "Write-Ahead Logging"
    shown = {section["title"] for section in view["sections"] if section["shown"]}
    assert "6. Avoiding Excessively Large WAL Files" in shown
    assert [word["word"] for word in view["words"]] == ["checkpoint", "starvation"]
    assert {"words", "feedback"} <= {name for passage in view["passages"] for name, _ in passage["parts"]}
    assert view["removed"] == [["scripts", 3], ["comments", 2]]


def test_explain_adds_the_view_to_the_json_and_changes_nothing_else(site: str, capsys: Captured) -> None:
    words = ["fetch", f"{site}/sqlite-wal", *QUERY, "--max-chars", "3000"]
    assert main([*words, "--json"]) == 0
    bare = json.loads(capsys.readouterr().out)
    assert main([*words, "--explain"]) == 0
    facts = json.loads(capsys.readouterr().out)
    view = facts.pop("explain")
    assert facts == bare
    assert [[shown["start"], shown["end"], shown["score"]] for shown in view["passages"]] == bare["spans"]
    assert all(dict(shown["parts"]) for shown in view["passages"])
    assert main([*words, "--json", "--explain"]) == 0
    assert json.loads(capsys.readouterr().out)["explain"] == view


def test_a_stored_page_is_explained_as_a_range_a_question_and_a_quote(site: str, capsys: Captured) -> None:
    main(["fetch", f"{site}/sqlite-wal", "--json"])
    id = json.loads(capsys.readouterr().out)["artifact_id"]
    assert explain(["read", id, "--offset", "10000", "--limit", "3000"], capsys)["spans"] == [[10_000, 13_000]]
    ((start, end),) = explain(["read", id, "--find", "Checkpoint starvation"], capsys)["spans"]
    assert 0 < end - start < 100
    view = explain(["read", id, *QUERY, "--limit", "2000"], capsys)
    assert view["coverage"] > 0
    assert not view["read"]


def test_a_failed_call_prints_its_error_as_json(site: str, capsys: Captured) -> None:
    assert main(["fetch", f"{site}/missing", "--explain"]) == 1
    facts = json.loads(capsys.readouterr().out)
    assert facts["is_error"]
    assert facts["text"].startswith("not_found: ")
    assert "explain" not in facts


def test_a_search_shows_its_engines_the_pages_read_and_the_copies_dropped(
    site: str, tmp_path: Path, capsys: Captured, monkeypatch: pytest.MonkeyPatch
) -> None:
    copy = f"{site.replace('127.0.0.1', 'localhost')}/sqlite-wal"
    monkeypatch.setenv("KEYHOLE_ALLOW_PRIVATE", f"{site[7:]},{site[7:].replace('127.0.0.1', 'localhost')}")
    urls = [f"{site}/sqlite-wal", f"{site}/missing", f"{site}/routine-vacuuming", copy]
    found = json.dumps({"items": [{"u": url, "t": f"Page {place}"} for place, url in enumerate(urls)]})
    with answering({"/find?q=checkpoint%20starvation": response(found.encode())}) as intranet:
        (tmp_path / "engines.toml").write_text(
            f"[[engine]]\nname = 'intranet'\nurl = '{intranet.url('/find?q={query}')}'\n"
            "results = 'items'\nlink = 'u'\ntitle = 't'\nsnippet = 't'\n"
            f"[[engine]]\nname = 'broken'\nurl = '{intranet.url('/nothing?q={query}')}'\n"
            "results = 'items'\nlink = 'u'\ntitle = 't'\nsnippet = 't'\n",
            encoding="utf-8",
        )
        monkeypatch.setenv("KEYHOLE_ENGINES_FILE", str(tmp_path / "engines.toml"))
        monkeypatch.setenv("KEYHOLE_ENGINES", "intranet,broken")
        view = explain(["search", "checkpoint starvation", "--budget", "4000"], capsys)
    engines = dict(view["engines"])
    assert engines["intranet"] == "answered"
    assert engines["broken"] != "answered"
    first = view["sources"][0]
    assert (first["title"], first["state"], first["copies"]) == ("Write-Ahead Logging", "shown", [copy])
    assert any(source["state"] == "not read: not_found" for source in view["sources"])
