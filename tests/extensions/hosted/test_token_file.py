"""The file of hashed tokens: lookups, faults of lines, and changes."""

from __future__ import annotations

import os
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from keyhole.errors import Code, KeyholeError
from keyhole.extensions.hosted.token_file import (
    Grant,
    TokenFile,
    find_grant,
    format_grant,
    hash_token,
    new_token,
    parse_grant,
    parse_grants,
)
from tests.support.fakes import Clock

NOW = datetime.fromtimestamp(1_700_000_000, UTC)
DAY = timedelta(days=1)


def grant(token: str, tenant: str = "alice", expires: datetime | None = None) -> Grant:
    return Grant(hash_token(token), tenant, NOW, expires)


def write(path: Path, *grants: Grant, mode: int = 0o600) -> Path:
    path.write_text("# a comment\n\n" + "".join(format_grant(one) + "\n" for one in grants))
    path.chmod(mode)
    return path


def test_a_token_has_256_random_bits_and_a_recognizable_prefix() -> None:
    tokens = {new_token() for _ in range(100)}
    assert len(tokens) == 100
    assert all(token.startswith("kh_") and len(token) == 46 for token in tokens)


def test_a_grant_is_formatted_and_parsed_without_loss() -> None:
    whole = Grant(hash_token("t"), "a.b-c_d@e", NOW, NOW + DAY, "laptop of alice")
    assert parse_grant(format_grant(whole)) == whole
    assert parse_grant(format_grant(grant("t"))) == grant("t")
    assert format_grant(whole).endswith(" a.b-c_d@e 2023-11-14T22:13:20Z 2023-11-15T22:13:20Z laptop of alice")


@pytest.mark.parametrize(
    ("line", "error"),
    [
        ("sha256:ab alice", "a line is"),
        ("md5:0 alice 2023-11-14T22:13:20Z never", "64 hexadecimal"),
        (f"sha256:{'A' * 64} alice 2023-11-14T22:13:20Z never", "64 hexadecimal"),
        (f"sha256:{'a' * 64} -alice 2023-11-14T22:13:20Z never", "a tenant is"),
        (f"sha256:{'a' * 64} {'a' * 65} 2023-11-14T22:13:20Z never", "a tenant is"),
        (f"sha256:{'a' * 64} alice yesterday never", "not a time"),
        (f"sha256:{'a' * 64} alice 2023-11-14T22:13:20Z soon", "not a time"),
    ],
)
def test_an_invalid_line_is_reported_and_grants_nothing(line: str, error: str) -> None:
    good = format_grant(grant("good"))
    grants, faults = parse_grants(f"{good}\n{line}\n{good}\n")
    assert [held.tenant for held in grants.values()] == ["alice"]
    assert faults[0].startswith("line 2: ")
    assert error in faults[0]
    assert faults[1:] == ["line 3: the token is in the file twice"]


def test_only_the_exact_token_is_accepted_until_it_expires() -> None:
    grants = {one.digest: one for one in (grant("forever"), grant("today", expires=NOW + DAY))}
    assert find_grant(grants, "forever", NOW) == grant("forever")
    assert find_grant(grants, "today", NOW + DAY - timedelta(seconds=1)) is not None
    assert find_grant(grants, "today", NOW + DAY) is None
    for other in ("", "Forever", "forever ", "forever\x00", hash_token("forever").hex(), "\ud800", "x" * 9_000):
        assert find_grant(grants, other, NOW) is None


def test_a_change_of_the_file_applies_to_the_next_call(tmp_path: Path) -> None:
    path = write(tmp_path / "tokens", grant("one"))
    tokens = TokenFile(path, Clock())
    assert tokens.find("one") == grant("one")
    assert tokens.find("two") is None
    write(path, grant("one"), grant("two", "bob"))
    assert tokens.find("two") == grant("two", "bob")
    write(path, grant("two", "bob"))
    assert tokens.find("one") is None


def test_the_tenants_of_a_file_are_those_of_its_valid_lines(tmp_path: Path) -> None:
    path = write(tmp_path / "tokens", grant("one"), grant("two", "bob"), grant("three", "bob"))
    assert TokenFile(path).tenants() == {grant("one").tenant, "bob"}
    assert TokenFile(tmp_path / "none").tenants() == frozenset()


def test_an_unchanged_file_is_not_read_again(tmp_path: Path) -> None:
    path = write(tmp_path / "tokens", grant("one"))
    tokens = TokenFile(path, Clock())
    tokens.check()
    found = path.stat()
    path.write_bytes(b"x" * found.st_size)  # the same length and, below, the same times, so the change is not noticed
    os.utime(path, ns=(found.st_atime_ns, found.st_mtime_ns))
    assert tokens.find("one") == grant("one")


def test_a_later_invalid_line_is_logged_and_the_others_stay_valid(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    path = write(tmp_path / "tokens", grant("one"))
    tokens = TokenFile(path, Clock())
    tokens.check()
    path.write_text(path.read_text() + "s3cret-pasted-here\n")
    assert tokens.find("one") == grant("one")
    assert "line 4" in caplog.text
    assert "s3cret" not in caplog.text


def test_a_removed_file_refuses_all_tokens_with_an_error(tmp_path: Path) -> None:
    path = write(tmp_path / "tokens", grant("one"))
    tokens = TokenFile(path, Clock())
    tokens.check()
    path.unlink()
    with pytest.raises(KeyholeError) as raised:
        tokens.find("one")
    assert raised.value.code is Code.STORE_UNAVAILABLE
    write(path, grant("one"))
    assert tokens.find("one") == grant("one")


def test_a_file_writable_by_others_refuses_all_tokens(tmp_path: Path) -> None:
    path = write(tmp_path / "tokens", grant("one"))
    tokens = TokenFile(path, Clock())
    tokens.check()
    path.chmod(0o622)
    assert tokens.find("one") is None


@pytest.mark.parametrize(
    ("text", "mode", "error"),
    [
        ("nonsense\n", 0o600, "line 1"),
        ("", 0o620, "others may write"),
        ("\udcff", 0o600, "not UTF-8"),
        (None, 0o600, "No such file"),
    ],
)
def test_faults_at_the_start_name_the_setting(tmp_path: Path, text: str | None, mode: int, error: str) -> None:
    path = tmp_path / "tokens"
    if text is not None:
        path.write_text(text, errors="surrogateescape")
        path.chmod(mode)
    with pytest.raises(KeyholeError, match="KEYHOLE_TOKENS_FILE: .*" + error) as raised:
        TokenFile(path).check()
    assert raised.value.code is Code.INVALID_ARGUMENT


def test_a_file_readable_by_others_and_one_without_tokens_cause_warnings(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    TokenFile(write(tmp_path / "tokens", mode=0o640)).check()
    assert "chmod 600" not in caplog.text
    TokenFile(write(tmp_path / "tokens", mode=0o644)).check()
    assert "chmod 600" in caplog.text
    assert "has no tokens yet" in caplog.text
