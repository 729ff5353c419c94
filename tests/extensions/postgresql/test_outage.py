"""Tests of the PostgreSQL store with a server that is stopped, frozen, overloaded, damaged or unreachable.

Calls fail in time with KeyholeError, errors contain no secrets, and calls succeed again when the server works.
"""

from __future__ import annotations

import logging
import os
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from ipaddress import ip_address
from pathlib import Path
from uuid import uuid4

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from cryptography.x509.oid import NameOID

from keyhole.errors import Code, KeyholeError
from keyhole.extensions.postgresql.database import GRACE, NO_TENANT, RETRY_AFTER, TIMEOUT, PostgresDatabase, parse_url
from keyhole.extensions.postgresql.schema import prepare
from keyhole.extensions.postgresql.store import PostgresStore
from keyhole.store.base import Limits
from tests.support.fakes import Clock, artifact
from tests.support.loopback import unused_port
from tests.support.postgresql import PASSWORD, USER, Cluster, run_cluster
from tests.support.store_contract import TTL, code_of

LONGEST = TIMEOUT + GRACE + RETRY_AFTER
"""Seconds within which any call must end. Tests allow twice as many, for a busy machine."""


@pytest.fixture(scope="module")
def server(postgresql_programs: Path) -> Iterator[Cluster]:
    """Run a separate server, because these tests stop and damage it."""
    with run_cluster(postgresql_programs) as server:
        yield server


Open = Callable[..., PostgresStore]


@pytest.fixture
def open_store(server: Cluster) -> Iterator[Open]:
    opened: list[PostgresDatabase] = []
    url = server.database()

    def open_store(address: str = "", connections: int = 4) -> PostgresStore:
        opened.append(PostgresDatabase(address or url, connections, prepare))
        return PostgresStore(opened[-1], uuid4(), Clock(), Limits(TTL, 10**9))

    yield open_store
    for database in opened:
        database.close()


def unavailable(call: Callable[[], object]) -> KeyholeError:
    """Return the KeyholeError of a call, which must fail in time."""
    start = time.monotonic()
    with pytest.raises(KeyholeError) as caught:
        call()
    assert time.monotonic() - start < 2 * LONGEST
    assert caught.value.code is Code.STORE_UNAVAILABLE
    return caught.value


def retry(call: Callable[[], object]) -> None:
    """Repeat a call until it succeeds, as clients do."""
    end = time.monotonic() + 4 * LONGEST
    while time.monotonic() < end:
        with suppress(KeyholeError):
            call()
            return
        time.sleep(0.05)
    call()


def test_a_crashed_server_loses_nothing_and_is_used_again(server: Cluster, open_store: Open) -> None:
    store = open_store()
    store.put(artifact(), "fish")
    together = [threading.Thread(target=store.get, args=(artifact().id,)) for _ in range(4)]
    for thread in together:  # opens several connections, all of which the stop closes
        thread.start()
    for thread in together:
        thread.join()
    server.stop("immediate")
    for call in (lambda: store.get(artifact().id), lambda: store.put(artifact("b"), "x"), store.stats, store.collect):
        unavailable(call)
    server.start()
    retry(lambda: store.get(artifact().id))
    assert store.get(artifact().id) == artifact()
    assert store.search(("fish",), 1) == (artifact(),)


def test_the_first_call_after_a_restart_succeeds(server: Cluster, open_store: Open) -> None:
    store = open_store()
    store.put(artifact(), "x")
    server.stop("fast")
    server.start()
    assert store.get(artifact().id) == artifact()


def test_a_frozen_server_makes_calls_fail_in_time(server: Cluster, open_store: Open) -> None:
    store = open_store()
    store.put(artifact(), "x")
    server.freeze(True)
    try:
        unavailable(lambda: store.get(artifact().id))
        unavailable(lambda: store.put(artifact("b"), "x"))
    finally:
        server.freeze(False)
    retry(lambda: store.get(artifact().id))
    assert store.get(artifact().id) == artifact()


def test_calls_fail_at_once_while_the_server_is_unreachable(open_store: Open) -> None:
    store = open_store(f"postgresql://u:p@127.0.0.1:{unused_port()}/d")
    unavailable(store.stats)
    start = time.monotonic()
    unavailable(store.stats)
    assert time.monotonic() - start < RETRY_AFTER / 2


