"""`--explain` on real calls: the parts returned, their scores, the parts left out, engines and sources."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path

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
        monkeypatch.setenv("COLUMNS", "100")
        yield f"http://127.0.0.1:{port}"


def test_a_fetched_page_is_plotted_with_its_passages_and_the_parts_left_out(site: str, capsys: Captured) -> None:
    assert main(["fetch", f"{site}/sqlite-wal", *QUERY, "--budget", "3000", "--explain"]) == 0
    out = capsys.readouterr().out
    assert out.startswith("Title: Write-Ahead Logging\n")
    assert "\npage   |" in out
    assert "#  6. Avoiding" not in out
    assert "# 6. Avoiding Excessively Large WAL Files" in out
    assert "\nword   |" in out
    assert "words +" in out
    assert "feedback +" in out
    assert "Left out: 3 scripts and styles, 2 comments" in out
    size = int(out.rpartition("Result: ")[2].split(" ")[0].replace(",", ""))
    assert 1_000 < size <= 3_000


def test_json_with_explain_adds_the_view_and_changes_nothing_else(site: str, capsys: Captured) -> None:
    assert main(["fetch", f"{site}/sqlite-wal", *QUERY, "--max-chars", "3000", "--json"]) == 0
    bare = json.loads(capsys.readouterr().out)
    assert main(["fetch", f"{site}/sqlite-wal", *QUERY, "--max-chars", "3000", "--json", "--explain"]) == 0
    facts = json.loads(capsys.readouterr().out)
    view = facts.pop("explain")
    assert facts == bare
    assert [[shown["start"], shown["end"], shown["score"]] for shown in view["passages"]] == bare["spans"]
    assert all(dict(shown["parts"]) for shown in view["passages"])


def test_a_stored_page_is_explained_as_a_range_a_question_and_a_quote(site: str, capsys: Captured) -> None:
    main(["fetch", f"{site}/sqlite-wal", "--json"])
    id = json.loads(capsys.readouterr().out)["artifact_id"]
    assert main(["read", id, "--offset", "10000", "--limit", "3000", "--explain"]) == 0
    assert re.search(r"Shown: 3,000 of 3\d,\d{3} characters \([\d.]+ %\) in 1 range\.", capsys.readouterr().out)
    assert main(["read", id, "--find", "Checkpoint starvation", "--explain", "--json"]) == 0
    ((start, end),) = json.loads(capsys.readouterr().out)["explain"]["spans"]
    assert 0 < end - start < 100
    assert main(["read", id, *QUERY, "--limit", "2000", "--explain"]) == 0
    out = capsys.readouterr().out
    assert "The best passage covers" in out
    assert "For a stored page the numbers of " in out


def test_a_failed_call_prints_its_error_and_no_plot(site: str, capsys: Captured) -> None:
    assert main(["fetch", f"{site}/missing", "--explain"]) == 1
    captured = capsys.readouterr()
    assert (captured.out, captured.err.partition(":")[0]) == ("", "not_found")


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
        assert main(["search", "checkpoint starvation", "--explain", "--budget", "4000"]) == 0
    out = capsys.readouterr().out
    assert "Engine intranet: answered\n" in out
    assert "Engine broken: " in out
    assert "Engine broken: answered" not in out
    assert "Source [1] Write-Ahead Logging\n" in out
    assert "  shown; best score " in out
    assert "not read: not_found" in out
    assert f"  the same text at {copy}\n" in out
