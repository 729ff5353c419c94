"""A download continues where it ended, and installs only files with the digests of the manifest."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field, replace
from pathlib import Path

import pytest

from keyhole.errors import Code, KeyholeError
from keyhole.extensions.models.commands import MAX_FAILURES, PART_BYTES, download_model
from keyhole.extensions.models.folder import ModelsFolder
from keyhole.extensions.models.manifest import Manifest
from keyhole.fetch.base import DEFAULT_OPTIONS, FetchOptions
from keyhole.records import Page
from tests.extensions.models.test_folder import make_manifest

HUB = "https://hub.example/"
CONTENTS = {"model.onnx": bytes(range(256)) * 90_000, "tokenizer.json": b'{"a": 1}'}
assert len(CONTENTS["model.onnx"]) > 2 * PART_BYTES


@dataclass
class FakeHub:
    """A fetcher that serves parts of files; each of `faults` changes one response."""

    contents: dict[str, bytes]
    faults: list[str] = field(default_factory=list)
    asked: list[tuple[int, int]] = field(default_factory=list)
    has_parts: bool = True

    async def fetch(self, url: str, options: FetchOptions = DEFAULT_OPTIONS) -> Page:
        assert options.part
        assert url.startswith("https://hub.example/owner/")
        self.asked.append(options.part)
        fault = self.faults.pop(0) if self.faults else ""
        if fault == "broken":
            raise KeyholeError(Code.CONNECT_FAILURE, "no answer")
        if fault == "missing":
            raise KeyholeError(Code.NOT_FOUND, "HTTP 404")
        start, end = options.part if self.has_parts else (0, PART_BYTES)
        body = self.contents[url.rpartition("/")[2]][start:end]
        body = body[: len(body) // 2] if fault == "short" else body
        status = 206 if self.has_parts else 200
        return Page(url, url, status, "", body, fetched_at=0.0, cut=fault == "short")

    async def aclose(self) -> None:
        """Close nothing."""


def listed(contents: dict[str, bytes] = CONTENTS) -> Manifest:
    manifest = make_manifest("one", contents)
    return replace(manifest, files=tuple(replace(file, url=f"owner/{file.name}") for file in manifest.files))


def get(home: Path, hub: FakeHub) -> list[tuple[str, int, int]]:
    reports: list[tuple[str, int, int]] = []
    models = ModelsFolder(home)
    asyncio.run(download_model(listed(), models, hub, HUB, 5.0, lambda *report: reports.append(report)))
    assert models.verify(models.find("one")) == []
    assert models.find("one").installed_at == 5.0
    return reports


def test_a_file_is_downloaded_in_parts_and_installed(tmp_path: Path) -> None:
    hub = FakeHub(CONTENTS)
    reports = get(tmp_path, hub)
    size = len(CONTENTS["model.onnx"])
    assert hub.asked == [(0, PART_BYTES), (PART_BYTES, 2 * PART_BYTES), (2 * PART_BYTES, size), (0, 8)]
    assert reports[3] == ("model.onnx", size, size)


def test_a_part_that_ends_early_is_continued(tmp_path: Path) -> None:
    hub = FakeHub(CONTENTS, ["short"])
    get(tmp_path, hub)
    assert hub.asked[1][0] == PART_BYTES // 2


def test_failures_in_a_row_end_a_download_and_the_next_call_continues_it(tmp_path: Path) -> None:
    hub = FakeHub(CONTENTS, ["", *["broken"] * MAX_FAILURES])
    with pytest.raises(KeyholeError) as caught:
        get(tmp_path, hub)
    assert caught.value.code is Code.CONNECT_FAILURE
    assert ModelsFolder(tmp_path).list() == []
    again = FakeHub(CONTENTS)
    get(tmp_path, again)
    assert again.asked[0][0] == PART_BYTES


def test_a_failure_that_would_repeat_ends_a_download_at_once(tmp_path: Path) -> None:
    hub = FakeHub(CONTENTS, ["missing"])
    with pytest.raises(KeyholeError):
        get(tmp_path, hub)
    assert len(hub.asked) == 1


def test_a_single_failure_is_no_end(tmp_path: Path) -> None:
    get(tmp_path, FakeHub(CONTENTS, ["broken", "", "broken"]))


def test_another_file_at_the_address_is_not_installed_and_not_kept(tmp_path: Path) -> None:
    other = {**CONTENTS, "tokenizer.json": b'{"b": 2}'}
    with pytest.raises(KeyholeError, match=r"tokenizer\.json does not have the SHA-256"):
        get(tmp_path, FakeHub(other))
    assert ModelsFolder(tmp_path).list() == []
    hub = FakeHub(CONTENTS)
    get(tmp_path, hub)
    assert hub.asked == [(0, 8)], "the right file is not fetched again"


def test_wrong_weights_are_removed_and_fetched_again(tmp_path: Path) -> None:
    size = len(CONTENTS["model.onnx"])
    with pytest.raises(KeyholeError, match=r"model\.onnx does not have the SHA-256"):
        get(tmp_path, FakeHub({**CONTENTS, "model.onnx": bytes(size)}))
    part = ModelsFolder(tmp_path).begin("one")
    assert [(part / name).exists() for name in CONTENTS] == [False, True]
    hub = FakeHub(CONTENTS)
    get(tmp_path, hub)
    assert hub.asked[0] == (0, PART_BYTES)


def test_an_unfinished_file_is_continued_where_it_ends(tmp_path: Path) -> None:
    part = ModelsFolder(tmp_path).begin("one")
    (part / "model.onnx").write_bytes(CONTENTS["model.onnx"][:1_234])
    hub = FakeHub(CONTENTS)
    get(tmp_path, hub)
    assert hub.asked[0] == (1_234, 1_234 + PART_BYTES)


def test_failures_with_parts_between_them_do_not_add_up(tmp_path: Path) -> None:
    almost = ["broken"] * (MAX_FAILURES - 1)
    get(tmp_path, FakeHub(CONTENTS, [*almost, "", *almost]))


def test_a_small_file_is_taken_whole_from_a_server_without_parts(tmp_path: Path) -> None:
    part = ModelsFolder(tmp_path).begin("one")
    (part / "model.onnx").write_bytes(CONTENTS["model.onnx"])
    hub = FakeHub(CONTENTS, has_parts=False)
    get(tmp_path, hub)
    assert hub.asked == [(0, 8)]


def test_a_server_that_sends_only_whole_files_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(KeyholeError, match="does not send parts"):
        get(tmp_path, FakeHub(CONTENTS, has_parts=False))


def test_a_file_that_is_too_long_is_fetched_anew(tmp_path: Path) -> None:
    part = ModelsFolder(tmp_path).begin("one")
    (part / "tokenizer.json").write_bytes(b"x" * 99)
    get(tmp_path, FakeHub(CONTENTS))


def test_a_part_is_within_the_default_limit_of_a_response() -> None:
    from keyhole.config.config import Config

    assert Config().max_bytes > PART_BYTES
