"""Download the files of a model in parts, so that an interrupted download continues where it ended.

Each part is a fetch of its own: it passes the address rules at every hop, and its size and time are limited like those
of a page. The digests of the manifest tell in the end whether the file is right, wherever it came from.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Final

from keyhole.errors import Code, KeyholeError
from keyhole.extensions.models.folder import ModelsFolder
from keyhole.extensions.models.manifest import Manifest, ModelFile
from keyhole.fetch.base import Fetcher, FetchOptions
from keyhole.fetch.permission import ANY

PART_BYTES: Final = 8_000_000
"""Bytes of a part: below the default limit of a response (KEYHOLE_MAX_BYTES), and a second on a fast line."""
MAX_FAILURES: Final = 5
"""Failures in a row after which a download ends. The next call continues it."""
PARTIAL_CONTENT: Final = 206

Report = Callable[[str, int, int], None]
"""Called with the name of a file, the bytes that it has, and its size."""


async def download_model(
    manifest: Manifest, models: ModelsFolder, fetcher: Fetcher, hub: str, now: float, report: Report
) -> Manifest:
    """Download and install a model of the catalogue, and return its manifest with the time.

    `hub`: the scheme and host of Hugging Face or of a mirror. Raises KeyholeError for failures of the network, and
    invalid_argument if a file is not the one that the manifest names.
    """
    part = models.begin(manifest.name)
    for file in manifest.files:
        await _download_file(file, part / file.name, fetcher, f"{hub.rstrip('/')}/{file.url}", report)
    return models.finish(manifest, now)


async def _download_file(file: ModelFile, path: Path, fetcher: Fetcher, url: str, report: Report) -> None:
    """Append what is missing to a file. Raises the last error after `MAX_FAILURES` in a row."""
    failures = 0
    received = await asyncio.to_thread(_received_bytes, path, file.size)
    while received < file.size:
        report(file.name, received, file.size)
        try:
            body = await _fetch_part(fetcher, url, received, min(received + PART_BYTES, file.size))
        except KeyholeError as error:
            failures += 1
            if failures == MAX_FAILURES or not error.rule.retry:
                raise
            continue
        failures = 0
        await asyncio.to_thread(_append, path, body)
        received += len(body)
    report(file.name, received, file.size)


def _received_bytes(path: Path, size: int) -> int:
    """Return the bytes of a file that an earlier download left. Remove a file that is too long."""
    received = path.stat().st_size if path.exists() else 0
    if received > size:
        path.unlink()
        return 0
    return received


def _append(path: Path, body: bytes) -> None:
    with path.open("ab") as file:
        file.write(body)


async def _fetch_part(fetcher: Fetcher, url: str, start: int, end: int) -> bytes:
    """Return the bytes from `start` up to `end`, or fewer if the connection ended early."""
    page = await fetcher.fetch(url, FetchOptions(ANY, part=(start, end)))
    is_whole = page.status != PARTIAL_CONTENT
    if is_whole and (start or page.cut):
        raise KeyholeError(Code.HTTP_STATUS, "the server does not send parts of a file", url=url)
    if not page.body:
        raise KeyholeError(Code.PROTOCOL_ERROR, "the server sent no bytes", url=url)
    return page.body[: end - start]
