"""The sites of the dead links: documentation of Debian packages, and repositories of npm and PyPI packages.

Each is served under the address that it has on the web. `base` is the address of its folder.
"""

from __future__ import annotations

import subprocess
import sys
import tarfile
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Final

from benchmarks.extraction.manuals.packages import CACHE, unpack_package

REPOSITORIES_CACHE: Final = CACHE.parent / "keyhole-repositories"
_TIMEOUT: Final = 120.0
_PYPI: Final = frozenset({"starlette", "uvicorn"})
"""Packages that come from PyPI; the others are from npm."""


@dataclass(frozen=True)
class Site:
    """Documentation in HTML."""

    package: str
    path: str
    """The folder in the package."""
    base: str

    @property
    def name(self) -> str:
        """Return the name under which the addresses name the site."""
        return self.package

    @cached_property
    def folder(self) -> Path | None:
        """The folder on disk, None if the package cannot be downloaded."""
        unpacked = next(CACHE.glob(f"{self.package}_*"), None) or unpack_package(self.package)
        return unpacked / self.path if unpacked else None


@dataclass(frozen=True)
class Repository:
    """The files of a package, served as those of a repository."""

    package: str
    version: str
    base: str
    """The address of a file is this followed by its path."""
    branch: str
    tags: tuple[str, ...]

    @property
    def name(self) -> str:
        """Return the name under which the addresses name the site."""
        return f"npm/{self.package}-{self.version}"

    @property
    def owner_and_name(self) -> str:
        """Return `owner/repository`."""
        return "/".join(self.base.split("/")[3:5])

    @cached_property
    def folder(self) -> Path | None:
        """The folder on disk, None if the package cannot be downloaded."""
        folder = REPOSITORIES_CACHE / f"{self.package}-{self.version}"
        if not folder.exists():
            REPOSITORIES_CACHE.mkdir(parents=True, exist_ok=True)
            try:
                _unpack(_download(self.package, self.version), folder)
            except (subprocess.SubprocessError, OSError, tarfile.TarError):
                return None
        return folder


def _download(package: str, version: str) -> Path:
    if package in _PYPI:
        command = [
            sys.executable,
            "-m",
            "pip",
            "download",
            "-q",
            "--no-deps",
            "--no-binary",
            ":all:",
            "--no-build-isolation",
        ]
        _run([*command, f"{package}=={version}"])
        return REPOSITORIES_CACHE / f"{package}-{version}.tar.gz"
    _run(["npm", "pack", "--silent", f"{package}@{version}"])
    return REPOSITORIES_CACHE / f"{package}-{version}.tgz"


def _run(command: list[str]) -> None:
    subprocess.run(command, cwd=REPOSITORIES_CACHE, check=True, capture_output=True, timeout=_TIMEOUT)


def _unpack(archive: Path, folder: Path) -> None:
    """Unpack an archive, whose files are in one folder."""
    with tarfile.open(archive) as tar:
        tar.extractall(folder.with_suffix(".new"), filter="data")
    next(folder.with_suffix(".new").iterdir()).rename(folder)
    folder.with_suffix(".new").rmdir()
    archive.unlink()


