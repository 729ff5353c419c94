"""The benchmark of hostile bodies: its kinds, a run of two of them against a real shared server, and its misses."""

from __future__ import annotations

import json
import sys
from itertools import count
from pathlib import Path

import pytest

from benchmarks.server.hostile_bodies.__main__ import KINDS, line_of, main
from benchmarks.server.hostile_bodies.attack import HOST, NUMBER, TOKEN, BodyKind, SiteReply, fetch, place
from benchmarks.server.hostile_bodies.engines import CUSTOM
from benchmarks.server.hostile_bodies.measure import MAX_DELAY, MAX_MEMORY, Row, find_faults, make_attacks
from benchmarks.server.hostile_bodies.site import MISSING, HostileSite
from benchmarks.server.hostile_bodies.transport import MAX_HEADERS


def test_there_are_over_thirty_kinds_with_names_of_their_own() -> None:
    assert len({kind.name for kind in KINDS}) == len(KINDS) > 30


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.name)
def test_a_kind_has_bodies_within_its_limit_at_addresses_that_its_calls_reach(kind: BodyKind) -> None:
    for attack in make_attacks(kind, kind.limit // 100, count(10_000)):
        assert attack.targets and set(attack.targets) <= set(attack.routes)
        assert NUMBER not in json.dumps([dict(attack.arguments), attack.targets])
        for reply in attack.routes.values():
            assert len(reply.body) <= max(kind.limit, 1_000_000)
            assert sum(len(name) + len(value) for name, value in reply.headers) <= MAX_HEADERS


def test_a_placed_attack_has_hosts_of_its_own() -> None:
    attack = fetch(f"http://{HOST}/a", {f"{HOST}/a": SiteReply(f"<a href={TOKEN}>".encode())}, f"{HOST}/a")
    placed = place(attack, 12_345)
    assert placed.arguments["url"] == "http://h12345z.hostile.example/a"
    assert placed.routes["h12345z.hostile.example/a"].body == b"<a href=h12345z>"


def test_the_site_tells_which_targets_nobody_requested() -> None:
    first, second = (
        place(fetch("", {f"{HOST}/a": SiteReply(b"x")}, f"{HOST}/a"), number) for number in (10_001, 10_002)
    )
    site = HostileSite({})
    site.serve([first, second])
    assert site.find("h10001z.hostile.example", "/a?b=1").body == b"x"
    assert site.find("h10001z.hostile.example", "/b") is MISSING
    assert site.unrequested([first, second]) == ["h10002z.hostile.example/a"]


def test_the_site_knows_the_attack_of_a_search_by_a_word_of_its_query() -> None:
    site = HostileSite({})
    site.serve([place(fetch("", {f"{CUSTOM}/search {TOKEN}": SiteReply(b"x")}), 10_003)])
    assert site.find(CUSTOM, "/search?q=h10003z+boats").body == b"x"
    assert site.find(CUSTOM, "/search?q=h10004z+boats") is MISSING


def test_a_late_call_kept_memory_and_a_body_without_a_request_are_faults() -> None:
    assert find_faults(["not_found"], MAX_DELAY, MAX_MEMORY, MAX_MEMORY, []) == []
    assert len(find_faults(["ok"], MAX_DELAY + 0.1, 0, 0, [])) == 1
    assert len(find_faults(["ok"], 0, 0, MAX_MEMORY + 1, [])) == 1
    assert len(find_faults(["internal_error"], 0, 0, 0, [])) == 1
    assert find_faults(["ok"], 0, 0, 0, ["a/b"]) == ["NOT MEASURED, never requested: a/b"]


def test_a_row_says_whether_it_passed() -> None:
    row = Row("text", 10, 100, "ok 2", 0.25, 3.0, -4.0, 40.0, 1.0, (), False)
    assert line_of(row) == "| text | 10 % | ok 2 | 0.25 | +3 (-4) | 40 | 1.0 | PASS |"


@pytest.mark.skipif(sys.platform != "linux", reason="memory is read from Linux's /proc")
def test_bodies_are_measured_beside_calls_of_a_real_server(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "rows.json"
    code = main(["--kinds", "llms-links", "search-pages", "--sizes", "1", "--json", str(file)])
    rows = json.loads(file.read_text())
    assert [row["kind"] for row in rows] == ["llms-links", "search-pages"]
    assert [row["outcomes"].split()[0] for row in rows] == ["not_found", "engine_unavailable"]
    assert all(row["delay"] > 0 and "NOT MEASURED" not in " ".join(row["faults"]) for row in rows)
    assert code == any(row["faults"] for row in rows)
    assert "2 kinds, 2 rows" in capsys.readouterr().out
