"""`keyhole artifacts` with outputs of commands beside pages."""

from __future__ import annotations

from typing import Any

from keyhole.records import Artifact
from tests.support.installation import Installation

RUN = "tests/test_a.py::test_pumps PASSED\nE   assert 4 == 5\n1 failed\n"
NOTES = (("command", "pytest -v"), ("exit", "1"), ("folder", "/src/app"))


def keep_run(installation: Installation, text: str = RUN, **fields: Any) -> Artifact:
    return installation.keep(
        text, "output:test", **{"title": "pytest -v", "notes": NOTES, "language": "", "fetched_at": 1e9, **fields}
    )


def test_a_listing_shows_command_kind_exit_status_and_folder(installation: Installation) -> None:
    run = keep_run(installation)
    file = installation.keep("a,b\n", "output:csv", title="data.csv", fetched_at=8e8)
    first, second = installation.run("list")[1].splitlines()
    assert first.startswith(f"{run.id}  2001-09-0")
    assert first.split(None, 4)[4] == "pytest -v  test run, exit 1, /src/app"
    assert second.startswith(f"{file.id}  1995-05-0")
    assert second.split(None, 4)[4] == "data.csv   table"
    (facts, _) = installation.facts("list")
    assert (facts["kind"], facts["command"], facts["exit"], facts["folder"]) == ("test", "pytest -v", "1", "/src/app")


def test_outputs_and_pages_can_be_listed_apart(installation: Installation) -> None:
    assert installation.run("list", "--only", "outputs")[1].startswith("No artifacts yet")
    page = installation.keep("A page.")
    assert installation.run("list", "--only", "outputs")[1] == "No outputs are stored.\n"
    run = keep_run(installation)
    assert [row["id"] for row in installation.facts("list", "--only", "outputs", "--limit", "1")] == [run.id]
    assert [row["id"] for row in installation.facts("list", "--only", "pages")] == [page.id]
    assert [row["id"] for row in installation.facts("list", "--site", "example.org")] == [page.id]


def test_show_meta_prints_the_facts_of_an_output(installation: Installation) -> None:
    run = keep_run(installation)
    lines = [line.split(":", 1) for line in installation.run("show", run.id, "--meta")[1].splitlines()]
    facts = {name: value.strip() for name, value in lines}
    assert facts.pop("stored").startswith("2001-09-0")
    assert facts == {
        "id": run.id, "command": "pytest -v", "kind": "test run", "exit status": "1", "folder": "/src/app",
        "characters": f"{len(RUN)}",
    }  # fmt: skip
    assert installation.run("show", run.id)[1] == RUN


def test_search_finds_outputs_by_the_words_of_their_text_and_their_command(installation: Installation) -> None:
    run = keep_run(installation)
    other = keep_run(installation, "1 passed\n", title="cargo test", notes=())
    page = installation.keep("A pump pumps water.\n", title="Pumps")
    assert installation.run("search", "assert")[1] == f"{run.id}  pytest -v  E assert 4 == 5\n"
    assert [hit["id"] for hit in installation.facts("search", "cargo")] == [other.id]
    assert [hit["id"] for hit in installation.facts("search", "pump", "--only", "pages")] == [page.id]
    assert page.id not in [hit["id"] for hit in installation.facts("search", "pumps", "--only", "outputs")]


def test_secrets_in_the_best_line_of_an_output_are_masked(installation: Installation) -> None:
    run = keep_run(installation, "the environment\nexport DEPLOY_TOKEN=hunter2\n", title="env")
    assert installation.run("search", "deploy")[1] == f"{run.id}  env  export DEPLOY_TOKEN=***\n"
    assert installation.run("show", run.id)[1].endswith("DEPLOY_TOKEN=hunter2\n")


def test_outputs_of_one_kind_are_found_each(installation: Installation) -> None:
    runs = {keep_run(installation, f"assert {name}\n" + f"{name} is broken in many ways\n" * 9).id for name in NAMES}
    assert {hit["id"] for hit in installation.facts("search", "assert", "--limit", "9")} == runs


NAMES = ("alpha", "beta", "gamma")
