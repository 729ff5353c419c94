"""The name of the program of a command line."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from keyhole.outputs.record import MAX_NAME, UNKNOWN, program_name


@pytest.mark.parametrize(
    ("command", "name"),
    [
        ("make -j", "make"), ("CC=clang /usr/bin/make", "make"), ("'/a folder/bin/python' -c x", "python"),
        (r"C:\Python\python.exe -m x", "python.exe"), ("git log 'a quote without end", "git log"), ("", UNKNOWN),
        ("cd repo && git diff --stat | head", "git diff"), ("cd /a; export X=1; npm run build", "npm run"),
        ("set -e\ncargo test --all", "cargo test"), ("sudo -E env A=1 pytest -x", "pytest"),
        ("timeout 60 go build ./...", "go build"), ("uv run pytest -q", "pytest"), ("uv sync", "uv sync"),
        ("git -C repo status", "git status"), ("kubectl -n prod get pods", "kubectl get"),
        ("git --no-pager log", "git log"), ("cd /only", "cd"), ("(cd a && ls)", "ls"),
        ("grep -r 'a && b' .", "grep"), ("echo hi; ls -la", "ls"), ("./gradlew :app:test", "gradlew"),
        ("docker compose logs", "docker compose"), ("git HEAD~1", "git"),
    ],
)  # fmt: skip
def test_the_program_is_named_as_a_person_would(command: str, name: str) -> None:
    assert program_name(command) == name


@given(st.text(max_size=200))
def test_any_text_has_a_short_name(command: str) -> None:
    assert 1 <= len(program_name(command)) <= MAX_NAME
