"""Prepare the folder that the recorded servers read: projects, a repository, a database, pages and package metadata."""

from __future__ import annotations

import json
import shutil
import sqlite3
import subprocess
import tarfile
from collections.abc import Iterator
from pathlib import Path

from benchmarks.extraction.manuals.packages import unpack_package

WORKSPACE = Path("/srv/projects")
"""A short path that names nobody's machine, because results contain it."""
RELEASES = ("4.16.4", "4.17.3", "4.18.3", "4.19.2", "4.20.0", "4.21.2", "5.0.1", "5.1.0")
"""The releases of express that are the commits of the repository."""
SDISTS = ("toolz", "click", "sortedcontainers")
MANUALS = {
    "sqlite": ("sqlite3-doc", "usr/share/doc/sqlite3"),
    "postgresql": ("postgresql-doc-15", "usr/share/doc/postgresql-doc-15/html"),
    "git": ("git-doc", "usr/share/doc/git/html"),
    "python": ("python3.11-doc", "usr/share/doc/python3.11/html"),
}
METADATA = ("express", "lodash", "webpack", "typescript", "eslint")
COLUMNS = ("Package", "Version", "Section", "Priority", "Installed-Size", "Homepage", "Description")
"""The fields of a Debian package that the database has."""
DEPENDENCIES = ("webpack", "eslint", "jest")


def prepare() -> None:
    """Make the workspace, unless it is there."""
    if (WORKSPACE / "complete").exists():
        return
    shutil.rmtree(WORKSPACE, ignore_errors=True)
    WORKSPACE.mkdir(parents=True)
    _make_repository(WORKSPACE / "express")
    for name in SDISTS:
        _unpack_sdist(name)
    _copy_pages(WORKSPACE / "pages")
    _write_metadata(WORKSPACE / "pages" / "registry")
    _make_database(WORKSPACE / "packages.db")
    _make_project(WORKSPACE / "web")
    _run("python3", "-m", "venv", ".venv")
    _run(".venv/bin/pip", "install", "-qq", "pytest")
    (WORKSPACE / "complete").touch()


def _run(*command: str, folder: Path = WORKSPACE) -> str:
    return subprocess.run(command, cwd=folder, check=True, capture_output=True, text=True).stdout


def _make_repository(folder: Path) -> None:
    folder.mkdir()
    _run("git", "init", "-q", "-b", "main", folder=folder)
    for number, release in enumerate(RELEASES):
        for each in folder.iterdir():
            if each.name != ".git":
                shutil.rmtree(each) if each.is_dir() else each.unlink()
        archive = _run("npm", "pack", "--silent", f"express@{release}").strip()
        _run("tar", "xzf", str(WORKSPACE / archive), "--strip-components=1", folder=folder)
        (WORKSPACE / archive).unlink()
        date = f"2026-{number + 1:02}-10T12:00:00Z"
        identity = ("-c", "user.name=Dev", "-c", "user.email=dev@example.org")
        _run("git", "add", "-A", folder=folder)
        _run("env", f"GIT_COMMITTER_DATE={date}", "git", *identity, "commit", "-q", "--date", date, "-m",
             f"Release {release}", folder=folder)  # fmt: skip
        _run("git", "tag", f"v{release}", folder=folder)


def _unpack_sdist(name: str) -> None:
    _run("pip", "download", "-q", "--no-deps", "--no-binary", ":all:", "-d", ".", name)
    path = next(WORKSPACE.glob(f"{name}-*.tar.gz"))
    with tarfile.open(path) as archive:
        archive.extractall(WORKSPACE, filter="data")
    (WORKSPACE / path.name.removesuffix(".tar.gz")).rename(WORKSPACE / name)
    path.unlink()


def _copy_pages(folder: Path) -> None:
    folder.mkdir()
    for name, (package, inner) in MANUALS.items():
        unpacked = unpack_package(package)
        assert unpacked, f"{package} cannot be downloaded"
        shutil.copytree(unpacked / inner, folder / name, symlinks=False, ignore_dangling_symlinks=True)


def _write_metadata(folder: Path) -> None:
    folder.mkdir()
    for name in METADATA:
        (folder / f"{name}.json").write_text(_run("npm", "view", name, "--json"), encoding="utf-8")


def _make_project(folder: Path) -> None:
    folder.mkdir()
    _run("npm", "init", "-y", folder=folder)
    _run("npm", "install", "--package-lock-only", "--no-audit", "--no-fund", *DEPENDENCIES, folder=folder)


def _make_database(path: Path) -> None:
    """Write the packages of this Debian, and countries, languages and their subdivisions, into a database."""
    codes = unpack_package("iso-codes")
    assert codes, "iso-codes cannot be downloaded"
    folder = codes / "usr/share/iso-codes/json"
    with sqlite3.connect(path) as database:
        database.execute("create table packages(name, version, section, priority, installed_kb int, homepage, summary)")
        database.execute("create table depends(package, depends_on)")
        for fields in _debian_packages():
            row = [fields.get(name, "") for name in COLUMNS]
            database.execute("insert into packages values(?, ?, ?, ?, ?, ?, ?)", row)
            for each in fields.get("Depends", "").split(","):
                name = each.split("|")[0].strip().split(" ")[0].partition(":")[0]
                database.execute("insert into depends values(?, ?)", (fields["Package"], name)) if name else None
        for table, file in (("countries", "iso_3166-1"), ("subdivisions", "iso_3166-2"), ("languages", "iso_639-3"),
                            ("currencies", "iso_4217")):  # fmt: skip
            rows = next(iter(json.loads((folder / f"{file}.json").read_text(encoding="utf-8")).values()))
            columns = list(dict.fromkeys(name for row in rows for name in row))
            database.execute(f"create table {table}({', '.join(columns)})")
            marks = ", ".join("?" * len(columns))
            values = [[row.get(name) for name in columns] for row in rows]
            database.executemany(f"insert into {table} values({marks})", values)
    shutil.copytree(folder, WORKSPACE / "iso-codes")


def _debian_packages() -> Iterator[dict[str, str]]:
    """Yield the fields of each installed package. Of a description, the first line."""
    for paragraph in Path("/var/lib/dpkg/status").read_text(encoding="utf-8").split("\n\n"):
        lines = [line for line in paragraph.splitlines() if line[:1].strip()]
        if lines:
            yield dict(line.split(": ", 1) for line in lines if ": " in line)


def graph() -> tuple[list[dict[str, object]], list[dict[str, object]]]:
    """Return the packages of the section utils as entities of a knowledge graph, and their relations."""
    database = sqlite3.connect(WORKSPACE / "packages.db")
    rows = database.execute(
        "select name, version, section, installed_kb, homepage, summary from packages where section in "
        "('utils', 'admin', 'net', 'text') order by name"
    ).fetchall()
    names = {row[0] for row in rows}
    entities = [_entity(*row) for row in rows]
    depends = database.execute("select distinct package, depends_on from depends order by package, depends_on")
    relations: list[dict[str, object]] = [
        {"from": one, "to": other, "relationType": "depends on"} for one, other in depends if {one, other} <= names
    ]
    return entities, relations


def _entity(name: str, version: str, section: str, size: int, homepage: str, summary: str) -> dict[str, object]:
    facts = [summary, f"version {version}", f"installed size {size} KB"]
    facts += [f"homepage {homepage}"] if homepage else []
    return {"name": name, "entityType": f"package in {section}", "observations": facts}