def test_a_silent_port_makes_calls_fail_in_time(open_store: Open) -> None:
    with socket.socket() as silent:
        silent.bind(("127.0.0.1", 0))
        silent.listen()
        unavailable(open_store(f"postgresql://u:p@127.0.0.1:{silent.getsockname()[1]}/d").stats)


def test_a_locked_row_makes_calls_fail_in_time(server: Cluster, open_store: Open) -> None:
    store = open_store()
    store.put(artifact(), "x")
    with store._transaction() as connection:
        connection.execute("SELECT FROM keyhole.contents FOR UPDATE")
        unavailable(lambda: store.put(artifact("other"), "x"))
    store.put(artifact("other"), "x")


def test_busy_connections_make_a_call_fail_in_time_but_not_the_next(
    open_store: Open,
) -> None:
    store = open_store(connections=1)
    store.put(artifact(), "x")
    with store._transaction():
        unavailable(store.stats)
    assert store.stats().artifacts == 1


def test_a_failed_transaction_changes_nothing(open_store: Open) -> None:
    store = open_store()
    with pytest.raises(ZeroDivisionError), store._transaction() as connection:
        connection.execute("INSERT INTO keyhole.known_urls VALUES (%s, 'key', 1)", [store._tenant])
        raise ZeroDivisionError
    assert not store.remembers(b"key")


def test_dropped_tables_are_created_again(server: Cluster, open_store: Open) -> None:
    store = open_store()
    store.put(artifact(), "x")
    with store._transaction() as connection:
        connection.execute("DROP SCHEMA keyhole CASCADE")
    unavailable(store.stats)
    assert code_of(store, artifact().id) is Code.UNKNOWN_ARTIFACT


def test_an_unreadable_page_damages_only_its_artifact(server: Cluster, open_store: Open) -> None:
    store = open_store()
    noise = "".join(os.urandom(40_000).hex())  # does not compress, so it is not stored in the row
    store.put(artifact("hurt", text=noise, url="https://example.org/hurt"), "fish")
    with store._transaction() as connection:
        row = connection.execute("SELECT current_database() AS name").fetchone()
    assert row is not None
    with server.administrator(str(row["name"])) as administrator:
        found = administrator.execute(
            "SELECT pg_relation_filepath(reltoastrelid) FROM pg_class WHERE oid = 'keyhole.chunks'::regclass"
        ).fetchone()
        administrator.execute("CHECKPOINT")
    assert found is not None
    server.stop("fast")
    with (server.data / found[0]).open("r+b") as file:
        file.write(b"\x07" * 8_192)
    server.start()
    retry(lambda: store.put(artifact("well"), "fish"))
    assert [each.id for each in store.search(("fish",), 10)] == ["well"]
    with pytest.raises(KeyholeError) as caught:
        store.get("hurt")
    assert (caught.value.code, caught.value.facts) == (Code.DAMAGED_ARTIFACT, {"url": "https://example.org/hurt"})
    assert store.stats().damaged == 1
    with store._transaction() as connection:
        for table in ("artifacts", "contents"):
            connection.execute(f"UPDATE keyhole.{table} SET damaged = false")  # noqa: S608
    found_again = store.verify()
    assert (found_again.checked, found_again.damaged) == (2, ("hurt",))


# Connections.


