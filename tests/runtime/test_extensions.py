"""A missing extra is an error of one line that names the command to run."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from keyhole.errors import Code, KeyholeError
from keyhole.runtime.extensions import check_extra, install_command, install_source
from tests.support.documentation import ROOT


def test_the_command_installs_from_where_the_package_came() -> None:
    command = install_command("hosted")
    assert command.startswith("uv tool install 'keyhole-reader[hosted]")
    assert command.endswith(f" @ {install_source()}'" if install_source() else "[hosted]'")


def test_an_extra_whose_packages_are_installed_is_no_error() -> None:
    check_extra("hosted", "json", user="a test")


def test_the_error_names_what_needs_the_extra_and_the_command() -> None:
    with pytest.raises(KeyholeError) as caught:
        check_extra("hosted", "json", "no_such_package_here", user="a store in PostgreSQL")
    assert caught.value.code is Code.INVALID_ARGUMENT
    assert caught.value.message == (
        f"a store in PostgreSQL needs Keyhole's extra [hosted]: {install_command('hosted')}"
    )


def test_a_replica_without_its_driver_ends_at_once_with_one_line(tmp_path: Path) -> None:
    hides = "import sys; sys.modules['psycopg'] = None; import keyhole.__main__ as main; sys.exit(main.main())"
    arguments = [sys.executable, "-c", hides, "serve", "--http"]
    environment = {
        "PATH": "/usr/bin:/bin", "PYTHONPATH": str(ROOT / "server"), "KEYHOLE_HOME": str(tmp_path),
        "KEYHOLE_STORE": "postgresql://127.0.0.1:1/keyhole",
    }  # fmt: skip
    done = subprocess.run(arguments, env=environment, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 2
    assert "a store in PostgreSQL needs Keyhole's extra [hosted]" in done.stderr
    assert len(done.stderr.splitlines()) == 1
