"""ZIP files: their parts, and the limits on their unpacked size."""

from __future__ import annotations

import io
import zipfile

import pytest

from keyhole.errors import Code, KeyholeError
from keyhole.extensions.documents.zip_archive import (
    MAX_ENTRIES,
    MAX_RATIO,
    MAX_UNPACKED_BYTES,
    MIN_RATIO_BYTES,
    Archive,
)
from keyhole.extract.body import Body


def make_zip(*parts: tuple[str, bytes], method: int = zipfile.ZIP_DEFLATED) -> bytes:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", method) as archive:
        for name, part in parts:
            archive.writestr(name, part)
    return packed.getvalue()


def open_archive(data: bytes) -> Archive:
    return Archive(Body(data, "", ""))


def failure(data: bytes, part: str = "a") -> KeyholeError:
    with pytest.raises(KeyholeError) as caught:
        open_archive(data).read(part)
    return caught.value


def test_parts_are_read_by_name() -> None:
    archive = open_archive(make_zip(("a", b"one"), ("b/c", b"two")))
    assert archive.names == ("a", "b/c")
    assert (archive.read("a"), archive.read("b/c")) == (b"one", b"two")


@pytest.mark.parametrize(
    ("part", "content", "media_type"),
    [
        ("mimetype", b"application/epub+zip\n", "application/epub+zip"),
        ("mimetype", b"words", "application/zip"),
        ("META-INF/container.xml", b"", "application/epub+zip"),
        ("xl/workbook.xml", b"", "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"),
        ("a.txt", b"", "application/zip"),
    ],
)
def test_the_media_type_is_found_by_the_parts(part: str, content: bytes, media_type: str) -> None:
    assert open_archive(make_zip((part, content))).media_type() == media_type


def test_an_archive_that_unpacks_to_too_much_is_a_bomb() -> None:
    assert failure(make_zip(("a", bytes(MIN_RATIO_BYTES + MAX_RATIO * 10_000)))).code is Code.DECOMPRESSION_BOMB
    packed = make_zip(*((str(n), bytes(MIN_RATIO_BYTES // 3)) for n in range(5)))
    archive = open_archive(packed)
    with pytest.raises(KeyholeError) as caught:
        for name in archive.names:
            archive.read(name)
    assert caught.value.code is Code.DECOMPRESSION_BOMB
    assert MAX_UNPACKED_BYTES > MIN_RATIO_BYTES


def test_repeated_text_in_a_small_file_is_not_a_bomb() -> None:
    assert len(open_archive(make_zip(("a", b"row " * 1_000_000))).read("a")) == 4_000_000


def test_a_part_with_a_declared_size_that_is_too_small_is_damaged_and_not_fully_unpacked() -> None:
    packed = bytearray(make_zip(("a", bytes(50_000_000))))
    where = packed.index(b"PK\x01\x02") + 24
    packed[where : where + 4] = (100).to_bytes(4, "little")
    assert failure(bytes(packed)).code is Code.EXTRACTION_FAILED


def test_too_many_entries_are_rejected_before_they_are_read() -> None:
    packed = make_zip(*((str(number), b"") for number in range(MAX_ENTRIES + 1)))
    assert failure(packed).code is Code.DECOMPRESSION_BOMB


@pytest.mark.parametrize("method", [zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_an_unusual_compression_method_is_rejected(method: int) -> None:
    assert failure(make_zip(("a", b"x" * 100), method=method)).code is Code.EXTRACTION_FAILED


def test_an_encrypted_part_fails_as_encrypted() -> None:
    packed = bytearray(make_zip(("a", b"x")))
    packed[packed.index(b"PK\x01\x02") + 8] |= 1
    assert "encrypted" in failure(bytes(packed)).message


def test_a_missing_part_fails_as_damage() -> None:
    assert failure(make_zip(("a", b"x")), "b").code is Code.EXTRACTION_FAILED


def test_a_repacked_archive_has_only_the_accepted_parts_and_no_entities() -> None:
    archive = open_archive(make_zip(("a.xml", b"<a/>"), ("macro.bin", b"x")))
    with zipfile.ZipFile(archive.repack(lambda name: name.endswith(".xml"))) as copy:
        assert copy.namelist() == ["a.xml"]
    for declared in (b'<!DOCTYPE a [<!ENTITY b "c">]><a/>', "<!DOCTYPE a><a/>".encode("utf-16")):
        with pytest.raises(KeyholeError, match="entities"):
            open_archive(make_zip(("a.xml", declared))).repack(lambda _name: True)