def test_tls_follows_the_address_and_connections_are_reused(server: Cluster, open_store: Open, tmp_path: Path) -> None:
    store, address = open_store(), server.database()
    certificate, key = self_signed()
    (server.folder / "key.pem").write_bytes(key)
    (server.folder / "key.pem").chmod(0o600)
    owner = server.data.stat()
    os.chown(server.folder / "key.pem", owner.st_uid, owner.st_gid)
    for path in (server.folder / "cert.pem", tmp_path / "ca.pem"):
        path.write_bytes(certificate)
        path.chmod(0o644)
    before = server.settings
    server.stop("fast")
    files = (f"ssl_cert_file={server.folder}/cert.pem", f"ssl_key_file={server.folder}/key.pem")
    server.settings = (*before, "ssl=on", *files)
    try:
        server.start()
    except RuntimeError:
        server.settings = before
        server.start()
        pytest.skip("this PostgreSQL was built without TLS")
    for mode in ("require", f"verify-full&sslrootcert={tmp_path}/ca.pem"):
        store = open_store(f"{address}?sslmode={mode}")
        used = set()
        for _ in range(5):
            store.put(artifact(), "x")
            with store._transaction() as connection:
                row = connection.execute("SELECT ssl, pid FROM pg_stat_ssl WHERE pid = pg_backend_pid()").fetchone()
            assert row is not None
            assert row["ssl"]
            used.add(row["pid"])
        assert len(used) == 1
    other = tmp_path / "other.pem"
    other.write_bytes(self_signed()[0])
    unavailable(open_store(f"{address}?sslmode=verify-full&sslrootcert={other}").stats)


def self_signed() -> tuple[bytes, bytes]:
    """Return a self-signed certificate for 127.0.0.1 and its key."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "127.0.0.1")])
    begin = datetime(2020, 1, 1, tzinfo=UTC)
    certificate = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(begin)
        .not_valid_after(begin + timedelta(days=36_500))
        .add_extension(x509.SubjectAlternativeName([x509.IPAddress(ip_address("127.0.0.1"))]), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    private = key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
    return certificate.public_bytes(Encoding.PEM), private


# The password.


def test_a_wrong_password_is_not_shown_in_the_error(
    server: Cluster, open_store: Open, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    store = open_store(f"postgresql://{USER}:not-the-pass@127.0.0.1:{server.port}/postgres")
    error = unavailable(store.stats)
    seen = caplog.text + repr(error) + repr(error.__cause__) + repr(store) + repr(store._database)
    assert "not-the-pass" not in seen
    assert caplog.text.count("artifact store failed") == 1
    assert "password authentication failed" in caplog.text  # the reason, not only the failure


def test_the_password_is_in_no_log_and_no_repr(
    server: Cluster, open_store: Open, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    store = open_store()
    store.put(artifact(), "x")
    with store._transaction() as connection:
        shown = repr(connection) + repr(connection.info.dsn)
    server.stop("immediate")
    try:
        error = unavailable(store.stats)
        unavailable(store.stats)
    finally:
        server.start()
    seen = caplog.text + repr(error) + str(error.__cause__) + repr(store) + repr(vars(store)) + shown
    assert PASSWORD not in seen
    assert PASSWORD.replace(":", "%3A").replace("/", "%2F") not in seen


@pytest.mark.parametrize(
    "address",
    ["postgresql://u:s%zzecret@h/d", "postgresql://u:secret@h/d?nonsense=1", "postgresql://u:secret@h:port/d", "\ud800",
     "postgresql://[u:secret@h/d"],
)  # fmt: skip
def test_a_malformed_address_is_rejected_without_repeating_it(address: str) -> None:
    with pytest.raises(KeyholeError) as caught:
        if parse_url(address):  # a port that is not a number fails only when connecting
            raise KeyholeError(Code.INVALID_ARGUMENT, "")
    assert caught.value.code is Code.INVALID_ARGUMENT
    assert "ecret" not in repr(caught.value)
    assert caught.value.__cause__ is None


def test_the_address_may_contain_connection_settings() -> None:
    given = parse_url("postgresql://u:p@h/d?sslmode=verify-full&sslrootcert=/ca.pem&connect_timeout=7")
    assert (given["sslmode"], given["sslrootcert"], given["connect_timeout"]) == ("verify-full", "/ca.pem", "7")
    assert given["prepare_threshold"] is None


def test_commits_are_synchronous_despite_server_settings(server: Cluster, open_store: Open) -> None:
    store = open_store()
    with server.administrator() as administrator:
        administrator.execute(f"ALTER ROLE {USER} SET synchronous_commit = off")
    try:
        with store._database.transaction(NO_TENANT) as connection:
            row = connection.execute("SHOW synchronous_commit").fetchone()
        assert row == {"synchronous_commit": "on"}
    finally:
        with server.administrator() as administrator:
            administrator.execute(f"ALTER ROLE {USER} RESET synchronous_commit")
