"""The file of hashed tokens: who holds one, what is wrong with a line, and that a change counts at once."""

from __future__ import annotations

import os
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from keyhole.errors import Code, KeyholeError
from keyhole.serve.http.auth.token_file import Grant, TokenFile, digest_of, grant_of, holder, line_of, new_token, parse
from tests.support.fakes import Clock

NOW = datetime.fromtimestamp(1_700_000_000, UTC)
DAY = timedelta(days=1)


def grant(token: str, tenant: str = "alice", expires: datetime | None = None) -> Grant:
    return Grant(digest_of(token), tenant, NOW, expires)


def write(path: Path, *grants: Grant, mode: int = 0o600) -> Path:
    path.write_text("# a comment\n\n" + "".join(line_of(one) + "\n" for one in grants))
    path.chmod(mode)
    return path


def test_a_token_has_256_random_bits_and_is_known_by_its_beginning() -> None:
    tokens = {new_token() for _ in range(100)}
    assert len(tokens) == 100
    assert all(token.startswith("kh_") and len(token) == 46 for token in tokens)


def test_a_line_says_what_a_grant_does() -> None:
    whole = Grant(digest_of("t"), "a.b-c_d@e", NOW, NOW + DAY, "laptop of alice")
    assert grant_of(line_of(whole)) == whole
    assert grant_of(line_of(grant("t"))) == grant("t")
    assert line_of(whole).endswith(" a.b-c_d@e 2023-11-14T22:13:20Z 2023-11-15T22:13:20Z laptop of alice")


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("sha256:ab alice", "a line is"),
        ("md5:0 alice 2023-11-14T22:13:20Z never", "64 hexadecimal"),
        (f"sha256:{'A' * 64} alice 2023-11-14T22:13:20Z never", "64 hexadecimal"),
        (f"sha256:{'a' * 64} -alice 2023-11-14T22:13:20Z never", "a tenant is"),
        (f"sha256:{'a' * 64} {'a' * 65} 2023-11-14T22:13:20Z never", "a tenant is"),
        (f"sha256:{'a' * 64} alice yesterday never", "no time"),
        (f"sha256:{'a' * 64} alice 2023-11-14T22:13:20Z soon", "no time"),
    ],
)
def test_a_wrong_line_is_named_and_is_nobodys_token(line: str, said: str) -> None:
    good = line_of(grant("good"))
    grants, wrong = parse(f"{good}\n{line}\n{good}\n")
    assert [one.tenant for one in grants.values()] == ["alice"]
    assert wrong[0].startswith("line 2: ")
    assert said in wrong[0]
    assert wrong[1:] == ["line 3: the token stands in the file twice"]


def test_only_the_token_itself_is_held_and_only_until_it_expires() -> None:
    grants = {one.digest: one for one in (grant("forever"), grant("today", expires=NOW + DAY))}
    assert holder(grants, "forever", NOW) == grant("forever")
    assert holder(grants, "today", NOW + DAY - timedelta(seconds=1)) is not None
    assert holder(grants, "today", NOW + DAY) is None
    for other in ("", "Forever", "forever ", "forever\x00", digest_of("forever").hex(), "\ud800", "x" * 9_000):
        assert holder(grants, other, NOW) is None


def test_a_change_of_the_file_counts_at_the_next_call(tmp_path: Path) -> None:
    path = write(tmp_path / "tokens", grant("one"))
    tokens = TokenFile(path, Clock())
    assert tokens.holder("one") == grant("one")
    assert tokens.holder("two") is None
    write(path, grant("one"), grant("two", "bob"))
    assert tokens.holder("two") == grant("two", "bob")
    write(path, grant("two", "bob"))
    assert tokens.holder("one") is None


def test_a_file_that_is_not_read_again_costs_no_reading(tmp_path: Path) -> None:
    path = write(tmp_path / "tokens", grant("one"))
    tokens = TokenFile(path, Clock())
    tokens.check()
    found = path.stat()
    path.write_bytes(b"x" * found.st_size)  # the same length, and below the same times: nothing tells of a change
    os.utime(path, ns=(found.st_atime_ns, found.st_mtime_ns))
    assert tokens.holder("one") == grant("one")


def test_a_line_that_goes_wrong_later_is_logged_and_the_others_count(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    path = write(tmp_path / "tokens", grant("one"))
    tokens = TokenFile(path, Clock())
    tokens.check()
    path.write_text(path.read_text() + "s3cret-pasted-here\n")
    assert tokens.holder("one") == grant("one")
    assert "line 4" in caplog.text
    assert "s3cret" not in caplog.text


def test_a_file_that_is_gone_lets_nobody_in_and_says_so(tmp_path: Path) -> None:
    path = write(tmp_path / "tokens", grant("one"))
    tokens = TokenFile(path, Clock())
    tokens.check()
    path.unlink()
    with pytest.raises(KeyholeError) as raised:
        tokens.holder("one")
    assert raised.value.code is Code.STORE_UNAVAILABLE
    write(path, grant("one"))
    assert tokens.holder("one") == grant("one")


def test_a_file_that_others_may_write_lets_nobody_in(tmp_path: Path) -> None:
    path = write(tmp_path / "tokens", grant("one"))
    tokens = TokenFile(path, Clock())
    tokens.check()
    path.chmod(0o622)
    assert tokens.holder("one") is None


@pytest.mark.parametrize(
    ("text", "mode", "said"),
    [
        ("nonsense\n", 0o600, "line 1"),
        ("", 0o620, "others may write"),
        ("\udcff", 0o600, "not UTF-8"),
        (None, 0o600, "No such file"),
    ],
)
def test_what_is_wrong_at_the_start_is_told_by_name(tmp_path: Path, text: str | None, mode: int, said: str) -> None:
    path = tmp_path / "tokens"
    if text is not None:
        path.write_text(text, errors="surrogateescape")
        path.chmod(mode)
    with pytest.raises(KeyholeError, match="KEYHOLE_TOKENS_FILE: .*" + said) as raised:
        TokenFile(path).check()
    assert raised.value.code is Code.INVALID_ARGUMENT


def test_a_file_that_others_may_read_and_one_without_tokens_are_warned_of(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    TokenFile(write(tmp_path / "tokens", mode=0o640)).check()
    assert "chmod 600" not in caplog.text
    TokenFile(write(tmp_path / "tokens", mode=0o644)).check()
    assert "chmod 600" in caplog.text
    assert "nobody is let in" in caplog.text
