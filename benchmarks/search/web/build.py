"""Build `pages.jsonl.xz` from unpacked Debian packages. The result is committed, so benchmarks do not need this.

    apt-get download debian-handbook postgresql-doc-15 python3.11-doc sqlite3-doc
    for p in *.deb; do dpkg -x $p .; done
    python -m benchmarks.search.web.build FOLDER

Only the content of each page is stored, as published; `sites.py` adds the templates of the sites.
"""

from __future__ import annotations

import json
import lzma
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from bs4 import BeautifulSoup

OUT: Final = Path(__file__).with_name("pages.jsonl.xz")
DOC: Final = Path("usr/share/doc")

POSTGRESQL: Final = """
    transaction-iso explicit-locking indexes-types indexes-multicolumn indexes-partial indexes-expressional
    textsearch-controls textsearch-dictionaries datatype-numeric datatype-datetime datatype-character datatype-json
    functions-string functions-datetime functions-aggregate functions-json functions-window queries-with
    queries-table-expressions ddl-partitioning ddl-constraints ddl-rowsecurity ddl-generated-columns ddl-schemas
    sql-createtable sql-insert sql-copy sql-createindex sql-vacuum sql-merge sql-select continuous-archiving
    warm-standby hot-standby logical-replication-conflicts runtime-config-resource runtime-config-wal
    runtime-config-client kernel-resources auth-pg-hba-conf auth-password client-authentication-problems app-pgdump
    app-psql pgupgrade pgbench libpq-connect plpgsql-control-structures pgcrypto pgtrgm limits storage-toast
    wal-configuration using-explain
"""
SQLITE: Final = """
    wal lang_createtable lang_select lang_insert lang_upsert limits pragma datatype3 fts5 json1 isolation lockingv3
    faq whentouse fileformat2 withoutrowid autoinc foreignkeys rtree lang_vacuum lang_datefunc backup howtocorrupt
    atomiccommit tempfiles queryplanner optoverview partialindex expridx gencol stricttables windowfunctions
    lang_with uri cli mmap inmemorydb threadsafe quirks testing selfcontained sharedcache eqp dbstat csv rescode
    lang_conflict lang_returning
"""
PYTHON: Final = """
    library/asyncio-task library/sqlite3 library/pathlib library/datetime library/json library/re library/subprocess
    library/logging library/logging.handlers library/argparse library/collections library/itertools
    library/functools library/dataclasses library/unittest library/unittest.mock library/threading
    library/multiprocessing library/concurrent.futures library/ssl library/urllib.parse library/urllib.request
    library/csv library/zipfile library/tarfile library/tempfile library/shutil library/pickle library/random
    library/secrets library/hashlib library/statistics library/decimal library/heapq library/bisect
    library/contextlib library/enum library/configparser library/tomllib library/struct library/textwrap
    howto/unicode howto/sorting howto/regex howto/ipaddress tutorial/floatingpoint tutorial/venv
    tutorial/controlflow faq/programming faq/design whatsnew/3.11
"""
HANDBOOK: Final = {
    "en": """virtualization selinux firewall-packet-filtering release-lifecycle backup kernel-compilation
        apparmor ldap-directory dhcp ipv6 quotas nfs-file-server hotplug power-management quality-of-service
        x509-cert dealing-with-compromised-machine setup-apt-package-repository""",
    "de": """apt-get network-config user-group-databases remote-login http-web-server task-scheduling-cron-atd backup
        kernel-compilation virtual-private-network automated-installation syslog package-authentication
        config-bootloader firewall-packet-filtering""",
    "fr": """virtualization selinux release-lifecycle remote-login ldap-directory nfs-file-server quotas
        windows-file-server-with-samba dist-upgrade manipulating-packages-with-dpkg foundation-documents supervision
        hotplug apt-frontends""",
    "es": """network-config installation-steps x509-cert dealing-with-compromised-machine domain-name-servers dhcp
        rights-management automatic-upgrades monitoring apparmor building-first-package package-meta-information
        http-ftp-proxy task-scheduling-cron-atd""",
    "pt-br": """debian-internals user-space kernel-role-and-tasks ipv6 ftp-file-server rtc-services
        network-diagnosis-tools graphical-desktops creating-accounts how-to-migrate""",
    "ru": """user-group-databases remote-login task-scheduling-cron-atd backup release-lifecycle domain-name-servers
        config-bootloader virtual-private-network quotas nfs-file-server virtualization network-config hotplug
        rights-management""",
    "ja": """apt-get selinux remote-login backup user-group-databases task-scheduling-cron-atd virtual-private-network
        package-meta-information http-web-server ldap-directory kernel-compilation debian-internals monitoring
        release-lifecycle network-services""",
    "zh": """network-config virtualization remote-login x509-cert config-bootloader rights-management syslog quotas
        dist-upgrade installation-steps user-group-databases supervision apparmor source-package-structure""",
}
"""Sections of The Debian Administrator's Handbook by language. The languages share some sections."""
HANDBOOK_FOLDERS: Final = {
    "en": "en-US", "de": "de-DE", "fr": "fr-FR", "es": "es-ES", "pt-br": "pt-BR", "ru": "ru-RU", "ja": "ja-JP",
    "zh": "zh-CN",
}  # fmt: skip


def read_pages(folder: Path) -> Iterator[dict[str, str]]:
    """Yield the id, language, title and content of every page."""
    postgresql = folder / DOC / "postgresql-doc-15" / "html"
    for name in POSTGRESQL.split():
        yield read_page(f"postgresql/{name}", "en", postgresql / f"{name}.html", ".navheader, .navfooter", "body")
    for name in SQLITE.split():
        drop = ".nosearch:not(:has(.fancy_title)), script, style"
        yield read_page(f"sqlite/{name}", "en", folder / DOC / "sqlite3" / f"{name}.html", drop, "body")
    python = folder / DOC / "python3.11" / "html"
    for name in PYTHON.split():
        yield read_page(f"python/{name}", "en", python / f"{name}.html", "script", "div[role=main]")
    handbook = folder / DOC / "debian-handbook" / "html"
    for language, names in HANDBOOK.items():
        for name in names.split():
            path = handbook / HANDBOOK_FOLDERS[language] / f"sect.{name}.html"
            path = path if path.exists() else path.with_name(f"{name}.html")
            drop = "#banner, #title, .docnav, .indexterm, script"
            yield read_page(f"handbook-{language}/{name}", language, path, drop, "body")


def read_page(id: str, language: str, path: Path, drop: str, keep: str) -> dict[str, str]:
    """Return one page. `drop`: selectors of elements to remove. `keep`: selector of the content."""
    soup = BeautifulSoup(path.read_bytes(), "lxml")
    title = " ".join((soup.title or soup).get_text(" ").split())
    for node in soup.select(drop):
        node.decompose()
    body: Any = soup.select_one(keep)
    return {"id": id, "language": language, "title": title, "html": body.decode_contents().strip()}


def main(folder: Path) -> None:
    """Write the file. Pages of one manual are adjacent, which compresses best."""
    lines = [json.dumps(page, ensure_ascii=False) for page in read_pages(folder)]
    packed = lzma.compress("\n".join(lines).encode(), preset=9 | lzma.PRESET_EXTREME)
    OUT.write_bytes(packed)
    print(f"{len(lines)} pages, {sum(map(len, lines)):,} characters, {len(packed):,} bytes")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
