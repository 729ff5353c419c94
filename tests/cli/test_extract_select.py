"""`keyhole extract` and `keyhole select` read files and standard input like fetched pages."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from keyhole.cli.demo_site import fixtures_folder
from keyhole.cli.main import FAILED, main

Captured = pytest.CaptureFixture[str]
PAGE = fixtures_folder() / "sqlite-wal" / "body"
FORMATS = fixtures_folder() / "formats"
KEYHOLE = [sys.executable, "-m", "keyhole"]


def run_piped(words: list[str], body: bytes) -> str:
    """Return the output of a command in its own process, with this standard input."""
    run = subprocess.run([*KEYHOLE, *words], input=body, capture_output=True, check=True, timeout=60)
    return run.stdout.decode()


def test_a_page_is_piped_into_extract_and_from_there_into_select() -> None:
    body = PAGE.read_bytes()
    markdown = run_piped(["extract", "-", "--url", "https://www.sqlite.org/wal.html"], body)
    assert markdown.startswith("Write-Ahead Logging")
    query = ["-q", "checkpoint starvation", "--max-chars", "2000"]
    passages = run_piped(["select", "-", *query], markdown.encode())
    assert passages == run_piped(["select", "-", "--url", "https://www.sqlite.org/wal.html", *query], body)
    assert "Checkpoint starvation." in passages
    assert len(passages) <= 2_001


def test_a_link_is_made_absolute_against_the_url(tmp_path: Path, capsys: Captured) -> None:
    (tmp_path / "page.html").write_text("<p>See <a href='/speed'>how fast it turns</a> in the other part.", "utf-8")
    assert main(["extract", str(tmp_path / "page.html"), "--url", "https://example.org/pumps"]) == 0
    assert "[how fast it turns](https://example.org/speed)" in capsys.readouterr().out


@pytest.mark.parametrize(("url", "target"), [("", "new"), ("https://a.example/x/old", "https://a.example/x/new")])
def test_a_file_that_only_sends_its_reader_on_names_the_address(
    url: str, target: str, tmp_path: Path, capsys: Captured
) -> None:
    (tmp_path / "page.html").write_text("<meta http-equiv='refresh' content='0;url=new'>", "utf-8")
    assert main(["extract", str(tmp_path / "page.html"), "--url", url]) == FAILED
    error = capsys.readouterr().err
    assert f"The page sends its reader on to {target}" in error and "pictures" not in error


def test_extract_prints_the_main_part_and_with_all_the_rest_too(tmp_path: Path, capsys: Captured) -> None:
    links = "".join(f"<li><a href='/{n}'>Go to page {n}</a></li>" for n in range(9))
    article = "".join(
        f"<p>Pump {n} moves water from the lake to the town, and its seal holds for years." for n in range(9)
    )
    (tmp_path / "page.html").write_text(f"<nav><ul>{links}</ul></nav><main><h1>Pumps</h1>{article}</main>", "utf-8")
    file = str(tmp_path / "page.html")
    assert main(["extract", file]) == 0
    printed = capsys.readouterr().out
    assert "Pump 8 moves" in printed
    assert "Go to page" not in printed
    assert main(["extract", file, "--all"]) == 0
    whole = capsys.readouterr().out
    assert whole.startswith(printed)
    assert "# [rest: navigation]" in whole
    assert "Go to page 8" in whole
    assert main(["extract", file, "--json"]) == 0
    facts = json.loads(capsys.readouterr().out)
    assert (facts["main_chars"], facts["total_chars"]) == (len(facts["text"]), len(whole))
    assert main(["select", file, "-q", "seal", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["total_chars"] == len(printed)


def test_json_contains_the_metadata_and_the_counts_of_removed_parts(tmp_path: Path, capsys: Captured) -> None:
    (tmp_path / "page.html").write_text(
        "<html lang=en><title>Pumps</title><meta name=author content='A. Smith'><script>x</script>"
        "<p hidden>secret orders</p><article><h1>Pumps</h1><p>A pump moves water from here to there.</article>",
        encoding="utf-8",
    )
    assert main(["extract", str(tmp_path / "page.html"), "--json"]) == 0
    facts = json.loads(capsys.readouterr().out)
    assert (facts["title"], facts["language"], facts["media_type"]) == ("Pumps", "en", "text/html")
    assert facts["metadata"]["author"] == "A. Smith"
    assert facts["removed"] == {"scripts": 1, "hidden": 1}
    assert facts["total_chars"] == len(facts["text"])


@pytest.mark.parametrize(
    ("name", "words"),
    [("memo.pdf", "notes on reading ranges"), ("pandoc.docx", ""), ("book.epub", ""), ("news.atom", "")],
)
def test_other_formats_are_detected_from_their_content(name: str, words: str, capsys: Captured) -> None:
    assert main(["extract", str(FORMATS / name)]) == 0
    out = capsys.readouterr().out
    assert words in out.lower()
    assert len(out) > 50


@pytest.mark.parametrize("option", ["--explain", "--json"])
def test_characters_that_the_output_encoding_lacks_are_escaped(option: str, tmp_path: Path) -> None:
    (tmp_path / "page.html").write_text(
        "<title>水泵</title><h1>水泵</h1><p>A pump moves 水 from here to there.", "utf-8"
    )
    command = [*KEYHOLE, "select", str(tmp_path / "page.html"), "-q", "水泵", option]
    environment = {**os.environ, "PYTHONIOENCODING": "ascii", "PYTHONUTF8": "0"}
    run = subprocess.run(command, env=environment, capture_output=True, check=True, timeout=60)
    assert run.stdout.isascii()
    assert b"\\u6c34" in run.stdout


def test_the_media_type_comes_from_the_option_or_the_suffix(tmp_path: Path, capsys: Captured) -> None:
    (tmp_path / "table").write_text("a,b\n1,2\n", encoding="utf-8")
    assert main(["extract", str(tmp_path / "table"), "--type", "text/csv"]) == 0
    assert "| a | b |" in capsys.readouterr().out
    (tmp_path / "table.csv").write_text("a,b\n1,2\n", encoding="utf-8")
    assert main(["extract", str(tmp_path / "table.csv")]) == 0
    assert "| a | b |" in capsys.readouterr().out


@pytest.mark.parametrize("command", [["extract"], ["select", "--query", "words"]])
@pytest.mark.parametrize(
    ("name", "content", "step"),
    [
        ("tone.wav", b"RIFF\0\0\0\0WAVE", "Convert the file to a format that is read"),
        ("empty.txt", b"", "There is nothing to read in the file"),
        ("cut.pdf", b"%PDF-1.7", "Check that the file is complete"),
        ("wall.html", b"<title>Just a moment...</title><p>Checking your browser", "save the page from a browser"),
    ],
)
def test_the_next_step_for_a_file_is_about_the_file(
    command: list[str], name: str, content: bytes, step: str, tmp_path: Path, capsys: Captured
) -> None:
    (tmp_path / name).write_bytes(content)
    assert main([*command, str(tmp_path / name)]) == 1
    message = capsys.readouterr().err
    assert step in message
    assert "etch" not in message


def test_an_unreadable_file_is_a_named_error(tmp_path: Path, capsys: Captured) -> None:
    assert main(["extract", str(FORMATS / "encrypted.pdf")]) == 1
    assert capsys.readouterr().err.startswith("encrypted_document: ")
    assert main(["extract", str(tmp_path)]) == 2
    assert ": Is a directory" in capsys.readouterr().err
    (tmp_path / "empty.html").write_bytes(b"")
    assert main(["extract", str(tmp_path / "empty.html")]) == 1
    assert capsys.readouterr().err.startswith("empty_document: ")


def test_a_budget_of_zero_is_refused(capsys: Captured) -> None:
    assert main(["select", str(PAGE), "--budget", "0"]) == 2
    assert capsys.readouterr().err == "keyhole: --max-chars must be at least 1\n"


def test_endless_input_is_read_only_up_to_the_limit(monkeypatch: pytest.MonkeyPatch, capsys: Captured) -> None:
    monkeypatch.setenv("KEYHOLE_MAX_BYTES", "2500")
    assert main(["extract", "/dev/zero"]) == 1
    assert capsys.readouterr().err.startswith("too_large: /dev/zero is larger than 5,000 bytes")


def test_explain_prints_json_with_the_scores_by_ingredient(capsys: Captured) -> None:
    words = ["select", str(PAGE), "--type", "text/html", "-q", "checkpoint starvation", "--budget", "2000"]
    assert main([*words, "--explain"]) == 0
    facts = json.loads(capsys.readouterr().out)
    assert main([*words, "--json", "--explain"]) == 0
    assert json.loads(capsys.readouterr().out) == facts
    assert [shown["start"] for shown in facts["explain"]["passages"]] == [span[0] for span in facts["spans"]]
    assert facts["explain"]["words"][0]["count"] == facts["terms"]["checkpoint"]
    assert main([*words, "--json"]) == 0
    assert "explain" not in json.loads(capsys.readouterr().out)
