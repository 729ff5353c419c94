"""The workflows are valid, pin what they use, and run commands that exist."""

from __future__ import annotations

import json
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
    assert publishing == {"image", "latest", "pypi", "files", "registry"}
    assert all(jobs[name]["environment"] == "release" and jobs[name]["needs"] for name in publishing)


def test_what_a_release_downloads_is_pinned_by_version_and_digest() -> None:
    text = (ROOT / ".github" / "workflows" / "release.yml").read_text("utf-8")
    assert "/releases/latest/" not in text and "npx" not in text
    jobs = yaml.safe_load(text)["jobs"]
    registry = jobs["registry"]
    assert re.search(r"/download/v\d+\.\d+\.\d+/", registry["env"]["PUBLISHER"])
    assert re.fullmatch(r"[0-9a-f]{64}", registry["env"]["PUBLISHER_SHA256"])
    (publish,) = (step["run"] for step in registry["steps"] if "mcp-publisher publish" in step.get("run", ""))
    assert publish.index("sha256sum --check") < publish.index("tar ") < publish.index("./mcp-publisher")
    lock = json.loads((ROOT / "packaging" / "mcpb" / "package-lock.json").read_text("utf-8"))["packages"]
    assert all("integrity" in package for name, package in lock.items() if name)


def test_an_image_is_the_latest_one_only_after_the_install_tests() -> None:
    jobs = yaml.safe_load((ROOT / ".github" / "workflows" / "release.yml").read_text("utf-8"))["jobs"]
    tagging = {name for name, job in jobs.items() if ":latest" in str(job["steps"])}
    assert tagging == {"latest"}
    assert set(jobs["latest"]["needs"]) == {"install", "image"}


def test_the_scripts_and_targets_that_a_workflow_runs_exist() -> None:
    text = "".join(path.read_text("utf-8") for path in WORKFLOWS)
    for script in re.findall(r"(?:^|\s)((?:packaging|deploy|\.ci)/[\w./-]+)", text):
        assert (ROOT / script).exists(), script
    commands = set(re.findall(r"(?:keyhole:tested|bin/keyhole\"?) ([a-z]+)", text))
    assert commands and commands <= {name.split()[1] for name, _, _ in iter_commands(capture_parser())}
    makefile = (ROOT / "Makefile").read_text("utf-8")
    assert all(f"\n{target}:" in makefile for target in re.findall(r"make ([\w-]+)", text))
