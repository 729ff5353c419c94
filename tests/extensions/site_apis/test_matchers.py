"""The readers of an address are found without the import of other readers."""

from __future__ import annotations

import subprocess
import sys

import pytest


@pytest.mark.parametrize(
    ("url", "imported"),
    [
        ("https://www.sqlite.org/wal.html", []),
        ("https://github.com/o/r/issues/7", ["github"]),
        ("https://discuss.example.org/t/pumps/12", ["questions"]),
        ("https://docs.example.org/t/pumps/12", ["questions"]),
    ],
)
def test_an_address_imports_only_the_readers_whose_sign_it_contains(url: str, imported: list[str]) -> None:
    program = (
        "import sys; from keyhole.extensions.site_apis.matchers import find_reader; find_reader(sys.argv[1], None); "
        "print(*(name.rpartition('.')[2] for name in sys.modules if 'site_apis.' in name))"
    )
    run = subprocess.run([sys.executable, "-c", program, url], capture_output=True, text=True, check=True, timeout=60)
    assert set(run.stdout.split()) - {"matchers", "site_readers", "answer_text"} == set(imported)
