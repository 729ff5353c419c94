"""A missing extra is an error of one line that names the command to run."""

from __future__ import annotations

import json
import shlex
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from keyhole.errors import Code, KeyholeError
from keyhole.runtime import installation
from keyhole.runtime.installation import EXTRAS, check_extra, install_command, install_source, removal_command
from tests.support.documentation import ROOT

Installed = Callable[[object], None]
"""Makes the program look as if it was installed from a source, without extras."""


class Distribution:
    def __init__(self, origin: object) -> None:
        self._origin = origin

    def read_text(self, _name: str) -> str | None:
        return None if self._origin is None else json.dumps(self._origin)


@pytest.fixture
def installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Installed:
    monkeypatch.setattr(sys, "prefix", str(tmp_path))
    monkeypatch.setattr(sys, "executable", "/opt/my tools/bin/python")
    monkeypatch.setattr(installation, "EXTRAS", dict.fromkeys(EXTRAS, ("no_such_package",)))

    def install(origin: object) -> None:
        monkeypatch.setattr("importlib.metadata.distribution", lambda _name: Distribution(origin))

    return install


WHEEL = {"url": "file:///my%20files/keyhole_reader-1-py3-none-any.whl", "archive_info": {}}
FOLDER = {"url": "file:///my%20files/keyhole", "dir_info": {}}
REPOSITORY = {"url": "https://example.org/keyhole", "vcs_info": {"vcs": "git", "commit_id": "0123abc"}}


@pytest.mark.parametrize(
    ("origin", "package"),
    [
        (WHEEL, "keyhole-reader[office] @ file:///my%20files/keyhole_reader-1-py3-none-any.whl"),
        (FOLDER, "keyhole-reader[office] @ file:///my%20files/keyhole"),
        (REPOSITORY, "keyhole-reader[office] @ git+https://example.org/keyhole@0123abc"),
        (None, "keyhole-reader[office]"),
    ],
    ids=["wheel", "folder", "repository", "index"],
)
def test_the_command_installs_from_where_the_package_came(installed: Installed, origin: object, package: str) -> None:
    installed(origin)
    assert shlex.split(install_command("office"))[-1] == package


def test_an_editable_folder_stays_editable(installed: Installed) -> None:
    installed({**FOLDER, "dir_info": {"editable": True}})
    assert shlex.split(install_command("office"))[-2:] == ["-e", "/my files/keyhole[office]"]


@pytest.mark.parametrize(
    ("receipt", "command", "removal"),
    [
        ("uv-receipt.toml", ["uv", "tool", "install"], "uv tool uninstall keyhole-reader"),
        ("pipx_metadata.json", ["pipx", "install", "--force"], "pipx uninstall keyhole-reader"),
        (
            "pyvenv.cfg", ["/opt/my tools/bin/python", "-P", "-m", "pip", "install"],
            "'/opt/my tools/bin/python' -P -m pip uninstall keyhole-reader",
        ),
    ],
)  # fmt: skip
def test_the_program_that_installed_keyhole_installs_and_removes_it(
    installed: Installed, tmp_path: Path, receipt: str, command: list[str], removal: str
) -> None:
    installed(WHEEL)
    (tmp_path / receipt).touch()
    assert shlex.split(install_command())[:-1] == command
    assert removal_command() == removal


def test_a_program_that_uvx_runs_once_is_installed_by_uv(installed: Installed, monkeypatch: pytest.MonkeyPatch) -> None:
    installed(WHEEL)
    monkeypatch.setattr(sys, "prefix", "/home/me/.cache/uv/archive-v0/abc")
    assert install_command().startswith("uv tool install ")


def test_extras_that_are_installed_stay(installed: Installed, monkeypatch: pytest.MonkeyPatch) -> None:
    installed(FOLDER)
    monkeypatch.setattr(installation, "EXTRAS", {"hosted": ("json",), "office": ("no_such_package",)})
    assert "keyhole-reader[hosted,office] @" in install_command("office")


def test_an_extra_whose_packages_are_installed_is_no_error(
    installed: Installed, monkeypatch: pytest.MonkeyPatch
) -> None:
    installed(FOLDER)
    monkeypatch.setattr(installation, "EXTRAS", {"hosted": ("json",)})
    check_extra("hosted", user="a test")


def test_the_error_names_what_needs_the_extra_and_the_command(installed: Installed) -> None:
    installed(FOLDER)
    with pytest.raises(KeyholeError) as caught:
        check_extra("hosted", user="a store in PostgreSQL")
    assert caught.value.code is Code.INVALID_ARGUMENT
    assert caught.value.message == (
        f"a store in PostgreSQL needs Keyhole's extra [hosted]: {install_command('hosted')}"
    )


def test_a_source_tree_that_is_not_installed_names_its_folder(tmp_path: Path) -> None:
    program = "from keyhole.runtime.installation import install_source; print(install_source())"
    words = [sys.executable, "-S", "-c", program]
    done = subprocess.run(words, env={"PYTHONPATH": str(ROOT / "server")}, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == ROOT.as_uri()
    assert install_source() in ("", ROOT.as_uri())


HIDES_PSYCOPG = "import sys; sys.modules['psycopg'] = None; import keyhole.__main__ as main; sys.exit(main.main())"


@pytest.mark.parametrize(
    ("setting", "message"),
    [
        ("KEYHOLE_STORE=postgresql://127.0.0.1:1/keyhole", "a store in PostgreSQL needs Keyhole's extra [hosted]: "),
        ("KEYHOLE_TOKENS_FILE=/no/such/file", "`keyhole tokens new TENANT` creates it"),
    ],
    ids=["extra", "token file"],
)
def test_a_hosted_server_that_lacks_something_ends_at_once_with_one_line(
    tmp_path: Path, setting: str, message: str
) -> None:
    arguments = [sys.executable, "-c", HIDES_PSYCOPG, "serve", "--http"]
    name, _, value = setting.partition("=")
    environment = {
        "PATH": "/usr/bin:/bin", "PYTHONPATH": str(ROOT / "server"), "KEYHOLE_HOME": str(tmp_path), name: value,
    }  # fmt: skip
    done = subprocess.run(arguments, env=environment, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 2
    assert message in done.stderr
    assert len(done.stderr.splitlines()) == 1
