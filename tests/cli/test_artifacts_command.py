"""`keyhole artifacts`: its actions, for a person at a terminal and as JSON."""

from __future__ import annotations

import json
import os
import pty
import sqlite3
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from keyhole.cli.commands import ACTIONS
from keyhole.cli.terminal import format_json
from keyhole.records import UNDIGESTED
from keyhole.render.answer import NOTICES
from tests.support.installation import Installation

HOSTILE = "Red \x1b[31malarm\x1b[0m [bold]x[/bold]\r\n\x07\x9b2J \u202eevil :smile: \x1b]0;title\x07"
SHOWN = "Red alarm [bold]x[/bold] evil :smile:"


def test_an_empty_store_names_the_command_that_fills_it(installation: Installation) -> None:
    assert installation.run("list") == (0, "No artifacts yet: `keyhole fetch URL` stores one.\n", "")
    assert installation.facts("list") == []


def test_an_empty_listing_names_the_tenant_or_the_store_in_memory(
    installation: Installation, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert installation.run("list", "--tenant", "ann")[1] == "No artifacts of this tenant.\n"
    monkeypatch.setenv("KEYHOLE_STORE", "memory")
    assert "each process has a store of its own" in installation.run("list")[1]


def test_a_listing_shows_the_last_fetched_first_in_aligned_columns(installation: Installation) -> None:
    old = installation.keep("x" * 1_234, title="Old", fetched_at=1_600_000_000.0)
    new = installation.keep("y", title="A longer title 中文", url="https://other.example/a", fetched_at=1_700_000_000.0)
    code, out, _ = installation.run("list")
    first, second = out.splitlines()
    assert code == 0
    assert first.split()[0] == new.id
    assert second.split()[0] == old.id
    assert "1,234  Old" in second
    assert "2020-09-1" in second
    assert first.index("https") + 2 == second.index("https")  # two characters before it take two columns each
    assert [row["id"] for row in installation.facts("list", "--limit", "1")] == [new.id]


def test_a_listing_can_be_limited_to_sites_and_sorted(installation: Installation) -> None:
    one = installation.keep("a" * 10, url="https://docs.python.org/a", title="Zebra", fetched_at=1e9)
    two = installation.keep("b" * 30, url="https://python.org/b", title="ape", fetched_at=3e8)
    three = installation.keep("c" * 20, url="https://sqlite.org/", title="Bear", fetched_at=2e9)

    def ids(*options: str) -> list[str]:
        return [row["id"] for row in installation.facts("list", *options)]

    assert ids() == [three.id, one.id, two.id]
    assert ids("--site", "python.org") == [one.id, two.id]
    assert ids("--site", "docs.python.org", "--site", "sqlite.org") == [three.id, one.id]
    assert ids("--sort", "size") == [two.id, three.id, one.id]
    assert ids("--sort", "title", "--limit", "2") == [two.id, three.id]
    assert ids("--sort", "url") == [one.id, two.id, three.id]
    assert ids("--sort", "read") == [three.id, two.id, one.id]
    assert installation.run("list", "--site", "none.example")[1] == "No artifacts from these sites.\n"


def test_show_prints_the_whole_text_or_a_range(installation: Installation) -> None:
    stored = installation.keep("# Title\n\nAll of it.\n")
    assert installation.run("show", stored.id) == (0, stored.text, "")
    assert installation.run("show", stored.id, "--offset", "2", "--limit", "5")[1] == "Title\n"
    assert installation.run("show", stored.id, "--offset", "999")[1] == "\n"
    facts = installation.facts("show", stored.id)
    assert (facts["text"], facts["url"], facts["notes"]) == (stored.text, stored.url, {})
    part = installation.facts("show", stored.id, "--offset", "2", "--limit", "5")
    assert (part["text"], part["start"], part["total_chars"]) == ("Title", 2, len(stored.text))


def test_show_prints_links_as_full_urls_because_it_prints_no_address(installation: Installation) -> None:
    stored = installation.keep("See [one](/one).\n", url="https://site.example/page")
    assert installation.run("show", stored.id)[1] == "See [one](https://site.example/one).\n"
    assert installation.facts("show", stored.id)["text"] == stored.text


def test_show_warns_of_an_undigested_text_on_standard_error(installation: Installation) -> None:
    kept = installation.keep("Menu Home", notes=(("notice", UNDIGESTED),))
    assert installation.run("show", kept.id) == (0, "Menu Home\n", f"keyhole: {NOTICES[UNDIGESTED]}\n")
    assert "notice=undigested" in installation.run("show", kept.id, "--meta")[1]
    assert installation.facts("show", kept.id)["notes"] == {"notice": UNDIGESTED}


def test_show_meta_prints_the_metadata_without_the_text(installation: Installation) -> None:
    stored = installation.keep(
        "The text.", author="Ann", notes=(("reader", "1"),), requested_url="https://example.org/asked", cut=True
    )
    out = installation.run("show", stored.id, "--meta")[1]
    assert [line.split(None, 1) for line in out.splitlines()] == [
        ["id:", stored.id], ["title:", "A page"], ["url:", "https://example.org/page"],
        ["requested:", "https://example.org/asked"], ["characters:", "9 (partial)"], ["type:", "text/html"],
        ["language:", "en"], ["fetched:", out.split("fetched:")[1].split("\n")[0].strip()], ["author:", "Ann"],
        ["notes:", "reader=1"],
    ]  # fmt: skip
    assert installation.facts("show", stored.id, "--meta")["text"] == ""


def test_search_prints_the_pages_with_their_best_lines(installation: Installation) -> None:
    pumps = installation.keep(
        "Pumps are nice.\n\nThe pump runs at 40 rpm in the cellar.\n" * 3, title="Pumps", url="https://a.example/"
    )
    installation.keep("Cats sleep all day long in the sun.\n", title="Cats", url="https://b.example/")
    code, out, _ = installation.run("search", "how", "fast", "runs", "the", "pump")
    assert code == 0
    assert out == f"{pumps.id}  Pumps  The pump runs at 40 rpm in the cellar.\n"
    (found,) = installation.facts("search", "pump", "rpm", "--site", "a.example")
    start, end = found["span"]
    assert found["line"] in pumps.text[start:end]
    linked = installation.keep("The [turbine](/turbine) turns.\n", title="Turbines", url="https://c.example/page")
    assert installation.run("search", "turbine")[1] == (
        f"{linked.id}  Turbines  The [turbine](https://c.example/turbine) turns.\n"
    )
    code, out, err = installation.run("search", "zebra")
    assert (code, out) == (1, "")
    assert err.startswith("no_results: no stored page contains a word of the question: zebra. ")


def test_artifacts_are_removed_by_id_and_a_missing_id_is_reported(installation: Installation) -> None:
    one, two = installation.keep("one"), installation.keep("two")
    code, out, _ = installation.run("rm", one.id, "zzz")
    assert (code, out) == (1, f"{one.id}  removed\nzzz               not found\n")
    assert installation.facts("rm", two.id) == {two.id: True}
    assert installation.ids() == []


def test_all_artifacts_are_removed_only_with_yes(installation: Installation) -> None:
    installation.keep("one")
    code, _, err = installation.run("rm", "--all")
    assert (code, err) == (2, "keyhole: rm --all deletes 1 artifacts: add --yes to confirm\n")
    assert len(installation.ids()) == 1
    assert installation.run("rm", "--all", "--yes")[:2] == (0, "1 removed\n")
    assert installation.run("rm", "--all", "--yes")[:2] == (0, "0 removed\n")


@pytest.mark.parametrize(
    "words", [(), ("--yes",), ("a" * 16, "--all", "--yes"), ("--all", "--yes", "--older-than", "1d")]
)
def test_rm_needs_exactly_one_way_to_select_artifacts(installation: Installation, words: tuple[str, ...]) -> None:
    code, _, err = installation.run("rm", *words)
    assert code == 2
    assert "needs IDs, or --older-than AGE, or --all --yes" in err


def test_rm_older_than_removes_the_artifacts_that_were_not_read_for_that_time(installation: Installation) -> None:
    old, new = installation.keep("old"), installation.keep("new")
    with sqlite3.connect(installation.home / "artifacts.db") as file:
        file.execute("UPDATE entries SET last_access = ? WHERE id = ?", [time.time() - 3 * 86_400, old.id])
    file.close()
    assert installation.run("rm", "--older-than", "4d")[1] == "0 removed\n"
    assert installation.facts("rm", "--older-than", "71h") == {old.id: True}
    assert installation.ids() == [new.id]


def test_pinned_artifacts_are_listed_as_such_and_stay(installation: Installation) -> None:
    old, other = installation.keep("old", fetched_at=1e9), installation.keep("other", fetched_at=2e9)
    assert installation.run("pin", old.id) == (0, f"{old.id}  pinned\n", "")
    with sqlite3.connect(installation.home / "artifacts.db") as file:
        file.execute("UPDATE entries SET last_access = 5")
    file.close()
    assert [(row["id"], row["pinned"]) for row in installation.facts("list")] == [(old.id, True)]
    assert installation.run("list")[1].endswith("  pinned\n")
    assert installation.facts("gc")["dropped"] == 1
    assert installation.facts("rm", "--older-than", "1d") == {}
    assert installation.run("unpin", old.id, other.id, "--json")[0] == 1
    assert installation.facts("list")[0]["pinned"] is False


def test_gc_reports_what_it_deleted_and_freed(installation: Installation) -> None:
    stored = installation.keep("x" * 5_000)
    with sqlite3.connect(installation.home / "artifacts.db") as file:
        file.execute("UPDATE entries SET last_access = 5")
    file.close()
    assert installation.facts("gc")["dropped"] == 1
    assert installation.run("gc")[1].startswith("0 deleted; freed 0 bytes of text and ")
    code, _, err = installation.run("show", stored.id)
    assert code == 1
    assert err.startswith("expired_artifact: ")
    assert err.endswith("Fetch it again: keyhole fetch https://example.org/page\n")


def test_stats_prints_readable_sizes(installation: Installation) -> None:
    installation.keep("x" * 5_000)
    out = installation.run("stats")[1]
    assert "artifacts:  1, 1 different texts\n" in out.replace("artifacts: ", "artifacts:  ", 1).replace("   ", "  ")
    assert "5.0 kB" in out
    assert "of at most 2.1 GB" in out
    assert installation.facts("stats")["text_bytes"] == 5_000


def test_verify_of_an_undamaged_store_exits_with_0(installation: Installation) -> None:
    installation.keep("x")
    assert installation.run("verify")[:2] == (0, "1 checked, 0 damaged and set aside\n")
    assert installation.facts("verify") == {"checked": 1, "damaged": [], "file": "whole"}


def test_a_tenant_has_a_store_of_its_own(installation: Installation) -> None:
    stored = installation.keep("theirs", tenant="ann")
    assert installation.ids() == []
    assert [row["id"] for row in installation.facts("list", "--tenant", "ann")] == [stored.id]
    assert installation.run("show", stored.id)[0] == 1
    assert installation.run("show", stored.id, "--tenant", "ann")[1] == "theirs\n"
    assert installation.run("rm", stored.id, "--tenant", "../ann")[0] == 1


@pytest.mark.parametrize(
    "words",
    [("list", "--limit", "0"), ("list", "--limit", "9" * 30), ("list", "--sort", "age"), ("show",),
     ("show", "a", "--offset", "-1"), ("rm", "--older-than", "3"), ("rm", "--older-than", "nan"), ("sell",), (),
     ("search",)],
)  # fmt: skip
def test_a_wrong_command_line_exits_with_2_and_prints_the_usage(
    installation: Installation, words: tuple[str, ...]
) -> None:
    code, out, err = installation.run(*words)
    assert (code, out) == (2, "")
    assert err.startswith("usage: keyhole artifacts")


@pytest.mark.parametrize("action", ACTIONS)
def test_every_action_has_help_of_its_own_and_takes_json_and_a_tenant(installation: Installation, action: str) -> None:
    assert action in installation.run()[2]  # usage names them all
    code, out, _ = installation.run(action, "--help")
    assert code == 0
    assert out.startswith(f"usage: keyhole artifacts {action} ")
    assert "--json" in out
    assert "--tenant NAME" in out


@pytest.mark.parametrize(
    "words",
    [("list",), ("show", "ID", "--meta"), ("show", "ID"), ("search", "alarm"), ("list", "--json"),
     ("show", "ID", "--json"), ("search", "alarm", "--json")],
)  # fmt: skip
def test_control_characters_in_a_pages_metadata_never_reach_the_terminal(
    installation: Installation, words: tuple[str, ...]
) -> None:
    # Only a store that was tampered with has such text: fetched pages are cleaned before they are stored.
    stored = installation.keep(
        f"The alarm. {HOSTILE}\n",
        title=HOSTILE,
        author=HOSTILE,
        site=HOSTILE,
        url=f"https://e.example/\x1b[5m{HOSTILE}",
    )
    code, out, _ = installation.run(*(stored.id if word == "ID" else word for word in words))
    assert code == 0
    assert not [sign for sign in out if sign != "\n" and (not sign.isprintable() or sign == "\u202e")]
    if "--json" not in words:
        assert SHOWN in " ".join(out.split())


def _at_a_terminal(home: Path, *words: str, **environment: str) -> str:
    """Return the output of the command on a terminal of 100 columns."""
    leader, follower = pty.openpty()
    os.set_blocking(leader, True)
    command = [sys.executable, "-m", "keyhole", "artifacts", *words]
    with subprocess.Popen(
        command,
        stdin=subprocess.DEVNULL,
        stdout=follower,
        stderr=follower,
        env={**os.environ, "KEYHOLE_HOME": str(home), "COLUMNS": "100", "TERM": "xterm-256color", **environment},
    ) as process:
        os.close(follower)
        drawn = b""
        try:
            while piece := os.read(leader, 65_536):
                drawn += piece
        except OSError:  # raised on Linux when the other side is closed
            pass
        assert process.wait(timeout=30) == 0
    os.close(leader)
    return drawn.decode()


def test_on_a_terminal_ids_are_never_shortened_and_markup_is_plain_text(installation: Installation) -> None:
    stored = installation.keep(
        "x" * 1_234, title=HOSTILE + " and more words" * 9, url="https://example.org/" + "long/" * 30
    )
    drawn = _at_a_terminal(installation.home, "list")
    header, row = drawn.splitlines()
    assert "\x1b[1m" in header
    assert row.startswith(stored.id)
    assert "1,234" in row
    assert "Red alarm [bold]x[/bold…" in row
    assert "…" in row
    assert "\x1b" not in row
    assert len(row) <= 100
    plain = _at_a_terminal(installation.home, "list", NO_COLOR="1", TERM="dumb")
    assert "\x1b" not in plain


def test_a_search_of_a_large_store_opens_no_more_than_it_ranks(installation: Installation) -> None:
    for number in range(30):
        installation.keep(
            f"The pump number {number} runs.\n", url=f"https://example.org/{number}", title=f"Pump {number}"
        )
    assert len(installation.facts("search", "pump", "--limit", "3")) == 3


def test_json_escapes_control_characters_and_parses_back_to_the_same_value() -> None:
    value: dict[str, Any] = {"text": 'ä 中 \x1b\x7f\x9b\u2028\u202e\ud800 "\\'}
    encoded = format_json(value)
    assert encoded.isprintable()
    assert "ä 中" in encoded
    assert json.loads(encoded) == value


def test_a_store_that_cannot_be_opened_is_a_named_error_or_a_warning(installation: Installation) -> None:
    installation.home.mkdir()
    (installation.home / "artifacts.db").mkdir()
    for words in (("list",), ("stats",), ("verify",), ("gc",)):
        code, _, err = installation.run(*words)
        assert code in (0, 1)
        assert "store_" in err or "kept_in_memory" in err
        assert code == 0 or "KEYHOLE_HOME" in err  # the setting to check, not a tool to call