SITES: Final = (
    Site("postgresql-doc-15", "usr/share/doc/postgresql-doc-15/html", "https://www.postgresql.org/docs/15/"),
    Site("git-doc", "usr/share/doc/git-doc", "https://git.github.io/htmldocs/"),
    Site("sqlite3-doc", "usr/share/doc/sqlite3", "https://www.sqlite.org/"),
    Site("apache2-doc", "usr/share/doc/apache2-doc/manual", "https://httpd.apache.org/docs/2.4/"),
    Site("nodejs-doc", "usr/share/doc/nodejs/api", "https://nodejs.org/docs/latest-v18.x/api/"),
    Site("zsh-doc", "usr/share/doc/zsh-common/html", "https://zsh.sourceforge.io/Doc/Release/"),
    Site("python-django-doc", "usr/share/doc/python-django-doc/html", "https://docs.djangoproject.com/en/3.2/"),
    Site("python-flask-doc", "usr/share/doc/python-flask-doc/html", "https://flask.palletsprojects.com/en/2.2.x/"),
    Site("python-requests-doc", "usr/share/doc/python-requests-doc/html", "https://requests.readthedocs.io/en/latest/"),
    Site("python-sqlalchemy-doc", "usr/share/doc/python-sqlalchemy-doc/html", "https://docs.sqlalchemy.org/en/14/"),
    Site("python-jinja2-doc", "usr/share/doc/python-jinja2-doc/html", "https://jinja.palletsprojects.com/en/3.1.x/"),
    Site("python-click-doc", "usr/share/doc/python-click-doc/html", "https://click.palletsprojects.com/en/8.1.x/"),
    Site("python-attr-doc", "usr/share/doc/python-attr-doc/html", "https://www.attrs.org/en/22.2.0/"),
    Site(
        "python-werkzeug-doc",
        "usr/share/doc/python-werkzeug-doc/html",
        "https://werkzeug.palletsprojects.com/en/2.2.x/",
    ),
    Site("sphinx-doc", "usr/share/doc/sphinx-doc/html", "https://www.sphinx-doc.org/en/master/"),
    Site("python-aiohttp-doc", "usr/share/doc/python-aiohttp-doc/html", "https://docs.aiohttp.org/en/stable/"),
    Site("python-pytest-doc", "usr/share/doc/python-pytest-doc/html", "https://docs.pytest.org/en/7.2.x/"),
    Site("python-celery-doc", "usr/share/doc/python-celery-doc/html", "https://docs.celeryq.dev/en/stable/"),
    Site("python-psycopg2-doc", "usr/share/doc/python-psycopg2-doc/html", "https://www.psycopg.org/docs/"),
    Site("python-tornado-doc", "usr/share/doc/python-tornado-doc/html", "https://www.tornadoweb.org/en/stable/"),
    Site("python-markdown-doc", "usr/share/doc/python-markdown-doc/docs", "https://python-markdown.github.io/"),
    Site("docutils-doc", "usr/share/doc/docutils-doc/docs", "https://docutils.sourceforge.io/docs/"),
    Site("python-babel-doc", "usr/share/doc/python-babel-doc/html", "https://babel.pocoo.org/en/latest/"),
    Site("cmake-doc", "usr/share/doc/cmake-data/html", "https://cmake.org/cmake/help/v3.25/"),
    Site("gnuplot-doc", "usr/share/doc/gnuplot/htmldocs", "http://gnuplot.info/docs_5.4/"),
    Site("octave-doc", "usr/share/doc/octave/octave.html", "https://docs.octave.org/v7.3.0/"),
    Site("debian-policy", "usr/share/doc/debian-policy/policy.html", "https://www.debian.org/doc/debian-policy/"),
    Site(
        "developers-reference",
        "usr/share/developers-reference",
        "https://www.debian.org/doc/manuals/developers-reference/",
    ),
    Site(
        "exim4-doc-html",
        "usr/share/doc/exim4-doc-html/spec_html",
        "https://www.exim.org/exim-html-current/doc/html/spec_html/",
    ),
    Site("postfix-doc", "usr/share/doc/postfix/html", "https://www.postfix.org/"),
    Site("bind9-doc", "usr/share/doc/bind9-doc/arm", "https://bind9.readthedocs.io/en/v9.18.0/"),
    Site("varnish-doc", "usr/share/doc/varnish/html", "https://varnish-cache.org/docs/7.1/"),
    Site("libvirt-doc", "usr/share/doc/libvirt-doc/html", "https://libvirt.org/"),
    Site("libgtk-3-doc", "usr/share/gtk-doc/html/gtk3", "https://developer-old.gnome.org/gtk3/3.24/"),
    Site("maxima-doc", "usr/share/doc/maxima-doc/html", "https://maxima.sourceforge.io/docs/manual/"),
    Site("mkdocs-doc", "usr/share/doc/mkdocs/html", "https://www.mkdocs.org/"),
    Site("buildbot-doc", "usr/share/doc/buildbot/html", "https://docs.buildbot.net/latest/"),
    Site("python-gevent-doc", "usr/share/doc/python-gevent-doc/html", "https://www.gevent.org/"),
    Site("python-lxml-doc", "usr/share/doc/python-lxml/html", "https://lxml.de/"),
    Site("python-cryptography-doc", "usr/share/doc/python-cryptography-doc/html", "https://cryptography.io/en/38.0.4/"),
    Site("swi-prolog-doc", "usr/share/swi-prolog/doc/Manual", "https://www.swi-prolog.org/pldoc/doc_for/"),
    Site("junit4-doc", "usr/share/doc/junit4/api", "https://junit.org/junit4/javadoc/4.13/"),
    Site("twisted-doc", "usr/share/doc/twisted-doc/html", "https://docs.twisted.org/en/stable/"),
    Site("python-pandas-doc", "usr/share/doc/python-pandas-doc/html", "https://pandas.pydata.org/docs/"),
)
REPOSITORIES: Final = (
    Repository("axios", "1.21.1", "https://raw.githubusercontent.com/axios/axios/v1.x/", "v1.x", ("v1.21.1",)),
    Repository("dayjs", "1.11.23", "https://raw.githubusercontent.com/iamkun/dayjs/dev/", "dev", ("v1.11.23",)),
    Repository("eslint", "10.15.0", "https://raw.githubusercontent.com/eslint/eslint/main/", "main", ("v10.15.0",)),
    Repository("fastify", "5.12.8", "https://raw.githubusercontent.com/fastify/fastify/main/", "main", ("v5.12.8",)),
    Repository("starlette", "1.10.0", "https://raw.githubusercontent.com/encode/starlette/main/", "main", ("1.10.0",)),
    Repository("zod", "4.6.7", "https://raw.githubusercontent.com/colinhacks/zod/main/", "main", ("v4.6.7",)),
    Repository("uvicorn", "0.54.0", "https://raw.githubusercontent.com/encode/uvicorn/main/", "main", ("0.54.0",)),
    Repository(
        "commander", "14.0.3", "https://raw.githubusercontent.com/tj/commander.js/master/", "master", ("v14.0.3",)
    ),
    Repository(
        "express", "5.3.0", "https://raw.githubusercontent.com/expressjs/express/master/", "master", ("v5.3.0",)
    ),
    Repository("vite", "8.3.8", "https://raw.githubusercontent.com/vitejs/vite/main/", "main", ("v8.3.8",)),
)
