"""The output of a running command: kept as it arrives, bounded, and found after its process was killed."""

from __future__ import annotations

from pathlib import Path

import pytest

from keyhole.outputs.running_output import RunningOutput, abandoned, list_running

FACTS = {"command": "make", "time": "5.0"}


def found_in(path: Path) -> tuple[dict[str, str], bytes] | None:
    with abandoned(path) as found:
        return (dict(found.facts), b"".join(found.blocks())) if found else None


def test_an_output_is_read_back_from_its_beginning_and_removed(tmp_path: Path) -> None:
    output = RunningOutput(str(tmp_path / "spool"), FACTS, 1_000)
    output.write(b"one\n")
    output.write(b"two\n")
    assert b"".join(output.blocks()) == b"one\ntwo\n"
    output.remove()
    output.close()
    assert list_running(str(tmp_path / "spool")) == []


def test_nothing_follows_what_is_dropped_at_the_limit(tmp_path: Path) -> None:
    output = RunningOutput(str(tmp_path), FACTS, 6)
    for block in (b"1234", b"5678", b"9"):
        output.write(block)
    assert (b"".join(output.blocks()), output.dropped) == (b"123456", 3)
    output.remove()
    output.close()


def test_the_output_of_a_running_process_is_left_alone(tmp_path: Path) -> None:
    output = RunningOutput(str(tmp_path), FACTS, 1_000)
    (path,) = list_running(str(tmp_path))
    assert found_in(path) is None
    assert path.exists()
    output.remove()
    output.close()


def test_the_output_of_a_process_that_ended_is_found_once(tmp_path: Path) -> None:
    output = RunningOutput(str(tmp_path), FACTS, 1_000)
    output.write(b"printed")
    (path,) = list_running(str(tmp_path))
    output.close()  # what the end of a process does
    assert found_in(path) == (FACTS, b"printed")
    assert not path.exists()
    assert found_in(path) is None


def test_an_output_whose_reading_fails_stays(tmp_path: Path) -> None:
    path = tmp_path / "1-2.running"
    path.write_bytes(b"{}\nprinted")
    with pytest.raises(FileNotFoundError), abandoned(path):
        raise FileNotFoundError
    assert path.exists()


@pytest.mark.parametrize("content", [b"", b"no facts\n", b"[1]\n", b"\xff\n"])
def test_a_file_without_facts_is_removed(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "1-2.running"
    path.write_bytes(content)
    assert found_in(path) is None
    assert not path.exists()


def test_without_a_folder_an_output_is_in_a_file_without_a_name(tmp_path: Path) -> None:
    output = RunningOutput("", FACTS, 1_000)
    output.write(b"printed")
    assert b"".join(output.blocks()) == b"printed"
    output.remove()
    output.close()


def test_a_folder_that_cannot_be_written_is_replaced_by_a_file_without_a_name(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    output = RunningOutput(str(tmp_path / "file" / "spool"), FACTS, 1_000)
    output.write(b"printed")
    assert b"".join(output.blocks()) == b"printed"
    output.remove()
    output.close()
