"""The application as a whole: errors are pages, static files are served, and headers forbid foreign content."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest
from starlette.testclient import TestClient

import keyhole.extensions.look.app as app
from keyhole.errors import Code, KeyholeError
from keyhole.extensions.look.access import POLICY
from keyhole.extensions.look.page import Look
from tests.support.fakes import MemoryCallLog
from tests.support.look import empty_look, page_client, words_of

FOLDER = Path(app.__file__).parent
TEMPLATES = [path for path in sorted((FOLDER / "templates").glob("*.html")) if path.name != "export.html"]
"""All but that of the exported file, which contains its style because it is one file."""


class FailingLog(MemoryCallLog):
    """A log whose medium fails."""

    def latest(self) -> int:
        raise KeyholeError(Code.STORE_UNAVAILABLE, "the disk <b>fails</b>")


def failing_look() -> Look:
    return replace(empty_look(), calls=FailingLog(lambda: 0.0, 1.0))


def test_an_unknown_address_is_a_page_with_the_way_back() -> None:
    answer = page_client(empty_look()).get("/nothing")
    assert answer.status_code == 404
    assert "There is no such page." in words_of(answer.text) and 'href="/"' in answer.text


def test_a_failing_log_is_a_page_with_the_code_and_the_next_step() -> None:
    answer = page_client(failing_look()).get("/")
    assert answer.status_code == 503
    assert "store_unavailable" in answer.text and "the disk &lt;b&gt;fails&lt;/b&gt;" in answer.text


def test_a_fault_of_the_program_is_a_page_without_its_details() -> None:
    class FaultyLog(MemoryCallLog):
        def latest(self) -> int:
            raise RuntimeError("a secret of the program")

    look = replace(empty_look(), calls=FaultyLog(lambda: 0.0, 1.0))
    answer = TestClient(page_client(look).app, raise_server_exceptions=False).get("/")
    assert answer.status_code == 500
    assert "internal_error" in answer.text and "secret" not in answer.text


@pytest.mark.parametrize(("name", "kind"), [("look.css", "text/css"), ("look.js", "javascript")])
def test_static_files_are_served(name: str, kind: str) -> None:
    answer = page_client(empty_look()).get(f"/static/{name}")
    assert answer.status_code == 200 and kind in answer.headers["content-type"]


@pytest.mark.parametrize("path", ["none.css", "../app.py", "%2e%2e/app.py", "../templates/base.html"])
def test_nothing_else_is_served_as_a_file(path: str) -> None:
    assert page_client(empty_look()).get(f"/static/{path}").status_code == 404


def test_the_policy_allows_only_the_servers_own_content() -> None:
    directives = dict(each.strip().split(" ", 1) for each in POLICY.split(";"))
    assert directives["default-src"] == directives["frame-ancestors"] == directives["base-uri"] == "'none'"
    assert set(" ".join(directives.values()).split()) == {"'none'", "'self'", "data:"}


@pytest.mark.parametrize("path", TEMPLATES, ids=lambda path: path.name)
def test_templates_have_no_inline_style_or_script_and_load_nothing_from_elsewhere(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert not re.search(r"<style|\sstyle=|<script(?! src=)|\son[a-z]+=|javascript:|\|\s*safe\b", text)
    assert not re.search(r"""(?:src|href)=["'](?:https?:)?//""", text)


def test_the_style_and_the_script_load_nothing() -> None:
    text = "".join(path.read_text(encoding="utf-8") for path in (FOLDER / "static").iterdir())
    assert not re.search(r"@import|url\(|innerHTML|eval\(|https?://", text)
