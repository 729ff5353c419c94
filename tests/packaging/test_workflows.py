"""The workflows are valid, pin what they use, and run commands that exist."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from tests.packaging.test_packaging import ROOT
from tests.support.console import capture_parser
from tests.support.reference import iter_commands

WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))


def run(program: str, *words: str) -> None:
    """Run a program of the environment of the tests; it must succeed."""
    command = [str(Path(sys.executable).with_name(program)), *words]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.name)
def test_a_workflow_matches_the_schema_of_the_code_host(path: Path) -> None:
    run("check-jsonschema", "--builtin-schema", "vendor.github-workflows", str(path))


def test_the_workflows_have_no_known_weakness() -> None:
    run("zizmor", "--offline", "--no-progress", str(ROOT / ".github" / "workflows"))


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.name)
def test_an_action_is_pinned_by_its_commit_and_no_secret_is_stored(path: Path) -> None:
    text = path.read_text("utf-8")
    assert all(re.fullmatch(r"[\w./-]+@[0-9a-f]{40}", used) for used in re.findall(r"uses: (\S+)", text))
    assert "secrets." not in text


def test_every_job_that_publishes_waits_for_the_build_and_asks_in_an_environment() -> None:
    jobs = yaml.safe_load((ROOT / ".github" / "workflows" / "release.yml").read_text("utf-8"))["jobs"]
    publishing = {name for name, job in jobs.items() if "write" in job["permissions"].values()}
    assert publishing == {"image", "pypi", "files", "registry"}
    assert all(jobs[name]["environment"] == "release" and jobs[name]["needs"] for name in publishing)


def test_the_scripts_and_targets_that_a_workflow_runs_exist() -> None:
    text = "".join(path.read_text("utf-8") for path in WORKFLOWS)
    for script in re.findall(r"(?:^|\s)((?:packaging|deploy|\.ci)/[\w./-]+)", text):
        assert (ROOT / script).exists(), script
    commands = set(re.findall(r"(?:keyhole:tested|bin/keyhole\"?) ([a-z]+)", text))
    assert commands and commands <= {name.split()[1] for name, _, _ in iter_commands(capture_parser())}
    makefile = (ROOT / "Makefile").read_text("utf-8")
    assert all(f"\n{target}:" in makefile for target in re.findall(r"make ([\w-]+)", text))
